"""What the studies find, against SciPy, by hand, and on the digits collection."""

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from cranfield.campaign.pool import make_pool
from cranfield.campaign.surveys.measures import make_questionnaire
from cranfield.campaign.surveys.votes import tally
from cranfield.data import Judgements, Run
from cranfield.data.labels import LabelMatrix
from cranfield.errors import CranfieldError, UsageError
from cranfield.evaluation.labels import evaluate_labels
from cranfield.evaluation.ranked import evaluate
from cranfield.lab.growing_collections import generality, simulated_generality
from cranfield.lab.measure_correlation import correlate, correlate_scores, fast_tau
from cranfield.lab.measure_requirements import requirements
from cranfield.lab.rank_curves import curves
from cranfield.lab.ranking_stability import _needed, _others, _powers, stability
from cranfield.lab.resample import Disturbance, Draws, disturbed
from cranfield.lab.reusability import leave_one_out
from cranfield.lab.study_input import StudyInput
from cranfield.lab.synthetic_runs import _made_up, graded_rankings, random_study
from cranfield.report.document import document_of
from cranfield.site.work_pages import write_survey
from cranfield.stats import bootstrap_test, mean_intervals

MORE, LESS = np.array([1.0, 1.0]), np.array([1.0, -1.0])


def column(values):
    return np.array(values, dtype=float)


def test_correlations_equal_scipy_and_follow_the_direction(ranked):
    found = correlate(ranked, resamples=20)
    scores = evaluate(ranked.truth, [s for _, s in ranked.runs], ranked.names)
    ap, nmrr = (column(scores.overall[m]) for m in (ranked.measures[0], ranked.measures[3]))
    pair = found.pair("NMRR", "AP")
    assert pair.kendall == pytest.approx(stats.kendalltau(ap, -nmrr).statistic)
    assert pair.spearman == pytest.approx(stats.spearmanr(ap, -nmrr).statistic)
    assert pair.pearson == pytest.approx(stats.pearsonr(ap, -nmrr).statistic)
    rows = scores.values[ranked.measures[0]], scores.values[ranked.measures[3]]
    within = [stats.kendalltau(x, -y).statistic for x, y in zip(*rows, strict=True)]
    assert pair.within == pytest.approx(np.mean(within))
    assert np.allclose(found.matrix(), found.matrix().T)
    assert len(found.tree) == len(ranked.measures) - 1


def test_distance_of_equal_and_reversed_rankings():
    names = tuple("abcdefghijkl")
    same = np.arange(12.0)
    equal = correlate_scores(("A", "B"), names, np.stack([same, same * 2], 1), MORE).pairs[0]
    found = (equal.kendall, equal.distance, equal.ap, equal.rbo)
    assert found == pytest.approx((1, 0, 1, 1))
    assert equal.concordant
    turned = correlate_scores(("A", "B"), names, np.stack([same, -same], 1), MORE).pairs[0]
    # The first of one ranking is the last of the other: 11 of 12 objects lie between.
    assert (turned.kendall, turned.distance, turned.ap) == pytest.approx((-1, 11 / 12, -1))
    assert turned.concordant is False
    error = correlate_scores(("A", "B"), names, np.stack([same, -same], 1), LESS).pairs[0]
    assert (error.kendall, error.distance) == pytest.approx((1, 0))


def test_runs_that_tie_but_for_the_order_of_adding_tie():
    values = [1.0, 1 / 3, 0.1, 1 / 7, 0.2]
    sums = {sum(values[k:] + values[:k]) for k in range(5)}
    assert len(sums) > 1  # equal but for the last digit
    scores = np.array([*[[s / 5, 1.0] for s in sorted(sums)], [0.9, 2.0], [0.1, 0.5]])
    names = tuple(map(str, range(len(scores))))
    pair = correlate_scores(("A", "B"), names, scores, MORE).pairs[0]
    assert pair.kendall == pytest.approx(1)
    assert pair.kendall_name == "tau-b"
    assert pair.rbo == pytest.approx(1)


