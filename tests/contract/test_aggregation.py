"""What the methods of aggregation promise: planted truths, monotone fits, stated ties."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cranfield.agreement.aggregation import METHODS, aggregate_judgements
from cranfield.agreement.simulate import simulate_log
from cranfield.data.judgement_log import judgement_log
from cranfield.errors import InputError, UsageError


def planted_error(items: int, seed: int = 5) -> float:
    """The mean absolute error of the confusion tables that Dawid-Skene finds."""
    rng = np.random.default_rng(seed)
    people, q = 8, 3
    planted = rng.dirichlet(np.ones(q), (people, q)) * 0.4
    planted[:, np.arange(q), np.arange(q)] += 0.6
    made = simulate_log(
        annotators=people, items=items, answers=q, judgements_per_item=people,
        confusion=planted, rng=seed,
    )  # fmt: skip
    found = aggregate_judgements(made.log, "dawid-skene", prior=0, tolerance=1e-6)
    table = np.zeros((people, q, q))
    for annotator, _, true, answer, p in found.confusion():
        table[int(annotator[1:]), int(true), int(answer)] = p
    assert np.allclose(table.sum(axis=2), 1)
    return float(np.abs(table - planted).mean())


def test_dawid_skene_recovers_planted_confusions_ever_better() -> None:
    errors = [planted_error(items) for items in (100, 1000, 10_000)]
    assert errors[0] > errors[1] > errors[2]
    assert errors[2] < 0.01


@pytest.mark.parametrize("method", ["dawid-skene", "one-coin", "mace"])
def test_the_likelihood_never_falls(method: str) -> None:
    made = simulate_log(spammers=("random", "constant"), rng=1)
    found = aggregate_judgements(made.log, method, prior=0, iterations=40, tolerance=-math.inf)
    steps = np.diff(found.tables[0].likelihood)
    assert steps.min() > -1e-6


@pytest.mark.parametrize("method", [m for m in METHODS if m not in ("mean", "median")])
def test_probabilities_sum_to_one_and_the_truth_is_found(method: str) -> None:
    made = simulate_log(annotators=15, items=400, rng=2)
    found = aggregate_judgements(made.log, method)
    assert np.allclose(found.probability.sum(axis=1), 1)
    assert (found.winner == made.truth[found.item]).mean() > 0.97
    assert ((found.reliability > 0.6) & (found.reliability <= 1)).all()


def test_models_see_through_a_majority_of_spammers() -> None:
    """Four careful annotators and six who always answer alike: votes fail, models do not."""
    made = simulate_log(
        annotators=4, items=500, answers=2, judgements_per_item=4, skill=(0.9, 0.95),
        spammers=("random",) * 6, rng=3,
    )  # fmt: skip

    def accuracy(method: str) -> float:
        found = aggregate_judgements(made.log, method)
        return float((found.winner == made.truth[found.item]).mean())

    assert accuracy("majority") < 0.9
    for method in ("dawid-skene", "one-coin", "mace"):
        assert accuracy(method) > 0.97


def test_ties_follow_the_stated_rule() -> None:
    log = judgement_log(["a", "b", "a", "b"], ["x", "x", "y", "y"], [0, 1, 1, 1],
                        concepts=["Sky"] * 4)  # fmt: skip
    said = aggregate_judgements(log, "majority")
    assert said.winner.tolist() == [-1, 1]
    assert [said.answer(u) for u in (0, 1)] == ["undecided", "1"]
    assert said.winning_probability.tolist() == [0.5, 1.0]
    # On the tied unit either answer is right in half of the cases.
    assert said.reliability.tolist() == [0.75, 0.75]
    lowest = aggregate_judgements(log, "majority", ties="lowest")
    assert lowest.winner.tolist() == [0, 1]
    assert aggregate_judgements(log, "majority", ties="highest").winner.tolist() == [1, 1]
    left = aggregate_judgements(log, "majority", ties="omit")
    assert left.winner.tolist() == [-1, 1]
    assert left.ties == 1
    assert [row["item"] for row in left.rows()] == ["y"]
    drawn = {
        aggregate_judgements(log, "majority", ties="random", rng=seed).winner[0]
        for seed in range(20)
    }
    assert drawn == {0, 1}


def test_given_weights_decide() -> None:
    log = judgement_log(["a", "b", "c"], ["x"] * 3, ["dog", "cat", "cat"])
    found = aggregate_judgements(log, "weighted-majority", weights=np.array([3.0, 1.0, 1.0]))
    assert log.values[found.winner[0]] == "dog"
    assert found.winning_probability[0] == pytest.approx(0.6)


def test_gold_answers_are_kept() -> None:
    made = simulate_log(annotators=6, items=60, answers=3, rng=4)
    gold = np.full((60, 1), -1, dtype=np.int32)
    gold[:10, 0] = (made.truth[:10] + 1) % 3
    found = aggregate_judgements(made.log, "dawid-skene", gold=gold)
    assert (found.winner[:10] == gold[:10, 0]).all()
    assert (found.probability[np.arange(10), gold[:10, 0]] == 1).all()


def test_concepts_are_fitted_alone_or_shared() -> None:
    made = simulate_log(annotators=6, items=80, answers=2, rng=6)
    log = made.log
    half = ["Sky" if i < 40 else "Sea" for i in log.item]
    both = judgement_log(
        [log.annotators[a] for a in log.annotator], [log.items[i] for i in log.item],
        log.value.tolist(), concepts=half,
    )  # fmt: skip
    alone = aggregate_judgements(both, "dawid-skene")
    assert [t.concept for t in alone.tables] == list(both.concepts)
    shared = aggregate_judgements(both, "dawid-skene", share=True)
    plain = aggregate_judgements(log, "dawid-skene")
    assert len(shared.tables) == 1
    by_item = {both.items[i]: p for i, p in zip(shared.item, shared.probability[:, 1], strict=True)}
    expected = {log.items[i]: p for i, p in zip(plain.item, plain.probability[:, 1], strict=True)}
    assert by_item == pytest.approx(expected)


@pytest.mark.parametrize(
    "method, options",
    [
        ("majorty", {}),
        ("majority", {"smoothing": 0.1}),
        ("majority", {"weights": np.ones(2)}),
        ("mace", {"smoothing": 0.1}),
        ("majority", {"ties": "first"}),
        ("mean", {"ties": "lowest"}),
        ("majority", {"prior": 3}),
    ],
)
def test_options_without_meaning_are_refused(method: str, options: dict[str, object]) -> None:
    log = judgement_log(["a", "b"], ["x", "x"], [0, 1])
    with pytest.raises(UsageError):
        aggregate_judgements(log, method, **options)  # type: ignore[arg-type]


def test_smoothing_keeps_tables_away_from_certainty() -> None:
    made = simulate_log(annotators=5, items=20, answers=3, judgements_per_item=5, rng=8)
    found = aggregate_judgements(made.log, "dawid-skene", smoothing=1.0)
    assert max(p for *_, p in found.confusion()) < 0.95


def test_a_log_object_refuses_repetition_and_ragged_columns() -> None:
    with pytest.raises(InputError, match="judges again"):
        judgement_log(["a", "a"], ["x", "x"], [0, 1])
    with pytest.raises(InputError, match="different lengths"):
        judgement_log(["a"], ["x", "y"], [0, 1])
