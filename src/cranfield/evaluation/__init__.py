"""Runs in, scores out: what a truth and measures make of rankings and annotations."""