def test_rank_biased_overlap_does_not_depend_on_the_order_of_the_runs():
    scores = np.array([[1.0, 1], [1, 2], [1, 3], [0, 4]])
    orders = itertools.permutations(range(4))
    found = [correlate_scores(("A", "B"), tuple("abcd"), scores[list(o)], MORE) for o in orders]
    assert len({round(f.pairs[0].rbo, 12) for f in found}) == 1


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=3, max_size=9))
def test_fast_tau_is_scipys_tau_b(rows):
    x, y = column(rows).T
    ours = fast_tau(x[None], y[None])[0]
    theirs = stats.kendalltau(x, y).statistic if len(set(x)) > 1 < len(set(y)) else np.nan
    assert ours == pytest.approx(theirs, nan_ok=True)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000))
def test_flipped_labels_are_nested_and_as_many_as_asked(seed):
    truth = LabelMatrix.of(np.arange(200).reshape(20, 10) % 3 == 0)
    material = StudyInput.labels(truth, [truth], "F.example")
    stages = disturbed(material, Disturbance((0.01, 0.1), (0.5,), 1, seed))[0]
    changed = [stage.labels != truth.labels for stage in stages[:2]]
    assert [int(c.sum()) for c in changed] == [2, 20]
    assert (changed[0] <= changed[1]).all()
    assert (stages[2].labels <= truth.labels).all()
    assert stages[2].labels.sum() == truth.labels.sum() - round(0.5 * truth.labels.sum())


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 1000))
def test_flipped_judgements_keep_the_grades_and_dropped_ones_a_relevant_item(seed):
    judged = Judgements.from_dict(
        {f"t{t}": {f"d{k}": [0, 0, 1, 3][(t + k) % 4] for k in range(25)} for t in range(4)}
    )
    material = StudyInput.ranked(judged, [{"t0": {"d1": 1.0}}], "AP")
    stages = disturbed(material, Disturbance((0.05, 0.1), (0.5, 0.99), 1, seed))[0]
    for stage, count in zip(stages[:2], (5, 10), strict=True):
        moved = stage.values != judged.values
        assert moved.sum() == count
        assert ((judged.values[moved] > 0) != (stage.values[moved] > 0)).all()
        assert set(stage.values.tolist()) <= {0, 1, 3}
    for stage in stages[2:]:
        assert all(max(grades.values()) >= 1 for grades in stage.to_dict().values())
        kept, all_grades = stage.to_dict(), judged.to_dict()
        assert all(all_grades[t][i] == g for t, items in kept.items() for i, g in items.items())


def test_stability_by_hand(labels):
    found = stability(labels, parts=("noise",), noise=(0.05,), repeats=2, rng=3)
    changed = disturbed(labels, Disturbance((0.05,), (), 2, 3))
    runs = [s for _, s in labels.runs]
    options = {"ontology": dict(labels.options)["ontology"]}
    first = evaluate_labels(labels.truth, runs, "HammingLoss", **options)
    measure = first.measures[0]
    taus = []
    for (truth,) in changed:
        again = evaluate_labels(truth, runs, "HammingLoss", **options)
        taus.append(stats.kendalltau(first.overall[measure], again.overall[measure]).statistic)
    stage = found.stage("HammingLoss", "noise", 0.05)
    assert stage.original == pytest.approx(np.mean(taus))
    assert stage.original_ends == pytest.approx((min(taus), max(taus)))
    assert stage.previous == stage.original


def runs_of(values):
    """Runs whose AP per topic is 1 or 0.5, as given."""
    judged = {f"t{t}": {"r": 1} for t in range(len(values[0]))}
    runs = {
        f"run{i}": {f"t{t}": {"r": v, "x": 0.5} for t, v in enumerate(row)}
        for i, row in enumerate(values)
    }
    return StudyInput.ranked(judged, runs, "AP")


def test_swap_rate_and_power_of_clear_and_of_equal_runs():
    clear = runs_of([[1.0] * 10, [0.0] * 10, [0.0] * 10])
    found = stability(clear, parts=("swap", "power"), trials=20, resamples=100)
    assert found.swaps[0].rate == 0
    assert found.swaps[0].comparisons == 3 * 20
    # Two pairs differ on every topic, one on none.
    assert (found.powers[0].told_apart, found.powers[0].pairs) == (2, 3)
    rng = np.random.default_rng(0)
    noisy = runs_of(rng.integers(0, 2, (6, 40)).astype(float).tolist())
    rate = stability(noisy, parts=("swap",), trials=100).swaps[0].rate
    assert 0.3 < rate < 0.6  # coins: halves agree about as often as not


