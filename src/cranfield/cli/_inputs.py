"""The options of commands on runs: ranked ones, annotations, and either of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cranfield.cli._common import Parser, Threshold, add, common, positive
from cranfield.errors import UsageError
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
    group = parser.add_argument_group("ranked runs")
    help_text = """judged: a topic that a run misses scores as an empty ranking (default); run: it
    is left out, and pairs share the topics that both have"""
    add(group, "--topics", help_text, ("judged", "run"), "judged")
    help_text = """order of items with one score: by id as trec_eval does, as in the file, or the
    expected value over all orders"""
    add(group, "--ties", help_text, ("id", "file", "average"), "id")
    add(group, "--judged-only", "take unjudged items out of the rankings first", bool)
    add(group, "--max-items N", "look at the first N items of each ranking", positive)
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
    from cranfield.data.defaults import DEFAULT_THRESHOLD

    group = parser.add_argument_group("what is known of the concepts")
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
