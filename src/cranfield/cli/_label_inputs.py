"""What commands on annotation share: options on concepts, and reading truth and runs."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from cranfield.cli._common import check_standard_input
from cranfield.errors import UsageError
from cranfield.io.files import run_name

if TYPE_CHECKING:
    from cranfield.data.labels import LabelMatrix, Threshold
    from cranfield.data.ontology import Ontology
    from cranfield.evaluation.scores import Scores

DEFAULT_MEASURES = "AP.concept F.concept F.example HammingLoss"
DEFAULT_WITH_COSTS = "AP.concept F.concept F.example OS"


def add_label_options(parser: argparse.ArgumentParser) -> None:
    """Everything beside truth and runs that measures of annotation may need."""
    from cranfield.data.labels import DEFAULT_THRESHOLD

    known = parser.add_argument_group("what is known of the concepts")
    known.add_argument(
        "--ontology",
        metavar="NAME|FILE",
        help="pto-2009, pto-2010, pto-2011 (with -listed: the paths to the letter), OWL, SKOS, or "
        "CSV concept,path",
    )
    known.add_argument("--rules", metavar="FILE", help="TOML with more rules")
    known.add_argument(
        "--costmap",
        metavar="[NAME=]FILE",
        action="append",
        default=[],
        help="costs of confusing concepts, square CSV; with a name for OS(cost='NAME'); repeatable",
    )
    known.add_argument("--agreement", metavar="FILE", help="CSV concept,agreement for OS and HS")
    known.add_argument(
        "--concepts",
        metavar="FILE",
        help="all concepts, one per line: names the columns of files without names, and those of "
        "a long truth that no item has",
    )
    known.add_argument(
        "--threshold",
        metavar="[RUN=]X|FILE",
        action="append",
        default=[],
        help="confidence from which a concept counts as predicted: a number, or a file with one "
        f"per concept (default: {DEFAULT_THRESHOLD}; a run's own 0/1 rows come first); repeatable",
    )


def label_scores(
    args: argparse.Namespace, *, keep: bool, on_run: Callable[[str], None] | None = None
) -> tuple[Scores, list[str]]:
    """The scores of `args.runs` against `args.truth`, and what there is to warn of."""
    from cranfield.evaluation.labels import evaluate_labels

    check_names(args)
    truth, ontology = read_truth(args)
    maps = read_maps(args)
    measures, dropped = chosen_measures(args, ontology, bool(maps))
    scores = evaluate_labels(
        truth,
        read_runs(args),
        measures,
        ontology=ontology,
        costmap=maps,
        agreement=args.agreement,
        keep=keep,
        jobs=args.jobs,
        on_run=on_run,
    )
    return scores, dropped_note(dropped)


def check_names(args: argparse.Namespace) -> None:
    check_standard_input(args)
    names = [run_name(path) for path in args.runs]
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"two runs are named {name!r}; a run is named by its file")


def dropped_note(dropped: tuple[str, ...]) -> list[str]:
    if not dropped:
        return []
    return [f"left out of 'all', for want of --ontology or --costmap: {', '.join(dropped)}"]


def read_truth(args: argparse.Namespace) -> tuple[LabelMatrix, Ontology | None]:
    from cranfield.data.ontology import Ontology
    from cranfield.evaluation.labels import checked_truth
    from cranfield.io.labels import read_labels
    from cranfield.io.ontology import read_ontology, read_rules

    truth = read_labels(args.truth, concepts=_concepts(args))
    if args.ontology is not None:
        ontology = read_ontology(args.ontology, rules=args.rules)
        return checked_truth(truth, ontology), ontology
    if args.rules is None:
        return checked_truth(truth, None), None
    # Rules without a hierarchy: every concept hangs on the root.
    flat = ((c, c.replace(".", "_")) for c in truth.concepts)
    rules = Ontology.from_paths(flat, rules=read_rules(args.rules), name=args.rules)
    return checked_truth(truth, rules), rules


def _concepts(args: argparse.Namespace) -> tuple[str, ...] | None:
    from cranfield.io.labels import read_concepts

    # Asked for by the truth and by the runs, and a pipe is read once.
    if isinstance(args.concepts, str):
        args.concepts = read_concepts(args.concepts)
    names: tuple[str, ...] | None = args.concepts
    return names


def read_runs(args: argparse.Namespace) -> Iterator[LabelMatrix]:
    """The runs, each read when it is its turn."""
    from cranfield.io.labels import read_labels, read_threshold

    concepts = _concepts(args)
    common: Threshold | None = None
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
        run = read_labels(path)
        if concepts is not None and not run.named:
            run = run.renamed(concepts)
        threshold = own.get(run.name, common)
        if not run.named and isinstance(threshold, dict):
            raise UsageError(
                f"{run.name}: thresholds by name for a run without names of concepts; name them "
                "with --concepts"
            )
        yield run if threshold is None else run.with_threshold(threshold)


def read_maps(args: argparse.Namespace) -> dict[str, str]:
    """The files of the cost maps by name; the default map has the name ''."""
    return named_maps(args.costmap)


def named_maps(texts: Sequence[str]) -> dict[str, str]:
    """The files behind NAME=FILE by name; one without a name has the name ''."""
    maps: dict[str, str] = {}
    for text in texts:
        name, file = _named(text)
        if name in maps:
            what = f"of the name {name!r}" if name else "without a name"
            raise UsageError(
                f"--costmap: {maps[name]} and {file} are both {what}; name them apart: NAME=FILE"
            )
        maps[name] = file
    return maps


def _named(text: str) -> tuple[str, str]:
    """NAME=VALUE as a pair; the name is '' without one, or where the whole is a file."""
    name, equals, value = text.partition("=")
    return (name, value) if equals and not Path(text).exists() else ("", text)


def chosen_measures(
    args: argparse.Namespace, ontology: Ontology | None, maps: bool
) -> tuple[str, tuple[str, ...]]:
    """The names of the measures asked for, and those left out of a set for want of knowledge."""
    from cranfield.measures.labels.registry import without_needs

    lacking = set() if ontology is not None else {"hierarchy"}
    if ontology is None and not maps:
        lacking.add("costs")
    default = DEFAULT_MEASURES if "costs" in lacking else DEFAULT_WITH_COSTS
    wanted = default if args.measures is None else args.measures
    return without_needs(wanted, frozenset(lacking))
