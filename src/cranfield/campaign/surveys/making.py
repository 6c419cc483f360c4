"""Surveys from files, by their kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from cranfield.answers import Answer
from cranfield.campaign.annotation_task import Response, query_views, read_response, views_of
from cranfield.campaign.item_texts import picture_files, public_items
from cranfield.campaign.pool import make_pool
from cranfield.campaign.surveys import (
    categories,
    concept_search,
    kinds,
    measures,
    preference,
    rated,
    sorting,
)
from cranfield.campaign.surveys.questionnaire import Questionnaire, make_concept_survey
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

Counted = TypeVar("Counted", bound=Answer)


def make_survey(kind: str, *, seed: int = 0, **options: Any) -> Survey:
    """A survey of a kind; `options` are those of the function that makes it.

    `collection` (a folder) or `pictures` (a folder) show the items of those that have any.
    """
    if kind not in kinds.KINDS:
        raise UsageError(f"no survey of the kind {kind!r}.{suggest(kind, kinds.KINDS)}")
    arguments = {name: value for name, value in options.items() if value is not None}
    makers: dict[str, Callable[..., Survey]] = {
        kinds.MEASURES: _measures,
        kinds.PREFERENCE: _preference,
        kinds.RELATEDNESS: rated.relatedness_survey,
        kinds.CATEGORIES: _categories,
        kinds.RANKINGS: _rankings,
        kinds.ASSOCIATION: _association,
        kinds.GROUPING: partial(_arranged, sorting.grouping_survey),
        kinds.TAGGING: partial(_arranged, sorting.tagging_survey),
        kinds.HIERARCHY: _hierarchy,
        kinds.SEARCH: _search,
    }
    return makers[kind](rng=seed, **arguments)


def survey_from(questionnaire: Questionnaire) -> Survey:
    """The survey that asks the questions of a questionnaire, on lists or on concept sets."""
    of_sets = "sets" in questionnaire.questions["questions"][0]
    return (
        preference.preference_survey_of(questionnaire)
        if of_sets
        else measures.measure_survey_of(questionnaire)
    )


def _measures(**options: Any) -> Survey:
    return measures.measure_survey(options.pop("measures", kinds.OF_RANKINGS), **options)


def _preference(
    truth: str | Path,
    runs: Sequence[str | Path],
    measures: str | Sequence[str] | None = None,
    *,
    collection: str | Path | None = None,
    pictures: str | Path | None = None,
    **options: Any,
) -> Survey:
    """Two concept sets beside the photograph that they describe."""
    questionnaire = make_concept_survey(truth, runs, measures, **options)
    items = tuple(str(entry["item"]) for entry in questionnaire.questions["questions"])
    _, picture_of = views_of(items, collection=collection, pictures=pictures)
    return preference.preference_survey_of(questionnaire, picture_of)


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
    return categories.category_survey(
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
    **options: Any,
) -> Survey:
    matrix = read_labels(run)
    items = matrix.items[:first]
    _, picture_of = views_of(items, collection=collection, pictures=pictures)
    return concept_search.search_survey(
        matrix.map(lambda values: values[: len(items)], items=items),
        concept_search.read_tasks(tasks),
        pictures=picture_of,
        **options,
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
    **options: Any,
) -> Survey:
    """The first `depth` items of every run for each topic are rated."""
    candidates: dict[str, list[str]] = {}
    for pooled in make_pool(runs, depth=depth).items:
        candidates.setdefault(pooled.topic, []).append(pooled.item)
    every = tuple(dict.fromkeys(i for items in candidates.values() for i in items))
    texts, picture_of = views_of(every, collection=collection, pictures=pictures)
    topics, queries = query_views(tuple(candidates), collection=collection, pictures=pictures)
    return rated.ranking_survey(
        candidates, texts=texts, pictures=picture_of, topics=topics, queries=queries, **options
    )


def _association(
    vectors: str | Path,
    *,
    collection: str | Path | None = None,
    pictures: str | Path | None = None,
    **options: Any,
) -> Survey:
    index = read_item_vectors(vectors)
    texts, picture_of = views_of(index.items, collection=collection, pictures=pictures)
    return rated.association_survey(index, texts=texts, pictures=picture_of, **options)


COUNTERS: Mapping[str, Callable[..., Answer]] = {
    kinds.MEASURES: measures.count_measure_survey,
    kinds.PREFERENCE: preference.count_preference_survey,
    kinds.RELATEDNESS: rated.count_relatedness,
    kinds.RANKINGS: rated.count_rankings,
    kinds.ASSOCIATION: rated.count_association,
    kinds.CATEGORIES: categories.count_categories,
    kinds.GROUPING: sorting.count_grouping,
    kinds.TAGGING: sorting.count_tagging,
    kinds.HIERARCHY: sorting.count_hierarchy,
    kinds.SEARCH: concept_search.count_searches,
}


def count_survey(key: FileForm | Mapping[str, Any], answers: Sequence[Any]) -> Answer:
    """What people answered; `key` and `answers` are files, or objects as they were made."""
    return _counted(key, answers, lambda hidden, said: COUNTERS[hidden["survey"]](hidden, said))


def unblind_survey(key: FileForm | Mapping[str, Any], answers: Sequence[Any]) -> SurveyRows:
    """Every answer of every person, with what was hidden from them; arguments as above."""
    return _counted(key, answers, list_answers)


def _counted(
    key: FileForm | Mapping[str, Any],
    answers: Sequence[Any],
    count: Callable[[Mapping[str, Any], Sequence[Response]], Counted],
) -> Counted:
    """What a function makes of answers that belong to a key, one file for each person."""
    hidden = key if isinstance(key, Mapping) else read_key(key)
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
