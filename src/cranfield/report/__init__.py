"""Turning results into something a person reads: tables, charts, LaTeX, HTML."""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach(__name__, submodules=["charts"])
