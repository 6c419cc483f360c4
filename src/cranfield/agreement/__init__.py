"""Ground truth from people: how far annotators agree, and one truth out of many opinions."""
