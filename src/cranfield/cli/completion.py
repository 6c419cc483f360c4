"""`cranfield completion`: for bash, zsh and fish to complete commands, options and measures."""

from __future__ import annotations

import argparse
import importlib
import shlex
import sys
from collections.abc import Iterator, Sequence

from cranfield.cli._common import Parser, add

DESCRIPTION = (
    """Print what a shell needs to complete commands, options, their values and measures."""
)
EPILOG = """bash: eval "$(cranfield completion bash)" in ~/.bashrc; zsh: the same with zsh in
~/.zshrc, after compinit; fish: cranfield completion fish >
~/.config/fish/completions/cranfield.fish"""
BASH = """\
_cranfield() {
    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}" path="" word i
    for ((i = 1; i < COMP_CWORD; i++)); do
        word="${COMP_WORDS[i]}"
        case "$path/$word" in
            @steps@) path="$path/$word" ;;
        esac
    done
    local words=""
    case "$path" in
@cases@
    esac
    COMPREPLY=($(compgen -W "$words" -- "$cur"))
}
complete -o default -F _cranfield cranfield
"""
ZSH = "autoload -U +X bashcompinit && bashcompinit\n"


def make_parser() -> Parser:
    parser = Parser.of("completion", DESCRIPTION, EPILOG)
    add(parser, "shell SHELL", "bash, zsh or fish", ("bash", "zsh", "fish"))
    return parser


def main(argv: Sequence[str]) -> int:
    given, _ = make_parser().read(argv)
    steps = dict(_steps())
    if given["shell"] == "fish":
        sys.stdout.write(_fish(steps))
    else:
        sys.stdout.write((ZSH if given["shell"] == "zsh" else "") + _bash(steps))
    return 0


def _steps() -> Iterator[tuple[str, argparse.ArgumentParser]]:
    """The parser of every command and subcommand by its path, such as /lab/correlate."""
    from cranfield.cli import COMMANDS

    for name, (module, _) in COMMANDS.items():
        found = importlib.import_module(f"cranfield.cli.{module}")
        if hasattr(found, "make_parser"):
            yield from _below(f"/{name}", found.make_parser())
        else:
            yield f"/{name}", argparse.ArgumentParser(add_help=False)


def _below(path: str, parser: argparse.ArgumentParser) -> Iterator[tuple[str, Parser]]:
    yield path, parser  # type: ignore[misc]
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for name, step in action.choices.items():
                yield from _below(f"{path}/{name}", step)


def _values(path: str, action: argparse.Action) -> list[str]:
    """What can follow an option, or stand in a place."""
    if action.dest == "measures":
        return _measures(labels=path == "/label")
    return [str(choice) for choice in action.choices or ()]


def _measures(*, labels: bool) -> list[str]:
    from cranfield.measures import RANKED, SETS
    from cranfield.measures.labels.registry import LABEL_MEASURES, LABEL_SETS

    if labels:
        return [*LABEL_SETS, *(measure.name for measure in LABEL_MEASURES)]
    return [*SETS, *RANKED]


def _bash(steps: dict[str, argparse.ArgumentParser]) -> str:
    firsts = " ".join(path[1:] for path in steps if path.count("/") == 1)
    cases = [f'        "") words={shlex.quote(firsts)} ;;']
    for path, parser in steps.items():
        flags = [f for action in parser._actions for f in action.option_strings]
        places = [v for a in parser._actions if not a.option_strings for v in _values(path, a)]
        inner = []
        for action in parser._actions:
            values = _values(path, action)
            if action.option_strings and values:
                names = "|".join(action.option_strings)
                inner.append(f"{names}) words={shlex.quote(' '.join(values))} ;;")
        # Without a dash it is a word of the place, or with none a file.
        chosen = f"[[ $cur == -* ]] && words={shlex.quote(' '.join(flags))}"
        chosen += f" || words={shlex.quote(' '.join(places))}"
        inner.append(f"*) {chosen} ;;")
        cases.append(f'        {path}) case "$prev" in {" ".join(inner)} esac ;;')
    return BASH.replace("@steps@", "|".join(steps)).replace("@cases@", "\n".join(cases))


def _fish(steps: dict[str, argparse.ArgumentParser]) -> str:
    from cranfield.cli import COMMANDS

    lines = ["complete -c cranfield -f -n __fish_use_subcommand"]
    for name, (_, what) in COMMANDS.items():
        told = shlex.quote(what)
        lines.append(f"complete -c cranfield -f -n __fish_use_subcommand -a {name} -d {told}")
    for path, parser in steps.items():
        seen = " ".join(f"; and __fish_seen_subcommand_from {word}" for word in path[1:].split("/"))
        when = shlex.quote(seen.removeprefix("; and "))
        for action in parser._actions:
            names = " ".join(
                f"-l {f[2:]}" if f.startswith("--") else f"-s {f[1:]}"
                for f in action.option_strings
            )
            values = _values(path, action)
            follows = f" -x -a {shlex.quote(' '.join(values))}" if values else ""
            if action.option_strings and action.nargs != 0 and not values:
                follows = " -r"
            if names or values:
                lines.append(f"complete -c cranfield -n {when} {names}{follows}")
    return "\n".join(lines) + "\n"
