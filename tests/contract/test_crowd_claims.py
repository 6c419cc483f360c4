"""What aggregation and quality control claim, on small simulated crowds with known answers.

The simulations behind the figures of the docs are in benchmarks/check_crowd.py; here are the
kinds that were once judged wrongly, a few logs each.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from cranfield.agreement.aggregation import aggregate_judgements
from cranfield.agreement.quality import quality_of
from cranfield.data.judgement_log import judgement_log

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))
import crowds

LOGS = 6


@pytest.fixture(scope="module")
def honest() -> dict[str, list[tuple[crowds.Crowd, list[str]]]]:
    found: dict[str, list[tuple[crowds.Crowd, list[str]]]] = {}
    for seed in range(LOGS):
        for crowd in crowds.honest_crowds(np.random.default_rng(seed)):
            people = quality_of(crowd.log)
            found.setdefault(crowd.name, []).append((crowd, [p.verdict for p in people]))
            if crowd.name in ("two experts in a weak crowd", "four with the same leaning"):
                assert not any(s.kind == "copy" for p in people for s in p.signs), crowd.name
    return found


def test_honest_people_of_every_kind_are_not_excluded(
    honest: dict[str, list[tuple[crowds.Crowd, list[str]]]],
) -> None:
    for name, logs in honest.items():
        verdicts = Counter(v for _, found in logs for v in found)
        assert verdicts["exclude"] == 0, name


def test_strict_and_lenient_graders_are_left_alone(
    honest: dict[str, list[tuple[crowds.Crowd, list[str]]]],
) -> None:
    """With nominal kappa two in five of them were rejected."""
    for crowd, verdicts in honest["strict and lenient graders"]:
        assert {verdicts[a] for a in crowd.odd} == {"keep"}


def test_people_on_the_hard_queue_are_compared_with_others_on_the_same_items(
    honest: dict[str, list[tuple[crowds.Crowd, list[str]]]],
) -> None:
    """Beside everybody's mean agreement nearly all of them were looked at."""
    verdicts = Counter(
        verdicts[a] for crowd, verdicts in honest["three on the hard queue"] for a in crowd.odd
    )
    assert verdicts["keep"] >= 17, verdicts


def test_slow_items_make_nobody_quick() -> None:
    """Whoever judges only easy items, which take everybody little time, is not too fast."""
    rng = np.random.default_rng(8)
    rows = [(a, i) for i in range(240) for a in range(6) if a or i < 60]
    log = judgement_log(
        [f"a{a}" for a, _ in rows],
        [f"i{i}" for _, i in rows],
        [str(i % 2) for _, i in rows],
        seconds=[(5 if i < 60 else 40) * rng.uniform(0.8, 1.2) for _, i in rows],
    )
    people = quality_of(log)
    assert people[0].seconds < people[1].seconds / 3
    assert [p.verdict for p in people] == ["keep"] * 6


def test_every_kind_of_bad_annotator_is_noticed() -> None:
    noticed: Counter[str] = Counter()
    names: dict[str, None] = {}
    for seed in range(LOGS):
        for crowd in crowds.bad_crowds(np.random.default_rng(1000 + seed)):
            names[crowd.name] = None
            noticed[crowd.name] += quality_of(crowd.log)[crowd.odd[0]].verdict != "keep"
    assert {name: noticed[name] for name in names if noticed[name] < LOGS - 2} == {}


def test_one_kind_of_sign_excludes_nobody() -> None:
    for seed in range(2):
        rng = np.random.default_rng(seed)
        for crowd in (*crowds.honest_crowds(rng), *crowds.bad_crowds(rng)):
            for person in quality_of(crowd.log):
                kinds = {sign.kind for sign in person.signs}
                expected = "exclude" if len(kinds) > 1 else "look at" if kinds else "keep"
                assert person.verdict == expected


@pytest.mark.parametrize("method", ["dawid-skene", "one-coin", "mace"])
@pytest.mark.parametrize("per_annotator", [5, 25])
def test_sure_items_are_right_as_often_as_it_says(method: str, per_annotator: int) -> None:
    """Without a prior the same logs give 0.78 to 0.93 right of 0.99 said at 5 judgements."""
    right, said = [], []
    plain_right, plain_said = [], []
    for seed in range(12):
        made = crowds.sparse_crowd(100, per_annotator, 5, 4, False, np.random.default_rng(seed))
        for prior, hits, shares in (
            (None, right, said),
            (0.0, plain_right, plain_said),
        ):
            found = aggregate_judgements(made.log, method, prior=prior)
            top = found.probability.max(axis=1)
            hit = found.probability.argmax(axis=1) == made.truth[found.item]
            hits += hit[top >= 0.9].tolist()
            shares += top[top >= 0.9].tolist()
    assert np.mean(said) - 0.03 <= np.mean(right) <= np.mean(said) + 0.10
    if per_annotator == 5:
        assert np.mean(plain_right) < np.mean(plain_said) - 0.03


def test_too_little_to_fit_is_said_and_the_majority_named() -> None:
    made = crowds.sparse_crowd(100, 5, 5, 4, False, np.random.default_rng(0))
    found = aggregate_judgements(made.log, "dawid-skene")
    assert any("the plain majority is as good" in note for note in found.notes)
    enough = crowds.sparse_crowd(300, 100, 5, 4, False, np.random.default_rng(0))
    assert not any("too little" in n for n in aggregate_judgements(enough.log, "mace").notes)
    assert not any("too little" in n for n in aggregate_judgements(made.log).notes)


def test_what_has_not_settled_is_said() -> None:
    made = crowds.sparse_crowd(100, 25, 5, 4, False, np.random.default_rng(0))
    stopped = aggregate_judgements(made.log, "dawid-skene", iterations=3)
    assert any(note.startswith("not settled after 3 iterations") for note in stopped.notes)
    assert not stopped.tables[0].settled
    whole = aggregate_judgements(made.log, "dawid-skene")
    assert whole.tables[0].settled
    assert not any("not settled" in note for note in whole.notes)


def test_a_tie_counts_by_its_expected_value() -> None:
    """Which answer stands first in the alphabet is luck: swapping names swaps nothing."""
    log = judgement_log(["a", "b", "c", "d"] * 2, ["x"] * 4 + ["y"] * 4, [0, 0, 1, 1, 1, 1, 1, 0])
    swapped = judgement_log(
        ["a", "b", "c", "d"] * 2, ["x"] * 4 + ["y"] * 4, [1, 1, 0, 0, 0, 0, 0, 1]
    )
    one, other = aggregate_judgements(log), aggregate_judgements(swapped)
    assert one.reliability.tolist() == other.reliability.tolist() == [0.75, 0.75, 0.75, 0.25]
