"""How the results were made, which files belong to them, and what has changed since."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from cranfield.campaign.results.results_data import Cell, ResultPart
from cranfield.campaign.views import View, count, text
from cranfield.report.methods import citations, methods
from cranfield.site.links import Address
from cranfield.site.page_view import Block, PageContent, Prose

if TYPE_CHECKING:
    from cranfield.site.results import Results

METHOD, FILES, CHANGES = "method", "files", "changes"


def is_possible(results: Results, kind: str) -> bool:
    has = {METHOD: True, FILES: results.extras.files, CHANGES: results.extras.changes}
    return bool(has[kind])


def addresses(results: Results, kind: str) -> Iterator[Address]:
    if is_possible(results, kind):
        yield Address(kind)


def make(results: Results, address: Address) -> PageContent:
    return {METHOD: _method, FILES: _files, CHANGES: _changes}[address.path](results, address)


def _method(results: Results, address: Address) -> PageContent:
    material = results.material
    paragraphs = methods(material.scores, material.comparison, results.extras.settings)
    cited = citations(material.scores.measures, compared=material.comparison is not None)
    rows: list[tuple[Cell, ...]] = [(c["measures"], c["text"], c["bibtex"]) for c in cited]
    columns = (text("measures", "used for"), text("text", "source"), text("bibtex"))
    measures = ResultPart(
        "measures",
        "Measures",
        (text("measure"), text("title"), text("formula"), text("direction", "better")),
        tuple(
            (
                str(m),
                m.title,
                m.formula,
                {True: "higher", False: "lower", None: "neither"}[m.higher_is_better],
            )
            for m in material.scores.measures
        ),
    )
    sources = ResultPart("sources", "Sources", columns, tuple(rows))
    answer = View("method", "Method", "", (measures, sources), facts={"method": paragraphs})
    blocks: list[Block] = [Prose("What was computed", paragraphs)]
    blocks += results.blocks_of(View("", "", "", (measures,)), address)
    blocks += [
        Prose("What to cite" if k == 0 else "", (f"{c['measures']}: {c['text']}",), c["bibtex"])
        for k, c in enumerate(cited)
    ]
    return PageContent(title="Method", answer=answer, blocks=blocks)


def _files(results: Results, _: Address) -> PageContent:
    rows = tuple((f.kind, f.name, f.run, f.bytes, f.sha256) for f in results.extras.files)
    columns = (
        text("kind", "what"),
        text("file", link="file"),
        text("run", link="run"),
        count("bytes"),
        text("sha256", "SHA-256"),
    )
    note = "sha256sum -c checks files against these sums; files.csv has them for programs."
    part = ResultPart("files", "Files", columns, rows, (note,))
    facts = {"licence": results.extras.licence, "version": results.extras.version}
    return PageContent(title="Files", answer=View("files", "Files", "", (part,), facts=facts))


def _changes(results: Results, _: Address) -> PageContent:
    rows = tuple((line,) for line in results.extras.changes)
    part = ResultPart("changes", "Changes", (text("change"),), rows)
    answer = View("changes", "Changes", "", (part,))
    return PageContent("Changes", answer, blocks=[Prose("", results.extras.changes)])
