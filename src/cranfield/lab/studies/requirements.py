"""Which of the requirements on a metric hold (King 2003, thesis 4.6), tried out on small cases.

By machine: 1 best value for perfect quality and only there, 2 worst value only for the worst
quality, 3 better quality never scores lower, 6 equivalent inputs score the same. Requirements 7
and 8 (cheap, automated) hold for all that Cranfield computes; 4, 5 and 9 (clear, close to human
judgement, valid) are for people, and `lab votes` helps with the fifth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, ClassVar, TypeAlias

import numpy as np

from cranfield.answers import Answer
from cranfield.errors import NeedsError, UsageError, plural
from cranfield.lab.names import any_measures, is_annotation
from cranfield.measures import Measure
from cranfield.notes import Watcher
from cranfield.work.executors import Plain, Plan, run_pieces
from cranfield.work.packing import stamp
from cranfield.work.paths import full_path

TITLES = {
    1: "best value for perfect quality only",
    2: "worst value for the worst quality only",
    3: "better quality never scores lower",
    4: "clear and intuitive",
    5: "correlates with human judgement",
    6: "equivalent inputs score the same",
    7: "cheap to set up and apply",
    8: "automated",
    9: "measures what it should",
}
# Hold for all that Cranfield computes.
AUTOMATIC = (7, 8)
SIZE = 8
# Differences below this are the last digits of a sum, not a change of quality.
TINY = 1e-12
# Items of other names are added in another order, which moves more digits than that.
SAME = 1e-9
Case: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Requirement:
    """One requirement on one measure; `holds` is None where only people can tell."""

    measure: str
    number: int
    holds: bool | None
    counter_example: str = ""


@dataclass(frozen=True, repr=False, eq=False)
class Requirements(Answer):
    """All nine requirements for every measure."""

    command: ClassVar[str] = "lab requirements"

    measures: tuple[str, ...]
    found: tuple[Requirement, ...]

    def of(self, measure: str, number: int) -> Requirement:
        return next(r for r in self.found if (r.measure, r.number) == (measure, number))

    def headline(self) -> str:
        failed = sum(r.holds is False for r in self.found)
        return f"{plural(len(self.measures), 'measure')}, {plural(failed, 'requirement')} not met"

    def payload(self, **_: Any) -> dict[str, Any]:
        return {
            "study": "requirements",
            "requirements": {str(n): title for n, title in TITLES.items()},
            "measures": [
                {
                    "measure": r.measure,
                    "requirement": r.number,
                    "holds": r.holds,
                    "counter_example": r.counter_example or None,
                }
                for r in self.found
            ],
        }


def requirements(
    measures: str | Iterable[str | Measure],
    *,
    ontology: Any = None,
    costmap: Any = None,
    plan: Plan | None = None,
    progress: Watcher | None = None,
) -> Requirements:
    """Try the requirements on every ranking of 8 items, or every labelling of 4 concepts.

    The names may be of ranked measures or of measures of annotation, which take the ontology
    and the cost map; their first four concepts are used.
    """
    plan = plan or Plan()
    known = (ontology, costmap) if plan.is_local else (full_path(ontology), full_path(costmap))
    pieces = {str(m): _Piece(str(m), *known) for m in any_measures(measures)}
    maps = tuple(costmap.items()) if isinstance(costmap, Mapping) else costmap
    study = {
        "study": "requirements",
        "measures": list(pieces),
        "ontology": stamp(ontology),
        "costmap": stamp(maps),
    }
    answers = run_pieces(_run_piece, pieces, plan, study=study, progress=progress)
    found = [Requirement(m, *row) for m, answer in answers.items() for row in answer["found"]]
    return Requirements(tuple(pieces), tuple(found))


@dataclass(frozen=True, slots=True)
class _Piece:
    name: str
    ontology: Any
    costmap: Any


def _run_piece(piece: _Piece) -> Plain:
    (measure,) = any_measures([piece.name])
    cases = _labellings(measure, piece) if is_annotation(measure) else _rankings(measure)
    return {"found": [[r.number, r.holds, r.counter_example] for r in _tried(measure, cases)]}


@dataclass(frozen=True, eq=False)
class _Cases:
    """Values of every small case. `steps` are pairs (worse, better) that differ in one way."""

    values: dict[Any, float]
    perfect: frozenset[Any]
    worst: frozenset[Any]
    steps: tuple[tuple[Any, Any], ...]
    twins: dict[Any, float]
    show: Callable[[Any], str]
    task: Callable[[Any], Any]


def _tried(measure: Measure, cases: _Cases) -> Iterator[Requirement]:
    """All nine: those for a machine tried out, the others as people must find them."""
    sign = -1.0 if measure.higher_is_better is False else 1.0
    values = {c: sign * v for c, v in cases.values.items() if not np.isnan(v)}
    judged = measure.higher_is_better is not None and bool(values)
    faults = _faults(cases, values, sign) if judged else {}
    for number in TITLES:
        if number in faults:
            yield Requirement(str(measure), number, not faults[number], faults[number])
        else:
            yield Requirement(str(measure), number, True if number in AUTOMATIC else None)


def _faults(cases: _Cases, values: Mapping[Any, float], sign: float) -> dict[int, str]:
    """The counter-example to each requirement that can be tried, empty where there is none."""
    # Perfect and worst are a matter of the task: as many relevant items, or the same truth.
    tops: dict[Any, float] = {}
    bottoms: dict[Any, float] = {}
    for c, v in values.items():
        task = cases.task(c)
        tops[task] = max(v, tops.get(task, v))
        bottoms[task] = min(v, bottoms.get(task, v))
    # A perfect case below the best value leaves another one on top, which is then found here.
    reach = (
        c for c, v in values.items() if v >= tops[cases.task(c)] - TINY and c not in cases.perfect
    )
    low = (
        c for c, v in values.items() if v <= bottoms[cases.task(c)] + TINY and c not in cases.worst
    )
    fallen = (
        (a, b)
        for a, b in cases.steps
        if a in values and b in values and values[b] < values[a] - TINY
    )
    moved = (
        c
        for c, v in cases.twins.items()
        if c in values and not np.isnan(v) and abs(sign * v - values[c]) > SAME
    )

    def first(wrong: Iterator[Any], text: str) -> str:
        return next((f"{cases.show(c)} {text}" for c in wrong), "")

    return {
        1: first(reach, "is not perfect and reaches the best value all the same"),
        2: first(low, "is not the worst and gets the worst value all the same"),
        3: next(
            (
                f"{cases.show(b)} is better than {cases.show(a)} and scores {sign * values[b]:g}, "
                f"not {sign * values[a]:g}"
                for a, b in fallen
            ),
            "",
        ),
        6: first(moved, "scores otherwise when names or their order change"),
    }


def _rankings(measure: Measure) -> _Cases:
    """Every ranking of 8 items with 1 to 3 relevant ones, as the ranks of these."""
    from cranfield.evaluation.ranked import evaluate

    cases = [c for k in (1, 2, 3) for c in combinations(range(1, SIZE + 1), k)]

    def scored(prefix: str) -> dict[Any, float]:
        judged: dict[str, dict[str, int]] = {}
        run: dict[str, dict[str, float]] = {}
        for case in cases:
            topic = " ".join(map(str, case))
            run[topic] = {f"{prefix}{r}": -float(r) for r in range(1, SIZE + 1)}
            judged[topic] = {f"{prefix}{r}": int(r in case) for r in range(1, SIZE + 1)}
        scores = evaluate(judged, {"run": run}, [measure], collection_size=SIZE, jobs=1)
        at = {t: i for i, t in enumerate(scores.units["topic"])}
        row = scores.values[measure][0]
        return {case: float(row[at[" ".join(map(str, case))]]) for case in cases}

    steps = tuple(
        (case, better)
        for case in cases
        for r in case
        if r > 1 and r - 1 not in case
        for better in [tuple(sorted({*case, r - 1} - {r}))]
    )
    return _Cases(
        scored("a"),
        frozenset(tuple(range(1, k + 1)) for k in (1, 2, 3)),
        frozenset(tuple(range(SIZE - k + 1, SIZE + 1)) for k in (1, 2, 3)),
        steps,
        scored("z"),
        lambda c: f"relevant at {', '.join(map(str, c))} of {SIZE}",
        len,
    )


def _labellings(measure: Measure, piece: _Piece) -> _Cases:
    """Every truth and prediction of four concepts for one item, or of one concept for four."""
    from cranfield.evaluation.labels import evaluate_labels

    plan: Any = measure.plan(measure)
    if "hierarchy" in measure.needs and piece.ontology is None:
        raise NeedsError(f"{measure} needs a hierarchy of concepts: give one with --ontology")
    by_concept = plan.unit == "concept"
    names = _concepts(piece)
    width = 4 if by_concept else len(names)
    patterns = list(product((0, 1), repeat=width))
    truths = [p for p in patterns if any(p) and not all(p)]

    def scored(step: int) -> dict[Any, float]:
        """The cases with the items or concepts in this order, or (-1) the other way round."""
        values: dict[Any, float] = {}
        items = [f"i{k}" for k in range(width)] if by_concept else ["i"]
        own = names[:1] if by_concept else names
        axes = (items[::step], own[::step])
        shape = (len(items), len(own))
        for truth in truths:
            runs = {
                "".join(map(str, p)): _matrix(_values(p[::step], plan.ranked, shape), *axes)
                for p in patterns
            }
            scores = evaluate_labels(
                _matrix(np.array(truth[::step], dtype=bool).reshape(shape), *axes),
                runs,
                [measure],
                ontology=piece.ontology,
                costmap=piece.costmap,
                keep=False,
                jobs=1,
            )
            for pattern, value in zip(patterns, scores.overall[measure], strict=True):
                values[truth, pattern] = float(value)
        return values

    opposite = {t: tuple(1 - b for b in t) for t in truths}
    steps = tuple(
        ((t, p), (t, tuple(t[k] if j == k else p[j] for j in range(width))))
        for t in truths
        for p in patterns
        for k in range(width)
        if p[k] != t[k]
    )
    return _Cases(
        scored(1),
        frozenset((t, t) for t in truths),
        frozenset((t, opposite[t]) for t in truths),
        steps,
        scored(-1),
        lambda c: f"truth {''.join(map(str, c[0]))}, run {''.join(map(str, c[1]))}",
        lambda c: c[0],
    )


def _values(pattern: Case, ranked: bool, shape: tuple[int, int]) -> Any:
    """Labels; for measures of confidences one that is sure and one that is not."""
    labels = np.array(pattern, dtype=bool).reshape(shape)
    return np.where(labels, 0.9, 0.1) if ranked else labels


def _matrix(values: Any, items: Sequence[str], concepts: Sequence[str]) -> Any:
    from cranfield.data.labels import LabelMatrix

    return LabelMatrix.of(values, items=list(items), concepts=list(concepts))


def _concepts(piece: _Piece) -> tuple[str, ...]:
    """Four concepts that the ontology or the cost map knows, or any four."""
    from cranfield.io.costmap import read_costmap
    from cranfield.io.ontology import read_ontology

    source: Any = piece.costmap
    if isinstance(source, Mapping):
        source = next(iter(source.values()), None)
    if piece.ontology is not None:
        known = (
            piece.ontology if hasattr(piece.ontology, "concepts") else read_ontology(piece.ontology)
        )
    elif source is not None:
        known = source if hasattr(source, "concepts") else read_costmap(source)
    else:
        return ("A", "B", "C", "D")
    if len(known.concepts) < 2:
        raise UsageError("the requirements are tried on two concepts or more; these are too few")
    return tuple(known.concepts)[:4]
