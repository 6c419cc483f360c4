"""To and from ranx. It is large and compiles at first use, so it is no dependency of the suite:
stand-ins with its attributes are used, and ranx itself where it is installed."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

import pytest

import cranfield as cf
from cranfield.compat.ranx import from_ranx, to_ranx
from cranfield.data import Judgements, Run

SCORES = {"q_1": {"d_1": 1.5, "d_2": 2.6}, "q_2": {"d_3": 2.8}}
GRADES = {"q_1": {"d_1": 1, "d_2": 0}, "q_2": {"d_3": 3}}


@dataclass
class StandInRun:
    run: dict[str, dict[str, float]]
    name: str | None = None
    scores: dict[str, Any] = field(default_factory=dict)


@dataclass
class StandInQrels:
    qrels: dict[str, dict[str, int]]
    name: str | None = None


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    module = SimpleNamespace(Run=StandInRun, Qrels=StandInQrels)
    monkeypatch.setitem(sys.modules, "ranx", module)  # type: ignore[arg-type]


def test_from_ranx() -> None:
    run, judged = from_ranx(StandInRun(SCORES, "bm25")), from_ranx(StandInQrels(GRADES))
    assert isinstance(run, Run)
    assert run.name == "bm25"
    assert run.to_dict() == SCORES
    assert isinstance(judged, Judgements)
    assert judged.to_dict() == GRADES
    assert cf.evaluate(judged, run, "RR").mean() == {"bm25": {"RR": 0.75}}


@pytest.mark.usefixtures("stand_in")
def test_to_ranx() -> None:
    there = to_ranx(Run.from_dict(SCORES).named("mine"))
    assert (there.run, there.name) == (SCORES, "mine")
    assert to_ranx(Judgements.from_dict(GRADES)).qrels == GRADES


@pytest.mark.usefixtures("stand_in")
def test_what_ranx_cannot_hold() -> None:
    with pytest.raises(cf.InputError, match=r"grade 0\.5 of item 'd', topic 'q', is not whole"):
        to_ranx(Judgements.from_dict({"q": {"d": 0.5}}))
    with pytest.raises(cf.InputError, match="is empty"):
        to_ranx(Run.from_dict({}))
    with pytest.raises(cf.UsageError, match=r"expected a ranx\.Run"):
        from_ranx({"q": {"d": 1.0}})
    with pytest.raises(cf.UsageError, match="expected a Run or Judgements"):
        to_ranx([1])  # type: ignore[arg-type]


def test_without_ranx(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ranx", None)
    with pytest.raises(cf.MissingExtraError, match="ranx"):
        to_ranx(Run.from_dict(SCORES))


def test_ranx_itself() -> None:
    ranx = pytest.importorskip("ranx", reason="ranx is no dependency of the suite")
    run, judged = ranx.Run(SCORES, name="bm25"), ranx.Qrels(GRADES)
    back = from_ranx(run)
    assert isinstance(back, Run)
    assert (back.to_dict(), back.name) == (SCORES, "bm25")
    assert from_ranx(judged).to_dict() == GRADES
    assert to_ranx(back).to_dict() == SCORES
    assert to_ranx(from_ranx(judged)).to_dict() == GRADES
    expected = ranx.evaluate(judged, run, ["mrr", "ndcg@10", "map"])
    found = cf.evaluate(from_ranx(judged), back, "RR nDCG@10 AP").mean()["bm25"]
    assert list(found.values()) == pytest.approx(list(expected.values()))
