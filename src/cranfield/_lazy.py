"""What is made when it is first used: numpy, and properties.

Evaluating a TREC file needs no array in Python, and loading numpy takes longer than most
evaluations. The modules on that way import `np` from here; all others import numpy at their top.

Python 3.11's `functools.cached_property` has one lock for all objects of a class. A process that
is forked while another thread computes a property would wait for it without end, and threads wait
for each other. Here there is no lock, as in Python 3.12: threads that come at the same moment may
compute the same value, and all get the first.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

__all__ = ["cached_property", "np"]

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property:  # noqa: N801
        """A property that is computed once for each object."""

        def __init__(self, compute):
            self._compute = compute
            self.__doc__ = compute.__doc__

        def __set_name__(self, owner, name):
            self._name = name

        def __get__(self, instance, owner=None):
            if instance is None:
                return self
            return instance.__dict__.setdefault(self._name, self._compute(instance))


if TYPE_CHECKING:
    import numpy as np
else:

    class _Numpy:
        def __getattr__(self, name):
            import numpy

            value = getattr(numpy, name)
            setattr(self, name, value)
            return value

    np = _Numpy()
