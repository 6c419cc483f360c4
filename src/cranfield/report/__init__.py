"""Turning results into something a person reads: tables, LaTeX, HTML."""
