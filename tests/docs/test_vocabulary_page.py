"""The console blocks of the page on vocabularies print what it shows."""

import re
import shlex
from pathlib import Path

from cranfield.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "vocabulary.md"


def test_console_blocks_are_true(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text()
    for name, content in re.findall(r"`([\w.]+)`:\n\n```csv\n(.*?)```", text, re.DOTALL):
        (tmp_path / name).write_text(content)
    (tmp_path / "tags.csv").write_text("item,tags\na,sea beach dune\nb,sea dune\n")
    blocks = re.findall(r"```console\n\$ cranfield (.*?)\n(.*?)```", text, re.DOTALL)
    assert len(blocks) == 5
    for command, shown in blocks:
        assert main(shlex.split(command)) == 0
        out = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
        assert not shown or out == shown.splitlines()
