"""cranfield.compat.pytrec_eval against pytrec_eval itself, value by value.

The witness runs in a process of its own, since it can take its process down. It is not asked
about what makes it read memory that it has not filled: rankings without items, and topics all of
whose grades are negative. For those `tests/compat/test_pytrec_interface.py` states what we answer.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
from typing import Any

import pytest

from cranfield.compat import pytrec_eval as ours

theirs = pytest.importorskip("pytrec_eval", reason="the outside witness pytrec_eval is absent")

PARAMETRIZED = [
    "P_1",
    "P.3,7",
    "recall_2",
    "ndcg_cut_1",
    "ndcg_cut.4,11",
    "map_cut_3",
    "relative_P_6",
    "success_2",
    "iprec_at_recall_0.25",
    "iprec_at_recall.0.05,0.75",
    "Rprec_mult_0.3",
    "Rprec_mult.1.5",
    "set_F_0.5",
    "11pt_avg.0.2,0.5,0.8",
    "utility.1,2,3,4",
]
PROBLEMS = 100
WITNESS = """
import json, sys
import pytrec_eval
answers = [
    pytrec_eval.RelevanceEvaluator(judged, measures, level, only).evaluate(run)
    for judged, run, measures, level, only in json.load(sys.stdin)
]
json.dump(answers, sys.stdout)
"""


def scores(draw: random.Random, items: list[str]) -> dict[str, float]:
    kind = draw.choice(["ties", "whole", "float", "close", "negative", "infinite"])
    value = {
        "ties": lambda: draw.randint(0, 4) / 4,
        "whole": lambda: draw.randint(-3, 20),
        "float": draw.random,
        "close": lambda: 1.0 + draw.randint(0, 40) * 1e-8,  # some differ only as doubles
        "negative": lambda: -draw.random() * 100,
        "infinite": lambda: draw.choice([float("-inf"), 1e39, 1e300, 0.5, draw.random()]),
    }[kind]
    return {item: value() for item in items}


def problem(seed: int) -> list[Any]:
    """Judgements, run, measures, level of relevance, and whether unjudged items are left out."""
    draw = random.Random(seed)
    pool = [f"d{i}" for i in range(draw.choice([3, 12, 60, 400]))] + ["ä", "Ω9", "zz"]
    topics = [f"q{i}" for i in range(draw.randint(1, 8))]
    grades = draw.choice([[0, 1], [-2, -1, 0, 1, 2, 3], [0], [-1, 0], [0, 0, 0, 0, 1, 4]])
    judged = {
        t: {d: draw.choice(grades) for d in draw.sample(pool, draw.randint(0, len(pool)))}
        for t in topics
        if draw.random() < 0.85
    }
    run = {
        t: scores(draw, draw.sample(pool, draw.randint(1, len(pool))))
        for t in draw.sample([*topics, "unjudged"], draw.randint(1, len(topics) + 1))
    }
    for topic, items in judged.items():
        if items and topic in run:  # one judged item is retrieved with a grade that counts
            items[next(iter(run[topic]))] = max(grades)
        elif items:
            items["d0"] = 0
    measures = sorted(ours.supported_measures) if seed % 2 else PARAMETRIZED
    return [judged, run, measures, 1 + seed % 3, seed % 5 == 0]


def assert_equal(mine: dict[str, Any], other: dict[str, Any]) -> None:
    assert list(mine) == list(other)
    for topic in other:
        assert list(mine[topic]) == list(other[topic])
        assert mine[topic] == pytest.approx(other[topic], abs=1e-9, rel=0)


def asked(problems: list[list[Any]]) -> list[dict[str, dict[str, float]]]:
    done = subprocess.run(
        [sys.executable, "-c", WITNESS],
        input=json.dumps(problems),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    answers: list[dict[str, dict[str, float]]] = json.loads(done.stdout)
    return answers


@pytest.fixture(scope="module")
def answers() -> list[dict[str, dict[str, float]]]:
    return asked([problem(seed) for seed in range(2 * PROBLEMS)])


@pytest.mark.parametrize("seed", range(2 * PROBLEMS))
def test_every_measure_of_every_topic(seed: int, answers: list[Any]) -> None:
    judged, run, measures, level, only = problem(seed)
    mine = ours.RelevanceEvaluator(judged, measures, level, only).evaluate(run)
    assert_equal(mine, answers[seed])


def test_names_are_the_same() -> None:
    assert ours.supported_measures == theirs.supported_measures
    assert ours.supported_nicknames == theirs.supported_nicknames
    assert set(theirs.__all__) <= set(ours.__all__)


@pytest.mark.parametrize("nickname", ["official", "set", "all_trec"])
def test_nicknames(nickname: str) -> None:
    judged, run, _, level, only = problem(3)
    mine = ours.RelevanceEvaluator(judged, [nickname], level, only).evaluate(run)
    assert_equal(mine, asked([[judged, run, [nickname], level, only]])[0])


@pytest.mark.parametrize("measure", ["map", "num_ret", "num_rel", "gm_map", "P_10"])
def test_aggregation(measure: str) -> None:
    values = [0.25, 0.5, 0.125]
    assert ours.compute_aggregated_measure(measure, values) == (
        theirs.compute_aggregated_measure(measure, values)
    )


def test_parsed_files() -> None:
    run = ["q1 Q0 d1 1 3.5 x\n", "q1\tQ0  d2 2 -1e3 x\r\n", "q0 Q0 d1 1 7 x"]
    assert ours.parse_run(run) == theirs.parse_run(run)
    judged = ["q1 0 d1 1\n", "q1\t0  d2 -1\r\n", "q0 0 d1 +2"]
    assert ours.parse_qrel(judged) == theirs.parse_qrel(judged)
