"""Runs scored one by one on processes or a cluster, and their scores joined."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias

from cranfield.answers import decode, encode
from cranfield.errors import UsageError
from cranfield.evaluation.scores import Executor, Scores

if TYPE_CHECKING:
    from cranfield.notes import Watcher

# What a worker needs to score one run: the options of the task, and the run under its name.
Piece: TypeAlias = tuple[dict[str, Any], tuple[str, Any]]


def score_distributed(
    work: Callable[[Piece], Scores],
    pieces: Sequence[Piece],
    executor: Executor,
    jobs: int | None,
    progress: Watcher | None,
) -> Scores:
    """The scores of all pieces as one; `work` must be importable by name, for it travels."""
    from cranfield.work.executors import Plan, run_pieces
    from cranfield.work.serialisation import full_path

    plan = Plan(executor, jobs)
    for options, (_, run) in pieces:
        if run == "-" or "-" in options.values():
            raise UsageError(f"standard input ('-') cannot be read by the executor {executor}")
    # Other workers may have been started in another folder.
    full_pieces = pieces if plan.is_local else full_path(list(pieces))
    by_name = {work_item[1][0]: work_item for work_item in full_pieces}
    replies = run_pieces(partial(_encoded, work), by_name, plan, study={}, progress=progress)
    return Scores.concat([decode(answer["scores"]) for answer in replies.values()])


def _encoded(work: Callable[[Piece], Scores], work_item: Piece) -> dict[str, Any]:
    return {"scores": encode(work(work_item))}
