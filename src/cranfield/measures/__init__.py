"""Measures: one family per file; `registry` is the list of all of them."""
