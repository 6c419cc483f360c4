"""The how-to on detectors prints what it shows, and the table of names is true."""

import re
from pathlib import Path

import pytest

import cranfield as cf
from cranfield.cli import main
from cranfield.measures.regions import REGION_SETS, parse_region_measures

DOCS = Path(__file__).parents[2] / "docs" / "how-to"
PAGE = (DOCS / "detection.md").read_text()
TABLE = re.findall(
    r"^\| `stats\[(\d+)\]` \| `(.+?)` \| `(.+?)` \|$",
    (DOCS / "coming-from.md").read_text(),
    flags=re.MULTILINE,
)


def test_the_console_block_is_true(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, content in re.findall(r"`([\w.]+)`:\n\n```csv\n(.*?)```", PAGE, re.DOTALL):
        (tmp_path / name).write_text(content)
    (block,) = re.findall(r"\$ cranfield (eval regions truth.*?)\n(.*?)```", PAGE, re.DOTALL)
    argv = [part.strip('"') for part in re.findall(r'"[^"]*"|\S+', block[0])]
    assert main(argv) == 0
    printed = capsys.readouterr().out
    assert [line.rstrip() for line in printed.splitlines()] == block[1].splitlines()


def test_the_python_block_runs():
    names = {}
    exec(re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)[0], names)
    assert names["scores"].mean()["mine"]["AP.region"] == pytest.approx(0.8, abs=0.2)


def test_the_figures_of_pycocotools_are_in_their_order():
    assert [ours for _, _, ours in TABLE] == list(REGION_SETS["coco"])
    assert [int(number) for number, _, _ in TABLE] == list(range(12))
    masks = [str(m).replace(", shape='mask'", "") for m in parse_region_measures("segm")]
    masks = [name.replace("(shape='mask')", "") for name in masks]
    assert masks == list(REGION_SETS["coco"])


@pytest.mark.parametrize(("theirs", "ours"), [row[1:] for row in TABLE if row[1] != "map"])
def test_names_of_torchmetrics(theirs, ours):
    truth, run = {"a": [("cat", 0, 0, 40, 40)]}, {"a": [("cat", 2, 0, 40, 40, 0.5)]}
    scores = cf.evaluate_regions(truth, run, [theirs])
    assert [str(m) for m in scores.measures] == [ours]
