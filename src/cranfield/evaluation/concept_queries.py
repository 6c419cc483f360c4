"""Retrieval by concepts: logical queries over annotations become rankings (No 10.9).

A run that annotates items with confidences is asked for `Sea AND NOT Night` and answers with a
ranking, which any measure of rankings scores; a truth of labels answers with judgements.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from cranfield.answers import Answer
from cranfield.data import Judgements, Run
from cranfield.data.concept_query import (
    SET_READINGS,
    Expression,
    check_concepts,
    evaluate_expression,
    parse_expression,
)
from cranfield.data.judgement_log import Floats
from cranfield.data.labels import LabelMatrix, dense
from cranfield.errors import UsageError, check_counts, plural
from cranfield.io.coerce import LabelsForm, coerce_labels
from cranfield.io.concepts import read_concept_queries
from cranfield.io.convert import encode_table
from cranfield.io.files import write_atomic
from cranfield.io.labels import check_all_listed
from cranfield.options import DEFAULT_THRESHOLD
from cranfield.validation import describe_value, validate_params

Queries: TypeAlias = Mapping[str, str | Expression] | str | Path
Reading = Literal["fuzzy", "probability", "overlap", "inclusion"]
_SHOWN = 3


@dataclass(frozen=True, repr=False, eq=False)
class ConceptRanking(Answer):
    """What an annotation run retrieves for queries over its concepts."""

    command: ClassVar[str] = "query"
    table_maker: ClassVar[str] = "cranfield.report.tables.evaluation:concept_query_document"
    reading: str
    queries: tuple[tuple[str, str], ...]
    run: Run

    def best(self, topic: str) -> list[str]:
        """The first items of a topic; none where the query holds for none."""
        return self.run.ranking(topic)[:_SHOWN] if topic in self.run.topics else []

    def payload(self, **_: object) -> dict[str, Any]:
        """The queries and the first items of each."""
        return {
            "run": self.run.name,
            "reading": self.reading,
            "topics": [
                {"topic": topic, "query": query, "first": self.best(topic)}
                for topic, query in self.queries
            ],
        }

    def headline(self) -> str:
        return f"{plural(len(self.queries), 'topic')} on {self.run.name}, read as {self.reading}"


@validate_params(skip=("queries",))
def query_concepts(
    queries: Queries,
    labels: LabelsForm,
    *,
    reading: Reading = "fuzzy",
    min_terms: int | None = None,
    k: int | None = None,
    name: str | None = None,
) -> ConceptRanking:
    """Rank the items of an annotation run by how far each query holds for them.

    `queries` are {topic: expression} or a file. Labels without confidences count as 0 and 1.
    `k` keeps the best items of each topic; items for which a query cannot hold (0) are left out.
    The readings "overlap" and "inclusion" take the concepts of a query for keywords and those of
    an item for a set, to which concepts belong from a confidence of 0.5 on; with "overlap",
    `min_terms` leaves out items that have fewer of the keywords.

    >>> found = query_concepts({"t": "Sea AND NOT Night"}, {
    ...     "a.jpg": {"Sea": 0.9, "Night": 0.8}, "b.jpg": {"Sea": 0.6, "Night": 0.1}})
    >>> found.run.to_dict()
    {'t': {'b.jpg': 0.6, 'a.jpg': 0.19999999999999996}}
    """
    check_counts(k=k, min_terms=min_terms)
    if min_terms is not None and reading != "overlap":
        raise UsageError(f"min_terms= is for reading='overlap', not for {reading!r}")
    matrix = coerce_labels(labels, name or "run")
    expressions = _expressions(queries)
    values = _values(matrix, expressions, binary=False)
    if reading in SET_READINGS:
        values = {c: (v >= DEFAULT_THRESHOLD).astype(np.float64) for c, v in values.items()}
    items = sorted(range(len(matrix.items)), key=lambda i: matrix.items[i].encode(), reverse=True)
    order = np.array(items, dtype=np.intp)
    nested: dict[str, dict[str, float]] = {}
    for topic, expression in expressions.items():
        scores = evaluate_expression(expression, values, reading)[order]
        order_of_scores = np.argsort(-scores, kind="stable")
        best = [i for i in order_of_scores if scores[i] > 0 and scores[i] >= (min_terms or 0)][:k]
        if best:
            nested[topic] = {matrix.items[order[i]]: float(scores[i]) for i in best}
    query_texts = tuple((topic, str(expression)) for topic, expression in expressions.items())
    empty = [topic for topic in expressions if topic not in nested]
    notes = (f"no item for {', '.join(empty)}",) if empty else ()
    run = Run.from_dict(nested).named(name or matrix.name)
    return ConceptRanking(reading, query_texts, run, notes=(*matrix.notes, *notes))


@validate_params(skip=("queries",))
def judge_concepts(queries: Queries, truth: LabelsForm) -> Judgements:
    """The judgements that a truth of labels implies: 1 where a query holds, else 0.

    >>> judge_concepts({"t": "Sea & !Night"}, {"a": {"Sea", "Night"}, "b": {"Sea"}}).to_dict()
    {'t': {'a': 0, 'b': 1}}
    """
    matrix = check_all_listed(coerce_labels(truth, "truth"), "A query of concepts")
    expressions = _expressions(queries)
    values = _values(matrix, expressions, binary=True)
    return Judgements.from_dict(
        {
            topic: dict(zip(matrix.items, map(int, _holds(expression, values)), strict=True))
            for topic, expression in expressions.items()
        }
    )


def _holds(expression: Expression, values: Mapping[str, Floats]) -> list[bool]:
    matches: list[bool] = (evaluate_expression(expression, values, "fuzzy") > 0).tolist()
    return matches


def _check_queries(queries: object) -> None:
    """Queries are a file, or expressions by topic."""
    if isinstance(queries, Mapping):
        if all(isinstance(query, str | Expression) for query in queries.values()):
            return
    elif isinstance(queries, str | Path):
        return
    raise UsageError(f"queries are a file, or expressions by topic, not {describe_value(queries)}")


def _expressions(queries: Queries) -> dict[str, Expression]:
    _check_queries(queries)
    if isinstance(queries, str | Path):
        return read_concept_queries(queries)
    if not queries:
        raise UsageError("no query was given")
    return {
        str(topic): parse_expression(query) if isinstance(query, str) else query
        for topic, query in queries.items()
    }


def _values(
    matrix: LabelMatrix, expressions: Mapping[str, Expression], *, binary: bool
) -> dict[str, Floats]:
    """The confidences (or labels, as 0 and 1) of the concepts that queries name."""
    columns = {concept: column for column, concept in enumerate(matrix.concepts)}
    for topic, expression in expressions.items():
        check_concepts(expression, columns, topic)
    if binary:
        if matrix.labels is None:
            raise UsageError(f"{matrix.where} has confidences: a truth is made of labels")
        source = matrix.labels
    else:
        source = matrix.labels if matrix.confidences is None else matrix.confidences
    concepts = dict.fromkeys(c for e in expressions.values() for c in e.concepts())
    return {c: dense(source[:, [columns[c]]])[:, 0].astype(np.float64) for c in concepts}


def write_concept_judgements(queries: Queries, truth: LabelsForm, path: str | Path) -> None:
    """Write the judgements that a truth implies, in the format of the file's ending."""
    write_atomic(Path(path), encode_table(judge_concepts(queries, truth), path))
