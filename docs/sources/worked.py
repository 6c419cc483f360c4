"""Small examples that the rows of the sources are worked out on."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Sequence
from contextlib import redirect_stdout
from functools import lru_cache
from io import StringIO
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import worked_studies
import worked_thesis

import cranfield as cf
from cranfield import lab, stats
from cranfield.cli import main
from cranfield.io.samples import SAMPLE


def at(names: str, places: Sequence[int], size: int, **options: Any) -> Any:
    """Measures of a ranking of `size` items whose relevant ones stand at `places`."""
    relevant = set(places)
    run = {f"i{k:07d}": -float(k) for k in range(1, size + 1)}
    truth = {f"i{k:07d}": 1 for k in relevant}
    options = {"collection_size": size} | options
    return one(cf.evaluate({"q": truth}, {"q": run}, names, **options))


def graded(name: str, grades: Sequence[int], size: int | None = None) -> float:
    """A measure of a ranking whose items have these grades."""
    truth = {"q": {f"i{k}": grade for k, grade in enumerate(grades)}}
    run = {"q": {f"i{k}": -float(k) for k in range(len(grades))}}
    return one(cf.evaluate(truth, run, [name], collection_size=size or len(grades)))


def judged(grades: Sequence[int | None]) -> float:
    """JudgedMNRO of a ranking whose items have these grades, None where nobody judged."""
    truth = {"q": {f"i{k}": grade for k, grade in enumerate(grades) if grade is not None}}
    run = {"q": {f"i{k}": -float(k) for k in range(len(grades))}}
    return one(cf.evaluate(truth, run, "JudgedMNRO"))


def one(scores: Any) -> Any:
    """The values of the only run: a number for one measure, else a list."""
    values = list(next(iter(scores.mean().values())).values())
    return values[0] if len(values) == 1 else values


# ---- Chatzichristofis et al.
_TABLE_4 = {
    "AP": [5, 8, 20, 8, 8, 10, 7, 6, 14, 4],
    "NMRR": [9, 10, 6, 20, 10, 4, 10, 9, 14, 17],
    "MNRO": [13, 12, 20, 20, 10, 14, 11, 13, 14, 8],
    "OTHER": [3, 0, 4, 2, 2, 2, 2, 2, 2, 1],
}
_TABLE_5 = {  # MAP, ANMRR, AMNRO
    "FCTH": (0.5736, 0.2737, 0.2948),
    "C.FCTH": (0.5222, 0.3154, 0.3467),
    "EHD": (0.3097, 0.5264, 0.5525),
    "CLD": (0.4626, 0.3927, 0.4326),
    "CH": (0.3018, 0.5913, 0.6160),
}


def nmrr(places: Sequence[int], size: int, gmt: int) -> float:
    """NMRR where the largest query of the collection has `gmt` relevant items."""
    return at("NMRR", places, size, gmt=gmt)


def _counts(places: Sequence[int], size: int) -> Any:
    from cranfield.evaluation.precision_recall import count_at_cutoffs

    truth = {"q": {f"i{k}": 1 for k in places}}
    run = {"run": {"q": {f"i{k}": -float(k) for k in range(1, size + 1)}}}
    return count_at_cutoffs(truth, run, collection_size=size)


def detections(places: Sequence[int], size: int) -> list[tuple[float, float]]:
    """False alarms and detections at every cutoff."""
    from cranfield.evaluation.precision_recall import detection_curves

    return list(detection_curves(_counts(places, size))[0].points)


def operating_area(places: Sequence[int], size: int) -> float:
    """The area under recall against fallout."""
    from cranfield.evaluation.precision_recall import operating_curves

    return operating_curves(_counts(places, size))["run"].auc


def generality_of(places: Sequence[int], size: int) -> list[float]:
    """Generality of a query, and precision and recall where as many items are seen as relevant."""
    from cranfield.evaluation.precision_recall import generality_points

    (point,) = generality_points(_counts(places, size), "run")
    return [point.generality, point.precision, point.recall]


def table_1_ranks() -> list[str]:
    """The rank columns of Table 1, as `cranfield eval --ranks --format csv` prints them."""
    places = {"A": (1, 2, 3, 4, 5), "B": (1, 3, 4, 5, 6), "C": (1, 2, 3, 4, 100)}
    places |= {"D": (1, 2, 3, 30, 31), "E": (1, 2, 3, 40, 41)}
    with tempfile.TemporaryDirectory() as folder:
        qrels = Path(folder) / "qrels.txt"
        qrels.write_text("".join(f"q 0 r{rank} 1\n" for rank in range(5)))
        for name, ranks in places.items():
            items = {rank: f"r{k}" for k, rank in enumerate(ranks)}
            rows = (f"q Q0 {items.get(n, f'x{n:03d}')} {n} {-n} {name}\n" for n in range(1, 101))
            (Path(folder) / f"{name}.run").write_text("".join(rows))
        files = [str(qrels), *(str(Path(folder) / f"{name}.run") for name in places)]
        options = ["-m", "AP NMRR MNRO", "--collection-size", "100", "--gmt", "10", "--ranks"]
        with redirect_stdout(StringIO()) as out:
            main(["eval", *files, *options, "--format", "csv"])
    return [cell for line in out.getvalue().split()[1:] for cell in line.split(",")[2::2]]


def deviation(base: float, value: float) -> float:
    """The gap to a baseline in percent of it (Table 2)."""
    from cranfield.lab.growing_collections import deviation_percent

    return deviation_percent(base, value)


def table_4() -> Any:
    """The votes of Table 4, counted."""
    from cranfield.campaign.surveys.votes import count_choices

    return count_choices(_TABLE_4)


def table_8(first: str, second: str) -> list[float]:
    """Deviations of two descriptors of Table 5, in percent of the smaller mean."""
    pairs = zip(_TABLE_5[first], _TABLE_5[second], strict=True)
    return [stats.deviation_percent(a, b) for a, b in pairs]


@lru_cache
def cedd() -> dict[str, float]:
    """Means of CEDD on the photographs that ship with the package, searched by each of them."""
    photos = SAMPLE.parent / "photos"
    with tempfile.TemporaryDirectory() as folder:
        cf.describe_pictures(photos / "pictures", "CEDD", folder)
        run = cf.search(Path(folder) / "CEDD.npz").run()
    names = "AP P@10 P@20 NMRR MNRO"
    scores = cf.evaluate(photos / "qrels.txt", run, names, collection_size=144)
    return next(iter(scores.mean().values()))


@lru_cache
def deviations_of_cedd() -> list[float]:
    """How far means of CEDD move, in percent, from 48 of the photographs to all 144."""
    photos = SAMPLE.parent / "photos"
    with tempfile.TemporaryDirectory() as folder:
        cf.describe_pictures(photos / "pictures", "CEDD", folder)
        run = cf.search(Path(folder) / "CEDD.npz").run().named("CEDD")
    names = "AP NMRR NAR MNRO"
    material = lab.StudyInput.ranked(photos / "qrels.txt", run, names)
    study = lab.generality(material, collection_size=144)
    return [round(study.deviation(name)[-1], 2) for name in names.split()]


@lru_cache
def benchmark() -> list[float]:
    """AMNRO of the descriptors of Table 5 on the photographs, the best by MAP first."""
    photos = SAMPLE.parent / "photos"
    answer = cf.benchmark_descriptors(photos / "pictures", photos / "qrels.txt")
    means = answer.scores.mean()
    return [round(means[row.descriptor]["MNRO"], 4) for row in answer.places]


def text_visual_fused() -> list[float]:
    """MAP of BM25 over the tags of the photographs, of FCTH, and of both together."""
    photos = SAMPLE.parent / "photos"
    with tempfile.TemporaryDirectory() as folder:
        cf.describe_pictures(photos / "pictures", "FCTH", folder)
        visual = cf.search(Path(folder) / "FCTH.npz").run().named("visual")
    text = cf.search_texts(photos / "tags.csv", name="text").run
    fused = cf.fuse([text, visual]).run.named("fused")
    scores = cf.evaluate(photos / "qrels.txt", [text, visual, fused], "AP")
    return [round(values["AP"], 4) for values in scores.mean().values()]


def questions() -> int:
    """How many questions of five ranked lists a survey has that is drawn anew."""
    return len(lab.make_questionnaire().questions["questions"])


def significance_stars(p: float) -> str:
    """The stars beside a p-value."""
    from cranfield.comparison.answer import stars

    return stars(p)


# ---- SHREC: the page's example of 14 retrieved models of 1814
_GAINS = (2, 2, 1, 2, 2, 1, 0, 1, 0, 1, 2, 0, 0, 0)


def shrec(names: str | list[str]) -> Any:
    """Measures of the example of SHREC's page: grades by rank, two relevant models missed."""
    truth = {f"m{k:02d}": g for k, g in enumerate(_GAINS)} | {"missed2": 2, "missed1": 1}
    run = {f"m{k:02d}": -float(k) for k in range(len(_GAINS))}
    return one(cf.evaluate({"q": truth}, {"q": run}, names, collection_size=1814))


