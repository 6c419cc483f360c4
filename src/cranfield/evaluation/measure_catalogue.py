"""The catalogue of measures: all about one of them, with an example worked from small data."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from cranfield.answers import Answer
from cranfield.data import Judgements, Run
from cranfield.errors import MeasureError, UsageError, suggest
from cranfield.evaluation.scores import Scores
from cranfield.io.coerce import RunForm, RunsForm, coerce_run, name_runs
from cranfield.measures import (
    ANNOTATION,
    RANKED,
    REGIONS,
    REGISTRY,
    SETS,
    Measure,
    measure,
    parse_measures,
)
from cranfield.notes import Notes, Progress, Watcher, some_names, with_progress
from cranfield.options import DIMENSIONS
from cranfield.references import REFERENCES
from cranfield.registry import split_names
from cranfield.stats import rank_biased_overlap
from cranfield.validation import validate_params

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
class WorkedExample:
    """What is given, and what a few forms of the measure make of it."""

    given: str
    values: dict[str, float]


def worked_example(m: Measure) -> WorkedExample | None:
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


def _of_ranking(forms: list[Measure]) -> WorkedExample:
    from cranfield.evaluation.ranked import evaluate

    grades = {f"i{n:02d}": g for n, g in enumerate(GRADES)}
    run = {item: float(-n) for n, item in enumerate(grades)}
    grades |= {f"missed{n}": g for n, g in enumerate(NOT_RETRIEVED)}
    scores = evaluate({"t": grades}, {"t": run}, forms, collection_size=SIZE)
    setting = (
        f"grades by rank {' '.join(map(str, GRADES))}; not retrieved "
        f"{' '.join(map(str, NOT_RETRIEVED))}; {SIZE} items in the collection"
    )
    return WorkedExample(setting, scores.mean()["run"])


def _of_subjects(forms: list[Measure]) -> WorkedExample:
    from cranfield.data.categories import SubjectRankings
    from cranfield.evaluation.displacement import evaluate_displacement

    size = 100
    lists = SubjectRankings.from_rows(("s", "t", item, weight) for item, weight in PERSON)
    run = Run.from_dict({"t": {item: float(-n) for n, item in enumerate(SYSTEM)}})
    scores = evaluate_displacement(lists, [run], forms, collection_size=size)
    setting = (
        f"person: {', '.join(f'{i} ({s:g})' for i, s in PERSON)}; system: {', '.join(SYSTEM)}; "
        f"{size} items in the collection"
    )
    return WorkedExample(setting, {str(m): float(scores.mean(m)[0]) for m in forms})


def _of_strata(forms: list[Measure]) -> WorkedExample:
    from cranfield.evaluation.ranked import evaluate

    # Stratum 0 was judged whole, stratum 1 by half; -1 was not in the sample.
    items = {"a": (0, 1), "b": (1, -1), "c": (0, 0), "d": (1, 1), "e": (1, -1), "f": (1, 0)}
    table = Judgements.from_dict({"t": {item: grade for item, (_, grade) in items.items()}})
    table = replace(table, strata=np.array([stratum for stratum, _ in items.values()]))
    run = {"t": {item: float(-n) for n, item in enumerate("abcd")}}
    setting = ", ".join(f"{item} {s}:{g}" for item, (s, g) in items.items())
    return WorkedExample(
        f"ranking a b c d; stratum:grade of each item of the pool {setting}",
        evaluate(table, run, forms).mean()["run"],
    )


def _of_subtopics(forms: list[Measure]) -> WorkedExample:
    from cranfield.evaluation.ranked import evaluate

    judged = Judgements.from_subtopics(
        {"t": {name: dict.fromkeys(items, 1) for name, items in SUBTOPICS.items()}}
    )
    run = {"t": {item: float(-n) for n, item in enumerate("abcd")}}
    setting = "; ".join(f"subtopic {name}: {' '.join(items)}" for name, items in SUBTOPICS.items())
    return WorkedExample(f"ranking a b c d; {setting}", evaluate(judged, run, forms).mean()["run"])


def _of_reference(forms: list[Measure]) -> WorkedExample:
    scores = overlap_of_runs({"t": list("abcd")}, {"run": {"t": list("badc")}}, forms)
    return WorkedExample("rankings a b c d and b a d c", scores.mean()["run"])


def _of_votes(m: Measure) -> WorkedExample:
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
    return WorkedExample(
        f"{item_votes}; crowd is a kind of people; a and b are retrieved",
        {f"{m.name}@2 {name}": value for name, value in values.items()},
    )


@validate_params
@with_progress
def overlap_of_runs(
    reference: RunForm,
    runs: RunsForm,
    measures: str | Measure | Iterable[str | Measure] = "RBO",
    *,
    progress: Watcher | None = None,
) -> Scores:
    """The rank-biased overlap of each run with a reference run, over the topics of the reference.

    A topic that a run misses is an empty ranking. `measures` are forms of RBO, such as
    `RBO@100(p=0.98)`.

    >>> overlap_of_runs({"t": ["a", "b"]}, {"same": {"t": ["a", "b"]}}).mean()
    {'same': {'RBO': 1.0}}
    """
    parsed = parse_measures(measures)
    for m in parsed:
        if m.name != "RBO":
            raise MeasureError(f"{m} does not compare runs with a run; RBO does")
    report_progress, notes = Progress.of(progress), Notes()
    base = coerce_run(reference, "reference")
    ranked = {topic: base.ranking(topic) for topic in base.topics}
    if not ranked:
        raise UsageError("reference= has no topic")
    named_runs = name_runs(runs)
    values = {m: np.zeros((len(named_runs), len(ranked))) for m in parsed}
    missing = []
    for row, (name, source) in enumerate(named_runs):
        report_progress.check()
        run = coerce_run(source, name)
        has = set(run.topics)
        absent = [topic for topic in ranked if topic not in has]
        missing.append(len(absent))
        if absent:
            notes.add(
                f"misses {len(absent)} of {len(ranked)} topics of the reference "
                f"({some_names(absent)}), scored as an empty ranking",
                about=name,
            )
        for column, (topic, first) in enumerate(ranked.items()):
            second = run.ranking(topic) if topic in has else []
            for m in parsed:
                depth = None if m.at is None else int(m.at)
                persistence = float(m.value_of("p"))
                values[m][row, column] = rank_biased_overlap(
                    first[:depth], second[:depth], p=persistence
                )
        report_progress((row + 1) / len(named_runs))
    return Scores(
        task="ranked",
        runs=tuple(name for name, _ in named_runs),
        measures=parsed,
        units={"topic": tuple(ranked)},
        unit_of=dict.fromkeys(parsed, "topic"),
        values=values,
        overall={m: v.mean(axis=1) for m, v in values.items()},
        missing=tuple(missing),
        evaluated=(len(ranked),) * len(named_runs),
        notes=notes.lines(),
    )


_PER_CONCEPT = ("annotation, per concept", "regions")
# Families of rankings that look at the set of what was retrieved, where no cutoff is given.
_OF_SETS = ("contingency table", "counts")
_GRADED = frozenset({"grades", "subjects", "votes"})
_SEMANTIC = frozenset({"costs", "hierarchy"})


def dimensions(m: Measure) -> dict[str, str]:
    """Where a measure stands in each dimension.

    >>> from cranfield.measures import measure
    >>> dimensions(measure("SRP"))["score"], dimensions(measure("P@10.concept"))["prediction"]
    ('semantic', 'ranked')
    """
    if m.name in RANKED:
        direction = "topic"
        of_a_set = m.family in _OF_SETS or m.name.startswith("Set")
    else:
        direction = "concept" if m.family in _PER_CONCEPT else "example"
        of_a_set = "labels" in m.needs or m.name == "F.region"
    return {
        "direction": direction,
        "prediction": "binary" if of_a_set and m.at is None else "ranked",
        "relevance": "graded" if m.needs & _GRADED else "binary",
        "score": "semantic" if m.needs & _SEMANTIC else "binary",
    }


def matches_filters(m: Measure, filters: Mapping[str, str]) -> bool:
    """Whether a measure stands where it is wanted in every dimension that is named."""
    for name, value in filters.items():
        if name not in DIMENSIONS:
            raise UsageError(
                f"no dimension {name!r}.{suggest(name, DIMENSIONS)} There are: "
                f"{', '.join(DIMENSIONS)}"
            )
        if value not in DIMENSIONS[name]:
            raise UsageError(f"{name}={value!r} is not one of {', '.join(DIMENSIONS[name])}")
    positions = dimensions(m)
    return all(positions[name] == value for name, value in filters.items())


DIRECTION = {True: "higher is better", False: "lower is better", None: "neither"}
_CUTOFFS = {"none": "", "optional": "[@k]", "required": "@k", "recall": "@r"}


@dataclass(frozen=True, repr=False, eq=False)
class MeasureCatalogue(Answer):
    """Every measure, and the sets of them that have a name."""

    command: ClassVar[str] = "measures"
    table_maker: ClassVar[str] = "cranfield.report.tables.measures:document"
    measures: tuple[Measure, ...]
    sets: Mapping[str, tuple[str, ...]]

    def __iter__(self) -> Iterator[Measure]:
        return iter(self.measures)

    def __len__(self) -> int:
        return len(self.measures)

    def payload(self, **_: object) -> dict[str, Any]:
        """All that the declarations say, and the members of the sets."""
        return {
            "measures": [describe(m) for m in self.measures],
            "sets": {name: list(members) for name, members in self.sets.items()},
        }

    def headline(self) -> str:
        return f"{len(self.measures)} measures, {len(self.sets)} sets"


@dataclass(frozen=True, repr=False, eq=False)
class MeasureCard(Answer):
    """All about one measure, with an example that is worked out."""

    command: ClassVar[str] = "measures"
    table_maker: ClassVar[str] = "cranfield.report.tables.measures:card_document"
    measure: Measure
    worked: WorkedExample | None = None

    def payload(self, **_: object) -> dict[str, Any]:
        """What the declaration says, and the example."""
        facts = describe(self.measure)
        if self.worked is not None:
            facts["worked_example"] = {"given": self.worked.given, "values": self.worked.values}
        return {"measures": [facts]}

    def headline(self) -> str:
        return f"{self.measure}: {self.measure.title}"


@validate_params
def list_measures(**filters: str) -> MeasureCatalogue:
    """Every measure of rankings and of annotation, and the sets of them.

    `direction=`, `prediction=`, `relevance=` and `score=` keep those that stand there:
    "concept", "example" or "topic"; "binary" or "ranked"; "binary" or "graded"; "binary" or
    "semantic".

    >>> [m.name for m in list_measures(score="semantic", prediction="ranked").measures]
    ['HierarchicalError', 'ParentOneAccuracy', 'SRP']
    """
    matching = tuple(m for m in REGISTRY.values() if matches_filters(m, filters))
    return MeasureCatalogue(matching, {} if filters else all_sets())


@validate_params
def describe_measure(name: str | Measure) -> MeasureCard:
    """All about the measure of a name such as nDCG, `nDCG@10` or MAP."""
    declaration = name if isinstance(name, Measure) else REGISTRY.get(name) or measure(name)
    # The examples are computed with arrays, which the list of measures does without.

    return MeasureCard(declaration, worked_example(declaration))


def all_sets() -> dict[str, tuple[str, ...]]:
    """The sets of ranked measures and of measures of annotation; both have one called `all`."""
    ranked = {name: members for name, members in SETS.items() if name != "all"}
    # The measures of labels work on arrays, which the choices of the command do without.
    from cranfield.measures.labels.registry import LABEL_SETS

    annotation = {name: members for name, members in LABEL_SETS.items() if name != "all"}
    from cranfield.measures.regions import REGION_SETS

    return (
        ranked
        | annotation
        | dict(REGION_SETS)
        | {"all": SETS["all"], "all (label)": LABEL_SETS["all"]}
    )


def signature(m: Measure) -> str:
    """The name with its cutoff: P@k, iP@r, nDCG[@k]."""
    stem, dot, direction = m.name.partition(".")
    if m.cutoff_last:
        return f"{m.name}{_CUTOFFS[m.cutoff]}"
    return f"{stem}{_CUTOFFS[m.cutoff]}{dot}{direction}"


def show_range(m: Measure) -> str:
    return "[" + ", ".join(f"{end:g}" for end in m.range) + "]"


def describe(m: Measure) -> dict[str, Any]:
    """All that a declaration says, as plain data."""
    reference = REFERENCES.get(m.source.key)
    registry = next((r for r in (RANKED, REGIONS) if m.name in r), ANNOTATION)
    return {
        "name": str(m),
        "mean_name": m.mean_label,
        "title": m.title,
        "family": m.family,
        "summary": m.summary,
        "formula": m.formula,
        "source": str(reference) if reference else m.source.key,
        "equations": m.source.equations,
        "deviation": m.source.deviation,
        "range": show_range(m),
        "direction": DIRECTION[m.higher_is_better],
        "higher_is_better": m.higher_is_better,
        "average": m.averaging,
        "dimensions": dimensions(m),
        "needs": sorted(m.needs),
        "ties": m.ties,
        "missing": m.missing,
        "undefined": m.undefined,
        "example": m.example,
        "trec_eval": m.trec_name,
        "also_called": [alias for alias, name in registry.aliases.items() if name == m.name],
        "params": {n: {"default": p.default, "doc": p.doc} for n, p in m.params.items()},
    }
