"""Search on processes or a cluster: each worker reads the collection, and answers some queries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from cranfield.answers import decode, encode
from cranfield.errors import UsageError
from cranfield.features.search import Search, search
from cranfield.notes import Progress
from cranfield.work.executors import Plan, run_pieces
from cranfield.work.serialisation import full_path

# Queries of one piece: enough to make reading the collection worth it.
_QUERIES = 512
# What a worker is told: the collection, the queries, the options and which of the queries are its.
Piece: TypeAlias = tuple[Any, Any, dict[str, Any], tuple[int, int]]


def search_elsewhere(
    collection: Any,
    queries: Any,
    *,
    executor: str | Executor,
    total: int,
    options: Mapping[str, Any],
    jobs: int | None,
    progress: Progress | Callable[[float], None] | None,
) -> Search:
    """The same answer as `search` gives here, to the last bit."""
    plan = Plan(executor, jobs)
    for source in (collection, queries):
        if source is not None and (not isinstance(source, str | Path) or str(source) == "-"):
            raise UsageError(
                "on an executor the collection and the queries are files, which its workers read"
            )
    sources = (collection, queries) if plan.is_local else full_path([collection, queries])
    pieces = {
        str(start): (*sources, dict(options), (start, min(start + _QUERIES, total)))
        for start in range(0, total, _QUERIES)
    }
    answers = run_pieces(_piece, pieces, plan, study={}, progress=progress)
    parts: list[Search] = [decode(answer["search"]) for answer in answers.values()]
    return replace(
        parts[0],
        topics=tuple(topic for part in parts for topic in part.topics),
        found=np.concatenate([part.found for part in parts]),
        scores=np.concatenate([part.scores for part in parts]),
    )


def _piece(task: Piece) -> dict[str, Any]:
    collection, queries, options, part = task
    return {"search": encode(search(collection, queries, **options, part=part, jobs=1))}