def shrec_names(names: str) -> list[str]:
    """What heads the columns of `cranfield report table --as shrec`."""
    from cranfield.measures.ranked.shrec import shrec_name

    return [shrec_name(cf.measure(name)) for name in names.split()]


def gain_points(gain: str, against: str) -> list[tuple[float, float]]:
    """The points of the graph of a gain for the example of SHREC's page."""
    from cranfield.evaluation.precision_recall import gain_curves

    truth = {f"m{k:02d}": g for k, g in enumerate(_GAINS)} | {"missed2": 2, "missed1": 1}
    run = {"run": {"q": {f"m{k:02d}": -float(k) for k in range(len(_GAINS))}}}
    (curve,) = gain_curves({"q": truth}, run, gain, against=against)
    return list(curve.points)


# ---- Rocchio: Table 5.1, four types of queries
_TYPES = {"1": (7, 3, 3), "2": (5, 5, 5), "3": (9, 1, 9), "4": (5, 45, 45)}


def _table_5_1() -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    truth, run = {}, {}
    for topic, (hits, false, missed) in _TYPES.items():
        truth[topic] = {f"r{k}": 1 for k in range(hits + missed)}
        run[topic] = {f"r{k}": 1.0 for k in range(hits)} | {f"x{k}": 0.5 for k in range(false)}
    return truth, run


