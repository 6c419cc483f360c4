"""Cranfield: an evaluation workbench for retrieval and annotation.

>>> import cranfield as cf
>>> cf.evaluate({"t": {"a": 1}}, {"t": {"a": 0.5, "b": 0.7}}, "RR").mean()
{'run': {'RR': 0.5}}
"""

from __future__ import annotations

import lazy_loader

# The public names are listed in `__init__.pyi`; each is loaded when it is first used.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
