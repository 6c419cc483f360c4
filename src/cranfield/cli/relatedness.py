"""`cranfield relatedness`: how close two concepts are, and cost maps."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from cranfield._version import __version__
from cranfield.cli._common import Parser, add_jobs_option, add_output_options, emit, positive
from cranfield.errors import UsageError
from cranfield.io.files import inner_suffix
from cranfield.report.document import Cell, Column, Document, Table

if TYPE_CHECKING:
    from cranfield.io.pairs import WordPair
    from cranfield.relatedness._spec import Method
    from cranfield.relatedness.costmaps import ScoredMap
    from cranfield.relatedness.human import Agreement
    from cranfield.relatedness.scoring import PairScores
    from cranfield.relatedness.wordnet import Sense

DONE = 0
_NEAREST = 3

EXAMPLES = """\
examples:
  cranfield relatedness --list
  cranfield relatedness --method WUP --pair river sea
  cranfield relatedness --method wordnet --human pairs.csv
  cranfield relatedness --method JCN --concepts concepts.csv --mapping pto -o costmap.csv
  cranfield relatedness --method FTS --tags tags.csv --concepts concepts.csv -o costmap.csv
"""


def make_parser() -> Parser:
    parser = Parser(
        prog="cranfield relatedness",
        epilog=EXAMPLES,
        description="How close are two concepts? Relatedness of pairs, or a cost map.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_what(parser.add_argument_group("what to relate"))
    _add_how(parser.add_argument_group("how"))
    add_jobs_option(parser)
    add_output_options(parser)
    return parser


def _add_what(what: argparse._ArgumentGroup) -> None:
    what.add_argument("pairs", nargs="?", metavar="PAIRS", help="CSV word1,word2[,human]")
    what.add_argument(
        "--pair",
        nargs=2,
        action="append",
        default=[],
        metavar="WORD",
        help="one pair of words; may be given again",
    )
    what.add_argument(
        "--concepts",
        metavar="FILE",
        help="a cost map over these concepts: one a line, CSV with 'concept', or such as pto-2011",
    )
    what.add_argument(
        "--human",
        action="store_true",
        help="only the correlation with people's scores, one row per method",
    )
    what.add_argument(
        "--missing",
        choices=("leave-out", "zero"),
        default="leave-out",
        help="pairs without a value in correlations (default: leave-out)",
    )
    what.add_argument("--list", action="store_true", help="the methods, and what they need")


def _add_how(how: argparse._ArgumentGroup) -> None:
    how.add_argument(
        "-m",
        "--method",
        default="wordnet",
        metavar="NAMES",
        help="such as WUP or 'JCN LIN'; wordnet, the default: all nine",
    )
    how.add_argument(
        "--wordnet",
        metavar="FOLDER",
        help="the WordNet database (default: WNSEARCHDIR, WNHOME, usual places)",
    )
    how.add_argument(
        "--pos",
        default="auto",
        choices=("auto", "n", "v", "nv", "nvar"),
        help="parts of speech of plain words (default: auto, nouns if it has any)",
    )
    how.add_argument(
        "--mapping",
        metavar="FILE",
        help="CSV concept,word for concepts not in WordNet; built in: pto",
    )
    how.add_argument(
        "--stop-words",
        action="store_true",
        help="LESK without articles, pronouns, prepositions, conjunctions",
    )
    how.add_argument("--counts", metavar="FILE", help="hit counts: CSV term,with,count")
    how.add_argument("--tags", metavar="FILE", help="a tag corpus or training set to count")
    how.add_argument("--save-counts", metavar="FILE", help="keep what was counted on --tags")
    how.add_argument(
        "--provider", metavar="FILE", help="a live source of counts (TOML), remembered in --counts"
    )
    how.add_argument("--links", metavar="FILE", help="a link table: CSV source,target")
    how.add_argument(
        "--articles",
        type=positive,
        metavar="N",
        help="articles behind --links (default: those it names)",
    )
    how.add_argument("--ontology", metavar="FILE", help="built-in name, CSV, OWL or SKOS")


def main(argv: Sequence[str]) -> int:
    args = make_parser().parse_args(argv)
    if args.list:
        emit(_catalogue(), args)
        return DONE
    from cranfield.cli._relatedness_sources import unread_options
    from cranfield.relatedness import parse_methods

    methods = parse_methods(args.method)
    has_pairs = args.pairs is not None or bool(args.pair)
    if not has_pairs and args.concepts is None:
        raise UsageError(
            "nothing to relate: give a file of pairs, --pair WORD WORD, or --concepts FILE"
        )
    # With --tags the concepts may be there only to name the columns of the corpus.
    if has_pairs and args.concepts is not None and args.tags is None:
        raise UsageError("give pairs or --concepts, not both")
    if args.human and not has_pairs:
        raise UsageError("--human needs pairs with people's scores, not --concepts")
    document = _relate_pairs(args, methods) if has_pairs else _map_concepts(args, methods)
    warnings = [*document.warnings, *unread_options(args, methods)]
    emit(replace(document, warnings=warnings), args)
    return DONE


def _catalogue() -> Document:
    from cranfield.relatedness import METHODS
    from cranfield.sources import REFERENCES

    rows: list[list[Cell]] = []
    listed = []
    for m in METHODS.values():
        low, high = (f"{x:.4g}" if math.isfinite(x) else "inf" for x in m.range)
        needs = ", ".join(sorted(m.needs))
        rows.append([m.name, m.title, f"[{low}, {high}]", needs, m.source.key, m.summary])
        listed.append(
            {
                "name": m.name,
                "title": m.title,
                "family": m.family,
                "formula": m.formula,
                "source": m.source.key,
                "reference": str(REFERENCES[m.source.key]),
                "equations": m.source.equations,
                "deviation": m.source.deviation,
                "thesis": m.thesis,
                "range": list(m.range),
                "needs": sorted(m.needs),
                "symmetric": m.symmetric,
                "summary": m.summary,
                "undefined": m.undefined,
            }
        )
    heads = ("method", "title", "range", "needs", "source", "what it is")
    table = Table([Column(h, numeric=False) for h in heads], rows)
    return Document(
        {"cranfield": __version__, "command": "relatedness", "methods": listed}, [table]
    )


def _relate_pairs(args: argparse.Namespace, methods: list[Method]) -> Document:
    from cranfield.cli._relatedness_sources import score_with
    from cranfield.io.pairs import WordPair, read_pairs

    if any(not word.strip() for words in args.pair for word in words):
        raise UsageError("--pair wants two words, and one of them is empty")
    pairs = [WordPair(*words) for words in args.pair]
    if args.pairs is not None:
        pairs += read_pairs(args.pairs)
    if args.human and not any(pair.human is not None for pair in pairs):
        raise UsageError("--human needs pairs with people's scores: a column named human")
    results = score_with(args, methods, [(p.word1, p.word2) for p in pairs])
    return _pairs_document(args, pairs, results)


def _pairs_document(
    args: argparse.Namespace, pairs: list[WordPair], results: list[PairScores]
) -> Document:
    judged = any(pair.human is not None for pair in pairs)
    found = [_agreement(args, result, pairs) if judged else None for result in results]
    payloads = [_payload(r, pairs, a) for r, a in zip(results, found, strict=True)]
    head = {"cranfield": __version__, "command": "relatedness"}
    payload = {**head, **payloads[0]} if len(payloads) == 1 else {**head, "methods": payloads}
    tables = [] if args.human else [_pair_table(pairs, results, judged)]
    if judged:
        tables.append(_human_table(results, found))
    machine = _human_figures(results, found) if args.human else None
    return Document(payload, tables, _without_value(results, "so without a value"), machine)


def _without_value(results: Sequence[PairScores | ScoredMap], outcome: str) -> list[str]:
    """Warnings about concepts that methods could do nothing with."""
    warnings = []
    unknown = dict.fromkeys(name for result in results for name in result.unknown)
    if unknown:
        warnings.append(f"not found, {outcome}: {', '.join(unknown)}")
    unusable = dict.fromkeys(name for result in results for name in result.unusable)
    if unusable:
        methods = ", ".join(result.method.name for result in results if result.unusable)
        warnings.append(f"no noun or verb, {outcome} for {methods}: {', '.join(unusable)}")
    unseen = dict.fromkeys(name for result in results for name in result.unseen)
    if unseen:
        warnings.append(f"counted 0 times, so unrelated to all others: {', '.join(unseen)}")
    return warnings


def _agreement(args: argparse.Namespace, result: PairScores, pairs: list[WordPair]) -> Agreement:
    from cranfield.relatedness.human import agreement

    values = result.values()
    if args.missing == "zero":
        values[[math.isnan(v) for v in values]] = 0.0
    return agreement(values, [math.nan if p.human is None else p.human for p in pairs])


def _payload(result: PairScores, pairs: list[WordPair], found: Agreement | None) -> dict[str, Any]:
    rows = [
        {
            "word1": p.word1,
            "word2": p.word2,
            "relatedness": p.relatedness,
            "sense1": _name(p.sense1),
            "sense2": _name(p.sense2),
            "human": given.human,
        }
        for p, given in zip(result.pairs, pairs, strict=True)
    ]
    payload: dict[str, Any] = {"method": result.method.name, "pairs": rows}
    payload["spearman"] = found and found.spearman
    payload["pearson"] = found and found.pearson
    if found:
        payload["spearman_ci"] = list(found.spearman_interval)
        payload["pearson_ci"] = list(found.pearson_interval)
        payload["correlated_pairs"], payload["left_out"] = found.pairs, found.left_out
    payload["unmapped"] = [*result.unknown, *result.unusable, *result.unseen]
    return payload


def _name(sense: Sense | None) -> str | None:
    return None if sense is None else str(sense)


def _pair_table(pairs: list[WordPair], results: list[PairScores], judged: bool) -> Table:
    columns = [Column("word1", numeric=False), Column("word2", numeric=False)]
    alone = len(results) == 1 and results[0].method.family == "wordnet"
    columns += [Column("relatedness" if alone else r.method.name) for r in results]
    if alone:
        columns += [Column("sense1", numeric=False), Column("sense2", numeric=False)]
    if judged:
        columns.append(Column("human", digits=2))
    rows: list[list[Cell]] = []
    for k, pair in enumerate(pairs):
        row: list[Cell] = [pair.word1, pair.word2, *(r.pairs[k].relatedness for r in results)]
        if alone:
            best = results[0].pairs[k]
            row += [_name(best.sense1), _name(best.sense2)]
        if judged:
            row.append(pair.human)
        rows.append(row)
    title = results[0].method.title if len(results) == 1 else ""
    return Table(columns, rows, title)


def _human_table(results: list[PairScores], found: Sequence[Agreement | None]) -> Table:
    columns = [
        Column("method", numeric=False),
        Column("Spearman", best="max"),
        Column("95 % interval", numeric=False),
        Column("Pearson", best="max"),
        Column("95 % interval", numeric=False),
        Column("pairs"),
        Column("left out"),
    ]
    rows: list[list[Cell]] = []
    for result, a in zip(results, found, strict=True):
        if a is not None:
            rows.append(
                [
                    result.method.name,
                    a.spearman,
                    _span(a.spearman_interval),
                    a.pearson,
                    _span(a.pearson_interval),
                    a.pairs,
                    a.left_out,
                ]
            )
    return Table(columns, rows, "Correlation with people's scores")


def _human_figures(results: list[PairScores], found: Sequence[Agreement | None]) -> Table:
    """The same for programs: the ends of the intervals are columns of their own."""
    heads = (
        "spearman",
        "spearman_low",
        "spearman_high",
        "pearson",
        "pearson_low",
        "pearson_high",
        "pairs",
        "left_out",
    )
    rows: list[list[Cell]] = [
        [
            result.method.name,
            a.spearman,
            *a.spearman_interval,
            a.pearson,
            *a.pearson_interval,
            a.pairs,
            a.left_out,
        ]
        for result, a in zip(results, found, strict=True)
        if a is not None
    ]
    return Table([Column("method", numeric=False), *map(Column, heads)], rows)


def _span(interval: tuple[float, float]) -> str:
    low, high = interval
    return "-" if math.isnan(low) else f"{low:.3f} to {high:.3f}"


def _map_concepts(args: argparse.Namespace, methods: list[Method]) -> Document:
    from cranfield.cli._relatedness_sources import concepts_of, map_with

    if len(methods) != 1:
        raise UsageError("a cost map is made by one method: name it with --method, such as WUP")
    concepts = concepts_of(args.concepts)
    scored = map_with(args, methods, concepts)[0]
    # A cost map that goes to a file is the square of costs, which other commands read.
    if args.format == "table" and args.output is not None:
        args.format = "tsv" if inner_suffix(args.output) == ".tsv" else "csv"
    return _map_document(scored, args.format)


def _map_document(scored: ScoredMap, form: str) -> Document:
    from cranfield.report.costmap import nearest_table, square_table

    costs = scored.costs
    payload = {
        "cranfield": __version__,
        "command": "relatedness",
        "method": scored.method.name,
        "concepts": list(costs.concepts),
        "costs": costs.costs.tolist(),
        "unmapped": [*scored.unknown, *scored.unusable, *scored.unseen],
    }
    square = form in ("csv", "tsv")
    table = square_table(costs) if square else nearest_table(costs, _NEAREST)
    return Document(payload, [table], _without_value([scored], "so at cost 1 from all others"))
