"""Pages of a collection: templates and the static site, shared with the server (extra `site`)."""
