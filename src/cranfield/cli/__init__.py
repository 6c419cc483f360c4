"""The command `cranfield`: a file per command or noun, loaded only when it is asked for."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING, NoReturn

from cranfield._process import prepare_process, run_interruptible
from cranfield.cli._commands import (
    ALIASES,
    COMMANDS,
    GROUPS,
    SECTIONS,
    Command,
    commands_of,
    find_command,
    summary_of,
)
from cranfield.cli._messages import BAD_INPUT, DONE, run_guarded
from cranfield.errors import UsageError, suggest

if TYPE_CHECKING:
    from cranfield.cli._common import Parser

HELP = ("-h", "--help", "help")
COMPLETION = Command("completion", "what a shell needs to complete commands, options and measures")


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and give its exit code.

    0: done; 1: ran, but an asked-for check failed; 2: bad input or usage; 3: a fault of ours;
    130: interrupted. `--debug` shows the traceback of a fault of ours.
    """
    args = list(sys.argv[1:] if argv is None else argv)
    options = args[: args.index("--")] if "--" in args else args
    debug = "--debug" in options
    if debug:
        args.remove("--debug")
    if argv is not None:
        return run_guarded(lambda: _run(args), debug=debug)
    prepare_process()
    return run_guarded(lambda: run_interruptible(lambda: _run(args)), debug=debug)


def _run(args: list[str]) -> int:
    if args[:1] == ["help"] and len(args) > 1:
        args = [*args[1:], "--help"]
    if not args or args[0] in HELP:
        sys.stdout.write(_overview())
        return DONE if args else BAD_INPUT
    if args[0] in ("-V", "--version"):
        from cranfield._version import __version__

        sys.stdout.write(f"cranfield {__version__}\n")
        return DONE
    group = args[0] if args[0] in GROUPS else ALIASES.get(args[0], "")
    if group in GROUPS and group != "eval" and (not args[1:] or args[1] in HELP):
        sys.stdout.write(_group_overview(group))
        return DONE if args[1:] else BAD_INPUT
    name, rest = find_command(args)
    if rest[:1] == ["--completion"]:
        name, rest = "--completion", rest[1:]
    from cranfield.io.files import set_caps_from_environment

    set_caps_from_environment()
    return run_command(name, rest) if name else _refuse(rest)


def run_command(name: str, args: Sequence[str]) -> int:
    """Run a command of the table with the words behind its name; the exit code."""
    command = COMPLETION if name == "--completion" else COMMANDS[name]
    module = importlib.import_module(f"cranfield.cli.{command.module}")
    if not command.variant:
        return int(module.main(args))
    make_parser, run = module.COMMANDS[command.variant]
    return int(run(*make_parser().read(args)))


def parser_of(name: str) -> Parser | None:
    """The parser of a command of the table; none where it reads another program's arguments."""
    command = COMMANDS[name]
    module = importlib.import_module(f"cranfield.cli.{command.module}")
    if command.variant:
        parser: Parser = module.COMMANDS[command.variant][0]()
        return parser
    return module.make_parser() if hasattr(module, "make_parser") else None


def _refuse(words: Sequence[str]) -> NoReturn:
    """Say that there is no such command, and which one may be meant."""
    if words[0] in GROUPS:
        group, name = f"{words[0]} ", words[1]
        candidates = list(commands_of(words[0]))
    else:
        group, name = "", words[0]
        candidates = [*dict.fromkeys(n.split()[0] for n in (*COMMANDS, *ALIASES))]
    raise UsageError(
        f"cranfield: no command {group + name!r}.{suggest(name, candidates)} "
        f"List them with: cranfield {group}--help"
    )


def _overview() -> str:
    """The commands by what people want to do."""
    lines = ["usage: cranfield COMMAND ...", "", "Evaluation of retrieval and annotation.", ""]
    for purpose, words in SECTIONS.items():
        lines.append(f"{purpose}:")
        for word in words.split():
            lines += _entry(word, summary_of(word), 10)
    lines += [
        "",
        "cranfield help COMMAND tells more. --debug shows the traceback of a fault.",
        "--completion SHELL prints what bash, zsh or fish needs to complete commands.",
        "",
    ]
    return "\n".join(lines)


def _group_overview(group: str) -> str:
    """The commands of a group."""
    commands = commands_of(group)
    width = max(map(len, commands))
    lines = [f"usage: cranfield {group} COMMAND ...", ""]
    lines += [f"{GROUPS[group][0].upper()}{GROUPS[group][1:]}.", ""]
    for name, command in commands.items():
        lines += _entry(name, command.summary, width)
    lines += ["", f"cranfield help {group} COMMAND tells more.", ""]
    return "\n".join(lines)


def _entry(name: str, summary: str, width: int) -> list[str]:
    import textwrap

    indent = " " * (width + 4)
    return textwrap.wrap(
        summary,
        96,
        break_on_hyphens=False,
        initial_indent=f"  {name:<{width}}  ",
        subsequent_indent=indent,
    )
