"""Files of concept queries: CSV or TSV `topic,query`, or lines of a topic and its query."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from cranfield.data.concept_query import Expression, parse_expression
from cranfield.errors import InputError, Problem, UsageError
from cranfield.io.files import csv_rows, describe, inner_suffix, open_text


def read_concept_queries(path: str | Path) -> dict[str, Expression]:
    """The queries of a file by topic."""
    source_name = describe(path)
    queries: dict[str, Expression] = {}
    problems: list[Problem] = []
    for line, topic, text in _rows(path, source_name):
        if topic in queries:
            problems.append(Problem(line, f"topic {topic!r} given twice"))
            continue
        try:
            queries[topic] = parse_expression(text)
        except UsageError as error:
            problems.append(Problem(line, str(error)))
    if not queries and not problems:
        problems.append(Problem(0, "holds no query"))
    if problems:
        raise InputError(source_name, problems)
    return queries


def _rows(path: str | Path, source_name: str) -> Iterator[tuple[int, str, str]]:
    suffix = inner_suffix(path)
    with open_text(path) as stream:
        if suffix not in (".csv", ".tsv"):
            for line, text in enumerate(stream, 1):
                parts = text.split(None, 1)
                if parts and not parts[0].startswith("#"):
                    yield line, parts[0], parts[1] if len(parts) > 1 else ""
            return
        rows = csv_rows(stream, source_name, "\t" if suffix == ".tsv" else ",")
        header = [cell.strip().lower() for cell in next(rows, (0, []))[1]]
        if not {"topic", "query"} <= set(header):
            raise InputError.single(source_name, "expected a header with topic,query", 1)
        topic_column, query_column = header.index("topic"), header.index("query")
        for line, row in rows:
            if any(cell.strip() for cell in row):
                cells = [*row, *[""] * len(header)]
                yield line, cells[topic_column].strip(), cells[query_column].strip()
