"""Surveys: what is asked and how it is counted, a module per kind.

A survey has a sheet, which people see, and a key, which stays with the organiser.
"""
