"""How a measure behaves when one or two relevant items stand at every possible rank.

Chatzichristofis et al., sections 3 and 4 (Figures 1-8): a collection of N items, one or two of
them relevant, every rank or pair of ranks in turn; for two items the best and worst values at
each rank of the later one envelop all others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from cranfield.answers import Answer
from cranfield.errors import UsageError, check_at_most, check_counts, plural
from cranfield.evaluation.precision_recall import ranking
from cranfield.lab.study_input import any_measures, is_annotation
from cranfield.measures import Measure
from cranfield.notes import Watcher, with_progress
from cranfield.stats._resample import Floats
from cranfield.validation import validate_params
from cranfield.work.executors import Plain, Plan, run_pieces
from cranfield.work.serialisation import floats, numbers

MOST_PAIRS = 20_000
MOST_CELLS = 200_000
POINTS = 50
# A ranking is made up to the last relevant item, and held in memory.
MOST_RANKS = 2_000_000
# Rankings go on below the last relevant item, as far as any usual cutoff looks.
SHORTEST = 1000


@dataclass(frozen=True, repr=False, eq=False)
class Curves(Answer):
    """`ranks` has a row per placement (one rank, or the earlier and the later one), `values` the
    same rows with a column per measure."""

    command: ClassVar[str] = "lab curves"
    table_maker: ClassVar[str] = "cranfield.report.tables.lab:curves_document"

    measures: tuple[str, ...]
    size: int
    ranks: tuple[tuple[int, ...], ...]
    values: Floats

    def at(self, measure: str, *ranks: int) -> float:
        """The value of a measure where the relevant items stand at these ranks."""
        if measure not in self.measures or tuple(sorted(ranks)) not in self.ranks:
            raise UsageError(f"no value of {measure!r} at {ranks}")
        row = self.ranks.index(tuple(sorted(ranks)))
        return float(self.values[row, self.measures.index(measure)])

    def envelope(self, measure: str) -> tuple[tuple[int, float, float], ...]:
        """(rank of the last relevant item, lowest value, highest value)."""
        column = self.values[:, self.measures.index(measure)]
        last = np.array([r[-1] for r in self.ranks])
        return tuple(
            (int(i), float(column[last == i].min()), float(column[last == i].max()))
            for i in np.unique(last)
        )

    def headline(self) -> str:
        return f"{', '.join(self.measures)} at {plural(len(self.ranks), 'place')} of {self.size:,}"

    def payload(self, **_: object) -> dict[str, Any]:
        """Every placement, not only the envelope."""
        return {
            "study": "curves",
            "size": self.size,
            "relevant": len(self.ranks[0]),
            "points": [
                {"ranks": list(r)} | dict(zip(self.measures, map(float, v), strict=True))
                for r, v in zip(self.ranks, self.values, strict=True)
            ],
        }


@validate_params
@with_progress
def curves(
    measures: str | Iterable[str | Measure] = "AP NMRR MNRO",
    *,
    size: int = 20,
    relevant: int = 1,
    ranks: Iterable[int] | None = None,
    gmt: int | None = None,
    plan: Plan | None = None,
    progress: Watcher | None = None,
) -> Curves:
    """The values of measures for `relevant` (1 or 2) relevant items in a collection of `size`.

    `ranks` are the ranks to visit: by default all of them, or some fifty spread evenly over
    their logarithm where there would be too many. Measures of annotation that read confidences
    take part: of concepts, with one concept and `size` items; of examples, with one item and
    `size` concepts. `gmt` is the largest number of relevant items of any topic, from which NMRR
    has its depth K = min(4 NG, 2 GMT); by default K is 4 NG, as in the figures of the paper.
    """
    if relevant not in (1, 2):
        raise UsageError(f"curves are drawn for 1 or 2 relevant items, not {relevant}")
    check_counts(size=size)
    if size < 2:
        raise UsageError(f"a collection of {plural(size, 'item')} has no ranks to compare")
    check_counts(gmt=gmt)
    selection = any_measures(measures)
    for measure in selection:
        if is_annotation(measure) and not _plan(measure).ranked:
            raise UsageError(f"{measure} reads decisions, not ranks: there is no curve of it")
    places = _places(size, relevant, ranks)
    names = tuple(map(str, selection))
    # A topic at a time where rankings are long: a million items are held once, not fifty times.
    check_at_most(MOST_RANKS, **{"size" if ranks is None else "ranks": places[-1][-1]})
    if any(map(is_annotation, selection)):
        check_at_most(MOST_RANKS, size=size)
    longest = size if any(map(is_annotation, selection)) else max(p[-1] for p in places)
    at_once = max(1, MOST_CELLS // longest)
    pieces = {
        str(start): _Piece(names, size, places[start : start + at_once], gmt or 2 * relevant)
        for start in range(0, len(places), at_once)
    }
    study = {"study": "curves", "measures": names, "size": size, "places": places, "gmt": gmt}
    answers = run_pieces(_values, pieces, plan or Plan(), study=study, progress=progress)
    values = np.concatenate([floats(a["values"]).T for a in answers.values()])
    return Curves(names, size, places, values)


def _places(size: int, relevant: int, ranks: Iterable[int] | None) -> tuple[tuple[int, ...], ...]:
    if ranks is not None:
        visited = sorted(set(ranks))
        if not visited or visited[0] < 1 or visited[-1] > size:
            raise UsageError(f"ranks lie between 1 and {size}")
    elif size <= (1000 if relevant == 1 else 200):
        visited = list(range(1, size + 1))
    else:
        spread = np.geomspace(1, size, POINTS)
        visited = sorted({round(float(r)) for r in spread})
    if relevant == 1:
        return tuple((r,) for r in visited)
    pairs = tuple((j, i) for i in visited for j in visited if j < i)
    if not pairs or len(pairs) > MOST_PAIRS:
        raise UsageError(
            f"{plural(len(visited), 'rank')} make {len(pairs):,} pairs; choose from 2 ranks to "
            "200 (by ranks=)"
        )
    return pairs


@dataclass(frozen=True, slots=True)
class _Piece:
    names: tuple[str, ...]
    size: int
    places: tuple[tuple[int, ...], ...]
    gmt: int


def _values(task: _Piece) -> Plain:
    """For every measure its value at every placement."""
    selection = any_measures(task.names)
    values = _ranked_values(task, [m for m in selection if not is_annotation(m)])
    for unit in ("concept", "item"):
        of_unit = [m for m in selection if is_annotation(m) and _plan(m).unit == unit]
        values |= _label_values(task, of_unit, by_concept=unit == "concept")
    return {"values": [numbers(values[m]) for m in selection]}


def _ranked_values(task: _Piece, measures: list[Measure]) -> dict[Measure, Floats]:
    """One topic per placement; items below the last relevant one change no measure but by N."""
    from cranfield.evaluation.ranked import evaluate

    if not measures:
        return {}
    truth = {str(t): {f"r{k}": 1 for k in range(len(p))} for t, p in enumerate(task.places)}
    run = {
        str(t): ranking(p, min(task.size, max(p[-1], SHORTEST))) for t, p in enumerate(task.places)
    }
    scores = evaluate(
        truth, {"run": run}, measures, collection_size=task.size, jobs=1, gmt=task.gmt
    )
    return {m: scores.values[m][0] for m in scores.measures}


def _label_values(
    task: _Piece, measures: list[Measure], *, by_concept: bool
) -> dict[Measure, Floats]:
    """One concept (or item) per placement, the others all at their ranks."""
    from cranfield.data.labels import LabelMatrix
    from cranfield.evaluation.labels import evaluate_labels

    if not measures:
        return {}
    true = np.zeros((task.size, len(task.places)), dtype=bool)
    for column, ranks in enumerate(task.places):
        true[np.array(ranks) - 1, column] = True
    sure = np.tile((1 - np.arange(task.size) / task.size)[:, None], (1, true.shape[1]))
    many, few = ([f"{kind}{k}" for k in range(n)] for kind, n in zip("nk", true.shape, strict=True))
    names = {"items": many, "concepts": few} if by_concept else {"items": few, "concepts": many}
    pair = (LabelMatrix.of(m if by_concept else m.T, **names) for m in (true, sure))  # type: ignore[arg-type]
    truth, run = pair
    scores = evaluate_labels(truth, {"run": run}, measures, jobs=1)
    return {m: scores.values[m][0] for m in scores.measures}


def _plan(measure: Measure) -> Any:
    return measure.plan(measure)
