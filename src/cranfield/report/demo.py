"""The collection that ships with the package, evaluated: tables to read, and a report."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from cranfield.agreement.agreement import assess_agreement
from cranfield.data.collection import Collection
from cranfield.evaluation.scores import Scores
from cranfield.io.collection import read_collection
from cranfield.io.judgement_log import read_judgement_log
from cranfield.io.samples import SAMPLE
from cranfield.options import DEFAULT_THRESHOLD
from cranfield.report.cases import label_case, ranked_case
from cranfield.report.document import Column, Table
from cranfield.report.gallery import picture_sheet
from cranfield.report.html_report import case_section, page_about
from cranfield.report.page import report_page
from cranfield.report.sections import Section, table_section
from cranfield.report.tables.evaluation import leaderboard

MEASURES = "AP nDCG@10 RR P@10 R@100 Bpref Judged@10"
LABEL_MEASURES = "AP.concept F.concept F.example HammingLoss OS"
# What to try next: commands that work as they stand, one after the other.
NEXT_COMMANDS = (
    ("the files, to play with", "cranfield demo --copy digits"),
    (
        "which differences are real?",
        "cranfield compare digits/qrels.txt.gz digits/runs/*.run.gz -m 'AP nDCG@10' "
        "--baseline pixels --design digits/design.csv",
    ),
    (
        "how far can ties move a mean?",
        "cranfield eval digits/qrels.txt.gz digits/runs/bits.run.gz -m 'AP P@10' --tie-range",
    ),
    (
        "which concepts are hard?",
        "cranfield eval labels digits/truth.csv digits/labels/*.csv.gz -m 'AP.concept F.concept' "
        "--per-concept",
    ),
    (
        "can chance win?",
        "cranfield lab random --truth digits/truth.csv digits/labels/* --ontology "
        "digits/ontology.csv --rules digits/rules.toml -m 'F.example OS HS AP.concept'",
    ),
    (
        "whose judgements should not count?",
        "cranfield truth agreement digits/judgement-log.csv.gz --quality",
    ),
    ("what does a number mean?", "cranfield measures nDCG"),
)


@dataclass(frozen=True)
class Part:
    """A part of the demonstration: what it asks, its table, what to see in it, its section."""

    heading: str
    table: Table
    remark: str
    section: Section


def demonstrate(folder: str | Path = SAMPLE) -> tuple[list[Part], str]:
    """The parts of the demonstration on a collection with all of them, and the report on it."""
    collection = read_collection(folder)
    parts = [_retrieval(collection), _annotation(collection), _agreement(collection)]
    return parts, _page([part.section for part in parts], collection)


def _retrieval(collection: Collection) -> Part:
    """The ranked runs and their leaderboard."""
    case = ranked_case(
        collection.need("judgements"), collection.runs, MEASURES, collection_size=collection.size
    )
    scores = case.scores
    board = leaderboard(scores)
    return Part(
        f"{collection.title}: find the images that show what an image shows\n"
        f"{collection.size:,} images, {len(scores.units['topic'])} topics, "
        f"{len(scores.runs)} systems",
        board,
        winners(scores),
        case_section(case, title="Retrieval: images that show the same digit", tables=[board]),
    )


def _annotation(collection: Collection) -> Part:
    """The runs that assign concepts and their leaderboard."""
    case = label_case(
        collection.need("truth"),
        collection.label_runs,
        LABEL_MEASURES,
        ontology=collection.need("ontology"),
        rules=collection.rules,
        threshold=DEFAULT_THRESHOLD,
    )
    scores = case.scores
    board = leaderboard(scores)
    items, concepts = (len(scores.units[unit]) for unit in ("item", "concept"))
    return Part(
        "Annotation: which concepts does an image have?\n"
        f"{items} images, {concepts} concepts, {len(scores.runs)} classifiers",
        board,
        "timid ranks as well as logistic (MAP), but decides too late to be of use (F).",
        case_section(case, title="Annotation: the concepts of an image", tables=[board]),
    )


def _agreement(collection: Collection) -> Part:
    """How far the simulated annotators agree with their majority."""
    log = read_judgement_log(collection.need("judgement_log"))
    agreement = assess_agreement(log)
    kappa = agreement.overall.values["fleiss"]
    rows = [(a.annotator, a.judgements, a.accuracy_to_majority) for a in agreement.annotators]
    columns = [
        Column("annotator", numeric=False),
        Column("judgements"),
        Column("accuracy_to_majority", heading="accuracy to majority"),
    ]
    table = Table(columns, rows)
    size = f"{len(log.items)} images, {len(log.annotators)} annotators (simulated)"
    remark = f"Fleiss' kappa of all of them: {kappa:.4f}"
    titled = replace(table, title=f"{size}. Their accuracy is to their majority.")
    section = table_section("Agreement: whom can you trust?", [titled], [remark])
    return Part(f"Agreement: whom can you trust?\n{size}", table, remark, section)


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


def _page(parts: Sequence[Section], collection: Collection) -> str:
    """One page with all parts and the images of the collection."""
    images = None
    if collection.images is not None:
        with collection.need("topics").open(newline="") as lines:
            topic_items = {row["topic"]: row["item"] for row in csv.DictReader(lines)}
        images = picture_sheet(collection.images, topic_items)
    title, about = f"{collection.title}: a Cranfield report", page_about("cranfield demo")
    return report_page(title, parts, images=images, about=about)
