"""`cranfield demo`: the collection that ships with the package, evaluated."""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from cranfield.cli._common import Parser, emit
from cranfield.data.collection import Collection
from cranfield.errors import InputError
from cranfield.evaluation import evaluate
from cranfield.io.collection import read_collection
from cranfield.io.files import os_message
from cranfield.report.document import Document
from cranfield.report.scores import leaderboard, per_unit
from cranfield.scores import Scores

SAMPLE = Path(__file__).resolve().parents[1] / "samples" / "digits"
MEASURES = "AP nDCG@10 RR P@10 R@100 Bpref Judged@10"
# What to try next: commands that work as they stand, one after the other.
NEXT = (
    ("the files, to play with", "cranfield demo --copy digits"),
    (
        "every topic",
        "cranfield eval digits/qrels.txt.gz digits/runs/*.run.gz -m 'AP nDCG@10' --per-topic",
    ),
    (
        "how far ties can move a mean",
        "cranfield eval digits/qrels.txt.gz digits/runs/bits.run.gz -m 'AP P@10' --tie-range",
    ),
    ("what a number means", "cranfield measures nDCG"),
)


def make_parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="cranfield demo",
        description="Evaluate the collection that ships with the package, print the table and "
        "write a report that opens in a browser.",
    )
    parser.add_argument(
        "-o", "--output", default="demo-report.html", metavar="FILE",
        help="where to write the report (default: demo-report.html)",
    )  # fmt: skip
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
        document = retrieval(collection)
        write_report(document, args.output)
        sys.stdout.write(next_steps(args.output))
    return 0


def retrieval(collection: Collection) -> Document:
    """Evaluate the ranked runs and print their leaderboard."""
    scores = evaluate(
        collection.judgements, collection.runs, MEASURES, collection_size=collection.size
    )
    topics = len(scores.units["topic"])
    sys.stdout.write(
        f"{collection.title}: find the images that show what an image shows\n"
        f"{collection.size:,} images, {topics} topics, {len(scores.runs)} systems\n\n"
    )
    board = leaderboard(scores)
    payload = scores.to_dict(per=("topic",))
    emit(Document(payload, [board]), _to("table", None))
    sys.stdout.write(f"{winners(scores)}\n")
    return Document(payload, [board, per_unit(scores, "topic")], scores.notes)


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


def write_report(document: Document, output: str) -> None:
    emit(document, _to("html", output))


def next_steps(output: str) -> str:
    lines = [f"\nThe report is in {output}. Try next:\n"]
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


def _to(form: str, output: str | None) -> argparse.Namespace:
    return argparse.Namespace(quiet=True, output=output, format=form)