def test_swap_rate_and_power_counted_by_hand():
    """Every pair of runs in every split, and every resample, in plain loops."""
    topics, ranks = 9, np.random.default_rng(3).integers(1, 6, (4, 9))
    judged = {f"t{t}": {"r": 1} for t in range(topics)}
    runs = {
        f"run{i}": {
            f"t{t}": {"r" if k == ranks[i, t] else f"x{k}": -float(k) for k in range(1, 7)}
            for t in range(topics)
        }
        for i in range(4)
    }
    material = StudyInput.ranked(judged, runs, "AP")
    found = stability(material, parts=("swap", "power"), trials=30, resamples=200, rng=5)
    ap = 1 / ranks
    halves = Draws("halves", 30, 5).weights(topics, 0, 30) > 0
    bins, swaps = {}, 0
    for k in range(30):
        first, second = halves[2 * k], halves[2 * k + 1]
        assert first.sum() == second.sum() == 4
        assert not (first & second).any()
        for a, b in itertools.combinations(range(4), 2):
            seen = round(float(np.mean(ap[a, first]) - np.mean(ap[b, first])), 10)
            swapped = seen * round(float(np.mean(ap[a, second]) - np.mean(ap[b, second])), 10) < 0
            swaps += swapped
            counted = bins.setdefault(min(int(round(abs(seen) * 100, 6)), 20), [0, 0])
            counted[0] += 1
            counted[1] += swapped
    assert found.swaps[0].rate == pytest.approx(swaps / (6 * 30))
    assert {k: [n, s] for k, (_, n, s) in enumerate(found.swaps[0].bins) if n} == bins
    told, needed = 0, 0.0
    for a, b in itertools.combinations(range(4), 2):
        pair = bootstrap_test(ap[[a, b]], [(0, 1)], resamples=200, rng=5)
        told += float(pair.p[0]) <= 0.05
        box = mean_intervals([ap[a] - ap[b]], resamples=200, rng=5)[0]
        needed = max(needed, box.high - box.value)
    assert found.powers[0].told_apart == told
    assert found.powers[0].needed == pytest.approx(needed)


def of_quality(seed, runs, topics):
    """Runs of rising quality whose values per topic are coarse."""
    rng = np.random.default_rng(seed)
    quality = np.linspace(0, 0.25, runs)[:, None]
    noise = rng.normal(0, 0.15, (runs, topics))
    return np.clip(rng.normal(0.4, 0.2, topics) + quality + noise, 0, 1)


def test_power_has_an_interval_and_a_test_between_measures():
    """Of equal runs the test tells one pair in twenty apart; plain draws told one in twelve."""
    shares, held = [], 0
    for seed in range(30):
        noise = np.random.default_rng(seed).normal(0.5, 0.1, (6, 20))
        (power,), _ = _powers({"x": noise}, level=0.05, trials=20, resamples=400, rng=1)
        shares.append(power.share)
    assert 0.02 <= np.mean(shares) <= 0.08
    options = {"level": 0.05, "trials": 2, "resamples": 99, "rng": 1}
    others = (_powers({"x": of_quality(k, 10, 40)}, **options)[0] for k in range(100, 130))
    expected = np.mean([power.share for (power,) in others])
    for seed in range(20):
        values = of_quality(seed, 10, 40)
        weak = values + np.random.default_rng(seed).normal(0, 0.4, values.shape)
        powers, (gap,) = _powers(
            {"x": values, "weak": weak}, level=0.05, trials=40, resamples=200, rng=1
        )
        held += powers[0].interval[0] <= expected <= powers[0].interval[1]
        assert gap.difference == powers[0].share - powers[1].share
        assert gap.p < 0.01
        assert gap.interval[0] > 0
    assert held >= 16


