"""The console blocks of the how-to on annotation print what the page shows."""

import re
from pathlib import Path

from cranfield.cli import main

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "annotation.md"


def test_console_blocks_are_true(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text()
    for name, content in re.findall(r"`([\w.]+)`:\n\n```(?:csv|toml)\n(.*?)```", text, re.DOTALL):
        (tmp_path / name).write_text(content)
    blocks = re.findall(
        r"```console\n\$ cranfield ((?:eval labels truth\.csv|concepts ontology).*?)\n(.*?)```",
        text,
        re.DOTALL,
    )
    assert len(blocks) == 4
    for command, shown in blocks:
        argv = [part.strip('"') for part in re.findall(r'"[^"]*"|\S+', command)]
        assert main(argv) == 0
        out = capsys.readouterr().out
        assert [line.rstrip() for line in out.splitlines()] == shown.splitlines()
