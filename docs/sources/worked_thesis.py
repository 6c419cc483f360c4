"""Small examples for the rows of Nowak's thesis."""

from __future__ import annotations

import csv
import math
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import cranfield as cf
from cranfield import lab
from cranfield.data.costmap import CostMap
from cranfield.data.judgement_log import judgement_log
from cranfield.data.ontology import Ontology, Requirement, Rules
from cranfield.evaluation.measure_catalogue import dimensions
from cranfield.io.samples import SAMPLE

PUBLISHED = Path(__file__).parents[2] / "tests" / "papers" / "published"
LABELS = sorted(str(path) for path in (SAMPLE / "labels").glob("*.csv.gz"))


def one(scores: Any) -> Any:
    """The values of the only run: a number for one measure, else a list."""
    values = list(next(iter(scores.mean().values())).values())
    return values[0] if len(values) == 1 else values


# ---- Figure 4.1: three photos
_TRUTH = [[0, 1, 1], [0, 0, 1], [1, 1, 0]]
_SYSTEM = [[0.1, 0.9, 0.1], [0.2, 0.9, 0.7], [0.6, 0.2, 0.8]]


def _photos(cells: Any) -> cf.LabelMatrix:
    concepts, items = ["Person", "Blurry", "Tree"], ["Photo1", "Photo2", "Photo3"]
    return cf.LabelMatrix.of(np.array(cells), items=items, concepts=concepts)


def figure_4_1(names: str) -> Any:
    """Measures of the three photos of Nowak's Figure 4.1, with the threshold 0.5."""
    run = _photos(_SYSTEM).with_threshold(0.5)
    return one(cf.evaluate_labels(_photos(_TRUTH), [run], names))


def everything(names: str) -> Any:
    """Measures of a prediction of all concepts for the photos of Figure 4.1."""
    return one(cf.evaluate_labels(_photos(_TRUTH), [_photos(np.ones((3, 3), dtype=bool))], names))


def constant_auc() -> float:
    """AUC of a run that is equally sure of everything."""
    return one(cf.evaluate_labels(_photos(_TRUTH), [_photos(np.full((3, 3), 0.7))], "AUC"))


def equal_errors() -> list[float]:
    """EER of a concept that is ranked perfectly, and of one that is ranked at random."""
    items = [f"i{k}" for k in range(4)]
    truth = cf.LabelMatrix.of(
        np.array([[1, 1], [1, 0], [0, 1], [0, 0]]), items=items, concepts=["A", "B"]
    )
    sure = np.array([[0.9, 0.6], [0.8, 0.6], [0.2, 0.6], [0.1, 0.6]])
    run = cf.LabelMatrix.of(sure, items=items, concepts=["A", "B"])
    found = cf.evaluate_labels(truth, [run], "EER").per_concept()
    return [row["EER"] for row in found]


def concept_points() -> list[tuple[float, float]]:
    """Recall and precision of a concept at each confidence."""
    from cranfield.evaluation.calibration import concept_curves

    items = [f"i{k}" for k in range(4)]
    truth = cf.LabelMatrix.of(np.array([[1], [1], [0], [0]]), items=items, concepts=["A"])
    sure = np.array([[0.9], [0.85], [0.95], [0.1]])
    run = cf.LabelMatrix.of(sure, items=items, concepts=["A"])
    return list(concept_curves(truth, run)[0].points)


def dims() -> list[dict[str, str]]:
    """Where every measure stands in the dimensions of section 4.3."""
    return [dimensions(m) for m in cf.list_measures().measures]


def named(**where: str) -> list[str]:
    """The names of the measures that stand somewhere in the dimensions."""
    return [m.name for m in cf.list_measures(**where).measures]


def prediction(name: str) -> str:
    """Whether a measure judges sets or rankings."""
    return dimensions(cf.measure(name))["prediction"]


# ---- Table 7.1 and Figure 7.4: a fragment of the ontology
_FRAGMENT = [
    ("Portrait", "Representation.Portrait"),
    ("Single", "PicturedObjects.Persons.Single"),
    ("Small", "PicturedObjects.Persons.SmallGroup"),
    ("Big", "PicturedObjects.Persons.BigGroup"),
    ("Plants", "LandscapeElements.Plants"),
    ("Flowers", "LandscapeElements.Plants.Flowers"),
    ("Trees", "LandscapeElements.Plants.Trees"),
    ("Water", "LandscapeElements.Water"),
    ("Lake", "LandscapeElements.Water.Lake"),
    ("River", "LandscapeElements.Water.River"),
    ("Sea", "LandscapeElements.Water.Sea"),
    ("Mountains", "LandscapeElements.Mountains"),
    ("Sky", "LandscapeElements.Sky"),
    ("Clouds", "LandscapeElements.Sky.Clouds"),
]
_PEOPLE = ("Single", "Small", "Big")


