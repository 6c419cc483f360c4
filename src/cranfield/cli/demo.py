"""`cranfield demo`: the collection that ships with the package, evaluated."""

from __future__ import annotations

import argparse
import csv
import os
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from cranfield.agreement.assess import assess_agreement
from cranfield.cli._common import Parser, emit
from cranfield.data.alignment import align
from cranfield.data.collection import Collection
from cranfield.data.labels import DEFAULT_THRESHOLD
from cranfield.errors import InputError, os_message
from cranfield.evaluation.labels import evaluate_labels, gather
from cranfield.evaluation.ranked import evaluate
from cranfield.evaluation.scores import Scores
from cranfield.io import read_qrels
from cranfield.io.collection import read_collection
from cranfield.io.files import write_whole
from cranfield.io.judgement_log import read_judgement_log
from cranfield.io.labels import read_labels
from cranfield.io.ontology import read_ontology
from cranfield.report.document import Column, Document, Table
from cranfield.report.drilldown import picture_sheet
from cranfield.report.page import report_page
from cranfield.report.parts import annotation_section, retrieval_section
from cranfield.report.sections import Section, table_section
from cranfield.report.tables.scores import leaderboard

SAMPLE = Path(__file__).resolve().parents[1] / "samples" / "digits"
MEASURES = "AP nDCG@10 RR P@10 R@100 Bpref Judged@10"
LABEL_MEASURES = "AP.concept F.concept F.example HammingLoss OS"
# What to try next: commands that work as they stand, one after the other.
NEXT = (
    ("the files, to play with", "cranfield demo --copy digits"),
    (
        "which differences are real?",
        "cranfield compare digits/qrels.txt.gz digits/runs/*.run.gz -m 'AP nDCG@10' "
        "--baseline pixels",
    ),
    (
        "how far can ties move a mean?",
        "cranfield eval digits/qrels.txt.gz digits/runs/bits.run.gz -m 'AP P@10' --tie-range",
    ),
    (
        "which concepts are hard?",
        "cranfield label digits/truth.csv digits/labels/*.csv.gz -m 'AP.concept F.concept' "
        "--per-concept",
    ),
    (
        "can chance win?",
        "cranfield lab random --truth digits/truth.csv digits/labels/* --ontology "
        "digits/ontology.csv --rules digits/rules.toml -m 'F.example OS HS AP.concept'",
    ),
    (
        "whose judgements should not count?",
        "cranfield agreement digits/judgement-log.csv.gz --quality",
    ),
    ("what does a number mean?", "cranfield measures nDCG"),
)


def make_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="cranfield demo",
        description="Evaluate the collection that ships with the package, print the tables and "
        "write a report that opens in a browser.",
    )
    parser.add_argument(
        "-o",
        "--output",
        default="demo-report.html",
        metavar="FILE",
        help="where to write the report (default: demo-report.html)",
    )
    instead = parser.add_mutually_exclusive_group()
    instead.add_argument(
        "--folder", action="store_true", help="only print the folder of the collection"
    )
    instead.add_argument(
        "--copy", metavar="DIR", help="only copy the collection into a new folder, to play with"
    )
    return parser


def main(argv: Sequence[str]) -> int:
    args = make_parser().parse_args(argv)
    if args.folder:
        sys.stdout.write(f"{SAMPLE}\n")
    elif args.copy is not None:
        copy(Path(args.copy))
        sys.stdout.write(f"The collection is in {args.copy}; its SOURCES.md tells what it is.\n")
    else:
        collection = read_collection(SAMPLE)
        parts = [retrieval(collection), annotation(collection), agreement(collection)]
        write_report(parts, collection, args.output)
        sys.stdout.write(next_steps(args.output))
    return 0


def retrieval(collection: Collection) -> Section:
    """Evaluate the ranked runs and print their leaderboard."""
    judgements = read_qrels(collection.need("judgements"))
    size = collection.size
    scores = evaluate(judgements, collection.runs, MEASURES, collection_size=size)
    board = leaderboard(scores)
    _section(
        f"{collection.title}: find the images that show what an image shows\n"
        f"{collection.size:,} images, {len(scores.units['topic'])} topics, "
        f"{len(scores.runs)} systems",
        board,
        winners(scores),
    )
    return retrieval_section(
        scores,
        judgements,
        collection.runs,
        title="Retrieval: images that show the same digit",
        tables=[board],
        options={"collection_size": size},
        jobs=os.cpu_count() or 1,
    )


