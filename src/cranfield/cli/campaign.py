"""`cranfield campaign`: what a campaign publishes, and how it is kept."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from typing import Any

from cranfield.cli._common import Parser

# action -> (module of cranfield.cli with `add_options` and `run`, what it does)
ACTIONS: dict[str, tuple[str, str]] = {
    "results": ("_campaign_results", "a result table of a collection, of scores or of figures"),
}


def make_parser(actions: Iterable[str] = ACTIONS) -> Parser:
    """The parser of some actions: each loads what it needs, so only those that are asked for."""
    parser = Parser(prog="cranfield campaign", description="What a campaign publishes.")
    listed = "|".join(ACTIONS)
    choices = parser.add_subparsers(dest="action", required=True, metavar=listed)
    for name in actions:
        what = ACTIONS[name][1]
        _module(name).add_options(choices.add_parser(name, help=what, description=f"{what}."))
    return parser


def main(argv: Sequence[str]) -> int:
    asked = [argv[0]] if argv and argv[0] in ACTIONS else ACTIONS
    given = make_parser(asked).read(argv)
    code: int = _module(given.pop("action")).run(given)
    return code


def _module(action: str) -> Any:
    return importlib.import_module(f"cranfield.cli.{ACTIONS[action][0]}")