def concepts_7_4() -> list[str]:
    """The concepts of Figure 7.4."""
    return [concept for concept, _ in _FRAGMENT]


def _sets(truth: set[str], predicted: set[str], names: str, rules: bool, **options: Any) -> Any:
    said = Rules(exactly_one=(_PEOPLE,), requires=(Requirement("Portrait", _PEOPLE),))
    ontology = Ontology.from_paths(_FRAGMENT, rules=said if rules else Rules()).checked()
    made = [
        cf.LabelMatrix.of({"photo": labels}, concepts=concepts_7_4())
        for labels in (truth, predicted)
    ]
    return one(cf.evaluate_labels(made[0], [made[1]], names, ontology=ontology, **options))


def table_7_1(names: str, **options: Any) -> Any:
    """Measures of the photo of Nowak's Table 7.1 over the fragment of Figure 7.4."""
    truth = {"Portrait", "Single", "Plants", "Water", "Mountains", "Sky"}
    return _sets(truth, {"Portrait", "Trees", "Mountains", "Clouds"}, names, True, **options)


def hierarchical(name: str, true: str, predicted: str) -> float:
    """A measure of one label for another in the fragment of Figure 7.4."""
    return _sets({true}, {predicted}, name, False)


def equally_near() -> float:
    """OS where Big is as near to Single as to Small, which people agree on by 0.6 and 1."""
    agreement = dict.fromkeys(concepts_7_4(), 1.0) | {"Single": 0.6}
    return _sets({"Single", "Small"}, {"Big"}, "OS(rules=False)", False, agreement=agreement)


def empty_prediction() -> float:
    """OS of a photo for which nothing was predicted."""
    return _sets({"Sea", "Sky"}, set(), "OS", False)


_NEAR = CostMap.of(["Sea", "Lake", "Car"], [[0, 0.2, 1], [0.2, 0, 1], [1, 1, 0]])


def near(name: str) -> float:
    """A measure of Lake for Sea, which cost 0.2 to confuse."""
    truth, run = (
        cf.LabelMatrix.of({"1": {label}}, concepts=_NEAR.concepts) for label in ("Sea", "Lake")
    )
    return one(cf.evaluate_labels(truth, [run], name, costmap=_NEAR))


def mei() -> list[int]:
    """Items on which the labels of one run are nearer than the other's: wins, ties, losses."""
    truth = {"1": {"Sea"}, "2": {"Lake"}, "3": {"Car"}}
    runs = {
        "a": {"1": {"Lake"}, "2": {"Lake"}, "3": {"Sea"}},
        "b": {"1": {"Car"}, "2": {"Lake"}, "3": {"Car"}},
    }
    made = [cf.LabelMatrix.of(r, concepts=_NEAR.concepts, name=n) for n, r in runs.items()]
    of = cf.LabelMatrix.of(truth, concepts=_NEAR.concepts)
    scores = cf.evaluate_labels(of, made, "LabelSetDistance", costmap=_NEAR)
    (pair,) = scores.compare(test="randomization", resamples=99).pairs
    return [pair.wins, pair.ties, pair.losses]


def sunset() -> bool:
    """Whether river for sea scores higher than people for sunset."""
    names = ["sea", "river", "sky", "sunset", "people"]
    costs = np.ones((5, 5)) - np.eye(5)
    costs[0, 1] = costs[1, 0] = 0.2
    truth = cf.LabelMatrix.of({"q": {"sea", "sky", "sunset"}}, concepts=names)
    scores = [
        one(
            cf.evaluate_labels(
                truth,
                [cf.LabelMatrix.of({"q": labels}, concepts=names)],
                "HS",
                costmap=CostMap.of(names, costs),
            )
        )
        for labels in ({"river", "sky", "sunset"}, {"sea", "sky", "people"})
    ]
    return bool(scores[0] > scores[1])


# ---- relatedness


def related(methods: str, first: str, second: str) -> list[float]:
    """The relatedness of two words by methods that read WordNet."""
    found = cf.relate_pairs([(first, second)], methods)
    return [float(result.values()[0]) for result in found.results]


_TAGS = [
    ("1", "sea sky", ""),
    ("2", "sea", "a blue sky"),
    ("3", "sky boat", "by the sea"),
    ("4", "sea sky", ""),
]


