"""Little gold, much silver: what estimates must obey, whatever the silver is."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import cranfield as cf
from cranfield import stats
from cranfield.comparison.annotation_budget import gold_curve, gold_needed, next_gold
from cranfield.errors import UsageError


def two(seed, n, total, correlation=0.8, rows=3):
    rng = np.random.default_rng(seed)
    gold = rng.normal(size=(rows, total))
    noise = rng.normal(size=(rows, total))
    return gold, correlation * gold + np.sqrt(1 - correlation**2) * noise


def found_for(gold, silver, n, **options):
    return stats.powered_means(
        gold[:, :n],
        silver[:, :n],
        silver.mean(axis=1),
        gold.shape[1],
        **{"resamples": 499} | options,
    )


@pytest.mark.parametrize("method", ["studentized", "t"])
def test_all_gold_leaves_nothing_unknown_of_these_units(method):
    gold, silver = two(1, 30, 30)
    found = found_for(gold, silver, 30, method=method)
    assert np.array_equal(found.value, gold.mean(axis=1))
    assert (found.these == 0).all()
    plain = stats.mean_intervals(gold, method=method, resamples=499)
    assert np.allclose(found.such, (plain.high - plain.low) / 2)
    assert np.allclose(found.effective, 30)


@pytest.mark.parametrize("method", ["studentized", "t"])
def test_plain_gold_is_the_interval_that_compare_has(method):
    gold, silver = two(2, 15, 60)
    found = found_for(gold, silver, 15, method=method)
    plain = stats.mean_intervals(gold[:, :15], method=method, resamples=499)
    tolerance = {"rtol": 1e-9} if method == "studentized" else {"rtol": 2e-3}
    assert np.allclose(found.gold_such, (plain.high - plain.low) / 2, **tolerance)
    assert np.allclose(found.gold_these, found.gold_such * np.sqrt(1 - 15 / 60))


def test_perfect_silver_gives_the_mean_of_all_gold():
    gold, _ = two(3, 12, 50)
    found = found_for(gold, 3 * gold + 1, 12)
    assert np.allclose(found.value, gold.mean(axis=1))
    assert (found.these < 1e-6).all()
    assert np.allclose(found.effective, 50)
    # What is left is the choice of the 50 units.
    assert np.allclose(found.such, found.gold_such * np.sqrt(12 / 50), rtol=1e-6)


def test_constant_and_contrary_silver_have_no_weight():
    gold, _ = two(4, 20, 50)
    for silver in (np.zeros_like(gold), -gold):
        found = found_for(gold, silver, 20)
        assert (found.weight == 0).all()
        assert np.array_equal(found.value, gold[:, :20].mean(axis=1))
        assert np.allclose(found.such, found.gold_such, rtol=1e-12)
        assert np.allclose(found.effective, 20)


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10_000),
    st.sampled_from([(5, 20), (10, 50), (25, 60)]),
    st.floats(0.1, 10),
    st.floats(-5, 5),
)
# A resample of two units, close in silver: a steep line, and nothing but rounding beside it.
@example(299, (5, 20), 4.25, 0.0)
def test_the_scale_of_the_silver_and_the_place_of_the_gold_do_not_matter(seed, sizes, scale, shift):
    n, total = sizes
    gold, silver = two(seed, n, total)
    one = found_for(gold, silver, n, resamples=199)
    other = found_for(gold + shift, scale * silver + shift, n, resamples=199)
    assert np.allclose(one.value + shift, other.value)
    assert np.allclose(one.these, other.these)
    assert np.allclose(one.such, other.such)
    assert np.allclose(one.effective, other.effective)
    assert (one.these <= one.such + 1e-12).all()
    assert (one.effective >= n - 1e-9).all()
    assert (one.effective <= total + 1e-9).all()


def test_an_interval_excludes_zero_exactly_when_its_test_says_so():
    rng = np.random.default_rng(5)
    gold, silver = two(5, 20, 60, rows=200)
    shift = rng.normal(0, 0.4, size=(200, 1))
    found = found_for(gold + shift, silver + shift, 20)
    for value, half, p in (
        (found.value, found.such, found.p),
        (found.value, found.these, found.these_p),
        (found.gold, found.gold_such, found.gold_p),
    ):
        assert np.array_equal(np.abs(value) > half, p <= 0.05)


def test_threads_and_other_rows_do_not_change_a_number():
    gold, silver = two(6, 12, 40, rows=100)
    one, many = found_for(gold, silver, 12), found_for(gold, silver, 12, jobs=4)
    alone = found_for(gold[40:41], silver[40:41], 12)
    assert np.array_equal(one.such, many.such)
    assert np.allclose(one.such[40], alone.such[0], rtol=1e-12)


@pytest.fixture
def campaign():
    """Thirty topics of ten items: silver makes mistakes that gold does not."""
    rng = np.random.default_rng(8)
    gold, silver, runs = {}, {}, {"a": {}, "b": {}}
    for t in range(30):
        hard = rng.uniform(0.1, 0.9)
        grades = (rng.random(10) < hard).astype(int)
        noisy = np.where(rng.random(10) < 0.15, 1 - grades, grades)
        gold[f"t{t}"] = {f"d{i}": int(g) for i, g in enumerate(grades)}
        silver[f"t{t}"] = {f"d{i}": int(g) for i, g in enumerate(noisy)}
        for name, skill in (("a", 1.0), ("b", 0.3)):
            scores = skill * grades + rng.normal(size=10)
            runs[name][f"t{t}"] = {f"d{i}": float(s) for i, s in enumerate(scores)}
    return gold, silver, runs


def some(truth, n):
    return {t: truth[t] for t in list(truth)[:n]}


def test_estimates_and_differences_of_runs(campaign):
    gold, silver, runs = campaign
    found = cf.evaluate_powered(some(gold, 12), silver, runs, "P@5 AP", pairs=True, resamples=999)
    assert (found.gold_units, found.silver_units, found.unit) == (12, 30, "topic")
    plain = cf.evaluate(some(gold, 12), runs, "P@5 AP").mean()
    for e in found.estimates:
        assert e.gold_value == pytest.approx(plain[e.run][e.measure])
        assert 12 <= e.effective <= 30
        assert e.these[0] <= e.value <= e.these[1]
        assert e.such[1] - e.such[0] >= e.these[1] - e.these[0]
    pair = next(p for p in found.pairs if p.measure == "AP")
    assert (pair.a, pair.b) == ("a", "b")
    assert pair.p <= pair.p_corrected
    said = found.to_dict()
    assert said["command"] == "compare"
    assert set(said["targets"]) == {"these units", "such units"}
    assert said["pairs"][0]["ci"] == said["pairs"][0]["such"]
    assert "these units" in str(found)
    assert "such units" in str(found)


def test_the_same_from_scores_that_are_there(campaign):
    gold, silver, runs = campaign
    scores = [cf.evaluate(truth, runs, "AP") for truth in (some(gold, 12), silver)]
    one = cf.powered(*scores, resamples=199)
    assert one == cf.evaluate_powered(some(gold, 12), silver, runs, "AP", resamples=199)


def test_annotation_has_items_for_units():
    rng = np.random.default_rng(9)
    truth = {f"i{k}": {"a": int(k % 2), "b": int(k % 3 == 0)} for k in range(40)}
    noisy = {
        i: {c: int(v ^ (rng.random() < 0.1)) for c, v in row.items()} for i, row in truth.items()
    }
    run = {i: {c: float(rng.random()) for c in row} for i, row in truth.items()}
    found = cf.evaluate_powered(
        some(truth, 15), noisy, {"x": run}, "HammingLoss F.concept", task="labels", resamples=199
    )
    assert found.unit == "item"
    assert found.to_dict()["command"] == "label"
    assert {e.measure for e in found.estimates} == {"HammingLoss"}
    assert any("F.concept" in note for note in found.notes)


def test_undefined_values_are_left_out_of_gold_and_filled_in_silver(campaign):
    gold, silver, runs = campaign
    gold["t3"] = dict.fromkeys(gold["t3"], 0)
    silver["t5"] = dict.fromkeys(silver["t5"], 0)
    scores = [cf.evaluate(truth, runs, "AP") for truth in (some(gold, 12), silver)]
    values = {m: np.array(scores[0].values[m]) for m in scores[0].measures}
    measure = scores[0].measures[0]
    values[measure][:, 3] = np.nan
    kept = np.delete(values[measure], 3, axis=1).mean(axis=1)
    gapped = replace(scores[0], values=values, overall={measure: kept})
    found = cf.powered(gapped, scores[1], resamples=199)
    assert {e.units for e in found.estimates} == {11}
    assert {e.total for e in found.estimates} == {29}
    assert any("undefined for 1 gold units" in note for note in found.notes)


@pytest.mark.parametrize(
    ("gold_topics", "said"),
    [(1, "no interval can be made"), (2, "no interval can be made"), (4, "few_gold=True")],
)
def test_too_little_gold_is_refused(campaign, gold_topics, said):
    gold, silver, runs = campaign
    with pytest.raises(UsageError, match=said):
        cf.evaluate_powered(some(gold, gold_topics), silver, runs, "AP")


def test_little_gold_is_warned_about_and_very_little_made_when_asked(campaign):
    gold, silver, runs = campaign
    found = cf.evaluate_powered(some(gold, 4), silver, runs, "AP", few_gold=True, resamples=199)
    assert any("shaky" in note for note in found.notes)


def first_items(right):
    """A ranking per topic whose first item is relevant (x) or not (y)."""
    return {
        f"t{i}": {"x": 2.0 if hit else 0.0, "y": 1.0} for i, hit in enumerate(np.asarray(right))
    }


@pytest.mark.parametrize("judged", [10, 20, 50])
def test_values_of_0_and_1_are_held_with_little_gold(judged):
    """Silver wrong on 5 % of 200 topics, P@1 of two runs: means and differences, either target."""
    held, widths, claims = [], [], 0
    for seed in range(40):
        rng = np.random.default_rng([judged, seed])
        truth = rng.random(200) < 0.5
        hits = [np.where(rng.random(200) < 0.905, truth, ~truth) for _ in "ab"]
        wrong = rng.random(200) < 0.05
        chosen = np.sort(rng.choice(200, judged, replace=False)).tolist()
        judged_by = [
            {f"t{i}": {"x": int(rel), "y": int(not rel)} for i, rel in enumerate(values)}
            for values in (truth, truth ^ wrong)
        ]
        gold = {f"t{i}": judged_by[0][f"t{i}"] for i in chosen}
        runs = dict(zip("ab", map(first_items, hits), strict=True))
        found = cf.evaluate_powered(gold, judged_by[1], runs, "P@1", pairs=True, resamples=99)
        true = [float((one == truth).mean()) for one in hits]
        for e, value in zip(found.estimates, true, strict=True):
            held.append(e.these[0] <= value <= e.these[1] and e.such[0] <= 0.905 <= e.such[1])
            widths += [e.these[1] - e.these[0], e.gold_these[1] - e.gold_these[0]]
            assert 0 <= e.such[0] <= e.such[1] <= max(1.0, e.value)
        (pair,) = found.pairs
        held.append(pair.these[0] <= true[0] - true[1] <= pair.these[1])
        widths.append(pair.these[1] - pair.these[0])
        assert (pair.such[0] > 0 or pair.such[1] < 0) == (pair.p <= 0.05)
        claims += pair.p <= 0.05
    assert np.mean(held) >= 0.93
    assert min(widths) > 0.01
    assert claims <= 4


def test_perfect_agreement_is_no_certainty_while_units_are_without_gold():
    gold = (np.arange(20) % 10 != 0).astype(float)[None, :]
    mean, limits = np.array([0.9]), (0.0, 1.0)
    found = stats.powered_means(gold, gold, mean, 200, resamples=199, limits=limits)
    assert found.these[0] > 0.05
    assert found.effective[0] < 100
    whole = stats.powered_means(gold, gold, mean, 20, resamples=199, limits=limits)
    assert whole.these[0] == 0


def test_no_interval_where_nothing_says_how_far_values_may_be():
    same = np.full((1, 12), 0.0)
    found = stats.powered_means(same, same, np.zeros(1), 50, resamples=99, limits=(-np.inf, np.inf))
    assert np.isnan(found.these[0])
    assert np.isnan(found.such[0])
    assert found.p[0] == 1.0


def test_gold_outside_the_silver_is_refused(campaign):
    gold, silver, runs = campaign
    del silver["t2"]
    with pytest.raises(UsageError, match=r"gold= judges 1 topic that silver= does not \(t2\)"):
        cf.evaluate_powered(some(gold, 12), silver, runs, "AP")
    elsewhere = {f"{t}x": row for t, row in gold.items()}
    with pytest.raises(UsageError, match="gold= judges 30 topics that silver= does not"):
        cf.evaluate_powered(elsewhere, silver, runs, "AP")


def test_silver_that_is_gold_or_worthless_is_told(campaign):
    gold, _, runs = campaign
    same = cf.evaluate_powered(some(gold, 12), gold, runs, "AP", resamples=199)
    assert any("Is it the same file?" in note and "22%" in note for note in same.notes)
    whole = cf.evaluate_powered(gold, gold, runs, "AP", resamples=199)
    assert any("every topic has gold" in note for note in whole.notes)
    rng = np.random.default_rng(1)
    chance = {t: {d: int(rng.random() < 0.5) for d in row} for t, row in gold.items()}
    useless = cf.evaluate_powered(some(gold, 12), chance, runs, "P@5", resamples=199)
    assert any("worthless" in note for note in useless.notes)


def test_gold_that_does_not_vary_says_nothing_of_the_rest(campaign):
    gold, silver, _ = campaign
    best = {"best": {t: {d: float(g) for d, g in row.items()} for t, row in gold.items()}}
    found = cf.evaluate_powered(some(gold, 12), silver, best, "AP", resamples=199)
    assert found.estimates[0].effective == pytest.approx(12)
    assert any("have the same value" in note and "22%" in note for note in found.notes)
    assert not any("worthless" in note for note in found.notes)


def test_runs_and_measures_must_belong_together(campaign):
    gold, silver, runs = campaign
    scores = cf.evaluate(some(gold, 12), runs, "AP")
    with pytest.raises(UsageError, match="same runs"):
        cf.powered(scores, cf.evaluate(silver, {"a": runs["a"]}, "AP"))
    with pytest.raises(UsageError, match="not a mean over topics"):
        cf.evaluate_powered(some(gold, 12), silver, runs, "GMAP")


def stratified(truth, share, seed):
    """A sample of the pairs of every topic, in two strata, as judgements with strata."""
    rng = np.random.default_rng(seed)
    table = cf.Judgements.from_dict(truth)
    strata, values = np.zeros(len(table), dtype=np.int64), np.full(len(table), -1.0)
    for begin, end in pairwise(table.offsets.tolist()):
        half = (end - begin) // 2
        strata[begin + half : end] = 1
        for rows in (np.arange(begin, begin + half), np.arange(begin + half, end)):
            chosen = rng.permutation(rows)[: max(2, round(share * len(rows)))]
            values[chosen] = np.asarray(table.values)[chosen]
    return replace(table, values=values, strata=strata)


@pytest.fixture
def pool():
    """Thirty topics with a pool of forty items each, and a silver that errs in a sixth."""
    rng = np.random.default_rng(3)
    gold, silver, runs = {}, {}, {"a": {}, "b": {}}
    for t in range(30):
        grades = rng.integers(0, 3, size=40)
        noisy = np.where(rng.random(40) < 0.17, rng.integers(0, 3, size=40), grades)
        gold[f"t{t}"] = {f"d{i}": int(g) for i, g in enumerate(grades)}
        silver[f"t{t}"] = {f"d{i}": int(g) for i, g in enumerate(noisy)}
        for name, skill in (("a", 1.0), ("b", 0.2)):
            scores = skill * grades + rng.normal(size=40)
            runs[name][f"t{t}"] = {f"d{i}": float(s) for i, s in enumerate(scores)}
    return gold, silver, runs


def test_pairs_sampled_in_every_topic(pool):
    """Sums over items: right on average, and held as often as said; gold alone is wider."""
    gold, silver, runs = pool
    true = cf.evaluate(gold, runs, "P@10 DCG@10").mean()
    off, held, parts = [], [], []
    for seed in range(40):
        sample = stratified(gold, 0.25, seed)
        found = cf.evaluate_powered(sample, silver, runs, "P@10 DCG@10", resamples=99)
        for e in found.estimates:
            value = true[e.run][e.measure]
            off.append((e.value - value) / (e.these[1] - e.these[0]))
            held.append(e.these[0] <= value <= e.these[1])
            parts.append((e.these[1] - e.these[0]) / (e.gold_these[1] - e.gold_these[0]))
    assert abs(np.mean(off)) < 0.1
    assert 0.88 <= np.mean(held) <= 0.99
    assert np.mean(parts) < 0.75
    assert found.to_dict()["design"] == "pairs"
    assert "every pair of these topics" in str(found)


def test_all_pairs_judged_leave_nothing_unknown(pool):
    gold, silver, runs = pool
    found = cf.evaluate_powered(stratified(gold, 1.0, 0), silver, runs, "P@10 DCG@10", resamples=99)
    plain = cf.evaluate(gold, runs, "P@10 DCG@10").mean()
    for e in found.estimates:
        assert e.value == pytest.approx(plain[e.run][e.measure])
        assert e.these[1] - e.these[0] == pytest.approx(0.0, abs=1e-9)


def test_what_sampled_pairs_are_worth_is_what_gold_alone_would_need(pool):
    gold, silver, runs = pool
    found = cf.evaluate_powered(stratified(gold, 0.25, 1), silver, runs, "P@5 DCG@5")
    n, every = found.gold_units, found.silver_units
    for e in found.estimates:
        narrower = (e.these[1] - e.these[0]) / (e.gold_these[1] - e.gold_these[0])
        assert narrower**2 == pytest.approx((1 / e.effective - 1 / every) / (1 / n - 1 / every))
        assert n <= e.effective < every


@pytest.mark.parametrize("pairs", [False, True])
def test_measures_that_are_no_sums_over_items_are_refused(pool, pairs):
    """A value that is known to be biased is none: AP and nDCG are refused, or left out."""
    gold, silver, runs = pool
    sample = stratified(gold, 0.3, 1)
    asked = {"pairs": pairs, "resamples": 99}
    with pytest.raises(UsageError, match=r"^AP, nDCG@10: no sum over items.*xinfAP"):
        cf.evaluate_powered(sample, silver, runs, "AP nDCG@10", **asked)
    found = cf.evaluate_powered(sample, silver, runs, "P@10 AP", **asked)
    assert {m["name"] for m in found.measures} == {"P@10"}
    assert {e.measure for e in (*found.estimates, *found.pairs)} == {"P@10"}
    assert any(note.startswith("left out: AP: no sum over items") for note in found.notes)


def test_differences_of_runs_from_sampled_pairs(pool):
    """Sums over items: right on average and held as often as said; narrower than gold alone."""
    gold, silver, runs = pool
    scores = cf.evaluate(gold, runs, "P@10 DCG@10").mean()
    off, held, parts = [], [], []
    for seed in range(30):
        found = cf.evaluate_powered(
            stratified(gold, 0.25, seed), silver, runs, "P@10 DCG@10", pairs=True, resamples=99
        )
        for p in found.pairs:
            true = scores[p.a][p.measure] - scores[p.b][p.measure]
            width = p.these[1] - p.these[0]
            off.append((p.value - true) / width)
            held.append(p.these[0] <= true <= p.these[1])
            parts.append(width / (p.gold_these[1] - p.gold_these[0]))
            assert (p.such[0] > 0 or p.such[1] < 0) == (p.p <= 0.05)
            assert (p.these[0] > 0 or p.these[1] < 0) == (p.these_p <= 0.05)
            means = [found.estimate(run, p.measure) for run in (p.a, p.b)]
            assert p.gold_value == pytest.approx(means[0].gold_value - means[1].gold_value)
    assert abs(np.mean(off)) < 0.1
    assert np.mean(held) >= 0.88
    assert np.mean(parts) < 0.75


def test_equal_runs_are_not_told_apart_by_sampled_pairs(pool):
    gold, silver, _ = pool
    claims = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        twins = {
            name: {t: {d: float(rng.random()) for d in row} for t, row in gold.items()}
            for name in "ab"
        }
        sample = stratified(gold, 0.3, seed)
        found = cf.evaluate_powered(sample, silver, twins, "P@10", pairs=True, resamples=199)
        claims.append(found.pairs[0].p <= 0.05)
    assert np.mean(claims) <= 0.15


def test_a_run_and_its_copy_are_not_told_apart_by_sampled_pairs(pool):
    gold, silver, runs = pool
    twins = {"a": runs["a"], "b": runs["a"]}
    sample = stratified(gold, 0.3, 1)
    found = cf.evaluate_powered(sample, silver, twins, "P@10", pairs=True, resamples=99)
    assert found.pairs[0].value == 0.0
    assert found.pairs[0].p == 1.0


def test_too_few_resamples_for_many_pairs_are_told(campaign):
    gold, silver, runs = campaign
    many = runs | {f"c{i}": runs["b"] for i in range(4)}
    found = cf.evaluate_powered(some(gold, 12), silver, many, "AP", pairs=True, resamples=99)
    assert any("nothing can be significant" in note for note in found.notes)
    with pytest.raises(UsageError, match="no option resample="):
        cf.powered(*(cf.evaluate(silver, runs, "AP"),) * 2, resample=9)


def test_what_sampled_pairs_cannot_do(pool):
    gold, silver, runs = pool
    sample = stratified(gold, 0.25, 0)
    del silver["t3"]["d5"]
    with pytest.raises(UsageError, match="d5 of topic t3"):
        cf.evaluate_powered(sample, silver, runs, "P@10")


def test_how_much_more_gold(campaign):
    """What the curve promises for more gold is what more gold gives."""
    gold, silver, runs = campaign
    few = cf.evaluate_powered(some(gold, 12), silver, runs, "AP", pairs=True, resamples=499)
    curve = gold_curve(few)
    assert [c.units for c in curve] == [12, 18, 24, 30]
    assert curve[0].these_width == pytest.approx(
        np.mean([e.these[1] - e.these[0] for e in few.estimates])
    )
    assert curve[-1].these_width == 0.0
    assert all(a.such_width >= b.such_width for a, b in pairwise(curve))
    assert all(a.detectable >= b.detectable for a, b in pairwise(curve))
    # Half the width reaches as far as the level; power 0.8 asks for 0.8416 / 1.96 of it more.
    first = np.mean([(p.such[1] - p.such[0]) / 2 for p in few.pairs])
    assert curve[0].detectable == pytest.approx(first * (1 + 0.8416212 / 1.9599640), rel=1e-6)
    more = cf.evaluate_powered(some(gold, 24), silver, runs, "AP", resamples=499)
    now = np.mean([e.these[1] - e.these[0] for e in more.estimates])
    assert curve[2].these_width == pytest.approx(now, rel=0.4)


def test_gold_that_a_width_needs(campaign):
    gold, silver, runs = campaign
    found = cf.evaluate_powered(some(gold, 12), silver, runs, "AP", width=0.1, resamples=199)
    needed = found.to_dict()["more"]["needed"]
    these = [n["units"] for n in needed if n["target"] == "these units"]
    assert all(12 < n <= 30 for n in these)
    assert "How much more gold?" in str(found)
    # A width that is there already needs no more.
    (e, *_) = found.estimates
    wide = gold_needed(found, width=1.01 * (e.these[1] - e.these[0]))
    assert next(n for n in wide if n.what == e.run and n.target == "these units").units <= 12
    tiny = gold_needed(found, width=1e-4)
    assert all(n.units is None for n in tiny if n.target == "such units")
    with pytest.raises(UsageError, match="width"):
        cf.evaluate_powered(some(gold, 12), silver, runs, "AP", width=-1.0)


def test_gold_that_a_difference_needs(campaign):
    """A larger difference needs less gold, whatever was seen; none is named unless asked for."""
    gold, silver, runs = campaign
    options = {"pairs": True, "resamples": 199}
    assert not gold_needed(cf.evaluate_powered(some(gold, 12), silver, runs, "AP", **options))
    found = cf.evaluate_powered(some(gold, 12), silver, runs, "AP", detect=0.4, **options)
    needed = found.to_dict()["more"]["needed"]
    assert [n["goal"] for n in needed] == ["power 0.8 at 0.4"] * len(found.pairs)
    assert "up to 2.4 times as large" in str(found)
    numbers = [
        [n.units if n.units is not None else 31 for n in gold_needed(found, detect=d)]
        for d in (0.1, 0.2, 0.4, 0.8)
    ]
    assert all(a >= b for less, more in pairwise(numbers) for a, b in zip(less, more, strict=True))
    assert numbers[0] > numbers[-1]
    with pytest.raises(UsageError, match="detect"):
        cf.evaluate_powered(some(gold, 12), silver, runs, "AP", detect=0.0)


def test_units_to_judge_next_have_equal_chances(campaign):
    """Eighteen open units do not make four parts of one size: chances must not depend on them."""
    gold, silver, runs = campaign
    scores = cf.evaluate(silver, runs, "AP")
    counts = dict.fromkeys(list(gold)[12:], 0)
    for seed in range(2000):
        chosen = next_gold(list(gold)[:12], scores, count=4, rng=seed)
        assert len(set(chosen)) == 4
        for unit in chosen:
            counts[unit] += 1
    # 2,000 times 4 of 18 are 444 each; four standard deviations are 75.
    assert max(abs(n - 2000 * 4 / 18) for n in counts.values()) < 75


def test_units_to_judge_next_are_new_and_spread(campaign):
    gold, silver, runs = campaign
    scores = cf.evaluate(silver, runs, "AP")
    known = list(gold)[:12]
    chosen = next_gold(known, scores, count=6, rng=3)
    assert len(set(chosen)) == 6
    assert not set(chosen) & set(known)
    assert chosen == next_gold(known, scores, count=6, rng=3)
    # Every unit has about the same chance.
    counts = dict.fromkeys(list(gold)[12:], 0)
    for seed in range(600):
        for unit in next_gold(known, scores, count=6, rng=seed):
            counts[unit] += 1
    assert min(counts.values()) > 150
    assert max(counts.values()) < 250
