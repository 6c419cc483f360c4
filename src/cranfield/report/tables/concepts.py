"""Ontologies as tables: problems, the tree with its rules, one concept, categories, two of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from cranfield.data.costmap import CostMap
from cranfield.relatedness.cost_maps import (
    DIFFERENCES,
    NEAREST,
    CostMapView,
    MapComparison,
    nearest_concepts,
)
from cranfield.relatedness.hierarchies import (
    ConceptView,
    OntologyCategories,
    OntologyCheck,
    OntologyView,
)
from cranfield.relatedness.results import ConceptCosts, MethodCatalogue, PairRelatedness
from cranfield.relatedness.tag_corpus import TagCorpus, TagCount
from cranfield.relatedness.vocabularies import VocabularyComparison
from cranfield.report.charts.concepts import cost_map
from cranfield.report.document import Cell, Column, Document, Table
from cranfield.report.render import html_table, still_page

_NEAREST = 10


def check_document(found: OntologyCheck, **_: Any) -> Document:
    """What is wrong, if anything, and how large the ontology is."""
    facts = found.facts.as_dict()
    columns = [Column(name, numeric=name != "ontology") for name in facts]
    notes = () if found.problems else ("no cycle and no contradiction",)
    tables = [Table(columns, [list(facts.values())], notes=notes)]
    if found.problems:
        rows: list[list[Cell]] = [[text] for text in found.problems]
        tables.insert(0, Table([Column("problem", numeric=False)], rows))
    return Document(found.to_dict(), tables, found.notes)


def document(found: OntologyView, **_: Any) -> Document:
    """The tree with its link costs, and the rules."""
    rows: list[list[Cell]] = [
        ["  " * n.indent + n.shown, "concept" if n.concept else "category", n.link_cost]
        for n in found.nodes
    ]
    columns = [Column("node", numeric=False), Column("kind", numeric=False), Column("link cost")]
    tables = [Table(columns, rows, str(found.facts))]
    meant: list[list[Cell]] = [[n.concept, n.definition] for n in found.nodes if n.definition]
    if meant:
        heads = [Column("concept", numeric=False), Column("definition", numeric=False)]
        tables.append(Table(heads, meant))
    if found.rules:
        heads = [Column("rule", numeric=False), Column("concepts", numeric=False)]
        tables.append(Table(heads, [[kind, ", ".join(names)] for kind, names in found.rules]))
    return Document(found.to_dict(), tables, found.notes)


def concept_document(found: ConceptView, **_: Any) -> Document:
    """What is known of a concept, and those nearest to it."""
    facts: list[list[Cell]] = [list(fact) for fact in found.facts]
    nearest: list[list[Cell]] = [list(pair) for pair in found.costs[:_NEAREST]]
    tables = [
        Table([Column(found.concept, numeric=False), Column("", numeric=False)], facts),
        Table([Column("nearest concepts", numeric=False), Column("cost")], nearest),
    ]
    return Document(found.to_dict(), tables, found.notes)


def categories_document(found: OntologyCategories, **_: Any) -> Document:
    """The concepts by category, and the parts of each category."""
    text = partial(Column, numeric=False)
    shares: list[list[Cell]] = [
        [name, n, 100 * n / found.concepts] for name, n in found.counts().items()
    ]
    parts: list[list[Cell]] = [
        [p.category, p.part, len(p.concepts), ", ".join(p.concepts)] for p in found.parts
    ]
    tables = [
        Table([text("category"), Column("concepts"), Column("share %", digits=2)], shares),
        Table([text("category"), text("part"), Column("concepts"), text("names")], parts),
    ]
    return Document(found.to_dict(), tables, found.notes, machine=tables[1])


def comparison_document(found: VocabularyComparison, **_: Any) -> Document:
    """How much both share, then what was removed, added and moved, and the rules."""
    text = partial(Column, numeric=False)
    heads = ["concepts", "same", "same %", "near", "covered %", "removed", "added", "moved"]
    figures: list[Cell] = [
        f"{found.concepts[0]} -> {found.concepts[1]}",
        len(found.same),
        100 * found.same_share,
        len(found.near),
        100 * found.covered_share,
        len(found.removed),
        len(found.added),
        len(found.moved),
    ]
    columns = [Column(head, digits=1) for head in heads]
    tables = [Table(columns, [figures], f"{found.first} -> {found.second}")]
    changes: list[list[Cell]] = [["removed", name, "", ""] for name in found.removed]
    changes += [["added", name, "", ""] for name in found.added]
    changes += [["moved", m.concept, m.before, m.after] for m in found.moved]
    changes += [["category removed", name, "", ""] for name in found.categories_removed]
    changes += [["category added", name, "", ""] for name in found.categories_added]
    changes += [[f"rule removed: {k}", ", ".join(n), "", ""] for k, n in found.rules_removed]
    changes += [[f"rule added: {k}", ", ".join(n), "", ""] for k, n in found.rules_added]
    if changes:
        tables.append(Table([text(h) for h in ("change", "what", "before", "after")], changes))
    if found.near:
        near: list[list[Cell]] = [[n.concept, n.nearest, n.relatedness] for n in found.near]
        heading = [text("concept"), text("near"), Column("relatedness", digits=3)]
        tables.append(Table(heading, near, f"Near by {found.method}"))
    return Document(found.to_dict(), tables, found.notes, machine=tables[min(1, len(tables) - 1)])


_SHADES = " ░▒▓█"  # far to near
_WIDEST_HEAT_MAP = 120


def cost_map_document(view: CostMapView, *, form: str = "table", **_: Any) -> Document:
    """The nearest concepts; with the drawing on a terminal, and as a page in HTML."""
    nearest = nearest_table(view.costs, view.nearest, view.count)
    payload = view.to_dict()
    if form == "html":
        page = costmap_page(view, nearest)
        return Document(payload, [nearest], view.notes, page=page)
    if form == "table" and not view.listed:
        nearest = replace(nearest, notes=_drawn(view))
    return Document(payload, [nearest], view.notes)


def _drawn(view: CostMapView) -> list[str]:
    tree = branches(view)
    drawing = ["", "Dendrogram (average cost at which concepts join)"]
    drawing += dendrogram_text(view.costs, tree)
    if len(view.costs.concepts) <= _WIDEST_HEAT_MAP:
        drawing += ["", "Heat map (dark is near)", *heat_map_text(view.costs, view.order)]
    return drawing


def cost_map_comparison_document(
    found: MapComparison, *, top: int = DIFFERENCES, **_: Any
) -> Document:
    """How alike two maps are, and the pairs that differ most."""
    heads = ("concepts", "Spearman", "p (Mantel)", "Pearson", "mean difference")
    figures = [len(found.concepts), found.spearman, found.p, found.pearson, found.mean_difference]
    tables = [Table(list(map(Column, heads)), [figures], f"{found.first} and {found.second}")]
    rows: list[list[Cell]] = [list(row) for row in found.differing(top)]
    columns = [Column(n, numeric=False) for n in ("concept", "concept")]
    columns += [Column("first", digits=3), Column("second", digits=3)]
    if rows:
        tables.append(Table(columns, rows, "Pairs that differ most"))
    return Document(found.to_dict(top=top), tables, found.notes)


def nearest_table(
    costs: CostMap, nearest: Sequence[tuple[str, Sequence[tuple[str, float]]]], count: int
) -> Table:
    """The nearest concepts of each concept, with their costs."""
    wide = min(count, len(costs.concepts) - 1)
    columns = [Column("concept", numeric=False)]
    for k in range(1, wide + 1):
        columns += [Column(f"nearest {k}", numeric=False), Column("cost", digits=3)]
    rows: list[list[Cell]] = []
    for concept, near in nearest:
        row: list[Cell] = [concept, *(cell for pair in near for cell in pair)]
        rows.append(row + [None] * (2 * (wide - len(near))))
    return Table(columns, rows, f"Nearest concepts, {costs.name}")


def square_table(costs: CostMap) -> Table:
    """The whole matrix: in CSV this is what commands read as a cost map."""
    columns = [Column("concept", numeric=False), *(Column(c) for c in costs.concepts)]
    rows: list[list[Cell]] = [
        [concept, *(float(cost) for cost in row)]
        for concept, row in zip(costs.concepts, costs.costs, strict=True)
    ]
    return Table(columns, rows)


@dataclass(frozen=True)
class Branch:
    """A cluster of concepts: two branches that join at a cost, or one concept."""

    cost: float
    parts: tuple[Branch, ...] = ()
    concept: int = -1

    def bottom_up(self) -> list[Branch]:
        """All branches, parts before the whole; no recursion, for trees can be a single chain."""
        found, waiting = [], [self]
        while waiting:
            branch = waiting.pop()
            found.append(branch)
            waiting += branch.parts
        return found[::-1]


def branches(view: CostMapView) -> Branch:
    """The clusters of a map as a tree."""
    made = [Branch(0.0, (), i) for i in range(len(view.costs.concepts))]
    for first, second, cost in view.merges:
        made.append(Branch(cost, (made[first], made[second])))
    return made[-1]


def dendrogram_text(costs: CostMap, tree: Branch) -> list[str]:
    """The clusters as lines of text, each with the cost at which it joins."""
    drawn: list[list[str]] = []
    for branch in tree.bottom_up():
        if not branch.parts:
            drawn.append([f" {costs.concepts[branch.concept]}"])
            continue
        lower, upper = drawn.pop(), drawn.pop()
        head = f"{branch.cost:.2f} "
        blank = " " * len(head)
        drawn.append(
            [f"{head}┬{upper[0]}"]
            + [f"{blank}│{line}" for line in upper[1:]]
            + [f"{blank}└{lower[0]}"]
            + [f"{blank} {line}" for line in lower[1:]]
        )
    return drawn[0]


def heat_map_text(costs: CostMap, clustered: Sequence[int]) -> list[str]:
    """The matrix in shades, concepts in the order of the clusters; dark is near."""
    order = list(clustered)
    width = max(len(costs.concepts[i]) for i in order)
    lines = []
    for i in order:
        level = np.minimum((1.0 - costs.costs[i, order]) * len(_SHADES), len(_SHADES) - 1)
        shades = "".join(_SHADES[int(k)] * 2 for k in level)
        lines.append(f"{costs.concepts[i]:>{width}} {shades.rstrip()}")
    return lines


def costmap_page(view: CostMapView, nearest: Table) -> str:
    """A page with the heat map beside the dendrogram, in one file without scripts."""
    return still_page(
        view.costs.name,
        "<p>The stronger the colour, the nearer. The tree joins concepts at their average cost.</p>"
        f"<figure>{cost_map(view).to_svg(standalone=False)}</figure>{html_table(nearest)}",
    )


def pairs_document(found: PairRelatedness, *, human: bool = False, **_: Any) -> Document:
    """The pairs by every method, and the correlations; with `human` the correlations alone."""
    payload = found.to_dict(human=human)
    tables = [] if human else [_pair_table(found)]
    if found.judged:
        tables.append(_human_table(found))
    machine = _human_figures(found) if human else None
    return Document(payload, tables, found.notes, machine)


def costs_document(found: ConceptCosts, *, form: str = "table", **_: Any) -> Document:
    """The whole square for programs, the nearest concepts of each for people."""
    if form in ("csv", "tsv"):
        table = square_table(found.costs)
    else:
        table = nearest_table(found.costs, nearest_concepts(found.costs), NEAREST)
    return Document(found.to_dict(), [table], found.notes)


def catalogue_document(found: MethodCatalogue, **_: Any) -> Document:
    """The methods, and what they need."""
    rows: list[list[Cell]] = []
    for m in found.methods:
        low, high = (f"{x:.4g}" if math.isfinite(x) else "inf" for x in m.range)
        needs = ", ".join(sorted(m.needs))
        rows.append([m.name, m.title, f"[{low}, {high}]", needs, m.source.key, m.summary])
    heads = ("method", "title", "range", "needs", "source", "what it is")
    table = Table([Column(h, numeric=False) for h in heads], rows)
    return Document(found.to_dict(), [table], found.notes)


def _pair_table(found: PairRelatedness) -> Table:
    first, *others = found.results
    alone = not others and first.method.family == "wordnet"
    columns = [Column("word1", numeric=False), Column("word2", numeric=False)]
    columns += [Column("relatedness" if alone else r.name) for r in found.results]
    if alone:
        columns += [Column("sense1", numeric=False), Column("sense2", numeric=False)]
    if found.judged:
        columns.append(Column("human", digits=2))
    rows: list[list[Cell]] = []
    for k, pair in enumerate(first.pairs):
        row: list[Cell] = [pair.word1, pair.word2]
        row += [result.pairs[k].relatedness for result in found.results]
        row += [pair.sense1, pair.sense2] if alone else []
        rows.append([*row, pair.human] if found.judged else row)
    return Table(columns, rows, "" if others else first.method.title)


def _human_table(found: PairRelatedness) -> Table:
    columns = [
        Column("method", numeric=False),
        Column("Spearman", best="max"),
        Column("95 % interval", numeric=False),
        Column("Pearson", best="max"),
        Column("95 % interval", numeric=False),
        Column("pairs"),
        Column("left out"),
    ]
    rows: list[list[Cell]] = [
        [
            result.name,
            people.spearman,
            _span(people.spearman_interval),
            people.pearson,
            _span(people.pearson_interval),
            people.pairs,
            people.left_out,
        ]
        for result in found.results
        if (people := result.people) is not None
    ]
    return Table(columns, rows, "Correlation with people's scores")


def _human_figures(found: PairRelatedness) -> Table:
    """The same for programs: the ends of the intervals are columns of their own."""
    names = ("spearman", "pearson")
    heads = [f"{name}{end}" for name in names for end in ("", "_low", "_high")]
    rows: list[list[Cell]] = [
        [
            result.name,
            people.spearman,
            *people.spearman_interval,
            people.pearson,
            *people.pearson_interval,
            people.pairs,
            people.left_out,
        ]
        for result in found.results
        if (people := result.people) is not None
    ]
    columns = [Column("method", numeric=False), *map(Column, (*heads, "pairs", "left_out"))]
    return Table(columns, rows)


def _span(interval: tuple[float, float]) -> str:
    low, high = interval
    return "-" if math.isnan(low) else f"{low:.3f} to {high:.3f}"


TOP = 20


def tags_document(found: TagCorpus, *, top: int = TOP, **_: Any) -> Document:
    """The figures of a corpus; `top` bounds the lists that people see."""
    text = partial(Column, numeric=False)
    shown = f"in >= {found.min_items} items"
    heads = ["items", "untagged", "tags", "distinct", "per item", "median", "most", shown]
    figures: list[Cell] = [
        found.items,
        found.untagged,
        found.assignments,
        found.distinct,
        found.per_item,
        found.median_per_item,
        found.most_per_item,
        found.frequent,
    ]
    tables = [Table([Column(h, digits=2) for h in heads], [figures], found.corpus)]
    if found.classes:
        classes: list[list[Cell]] = [
            [c["class"], c["tags"], c["assignments"], 100 * c["share"]]
            for c in found.payload()["classes"]
        ]
        columns = [text("class"), Column("tags"), Column("given"), Column("share %", digits=1)]
        tables.append(Table(columns, classes, "Classes of tags (WordNet, the first sense)"))
    if found.lexicon:
        parts: list[list[Cell]] = [
            [p.part.category, p.part.part, len(p.part.concepts), p.tagged_concepts, p.items]
            for p in found.lexicon
        ]
        columns = [text("category"), text("part"), *map(Column, ("concepts", "tagged", "items"))]
        tables.append(Table(columns, parts, "The vocabulary in the tags"))
    proposals = _listed(found.proposals, "class")
    tables.append(replace(proposals.first(top), title="Tags that could become concepts"))
    if found.unknown:
        unknown = _listed(found.unknown)
        tables.append(replace(unknown.first(top), title="Tags that WordNet does not know"))
    return Document(found.to_dict(), tables, found.notes, machine=proposals)


def _listed(tags: Sequence[TagCount], kind: str = "") -> Table:
    columns = [Column("tag", numeric=False), Column("items")]
    if not kind:
        return Table(columns, [[t.tag, t.items] for t in tags])
    return Table([*columns, Column(kind, numeric=False)], [[t.tag, t.items, t.kind] for t in tags])
