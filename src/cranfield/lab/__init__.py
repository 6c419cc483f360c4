"""Evaluating the measures themselves: studies of correlation, stability and fairness."""
