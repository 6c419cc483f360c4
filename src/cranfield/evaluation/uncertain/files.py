"""Opinions asked of files: votes or soft labels, the tree of categories, and runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from cranfield.evaluation.uncertain.answer import UncertainScores
from cranfield.evaluation.uncertain.precision import evaluate_uncertain
from cranfield.io.files import FileForm
from cranfield.io.forms import read_runs
from cranfield.io.opinions import (
    read_categories,
    read_category_votes,
    read_queries,
    read_soft_labels,
)


def evaluate_opinions(
    votes: FileForm,
    tree: FileForm,
    runs: Sequence[FileForm],
    *,
    soft: bool = False,
    skipped: Literal["error", "abstain"] = "error",
    queries: FileForm | Mapping[str, str] | None = None,
    jobs: int | None = None,
    **options: Any,
) -> UncertainScores:
    """`evaluate_uncertain` of files; with `soft` the votes are item,category,probability."""
    graph = read_categories(tree)
    opinions = (
        read_soft_labels(votes, graph)
        if soft
        else read_category_votes(votes, graph, skipped=skipped)
    )
    asked = queries if queries is None or isinstance(queries, Mapping) else read_queries(queries)
    return evaluate_uncertain(
        opinions,
        read_runs(runs, jobs=jobs),
        queries=asked,
        **options,
    )
