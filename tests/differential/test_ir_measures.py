"""Cranfield's provider against the providers that ir_measures has itself, value by value.

ir_measures is asked for one measure at a time: when it is asked for several, its provider for
pytrec_eval puts nDCG and NumRet into the pass of any other measure, which may have other gains
or leave out unjudged items, and its answer depends on the order of a set.
"""

from __future__ import annotations

import random
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

im = pytest.importorskip("ir_measures", reason="the outside witness ir_measures is absent")

from cranfield.compat import ir_measures as compat  # noqa: E402

NDCG_GAINS = im.nDCG(gains={0: 0, 1: 3, 2: 1})
SHARED = [
    im.P @ 5,
    im.P(rel=2) @ 10,
    im.P(judged_only=True) @ 3,
    im.R @ 10,
    im.R(rel=2) @ 7,
    im.R(judged_only=True) @ 4,
    im.RR,
    im.RR(rel=2),
    im.RR(judged_only=True),
    im.RR @ 3,
    im.RR(rel=2) @ 10,
    im.AP,
    im.AP(rel=2),
    im.AP @ 10,
    im.AP(judged_only=True) @ 5,
    im.Rprec,
    im.Rprec(rel=2),
    im.Bpref,
    im.Bpref(rel=2),
    im.infAP,
    im.infAP(rel=2),
    im.nDCG,
    im.nDCG @ 10,
    im.nDCG(judged_only=True) @ 10,
    NDCG_GAINS,
    NDCG_GAINS @ 5,
    im.nDCG(gains={1: -1, 2: 5, -1: 2}, judged_only=True) @ 5,
    im.IPrec @ 0.1,
    im.IPrec(rel=2) @ 0.35,
    im.IPrec(judged_only=True) @ 0.7,
    im.Success @ 1,
    im.Success(rel=2) @ 5,
    im.Success(judged_only=True) @ 2,
    im.Judged @ 5,
    im.Judged @ 100,
    im.SetP,
    im.SetP(rel=2),
    im.SetP(judged_only=True),
    im.SetRelP,
    im.SetR,
    im.SetR(rel=2),
    im.SetF,
    im.SetF(beta=2.0),
    im.SetF(beta=0.5, judged_only=True),
    im.SetAP,
    im.SetAP(rel=2),
    im.NumQ,
    im.NumRet,
    im.NumRelRet,
    im.NumRet(rel=2),
    im.NumRel,
]
# gdeval prints five digits, and divides by zero for a topic without a relevant item.
PRINTED_BY_GDEVAL = [im.nDCG(dcg="exp-log2") @ 10, im.nDCG(dcg="exp-log2") @ 3, im.ERR @ 20]


