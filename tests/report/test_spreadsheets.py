"""Text of others in tables: no formulas in spreadsheets, no commands to terminals."""

from __future__ import annotations

import csv
import io
import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from cranfield.cli import main
from cranfield.report.document import Column, Document, Table
from cranfield.report.render import render

FORMULAS = ["=1+1", "+1", "-1", "@sum", "\tx", "\rx"]


def test_text_is_marked_and_numbers_are_not() -> None:
    rows = [[text, -0.25, -3, None] for text in [*FORMULAS, "plain", "a=b"]]
    columns = [Column("=name"), Column("x", numeric=True), Column("n", numeric=True), Column("e")]
    document = Document({}, [Table(columns, rows)])
    plain = list(csv.reader(io.StringIO(render(document, "csv"), newline="")))
    marked = list(csv.reader(io.StringIO(render(document, "csv", spreadsheet=True), newline="")))
    assert [row[0] for row in plain[1:]] == [*FORMULAS, "plain", "a=b"]
    assert [row[0] for row in marked] == ["'=name", *(f"'{t}" for t in FORMULAS), "plain", "a=b"]
    for row in marked[1:]:
        assert (float(row[1]), int(row[2]), row[3]) == (-0.25, -3, "")


def test_every_number_of_a_command_is_read_back_equal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("q").write_text("=t 0 a 1\n-u 0 b 1\n")
    Path("=r.run").write_text("=t Q0 b 1 2 x\n=t Q0 a 2 1 x\n-u Q0 b 1 1 x\n")
    common = ["eval", "q", "=r.run", "-m", "AP nDCG@10", "--per-topic"]
    assert main([*common, "--format", "csv", "--spreadsheet"]) == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert main([*common, "--format", "json"]) == 0
    wanted = json.loads(capsys.readouterr().out)["per_topic"]
    rows = [row for row in rows if row["topic"] != "all"]
    assert [(r["run"], r["topic"]) for r in rows] == [("'=r", "'=t"), ("'=r", "'-u")]
    for found, exact in zip(rows, wanted, strict=True):
        assert float(found["AP"]) == exact["AP"]
        assert float(found["nDCG@10"]) == exact["nDCG@10"]


@pytest.mark.parametrize("form", ["table", "csv", "tsv", "json", "markdown"])
def test_control_characters_never_reach_a_terminal(tmp_path: Path, form: str) -> None:
    (tmp_path / "q").write_text("t 0 a 1\n")
    name = "r\x1b]0;owned\x07\x9b31m.run"
    (tmp_path / name).write_text("t Q0 a 1 2 x\n")
    reader, writer = pty.openpty()
    command = [sys.executable, "-m", "cranfield", "eval", "q", name, "--format", form]
    done = subprocess.run(
        command,
        cwd=tmp_path,
        stdout=writer,
        stderr=writer,
        env=os.environ | {"NO_COLOR": "1"},
        timeout=120,
    )
    os.close(writer)
    shown = os.read(reader, 1 << 16).decode()
    os.close(reader)
    assert done.returncode == 0
    assert not any((ord(c) < 32 and c not in "\r\n\t") or 0x7F <= ord(c) < 0xA0 for c in shown)
    assert "owned" in shown
