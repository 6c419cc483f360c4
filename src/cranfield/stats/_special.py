"""The distributions of statistics, from SciPy, without all else that `scipy.special` loads.

Its functions are in one compiled module. The package around it reads the documentation of each and
loads much of numpy's tools to offer them for other arrays: eight times what a small comparison
takes by itself. So the compiled module is loaded alone; code that imports the package meanwhile or
later gets the package. Where SciPy is built otherwise, the package is taken.

>>> from cranfield.stats._special import ndtr
>>> float(ndtr(0.0))
0.5
"""

from __future__ import annotations

import importlib
import sys
from functools import cache
from threading import RLock
from types import ModuleType
from typing import Any

_PACKAGE = "scipy.special"
_lock = RLock()


class _Door(ModuleType):
    """Stands for the package while its compiled module is loaded; others are sent on."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        with _lock:
            return getattr(importlib.import_module(_PACKAGE), name)


@cache
def _functions() -> ModuleType:
    with _lock:
        if _PACKAGE not in sys.modules:
            import scipy

            door = _Door(_PACKAGE)
            door.__path__ = [f"{folder}/special" for folder in scipy.__path__]
            sys.modules[_PACKAGE] = door
            try:
                return importlib.import_module(f"{_PACKAGE}._ufuncs")
            except ImportError:
                pass
            finally:
                del sys.modules[_PACKAGE]
    return importlib.import_module(_PACKAGE)


def __getattr__(name: str) -> Any:
    if name.startswith("__"):
        raise AttributeError(name)
    return getattr(_functions(), name)
