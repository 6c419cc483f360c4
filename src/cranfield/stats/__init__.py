"""Intervals, tests, corrections and rank correlation: pure functions on arrays.

Rows are runs (or pairs of runs), columns are topics; see `cranfield.comparison.compare` for the
way from the scores of runs to a comparison.
"""

from __future__ import annotations

import lazy_loader

# The public names are listed in `__init__.pyi`; each is loaded when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