def problem(seed: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    draw = random.Random(seed)
    pool = [f"d{i}" for i in range(draw.choice([8, 40, 300]))]
    topics = [str(i) for i in range(1, 7)]
    judged = {}
    for topic in topics[:-1]:
        chosen = draw.sample(pool, draw.randint(4, len(pool)))
        judged[topic] = {item: draw.choice([-1, 0, 0, 1, 2]) for item in chosen}
        judged[topic][chosen[0]], judged[topic][chosen[1]] = 2, 0
    value = draw.choice([lambda: draw.randint(0, 5) / 4, draw.random, lambda: draw.randint(0, 9)])
    run = {}
    for topic in topics[1:]:
        retrieved = draw.sample(pool, draw.randint(1, len(pool)))
        if topic in judged:  # a judged item for those that leave the others out
            retrieved = list(dict.fromkeys([*retrieved, *list(judged[topic])[:2]]))
        run[topic] = {item: value() for item in retrieved}
    return judged, run


def values(source: Any, measures: list[Any], judged: Any, run: Any) -> dict[tuple[str, str], float]:
    return {(str(m.measure), m.query_id): m.value for m in source.iter_calc(measures, judged, run)}


def one_by_one(measures: list[Any], judged: Any, run: Any) -> dict[tuple[str, str], float]:
    found: dict[tuple[str, str], float] = {}
    for measure in measures:
        found |= values(im.DefaultPipeline, [measure], judged, run)
    return found


@pytest.fixture
def installed() -> Iterator[None]:
    compat.install()
    yield
    compat.uninstall()


@pytest.mark.parametrize("seed", range(40))
def test_every_shared_measure_of_every_topic(seed: int) -> None:
    judged, run = problem(seed)
    expected = one_by_one(SHARED, judged, run)
    found = values(compat.CranfieldProvider(), SHARED, judged, run)
    assert found == pytest.approx(expected, abs=1e-9, rel=0)


@pytest.mark.skipif(shutil.which("perl") is None, reason="gdeval, the witness, needs perl")
@pytest.mark.parametrize("seed", range(5))
def test_gdeval(seed: int) -> None:
    judged, run = problem(seed)
    expected = values(im.gdeval, PRINTED_BY_GDEVAL, judged, run)
    found = values(compat.CranfieldProvider(), PRINTED_BY_GDEVAL, judged, run)
    assert found == pytest.approx(expected, abs=5.1e-6, rel=0)


def test_rank_biased_precision_of_cwl_eval() -> None:
    pytest.importorskip("cwl", reason="cwl_eval, the witness of RBP, is not installed")
    judged, run = problem(1)  # scores without ties, which cwl_eval leaves in the run's order
    measures = [im.RBP(rel=1), im.RBP(rel=2, p=0.5), im.RBP(rel=1, p=0.95)]
    expected = values(im.cwl_eval, measures, judged, run)
    found = values(compat.CranfieldProvider(), measures, judged, run)
    assert found == pytest.approx(expected, abs=1e-9, rel=0)


@pytest.mark.usefixtures("installed")
def test_default_pipeline_answers_from_cranfield_and_agrees() -> None:
    judged, run = problem(7)
    found = im.calc_aggregate(SHARED, judged, run)
    assert isinstance(im.evaluator(SHARED, judged), compat.CranfieldEvaluator)
    compat.uninstall()
    assert {str(m): v for m, v in found.items()} == pytest.approx(
        {str(m): m.calc_aggregate(judged, run) for m in SHARED}, abs=1e-9, rel=0
    )


@pytest.mark.usefixtures("installed")
def test_other_measures_still_come_from_their_own_providers() -> None:
    judged, run = problem(7)
    found = im.calc_aggregate([im.AP, im.Accuracy], judged, run)
    compat.uninstall()
    expected = im.calc_aggregate([im.AP, im.Accuracy], judged, run)
    assert found[im.AP] == pytest.approx(expected[im.AP], abs=1e-9)
    assert found[im.Accuracy] == expected[im.Accuracy]


@pytest.mark.parametrize("form", ["tuples", "frames", "shuffled frames", "frames with a repeat"])
def test_other_forms_of_input(form: str) -> None:
    pd = pytest.importorskip("pandas", reason="frames need pandas")
    judged, run = problem(11)
    qrels = [im.Qrel(t, d, g) for t, items in judged.items() for d, g in items.items()]
    docs = [im.ScoredDoc(t, d, s) for t, items in run.items() for d, s in items.items()]
    if form == "shuffled frames":
        random.Random(1).shuffle(docs)
    if form == "frames with a repeat":
        docs.append(docs[0]._replace(score=-5.0))
    expected = one_by_one(SHARED, qrels, docs)
    if form == "tuples":
        found = values(compat.CranfieldProvider(), SHARED, iter(qrels), iter(docs))
    else:
        found = values(compat.CranfieldProvider(), SHARED, pd.DataFrame(qrels), pd.DataFrame(docs))
    assert found == pytest.approx(expected, abs=1e-9, rel=0)


def test_what_is_not_supported_is_left_to_others() -> None:
    provider = compat.CranfieldProvider()
    assert not provider.supports(im.RBP)  # graded RBP has no provider whose meaning is fixed
    assert not provider.supports(im.nDCG(dcg="exp-log2", gains={1: 2}))
    assert not provider.supports(im.alpha_nDCG @ 10)
    assert provider.supports(im.RBP(rel=1) @ 10)
