"""`cranfield runs search`, `feedback` and `fuse`: vectors and runs to ranked runs."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from cranfield.cli._common import (
    Arguments,
    Output,
    Parser,
    add,
    common,
    executor,
    from_zero,
    measures,
    positive,
    run_target,
    target,
)
from cranfield.errors import UsageError
from cranfield.options import TEXT_LANGUAGES

NEAREST_DESCRIPTION = """Search vectors: for every query, the nearest items as a TREC run whose
scores are similarities in [0, 1]."""


NEAREST_EPILOG = """With several files of vectors, -o is a folder: a run for each, NAME.run.
cranfield descriptors lists the distances."""


FEEDBACK_DESCRIPTION = """Relevance feedback by Rocchio's formula: search, take what is relevant
among the first items of each topic, move the query there and search again. VECTORS may be of
pictures or of tags, as runs extract writes them."""


FEEDBACK_EPILOG = """residual: the items seen are taken out of both rankings and of the judgements;
frozen: they keep their ranks; whole: the new ranking as it is, in which items seen count as found
again. --format table shows the scores before and after with the gain and its interval."""


# Items of each topic on a page of pictures.
SHOWN = 10


def nearest_parser() -> Parser:
    parser = Parser.of("runs search", NEAREST_DESCRIPTION, NEAREST_EPILOG)
    add(parser, "vectors VECTORS+", ".npz of describe, or .npz, .npy, .parquet")
    help_text = "a folder of pictures, a file of vectors, or CSV topic,item (default: every item)"
    add(parser, "--queries Q", help_text)
    add(parser, "--items FILE", "ids for .npy, one a line")
    add(parser, "--distance NAME", "default: that of the descriptor, L2 for others")
    add(parser, "-k N", "items for each query (default: 1000; 10 with --format html)", positive)
    help_text = "with --distance overlap: items that have at least K of the query's terms"
    add(parser, "--min-terms K", help_text, positive)
    help_text = "leave the query itself in its ranking, where it is an item"
    add(parser, "--keep-query", help_text, bool)
    add(parser, "--pictures FOLDER", "with --format html: the pictures of the collection")
    add(parser, "--qrels FILE", "with --format html: mark what is relevant")
    executor(parser, "the queries are shared out there")
    common(parser, "jobs")
    target(parser, "RUN: write here, whole or not at all", "trec", ("trec", "json", "html"))
    return parser


def _folder_of(output: Output, files: int) -> Path | None:
    """The folder for the runs of several files, or none."""
    if output.path is None:
        if files > 1:
            raise UsageError("several files of vectors give several runs: name a folder with -o")
        return None
    path = Path(output.path)
    if files == 1 and not path.is_dir():
        return None
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{path}: cannot be used as a folder: {error.strerror}") from None
    return path


def nearest(arguments: Arguments, output: Output) -> int:
    from cranfield.features.search import DEFAULT_K, run_names, search

    paths, queries = arguments.pop("vectors"), arguments.pop("queries")
    pictures, qrels = arguments.pop("pictures"), arguments.pop("qrels")
    if output.form == "html" and pictures is None:
        raise UsageError("--format html shows pictures: name their folder with --pictures")
    arguments["k"] = arguments["k"] or (SHOWN if output.form == "html" else DEFAULT_K)
    folder = _folder_of(output, len(paths))
    ending = "run" if output.form == "trec" else output.form
    with output.working("searching") as progress:
        for number, (path, name) in enumerate(zip(paths, run_names(paths), strict=True)):
            step = progress.part(number / len(paths), (number + 1) / len(paths))
            answer = search(path, queries, progress=step, **arguments)
            place = output.path if folder is None else str(folder / f"{name}.{ending}")
            destination = replace(output, path=place)
            if output.form == "html":
                from cranfield.report.gallery import picture_page

                page = picture_page(answer, pictures, queries=queries, qrels=qrels)
                destination.data(page.encode(), f"{page.count(chr(10))} lines")
            elif output.form == "trec":
                destination.warn(answer.notes)
                destination.data(answer.to_bytes(place or "-"), answer.headline())
            else:
                destination.show(answer)
    return 0


def feedback_parser() -> Parser:
    parser = Parser.of("runs feedback", FEEDBACK_DESCRIPTION, FEEDBACK_EPILOG)
    add(parser, "collection VECTORS", ".npz of extract, or .npz, .npy, .parquet")
    add(parser, "--qrels FILE", "what is relevant", dest="judgements")
    help_text = "a folder of pictures, a file of vectors, or CSV topic,item (default: every item)"
    add(parser, "--queries Q", help_text)
    add(parser, "--items FILE", "ids for .npy, one a line")
    measures(parser, "measures of the gain", "AP")
    add(parser, "--alpha X", "the weight of the query", from_zero, 1.0)
    add(parser, "--beta X", "the weight of the relevant items' mean", from_zero, 0.75)
    add(
        parser,
        "--gamma X",
        "the weight of the other items' mean, which is taken off",
        from_zero,
        0.15,
    )
    add(parser, "--depth N", "how many items are looked at", positive, 10)
    help_text = "take all items looked at for relevant; needs no --qrels"
    add(parser, "--pseudo", help_text, bool)
    help_text = "what counts (default: residual; whole with --pseudo)"
    add(parser, "--counted", help_text, ("residual", "frozen", "whole"))
    add(parser, "--rel G", "the grade from which items are relevant", float, 1.0)
    add(parser, "--distance NAME", "default: that of the descriptor, L2 for others")
    add(parser, "-k N", "items for each topic", positive, 1000)
    add(parser, "--before FILE", "write the run before feedback here, as it counts")
    help_text = "write the judgements that belong to both runs here"
    add(parser, "--remaining FILE", help_text)
    common(parser, "jobs", "seed")
    run_target(parser, "the run after feedback", "scores before and after")
    return parser


def feedback(arguments: Arguments, output: Output) -> int:
    from cranfield.evaluation.feedback import apply_feedback
    from cranfield.io.convert import encode_table
    from cranfield.io.files import write_atomic

    files = {name: arguments.pop(name) for name in ("before", "remaining")}
    weights = tuple(arguments.pop(name) for name in ("alpha", "beta", "gamma"))
    with output.working("searching") as progress:
        answer = apply_feedback(
            weights=weights, name=output.name("feedback"), progress=progress, **arguments
        )
    tables = {files["before"]: answer.before, files["remaining"]: answer.judgements}
    for path, table in tables.items():
        if path is not None and table is not None:
            write_atomic(Path(path), encode_table(table, path))
            output.wrote(path)
    output.show_run(answer, answer.run)
    return 0


TEXT_DESCRIPTION = """Rank texts, such as the captions of pictures, by BM25: for every query a run
that is compared and fused with those of pictures."""


TEXT_FILES = """TEXTS and --queries: CSV or TSV with a header item,text and topic,text; topics of
TREC and BEIR are read by `cranfield import`. Extra: text (pip install 'cranfield[text]')."""


def text_parser() -> Parser:
    parser = Parser.of("runs text", TEXT_DESCRIPTION, TEXT_FILES)
    add(parser, "texts TEXTS", "CSV item,text")
    add(parser, "--queries Q", "CSV topic,text (default: the text of every item)")
    help_text = "the column of the texts (default: text, or the only one beside the ids)"
    add(parser, "--column NAME", help_text)
    add(parser, "-k N", "items for each topic", positive, 1000)
    add(parser, "--k1 X", "how much it counts that a word comes again", from_zero, 1.2)
    add(parser, "--b X", "how much long texts are held back, from 0 to 1", from_zero, 0.75)
    help_text = "whose empty words are left out and whose words are brought to their stems"
    add(parser, "--language", help_text, TEXT_LANGUAGES, TEXT_LANGUAGES[0])
    help_text = "leave the query itself in its ranking, where it is an item"
    add(parser, "--keep-query", help_text, bool)
    run_target(parser, "the run", "the rankings and what they were made with")
    return parser


def text(arguments: Arguments, output: Output) -> int:
    from cranfield.features.text_search import search_texts

    with output.working("searching") as progress:
        answer = search_texts(name=output.name("bm25"), progress=progress, **arguments)
    output.show_run(answer, answer.run)
    return 0


FUSION_DESCRIPTION = "Fuse runs: one ranking of several, or one annotation of several (--labels)."


FUSION_EPILOG = """\
With --tune the weights of each judged topic are those that do best on the topics of
the other folds, so that the run can be evaluated on the same judgements."""


FUSION_METHOD = """\
zsum, combsum (minmax), combmnz, combanz, combmax, combmin, sum, rrf, borda, 'rrf(k=60)'
(default: zsum); with --labels mean, max, min, product, borda, zsum (default: mean)"""


def fusion_parser() -> Parser:
    parser = Parser.of("runs fuse", FUSION_DESCRIPTION, FUSION_EPILOG)
    add(parser, "runs RUN+", "two or more runs")
    add(parser, "--method NAME", FUSION_METHOD)
    add(parser, "--weights X,X,...", "a weight for each run (default: 1)", _numbers)
    add(parser, "--tune QRELS", "find the weights on these judgements")
    add(parser, "-m --measure NAME", "tune for", default="AP")
    add(parser, "--folds N", "for tuning", positive, 5)
    add(parser, "-k N", "items for each topic (default: all)", positive)
    add(parser, "--labels", "the runs are annotations: fuse their confidences", bool)
    common(parser, "seed")
    run_target(parser, "the fused run", "the weights")
    return parser


def _numbers(text: str) -> list[float]:
    try:
        return [float(part) for part in text.replace(",", " ").split()]
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of numbers") from None


def fusion(arguments: Arguments, output: Output) -> int:
    from cranfield.evaluation.fusion import fuse, fuse_labels

    runs, method = arguments.pop("runs"), arguments.pop("method")
    if arguments.pop("labels"):
        from cranfield.io.labels import write_labels

        if arguments["tune"]:
            raise UsageError("weights of labels are not tuned: give --weights")
        if output.path is None:
            raise UsageError("say where the labels go with -o: .csv, .npz or ImageCLEF text")
        write_labels(fuse_labels(runs, method or "mean", weights=arguments["weights"]), output.path)
        return 0
    arguments |= {"seed": arguments.pop("rng")} | ({"method": method} if method else {})
    with output.working("fusing") as progress:
        answer = fuse(runs, name=output.name("fused"), progress=progress, **arguments)
    output.show_run(answer, answer.run)
    return 0


COMMANDS = {
    "search": (nearest_parser, nearest),
    "text": (text_parser, text),
    "feedback": (feedback_parser, feedback),
    "fuse": (fusion_parser, fusion),
}