def table_5_1(names: str, topic: str = "") -> Any:
    """Measures of Rocchio's Table 5.1 in a collection of 200: the mean, or of one query type."""
    scores = cf.evaluate(*_table_5_1(), names, collection_size=200)
    if not topic:
        return one(scores)
    row = next(r for r in scores.per_topic() if r["topic"] == topic)
    values = [row[str(m)] for m in scores.measures]
    return values[0] if len(values) == 1 else values


def tied_ranks() -> list[float]:
    """The ranks of d1 > d2 > {d3, d4, d5} > d6, from RankRecall of each alone."""
    run = {"q": {"d1": 5.0, "d2": 4.0, "d3": 3.0, "d4": 3.0, "d5": 3.0, "d6": 2.0}}
    options: dict[str, Any] = {"ties": "average", "collection_size": 6}
    return [1 / one(cf.evaluate({"q": {d: 1}}, run, "RankRecall", **options)) for d in run["q"]]


def effectiveness() -> list[tuple[float, float]]:
    """The ends of the curves of precision against recall of Table 5.1: macro and micro."""
    from cranfield.evaluation.precision_recall import count_at_cutoffs, effectiveness_curves

    truth, run = _table_5_1()
    counts = count_at_cutoffs(truth, {"run": run}, collection_size=200)
    return [effectiveness_curves(counts, mean=m)[0].points[-1] for m in ("macro", "micro")]


def above(limit: float | str) -> list[int]:
    """How many items of two topics have a score from a limit on."""
    from cranfield.evaluation.precision_recall import above_score

    run = {"t": {"a": 1.0, "b": 0.6, "c": 0.5, "d": 0.0}, "u": {"a": 10.0, "b": 2.0}}
    return [len(items) for items in above_score({"run": run}, limit)[0].to_dict().values()]


