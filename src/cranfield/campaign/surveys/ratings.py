"""Single judgements: pairs rated on a scale, and the category that an item belongs to.

Words are rated by relatedness, items by association or significance. Each person rates all pairs,
in a random order. Among the pairs are some whose answer is plain (a word with itself); who gets
those wrong was not looking, and is left out (thesis, 8.5.2). Votes for categories make an uncertain
truth (Santini, 4); people see the categories and nothing of their tree, nor its root.
"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cranfield.answers import Answer
from cranfield.campaign.annotation_task import Response, Sheet, Unit
from cranfield.campaign.forms import Form, Option, Question, Tab, shown_name
from cranfield.campaign.surveys import ASSOCIATION, CATEGORIES, RANKINGS, RELATEDNESS
from cranfield.campaign.surveys.survey import Respondents, Survey, SurveyRows
from cranfield.data.categories import CategoryGraph
from cranfield.data.item_vectors import ItemVectors
from cranfield.errors import UsageError
from cranfield.io.arrays import read_item_vectors
from cranfield.io.concepts import read_pairs
from cranfield.io.files import FileForm
from cranfield.io.votes import read_categories
from cranfield.notes import Notes
from cranfield.types import Json, JsonObject
from cranfield.work.seeds import generator

# The ends of the scale, in words.
ENDS = {
    RELATEDNESS: ("not related at all", "closely related"),
    RANKINGS: ("not what was asked for", "exactly what was asked for"),
    ASSOCIATION: ("have nothing to do with each other", "belong together"),
}
TITLES = {
    RELATEDNESS: "How related are these words?",
    RANKINGS: "How well does it answer the query?",
    ASSOCIATION: "How far do these two belong together?",
    CATEGORIES: "Which category fits best?",
}
# Identical pairs are rated this much of the scale below its end at most.
_SLACK = 0.25
_KEYS = "qwertyuiopasdfghjklzxcvbnm"
_STREAM = 47
_DRAW = 48


def scale_form(kind: str, top: int) -> Form:
    """A scale from 0 to `top`; one key decides, saves and goes on."""
    if not 1 <= top <= 9:
        raise UsageError(f"top={top} is not from 1 to 9")
    low, high = ENDS[kind]
    words = {0: f"0: {low}", top: f"{top}: {high}"}
    options = tuple(Option(str(k), words.get(k, str(k)), key=str(k)) for k in range(top + 1))
    question = Question("rating", TITLES[kind], "one", options, True)
    return Form(TITLES[kind], (Tab("", (question,)),), at_once=True)


def _survey(
    kind: str,
    units: Sequence[Unit],
    pairs: Mapping[str, Sequence[Json]],
    top: int,
    seed: int,
    attention: Sequence[str] | None = None,
) -> Survey:
    sheet = Sheet(TITLES[kind], kind, {"form": scale_form(kind, top)}, tuple(units))
    key = {"survey": kind, "units": [u.name for u in units], "pairs": dict(pairs), "top": top}
    if attention is not None:
        key["attention"] = attention
    return Survey(sheet.shuffled(seed), key)


def relatedness_survey(
    pairs: str | Path | Sequence[tuple[str, str]], *, attention: int = 1, top: int = 4, rng: int = 0
) -> Survey:
    """Pairs of words, and `attention` words paired with themselves.

    `pairs` is a file that `relatedness` reads, or a list of (word, word).
    """
    if isinstance(pairs, Sequence) and not isinstance(pairs, str):
        word_pairs = list(pairs)
    else:
        word_pairs = [(p.word1, p.word2) for p in read_pairs(pairs)]
    words = list(dict.fromkeys(w for pair in word_pairs for w in pair))
    if len({frozenset(p) for p in word_pairs}) < len(word_pairs):
        raise UsageError("a pair of words stands there twice")
    if attention > len(words):
        raise UsageError(f"attention={attention} is more than the {len(words)} words")
    picks = generator(rng, _STREAM).choice(len(words), attention, replace=False).tolist()
    checks = [(words[int(k)], words[int(k)]) for k in picks]
    every = [*word_pairs, *(c for c in checks if c not in word_pairs)]
    units = [Unit(f"{n:03d}", title=f"{a} - {b}") for n, (a, b) in enumerate(every, 1)]
    table = {u.name: [a, b] for u, (a, b) in zip(units, every, strict=True)}
    # Only the given pairs are data; a word with itself may be among them (thesis, Table 8.3).
    added = [u.name for u in units[len(word_pairs) :]]
    return _survey(RELATEDNESS, units, table, top, rng, attention=added)


def ranking_survey(
    candidates: Mapping[str, Sequence[str]],
    *,
    texts: Mapping[str, str] | None = None,
    pictures: Mapping[str, str] | None = None,
    topics: Mapping[str, str] | None = None,
    queries: Mapping[str, str] | None = None,
    top: int = 4,
    rng: int = 0,
) -> Survey:
    """Items that may answer each topic, to be rated: lists with significances (Santini, 5).

    `texts` and `pictures` are those of the items, `topics` has the texts of the topics and
    `queries` the pictures that they ask with; both stay in view beside every item.
    """
    words, picture_of = texts or {}, pictures or {}
    asked, query_of = topics or {}, queries or {}
    units: list[Unit] = []
    table: dict[str, list[Json]] = {}
    for topic, items in candidates.items():
        for item in items:
            name = f"{len(units) + 1:04d}"
            units.append(
                Unit(
                    name,
                    title="" if item in words or item in picture_of else item,
                    text=words.get(item, ""),
                    picture=picture_of.get(item, ""),
                    topic=asked.get(topic, "" if topic in query_of else topic),
                    query=query_of.get(topic, ""),
                )
            )
            table[name] = [topic, item]
    if not units:
        raise UsageError("there is no item to rate")
    return _survey(RANKINGS, units, table, top, rng)


def association_survey(
    vectors: ItemVectors | FileForm,
    *,
    pairs: int = 20,
    near: int = 5,
    texts: Mapping[str, str] | None = None,
    pictures: Mapping[str, str] | None = None,
    top: int = 4,
    rng: int = 0,
) -> Survey:
    """Pairs of items that are near each other in an index, and as many that were drawn blindly.

    An item is drawn, then one of its `near` nearest by the cosine; for each such pair another of
    two items drawn at random (Rocchio, 3: do people see the associations that the index has?).
    """
    index = vectors if isinstance(vectors, ItemVectors) else read_item_vectors(vectors)
    count = len(index.items)
    if not 1 <= near < count or pairs < 1 or pairs > count:
        raise UsageError(f"pairs and near are from 1 on, below the {count} items")
    unit = index.vectors / np.linalg.norm(index.vectors, axis=1, keepdims=True)
    draw = generator(rng, _DRAW)
    pair_origin: dict[tuple[int, int], str] = {}
    for first in draw.choice(count, pairs, replace=False).tolist():
        cosines = unit @ unit[first]
        cosines[first] = -np.inf
        nearest = np.argsort(-cosines, kind="stable")[:near]
        neighbour = int(nearest[int(draw.integers(near))])
        pair_origin.setdefault((min(first, neighbour), max(first, neighbour)), "near")
    target = 2 * len(pair_origin)
    while len(pair_origin) < min(target, count * (count - 1) // 2):
        a, b = sorted(draw.choice(count, 2, replace=False).tolist())
        pair_origin.setdefault((a, b), "drawn")
    words, picture_of = texts or {}, pictures or {}
    units: list[Unit] = []
    table: dict[str, list[Json]] = {}
    for (a, b), origin in pair_origin.items():
        name, first, second = f"{len(units) + 1:04d}", index.items[a], index.items[b]
        pair_text = "\n\n".join(words[item] for item in (first, second) if item in words)
        shown = all(item in words or item in picture_of for item in (first, second))
        units.append(
            Unit(
                name,
                title="The two to compare" if shown else f"{first} - {second}",
                text=pair_text,
                picture=picture_of.get(first, ""),
                second=picture_of.get(second, ""),
            )
        )
        table[name] = [first, second, origin, float(unit[a] @ unit[b])]
    return _survey(ASSOCIATION, units, table, top, rng)


def category_survey(
    categories: CategoryGraph | FileForm,
    items: Sequence[str],
    *,
    texts: Mapping[str, str] | None = None,
    pictures: Mapping[str, str] | None = None,
    rng: int = 0,
) -> Survey:
    """Every item once; `categories` is CSV category,parent or a graph of them."""
    graph = categories if isinstance(categories, CategoryGraph) else read_categories(categories)
    names = [name for name in graph.parents if name != graph.root]
    if len(names) < 2 or not items:
        raise UsageError("votes need two categories and an item at least")
    options = tuple(
        Option(name, shown_name(name), key=_KEYS[k] if k < len(_KEYS) else "")
        for k, name in enumerate(names)
    )
    question = Question("category", TITLES[CATEGORIES], "one", options, True)
    form = Form(TITLES[CATEGORIES], (Tab("", (question,)),), at_once=True)
    words, picture_of = texts or {}, pictures or {}
    named = Sheet(TITLES[CATEGORIES], CATEGORIES, {"form": form}, tuple(Unit(i) for i in items))
    # Numbered as they are shown: the id of an item, or its place in a file, may tell its category.
    item_of = {f"{n:04d}": unit.name for n, unit in enumerate(named.shuffled(rng).units, 1)}
    units = tuple(
        Unit(
            number,
            title="" if i in words or i in picture_of else i,
            text=words.get(i, ""),
            picture=picture_of.get(i, ""),
        )
        for number, i in item_of.items()
    )
    key = {
        "survey": CATEGORIES,
        "units": list(item_of),
        "items": item_of,
        "categories": names,
    }
    return Survey(Sheet(TITLES[CATEGORIES], CATEGORIES, {"form": form}, units), key)


def _ratings(responses: Sequence[Response]) -> dict[str, dict[str, float]]:
    """{unit: {person: rating}}"""
    ratings: dict[str, dict[str, float]] = {}
    for response in responses:
        for filled in response.done():
            rating = float(filled.answers["rating"][0])
            ratings.setdefault(filled.unit, {})[response.annotator] = rating
    return ratings


def count_relatedness(key: JsonObject, responses: Sequence[Response]) -> SurveyRows:
    """The mean of each given pair over all who were looking and rated everything."""
    notes = Notes()
    added = frozenset(key.get("attention", ()))
    same = [unit for unit, (a, b) in key["pairs"].items() if a == b]
    lowest = key["top"] * (1 - _SLACK)
    accepted = []
    for response in responses:
        rated = {f.unit: float(f.answers["rating"][0]) for f in response.done()}
        unrated = [unit for unit in key["pairs"] if unit not in rated]
        if unrated:
            notes.add(f"left out: {len(unrated)} pairs are not rated", about=response.annotator)
        elif any(rated[unit] < lowest for unit in same):
            notes.add("left out: a word is not related to itself", about=response.annotator)
        else:
            accepted.append(response)
    ratings = _ratings(accepted)
    rows = [
        (a, b, *_mean_and_deviation(list(ratings.get(unit, {}).values())))
        for unit, (a, b) in key["pairs"].items()
        if ratings.get(unit) and unit not in added
    ]
    rows.sort(key=lambda row: -row[2])
    people = Respondents.of(accepted, len(key["pairs"]))
    columns = ("word1", "word2", "human", "deviation", "people")
    return SurveyRows(RELATEDNESS, columns, tuple(rows), people, notes=notes.lines("person"))


def _mean_and_deviation(values: Sequence[float]) -> tuple[float, float, int]:
    deviation = statistics.stdev(values) if len(values) > 1 else float("nan")
    return statistics.fmean(values), deviation, len(values)


def count_rankings(key: JsonObject, responses: Sequence[Response]) -> SurveyRows:
    """What each person finds significant, as `displacement` reads it: ratings over the scale."""
    ratings = _ratings(responses)
    rows = [
        (person, *key["pairs"][unit], rating / key["top"])
        for unit, by_person in ratings.items()
        for person, rating in by_person.items()
        if rating > 0
    ]
    rows.sort(key=lambda row: (row[0], row[1], -row[3], row[2]))
    people = Respondents.of(responses, len(key["pairs"]))
    return SurveyRows(RANKINGS, ("subject", "topic", "item", "significance"), tuple(rows), people)


@dataclass(frozen=True, repr=False, eq=False)
class Association(Answer):
    """Whether people see the associations that an index has.

    `near` and `drawn` are mean ratings as parts of the scale, `told` is the chance that a near pair
    is rated above a drawn one (ties half), `spearman` the correlation of ratings and cosines.
    """

    command: ClassVar[str] = "survey"
    table_maker: ClassVar[str] = "cranfield.report.tables.campaign:association_document"
    people: int
    pairs: int
    near: float
    drawn: float
    told: float
    told_interval: tuple[float, float]
    spearman: float
    p: float
    rows: tuple[tuple[str, str, str, float, float], ...]

    def headline(self) -> str:
        return f"near pairs {self.near:.3f}, drawn pairs {self.drawn:.3f}, told {self.told:.3f}"

    def payload(self, **_: object) -> dict[str, Json]:
        names = ("item1", "item2", "pair", "cosine", "rating")
        return {
            "survey": ASSOCIATION,
            "people": self.people,
            "pairs": self.pairs,
            "near": self.near,
            "drawn": self.drawn,
            "told": self.told,
            "told_ci": list(self.told_interval),
            "spearman": self.spearman,
            "p": self.p,
            "rows": [dict(zip(names, row, strict=True)) for row in self.rows],
        }


def count_association(
    key: JsonObject, responses: Sequence[Response], *, resamples: int = 2000
) -> Association:
    """The score of an index from ratings; the interval is a bootstrap over pairs."""
    from scipy.stats import spearmanr

    ratings = _ratings(responses)
    rows = [
        (*key["pairs"][unit], statistics.fmean(by_person.values()) / key["top"])
        for unit, by_person in ratings.items()
    ]
    near_ratings = np.array([row[4] for row in rows if row[2] == "near"])
    random_ratings = np.array([row[4] for row in rows if row[2] != "near"])
    if near_ratings.size < 2 or random_ratings.size < 2:
        raise UsageError("too few pairs are rated: two near ones and two drawn ones at least")
    correlation = spearmanr([row[3] for row in rows], [row[4] for row in rows])
    draw = generator(0, _DRAW, 1)
    resampled = [
        _probability_nearer(
            draw.choice(near_ratings, near_ratings.size),
            draw.choice(random_ratings, random_ratings.size),
        )
        for _ in range(resamples)
    ]
    low, high = np.quantile(resampled, [0.025, 0.975]).tolist()
    return Association(
        len(responses),
        len(rows),
        float(near_ratings.mean()),
        float(random_ratings.mean()),
        _probability_nearer(near_ratings, random_ratings),
        (float(low), float(high)),
        float(correlation.statistic),
        float(correlation.pvalue),
        tuple(rows),
    )


def _probability_nearer(
    near_ratings: NDArray[np.float64], random_ratings: NDArray[np.float64]
) -> float:
    gaps = near_ratings[:, None] - random_ratings[None, :]
    return float(((gaps > 0) + 0.5 * (gaps == 0)).mean())


def count_categories(key: JsonObject, responses: Sequence[Response]) -> SurveyRows:
    """Votes as `uncertain` reads them: CSV subject,item,category."""
    # Keys of before units were numbered have no table of items.
    item_of = key.get("items", {})
    rows = [
        (response.annotator, item_of.get(filled.unit, filled.unit), filled.answers["category"][0])
        for response in responses
        for filled in response.done()
    ]
    people = Respondents.of(responses, len(key["units"]))
    return SurveyRows(CATEGORIES, ("subject", "item", "category"), tuple(rows), people)
