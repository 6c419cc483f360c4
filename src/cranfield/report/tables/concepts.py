"""Ontologies as tables: problems, the tree with its rules, one concept, categories, two of them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from cranfield.data.costmap import CostMap
from cranfield.relatedness.api import MethodCatalogue, PairRelatedness
from cranfield.relatedness.cost_maps import (
    DIFFERENCES,
    NEAREST,
    ConceptCosts,
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
from cranfield.relatedness.vocabularies import TagCorpus, TagCount, VocabularyComparison
from cranfield.report.charts.annotation import cost_map
from cranfield.report.document import Cell, Column, Document, Table
from cranfield.report.render import html_table, still_page

_NEAREST = 10


def check_document(check: OntologyCheck, **_: object) -> Document:
    """What is wrong, if anything, and how large the ontology is."""
    facts = check.facts.as_dict()
    columns = [Column(name, numeric=name != "ontology") for name in facts]
    notes = () if check.problems else ("no cycle and no contradiction",)
    tables = [Table(columns, [list(facts.values())], notes=notes)]
    if check.problems:
        rows: list[list[Cell]] = [[text] for text in check.problems]
        tables.insert(0, Table([Column("problem", numeric=False)], rows))
    return Document(check.to_dict, tables, check.notes)


def document(view: OntologyView, **_: object) -> Document:
    """The tree with its link costs, and the rules."""
    rows: list[list[Cell]] = [
        ["  " * n.indent + n.shown, "concept" if n.concept else "category", n.link_cost]
        for n in view.nodes
    ]
    columns = [Column("node", numeric=False), Column("kind", numeric=False), Column("link cost")]
    tables = [Table(columns, rows, str(view.facts))]
    meant: list[list[Cell]] = [[n.concept, n.definition] for n in view.nodes if n.definition]
    if meant:
        heads = [Column("concept", numeric=False), Column("definition", numeric=False)]
        tables.append(Table(heads, meant))
    if view.rules:
        heads = [Column("rule", numeric=False), Column("concepts", numeric=False)]
        tables.append(Table(heads, [[kind, ", ".join(names)] for kind, names in view.rules]))
    return Document(view.to_dict, tables, view.notes)


def concept_document(view: ConceptView, **_: object) -> Document:
    """What is known of a concept, and those nearest to it."""
    facts: list[list[Cell]] = [list(fact) for fact in view.facts]
    nearest: list[list[Cell]] = [list(pair) for pair in view.costs[:_NEAREST]]
    tables = [
        Table([Column(view.concept, numeric=False), Column("", numeric=False)], facts),
        Table([Column("nearest concepts", numeric=False), Column("cost")], nearest),
    ]
    return Document(view.to_dict, tables, view.notes)


def categories_document(categories: OntologyCategories, **_: object) -> Document:
    """The concepts by category, and the parts of each category."""
    text = partial(Column, numeric=False)
    shares: list[list[Cell]] = [
        [name, n, 100 * n / categories.concepts] for name, n in categories.counts().items()
    ]
    parts: list[list[Cell]] = [
        [p.category, p.part, len(p.concepts), ", ".join(p.concepts)] for p in categories.parts
    ]
    tables = [
        Table([text("category"), Column("concepts"), Column("share %", digits=2)], shares),
        Table([text("category"), text("part"), Column("concepts"), text("names")], parts),
    ]
    return Document(categories.to_dict, tables, categories.notes, machine=tables[1])


def comparison_document(comparison: VocabularyComparison, **_: object) -> Document:
    """How much both share, then what was removed, added and moved, and the rules."""
    text = partial(Column, numeric=False)
    heads = ["concepts", "same", "same %", "near", "covered %", "removed", "added", "moved"]
    figures: list[Cell] = [
        f"{comparison.concepts[0]} -> {comparison.concepts[1]}",
        len(comparison.same),
        100 * comparison.same_share,
        len(comparison.near),
        100 * comparison.covered_share,
        len(comparison.removed),
        len(comparison.added),
        len(comparison.moved),
    ]
    columns = [Column(head, digits=1) for head in heads]
    tables = [Table(columns, [figures], f"{comparison.first} -> {comparison.second}")]
    changes: list[list[Cell]] = [["removed", name, "", ""] for name in comparison.removed]
    changes += [["added", name, "", ""] for name in comparison.added]
    changes += [["moved", m.concept, m.before, m.after] for m in comparison.moved]
    changes += [["category removed", name, "", ""] for name in comparison.categories_removed]
    changes += [["category added", name, "", ""] for name in comparison.categories_added]
    changes += [[f"rule removed: {k}", ", ".join(n), "", ""] for k, n in comparison.rules_removed]
    changes += [[f"rule added: {k}", ", ".join(n), "", ""] for k, n in comparison.rules_added]
    if changes:
        tables.append(Table([text(h) for h in ("change", "what", "before", "after")], changes))
    if comparison.near:
        near_rows: list[list[Cell]] = [
            [n.concept, n.nearest, n.relatedness] for n in comparison.near
        ]
        heading = [text("concept"), text("near"), Column("relatedness", digits=3)]
        tables.append(Table(heading, near_rows, f"Near by {comparison.method}"))
    return Document(
        comparison.to_dict, tables, comparison.notes, machine=tables[min(1, len(tables) - 1)]
    )


_SHADES = " ░▒▓█"  # far to near
_WIDEST_HEAT_MAP = 120


def cost_map_document(view: CostMapView, *, form: str = "table", **_: object) -> Document:
    """The nearest concepts; with the drawing on a terminal, and as a page in HTML."""
    nearest = nearest_table(view.costs, view.nearest, view.count)
    payload = view.to_dict()
    if form == "html":
        page = costmap_page(view, nearest)
        return Document(payload, [nearest], view.notes, page=page)
    if form == "table" and not view.listed:
        nearest = replace(nearest, notes=_text_drawing(view))
    return Document(payload, [nearest], view.notes)


def _text_drawing(view: CostMapView) -> list[str]:
    tree = branches(view)
    drawing = ["", "Dendrogram (average cost at which concepts join)"]
    drawing += dendrogram_text(view.costs, tree)
    if len(view.costs.concepts) <= _WIDEST_HEAT_MAP:
        drawing += ["", "Heat map (dark is near)", *heat_map_text(view.costs, view.order)]
    return drawing


def cost_map_comparison_document(
    comparison: MapComparison, *, top: int = DIFFERENCES, **_: object
) -> Document:
    """How alike two maps are, and the pairs that differ most."""
    heads = ("concepts", "Spearman", "p (Mantel)", "Pearson", "mean difference")
    figures = [
        len(comparison.concepts),
        comparison.spearman,
        comparison.p,
        comparison.pearson,
        comparison.mean_difference,
    ]
    tables = [
        Table(list(map(Column, heads)), [figures], f"{comparison.first} and {comparison.second}")
    ]
    rows: list[list[Cell]] = [list(row) for row in comparison.differing(top)]
    columns = [Column(n, numeric=False) for n in ("concept", "concept")]
    columns += [Column("first", digits=3), Column("second", digits=3)]
    if rows:
        tables.append(Table(columns, rows, "Pairs that differ most"))
    return Document(partial(comparison.to_dict, top=top), tables, comparison.notes)


def nearest_table(
    costs: CostMap, nearest: Sequence[tuple[str, Sequence[tuple[str, float]]]], count: int
) -> Table:
    """The nearest concepts of each concept, with their costs."""
    wide = min(count, len(costs.concepts) - 1)
    columns = [Column("concept", numeric=False)]
    for k in range(1, wide + 1):
        columns += [Column(f"nearest {k}", numeric=False), Column(f"cost {k}", digits=3)]
    rows: list[list[Cell]] = []
    for concept, neighbours in nearest:
        row: list[Cell] = [concept, *(cell for pair in neighbours for cell in pair)]
        rows.append(row + [None] * (2 * (wide - len(neighbours))))
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
        ordered, waiting = [], [self]
        while waiting:
            branch = waiting.pop()
            ordered.append(branch)
            waiting += branch.parts
        return ordered[::-1]


def branches(view: CostMapView) -> Branch:
    """The clusters of a map as a tree."""
    clusters = [Branch(0.0, (), i) for i in range(len(view.costs.concepts))]
    for first, second, cost in view.merges:
        clusters.append(Branch(cost, (clusters[first], clusters[second])))
    return clusters[-1]


def dendrogram_text(costs: CostMap, tree: Branch) -> list[str]:
    """The clusters as lines of text, each with the cost at which it joins."""
    blocks: list[list[str]] = []
    for branch in tree.bottom_up():
        if not branch.parts:
            blocks.append([f" {costs.concepts[branch.concept]}"])
            continue
        lower, upper = blocks.pop(), blocks.pop()
        head = f"{branch.cost:.2f} "
        blank = " " * len(head)
        blocks.append(
            [f"{head}┬{upper[0]}"]
            + [f"{blank}│{line}" for line in upper[1:]]
            + [f"{blank}└{lower[0]}"]
            + [f"{blank} {line}" for line in lower[1:]]
        )
    return blocks[0]


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


def pairs_document(answer: PairRelatedness, *, human: bool = False, **_: object) -> Document:
    """The pairs by every method, and the correlations; with `human` the correlations alone."""
    payload = answer.to_dict(human=human)
    tables = [] if human else [_pair_table(answer)]
    if answer.judged:
        tables.append(_human_table(answer))
    machine = _human_figures(answer) if human else None
    return Document(payload, tables, answer.notes, machine)


def costs_document(answer: ConceptCosts, *, form: str = "table", **_: object) -> Document:
    """The whole square for programs, the nearest concepts of each for people."""
    if form in ("csv", "tsv"):
        table = square_table(answer.costs)
    else:
        table = nearest_table(answer.costs, nearest_concepts(answer.costs), NEAREST)
    return Document(answer.to_dict, [table], answer.notes)


def catalogue_document(catalogue: MethodCatalogue, **_: object) -> Document:
    """The methods, and what they need."""
    rows: list[list[Cell]] = []
    for m in catalogue.methods:
        low, high = (f"{x:.4g}" if math.isfinite(x) else "inf" for x in m.range)
        needs = ", ".join(sorted(m.needs))
        rows.append([m.name, m.title, f"[{low}, {high}]", needs, m.source.key, m.summary])
    heads = ("method", "title", "range", "needs", "source", "what it is")
    table = Table([Column(h, numeric=False) for h in heads], rows)
    return Document(catalogue.to_dict, [table], catalogue.notes)


def _pair_table(answer: PairRelatedness) -> Table:
    first, *others = answer.results
    alone = not others and first.method.family == "wordnet"
    columns = [Column("word1", numeric=False), Column("word2", numeric=False)]
    columns += [Column("relatedness" if alone else r.name) for r in answer.results]
    if alone:
        columns += [Column("sense1", numeric=False), Column("sense2", numeric=False)]
    if answer.judged:
        columns.append(Column("human", digits=2))
    rows: list[list[Cell]] = []
    for k, pair in enumerate(first.pairs):
        row: list[Cell] = [pair.word1, pair.word2]
        row += [result.pairs[k].relatedness for result in answer.results]
        row += [pair.sense1, pair.sense2] if alone else []
        rows.append([*row, pair.human] if answer.judged else row)
    return Table(columns, rows, "" if others else first.method.title)


def _human_table(answer: PairRelatedness) -> Table:
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
        for result in answer.results
        if (people := result.people) is not None
    ]
    return Table(columns, rows, "Correlation with people's scores")


def _human_figures(answer: PairRelatedness) -> Table:
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
        for result in answer.results
        if (people := result.people) is not None
    ]
    columns = [Column("method", numeric=False), *map(Column, (*heads, "pairs", "left_out"))]
    return Table(columns, rows)


def _span(interval: tuple[float, float]) -> str:
    low, high = interval
    return "-" if math.isnan(low) else f"{low:.3f} to {high:.3f}"


TAGS_SHOWN = 20


def tags_document(corpus: TagCorpus, *, top: int = TAGS_SHOWN, **_: object) -> Document:
    """The figures of a corpus; `top` bounds the lists that people see."""
    text = partial(Column, numeric=False)
    frequent_heading = f"in >= {corpus.min_items} items"
    heads = [
        "items",
        "untagged",
        "tags",
        "distinct",
        "per item",
        "median",
        "most",
        frequent_heading,
    ]
    figures: list[Cell] = [
        corpus.items,
        corpus.untagged,
        corpus.assignments,
        corpus.distinct,
        corpus.per_item,
        corpus.median_per_item,
        corpus.most_per_item,
        corpus.frequent,
    ]
    tables = [Table([Column(h, digits=2) for h in heads], [figures], corpus.corpus)]
    if corpus.classes:
        classes: list[list[Cell]] = [
            [c["class"], c["tags"], c["assignments"], 100 * c["share"]]
            for c in corpus.payload()["classes"]
        ]
        columns = [text("class"), Column("tags"), Column("given"), Column("share %", digits=1)]
        tables.append(Table(columns, classes, "Classes of tags (WordNet, the first sense)"))
    if corpus.lexicon:
        parts: list[list[Cell]] = [
            [p.part.category, p.part.part, len(p.part.concepts), p.tagged_concepts, p.items]
            for p in corpus.lexicon
        ]
        columns = [text("category"), text("part"), *map(Column, ("concepts", "tagged", "items"))]
        tables.append(Table(columns, parts, "The vocabulary in the tags"))
    proposals = _tag_table(corpus.proposals, "class")
    tables.append(replace(proposals.first(top), title="Tags that could become concepts"))
    if corpus.unknown:
        unknown = _tag_table(corpus.unknown)
        tables.append(replace(unknown.first(top), title="Tags that WordNet does not know"))
    return Document(corpus.to_dict, tables, corpus.notes, machine=proposals)


def _tag_table(tags: Sequence[TagCount], kind: str = "") -> Table:
    columns = [Column("tag", numeric=False), Column("items")]
    if not kind:
        return Table(columns, [[t.tag, t.items] for t in tags])
    return Table([*columns, Column(kind, numeric=False)], [[t.tag, t.items, t.kind] for t in tags])
