"""`cranfield --completion`: for bash, zsh and fish to complete commands, options and measures."""

from __future__ import annotations

import argparse
import shlex
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from cranfield.cli._commands import COMMANDS, GROUPS, commands_of, summary_of
from cranfield.cli._common import Parser, add


class Step(NamedTuple):
    """What a command or subcommand takes: values by its options, and those of its places."""

    options: Mapping[tuple[str, ...], Sequence[str] | None]  # None: the option takes nothing
    places: Sequence[str]


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


def script_of(shell: str, steps: Mapping[str, Step], commands: Mapping[str, str]) -> str:
    """The script of a shell; `steps` are by their path, such as /lab/correlate."""
    if shell == "fish":
        return _fish(steps, commands)
    return (ZSH if shell == "zsh" else "") + _bash(steps, commands)


def _bash(steps: Mapping[str, Step], commands: Mapping[str, str]) -> str:
    cases = [f'        "") words={shlex.quote(" ".join(commands))} ;;']
    for path, step in steps.items():
        inner = [
            f"{'|'.join(names)}) words={shlex.quote(' '.join(values))} ;;"
            for names, values in step.options.items()
            if values
        ]
        flags = " ".join(name for names in step.options for name in names)
        # Without a dash it is a word of the place, or with none a file.
        flag_words = f"[[ $cur == -* ]] && words={shlex.quote(flags)}"
        inner.append(f"*) {flag_words} || words={shlex.quote(' '.join(step.places))} ;;")
        cases.append(f'        {path}) case "$prev" in {" ".join(inner)} esac ;;')
    return BASH.replace("@steps@", "|".join(steps)).replace("@cases@", "\n".join(cases))


def _fish(steps: Mapping[str, Step], commands: Mapping[str, str]) -> str:
    first = "complete -c cranfield -f -n __fish_use_subcommand"
    lines = [
        f"{first} -a {name} -d {shlex.quote(description)}" for name, description in commands.items()
    ]
    for path, step in steps.items():
        seen = "; and ".join(f"__fish_seen_subcommand_from {word}" for word in path[1:].split("/"))
        start = f"complete -c cranfield -n {shlex.quote(seen)}"
        if step.places:
            lines.append(f"{start} -a {shlex.quote(' '.join(step.places))}")
        for names, values in step.options.items():
            flags = " ".join(f"-l {n[2:]}" if n[1] == "-" else f"-s {n[1:]}" for n in names)
            follows = f" -x -a {shlex.quote(' '.join(values))}" if values else " -r"
            lines.append(f"{start} {flags}{'' if values is None else follows}")
    return "\n".join(lines) + "\n"


DESCRIPTION = "Print what a shell needs to complete commands, options, values and measures."
EPILOG = """bash: eval "$(cranfield --completion bash)" in ~/.bashrc; zsh: the same with zsh in
~/.zshrc, after compinit; fish: cranfield --completion fish >
~/.config/fish/completions/cranfield.fish"""


def make_parser() -> Parser:
    parser = Parser.of("--completion", DESCRIPTION, EPILOG)
    add(parser, "shell SHELL", "bash, zsh or fish", ("bash", "zsh", "fish"))
    return parser


def main(argv: Sequence[str]) -> int:
    arguments, _ = make_parser().read(argv)
    from cranfield.cli import parser_of

    words = [name.split() for name in COMMANDS]
    steps = {"/help": Step({}, tuple(dict.fromkeys(first for first, *_ in words)))}
    for group in GROUPS:
        steps[f"/{group}"] = Step({}, tuple(commands_of(group)))
    for name in COMMANDS:
        path = "/" + name.replace(" ", "/")
        parser = parser_of(name)
        steps[path] = Step({}, ())
        if parser is not None:
            steps.update(_steps(path, parser))
    # `eval` also takes what `eval ranked` takes.
    steps["/eval"] = Step(steps["/eval/ranked"].options, steps["/eval"].places)
    descriptions = {word: summary_of(word) for word in steps["/help"].places}
    sys.stdout.write(script_of(arguments["shell"], steps, descriptions))
    return 0


def _steps(path: str, parser: Parser) -> Iterator[tuple[str, Step]]:
    """What a parser takes, and those below it."""
    flags = [action for action in parser.actions if action.option_strings]
    options = {tuple(a.option_strings): None if a.nargs == 0 else _values(path, a) for a in flags}
    places = [value for a in parser.actions if a not in flags for value in _values(path, a)]
    yield path, Step(options, [*places, *parser.subcommands])
    for name, step in parser.subcommands.items():
        yield from _steps(f"{path}/{name}", step)


def _values(path: str, action: argparse.Action) -> list[str]:
    """What can follow an option, or stand in a place."""
    if action.dest != "measures":
        return [str(choice) for choice in action.choices or ()]
    from cranfield.measures import RANKED, SETS
    from cranfield.measures.labels.registry import LABEL_MEASURES, LABEL_SETS

    if path == "/eval/labels":
        return [*LABEL_SETS, *(measure.name for measure in LABEL_MEASURES)]
    return [*SETS, *RANKED]
