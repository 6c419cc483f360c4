"""Runs and judgements to and from ranx.

>>> class Stored:  # stands for ranx.Run
...     run, name = {"q1": {"d1": 0.9, "d2": 0.4}}, "bm25"
>>> from_ranx(Stored()).to_dict()
{'q1': {'d1': 0.9, 'd2': 0.4}}
"""

from __future__ import annotations

from typing import Any

from cranfield.data import Judgements, Run, Table
from cranfield.errors import InputError, MissingExtraError, UsageError
from cranfield.validation import validate_params


@validate_params
def from_ranx(source: Any) -> Run | Judgements:
    """A Run from ranx.Run, which keeps its name, and Judgements from ranx.Qrels."""
    if hasattr(source, "run"):
        run = Run.from_dict(_plain(source.run))
        return run.named(source.name) if source.name else run
    if hasattr(source, "qrels"):
        return Judgements.from_dict(_plain(source.qrels))
    raise UsageError(f"expected a ranx.Run or ranx.Qrels, not {type(source).__name__}")


@validate_params(skip=("table",))
def to_ranx(table: Table) -> Any:
    """A ranx.Run from a Run, a ranx.Qrels from Judgements."""
    try:
        import ranx
    except ModuleNotFoundError:
        raise MissingExtraError("ranx", "compat", "to_ranx") from None
    if not isinstance(table, Run | Judgements):
        raise UsageError(f"expected a Run or Judgements, not {type(table).__name__}")
    if not len(table):
        raise InputError.single("<table>", "is empty: ranx cannot hold a run without items")
    if isinstance(table, Judgements):
        return ranx.Qrels(_whole_grades(table))
    return ranx.Run(table.to_dict(), name=table.name)


def _plain(nested: Any) -> dict[str, dict[str, float]]:
    """ranx keeps typed dicts of numba; their inner ones are copied to plain dicts."""
    return {str(topic): dict(items.items()) for topic, items in nested.items()}


def _whole_grades(judgements: Judgements) -> dict[str, dict[str, float]]:
    graded = judgements.to_dict()
    for topic, items in graded.items():
        for item, grade in items.items():
            if not isinstance(grade, int):
                raise InputError.single(
                    "<judgements>",
                    f"grade {grade:g} of item {item!r}, topic {topic!r}, is not whole, and ranx "
                    "would cut it off; map the grades to whole numbers first",
                )
    return graded


__all__ = ["from_ranx", "to_ranx"]
