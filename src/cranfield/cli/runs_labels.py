"""`cranfield runs classify`, `calibrate` and `query`: runs of annotations."""

from __future__ import annotations

from dataclasses import replace

from cranfield.cli._common import (
    Arguments,
    Output,
    Parser,
    add,
    common,
    positive,
    run_target,
    target,
)
from cranfield.data.concept_query import READINGS
from cranfield.errors import UsageError
from cranfield.options import (
    CALIBRATION_UNITS,
    CALIBRATIONS,
    CLASSIFIERS,
    FUSIONS,
    LEARNED_THRESHOLDS,
    POSTPROCESSING,
)

CLASSIFY_DESCRIPTION = """\
Annotate items by what was learnt from others: --train takes vectors and, last, the
truth of their items; --apply the same kinds of vectors of the items to annotate."""


CLASSIFY_EPILOG = """\
prior gives every concept its share in training, random any confidence: what a run must
beat."""


def classify_parser() -> Parser:
    parser = Parser.of("runs classify", CLASSIFY_DESCRIPTION, CLASSIFY_EPILOG)
    add(parser, "--train FILE", "vectors ..., then the truth", nargs="+", required=True)
    add(parser, "--apply VECTORS", "vectors of other items", nargs="+", required=True)
    add(parser, "--method", "", CLASSIFIERS, "logistic")
    help_text = """of several kinds of vectors: put together before learning, or their confidences
    averaged"""
    add(parser, "--fusion", help_text, FUSIONS, "early")
    help_text = (
        "lift and lower confidences by the ontology's rules, or by co-occurrence in training"
    )
    add(parser, "--after", help_text, POSTPROCESSING)
    add(parser, "--ontology F", "for --after rules")
    add(parser, "--rules FILE", "more rules, as TOML")
    help_text = """0.5 for all, one for each concept (--thresholds writes them), or the decisions as
    labels beside the confidences"""
    add(parser, "--threshold", help_text, LEARNED_THRESHOLDS, "one")
    add(parser, "--thresholds FILE", "write CSV concept,threshold")
    add(parser, "--neighbours N", "for neighbours", positive, 10)
    common(parser, "seed")
    target(parser, "LABELS!: .csv, .npz or ImageCLEF text", "table")
    return parser


def classify(arguments: Arguments, output: Output) -> int:
    from cranfield.evaluation.baselines import annotate
    from cranfield.io.files import run_name
    from cranfield.io.labels import write_labels, write_thresholds

    *train, truth = arguments.pop("train")
    if not train:
        raise UsageError("--train takes one or more files of vectors, and the truth last")
    path, vectors, limits = str(output.path), arguments.pop("apply"), arguments.pop("thresholds")
    arguments |= {"seed": arguments.pop("rng"), "name": run_name(path)}
    with output.working("annotating") as progress:
        answer = annotate(train, truth, vectors, progress=progress, **arguments)
    write_labels(answer.labels, path)
    if limits:
        write_thresholds(answer.thresholds, limits)
    replace(output, path=None).show(answer)
    return 0


CALIBRATION_DESCRIPTION = """\
Make probabilities of a run's confidences. The curve is fitted on the items of
--on, which are left out of what is written, or on all folds but the one that an item is in: either
way the calibrated run can be evaluated on the same truth."""


def calibration_parser() -> Parser:
    parser = Parser.of("runs calibrate", CALIBRATION_DESCRIPTION)
    add(parser, "truth TRUTH", "the true concepts of the items; not all cells need be judged")
    add(parser, "run RUN", "confidences of concepts")
    help_text = """a monotonic step function; a logistic curve of the logit (Platt); the logit
    divided by one number"""
    add(parser, "--method", help_text, CALIBRATIONS, CALIBRATIONS[0])
    help_text = "one curve for all concepts, or one for each"
    add(parser, "--per", help_text, CALIBRATION_UNITS, CALIBRATION_UNITS[0])
    add(parser, "--on FILE", "items to fit on, one a line, or a collection's split")
    add(parser, "--folds N", "without --on: parts of the items", positive, 5)
    help_text = "the numbers of the run are in [0, 1], or scores of any size"
    add(parser, "--scores", help_text, ("confidence", "any"), "confidence")
    help_text = "what cells are that a long truth does not list"
    add(parser, "--unlisted", help_text, ("absent", "unjudged"))
    common(parser, "seed")
    target(parser, "LABELS!: .csv, .npz or ImageCLEF text", "table")
    return parser


def calibration(arguments: Arguments, output: Output) -> int:
    from cranfield.evaluation.calibration import calibrate
    from cranfield.io.files import run_name
    from cranfield.io.labels import write_labels

    path = str(output.path)
    with output.working("calibrating") as progress:
        answer = calibrate(name=run_name(path), progress=progress, **arguments)
    write_labels(answer.labels, path)
    replace(output, path=None).show(answer)
    return 0


QUERY_DESCRIPTION = """Rank the items of an annotation run by how far logical queries over concepts
hold for them, as a run that eval takes."""


QUERY_EXAMPLES = """\
A query: Sea AND NOT (Night OR Indoor), also with & | !; names with blanks in quotes.
QUERIES: CSV topic,query, or lines of a topic and its query."""


def query_parser() -> Parser:
    parser = Parser.of("runs query", QUERY_DESCRIPTION, QUERY_EXAMPLES)
    add(parser, "queries QUERIES", "topics and their expressions")
    add(parser, "labels LABELS", "confidences or labels of items")
    help_text = """fuzzy: least and largest confidence; probability: chances of independent
    concepts; overlap: how many of the query's concepts an item has; inclusion: whether it has them
    all"""
    add(parser, "--reading", help_text, READINGS, READINGS[0])
    help_text = "with --reading overlap: items that have at least K of the query's concepts"
    add(parser, "--min-terms K", help_text, positive)
    add(parser, "-k N", "items per topic (default: all)", positive)
    help_text = "LABELS is a truth: write the judgements that it implies here"
    add(parser, "--judgements FILE", help_text)
    run_target(parser, "the run", "the queries and their first items")
    return parser


def query(arguments: Arguments, output: Output) -> int:
    from cranfield.evaluation.concept_queries import query_concepts, write_concept_judgements

    judgements = arguments.pop("judgements")
    if judgements is not None:
        write_concept_judgements(arguments["queries"], arguments["labels"], judgements)
        return 0
    answer = query_concepts(name=output.name("") or None, **arguments)
    output.show_run(answer, answer.run)
    return 0


COMMANDS = {
    "classify": (classify_parser, classify),
    "calibrate": (calibration_parser, calibration),
    "query": (query_parser, query),
}