def _corpus() -> list[Any]:
    from cranfield.data.counts import TaggedItem

    return [TaggedItem(item, frozenset(tags.split()), text) for item, tags, text in _TAGS]


def tag_relatedness(first: str, second: str, method: str = "FTS") -> float:
    """The relatedness of two words in four tagged items, three of which have each."""
    from cranfield.relatedness.counts import count_tags

    counts = count_tags(_corpus(), [first, second], text=method == "FCS")
    found = cf.relate_pairs([(first, second)], "NWD", counts=counts)
    return float(found.values()[0])


def distance(first: float, second: float, both: float, total: float) -> float:
    """The normalised web distance of two counts."""
    from cranfield.relatedness.counts import nwd

    return nwd(first, second, both, total)


def cooccurrence() -> float:
    """COOC of two tags that two of four items have, the same two."""
    from cranfield.data.counts import Snapshot

    counts = Snapshot(4, {"a": 2, "b": 2}, {frozenset("ab"): 2})
    return float(cf.relate_pairs([("a", "b")], "COOC", counts=counts).values()[0])


def links() -> float:
    """WIKI of two articles that link to the same articles."""
    import tempfile

    from cranfield.relatedness.links import read_link_vectors

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "links.csv"
        path.write_text("from,to\na,x\na,y\nb,x\nb,y\nc,z\n")
        vectors = read_link_vectors(path, ["a", "b"])
        return float(cf.relate_pairs([("a", "b")], "WIKI", links=vectors).values()[0])


def people(method: str, pairs: str, **sources: Any) -> float:
    """The rank correlation of a method of relatedness with people, on pairs of Table 8.3."""
    found = cf.relate_pairs(PUBLISHED / f"{pairs}.csv", method, **sources).results[0].people
    return math.nan if found is None else found.spearman


# ---- chapter 5


def grouped() -> Any:
    """Three photos that two people grouped, with the kinds of their reasons."""
    from cranfield.io.design import Groupings

    places = {
        "ann": {"beach": ("nature", "sea"), "dune": ("nature", "sea"), "blur": ("bad",)},
        "bob": {"beach": ("pleasant",), "dune": ("pleasant",), "blur": ("odd",)},
    }
    kinds = {
        ("ann", ("nature", "sea")): "content",
        ("ann", ("bad",)): "representation",
        ("bob", ("pleasant",)): "affect",
        ("bob", ("odd",)): "affect",
    }
    return cf.study_groups(Groupings(places, kinds))


@lru_cache
def tag_corpus() -> Any:
    """The tags of the photographs that ship with the package, in figures."""
    return cf.analyse_tags(SAMPLE.parent / "photos" / "tags.csv")


def table_5_1_of_the_thesis() -> list[int]:
    """Concepts of content, scene, representation, quality and affect, 2011."""
    counts = cf.count_categories("pto-2011-listed").counts()
    content = ("LandscapeElements", "UrbanElements", "PicturedObjects")
    others = ("SceneDescription", "Representation", "Quality", "Impression")
    return [sum(counts[c] for c in content), *(counts[c] for c in others)]


def categories() -> list[int]:
    """Concepts of content and scene, of representation, of affect and of quality."""
    content, scene, representation, quality, affect = table_5_1_of_the_thesis()
    return [content + scene, representation, affect, quality]


def part_of(category: str, part: str = "") -> int:
    """Concepts of a category of 2011, or of a part of it."""
    parts = cf.count_categories("pto-2011-listed").parts
    return sum(len(p.concepts) for p in parts if p.category == category and part in ("", p.part))


def voc() -> int:
    """Concepts of 2011 that PASCAL VOC has: by name, and the printed ones that are near."""
    names = "aeroplane bicycle bird boat bottle bus car cat chair cow table dog horse motorbike"
    names += " person plant sheep sofa train television"
    found = cf.compare_vocabularies("pto-2011", names.split(), method="WUP", mapping="pto")
    close = {n.concept: n.nearest for n in found.near}
    wanted = {"Single_Person": "person", "ship": "boat", "airplane": "aeroplane", "Plants": "plant"}
    return len(found.same) + sum(close.get(c) == other for c, other in wanted.items())


def concept_query() -> list[str]:
    """The ranking of two photos for Sea AND NOT Night."""
    run = {"a.jpg": {"Sea": 0.9, "Night": 0.8}, "b.jpg": {"Sea": 0.6, "Night": 0.1}}
    return cf.query_concepts({"t": "Sea AND NOT Night"}, run).run.ranking("t")