def annotation(collection: Collection) -> Section:
    """Evaluate the runs that assign concepts and print their leaderboard."""
    truth = read_labels(collection.need("truth"))
    runs = [
        read_labels(path, concepts=truth.concepts).with_threshold(DEFAULT_THRESHOLD)
        for path in collection.label_runs
    ]
    ontology = read_ontology(collection.need("ontology"), rules=collection.rules)
    scores = evaluate_labels(truth, runs, LABEL_MEASURES, ontology=ontology)
    board = leaderboard(scores)
    _section(
        "Annotation: which concepts does an image have?\n"
        f"{len(truth.items)} images, {len(truth.concepts)} concepts, {len(runs)} classifiers",
        board,
        "timid ranks as well as logistic (MAP), but decides too late to be of use (F).",
    )
    return annotation_section(
        scores,
        truth,
        (align(run, truth).run for run in runs),
        gather(truth, ontology=ontology),
        title="Annotation: the concepts of an image",
        tables=[board],
        jobs=os.cpu_count() or 1,
    )


def agreement(collection: Collection) -> Section:
    """Print how far the simulated annotators agree with their majority."""
    log = read_judgement_log(collection.need("judgement_log"))
    found = assess_agreement(log)
    kappa = found.overall.values["fleiss"]
    rows = [(a.annotator, a.judgements, a.accuracy_to_majority) for a in found.annotators]
    columns = [
        Column("annotator", numeric=False),
        Column("judgements"),
        Column("accuracy_to_majority", heading="accuracy to majority"),
    ]
    table = Table(columns, rows)
    size = f"{len(log.items)} images, {len(log.annotators)} annotators (simulated)"
    remark = f"Fleiss' kappa of all of them: {kappa:.4f}"
    _section(f"Agreement: whom can you trust?\n{size}", table, remark)
    shown = replace(table, title=f"{size}. Their accuracy is to their majority.")
    return table_section("Agreement: whom can you trust?", [shown], [remark])


def _section(heading: str, table: Table, remark: str) -> None:
    sys.stdout.write(f"{heading}\n\n")
    to_screen = argparse.Namespace(quiet=True, output=None, format="table")
    emit(Document({}, [table]), to_screen)
    sys.stdout.write(f"{remark}\n\n")


def winners(scores: Scores) -> str:
    """Which run is best under which measures, in a sentence."""
    led: dict[str, list[str]] = {}
    for m in scores.measures:
        if m.higher_is_better is not None:
            sign = 1 if m.higher_is_better else -1
            best = scores.runs[int((sign * scores.overall[m]).argmax())]
            led.setdefault(best, []).append(m.mean_label)
    parts = [f"{run} by {', '.join(names)}" for run, names in led.items()]
    if len(parts) == 1:
        return f"Best is {parts[0]}."
    return f"Which system is best depends on the measure: {'; '.join(parts)}."


def write_report(parts: Sequence[Section], collection: Collection, output: str) -> None:
    """One page with all parts and the images of the collection."""
    images = None
    if collection.images is not None:
        with collection.need("topics").open(newline="") as lines:
            shown = {row["topic"]: row["item"] for row in csv.DictReader(lines)}
        images = picture_sheet(collection.images, shown)
    page = report_page(f"{collection.title}: a Cranfield report", parts, images=images)
    write_whole(Path(output), page.encode())


def next_steps(output: str) -> str:
    lines = [f"The report is in {output}. Try next:\n"]
    lines += [f"\n  # {what}\n  {command}\n" for what, command in NEXT]
    return "".join(lines)


def copy(target: Path) -> None:
    """Copy the collection to a folder that does not exist yet, whole or not at all."""
    if target.exists():
        raise InputError.single(
            str(target), "is there already; give the name of a folder that is not"
        )
    try:
        with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as draft:
            made = Path(draft) / target.name
            made.mkdir()
            # Only the contents: an installed package may be read-only, a copy must not be.
            for path in sorted(SAMPLE.rglob("*")):
                to = made / path.relative_to(SAMPLE)
                if path.is_dir():
                    to.mkdir()
                else:
                    shutil.copyfile(path, to)
            made.rename(target)
    except OSError as error:
        raise InputError.single(str(target), f"cannot be written: {os_message(error)}") from None
