"""Curves of rankings: precision at levels of recall, and measures along the ranks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from cranfield.errors import UsageError
from cranfield.evaluation.ranked import evaluate
from cranfield.evaluation.scores import Scores
from cranfield.measures import Measure, parse_measures

LEVELS = tuple(level / 10 for level in range(11))
RECALL_MEASURES = " ".join(f"iP@{level:g}" for level in LEVELS)


@dataclass(frozen=True, slots=True)
class Curve:
    """A curve of a run: points, and where there is one a band (x, low, high) around them."""

    name: str
    points: tuple[tuple[float, float], ...]
    band: tuple[tuple[float, float, float], ...] = ()


def recall_curves(scores: Scores, *, confidence: float = 0.95) -> tuple[Curve, ...]:
    """Mean interpolated precision at eleven levels of recall, from scores of `RECALL_MEASURES`.

    The band is the interval of each mean, where there is one at every level.
    """
    by_level = {m.at: m for m in scores.measures if m.name == "iP"}
    if any(level not in by_level for level in LEVELS):
        raise UsageError(f"precision against recall needs the measures {RECALL_MEASURES}")
    boxes = scores.interval(confidence=confidence)
    means = scores.mean()
    found = []
    for run in scores.runs:
        points, band = [], []
        for level in LEVELS:
            name = str(by_level[level])
            points.append((level, means[run][name]))
            box = boxes[run][name]
            if box is not None:
                band.append((level, box.low, box.high))
        found.append(Curve(run, tuple(points), tuple(band) if len(band) == len(LEVELS) else ()))
    return tuple(found)


# A ranking of as many items is made for each of the ranks.
MOST_RANKS = 5_000


def behaviour_curves(
    measures: str | Iterable[str | Measure], *, size: int = 100, relevant: int = 1
) -> tuple[Curve, ...]:
    """The value of each measure when one of `relevant` items is retrieved, at each rank in turn.

    NMRR looks as deep as other topics allow: K is 4 NG, as in the figures of its paper.
    """
    if not 1 <= relevant <= size:
        raise UsageError(f"{relevant} relevant of {size} items: expected 1 to {size}")
    if size > MOST_RANKS:
        raise UsageError(f"a curve over {size:,} ranks: at most {MOST_RANKS:,} can be drawn")
    chosen = parse_measures(measures if isinstance(measures, str) else list(measures))
    width = len(str(size))
    truth: dict[str, Mapping[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    last = size + 1 - relevant  # those that are not retrieved stand behind it
    for rank in range(1, last + 1):
        topic = f"{rank:0{width}d}"
        truth[topic] = {"hit": 1, **{f"lost{n}": 1 for n in range(relevant - 1)}}
        run[topic] = {
            "hit" if at == rank else f"other{at}": float(-at) for at in range(1, last + 1)
        }
    scores = evaluate(truth, {"run": run}, chosen, collection_size=size, gmt=2 * relevant)
    return tuple(
        Curve(str(m), tuple((float(r + 1), float(v)) for r, v in enumerate(scores.values[m][0])))
        for m in chosen
    )
