"""Measures of annotation, a family per file."""
