"""Tables sorted, with other digits, turned; what a comparison opens with; units as a matrix."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import sys
import termios
from dataclasses import replace

import pytest

from cranfield.cli import main
from cranfield.errors import UsageError
from cranfield.io.samples import SAMPLE
from cranfield.report.document import Column, Document, Table
from cranfield.report.render import render
from cranfield.report.rendering import arrange_tables, transpose_table

QRELS = str(SAMPLE / "qrels.txt.gz")
RUNS = [str(SAMPLE / "runs" / f"{n}.run.gz") for n in ("pca", "pixels", "random")]
TABLE = Table(
    [
        Column("run", numeric=False),
        Column("AP", best="max"),
        Column("E", best="min"),
        Column("n", 0),
    ],
    [["b", 0.25, 0.5, 3], ["a", 0.75, None, 2], ["c", 0.5, 0.125, 3], ["(truth)", 1.0, 0.0, 9]],
    marks={(0, 1): "x"},
)


def order(**how):
    return [row[0] for row in arrange_tables(Document({}, [TABLE]), **how).tables[0].rows]


def test_sorting_puts_the_best_first_and_what_does_not_compete_last():
    assert order(sort="AP") == ["a", "c", "b", "(truth)"]
    assert order(sort="e") == ["c", "b", "a", "(truth)"]
    assert order(sort="run") == ["a", "b", "c", "(truth)"]
    found = arrange_tables(Document({}, [TABLE]), sort="AP").tables[0]
    assert found.marks == {(2, 1): "x"}
    with pytest.raises(UsageError, match="there is no such column"):
        order(sort="AQ")


def test_digits_are_for_people():
    document = arrange_tables(Document({}, [TABLE]), digits=1)
    assert "0.2" in render(document, "table")
    assert "0.25" not in render(document, "table")
    assert "b,0.25,0.5,3" in render(document, "csv")
    assert [c.digits for c in document.tables[0].columns] == [4, 1, 1, 0]


def test_turning():
    plain = Table(TABLE.columns, TABLE.rows)
    found = transpose_table(plain)
    assert [c.label for c in found.columns] == ["run", "b", "a", "c", "(truth)"]
    assert found.rows[0] == ["AP", "0.2500 ", "0.7500 ", "0.5000 ", "1.0000*"]
    assert transpose_table(TABLE).rows[0][1] == "0.2500 x"
    narrow = arrange_tables(Document({}, [plain]), width=10).tables[0]
    assert narrow.columns[0].label == "run"
    wide = Table([Column(f"column {j}") for j in range(9)], [list(range(9))])
    assert len(arrange_tables(Document({}, [wide]), width=40).tables[0].rows) == 8
    assert arrange_tables(Document({}, [wide]), width=200).tables[0] is wide


def test_bars_are_drawn_where_they_fit():
    columns = [replace(TABLE.columns[0]), replace(TABLE.columns[1], bar=True)]
    table = Table(columns, [row[:2] for row in TABLE.rows])
    for width, drawn in ((80, True), (30, False)):
        found = render(arrange_tables(Document({}, [table]), width=width), "table", colour=True)
        assert ("█" in found) is drawn


def test_options_of_the_command(capsys):
    argv = ["eval", QRELS, *RUNS, "-m", "AP P@10"]
    assert main([*argv, "--sort", "run", "--digits", "2"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines[-4:-1]] == ["pca", "pixels", "random"]
    assert "0.5450" not in lines[-4]
    assert main([*argv, "--transpose"]) == 0
    heads = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["run", "pca", "pixels", "random"] in heads
    assert main([*argv, "--format", "json", "--sort", "run", "--digits", "1"]) == 0
    sorted_json = json.loads(capsys.readouterr().out)
    assert main([*argv, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == sorted_json
    assert main([*argv, "--sort", "nDCG"]) == 2
    told = capsys.readouterr().err
    assert "--sort nDCG: there is no such column" in told
    assert "The columns are: run, AP, P@10" in told


@pytest.mark.parametrize("columns, turned_by_itself", [(60, True), (200, False), (0, False)])
def test_a_table_wider_than_the_terminal_is_turned(columns, turned_by_itself):
    measures = " ".join(f"P@{k}" for k in range(1, 16))
    argv = [sys.executable, "-m", "cranfield", "eval", QRELS, RUNS[0], "-m", measures, "--quiet"]
    outer, inner = pty.openpty()
    fcntl.ioctl(inner, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    done = subprocess.Popen(argv, stdout=inner, env=os.environ | {"NO_COLOR": "1"})
    assert done.wait(60) == 0
    os.close(inner)
    shown = os.read(outer, 100_000).decode().splitlines()
    os.close(outer)
    assert any(line.startswith("P@15 ") for line in shown) is turned_by_itself


def test_a_comparison_opens_with_its_summary(capsys):
    argv = ["compare", QRELS, *RUNS, "-m", "AP RR", "--baseline", "pixels", "--resamples", "99"]
    assert main(argv) == 0
    brief = capsys.readouterr().out
    assert "Summary\n" in brief
    assert "Differences" not in brief
    footnote = brief.rstrip().splitlines()[-1]
    assert footnote.startswith("Stars: differs significantly from pixels.")
    assert "99 resamples" in footnote
    assert main([*argv, "--show", "all"]) == 0
    whole = capsys.readouterr().out
    for title in ("Summary", "Leaderboard: AP", "Differences", "Effect sizes"):
        assert title in whole
    assert main([*argv, "--detect", "0.05"]) == 0
    assert "Effect sizes" in capsys.readouterr().out
    assert main([*argv, "--format", "csv"]) == 0
    assert capsys.readouterr().out.startswith("measure,a,b,")


def test_units_are_a_matrix(capsys):
    assert main(["eval", QRELS, *RUNS[:2], "-m", "AP RR", "--per-topic"]) == 0
    shown = capsys.readouterr().out
    for measure in ("AP", "RR"):
        head = shown.split(f"{measure} per topic\n")[1].splitlines()[0]
        assert head.split() == ["topic", "pca", "pixels"]
    assert shown.count("zero-1 ") == 2
    assert main(["eval", QRELS, RUNS[0], "-m", "AP RR", "--per-topic"]) == 0
    head = capsys.readouterr().out.split("Per topic\n")[1].splitlines()[0]
    assert head.split() == ["topic", "AP", "RR"]
    assert main(["eval", QRELS, *RUNS[:2], "-m", "AP", "--per-topic", "--format", "csv"]) == 0
    assert capsys.readouterr().out.startswith("run,topic,AP\npca,")


def test_what_was_written_is_told(capsys, tmp_path):
    path = tmp_path / "scores.csv"
    assert main(["eval", QRELS, RUNS[0], "--format", "csv", "-o", str(path)]) == 0
    assert f"wrote {path} (2 lines)" in capsys.readouterr().err
