"""The page that explains the truth: tables that programs write into it are there."""

import re
from pathlib import Path

import pytest

import cranfield as cf

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "truth.md"
BLOCKS = {
    "truth:crowds",
    "truth:reasons",
    "check:silver",
    "check:differences",
    "check:alike",
    "check:coarse",
    "check:gold-clusters",
    "dl19:small-gold",
    "dl19:some-pairs",
    "dl19:judges",
}


def test_every_table_is_filled():
    found = dict(re.findall(r"<!-- (\S+:\S+) -->\n(.*?)<!-- /\1 -->", PAGE.read_text(), re.DOTALL))
    assert set(found) == BLOCKS
    for name, table in found.items():
        assert table.count("\n| ") >= 2, name


def test_the_example_of_incomplete_and_graded_labels():
    code = re.search(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)[1]
    held: dict = {}
    exec(code, held)
    found = held["scores"].mean()["mine"]
    assert found["HammingLoss"] == pytest.approx((0.25 + 0.07) / 4)
    assert found["F.example"] == pytest.approx((0.75 + 0.25 * 2 / 3 + 0.93) / 2, abs=0.012)
    absent = held["truth"] | {"b.jpg": {"Sky": 0.0, "Sea": 0.0}}
    run = {"mine": held["run"]}
    asked = {"soft": True, "draws": 2000}
    unseen = cf.evaluate_labels(absent, run, "F.example", **asked).mean()["mine"]
    assert unseen["F.example"] == pytest.approx((0.75 + 0.25 * 2 / 3 + 1) / 2, abs=0.012)
