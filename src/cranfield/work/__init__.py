"""Where work is done: threads, processes, a cluster."""
