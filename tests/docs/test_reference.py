"""Every measure, command, option and public name is documented; every page is in the navigation."""

import argparse
import importlib
import importlib.util
import re
from pathlib import Path

import pytest

import cranfield
from cranfield.cli import COMMANDS, parser_of, trec_eval
from cranfield.evaluation.fusion import METHODS
from cranfield.evaluation.measure_catalogue import all_sets, signature
from cranfield.features import DESCRIPTORS, DISTANCES
from cranfield.measures import REGISTRY
from cranfield.references import REFERENCES

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    folder = tmp_path_factory.mktemp("reference")
    generate.write(folder)
    return {path.name: path.read_text() for path in folder.iterdir()}


@pytest.mark.parametrize("name", REGISTRY)
def test_measure_has_its_section_with_title_and_parameters(pages, name):
    declared = REGISTRY[name]
    section = pages["measures.md"].split(f"### {signature(declared)}\n")[1].split("\n### ")[0]
    assert declared.title in section
    for param in declared.params:
        assert f"`{param}=" in section


@pytest.mark.parametrize("name", all_sets())
def test_set_is_listed(pages, name):
    assert f"- `{name}`:" in pages["measures.md"]


@pytest.mark.parametrize("name", [*DESCRIPTORS, *DISTANCES])
def test_descriptor_and_distance_have_their_section(pages, name):
    declared = DESCRIPTORS.get(name) or DISTANCES[name]
    assert f"### {name}\n\n**{declared.title}.**" in pages["descriptors.md"]


def test_every_source_is_known_and_used():
    declared = [*REGISTRY.values(), *DESCRIPTORS.values(), *DISTANCES.values(), *METHODS.values()]
    used = {one.source.key for one in declared}
    assert used <= set(REFERENCES)


def options_of(parser):
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for sub in action.choices.values():
                yield from options_of(sub)
        elif not isinstance(action, argparse._HelpAction):
            yield action


@pytest.mark.parametrize("command", COMMANDS)
def test_command_and_its_options_are_described(pages, command):
    parser = parser_of(command)
    assert f"## cranfield {command}\n" in pages["commands.md"]
    if parser is not None:
        for action in options_of(parser):
            assert action.help, f"{command}: {action.dest} has no help"
    else:
        assert trec_eval.USAGE.startswith("usage: cranfield")


@pytest.mark.parametrize("command", [name for name in COMMANDS if name != "trec_eval"])
def test_the_help_tells_the_defaults_that_hold(command):
    for action in options_of(parser_of(command)):
        if isinstance(action.default, str) and action.default is not argparse.SUPPRESS:
            told, holds = (text.replace(" ", "") for text in (action.help, action.default))
            assert holds in told, f"{command}: {action.option_strings}"


@pytest.mark.parametrize("name", [n for n in cranfield.__all__ if n != "__version__"])
def test_public_name_is_described(pages, name):
    assert f"\n## {name}\n" in pages["python.md"]
    assert getattr(cranfield, name).__doc__


def test_every_page_is_in_the_navigation():
    nav = (ROOT / "mkdocs.yml").read_text().split("\nnav:\n")[1]
    listed = set(re.findall(r"[\w/.-]+\.md", nav))
    pages_made = ("measures", "descriptors", "collection", "commands", "python", "routes")
    generated = {f"reference/{name}.md" for name in pages_made}
    generated |= {"gallery.md"}
    generated |= {f"sources/{name}.md" for name in ("index", "ch", "no", "ro", "sa", "sh")}
    written = {p.relative_to(ROOT / "docs").as_posix() for p in (ROOT / "docs").rglob("*.md")}
    assert written | generated == listed | generated


def heads(text):
    """The heads of the tables of a page: the line above each rule."""
    lines = text.splitlines()
    rule = re.compile(r"^\s*\|(\s*:?-+:?\s*\|)+\s*$")
    return [lines[i - 1].strip() for i, line in enumerate(lines) if i and rule.match(line)]


def test_no_table_has_an_empty_head(pages):
    written = {p: p.read_text() for p in (ROOT / "docs").rglob("*.md")}
    for page, text in {**written, **pages}.items():
        for head in heads(text):
            assert all(cell.strip() for cell in head.strip("|").split("|")), (str(page), head)


def test_every_method_on_the_python_page_is_described(pages):
    bare = re.findall(r"^- `[^`]+`: *$", pages["python.md"], flags=re.MULTILINE)
    assert not bare
