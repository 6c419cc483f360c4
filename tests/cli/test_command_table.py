"""Every earlier name of a command does what the command does."""

import importlib

import pytest

from cranfield.cli import ALIASES, COMMANDS, find_command, main, parser_of

# The commands before they were grouped, to the letter.
EARLIER = [
    "demo",
    "measures",
    "completion",
    "eval",
    "label",
    "compare",
    "errors",
    "chart",
    "uncertain",
    "displacement",
    "trec_eval",
    "collection",
    "check",
    "report",
    "publish",
    "convert",
    "campaign",
    "serve",
    "submit",
    "pool",
    "form",
    "judge",
    "survey",
    "agreement",
    "aggregate",
    "judges",
    "weaklabel",
    "describe",
    "descriptors",
    "search",
    "annotate",
    "fuse",
    "query",
    "index-quality",
    "ontology",
    "tags",
    "groups",
    "relatedness",
    "costmap",
    "lab",
]
EARLIER_STEPS = [
    "results",
    "import",
    "export",
    "backup",
    "restore",
    "verify",
    "clock",
    "rescore",
    "passwd",
    "rehearse",
]


def printed(capsys, *argv):
    code = main(argv)
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize("name", EARLIER)
def test_every_earlier_command_has_a_help(capsys, name):
    code, text, _ = printed(capsys, name, "--help")
    assert code == 0
    assert text.lower().startswith("usage: ")


@pytest.mark.parametrize("step", EARLIER_STEPS)
def test_every_earlier_step_of_campaign_has_a_help(capsys, step):
    code, text, _ = printed(capsys, "campaign", step, "--help")
    assert code == 0
    assert text.startswith(f"usage: cranfield {find_command(['campaign', step])[0]} ")


@pytest.mark.parametrize("alias", ALIASES)
def test_an_alias_says_what_its_command_says(capsys, alias):
    """Help and complaint are the same to the letter; values are those of tests/contract."""
    words, command = alias.split(), ALIASES[alias].split()
    if alias != "report":  # its help is that of the group
        assert printed(capsys, *words, "--help") == printed(capsys, *command, "--help")
    bad = ["--no-such-option"]
    assert printed(capsys, *words, *bad) == printed(capsys, *command, *bad)


def test_aliases_hide_no_command():
    assert not ALIASES.keys() & COMMANDS.keys()
    for alias, command in ALIASES.items():
        assert command in COMMANDS or command in ("site", "--completion"), alias


@pytest.mark.parametrize("name", COMMANDS)
def test_the_parser_of_a_command_has_its_name(name):
    parser = parser_of(name)
    if parser is not None:
        # `eval ranked` is known as `eval`.
        assert parser.prog == f"cranfield {name.removesuffix(' ranked')}"
    module = importlib.import_module(f"cranfield.cli.{COMMANDS[name].module}")
    assert COMMANDS[name].variant in module.COMMANDS if COMMANDS[name].variant else module.main