def test_other_units_rank_the_runs_as_the_study_expects():
    """Rankings by other topics of the same kind, beside what is said from one set of them."""
    quality = np.random.default_rng(1).normal(0, 0.06, (24, 1))

    def drawn(seed):
        rng = np.random.default_rng(seed)
        return rng.normal(0.4, 0.2, 40) + quality + rng.normal(0, 0.2, (24, 40))

    found = [_others("x", drawn(seed), 40, 1) for seed in range(12)]
    assert {(w.units, h.units, w.best) for w, h in found} == {(40, 20, 12)}
    assert all(half.tau < whole.tau for whole, half in found)
    means = [drawn(seed).mean(axis=1) for seed in range(1000, 1160)]
    expected = []
    for first, second in itertools.pairwise(means):
        top = np.argsort(-first)[:12]
        among = stats.kendalltau(first[top], second[top]).statistic
        expected.append((stats.kendalltau(first, second).statistic, among))
    told = [(whole.tau, whole.tau_best) for whole, _ in found]
    assert np.mean(told, axis=0) == pytest.approx(np.mean(expected, axis=0), abs=0.1)


def test_clusters_of_a_design_are_drawn_as_wholes():
    draws = Draws("halves", 4, 5, clusters=tuple(k // 3 for k in range(24)))
    weights = draws.weights(24, 0, 4).reshape(-1, 8, 3)
    assert (weights == weights[:, :, :1]).all()
    rng = np.random.default_rng(3)
    rows = np.repeat(rng.integers(0, 2, (4, 12)), 5, axis=1).astype(float).tolist()
    material = runs_of(rows)
    design = {f"t{k}": f"u{k // 5}" for k in range(60)}
    plain = stability(material, parts=("power", "others"), trials=20, resamples=200)
    obeyed = stability(material, parts=("power", "others"), trials=20, resamples=200, design=design)
    assert obeyed.powers[0].needed > 1.5 * plain.powers[0].needed
    assert obeyed.others[0].units == 12
    assert obeyed.design == "60 units in 12 clusters"


def test_needed_for_5_percent_rests_on_classes_that_were_seen():
    """Classes of fewer than 20 comparisons are judged with the next one below."""
    counts, wrong = np.zeros(21, dtype=np.int64), np.zeros(21, dtype=np.int64)
    counts[[0, 3, 5, 9]], wrong[[0, 3]] = [100, 40, 30, 3], [45, 10]
    assert _needed(counts, wrong) == 5
    # Three comparisons without a swap are no evidence: before they made 0.09 the answer.
    counts[5] = 0
    assert np.isnan(_needed(counts, wrong))
    # Three that swap count against the class they are joined to.
    counts[5], wrong[9] = 30, 3
    assert np.isnan(_needed(counts, wrong))
    counts[5] = 60
    assert _needed(counts, wrong) == 5
    few = runs_of([[1.0] * 10, [0.0] * 10, [0.0] * 10])
    assert np.isnan(stability(few, parts=("swap",), trials=5).swaps[0].needed)
    # 20 trials of the pair that is equal, 40 of the pairs that differ by half the range.
    assert stability(few, parts=("swap",), trials=20).swaps[0].needed == 0


def test_micro_means_have_no_swap_rate_whatever_the_runs_score():
    """The declaration says what a mean is: two perfect runs have a micro mean like any mean."""
    judged = {f"t{t}": {f"r{k}": 1 for k in range(t + 1)} for t in range(6)}
    perfect = {t: dict.fromkeys(items, 1.0) for t, items in judged.items()}
    worse = {t: {"x": 2.0, **own} for t, own in perfect.items()}
    runs = {"a": perfect, "b": perfect, "c": worse}
    micro = "SetP(mean='micro')"
    material = StudyInput.ranked(judged, runs, f"SetP {micro}")
    found = stability(material, parts=("swap", "power"), trials=5, resamples=5)
    assert [s.measure for s in found.swaps] == ["SetP"]
    assert [p.measure for p in found.powers] == ["SetP"]
    labels = {f"i{k}": {"A", "B"} if k % 2 else {"A"} for k in range(8)}
    runs = {"a": labels, "b": labels, "c": {i: {"A": 0, "B": 1} for i in labels}}
    material = StudyInput.labels(labels, runs, "F.concept F.concept(mean='micro')")
    found = stability(material, parts=("swap",), trials=5)
    assert [s.measure for s in found.swaps] == ["F.concept"]


def test_kolmogorov_smirnov_has_no_verdict_on_few_runs(ranked):
    """Of 5 runs 26 % of all orders would pass for concordant, of 12 less than 1 %."""
    few = correlate(ranked, resamples=5)
    assert len(few.runs) < 12
    assert {p.concordant for p in few.pairs} == {None}
    stages = stability(ranked, parts=("noise",), repeats=2).stages
    assert all(np.isnan(s.concordant) for s in stages)
    order = np.arange(12.0)
    same = correlate_scores(("A", "B"), tuple("abcdefghijkl"), np.stack([order, order], 1), MORE)
    assert same.pairs[0].concordant


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_random_runs_stay_below_the_median_real_run_on_the_digits(labels, digits, seed):
    found = random_study(labels, over=False, rng=seed)
    for measure in ("F.example", "OS", "AP.concept"):
        assert found.verdict(measure).separates
    ranked = StudyInput.ranked(digits.judgements, list(digits.runs), "AP")
    assert random_study(ranked, rng=seed).verdict("AP").separates


def test_nothing_is_said_of_a_measure_without_values():
    judged, run = {"t": {"a": 0, "b": 0}}, {"t": {"a": 2.0, "b": 1.0}}
    found = random_study(StudyInput.ranked(judged, {"run": run}, "NMRR"))
    assert found.verdict("NMRR").separates is None
    assert document_of(found).tables[0].rows[0][5] == "-"


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_hs_does_not_tell_random_runs_from_the_average_system(labels, seed):
    """Thesis 7.5.3 and 7.5.5: good results with random numbers, and many labels do no harm."""
    found = random_study(labels, densities=(0.3, 0.5, 0.7, 0.9, 1.0), over=False, rng=seed)
    verdict = found.verdict("HS")
    assert not verdict.separates
    assert verdict.best_random > verdict.median_real + 0.02
    scores = found.scores[:, found.measures.index("HS")]
    chance = {r.name: s for r, s in zip(found.runs, scores, strict=True) if r.kind == "random"}
    assert len(chance) == 6
    # From 30 % of the labels on, and with all of them, every one passes the median.
    assert min(chance.values()) > verdict.median_real


def test_over_annotation_is_judged_by_runs_that_got_labels():
    truth = {f"i{k}": {"a"} for k in range(20)} | {"i0": {"a", "b"}}
    full = {f"i{k}": {"a", "b"} for k in range(20)}
    none = {f"i{k}": {"a": 0, "b": 0} for k in range(20)}
    material = StudyInput.labels(truth, {"full": full, "none": none}, "R.example")
    # `full` is denser than 50 % before: only `none` gains labels, and recall with them.
    assert random_study(material, densities=(0.5,)).verdict("R.example").over_pays == 1


def overannotated(run, name, **options):
    """The confidences of a run after labels were added to it, as the study makes them."""
    truth = LabelMatrix.of(np.eye(4, dtype=bool), items=list("wxyz"), concepts=list("ABCD"))
    material = StudyInput.labels(truth, {"run": run}, "AP.concept", **options)
    pieces = {p.name: p for p in _made_up(material, (0.9,), 1, 1, True, 0)}
    return pieces[name].run()


def test_chance_labels_are_as_sure_as_the_run_or_as_its_threshold_asks():
    names = {"items": list("wxyz"), "concepts": list("ABCD")}
    sure = np.where(np.eye(4, dtype=bool), [0.31, 0.42, 0.73, 0.94], 0.05)
    run = LabelMatrix.of(sure, **names)
    added = ~np.eye(4, dtype=bool)
    timid = overannotated(run, "run+90", threshold=0.3)
    found = np.asarray(timid.confidences)[added & timid.labels]
    assert found.size > 4
    assert set(found) == {0.3}  # the threshold, not 0.5
    own = overannotated(run, "run+90 as sure", threshold=0.3)
    assert (own.labels == timid.labels).all()
    used = np.asarray(own.confidences)[added & own.labels]
    assert set(used) <= {0.31, 0.42, 0.73, 0.94}
    assert len(set(used)) > 1
    # Labels of its own: a concept's threshold shows in the least sure of them.
    decided = replace(run, labels=np.eye(4, dtype=bool))
    shown = overannotated(decided, "run+90")
    for column, least in enumerate((0.31, 0.42, 0.73, 0.94)):
        rows = shown.labels[:, column] & added[:, column]
        assert set(np.asarray(shown.confidences)[rows, column]) <= {least}
    # Without confidences there is nothing to be sure with.
    plain = LabelMatrix.of(np.eye(4, dtype=bool), **names)
    assert overannotated(plain, "run+90 as sure") is None
    labels = StudyInput.labels(plain, {"run": plain}, "F.example")
    made = [r.name for r in random_study(labels, densities=(0.9,)).runs]
    assert made == ["run", "Random0", "Random90", "run+90"]


def test_random_and_overannotating_runs_have_the_density_asked_for(labels):
    found = random_study(labels, densities=(0.3, 0.6))
    for run in found.runs:
        if run.kind != "real" and run.name != "Random0":
            asked = run.name.removesuffix(" as sure").split("+")[-1]
            wanted = float(asked.removeprefix("Random")) / 100
            assert run.density == pytest.approx(wanted, abs=0.02) or run.base == "chance"
    assert found.to_dict()["runs"][0]["kind"] == "real"


def test_generality_keeps_relevant_items_and_counts_sizes(digits):
    material = StudyInput.ranked(digits.judgements, list(digits.runs)[:2], "AP MNRO NumRelRet")
    found = generality(material, collection_size=1120)
    assert found.sizes == (373, 747, 1120)
    relevant = found.scores[:, :, 2]
    assert (relevant == relevant[0]).all()
    whole = evaluate(digits.judgements, list(digits.runs)[:2], "AP", collection_size=1120)
    assert found.scores[-1, :, 0] == pytest.approx(whole.overall[whole.measures[0]])
    assert (np.diff(found.scores[:, :, 0], axis=0) <= 0).all()  # more to confuse: AP falls


def test_simulated_generality_shows_what_the_paper_found():
    """Ch 5.2: AP deviates most, then NMRR; NAR and MNRO follow the size of the collection."""
    found = simulated_generality("AP NMRR NAR MNRO", sizes=(10_000, 20_000, 40_000))
    last = {m: found.deviation(m)[-1] for m in found.measures}
    assert last["AP"] > last["NMRR"] > max(last["NAR"], last["MNRO"])
    assert last["MNRO"] < 3


def test_pool_by_hand():
    a = Run.from_dict({"t": {"x": 3.0, "y": 2.0, "z": 1.0}}).named("a")
    b = Run.from_dict({"t": {"x": 3.0, "w": 2.0}, "u": {"v": 1.0}}).named("b")
    judged = Judgements.from_dict({"t": {"x": 1, "w": 1, "z": 0}, "u": {"v": 1}})
    pool = make_pool([a, b], depth=2, judged=judged)
    found = {(i.topic, i.item): (i.runs, i.best_rank, i.weight, i.judged) for i in pool.items}
    assert found == {
        ("t", "x"): (2, 1, 0.0, True),
        ("t", "y"): (1, 2, 0.5, False),
        ("t", "w"): (1, 2, 0.5, True),
        ("u", "v"): (1, 1, 1.0, True),
    }
    assert [i.item for i in pool.next_to_judge(5)] == ["y"]
    left = leave_one_out(StudyInput.ranked(judged, {"a": a, "b": b}, "NumRelRet"), depth=2)
    by_run = {r.run: r for r in left.runs}
    # b alone has w and v, both relevant; a alone has y, unjudged, and z, below the depth.
    assert (by_run["b"].unique, by_run["b"].unique_relevant) == (2, 2)
    assert (by_run["b"].score, by_run["b"].score_without) == (3, 1)
    assert (by_run["a"].score, by_run["a"].score_without) == (1, 1)
    assert (by_run["b"].rank, by_run["a"].rank, by_run["b"].rank_without) == (1, 2, 1)


@pytest.mark.parametrize(
    "measure, failing",
    [
        ("AP", set()),
        ("nDCG", set()),
        ("NormRecall", set()),
        ("MNRO", set()),
        ("RR", {1}),
        ("P@5", {1, 2}),
        ("Success@1", {1, 2}),
        ("NMRR", {2}),
        ("HammingLoss", set()),
        ("P.example", {1, 2}),
        ("F.example", {2}),
        ("AUC", set()),
    ],
)
def test_requirements_with_counter_examples(measure, failing):
    found = requirements(measure)
    assert {n for n in range(1, 10) if found.of(measure, n).holds is False} == failing
    assert all(bool(r.counter_example) == (r.holds is False) for r in found.found)
    assert {r.number for r in found.found if r.holds is None} == {4, 5, 9}


def test_questionnaire_is_blind_and_can_be_tallied(tmp_path):
    made = make_questionnaire("AP NMRR MNRO", questions=6, rng=1)
    write_survey(made, tmp_path)
    page = (tmp_path / "survey.html").read_text()
    assert not any(name in page for name in ("NMRR", "MNRO", "AP<"))
    assert "NMRR" not in (tmp_path / "questions.json").read_text()
    orders = {tuple(methods.values()) for methods in made.key["key"].values()}
    assert len(orders) > 1
    answers = tmp_path / "answers.json"
    chosen = {
        q: [next(m for m, name in methods.items() if name == "MNRO")]
        for q, methods in made.key["key"].items()
    } | {"6": ["none"]}
    answers.write_text(json.dumps({"respondent": "a", "answers": chosen}))
    found = tally(tmp_path / "key.json", [answers, answers])
    votes = {c.option: c.votes for c in found.choices}
    assert (votes["MNRO"], votes["OTHER"]) == (10, 2)
    # Others have a vote only where they order the lists as MNRO does.
    shared = [groups for q, groups in made.key["alike"].items() if q != "6"]
    for other in ("AP", "NMRR"):
        assert votes[other] == 2 * sum({other, "MNRO"} <= set(g) for gs in shared for g in gs)


@pytest.mark.parametrize(
    "ask, message",
    [
        (lambda m: correlate(m, resamples=10**14), "resamples=.* is too large: at most 1,000,000"),
        (lambda m: stability(m, trials=10**12), "trials=.* is too large"),
        (lambda m: stability(m, repeats=10**9), "repeats=.* is too large: at most 1,000"),
        (lambda m: random_study(m, count=10**10), "count=.* is too large"),
        (lambda _: simulated_generality("AP", sizes=(100, 10**14)), "sizes=.* is too large"),
        (lambda _: curves("AP", size=10**9), "size=.* is too large: at most 2,000,000"),
        (lambda _: curves("AP", size=10**40), "size=.* is too large"),
        (lambda _: curves("AUC", size=10**9, ranks=[1]), "size=.* is too large"),
        (lambda _: curves("AP", size=10**9, ranks=[10**8]), "ranks=.* is too large"),
        (lambda _: make_questionnaire(size=10**11), "size=.* is too large"),
        (lambda _: make_questionnaire(questions=10**11), "questions=.* is too large"),
        (lambda m: list(graded_rankings(m.read_judgements(), count=10**10)), "count=.* too large"),
    ],
)
def test_numbers_too_large_are_refused_before_anything_is_made(ranked, ask, message):
    with pytest.raises(UsageError, match=message):
        ask(ranked)


def test_a_large_collection_is_fine_where_few_ranks_are_visited():
    assert curves("MNRO AP", size=10**12, ranks=[1, 10]).at("AP", 10) == pytest.approx(0.1)


def test_studies_refuse_what_makes_no_sense(ranked, labels):
    with pytest.raises(UsageError, match="at least 3"):
        correlate(replace(ranked, runs=ranked.runs[:2]))
    with pytest.raises(UsageError, match="two measures"):
        correlate(StudyInput.ranked(ranked.truth, [s for _, s in ranked.runs], "AP"))
    with pytest.raises(UsageError, match="Did you mean 'noise'"):
        stability(ranked, parts=("noice",))
    with pytest.raises(UsageError, match="rise"):
        stability(ranked, noise=(0.1, 0.05))
    with pytest.raises(CranfieldError, match=r"cannot hold .* \(by collection_size=\)"):
        generality(ranked, collection_size=100)
    with pytest.raises(CranfieldError, match=r"below 107 items \(10% of all\)"):
        generality(ranked, collection_size=1120, shares=(0.01, 1.0))
    with pytest.raises(UsageError, match=r"StudyInput\.concepts"):
        generality(labels, collection_size=10)
    with pytest.raises(UsageError, match="1 or 2 relevant"):
        curves("AP", relevant=3)
    with pytest.raises(UsageError, match="between 1 and 20"):
        curves("AP", ranks=[0])
