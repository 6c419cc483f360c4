"""Cranfield behind the interfaces of other tools."""
