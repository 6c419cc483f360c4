"""`cranfield label`: runs that annotate items with concepts."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
from pathlib import Path

from cranfield._version import __version__
from cranfield.cli._common import Parser, Watch, add_jobs_option, add_output_options, emit
from cranfield.data.labels import DEFAULT_THRESHOLD, LabelMatrix, Threshold
from cranfield.data.ontology import Ontology
from cranfield.errors import UsageError
from cranfield.evaluate_labels import (
    check_needs,
    checked_truth,
    evaluate_labels,
    gather,
    prepared,
)
from cranfield.explain_labels import Derivation, ItemExplanation, explain_item
from cranfield.io.files import run_name
from cranfield.io.labels import read_concepts, read_labels, read_threshold
from cranfield.io.ontology import read_ontology, read_rules
from cranfield.measures.label_registry import LABEL_SETS, parse_label_measures, without_needs
from cranfield.report.document import Cell, Column, Document, Table
from cranfield.report.scores import leaderboard, per_unit
from cranfield.scores import Scores

DEFAULT_MEASURES = "AP.concept F.concept F.example HammingLoss"
DEFAULT_WITH_COSTS = "AP.concept F.concept F.example OS"


def make_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="cranfield label",
        description="Evaluate runs that annotate items with concepts.",
        epilog="Files: ImageCLEF text (item, then a number per concept; 2010: 0/1 rows after the "
        "confidence rows), .csv or .tsv (wide, or item,concept,value), .parquet, .npz; each may "
        "be .gz or .zst.",
    )
    parser.add_argument("truth", help="the true concepts of the items")
    parser.add_argument("runs", nargs="+", metavar="run", help="one or more runs")
    parser.add_argument(
        "-m", "--measures", metavar="NAMES",
        help=f"measures or sets of them: {', '.join(LABEL_SETS)} (default: {DEFAULT_MEASURES}; "
        "OS with an ontology or cost map)",
    )  # fmt: skip
    known = parser.add_argument_group("what is known of the concepts")
    known.add_argument(
        "--ontology", metavar="NAME|FILE",
        help="pto-2009, pto-2010, pto-2011 (with -listed: the paths to the letter), OWL, SKOS, or "
        "CSV concept,path",
    )  # fmt: skip
    known.add_argument("--rules", metavar="FILE", help="TOML with more rules")
    known.add_argument(
        "--costmap", metavar="[NAME=]FILE", action="append", default=[],
        help="costs of confusing concepts, square CSV; with a name for OS(cost='NAME'); repeatable",
    )  # fmt: skip
    known.add_argument("--agreement", metavar="FILE", help="CSV concept,agreement for OS and HS")
    known.add_argument(
        "--concepts", metavar="FILE",
        help="names for the columns of files without names, one per line",
    )  # fmt: skip
    parser.add_argument(
        "--threshold", metavar="[RUN=]X|FILE", action="append", default=[],
        help="confidence from which a concept counts as predicted: a number, or a file with one "
        f"per concept (default: {DEFAULT_THRESHOLD}; a run's own 0/1 rows come first); repeatable",
    )  # fmt: skip
    parser.add_argument("--per-item", action="store_true", help="also the values of each item")
    parser.add_argument(
        "--per-concept", action="store_true", help="also the values of each concept"
    )
    parser.add_argument(
        "--explain", metavar="ITEM", help="instead, how the scores of one item come about"
    )
    add_jobs_option(parser)
    add_output_options(parser)
    return parser


def main(argv: Sequence[str]) -> int:
    args = make_parser().parse_args(argv)
    names = [run_name(path) for path in args.runs]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"two runs are named {name!r}; a run is named by its file")
    done: list[str] = []
    with Watch("evaluating", lambda: len(done) / len(names), quiet=args.quiet) as watch:
        truth, ontology = _truth(args)
        maps = dict(_named(text) for text in args.costmap)
        measures, dropped = _measures(args, ontology, bool(maps))
        if args.explain is not None:
            document = _explain(args, truth, ontology, maps, measures)
        else:
            scores = evaluate_labels(
                truth, _runs(args), measures, ontology=ontology, costmap=maps,
                agreement=args.agreement, keep=args.per_item or args.per_concept,
                jobs=args.jobs, on_run=done.append,
            )  # fmt: skip
            document = _document(scores, args)
    left_out = (
        [f"left out of 'all', for want of --ontology or --costmap: {', '.join(dropped)}"]
        if dropped
        else []
    )
    warnings = [*dict.fromkeys(watch.messages), *left_out]
    emit(Document(document.payload, document.tables, warnings, document.machine), args)
    return 0


def _truth(args: argparse.Namespace) -> tuple[LabelMatrix, Ontology | None]:
    truth = read_labels(args.truth, concepts=_concepts(args))
    if args.ontology is not None:
        ontology = read_ontology(args.ontology, rules=args.rules)
        return checked_truth(truth, ontology), ontology
    if args.rules is None:
        return checked_truth(truth, None), None
    # Rules without a hierarchy: every concept hangs on the root.
    flat = ((c, c.replace(".", "_")) for c in truth.concepts)
    return truth, Ontology.from_paths(flat, rules=read_rules(args.rules), name=args.rules)


def _concepts(args: argparse.Namespace) -> tuple[str, ...] | None:
    return None if args.concepts is None else read_concepts(args.concepts)


def _runs(args: argparse.Namespace) -> Iterator[LabelMatrix]:
    """The runs, each read when it is its turn."""
    concepts = _concepts(args)
    common: Threshold = DEFAULT_THRESHOLD
    own: dict[str, Threshold] = {}
    for text in args.threshold:
        name, value = _named(text)
        if name:
            own[name] = read_threshold(value)
        else:
            common = read_threshold(value)
    unknown = own.keys() - {run_name(path) for path in args.runs}
    if unknown:
        raise UsageError(f"--threshold for {sorted(unknown)[0]!r}, which is not a run")
    for path in args.runs:
        run = read_labels(path, concepts=concepts)
        threshold = own.get(run.name, common)
        if not run.named and isinstance(threshold, dict):
            raise UsageError(
                f"{run.name}: thresholds by name for a run without names of concepts; name them "
                "with --concepts"
            )
        yield run.with_threshold(threshold)


def _named(text: str) -> tuple[str, str]:
    """NAME=VALUE as a pair; the name is '' without one, or where the whole is a file."""
    name, equals, value = text.partition("=")
    return (name, value) if equals and not Path(text).exists() else ("", text)


def _measures(
    args: argparse.Namespace, ontology: Ontology | None, maps: bool
) -> tuple[str, tuple[str, ...]]:
    lacking = set() if ontology is not None else {"hierarchy"}
    if ontology is None and not maps:
        lacking.add("costs")
    default = DEFAULT_MEASURES if "costs" in lacking else DEFAULT_WITH_COSTS
    wanted = default if args.measures is None else args.measures
    return without_needs(wanted, frozenset(lacking))


def _document(scores: Scores, args: argparse.Namespace) -> Document:
    per = [unit for unit in ("item", "concept") if getattr(args, f"per_{unit}")]
    more = [per_unit(scores, unit) for unit in per]
    return Document(
        scores.to_dict(per=per), [_with_density(scores), *more], (), more[0] if more else None
    )


def _with_density(scores: Scores) -> Table:
    """The leaderboard with the label cardinality and density of every run and of the truth."""
    board = leaderboard(scores)
    true = scores.facts["truth"]
    keys = ("label_cardinality", "label_density")
    rows: list[list[Cell]] = [
        [*row, *(facts[k] for k in keys)]
        for row, facts in zip(board.rows, scores.run_facts, strict=True)
    ]
    blank: list[Cell] = [None] * len(scores.measures)
    rows.append(["(truth)", *blank, true["items"], *(true[k] for k in keys)])
    columns = [
        *board.columns,
        Column("LabelCardinality", digits=2, heading="labels/item"),
        Column("LabelDensity", digits=3, heading="density"),
    ]
    return Table(columns, rows, board.title, board.notes)


def _explain(
    args: argparse.Namespace,
    truth: LabelMatrix,
    ontology: Ontology | None,
    maps: dict[str, str],
    names: str,
) -> Document:
    measures = parse_label_measures(names)
    knowledge = gather(truth, ontology=ontology, costmap=maps, agreement=args.agreement)
    check_needs(measures, knowledge)
    plans = {m: m.plan(m) for m in measures}
    found = []
    for run in _runs(args):
        aligned = prepared(run, truth, plans, knowledge)
        found.append(explain_item(args.explain, truth, aligned.run, measures, knowledge))
    tables = [table for one in found for table in _explanation_tables(one)]
    payload = {
        "cranfield": __version__,
        "command": "label",
        "explain": [one.to_dict() for one in found],
    }
    return Document(payload, tables)


def _explanation_tables(one: ItemExplanation) -> Iterator[Table]:
    union = [*one.truth, *(c for c in one.predicted if c not in one.truth)]
    reasons = {c: "; ".join(v.rule for v in one.broken if v.concept == c) for c in union}
    rows: list[list[Cell]] = []
    for concept in union:
        true, predicted = concept in one.truth, concept in one.predicted
        verdict = "right" if true and predicted else "missed" if true else "wrong"
        confidence = None if one.confidences is None else one.confidences[concept]
        rows.append([concept, "yes" if true else "", "yes" if predicted else "", confidence,
                     verdict, reasons[concept]])  # fmt: skip
    columns = [
        Column(n, numeric=n == "confidence")
        for n in ("concept", "true", "predicted", "confidence", "verdict", "broken rule")
    ]
    yield Table(columns, rows, f"{one.item} in {one.run}")  # fmt: skip
    for derivation in one.derivations:
        yield _derivation_table(derivation)
    if one.values:
        values: list[list[Cell]] = [[name, value] for name, value in one.values.items()]
        yield Table(
            [Column("measure", numeric=False), Column("value")], values, "Values of this item"
        )


def _derivation_table(derivation: Derivation) -> Table:
    ranked = derivation.measure.name == "SRP"
    columns = [
        Column("label", numeric=False),
        Column("role", numeric=False),
        Column("assigned to" if ranked else "nearest", numeric=False),
        Column("cost"),
        *([] if ranked else [Column("agreement")]),
        Column("relatedness" if ranked else "pays"),
    ]
    rows: list[list[Cell]] = [
        [s.label, s.role, s.partner, s.cost, *([] if ranked else [s.agreement]), s.counts]
        for s in derivation.steps
    ]
    return Table(columns, rows, str(derivation.measure), [derivation.arithmetic])
