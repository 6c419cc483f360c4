"""Logs played again with fewer opinions: against arithmetic, simulations and real crowds."""

from __future__ import annotations

import json

import numpy as np
import pytest

import cranfield as cf
from cranfield.agreement.adaptive_overlap import (
    AdaptiveOverlap,
    estimate_answers,
    expected_opinions,
    item_confidence,
    opinions_per_item,
)
from cranfield.agreement.simulate import simulate_log
from cranfield.cli import main
from cranfield.data.judgement_log import judgement_log
from cranfield.errors import UsageError
from cranfield.lab.replay import _accuracy_and_kappa


def gold_of(simulated):
    return simulated.truth[:, None].astype(np.int32)


def test_majorities_of_fixed_overlap_are_as_accurate_as_the_binomial_says():
    simulated = simulate_log(
        annotators=30, items=3000, answers=2, judgements_per_item=5, skill=(0.75, 0.75), rng=3
    )
    study = cf.lab.replay_overlap(
        simulated.log, gold_of(simulated), fixed=5, sure=(0.9,), method="majority", repeats=3
    )
    p = 0.75
    three = p**3 + 3 * p**2 * (1 - p)
    five = p**5 + 5 * p**4 * (1 - p) + 10 * p**3 * (1 - p) ** 2
    points = {point.setting: point for point in study.of("votes")}
    # Three standard errors of a share of 3,000 items.
    assert points[1].accuracy == pytest.approx(p, abs=0.025)
    assert points[3].accuracy == pytest.approx(three, abs=0.025)
    assert points[5].accuracy == pytest.approx(five, abs=0.025)
    assert points[3].opinions == 3.0
    assert points[3].kappa == pytest.approx(2 * points[3].accuracy - 1, abs=0.01)


def test_reliable_people_make_most_opinions_unnecessary():
    confusion = np.zeros((24, 2, 2))
    for person in range(24):
        right = 0.97 if person < 8 else 0.55
        confusion[person] = [[right, 1 - right], [1 - right, right]]
    simulated = simulate_log(
        annotators=24, items=400, answers=2, judgements_per_item=12, confusion=confusion, rng=1
    )
    options = {"sure": (0.7, 0.8, 0.9), "repeats": 3, "rng": 5}
    study = cf.lab.replay_overlap(simulated.log, gold_of(simulated), **options)
    assert study.share() < 0.5
    assert study.cheapest().accuracy >= study.target().accuracy
    assert (
        study.to_dict()
        == cf.lab.replay_overlap(simulated.log, gold_of(simulated), **options).to_dict()
    )
    anyone = cf.lab.replay_overlap(simulated.log, gold_of(simulated), people="any", **options)
    assert anyone.of("adaptive")[-1].opinions > study.of("adaptive")[-1].opinions


def test_accuracy_and_kappa_by_hand():
    # 6 of 8 right; the answers are 0 five times, the reference four times.
    answers = np.array([0, 0, 0, 0, 0, 1, 1, 1])
    reference = np.array([0, 0, 0, 1, 1, 1, 1, 0])
    accuracy, kappa = _accuracy_and_kappa(answers, reference)
    chance = (5 * 4 + 3 * 4) / 64
    assert accuracy == 5 / 8
    assert kappa == pytest.approx((5 / 8 - chance) / (1 - chance))


def test_an_item_is_open_while_one_of_its_answers_is_unsure():
    people = ["a", "b", "c"]
    rows = [(p, "x", c, "1") for p in people for c in ("Sky", "Sea")]
    rows += [(p, "y", "Sky", "1") for p in people]
    rows += [(p, "y", "Sea", "1" if p == "a" else "0") for p in people]
    rows += [("a", "z", c, "1") for c in ("Sky", "Sea")]
    who, items, concepts, values = zip(*rows, strict=True)
    log = judgement_log(who, items, values, concepts=concepts)
    estimate = estimate_answers(log, "majority")
    # A vote more is spread over both answers: 3.5/4, 2.5/4 and 1.5/2.
    assert item_confidence(log, estimate).tolist() == [0.875, 0.625, 0.75]
    assert opinions_per_item(log).tolist() == [3, 3, 1]
    assert AdaptiveOverlap(0.7, 5).open_items(log, estimate).tolist() == [False, True, True]
    assert AdaptiveOverlap(0.7, 3, 1).open_items(log, estimate).tolist() == [False, False, False]
    assert np.isfinite(expected_opinions(log, AdaptiveOverlap(0.7, 3, 1)))
    with pytest.raises(UsageError, match=r"sure=1 is not above 0 and below 1"):
        AdaptiveOverlap(1, 3)


def test_systems_are_ranked_by_what_fewer_opinions_say(tmp_path, capsys):
    rng = np.random.default_rng(2)
    truth = rng.integers(0, 2, (60, 3))
    items, concepts = [f"i{k:02d}" for k in range(60)], ["A", "B", "C"]
    lines = ["annotator,item,concept,value"]
    for person in range(6):
        for i, item in enumerate(items):
            for c, concept in enumerate(concepts):
                value = truth[i, c] ^ int(rng.random() < 0.2)
                lines.append(f"p{person},{item},{concept},{value}")
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n")
    gold = ["item,concept,value"]
    gold += [f"{x},{c},{truth[i, k]}" for i, x in enumerate(items) for k, c in enumerate(concepts)]
    (tmp_path / "gold.csv").write_text("\n".join(gold) + "\n")
    runs = []
    for number, noise in enumerate((0.05, 0.2, 0.35, 0.5)):
        values = truth ^ (rng.random(truth.shape) < noise)
        rows = ["item,A,B,C", *(",".join([x, *map(str, values[i])]) for i, x in enumerate(items))]
        runs.append(tmp_path / f"run{number}.csv")
        runs[-1].write_text("\n".join(rows) + "\n")
    asked = ["lab", "replay", str(tmp_path / "log.csv"), "--gold", str(tmp_path / "gold.csv")]
    asked += ["--systems", *map(str, runs), "--fixed", "3", "--most", "4", "--repeats", "1"]
    assert main([*asked, "--sure", "90", "--format", "json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["reference"] == "gold"
    # Runs that differ by 0.15 in every cell keep their order under 180 answers that are 90 % right.
    assert [p["tau"] for p in answer["points"] if p["setting"] == 3] == [1.0, 1.0]
    few = [*asked[:3], "--fixed", "2", "--repeats", "1", "--sure", "90"]
    assert main(few) == 0
    printed = capsys.readouterr()
    assert "The fewest judgements that are as accurate" in printed.out
    assert "the reference is what all opinions say" in printed.err
    assert main([*asked[:3], "--fixed", "9", "--quiet"]) == 2
    assert "no item has 9 opinions" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("name", "repeats"),
    [
        ("rte", 1),
        pytest.param("bluebird", 20, marks=pytest.mark.slow),
        pytest.param("web", 5, marks=pytest.mark.slow),
        pytest.param("trec2010_relevance", 3, marks=pytest.mark.slow),
    ],
)
def test_real_crowds_need_less_than_five_opinions(outside, name, repeats):
    """At most 60 % of the judgements of five votes, for the same accuracy against gold."""
    folder = outside(f"crowd/{name}", f"the crowd log {name}")
    study = cf.lab.replay_overlap(
        folder / "label.csv",
        folder / "truth.csv",
        duplicates="first",
        repeats=repeats,
        sure=(0.65, 0.75, 0.8, 0.85, 0.9),
    )
    assert study.share("votes") <= 0.6
    # Against five opinions under the same model of annotators.
    assert study.share() <= {"trec2010_relevance": 0.75, "web": 0.65}.get(name, 0.6)
