"""`cranfield completion`: for bash, zsh and fish to complete commands, options and measures."""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Iterator, Sequence

from cranfield.cli._common import Parser, add
from cranfield.report.shells import Step, script_of

DESCRIPTION = "Print what a shell needs to complete commands, options, values and measures."
EPILOG = """bash: eval "$(cranfield completion bash)" in ~/.bashrc; zsh: the same with zsh in
~/.zshrc, after compinit; fish: cranfield completion fish >
~/.config/fish/completions/cranfield.fish"""


def make_parser() -> Parser:
    parser = Parser.of("completion", DESCRIPTION, EPILOG)
    add(parser, "shell SHELL", "bash, zsh or fish", ("bash", "zsh", "fish"))
    return parser


def main(argv: Sequence[str]) -> int:
    given, _ = make_parser().read(argv)
    from cranfield.cli import COMMANDS

    steps = {"/help": Step({}, tuple(COMMANDS))}
    for name, (module, _) in COMMANDS.items():
        found = importlib.import_module(f"cranfield.cli.{module}")
        steps[f"/{name}"] = Step({}, ())
        if hasattr(found, "make_parser"):
            steps.update(_steps(f"/{name}", found.make_parser()))
    told = {name: what for name, (_, what) in COMMANDS.items()}
    sys.stdout.write(script_of(given["shell"], steps, told))
    return 0


def _steps(path: str, parser: argparse.ArgumentParser) -> Iterator[tuple[str, Step]]:
    """What a parser takes, and those below it."""
    flags = [action for action in parser._actions if action.option_strings]
    options = {tuple(a.option_strings): None if a.nargs == 0 else _values(path, a) for a in flags}
    places = [v for a in parser._actions if a not in flags for v in _values(path, a)]
    yield path, Step(options, places)
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, step in action.choices.items():
                yield from _steps(f"{path}/{name}", step)


def _values(path: str, action: argparse.Action) -> list[str]:
    """What can follow an option, or stand in a place."""
    if action.dest != "measures":
        return [str(choice) for choice in action.choices or ()]
    from cranfield.measures import RANKED, SETS
    from cranfield.measures.labels.registry import LABEL_MEASURES, LABEL_SETS

    if path == "/label":
        return [*LABEL_SETS, *(measure.name for measure in LABEL_MEASURES)]
    return [*SETS, *RANKED]
