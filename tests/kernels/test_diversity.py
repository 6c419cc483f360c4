"""The kernels of novelty and diversity equal their slow twins."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield as cf
from tests.reference import diversity as slow

ITEMS = [*"abcdefghijkl", "B", "z10", "z9"]


@st.composite
def problems(draw: st.DrawFn):
    subtopics = draw(st.integers(1, 5))
    judged = draw(
        st.dictionaries(
            st.sampled_from(ITEMS), st.frozensets(st.integers(0, subtopics - 1)), min_size=1
        )
    )
    ranking = draw(st.lists(st.sampled_from([*ITEMS, "n1", "n2"]), unique=True, min_size=1))
    return judged, ranking


def evaluate(judged, ranking, names: list[str]) -> dict[str, float | None]:
    subtopics = sorted({s for found in judged.values() for s in found} | {0})
    table = {str(s): {item: int(s in found) for item, found in judged.items()} for s in subtopics}
    # A topic of its own keeps the run from being unjudged.
    judgements = cf.Judgements.from_subtopics({"t": table, "anchor": {"1": {"a": 1}}})
    run = {"t": {item: float(-n) for n, item in enumerate(ranking)}, "anchor": {"a": 1.0}}
    return cf.evaluate(judgements, run, names).per_topic()[0]


@given(problems(), st.sampled_from([0.0, 0.3, 0.5, 1.0]), st.sampled_from([1, 2, 5, 20]))
@settings(max_examples=150, deadline=None)
def test_twins(problem, alpha: float, k: int) -> None:
    judged, ranking = problem
    found = [judged.get(item, frozenset()) for item in ranking]
    expected = {
        f"alpha_DCG@{k}(alpha={alpha})": slow.novelty(found, judged, alpha, slow.logarithm, k),
        f"alpha_nDCG@{k}(alpha={alpha})": slow.normalized_novelty(
            found, judged, alpha, slow.logarithm, k
        ),
        f"ERR_IA@{k}(alpha={alpha})": slow.novelty(found, judged, alpha, slow.reciprocal, k),
        f"nERR_IA@{k}(alpha={alpha})": slow.normalized_novelty(
            found, judged, alpha, slow.reciprocal, k
        ),
        f"NRBP(alpha={alpha}, beta=0.8)": slow.novelty(
            found, judged, alpha, slow.geometric(0.8), 400
        ),
        f"nNRBP(alpha={alpha}, beta=0.8)": slow.normalized_novelty(
            found, judged, alpha, slow.geometric(0.8), 400
        ),
        f"P_IA@{k}": slow.intent_precision(found, judged, k),
        f"StRecall@{k}": slow.subtopic_recall(found, judged, k),
        "AP_IA": slow.intent_ap(found, judged),
    }
    values = evaluate(judged, ranking, list(expected))
    for name, value in expected.items():
        fast = values[str(cf.measure(name))]
        if math.isnan(value):
            assert fast is None, name
        else:
            assert fast == pytest.approx(value, rel=1e-9, abs=1e-12), name


@given(problems())
@settings(max_examples=60, deadline=None)
def test_values_lie_between_0_and_1_but_where_greed_fails(problem) -> None:
    judged, ranking = problem
    names = ["alpha_DCG@5", "ERR_IA@5", "NRBP", "P_IA@5", "StRecall@5", "AP_IA"]
    for name, value in evaluate(judged, ranking, names).items():
        if name in names and value is not None:
            assert 0 <= value <= 1 + 1e-12, name


def test_judgements_without_subtopics_are_refused() -> None:
    with pytest.raises(cf.NeedsError, match="alpha_nDCG@10 needs judgements with subtopics"):
        cf.evaluate({"t": {"a": 1}}, {"t": {"a": 1.0}}, "alpha_nDCG@10")


def test_a_file_with_subtopics(tmp_path) -> None:
    """Ordinary measures take the best grade of an item; the same file gives both."""
    (tmp_path / "qrels").write_text("t 1 a 1\nt 2 a 0\nt 2 b 1\nt 3 b 2\n")
    (tmp_path / "run").write_text("t Q0 a 1 2 x\nt Q0 b 2 1 x\n")
    scores = cf.evaluate(tmp_path / "qrels", [tmp_path / "run"], "StRecall@1 NumRel nDCG@2")
    assert scores.mean()["run"]["StRecall@1"] == pytest.approx(1 / 3)
    assert scores.mean()["run"]["NumRel"] == 2
    (tmp_path / "same").write_text("t 1 a 1\nt 2 a 1\nt 2 b 1\n")
    assert cf.read_qrels(tmp_path / "same").subtopics.tolist() == [3, 2]
    many = "".join(f"t {s} a 1\n" for s in range(54))
    (tmp_path / "many").write_text(many)
    with pytest.raises(cf.InputError, match="has 54 subtopics; 53 can be told apart"):
        cf.read_qrels(tmp_path / "many")
