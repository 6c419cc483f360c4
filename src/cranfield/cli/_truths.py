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
    help_text = """a truth with probabilities: how often it is drawn (default: 1000 times, for
    annotation 200 times)"""
    add(parser, "--draws N", help_text, positive)


def truth_files(parser: Parser, position: str) -> Place:
    """The files of gold and silver; `position` is where the one that is not named stands."""
    group = parser.add_argument_group("little gold, much silver")
    help_text = f"""what people judged: some topics (items), chosen at random; the {position} is the
    silver then, unless --silver names it"""
    add(group, "--gold FILE", help_text)
    help_text = f"""what a program or a crowd judged: all topics (items); the {position} is the gold
    then, unless --gold names it"""
    add(group, "--silver FILE", help_text)
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
        answer = in_background(
            lambda: evaluate_powered(progress=progress, **options), progress.cancel
        )
    output.show(answer)
    return 0
