"""`cranfield measures NAME` ends with an example that is computed."""

from __future__ import annotations

import json

import pytest

from cranfield.cli import main
from cranfield.evaluation.measure_catalogue import worked_example
from cranfield.measures import REGISTRY


@pytest.mark.parametrize("name", REGISTRY)
def test_every_measure_of_rankings_has_one(name: str) -> None:
    m = REGISTRY[name]
    worked = worked_example(m)
    if "ranking" in m.needs:
        assert worked is not None
        assert worked.values
        assert all(m.range[0] <= v <= m.range[1] for v in worked.values.values() if "(" not in name)


@pytest.mark.parametrize(
    "name, value", [("ADR", 0.8192), ("CG@10", 12), ("FirstTier(rel=2)", 2 / 3)]
)
def test_it_is_the_example_of_shrec(
    capsys: pytest.CaptureFixture[str], name: str, value: float
) -> None:
    assert main(["measures", name, "--format", "json"]) == 0
    worked = json.loads(capsys.readouterr().out)["measures"][0]["worked_example"]
    assert worked["values"][name] == pytest.approx(value, abs=1e-4)


def test_it_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["measures", "MNRO"]) == 0
    out = capsys.readouterr().out
    assert "worked example" in out
    assert "MNRO(generality='printed') = 0.1818" in out
