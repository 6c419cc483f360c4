"""`cranfield eval index`: what an index of vectors could reach at best."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield.cli._common import Parser, add, common, measures, outputs
from cranfield.cli._inputs import with_folder
from cranfield.io import read_qrels
from cranfield.io.coerce import read_runs
from cranfield.options import INDEX_QUALITY

DESCRIPTION = """Rank the collection with each topic's optimal query (Rocchio): the mean of the
relevant vectors minus the mean of the others, by cosine. It is optimal for the difference of
mean cosines; --best also looks for the vector that ranks best."""
FILES = """VECTORS: .npy (a row per item; ids from --items, or row numbers from 0), .npz (arrays
items, vectors) or .parquet (item, and vector or one column per dimension)."""


def main(argv: Sequence[str]) -> int:
    arguments, output = make_parser().read(argv)
    from cranfield.evaluation.index_quality import evaluate_index
    from cranfield.io.arrays import read_item_vectors

    arguments = with_folder("eval index", arguments, "qrels")
    per = ("topic",) if arguments.pop("per_topic") else ()
    with output.working("ranking") as progress:
        vectors = read_item_vectors(arguments.pop("vectors"), arguments.pop("items"))
        judged = read_qrels(arguments.pop("qrels"), jobs=arguments["jobs"])
        runs = read_runs(arguments.pop("runs"), jobs=arguments["jobs"])
        answer = evaluate_index(vectors, judged, runs, progress=progress, **arguments)
    output.show(answer, per=per)
    return 0


def make_parser() -> Parser:
    parser = Parser.of("eval index", DESCRIPTION, FILES)
    add(parser, "vectors VECTORS", "vectors of all items of the collection")
    add(parser, "qrels QRELS|DIR", "judgements, or a collection's folder")
    add(parser, "runs RUN*", "runs to hold against it")
    measures(parser, "measures or sets of them", INDEX_QUALITY)
    add(parser, "--items FILE", "ids of the rows of .npy, one per line")
    help_text = "the grade from which items are relevant when queries are formed (default: 1)"
    add(parser, "--rel G", help_text, float, 1.0)
    add(parser, "--raw", "means of the vectors as they are, not of unit length", bool)
    add(parser, "--best", "also the query that ranks best, by descent on a loss", bool)
    common(parser, "per-topic", "jobs")
    outputs(parser)
    return parser
