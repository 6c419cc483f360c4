"""One module per kind of page: which answer it shows, and in which order."""
