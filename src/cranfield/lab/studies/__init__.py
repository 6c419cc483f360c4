"""One module per study: what it asks, how its pieces are worked on, and the answer it gives."""