# ---- chapters 6 to 10: printed tables, and small logs


def square(table: str) -> tuple[list[str], Any]:
    """A printed square of correlations: its names and its cells."""
    with (PUBLISHED / f"{table}.csv").open() as stream:
        rows = list(csv.reader(stream))
    cells = [[math.nan if cell == "" else float(cell) for cell in row[1:]] for row in rows[1:]]
    return rows[0][1:], np.array(cells)


def printed(table: str, *columns: str) -> list[Any]:
    """Columns of a printed table that ships with the tests, numbers as numbers."""
    with (PUBLISHED / f"{table}.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    found = [[_number(row[name]) for row in rows] for name in columns]
    return found[0] if len(found) == 1 else found


def _number(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def triangle_mean(table: str, side: str, size: int) -> float:
    """The mean of the upper or lower triangle of the first rows of a printed square."""
    cells = square(table)[1][:size, :size]
    return float(np.mean((cells if side == "upper" else cells.T)[np.triu_indices(size, 1)]))


def abs_mean(table: str, side: str) -> float:
    """The mean of a triangle without regard to signs."""
    cells = np.abs(square(table)[1])
    chosen = (cells if side == "upper" else cells.T)[np.triu_indices(len(cells), 1)]
    return float(chosen.mean())


def merged() -> list[float]:
    """Mean correlations of the annotators' rankings with the merged one, OS and EER."""
    cells = square("table-6.3-rankings-by-annotator")[1]
    return [float(np.mean(cells[:-1, -1])), float(np.mean(cells[-1, :-1]))]


def _joins(table: str, side: str, size: int | None = None) -> Any:
    names, cells = square(table)
    names, cells = names[:size], cells[:size, :size]
    upper = np.triu(np.nan_to_num(np.abs(cells if side == "upper" else cells.T)), 1)
    return lab.cluster_measures(names, upper + upper.T + np.eye(len(names)))


def first_join(table: str, side: str, size: int | None = None) -> str:
    """The two measures of a printed table, or of its first rows, that a dendrogram joins first."""
    join = _joins(table, side, size)[0]
    return " ".join(sorted((*join.left, *join.right)))


def outermost(table: str, side: str) -> str:
    """The measure that the dendrogram of a printed table joins last."""
    join = _joins(table, side)[-1]
    return str(min(join.left, join.right, key=len)[0])


def agreement_of_two() -> list[float]:
    """Accuracy and free-marginal kappa of two people who differ on one of four labels."""
    log = judgement_log(
        ["a"] * 4 + ["b"] * 4,
        ["x", "x", "y", "y"] * 2,
        [1, 0, 0, 1, 1, 1, 0, 1],
        concepts=["C", "D"] * 4,
    )
    overall = cf.assess_agreement(log).to_dict()["overall"]
    return [overall["accuracy"], overall["free_marginal"]]


def band(kappa: float) -> str:
    """What a kappa is called (Landis and Koch, as section 6.3.3 has it)."""
    return "almost perfect" if kappa > 0.8 else "adequate" if kappa > 0.6 else "low"


_TABLE_6_2 = """
.900 .877 .905 .892 .914 .912 .890 .894 .900 .916 .929
.885 .913 .905 .916 .915 .903 .911 .909 .925 .939
.900 .873 .902 .884 .878 .886 .892 .904 .918
.897 .926 .918 .899 .914 .915 .932 .947
.900 .917 .902 .901 .900 .911 .928
.925 .902 .918 .925 .932 .952
.900 .916 .918 .929 .945
.887 .892 .909 .920
.918 .918 .941
.919 .941
.958"""


def table_6_2() -> list[float]:
    """Means of Table 6.2 over pairs and over all cells, and its least and greatest cell."""
    rows = [[float(x) for x in row.split()] for row in _TABLE_6_2.strip().splitlines()]
    pairs, cells = [x for r in rows for x in r[:-1]], [x for r in rows for x in r]
    return [float(np.mean(pairs)), float(np.mean(cells)), min(cells), max(cells)]


def majority() -> tuple[float, float]:
    """Agreement with the majority on a concept that 2 of 11 chose, and on one nobody chose."""
    from cranfield.agreement.majority import majority_agreement

    who = [f"a{k}" for k in range(11)]
    answers = [1, 1] + [0] * 9 + [0] * 11
    log = judgement_log(who * 2, ["x"] * 22, answers, concepts=["C"] * 11 + ["Snow"] * 11)
    found = {c.name: c.selected for c in majority_agreement(log).concepts}
    return found["C"], found["Snow"]
