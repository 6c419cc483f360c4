"""Which of the requirements on a metric hold (King 2003, thesis 4.6), tried out on small cases.

By machine: 1 best value for perfect quality and only there, 2 worst value only for the worst
quality, 3 better quality never scores lower, 6 equivalent inputs score the same. Requirements 7
and 8 (cheap, automated) hold for all that Cranfield computes; 4, 5 and 9 (clear, close to human
judgement, valid) are for people, and `lab votes` helps with the fifth.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from cranfield.errors import NeedsError
from cranfield.measures import SETS, Measure
from cranfield.measures import measure as parse

if TYPE_CHECKING:
    from cranfield.report.document import Table

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
SIZE = 8
# Differences below this are the last digits of a sum, not a change of quality.
TINY = 1e-12
Case: TypeAlias = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Requirement:
    """One requirement on one measure; `holds` is None where only people can tell."""

    measure: str
    number: int
    holds: bool | None
    counter_example: str = ""


@dataclass(frozen=True, eq=False)
class Requirements:
    """All nine requirements for every measure."""

    measures: tuple[str, ...]
    found: tuple[Requirement, ...]

    def of(self, measure: str, number: int) -> Requirement:
        return next(r for r in self.found if (r.measure, r.number) == (measure, number))

    def table(self) -> Table:
        from cranfield.report.document import Cell, Column, Table

        text = {True: "yes", False: "no", None: "people"}
        columns = [Column("measure", numeric=False)]
        columns += [Column(str(n), numeric=False) for n in TITLES]
        rows: list[list[Cell]] = [
            [m, *(text[self.of(m, n).holds] for n in TITLES)] for m in self.measures
        ]
        notes = [f"{n}: {title}" for n, title in TITLES.items()]
        notes += [
            f"{r.measure}, {r.number}: {r.counter_example}" for r in self.found if r.counter_example
        ]
        return Table(columns, rows, "Requirements on a metric", notes)

    def to_dict(self) -> dict[str, Any]:
        return {
            "study": "requirements",
            "requirements": {str(n): title for n, title in TITLES.items()},
            "measures": [
                {"measure": r.measure, "requirement": r.number, "holds": r.holds,
                 "counter_example": r.counter_example or None}
                for r in self.found
            ],
        }  # fmt: skip


def requirements(
    measures: str | Iterable[str | Measure], *, ontology: Any = None, costmap: Any = None
) -> Requirements:
    """Try the requirements on every ranking of 8 items, or every labelling of 4 concepts.

    The names may be of ranked measures or of measures of annotation, which take the ontology
    and the cost map; its first four concepts are used.
    """
    from cranfield.measures._parse import split_names
    from cranfield.measures.label_registry import LABEL_REGISTRY

    given = list(split_names(measures)) if isinstance(measures, str) else list(measures)
    found: list[Requirement] = []
    names = []
    for one in given:
        named = [one] if isinstance(one, Measure) else SETS.get(one, (one,))
        for name in named:
            chosen = (name if isinstance(name, Measure) else parse(name)).check_complete()
            names.append(str(chosen))
            if chosen.name in LABEL_REGISTRY:
                found += _tried(chosen, _labellings(chosen, ontology, costmap))
            else:
                found += _tried(chosen, _rankings(chosen))
    return Requirements(tuple(names), tuple(found))


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
    name = str(measure)
    sign = -1.0 if measure.higher_is_better is False else 1.0
    values = {c: sign * v for c, v in cases.values.items() if not np.isnan(v)}
    if measure.higher_is_better is None or not values:
        for number in TITLES:
            yield Requirement(name, number, True if number in (7, 8) else None)
        return
    # Perfect and worst are a matter of the task: as many relevant items, or the same truth.
    tops: dict[Any, float] = {}
    bottoms: dict[Any, float] = {}
    for c, v in values.items():
        task = cases.task(c)
        tops[task] = max(v, tops.get(task, v))
        bottoms[task] = min(v, bottoms.get(task, v))

    def where(wrong: list[Any], text: str) -> str:
        return f"{cases.show(wrong[0])} {text}" if wrong else ""

    # A perfect case below the best value leaves another one on top, which is then found here.
    reach = [
        c for c, v in values.items() if v >= tops[cases.task(c)] - TINY and c not in cases.perfect
    ]
    text = where(reach, "is not perfect and reaches the best value all the same")
    yield Requirement(name, 1, not text, text)
    low = [
        c for c, v in values.items() if v <= bottoms[cases.task(c)] + TINY and c not in cases.worst
    ]
    text = where(low, "is not the worst and gets the worst value all the same")
    yield Requirement(name, 2, not text, text)
    fallen = [
        (a, b) for a, b in cases.steps
        if a in values and b in values and values[b] < values[a] - TINY
    ]  # fmt: skip
    text = ""
    if fallen:
        a, b = fallen[0]
        text = (
            f"{cases.show(b)} is better than {cases.show(a)} and scores {sign * values[b]:g}, "
            f"not {sign * values[a]:g}"
        )
    yield Requirement(name, 3, not text, text)
    yield Requirement(name, 4, None)
    yield Requirement(name, 5, None)
    moved = [
        c for c, v in cases.twins.items()
        if c in values and not np.isnan(v) and abs(sign * v - values[c]) > 1e-9
    ]  # fmt: skip
    text = where(moved, "scores otherwise when its items have other names")
    yield Requirement(name, 6, not text, text)
    yield Requirement(name, 7, True)
    yield Requirement(name, 8, True)
    yield Requirement(name, 9, None)


def _rankings(measure: Measure) -> _Cases:
    """Every ranking of 8 items with 1 to 3 relevant ones, as the ranks of these."""
    from cranfield.evaluation import evaluate

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


def _labellings(measure: Measure, ontology: Any, costmap: Any) -> _Cases:
    """Every truth and prediction of four concepts for one item, or of one concept for four."""
    import warnings

    from cranfield.errors import CranfieldWarning
    from cranfield.label_evaluation import evaluate_labels

    plan: Any = measure.plan(measure)
    if "hierarchy" in measure.needs and ontology is None:
        raise NeedsError(f"{measure} needs a hierarchy of concepts: give one with --ontology")
    names = tuple(_concepts(ontology))[:4] if ontology is not None else ("A", "B", "C", "D")
    by_concept = plan.unit == "concept"
    patterns = [tuple(int(b) for b in f"{k:04b}") for k in range(16)]
    truths = patterns[1:15]
    values: dict[Any, float] = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CranfieldWarning)
        for truth in truths:
            shape = (4, 1) if by_concept else (1, 4)
            own = names[:1] if by_concept else names
            matrix = np.array(truth, dtype=bool).reshape(shape)
            items = [f"i{k}" for k in range(shape[0])]
            runs = {
                "".join(map(str, p)): _matrix(_values(p, plan.ranked, shape), items, own)
                for p in patterns
            }
            scores = evaluate_labels(
                _matrix(matrix, items, own), runs, [measure], ontology=ontology, costmap=costmap,
                keep=False,
            )  # fmt: skip
            for pattern, value in zip(patterns, scores.overall[measure], strict=True):
                values[truth, pattern] = float(value)
    opposite = {t: tuple(1 - b for b in t) for t in truths}
    steps = tuple(
        ((t, p), (t, tuple(t[k] if j == k else p[j] for j in range(4))))
        for t in truths for p in patterns for k in range(4) if p[k] != t[k]
    )  # fmt: skip
    return _Cases(
        values, frozenset((t, t) for t in truths), frozenset((t, opposite[t]) for t in truths),
        steps, {}, lambda c: f"truth {''.join(map(str, c[0]))}, run {''.join(map(str, c[1]))}",
        lambda c: c[0],
    )  # fmt: skip


def _values(pattern: Case, ranked: bool, shape: tuple[int, int]) -> Any:
    """Labels; for measures of confidences one that is sure and one that is not."""
    labels = np.array(pattern, dtype=bool).reshape(shape)
    return np.where(labels, 0.9, 0.1) if ranked else labels


def _matrix(values: Any, items: list[str], concepts: tuple[str, ...]) -> Any:
    from cranfield.data.labels import LabelMatrix

    return LabelMatrix.of(values, items=items, concepts=concepts)


def _concepts(ontology: Any) -> tuple[str, ...]:
    from cranfield.io.ontology import read_ontology

    known = read_ontology(ontology) if not hasattr(ontology, "concepts") else ontology
    return tuple(known.concepts)
