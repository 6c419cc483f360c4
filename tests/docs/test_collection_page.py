"""The pages on collections: every key and table is there, and commands print what is shown."""

import importlib.util
import re
import shlex
from pathlib import Path

import cranfield as cf
from cranfield.campaign.results import TABLES
from cranfield.cli import main
from cranfield.io.collection import DECLARED, KEYS, KINDS, RUN_KEYS, TEAM_KEYS
from cranfield.io.samples import copy_sample

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "own-collection.md").read_text()


def test_every_key_is_in_the_reference_with_a_kind_that_is_explained():
    spec = importlib.util.spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    generate = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generate)
    page = generate.collection_page()
    for key in DECLARED:
        assert f"| `{key.name}` | {key.about} |" in page
    for name in (*TEAM_KEYS, *RUN_KEYS):
        assert f"`{name}`" in page
    assert {key.kind for key in DECLARED} == set(KINDS)
    assert len(set(KEYS)) == len(KEYS)


def test_every_table_is_listed_with_its_source():
    for table in TABLES.values():
        assert f"| `{table.name}` | {table.title} | {table.source} |" in PAGE


def test_commands_print_what_the_page_shows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    copy_sample("digits")
    Path("mine.csv").write_text("item,Zero,One\nd0601,0.1,0.8\nd601,0.3,0.2\n")
    blocks = re.findall(r"```console\n\$ cranfield (.*?)\n(.*?)```", PAGE, re.DOTALL)
    shown = [(command, text) for command, text in blocks if text]
    assert len(shown) == 3
    for command, text in shown:
        main(shlex.split(command))
        out = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
        assert out == text.splitlines(), command


def test_the_figures_of_the_page_can_be_read(tmp_path):
    figures = re.search(r"```csv\n(.*?)```", PAGE, re.DOTALL)[1]
    path = tmp_path / "figures.csv"
    path.write_text(figures)
    table = cf.campaign_results(path, "best-per-concept")
    assert table.facts["by_configuration"] == {"M": 1, "V": 1}
