"""numpy, loaded when it is first used.

Evaluating a TREC file needs no array in Python, and loading numpy takes longer than most
evaluations. The modules on that way import `np` from here.
"""

from __future__ import annotations

from typing import Any


class _Numpy:
    def __getattr__(self, name: str) -> Any:
        import numpy

        value = getattr(numpy, name)
        setattr(self, name, value)
        return value


np: Any = _Numpy()
