"""Systems of graded quality, made up from a truth: something to study before there are runs.

System k of n has a skill that rises evenly from `weakest` to `strongest`, is better at some
topics than at others, and sees every item through noise. Systems that rank differ in how much
more they make of a higher grade; rankings hold the judged items of a
topic and a quarter as many unjudged ones. Annotations differ in how eager they are.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from cranfield.answers import Answer
from cranfield.data import Judgements, Run
from cranfield.data.labels import LabelMatrix, dense
from cranfield.errors import UsageError, check_at_most, plural
from cranfield.io.annotations import read_truth
from cranfield.io.forms import coerce_judgements
from cranfield.io.labels import write_labels
from cranfield.io.table_text import trec_blocks
from cranfield.io.written import made_folder, write_whole
from cranfield.notes import Progress, Watcher, with_progress
from cranfield.validation import Seed, validate_params
from cranfield.work.seeds import generator

DEPTH = 1000
MOST_SYSTEMS = 10_000
_RANKED, _LABELS = 51, 52


@dataclass(frozen=True, repr=False, eq=False)
class SimulatedRuns(Answer):
    """The files of runs that were made up."""

    command: ClassVar[str] = "lab simulate"

    files: tuple[str, ...]

    def headline(self) -> str:
        return f"{plural(len(self.files), 'run')} in {Path(self.files[0]).parent}"

    def payload(self, **_: Any) -> dict[str, Any]:
        return {"files": list(self.files)}


@validate_params
@with_progress
def simulate_runs(
    truth: Any,
    folder: str | Path,
    *,
    labels: bool = False,
    count: int = 24,
    rng: Seed = 0,
    progress: Watcher | None = None,
) -> SimulatedRuns:
    """Write runs of rising quality into a folder: rankings, or annotations with `labels`.

    `truth` are judgements, or the true concepts of items, as files or objects.
    """
    watched = Progress.of(progress)
    options: dict[str, int] = {"count": count, "rng": rng}
    files: list[str] = []

    def place(name: str) -> Path:
        # The folder is made only now that there is something to put into it.
        files.append(str(made_folder(folder) / name))
        watched(len(files) / count)
        return Path(files[-1])

    if labels:
        for matrix in graded_labels(read_truth(truth), **options):
            write_labels(matrix, place(f"{matrix.name}.csv"))
    else:
        for run in graded_rankings(coerce_judgements(truth), **options):
            write_whole(place(f"{run.name}.run"), trec_blocks(run))
    return SimulatedRuns(tuple(files))


@validate_params
def graded_rankings(
    judged: Judgements,
    *,
    count: int = 24,
    weakest: float = 0.5,
    strongest: float = 1.5,
    rng: Seed = 0,
) -> Iterator[Run]:
    """Runs of rising quality over the judged items of every topic."""
    topics = judged.to_dict()
    for number, skill in enumerate(_skills(count, weakest, strongest)):
        run: dict[str, dict[str, float]] = {}
        taste = generator(rng, _RANKED, number).random()
        for t, (topic, grades) in enumerate(topics.items()):
            draw = generator(rng, _RANKED, number, t)
            items = [*grades, *(f"unjudged-{topic}-{k}" for k in range(len(grades) // 4))]
            gains = np.zeros(len(items))
            found = np.maximum(np.array(list(grades.values()), dtype=np.float64), 0.0)
            gains[: len(grades)] = np.where(found > 0, found**taste, 0.0)
            own = max(0.0, skill + draw.normal(0.0, 0.6))
            scores = own * gains + draw.normal(0.0, 1.0, len(items))
            best = np.argsort(-scores, kind="stable")[:DEPTH]
            run[topic] = {items[k]: float(scores[k]) for k in best}
        yield Run.from_dict(run).named(_name(number, count))


@validate_params
def graded_labels(
    truth: LabelMatrix,
    *,
    count: int = 24,
    weakest: float = 0.5,
    strongest: float = 1.5,
    rng: Seed = 0,
) -> Iterator[LabelMatrix]:
    """Annotations of rising quality, with confidences, eager and timid ones among them."""
    labels = dense(truth.labels)
    signs = np.where(labels, 1.0, -1.0)
    for number, skill in enumerate(_skills(count, weakest, strongest)):
        draw = generator(rng, _LABELS, number)
        concepts = np.maximum(0.0, skill + draw.normal(0.0, 0.4, labels.shape[1]))
        bias = draw.normal(-0.5, 0.7)
        seen = signs * concepts + draw.normal(0.0, 1.0, labels.shape) + bias
        yield replace(
            truth, name=_name(number, count), labels=None, confidences=1 / (1 + np.exp(-seen))
        )


def _skills(count: int, weakest: float, strongest: float) -> list[float]:
    check_at_most(MOST_SYSTEMS, count=count)
    if count < 2 or not 0 <= weakest < strongest < np.inf:
        raise UsageError("two systems or more, of a skill that rises from 0 or above")
    return [float(s) for s in np.linspace(weakest, strongest, count)]


def _name(number: int, count: int) -> str:
    return f"system{number + 1:0{len(str(count))}}"
