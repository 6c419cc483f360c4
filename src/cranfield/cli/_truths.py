"""What commands on scores share: a truth of two kinds, little gold and much silver."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from cranfield.cli._common import Output, Parser, Place, add, positive
from cranfield.errors import UsageError
from cranfield.work.interruptible import in_background


def truth_options(parser: Parser) -> None:
    """Gold for some units, silver for all; with both there are runs only among the files."""
    group = truth_files(parser, "first file")
    add(group, "--few-gold", "go on with fewer than 5 gold topics (items)", bool)
    add(group, "--width X", "also say how many gold units intervals of this width need", float)
    what = """a truth with probabilities: how often it is drawn (default: 1000 times, for
    annotation 200 times)"""
    add(parser, "--draws N", what, positive)


def truth_files(parser: Parser, other: str) -> Place:
    """The files of gold and silver; `other` is where the one that is not named stands."""
    group = parser.add_argument_group("little gold, much silver")
    what = f"""what people judged: some topics (items), chosen at random; the {other} is the
    silver then, unless --silver names it"""
    add(group, "--gold FILE", what)
    what = f"""what a program or a crowd judged: all topics (items); the {other} is the gold
    then, unless --gold names it"""
    add(group, "--silver FILE", what)
    return group


def has_truths(given: dict[str, Any]) -> bool:
    """Whether gold or silver was named; without either their options are taken out."""
    if given["gold"] is not None or given["silver"] is not None:
        return True
    del given["gold"], given["silver"]
    if given.pop("width") is not None:
        raise UsageError("width= is for gold= and silver=")
    if given.pop("few_gold"):
        raise UsageError("few_gold= is for gold= and silver=")
    return False


def show_powered(
    parser: Parser, given: dict[str, Any], files: Sequence[Any], output: Output, **asked: Any
) -> int:
    """Ask for estimates from gold and silver, and show them; `files` are all that were named."""
    from cranfield.comparison.powered import evaluate_powered, named_truths
    from cranfield.comparison.powered_plan import FOREIGN

    for name in FOREIGN:
        usual = parser.get_default(name)
        if given.pop(name, usual) != usual:
            raise UsageError(f"{name}= cannot be combined with gold= and silver=")
    asked |= given | named_truths(files, given.pop("gold"), given.pop("silver"))
    with output.working("evaluating") as progress:
        answer = in_background(
            lambda: evaluate_powered(progress=progress, **asked), progress.cancel
        )
    output.show(answer)
    return 0