def at_thresholds(shares: Sequence[float]) -> list[tuple[float, float]]:
    """Precision and recall of what scores at least so many percent of the way to the best: four
    documents with 1, 0.6, 0.5 and 0, of which the first and the third are relevant."""
    from cranfield.evaluation.precision_recall import threshold_curves

    run = {"r": {"t": {"a": 1.0, "b": 0.6, "c": 0.5, "d": 0.0}}}
    (precision,), (recall,) = threshold_curves({"t": {"a": 1, "c": 1}}, run)
    return [(dict(precision.points)[s], dict(recall.points)[s]) for s in map(float, shares)]


def overlap_of_keywords() -> list[list[float]]:
    """Three documents for a query of three keywords: scores of set overlap by query and by search,
    and the sizes of R(3), R(2) and R(1)."""
    from cranfield.features.item_vectors import ItemTable

    images = {"a": ["x", "y", "z"], "b": ["x", "y"], "c": ["z", "w"], "d": ["w"]}
    labels = {item: set(words) for item, words in images.items()}
    query = {"t": "x AND y AND z"}
    by_query = cf.query_concepts(query, labels, reading="overlap").run.to_dict()["t"]
    table = [[float(word in words) for word in "xyzw"] for words in images.values()]
    asked = ItemTable.of(["t"], np.array([[1.0, 1.0, 1.0, 0.0]]))
    items = ItemTable.of(list(images), np.array(table))
    by_search = cf.search(items, asked, distance="overlap", min_terms=1).run().to_dict()["t"]
    sizes = [len(cf.search(items, asked, distance="overlap", min_terms=k).run()) for k in (3, 2, 1)]
    return [list(by_query.values()), [3 * share for share in by_search.values()], sizes]


def neighbours_judged() -> list[Any]:
    """A survey on pairs of near and of drawn items in two heaps, answered by a person who sees
    the heaps: whether both kinds are as many, and how often near ones are rated higher."""
    from cranfield.campaign.annotation_task import UnitAnswers, response_of
    from cranfield.campaign.surveys.making import count_survey
    from cranfield.campaign.surveys.ratings import association_survey

    vectors = np.repeat([[1.0, 0.0], [0.0, 1.0]], 6, axis=0) + np.eye(12, 2) / 50
    index = cf.ItemVectors.of([f"i{k:02}" for k in range(12)], vectors)
    survey = association_survey(index, pairs=8, near=2, rng=1)
    rated = [
        UnitAnswers(unit, {"rating": ["4" if how == "near" else "0"]})
        for unit, (_, _, how, *_) in survey.key["pairs"].items()
    ]
    kinds = [row[2] for row in survey.key["pairs"].values()]
    counted = count_survey(survey.key, [response_of(survey.sheet, "ann", rated)])
    return [kinds.count("near") == kinds.count("drawn"), counted.told]


def feedback() -> list[int]:
    """Documents at 0 to 5 on a line after feedback on the first two, of which 2 is relevant."""
    from cranfield.features.item_vectors import ItemTable

    places = ItemTable.of([str(k) for k in range(6)], np.array([[float(k), 0.0] for k in range(6)]))
    query = ItemTable.of(["q"], np.array([[1.1, 0.0]]))
    truth = {"q": {"2": 1, "3": 1}}
    answer = cf.apply_feedback(
        places, truth, query, distance="L2", depth=2, weights=(1.0, 1.0, 0.5)
    )
    return [int(item) for item in answer.run.ranking("q")]


def index_quality() -> list[float]:
    """Average precision of the optimal query of an index, and of a run on the same topic."""
    vectors = np.array([[2.0, 0.1], [3.0, -0.1], [0.1, 5.0], [-0.1, 1.0], [0.5, 0.5]])
    index = cf.ItemVectors.of(list("abcde"), vectors)
    run = cf.Run.from_dict({"t": {"c": 3.0, "a": 2.0, "b": 1.0}}).named("mine")
    found = cf.evaluate_index(index, {"t": {"a": 1, "b": 1}}, [run], "AP")
    return [values["AP"] for values in found.scores.mean().values()]


# ---- Santini: votes on the image of figure 1 and three others; a person's list
_TREE = [("people", "all"), ("crowd", "people"), ("city", "all"), ("nature", "all")]
_VOTES = {
    "figure1": ["people", "people", "crowd", "city", "city"],
    "a": ["people", "crowd", "crowd", "crowd", "people"],
    "b": ["city", "city", "city", "city", "nature"],
    "c": ["nature"] * 5,
}


