"""Files beside the package: workflows, the action, containers and units name what there is."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import pytest
import yaml

from cranfield._version import __version__
from cranfield.cli import find_command, parser_of

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
# Not for users: tools, peers, and what is made of other extras.
NOT_FOR_USERS = {"all", "bench", "dev", "docs", "test"}


def check_command(words: list[str]) -> None:
    """The command and all of its options are known."""
    name, rest = find_command(words)
    parser = parser_of(name)
    assert parser is not None, words
    options = {word.split("=")[0] for word in rest if word.startswith("--")}
    assert options <= parser.option_names(), options - parser.option_names()


def extras_named(lines: list[str]) -> set[str]:
    return {extra for line in lines for extra in re.findall(r"[\w-]+", line.partition("[")[2])}


def test_the_extra_all_has_all_that_users_may_need() -> None:
    extras = PROJECT["optional-dependencies"]
    assert extras_named(extras["all"]) == set(extras) - NOT_FOR_USERS


def test_the_extra_dev_is_tests_docs_and_linters() -> None:
    dev = PROJECT["optional-dependencies"]["dev"]
    assert {"docs", "test"} <= extras_named(dev[:1])
    assert {re.split(r"[=>]", line)[0] for line in dev[1:]} == {
        "clang-format",
        "import-linter",
        "mypy",
        "ruff",
    }


def test_the_citation_has_the_version() -> None:
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == __version__
    assert citation["license"] == PROJECT["license"]


def test_the_changelog_names_every_version_and_its_day() -> None:
    changelog = (ROOT / "CHANGELOG.md").read_text()
    row = r"^\| (\d[\d.]*) \| (\d{4}-\d\d-\d\d) \| [^(]*\(changes/\1\.md\)"
    days = dict(re.findall(row, changelog, re.M))
    assert set(days) == {path.stem for path in (ROOT / "changes").glob("[0-9]*.md")}
    newest = max(days, key=lambda version: [int(part) for part in version.split(".")])
    assert newest == __version__
    assert yaml.safe_load((ROOT / "CITATION.cff").read_text())["date-released"] == days[newest]


@pytest.mark.parametrize("path", sorted((ROOT / ".github").rglob("*.yml")), ids=lambda p: p.stem)
def test_workflows_and_templates_are_yaml(path: Path) -> None:
    assert yaml.safe_load(path.read_text())["name"]


def test_the_action_calls_compare_as_it_is() -> None:
    action = yaml.safe_load((ROOT / "action.yml").read_text())
    script = next(s["run"] for s in action["runs"]["steps"] if "cranfield compare" in s["run"])
    call = re.search(r"cranfield (compare .*?) \|\|", script.replace("\\\n", " "), re.DOTALL)
    assert call is not None
    check_command(shlex.split(call[1]))
    used = set(re.findall(r"inputs\.(\w+)", (ROOT / "action.yml").read_text()))
    assert used == set(action["inputs"])


def test_the_units_of_the_site_call_it_as_it_is() -> None:
    compose = yaml.safe_load((ROOT / "deploy/compose.yml").read_text())
    check_command(compose["services"]["site"]["command"])
    unit = (ROOT / "deploy/cranfield.service").read_text()
    start = re.search(r"ExecStart=\S+/cranfield (.*)", unit)
    backup = re.search(r"bin/cranfield (.*?) &&", (ROOT / "deploy/backup.cron").read_text())
    image = re.search(r"CMD (\[.*\])", (ROOT / "Dockerfile").read_text())
    assert start is not None
    assert backup is not None
    assert image is not None
    check_command(shlex.split(start[1]))
    check_command(shlex.split(backup[1]))
    check_command(yaml.safe_load(image[1]))


def test_the_image_copies_what_is_there_and_extras_that_exist() -> None:
    text = (ROOT / "Dockerfile").read_text()
    copied = [n for line in re.findall(r"^COPY (?!--)(.*) \S+$", text, re.M) for n in line.split()]
    assert copied
    assert all((ROOT / name).exists() for name in copied)
    named = {e for group in re.findall(r"'[\w.]*\[(.*?)\]'", text) for e in group.split(",")}
    assert named
    assert named <= set(PROJECT["optional-dependencies"])
