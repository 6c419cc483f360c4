"""The page on publishing: its commands work, and its Python does."""

import re
from pathlib import Path

import pytest

from cranfield.cli import main
from cranfield.io.samples import copy_sample

pytest.importorskip("jinja2")
PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "publish.md").read_text()
COMMANDS = [
    line.split()[2:]
    for line in PAGE.splitlines()
    if line.startswith("$ cranfield") and " digits" in line
]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_commands_on_the_sample_work(command, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    copy_sample("digits")
    few = ["--resamples", "50"] if command[0] == "publish" else []
    assert main([*command, *few]) == 0
    capsys.readouterr()


def test_what_is_promised_is_there(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    copy_sample("digits")
    code = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
    exec(compile(code[0].replace("release_truth=False", "resamples=50"), "page", "exec"), {})
    for name in ("index.html", "site.json", "results/labels/items.csv"):
        assert (tmp_path / "site" / name).is_file()


def test_pictures_are_there():
    for name in re.findall(r"\.\./images/([\w-]+\.png)", PAGE):
        assert (Path(__file__).parents[2] / "docs" / "images" / name).is_file()
