"""The options of commands on runs: ranked ones, annotations, and either of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from cranfield.cli._common import Output, Parser, Place, Threshold, add, common, positive
from cranfield.errors import UsageError
from cranfield.evaluation.scores import Scores
from cranfield.measures.ranked.kernel_calls import MISSING_RANKS


def with_folder(
    command: str, arguments: dict[str, Any], place: str, runs: str = ""
) -> dict[str, Any]:
    """What was given, with what a collection's folder has that stands in one of its places.

    `runs` is the place of what must be there in the end.
    """
    value = arguments.get(place)
    first = value[0] if isinstance(value, list) and value else value
    if isinstance(first, str) and (Path(first) / "collection.toml").is_file():
        from cranfield.campaign.collection_arguments import fill_arguments

        arguments = fill_arguments(command, arguments)
    if runs and not arguments[runs] and not (arguments.get("gold") or arguments.get("silver")):
        missing = "the following arguments are required: RUN"
        raise UsageError(f"cranfield {command}: {missing}. See: cranfield {command} --help")
    return arguments


def ranked_options(parser: Parser) -> None:
    """How rankings are made from runs, and what is known of the collection."""
    group = parser.group("ranked runs")
    help_text = """judged: a topic that a run misses scores as an empty ranking (default); run: it
    is left out, and pairs share the topics that both have"""
    add(group, "--topics", help_text, ("judged", "run"), "judged")
    help_text = """order of items with one score: by id as trec_eval does, as in the file, or the
    expected value over all orders"""
    add(group, "--ties", help_text, ("id", "file", "average"), "id")
    add(group, "--judged-only", "take unjudged items out of the rankings first", bool)
    add(group, "--max-items N", "look at the first N items of each ranking", positive)
    help_text = """look at items that score at least S; a share such as 80%% is of the way from the
    lowest to the highest score of the topic"""
    add(group, "--min-score S", help_text)
    help_text = "take the item out that has the id of the topic, where queries are items"
    add(group, "--ignore-self", help_text, bool)
    common(group, "collection-size")
    help_text = """where relevant items stand that were not retrieved, for measures of all ranks
    (default: worst, the last ranks of the collection)"""
    add(group, "--missing", help_text, MISSING_RANKS, "worst")
    help_text = (
        "NMRR: the largest number of relevant items of any topic (default: of the judgements)"
    )
    add(group, "--gmt N", help_text, positive)


def label_options(parser: Parser) -> None:
    """Everything beside truth and runs that measures of annotation may need."""
    from cranfield.options import DEFAULT_THRESHOLD

    group = parser.group("what is known of the concepts")
    common(group, "ontology", "rules", "costmap")
    add(group, "--agreement FILE", "CSV concept,agreement for OS")
    help_text = """concepts, one per line: all of them, for columns without names and for concepts
    that no item has, or some of the truth's, which alone are evaluated then"""
    add(group, "--concepts FILE", help_text)
    help_text = f"""confidence from which a concept counts as predicted: a number, or a file with
    one per concept (default: {DEFAULT_THRESHOLD}; a run's own 0/1 rows come first); repeatable"""
    add(group, "--threshold [RUN=]X|FILE", help_text, Threshold, dest="thresholds")
    help_text = "cells that a truth does not list although it lists others as absent"
    add(group, "--unlisted", help_text, ("absent", "unjudged"))
    parser.set_defaults(threshold=None)


def score_option(parser: Parser) -> None:
    """What the numbers of annotation runs are."""
    help_text = (
        "what the numbers of annotation runs are: confidences in [0, 1] (default), scores of any "
        "size for measures of order, or such scores brought to [0, 1] by the logistic function"
    )
    add(parser, "--scores", help_text, ("confidence", "any", "logistic"), "confidence")


def subject_options(parser: Parser, nargs: str = "+") -> None:
    """The files, and what is known about either kind of them."""
    help_text = """the judgements, then the runs; with --truth: runs only; or a collection's folder,
    then runs where they are not the folder's; or saved scores"""
    add(parser, f"files FILE{nargs}", help_text)
    common(parser, "third")
    add(parser, "--truth TRUTH", "annotation: the true concepts of items")
    ranked_options(parser)
    label_options(parser)


