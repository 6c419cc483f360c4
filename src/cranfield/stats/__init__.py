"""Intervals, tests, corrections and rank correlation."""
