"""Cranfield: an evaluation workbench for retrieval and annotation."""

from cranfield._version import __version__

__all__ = ["__version__"]
