"""`cranfield measures`: the catalogue, or all about one measure."""

from __future__ import annotations

import argparse
import textwrap
from collections.abc import Sequence
from typing import Any

from cranfield._version import __version__
from cranfield.cli._common import Parser, add_output_options, emit
from cranfield.measures import REGISTRY, SETS, Measure, measure
from cranfield.measures.labels.registry import LABEL_SETS
from cranfield.report.document import Cell, Column, Document, Table
from cranfield.report.worked import worked_example
from cranfield.sources import REFERENCES

DIRECTION = {True: "higher is better", False: "lower is better", None: "neither"}


def make_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="cranfield measures",
        description="List all measures, or tell all about one: formula, source, range, "
        "direction, what it needs, an example.",
    )
    parser.add_argument(
        "name", nargs="?", metavar="NAME", help="a measure, such as nDCG or 'nDCG@10'"
    )
    add_output_options(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    args = make_parser().parse_args(argv)
    emit(_catalogue() if args.name is None else _one(args.name), args)
    return 0


def _catalogue() -> Document:
    columns = [Column(n, numeric=False) for n in ("name", "mean", "what it is", "range", "best")]
    tables = []
    for family in dict.fromkeys(m.family for m in REGISTRY.values()):
        rows: list[list[Cell]] = [
            [
                signature(m),
                m.mean_name or m.name,
                m.title,
                show_range(m),
                {True: "high", False: "low", None: ""}[m.higher_is_better],
            ]
            for m in REGISTRY.values()
            if m.family == family
        ]
        tables.append(Table(columns, rows, family[:1].upper() + family[1:]))
    sets: list[list[Cell]] = [[name, " ".join(members)] for name, members in all_sets().items()]
    for row in sets:
        row[1] = textwrap.shorten(str(row[1]), 90, placeholder=" ...")
    tables.append(Table([Column(c, numeric=False) for c in ("set", "members")], sets, "Sets"))
    payload = {
        "cranfield": __version__,
        "command": "measures",
        "measures": [describe(m) for m in REGISTRY.values()],
        "sets": {name: list(members) for name, members in all_sets().items()},
    }
    every = [row for table in tables[:-1] for row in table.rows]
    return Document(payload, tables, machine=Table(columns, every))


def _one(name: str) -> Document:
    chosen = REGISTRY.get(name) or measure(name)
    facts = describe(chosen)
    rows: list[list[Cell]] = []
    for key, value in facts.items():
        if key in ("params", "higher_is_better") or value in ("", []):
            continue
        rows += _wrapped(
            key.replace("_", " "), ", ".join(value) if isinstance(value, list) else str(value)
        )
    for param, about in facts["params"].items():
        rows += _wrapped("parameter", f"{param}={about['default']!r}: {about['doc']}")
    worked = worked_example(chosen)
    if worked is not None:
        facts["worked_example"] = {"given": worked.given, "values": worked.values}
        rows += _wrapped("worked example", worked.given)
        rows.extend(["", f"{name} = {value:.6f}"] for name, value in worked.values.items())
    columns = [Column("measure", numeric=False), Column(str(chosen), numeric=False)]
    payload = {"cranfield": __version__, "command": "measures", "measures": [facts]}
    return Document(payload, [Table(columns, rows)])


def _wrapped(key: str, text: str) -> list[list[Cell]]:
    lines = textwrap.wrap(text, 76) or [""]
    return [["" if i else key, line] for i, line in enumerate(lines)]


def all_sets() -> dict[str, tuple[str, ...]]:
    """The sets of ranked measures and of measures of annotation; both have one called `all`."""
    ranked = {name: members for name, members in SETS.items() if name != "all"}
    annotation = {name: members for name, members in LABEL_SETS.items() if name != "all"}
    return ranked | annotation | {"all": SETS["all"], "all (label)": LABEL_SETS["all"]}


def signature(m: Measure) -> str:
    """The name with its cutoff: P@k, iP@r, nDCG[@k]."""
    cut = {"none": "", "optional": "[@k]", "required": "@k", "recall": "@r"}[m.cutoff]
    stem, dot, direction = m.name.partition(".")
    return f"{stem}{cut}{dot}{direction}"


def show_range(m: Measure) -> str:
    return "[" + ", ".join(f"{end:g}" for end in m.range) + "]"


def describe(m: Measure) -> dict[str, Any]:
    """All that a declaration says, as plain data."""
    reference = REFERENCES.get(m.source.key)
    return {
        "name": str(m),
        "mean_name": m.mean_label,
        "title": m.title,
        "family": m.family,
        "summary": m.summary,
        "formula": m.formula,
        "source": str(reference) if reference else m.source.key,
        "equations": m.source.equations,
        "deviation": m.source.deviation,
        "range": show_range(m),
        "direction": DIRECTION[m.higher_is_better],
        "higher_is_better": m.higher_is_better,
        "average": m.averaging,
        "needs": sorted(m.needs),
        "ties": m.ties,
        "missing": m.missing,
        "undefined": m.undefined,
        "example": m.example,
        "trec_eval": m.trec_name,
        "params": {n: {"default": p.default, "doc": p.doc} for n, p in m.params.items()},
    }
