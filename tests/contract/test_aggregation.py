"""What the methods of aggregation promise: planted truths, monotone fits, stated ties."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cranfield.agreement.aggregation import AGGREGATION_METHODS, aggregate_judgements
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


@pytest.mark.parametrize("method", [m for m in AGGREGATION_METHODS if m not in ("mean", "median")])
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
    # Two of two alike and one vote spread over both answers: 2.5 of 3.
    assert said.winning_probability.tolist() == pytest.approx([0.5, 2.5 / 3])
    plain = aggregate_judgements(log, "majority", prior=0)
    assert plain.winning_probability.tolist() == [0.5, 1.0]
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
    assert found.winning_probability[0] == pytest.approx((3 * 0.6 + 0.5) / 4)


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
        ("median", {"prior": 3}),
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


def test_the_pooled_table_is_what_the_crowd_answers_by_its_votes() -> None:
    """Own arithmetic: x has votes 2:1, y 0:3; one unit's worth of an even table beside them."""
    from cranfield.agreement.truth_inference import Responses, pooled_table

    annotator = np.array([0, 1, 2, 0, 1, 2], dtype=np.int32)
    unit, value = np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 1, 1, 1])
    responses = Responses.of(annotator, unit, value, annotators=3, units=2, answers=2)
    share = np.array([[2 / 3, 1 / 3], [0.0, 1.0]])
    table = pooled_table(responses, share, accuracy=0.8)
    said_0 = [2 * 2 / 3 + 0.8, 2 * 1 / 3 + 0.2]
    said_1 = [1 * 2 / 3 + 0.2, 1 * 1 / 3 + 3 + 0.8]
    total = np.add(said_0, said_1)
    assert table == pytest.approx(np.array([said_0, said_1]) / total)


def test_a_crowd_that_confuses_two_answers_is_taken_for_one() -> None:
    """Everybody says 1 to most of what is 2: even errors as a prior lose what two experts know."""
    leaning = np.array([[0.9, 0.05, 0.05], [0.05, 0.9, 0.05], [0.05, 0.5, 0.45]])
    confusion = np.repeat(leaning[None], 30, axis=0)
    made = simulate_log(
        annotators=30, items=300, answers=3, judgements_per_item=6, confusion=confusion, rng=3
    )

    def accuracy(method: str) -> float:
        answer = aggregate_judgements(made.log, method)
        return float((answer.probability.argmax(axis=1) == made.truth[answer.item]).mean())

    assert accuracy("dawid-skene") > accuracy("majority") + 0.03


def test_auto_says_which_method_and_why() -> None:
    few = judgement_log(["a", "b", "c"], ["x"] * 3, ["dog", "cat", "cat"])
    answer = aggregate_judgements(few, "auto")
    assert answer.method == "majority"
    assert any(
        note.startswith("method: majority, because the median annotator gave 1 judgements")
        for note in answer.notes
    )
    made = simulate_log(annotators=10, items=200, rng=2)
    answer = aggregate_judgements(made.log, "auto")
    assert answer.method == "dawid-skene+mace"
    assert any(note.startswith("method: dawid-skene+mace, the mean") for note in answer.notes)
    parts = [aggregate_judgements(made.log, m).probability for m in ("dawid-skene", "mace")]
    assert answer.probability == pytest.approx(np.mean(parts, axis=0))


def test_one_coin_says_when_it_leaves_the_majority(outside) -> None:
    made = simulate_log(annotators=10, items=100, rng=2)
    calm = aggregate_judgements(made.log, "one-coin").notes
    assert not any("leaves the majority" in note for note in calm)
    # Known answers against the votes, on 30 of 100 units and on 20 of them.
    for known, warns in ((30, True), (20, False)):
        votes = aggregate_judgements(made.log, "majority", ties="lowest")
        gold = np.full((100, 1), -1, dtype=np.int32)
        gold[:known, 0] = (votes.winner[:known] + 1) % len(made.log.values)
        notes = aggregate_judgements(made.log, "one-coin", gold=gold).notes
        assert any("one-coin leaves the majority on" in note for note in notes) == warns
    from cranfield.io.judgement_log import read_judgement_log

    log = read_judgement_log(outside("crowd/bluebird", "the crowd log bluebird") / "label.csv")
    warned = aggregate_judgements(log, "one-coin").notes
    assert any("one-coin leaves the majority on 27%" in note for note in warned)


def test_on_real_crowds_auto_is_above_every_method(outside) -> None:
    """The means over four crowds; those of the papers' estimates are what other packages reach."""
    import csv

    from cranfield.io.judgement_log import read_judgement_log

    methods = [("auto", None), ("dawid-skene", None), ("mace", None), ("majority", None)]
    methods += [(m, 0.0) for m in ("dawid-skene", "mace", "one-coin")]
    means = dict.fromkeys(methods, 0.0)
    for name in ("bluebird", "rte", "web"):
        folder = outside(f"crowd/{name}", f"the crowd log {name}")
        log = read_judgement_log(folder / "label.csv", duplicates="first")
        with (folder / "truth.csv").open() as stream:
            truth = {row["item"]: row["truth"] for row in csv.DictReader(stream)}
        for method, prior in methods:
            answer = aggregate_judgements(log, method, prior=prior)
            best = answer.probability.argmax(axis=1)
            hits = [
                answer.values[best[unit]] == truth[log.items[item]]
                for unit, item in enumerate(answer.item.tolist())
                if log.items[item] in truth
            ]
            means[method, prior] += sum(hits) / len(hits) / 3
    assert max(means, key=lambda key: means[key]) == ("auto", None)
