"""Measures of rankings, a family per file."""
