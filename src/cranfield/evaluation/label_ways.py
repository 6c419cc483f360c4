"""The ways to evaluate annotations: as they are, with tuned thresholds, on judged cells only."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from cranfield.errors import UsageError
from cranfield.evaluation.labels import evaluate_labels
from cranfield.evaluation.scores import Scores
from cranfield.measures import POOLED
from cranfield.registry import split_names

_WHERE, _CHANCE = ("executor",), ("draws", "rng")
_KNOWLEDGE = ("ontology", "rules", "costmap", "agreement", "concepts", "threshold", "thresholds")


def label_way(options: dict[str, Any], *, keep: bool) -> tuple[Callable[..., Scores], bool]:
    """The function that answers what is asked, and whether a report can be made of it.

    `options` are those of `evaluate_labels` with `tune`, `on` and `tune_per` of `evaluate_tuned`;
    what the way taken has no use for is taken out of them.
    """
    tune, on, per = (options.pop(name) for name in ("tune", "on", "tune_per"))
    asked = split_names(options["measures"] or "")
    if any(map(_is_pooled, asked)):
        _only_pooled(options, asked)
        from cranfield.evaluation.pooled_labels import evaluate_pooled_labels

        return evaluate_pooled_labels, False
    if tune is None:
        return partial(evaluate_labels, keep=keep), True
    if on is None:
        raise UsageError("tune_threshold= needs the items to choose on: on=")
    from cranfield.evaluation.tuning import evaluate_tuned

    for name in (*_WHERE, *_CHANCE):
        del options[name]
    return partial(evaluate_tuned, tune=tune, on=on, per=per, keep=keep), False


def _is_pooled(name: str) -> bool:
    """Whether a measure is of truths in which some cells were judged (No 3.3.3)."""
    return name.partition("(")[0] in POOLED


def _only_pooled(options: dict[str, Any], asked: list[str]) -> None:
    others = [name for name in asked if not _is_pooled(name)]
    if others:
        raise UsageError(
            f"{others[0]} needs every cell of the truth, measures such as infAP.concept those that "
            "were judged: ask for them in two calls"
        )
    if options.pop("unlisted", None) == "absent":
        raise UsageError(f"{asked[0]} takes cells that are not listed as not judged")
    for name in (*_WHERE, *_CHANCE, *_KNOWLEDGE):
        if options.pop(name, None) and name in _KNOWLEDGE:
            raise UsageError(f"{name}= has no say in measures of judged cells ({asked[0]})")
