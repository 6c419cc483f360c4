"""Descriptors, and what was described, as tables."""

from __future__ import annotations

import textwrap

from cranfield.comparison.descriptor_benchmark import DescriptorBenchmark
from cranfield.features.catalogue import DescriptorCard, DescriptorCatalogue
from cranfield.features.extract import Description
from cranfield.features.search import Search
from cranfield.features.text_search import TextSearch
from cranfield.report.document import Cell, Column, Document, Table

_WIDTH = 76


def _texts(*names: str) -> list[Column]:
    return [Column(name, numeric=False) for name in names]


def catalogue_document(catalogue: DescriptorCatalogue, **_: object) -> Document:
    """A table per family, the distances, the sets."""
    columns = [*_texts("name"), Column("length"), *_texts("distance", "what it is", "checked")]
    tables = []
    for family in dict.fromkeys(d.family for d in catalogue.descriptors):
        rows: list[list[Cell]] = [
            [str(d), d.length, d.distance, d.title, d.checked.split(":")[0]]
            for d in catalogue.descriptors
            if d.family == family
        ]
        tables.append(Table(columns, rows, family[:1].upper() + family[1:]))
    all_rows = [row for table in tables for row in table.rows]
    distances: list[list[Cell]] = [[str(d), d.title] for d in catalogue.distances]
    tables.append(Table(_texts("distance", "what it is"), distances, "Distances"))
    sets: list[list[Cell]] = [
        [name, textwrap.shorten(" ".join(members), 90, placeholder=" ...")]
        for name, members in catalogue.sets.items()
    ]
    tables.append(Table(_texts("set", "members"), sets, "Sets"))
    return Document(catalogue.to_dict, tables, catalogue.notes, machine=Table(columns, all_rows))


def benchmark_document(benchmark: DescriptorBenchmark, **_: object) -> Document:
    """Means and places of descriptors, then each two next to each other, as in Tables 5 and 8."""
    scores = benchmark.scores
    columns = [
        *_texts("descriptor"),
        *(Column(str(m), heading=m.mean_label) for m in scores.measures),
    ]
    columns += [Column("place"), Column("confidence", digits=2)]
    rows: list[list[Cell]] = []
    for row in benchmark.places:
        at = scores.index_of(row.descriptor)
        means = [float(scores.overall[m][at]) for m in scores.measures]
        rows.append([row.descriptor, *means, row.place, row.confidence])
    note = "confidence: the share of resamples of the topics that give the same place by MAP"
    tables = [Table(columns, rows, benchmark.headline(), (note,))]
    pair_columns = _texts("descriptors", *(f"{m.mean_label} dev. %" for m in scores.measures))
    pair_rows: list[list[Cell]] = [
        [
            f"{pairs[0].a} - {pairs[0].b}",
            *(f"{pair.deviation_percent:.2f}{pair.stars}" for pair in pairs),
        ]
        for pairs in benchmark.neighbours()
    ]
    stars = "*, **, ***: p at most 0.05, 0.01, 0.001 after correction, by bootstrap over topics"
    tables.append(Table(pair_columns, pair_rows, "Neighbours", (stars,)))
    return Document(benchmark.to_dict, tables, benchmark.notes, tables[0])


def descriptor_document(card: DescriptorCard, **_: object) -> Document:
    """What is known of a descriptor, line by line."""
    payload = card.to_dict()
    rows: list[list[Cell]] = []
    for key, value in payload["descriptors"][0].items():
        if value in ("", []):
            continue
        text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
        rows += wrap_fact(key.replace("_", " "), text)
    [distance] = payload["distances"]
    rows += wrap_fact("formula of distance", distance["formula"])
    if distance["undefined"]:
        rows += wrap_fact("undefined", distance["undefined"])
    return Document(payload, [Table(_texts("descriptor", str(card.descriptor)), rows)], card.notes)


def wrap_fact(key: str, text: str) -> list[list[Cell]]:
    """A fact as rows of a card: its name beside the first line of its text."""
    lines = textwrap.wrap(text, _WIDTH) or [""]
    return [["" if i else key, line] for i, line in enumerate(lines)]


def description_document(answer: Description, **_: object) -> Document:
    """The files written, and what was left out."""
    files = Table(
        [*_texts("file"), Column("pictures"), Column("length")],
        [[f"{name}.npz", answer.described, length] for name, length in answer.written.items()],
        answer.headline(),
        (f"{answer.computed} computed now, {answer.dropped} dropped",),
    )
    tables = [files]
    if answer.skipped:
        rows: list[list[Cell]] = [[repr(file)[1:-1], why] for file, why in answer.skipped]
        tables.append(Table(_texts("file", "reason"), rows, "Left out"))
    return Document(answer.to_dict, tables, answer.notes)


def text_search_document(answer: TextSearch, **_: object) -> Document:
    """The rankings, line by line."""
    rows: list[list[Cell]] = [
        [topic, rank, item, score]
        for topic, scores in answer.run.to_dict().items()
        for rank, (item, score) in enumerate(scores.items(), 1)
    ]
    columns = [*_texts("topic"), Column("rank"), *_texts("item"), Column("score", digits=4)]
    return Document(answer.to_dict, [Table(columns, rows, answer.headline())], answer.notes)


def search_document(search: Search, **_: object) -> Document:
    """The rankings, line by line."""
    rows: list[list[Cell]] = [
        [topic["topic"], rank, entry["item"], entry["score"]]
        for topic in search.payload()["topics"]
        for rank, entry in enumerate(topic["items"], 1)
    ]
    columns = [*_texts("topic"), Column("rank"), *_texts("item"), Column("score", digits=6)]
    return Document(search.to_dict, [Table(columns, rows, search.headline())], search.notes)
