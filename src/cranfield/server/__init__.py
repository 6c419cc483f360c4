"""The campaign site over HTTP: its store, jobs and routes (extra `server`)."""
