"""Cranfield: an evaluation workbench for retrieval and annotation.

>>> import cranfield as cf
>>> cf.evaluate({"t": {"a": 1}}, {"t": {"a": 0.5, "b": 0.7}}, "RR").mean()
{'run': {'RR': 0.5}}
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from cranfield._version import __version__

if TYPE_CHECKING:
    from cranfield.data import Judgements, Run
    from cranfield.errors import (
        CranfieldError,
        CranfieldWarning,
        InputError,
        MeasureError,
        MissingExtraError,
        NeedsError,
        UsageError,
    )
    from cranfield.evaluation import evaluate
    from cranfield.io import read_qrels, read_run
    from cranfield.measures import Measure, measure
    from cranfield.scores import Scores

# Where each public name lives; it is loaded when it is first used.
_HOME = {
    "evaluate": "cranfield.evaluation",
    "read_qrels": "cranfield.io",
    "read_run": "cranfield.io",
    "measure": "cranfield.measures",
    "Measure": "cranfield.measures",
    "Judgements": "cranfield.data",
    "Run": "cranfield.data",
    "Scores": "cranfield.scores",
    "CranfieldError": "cranfield.errors",
    "CranfieldWarning": "cranfield.errors",
    "InputError": "cranfield.errors",
    "MeasureError": "cranfield.errors",
    "MissingExtraError": "cranfield.errors",
    "NeedsError": "cranfield.errors",
    "UsageError": "cranfield.errors",
}

__all__ = [
    "CranfieldError",
    "CranfieldWarning",
    "InputError",
    "Judgements",
    "Measure",
    "MeasureError",
    "MissingExtraError",
    "NeedsError",
    "Run",
    "Scores",
    "UsageError",
    "__version__",
    "evaluate",
    "measure",
    "read_qrels",
    "read_run",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    raise AttributeError(f"module 'cranfield' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