def truth_options(parser: Parser) -> None:
    """Gold for some units, silver for all; with both there are runs only among the files."""
    group = truth_files(parser, "first file")
    add(group, "--few-gold", "go on with fewer than 5 gold topics (items)", bool)
    add(group, "--width X", "also say how many gold units intervals of this width need", float)
    help_text = """a truth with probabilities: how often it is drawn (default: 1000 times, for
    annotation 200 times)"""
    add(parser, "--draws N", help_text, positive)


def truth_files(parser: Parser, position: str) -> Place:
    """The files of gold and silver; `position` is where the one that is not named stands."""
    group = parser.group("little gold, much silver")
    help_text = f"""what people judged: some topics (items), chosen at random; the {position} is the
    silver then, unless --silver names it"""
    add(group, "--gold --human-labels FILE", help_text)
    help_text = f"""what a program or a crowd judged: all topics (items); the {position} is the gold
    then, unless --gold names it"""
    add(group, "--silver --model-labels FILE", help_text)
    return group


def has_truths(arguments: dict[str, Any]) -> bool:
    """Whether gold or silver was named; without either their options are taken out."""
    if arguments["gold"] is not None or arguments["silver"] is not None:
        return True
    del arguments["gold"], arguments["silver"]
    if arguments.pop("width") is not None:
        raise UsageError("width= is for gold= and silver=")
    if arguments.pop("few_gold"):
        raise UsageError("few_gold= is for gold= and silver=")
    return False


def show_powered(
    parser: Parser, arguments: dict[str, Any], files: Sequence[Any], output: Output, **options: Any
) -> int:
    """Ask for estimates from gold and silver, and show them; `files` are all that were named."""
    from cranfield.comparison.ppi import FOREIGN, evaluate_powered, named_truths

    for name in FOREIGN:
        usual = parser.get_default(name)
        if arguments.pop(name, usual) != usual:
            raise UsageError(f"{name}= cannot be combined with gold= and silver=")
    options |= arguments | named_truths(files, arguments.pop("gold"), arguments.pop("silver"))
    with output.working("evaluating") as progress:
        answer = evaluate_powered(progress=progress, **options)
    output.show(answer)
    return 0


def scores_and_page(
    output: Output,
    arguments: dict[str, Any],
    ask: Callable[..., Scores],
    case_name: str,
    per: Sequence[str],
) -> tuple[Scores, str | None, Sequence[str]]:
    """Scores, their page if there is one, and the units whose values are still to be shown.

    `case_name` names what gathers all that a page shows; there is no page of scores without one.
    """
    public = arguments.pop("public")
    with output.working("evaluating") as progress:
        if output.form != "html" or not case_name:
            return ask(progress=progress, **arguments), None, per
        from cranfield.report import cases
        from cranfield.report.html_report import scores_page

        gather = getattr(cases, case_name)
        report_case = gather(progress=progress, **arguments)
        page = scores_page(report_case, per=per, public=public, **output.head(public))
        return report_case.scores, page, ()


def log_options(parser: Parser, duplicates: Iterable[str]) -> None:
    help_text = """CSV annotator,item,concept,value[,seconds] or annotator,item,[question,]category;
    what an annotation tool exports (see `cranfield import`); or a collection's folder"""
    add(parser, "judgements JUDGEMENTS|DIR", help_text)
    help_text = "the answers that can be given, low to high; any other is an error"
    add(parser, "--values", help_text, str.split, metavar='"A B ..."')
    help_text = "a second judgement of the same annotator on the same cell"
    add(parser, "--duplicates", help_text, tuple(duplicates), "error")
    help_text = """TOML with [[exactly_one]] groups, which are one question each (and more rules);
    forms that break them are left out"""
    add(parser, "--rules FILE", help_text)
    add(parser, "--ontology NAME|FILE", "more rules, from a built-in ontology or a file")
