"""Surveys from files, by their kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from cranfield.answers import Answer
from cranfield.campaign.annotation_task import Response, query_views, read_response, views_of
from cranfield.campaign.item_texts import picture_files, public_items
from cranfield.campaign.pool import make_pool
from cranfield.campaign.surveys import (
    ASSOCIATION,
    CATEGORIES,
    GROUPING,
    HIERARCHY,
    KINDS,
    MEASURES,
    PREFERENCE,
    RANKINGS,
    RELATEDNESS,
    SEARCH,
    TAGGING,
    concept_search,
    measures,
    preference,
    ratings,
    sorting,
)
from cranfield.campaign.surveys.survey import (
    Survey,
    SurveyRows,
    check_responses,
    list_answers,
    read_key,
)
from cranfield.errors import InputError, NeedsError, UsageError, suggest
from cranfield.io.arrays import read_item_vectors
from cranfield.io.collection import read_collection, read_items
from cranfield.io.files import FileForm, describe
from cranfield.io.labels import read_labels
from cranfield.io.ontology import read_vocabulary
from cranfield.types import JsonObject

Counted = TypeVar("Counted", bound=Answer)


def make_survey(kind: str, *, seed: int = 0, **options: object) -> Survey:
    """A survey of a kind; `options` are those of the function that makes it.

    `collection` (a folder) or `pictures` (a folder) show the items of those that have any.
    """
    if kind not in KINDS:
        raise UsageError(f"no survey of the kind {kind!r}.{suggest(kind, KINDS)}")
    arguments = {name: value for name, value in options.items() if value is not None}
    makers: dict[str, Callable[..., Survey]] = {
        MEASURES: measures.make_questionnaire,
        PREFERENCE: preference.make_concept_survey,
        RELATEDNESS: ratings.relatedness_survey,
        CATEGORIES: _categories,
        RANKINGS: _rankings,
        ASSOCIATION: _association,
        GROUPING: partial(_arranged, sorting.grouping_survey),
        TAGGING: partial(_arranged, sorting.tagging_survey),
        HIERARCHY: _hierarchy,
        SEARCH: _search,
    }
    return makers[kind](rng=seed, **arguments)


def _categories(
    categories_file: str | Path,
    *,
    items: str | Path | None = None,
    collection: str | Path | None = None,
    pictures: str | Path | None = None,
    rng: int = 0,
) -> Survey:
    names = _items(items, collection, pictures)
    texts, picture_of = views_of(names, collection=collection, pictures=pictures)
    return ratings.category_survey(
        categories_file, names, texts=texts, pictures=picture_of, rng=rng
    )


def _arranged(
    make: Callable[..., Survey],
    *,
    items: str | Path | None = None,
    collection: str | Path | None = None,
    pictures: str | Path | None = None,
    first: int | None = None,
    rng: int = 0,
) -> Survey:
    names = _items(items, collection, pictures)[:first]
    texts, picture_of = views_of(names, collection=collection, pictures=pictures)
    return make(names, texts=texts, pictures=picture_of, rng=rng)


def _hierarchy(vocabulary: str | Path, *, first: int | None = None, rng: int = 0) -> Survey:
    return sorting.hierarchy_survey(read_vocabulary(vocabulary).concepts[:first], rng=rng)


def _search(
    run: str | Path,
    tasks: str | Path,
    *,
    collection: str | Path | None = None,
    pictures: str | Path | None = None,
    first: int | None = None,
    rng: int = 0,
) -> Survey:
    matrix = read_labels(run)
    items = matrix.items[:first]
    _, picture_of = views_of(items, collection=collection, pictures=pictures)
    return concept_search.search_survey(
        matrix.map(lambda values: values[: len(items)], items=items),
        concept_search.read_tasks(tasks),
        pictures=picture_of,
        rng=rng,
    )


def _items(
    items: str | Path | None, collection: str | Path | None, pictures: str | Path | None
) -> Sequence[str]:
    if items is not None:
        return read_items(items)
    if pictures is not None:
        return tuple(picture_files(Path(pictures)))
    if collection is None:
        raise NeedsError("there are no items: name items, pictures or a collection")
    public = public_items(read_collection(collection), "labels")
    if public is None:
        raise NeedsError(f"{collection} names no items")
    return public


def _rankings(
    runs: Sequence[str | Path],
    *,
    depth: int = 10,
    collection: str | Path | None = None,
    pictures: str | Path | None = None,
    top: int = 4,
    rng: int = 0,
) -> Survey:
    """The first `depth` items of every run for each topic are rated."""
    candidates: dict[str, list[str]] = {}
    for pooled in make_pool(runs, depth=depth).items:
        candidates.setdefault(pooled.topic, []).append(pooled.item)
    every = tuple(dict.fromkeys(i for items in candidates.values() for i in items))
    texts, picture_of = views_of(every, collection=collection, pictures=pictures)
    topics, queries = query_views(tuple(candidates), collection=collection, pictures=pictures)
    return ratings.ranking_survey(
        candidates,
        texts=texts,
        pictures=picture_of,
        topics=topics,
        queries=queries,
        top=top,
        rng=rng,
    )


def _association(
    vectors: str | Path,
    *,
    pairs: int = 20,
    near: int = 5,
    collection: str | Path | None = None,
    pictures: str | Path | None = None,
    top: int = 4,
    rng: int = 0,
) -> Survey:
    index = read_item_vectors(vectors)
    texts, picture_of = views_of(index.items, collection=collection, pictures=pictures)
    return ratings.association_survey(
        index, pairs=pairs, near=near, texts=texts, pictures=picture_of, top=top, rng=rng
    )


COUNTERS: Mapping[str, Callable[..., Answer]] = {
    MEASURES: measures.count_measure_survey,
    PREFERENCE: preference.count_preference_survey,
    RELATEDNESS: ratings.count_relatedness,
    RANKINGS: ratings.count_rankings,
    ASSOCIATION: ratings.count_association,
    CATEGORIES: ratings.count_categories,
    GROUPING: sorting.count_grouping,
    TAGGING: sorting.count_tagging,
    HIERARCHY: sorting.count_hierarchy,
    SEARCH: concept_search.count_searches,
}


def count_survey(
    key: FileForm | Mapping[str, object], answers: Sequence[FileForm | Response]
) -> Answer:
    """What people answered; `key` and `answers` are files, or objects as they were made."""

    def count(hidden: JsonObject, responses: Sequence[Response]) -> Answer:
        return COUNTERS[hidden["survey"]](hidden, responses)

    return _counted(key, answers, count)


def unblind_survey(
    key: FileForm | Mapping[str, object], answers: Sequence[FileForm | Response]
) -> SurveyRows:
    """Every answer of every person, with what was hidden from them; arguments as above."""
    return _counted(key, answers, list_answers)


def _counted(
    key: FileForm | Mapping[str, object],
    answers: Sequence[FileForm | Response],
    count: Callable[[JsonObject, Sequence[Response]], Counted],
) -> Counted:
    """What a function makes of answers that belong to a key, one file for each person."""
    hidden = dict(key) if isinstance(key, Mapping) else read_key(key)
    source = "given" if isinstance(key, Mapping) else describe(key)
    kind = hidden.get("survey")
    if not isinstance(kind, str) or kind not in COUNTERS:
        raise InputError.single(source, "is not the key of a survey")
    if not answers:
        raise UsageError("there are no answers to count")
    responses = [a if isinstance(a, Response) else read_response(a) for a in answers]
    check_responses(hidden, responses, source)
    twice = [person for person, n in Counter(r.annotator for r in responses).items() if n > 1]
    if twice:
        raise UsageError(f"two files hold answers of {twice[0]!r}; each person answers once")
    try:
        return count(hidden, responses)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise InputError.single(source, f"is not the whole key of a survey ({error!r})") from None
