"""Which of the requirements on a metric hold (King 2003, thesis 4.6), tried out on small cases.

By machine: 1 best value for perfect quality and only there, 2 worst value only for the worst
quality, 3 better quality never scores lower, 6 equivalent inputs score the same. Requirements 7
and 8 (cheap, automated) hold for all that Cranfield computes; 4, 5 and 9 (clear, close to human
judgement, valid) are for people, and `lab votes` helps with the fifth. Measures of annotation are
also tried on what the user model and, with an ontology, Kiritchenko ask of them (thesis 7.2, 9.2).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np

from cranfield.answers import Answer
from cranfield.data.costmap import CostMap
from cranfield.errors import NeedsError, plural
from cranfield.io.costmap import read_costmap
from cranfield.io.ontology import read_ontology
from cranfield.lab.requirement_cases import Cases, ConceptKnowledge, label_cases, ranked_cases
from cranfield.lab.requirement_models import MODEL_TITLES as MODEL_TITLES
from cranfield.lab.requirement_models import hierarchy_faults, user_faults
from cranfield.lab.study_input import DISTANCES, any_measures, is_annotation, label_options_once
from cranfield.measures import Measure
from cranfield.notes import Watcher, with_progress
from cranfield.validation import validate_params
from cranfield.work.executors import Plain, Plan, run_pieces
from cranfield.work.serialisation import full_path, stamp

Number: TypeAlias = int | str
KING = {
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
TITLES: dict[Number, str] = {n: t for part in (KING, MODEL_TITLES) for n, t in part.items()}
MONOTONIC = 3
# Hold for all that Cranfield computes.
AUTOMATIC = (7, 8)
# Differences below this are the last digits of a sum, not a change of quality.
TINY = 1e-12
# Items of other names are added in another order, which moves more digits than that.
SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Requirement:
    """One requirement on one measure; `holds` is None where only people can tell."""

    measure: str
    number: Number
    holds: bool | None
    counter_example: str = ""


@dataclass(frozen=True, repr=False, eq=False)
class Requirements(Answer):
    """King's nine requirements for every measure; for those of annotation also the models'."""

    command: ClassVar[str] = "lab requirements"

    measures: tuple[str, ...]
    found: tuple[Requirement, ...]

    def of(self, measure: str, number: Number) -> Requirement:
        """What was found; one that was not tried neither holds nor fails."""
        key = measure, number
        tried = (r for r in self.found if (r.measure, r.number) == key)
        return next(tried, Requirement(measure, number, None))

    @property
    def numbers(self) -> tuple[Number, ...]:
        """The requirements that at least one measure was tried on."""
        tried = {r.number for r in self.found}
        return tuple(n for n in TITLES if n in tried)

    def headline(self) -> str:
        failed = sum(r.holds is False for r in self.found)
        return f"{plural(len(self.measures), 'measure')}, {plural(failed, 'requirement')} not met"

    def payload(self, **_: Any) -> dict[str, Any]:
        return {
            "study": "requirements",
            "requirements": {str(n): TITLES[n] for n in self.numbers},
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


@validate_params
@with_progress
def requirements(
    measures: str | Iterable[str | Measure],
    *,
    ontology: Any = None,
    rules: Any = None,
    costmap: Any = None,
    plan: Plan | None = None,
    progress: Watcher | None = None,
) -> Requirements:
    """Try the requirements on every ranking of 8 items, or on labels of 4 concepts at a time.

    The names may be of ranked measures or of measures of annotation, which take the ontology
    with its rules and the cost maps. Of their concepts some are chosen that differ in depth and
    in the rules about them.
    """
    plan = plan or Plan()
    settings = label_options_once({"ontology": ontology, "rules": rules, "costmap": costmap})
    knowledge = (settings["ontology"], settings["rules"], settings["costmap"])
    paths = knowledge if plan.is_local else full_path(knowledge)
    pieces = {str(m): _Piece(str(m), *paths) for m in any_measures(measures)}
    study = {"study": "requirements", "measures": list(pieces), "known": stamp(knowledge)}
    loads = DISTANCES if ontology is not None else ()
    answers = run_pieces(_run_piece, pieces, plan, study=study, loads=loads, progress=progress)
    verdicts = [Requirement(m, *row) for m, answer in answers.items() for row in answer["found"]]
    return Requirements(tuple(pieces), tuple(verdicts), notes=_order_notes(verdicts))


def _order_notes(verdicts: Sequence[Requirement]) -> tuple[str, ...]:
    """On which order the verdict rests that a measure of decisions is not monotonic."""
    failed = [
        r.measure
        for r in verdicts
        if r.number == MONOTONIC and r.holds is False and _reads_decisions(r.measure)
    ]
    if not failed:
        return ()
    return (
        f"{', '.join(failed)}: requirement {MONOTONIC} is tried on the order by single labels, in "
        "which one wrong label less is always better, so that an empty set is better than a near "
        "miss. The user model rejects this order: there a near concept is worth more than none",
    )


def _reads_decisions(name: str) -> bool:
    (measure,) = any_measures([name])
    if not is_annotation(measure):
        return False
    plan: Any = measure.plan(measure)
    return not plan.ranked and plan.unit != "concept"


@dataclass(frozen=True, slots=True)
class _Piece:
    name: str
    ontology: Any
    rules: Any
    costmap: Any

    def known(self) -> ConceptKnowledge:
        ontology, maps = self.ontology, self.costmap
        if isinstance(ontology, str | Path):
            ontology = read_ontology(ontology, rules=self.rules)
        pairs = maps if isinstance(maps, tuple) else () if maps is None else (("", maps),)
        return ConceptKnowledge(ontology, {name: _map(source) for name, source in pairs})


def _map(source: Any) -> CostMap:
    return source if isinstance(source, CostMap) else read_costmap(source)


def _run_piece(task: _Piece) -> Plain:
    (measure,) = any_measures([task.name])
    verdicts = _of_labels(measure, task.known()) if is_annotation(measure) else _of_ranks(measure)
    return {"found": [[r.number, r.holds, r.counter_example] for r in verdicts]}


def _of_ranks(measure: Measure) -> list[Requirement]:
    return list(_king(measure, [ranked_cases(measure)]))


def _of_labels(measure: Measure, knowledge: ConceptKnowledge) -> list[Requirement]:
    if "hierarchy" in measure.needs and knowledge.ontology is None:
        raise NeedsError(f"{measure} needs a hierarchy of concepts: give one with ontology=...")
    cases = list(label_cases(measure, knowledge))
    verdicts = list(_king(measure, cases))
    if measure.higher_is_better is not None:
        sign = _sign(measure)
        faults = user_faults(measure, cases, sign) | hierarchy_faults(measure, knowledge, sign)
        verdicts += [Requirement(str(measure), n, not text, text) for n, text in faults.items()]
    return verdicts


def _sign(measure: Measure) -> float:
    return -1.0 if measure.higher_is_better is False else 1.0


def _king(measure: Measure, groups: Sequence[Cases]) -> Iterator[Requirement]:
    """All nine: those for a machine tried out, the others as people must find them."""
    sign = _sign(measure)
    faults: dict[Number, str] = {}
    for cases in groups:
        values = {c: sign * v for c, v in cases.values.items() if not np.isnan(v)}
        if measure.higher_is_better is not None and values:
            for number, text in _faults(cases, values, sign).items():
                faults[number] = faults.get(number) or text
    for number in KING:
        if number in faults:
            yield Requirement(str(measure), number, not faults[number], faults[number])
        else:
            yield Requirement(str(measure), number, True if number in AUTOMATIC else None)


def _faults(cases: Cases, values: Mapping[Any, float], sign: float) -> dict[int, str]:
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