def votes() -> Any:
    """The votes of five people on Santini's figure 1 and three more images, over a tree."""
    from cranfield.data.categories import Categorisation, CategoryGraph

    rows = [(f"s{i}", item, c) for item, given in _VOTES.items() for i, c in enumerate(given)]
    return Categorisation.from_votes(rows, CategoryGraph.from_pairs(_TREE))


def uncertain(*items: str, **options: Any) -> Any:
    """Precision and recall as distributions, of items retrieved for figure 1."""
    run = cf.Run.from_dict({"figure1": {item: -float(k) for k, item in enumerate(items)}})
    found = cf.evaluate_uncertain(votes(), [run.named("A")], k=len(items), **options)
    return found.runs["A"][0]


def displaced(
    items: Sequence[str], measure: str = "Displacement", size: int | None = None
) -> float:
    """Displacement of a system's list against a person's x, y, z of significance 1, 0.8, 0.5."""
    from cranfield.data.categories import SubjectRankings

    rows = [("s", "q", "x", 1.0), ("s", "q", "y", 0.8), ("s", "q", "z", 0.5)]
    run = cf.Run.from_dict({"q": {item: -float(k) for k, item in enumerate(items)}})
    people = SubjectRankings.from_rows(rows)
    found = cf.evaluate_displacement(people, [run], measure, collection_size=size)
    return float(found.mean(found.measures[0])[0])


def asked(answers: str) -> list[str]:
    """The results of a system that is asked for more until x, y and z are among them."""
    from cranfield.data.categories import SubjectRankings

    people = SubjectRankings.from_rows([("s", "q", item, 1.0) for item in "xyz"])
    found = cf.ask_until_found(people, lambda _, count: answers[:count], first=2)
    return found.run.ranking("q")


def acyclic() -> list[float]:
    """A vote for a category below two others counts once in each, and once at the root."""
    from cranfield.data.categories import Categorisation, CategoryGraph

    links = [("indoor", "all"), ("people", "all"), ("party", "indoor"), ("party", "people")]
    found = Categorisation.from_votes([("s", "x", "party")], CategoryGraph.from_pairs(links))
    return list(found.of("x").values())


def better() -> list[float]:
    """The chance that a, b are a better answer for figure 1 than b, c, and that they are worse."""
    runs = [
        cf.Run.from_dict({"figure1": {item: -float(k) for k, item in enumerate(items)}}).named(
            items
        )
        for items in ("ab", "bc")
    ]
    odds = cf.evaluate_uncertain(votes(), runs, k=2).comparisons[0].topics["figure1"]
    return [odds.better, odds.worse]


def parts(items: Sequence[str]) -> list[int]:
    """How many of the person's images x, y, z a system's list has, and how many it lacks."""
    found = [item in items for item in "xyz"]
    return [sum(found), len(found) - sum(found)]


def _public(module: ModuleType) -> dict[str, Any]:
    """What a module defines for calls, by name."""
    return {
        name: thing
        for name, thing in vars(module).items()
        if not name.startswith("_") and getattr(thing, "__module__", "") == module.__name__
    }


NAMES: dict[str, Any] = {
    "cf": cf,
    "lab": lab,
    "stats": stats,
    "math": math,
    "np": np,
    "SAMPLE": SAMPLE,
    **{
        thing.__name__: thing
        for thing in (
            at,
            graded,
            judged,
            one,
            nmrr,
            detections,
            operating_area,
            generality_of,
            table_1_ranks,
            deviation,
            table_4,
            table_8,
            cedd,
            benchmark,
            text_visual_fused,
            neighbours_judged,
            feedback,
            deviations_of_cedd,
            questions,
            significance_stars,
            shrec,
            gain_points,
            shrec_names,
            table_5_1,
            tied_ranks,
            effectiveness,
            above,
            at_thresholds,
            overlap_of_keywords,
            index_quality,
            acyclic,
            asked,
            better,
            parts,
            votes,
            uncertain,
            displaced,
        )
    },
    **_public(worked_thesis),
    **_public(worked_studies),
}
