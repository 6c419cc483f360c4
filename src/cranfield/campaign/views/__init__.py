"""What the pages of published results say: one answer per page, made of scores in hand."""
