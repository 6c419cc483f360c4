"""A worked example for the help page of a measure: computed when it is asked for."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from cranfield.data import Judgements, Run
from cranfield.measures import Measure, measure
from cranfield.registry import split_names

# The example of SHREC 2006: grades by rank, then of the relevant items that were not retrieved.
GRADES = (2, 2, 1, 2, 2, 1, 0, 1, 0, 1, 2, 0, 0, 0)
NOT_RETRIEVED = (2, 1)
SIZE = 1814
# A person's list with significances, and a system's.
PERSON = (("x", 1.0), ("y", 0.8), ("z", 0.5))
SYSTEM = ("z", "u", "x")
# Votes of five people (Santini, figure 1) and for the two items retrieved.
VOTES = {
    "query": ("people", "people", "crowd", "city", "city"),
    "a": ("people", "crowd", "crowd", "crowd", "people"),
    "b": ("city", "city", "city", "city", "people"),
}
TREE = (("people", "all"), ("crowd", "people"), ("city", "all"))
# Items that are relevant to each subtopic of a topic.
SUBTOPICS = {"1": ("a", "b"), "2": ("b", "e"), "3": ("d",)}
_FROM_RANKINGS = {"ranking", "judgements", "grades", "collection_size"}


@dataclass(frozen=True)
class Worked:
    """What is given, and what a few forms of the measure make of it."""

    given: str
    values: dict[str, float]


def worked_example(m: Measure) -> Worked | None:
    """The measure at work on a small example, or None for needs that no example here meets."""
    is_unbound = not m.bound and m.at is None
    forms = [measure(n) for n in split_names(m.example)] if is_unbound and m.example else [m]
    if m.needs <= _FROM_RANKINGS:
        return _of_ranking(forms)
    if "subjects" in m.needs:
        return _of_subjects(forms)
    if "votes" in m.needs:
        return _of_votes(m)
    if "cells" in m.needs:
        return None
    if "strata" in m.needs:
        return _of_strata(forms)
    if "subtopics" in m.needs:
        return _of_subtopics(forms)
    if "reference" in m.needs:
        return _of_reference(forms)
    return None


def _of_ranking(forms: list[Measure]) -> Worked:
    from cranfield.evaluation.ranked import evaluate

    grades = {f"i{n:02d}": g for n, g in enumerate(GRADES)}
    run = {item: float(-n) for n, item in enumerate(grades)}
    grades |= {f"missed{n}": g for n, g in enumerate(NOT_RETRIEVED)}
    scores = evaluate({"t": grades}, {"t": run}, forms, collection_size=SIZE)
    setting = (
        f"grades by rank {' '.join(map(str, GRADES))}; not retrieved "
        f"{' '.join(map(str, NOT_RETRIEVED))}; {SIZE} items in the collection"
    )
    return Worked(setting, scores.mean()["run"])


def _of_subjects(forms: list[Measure]) -> Worked:
    from cranfield.data.subjects import SubjectRankings
    from cranfield.evaluation.displacement import evaluate_displacement

    size = 100
    lists = SubjectRankings.from_rows(("s", "t", item, weight) for item, weight in PERSON)
    run = Run.from_dict({"t": {item: float(-n) for n, item in enumerate(SYSTEM)}})
    scores = evaluate_displacement(lists, [run], forms, collection_size=size)
    setting = (
        f"person: {', '.join(f'{i} ({s:g})' for i, s in PERSON)}; system: {', '.join(SYSTEM)}; "
        f"{size} items in the collection"
    )
    return Worked(setting, {str(m): float(scores.mean(m)[0]) for m in forms})


def _of_strata(forms: list[Measure]) -> Worked:
    from cranfield.evaluation.ranked import evaluate

    # Stratum 0 was judged whole, stratum 1 by half; -1 was not in the sample.
    items = {"a": (0, 1), "b": (1, -1), "c": (0, 0), "d": (1, 1), "e": (1, -1), "f": (1, 0)}
    table = Judgements.from_dict({"t": {item: grade for item, (_, grade) in items.items()}})
    table = replace(table, strata=np.array([stratum for stratum, _ in items.values()]))
    run = {"t": {item: float(-n) for n, item in enumerate("abcd")}}
    setting = ", ".join(f"{item} {s}:{g}" for item, (s, g) in items.items())
    return Worked(
        f"ranking a b c d; stratum:grade of each item of the pool {setting}",
        evaluate(table, run, forms).mean()["run"],
    )


def _of_subtopics(forms: list[Measure]) -> Worked:
    from cranfield.evaluation.ranked import evaluate

    judged = Judgements.from_subtopics(
        {"t": {name: dict.fromkeys(items, 1) for name, items in SUBTOPICS.items()}}
    )
    run = {"t": {item: float(-n) for n, item in enumerate("abcd")}}
    setting = "; ".join(f"subtopic {name}: {' '.join(items)}" for name, items in SUBTOPICS.items())
    return Worked(f"ranking a b c d; {setting}", evaluate(judged, run, forms).mean()["run"])


def _of_reference(forms: list[Measure]) -> Worked:
    from cranfield.evaluation.rank_biased_overlap import overlap_of_runs

    scores = overlap_of_runs({"t": list("abcd")}, {"run": {"t": list("badc")}}, forms)
    return Worked("rankings a b c d and b a d c", scores.mean()["run"])


def _of_votes(m: Measure) -> Worked:
    from cranfield.data.categories import Categorisation, CategoryGraph
    from cranfield.evaluation.category_votes import evaluate_uncertain

    votes = [
        (f"s{s}", item, c) for item, item_votes in VOTES.items() for s, c in enumerate(item_votes)
    ]
    table = Categorisation.from_votes(votes, CategoryGraph.from_pairs(TREE))
    run = Run.from_dict({"query": {"a": 2.0, "b": 1.0}})
    score = evaluate_uncertain(table, [run], k=2).runs["run"][0]
    distribution = score.precision if m.name == "UncertainP" else score.recall
    item_votes = "; ".join(f"votes for {item}: {', '.join(c)}" for item, c in VOTES.items())
    values = (
        {} if distribution is None else {"expectation": distribution.mean, "sd": distribution.sd}
    )
    return Worked(
        f"{item_votes}; crowd is a kind of people; a and b are retrieved",
        {f"{m.name}@2 {name}": value for name, value in values.items()},
    )
