"""`cranfield ontology`: check an ontology, or show what it says."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from typing import Any

from cranfield._version import __version__
from cranfield.cli._common import Parser, add_output_options, emit
from cranfield.data.ontology import Ontology
from cranfield.errors import UsageError, suggest
from cranfield.io.ontology import parse_ontology
from cranfield.report.document import Cell, Column, Document, Table

NEAREST = 10


def make_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="cranfield ontology",
        description="Check an ontology for cycles and contradictions, or show what it says.",
        epilog="SOURCE: pto-2009, pto-2010, pto-2011 (with -listed: the paths to the letter), "
        "OWL, RDF, SKOS, or CSV concept,path.",
    )
    actions = parser.add_subparsers(dest="action", required=True, metavar="check|show")
    check = actions.add_parser(
        "check",
        help="exit 1 when something is wrong with it",
        description="Look for cycles, names nobody knows and concepts that can never be assigned; "
        "exit 1 when there are any.",
    )
    show = actions.add_parser(
        "show",
        help="its tree, link costs and rules, or one concept",
        description="The tree of an ontology with its link costs and rules, or one concept.",
    )
    for one in (check, show):
        one.add_argument("source", metavar="SOURCE", help="a built-in name or a file")
        one.add_argument("--rules", metavar="FILE", help="TOML with more rules")
    show.add_argument("concept", nargs="?", metavar="CONCEPT", help="all about one concept")
    for one in (check, show):
        add_output_options(one)
    return parser


def main(argv: Sequence[str]) -> int:
    args = make_parser().parse_args(argv)
    ontology = parse_ontology(args.source, rules=args.rules)
    if args.action == "check":
        problems = ontology.problems()
        emit(_check(ontology, problems), args)
        return 1 if problems else 0
    ontology.checked()
    emit(_show(ontology) if args.concept is None else _concept(ontology, args.concept), args)
    return 0


def _summary(ontology: Ontology, action: str) -> dict[str, Any]:
    return {
        "cranfield": __version__,
        "command": f"ontology {action}",
        "ontology": ontology.name,
        "concepts": len(ontology.concepts),
        "categories": len(ontology.nodes) - len(ontology.concepts),
        "levels": 0 if ontology.cycle else ontology.levels,
        "rules": len(ontology.rules),
    }


def _check(ontology: Ontology, problems: list[str]) -> Document:
    facts = _summary(ontology, "check")
    said = ("ontology", "concepts", "categories", "levels", "rules")
    tables = [Table([Column(k, numeric=k != "ontology") for k in said], [[facts[k] for k in said]])]
    if problems:
        rows: list[list[Cell]] = [[text] for text in problems]
        tables.insert(0, Table([Column("problem", numeric=False)], rows))
        return Document(facts | {"problems": problems}, tables)
    sound = Table(tables[0].columns, tables[0].rows, notes=["no cycle and no contradiction"])
    return Document(facts | {"problems": []}, [sound])


def _rules(ontology: Ontology) -> list[list[Cell]]:
    rows: list[list[Cell]] = [
        [kind, ", ".join(members)] for kind, members in ontology.rules.groups()
    ]
    rows += [
        [f"{rule.concept} requires one of", ", ".join(rule.any_of)]
        for rule in ontology.rules.requires
    ]
    return rows


def _walk(ontology: Ontology, nodes: Sequence[int], depth: int) -> Iterator[tuple[int, int]]:
    for node in nodes:
        yield node, depth
        yield from _walk(ontology, ontology.children[node], depth + 1)


def _show(ontology: Ontology) -> Document:
    rows: list[list[Cell]] = []
    entries = []
    for node, depth in _walk(ontology, ontology.top, 0):
        concept = ontology.concept_at.get(node)
        shown = concept or ontology.nodes[node].rsplit(".", 1)[-1]
        cost = ontology.link_weight(node) / ontology.link_unit
        rows.append(["  " * depth + shown, "concept" if concept else "category", cost])
        entries.append(
            {
                "node": ontology.nodes[node],
                "concept": concept,
                "parents": [ontology.label(p) for p in ontology.parents[node]],
                "depth": ontology.depths[node],
                "link_cost": cost,
            }
        )
    facts = _summary(ontology, "show")
    title = (
        f"{ontology.name}: {facts['concepts']} concepts, {facts['categories']} categories, "
        f"{facts['levels']} levels"
    )
    tables = [
        Table(
            [Column("node", numeric=False), Column("kind", numeric=False), Column("link cost")],
            rows,
            title,
        )
    ]
    rules = _rules(ontology)
    if rules:
        tables.append(
            Table([Column("rule", numeric=False), Column("concepts", numeric=False)], rules)
        )
    listed = [{"rule": kind, "concepts": names} for kind, names in rules]
    return Document(facts | {"nodes": entries, "rule_list": listed}, tables)


def _concept(ontology: Ontology, concept: str) -> Document:
    if concept not in ontology.concept_nodes:
        raise UsageError(
            f"{ontology.name} has no concept {concept!r}.{suggest(concept, ontology.concepts)}"
        )
    node = ontology.concept_nodes[concept]
    costs = ontology.cost_map.costs[ontology.concepts.index(concept)]
    near = sorted(
        ((float(c), o) for o, c in zip(ontology.concepts, costs, strict=True) if o != concept)
    )
    facts: list[tuple[str, str]] = [
        ("node", ontology.nodes[node]),
        ("depth", str(ontology.depths[node])),
        ("needs its ancestors", ", ".join(ontology.ancestors(concept)) or "-"),
    ]
    facts += [
        ("excludes", words)
        for words, group in ontology.exclusive
        if any(concept in member for member in group)
    ]
    facts += [("rule", words) for words, need in ontology.requirements if need.concept == concept]
    rows: list[list[Cell]] = [list(pair) for pair in facts]
    nearest: list[list[Cell]] = [[other, cost] for cost, other in near[:NEAREST]]
    payload = {
        "cranfield": __version__,
        "command": "ontology show",
        "ontology": ontology.name,
        "concept": concept,
        "facts": [{"what": what, "value": value} for what, value in facts],
        "costs": {other: cost for cost, other in near},
    }
    return Document(
        payload,
        [
            Table([Column(concept, numeric=False), Column("", numeric=False)], rows),
            Table([Column("nearest concepts", numeric=False), Column("cost")], nearest),
        ],
    )
