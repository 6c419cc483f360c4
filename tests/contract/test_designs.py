"""Tests and intervals obey how topics or items were sampled."""

import numpy as np
import pytest
from scipy import stats as scipy_stats

import cranfield as cf
from cranfield.comparison.sampling import named_clusters
from cranfield.data.collection import Design
from cranfield.errors import InputError, UsageError
from cranfield.io.design import read_design
from cranfield.stats.design import UnitDesign, cluster_correlation, unit_design
from tests.contract.test_comparison import scores


def clustered(seed, clusters=20, size=10, correlation=0.3):
    """Two runs of equal quality whose differences correlate within clusters."""
    rng = np.random.default_rng(seed)
    shared = rng.normal(0, 1, (clusters, 1)) * correlation**0.5
    gap = shared + rng.normal(0, 1, (clusters, size)) * (1 - correlation) ** 0.5
    base = 0.5 + rng.normal(0, 0.05, clusters * size)
    return np.array([base + gap.ravel() / 20, base - gap.ravel() / 20])


def design_of(found, clusters, size):
    names = found.units["topic"]
    return {name: f"c{k // size}" for k, name in enumerate(names[: clusters * size])}


def test_clusters_are_what_is_drawn():
    """Equal clusters: by own arithmetic the t-test of their means."""
    values = clustered(3)
    found = scores(values)
    result = found.compare(test="t", design=design_of(found, 20, 10))
    (pair,) = result.pairs
    means = (values[0] - values[1]).reshape(20, 10).mean(axis=1)
    assert pair.p == pytest.approx(scipy_stats.ttest_1samp(means, 0).pvalue, rel=1e-9)
    assert pair.difference == pytest.approx(means.mean(), abs=1e-12)
    assert (pair.topics, result.unit, result.measures[0]["units"]) == (20, "cluster", 20)
    assert result.design == "200 topics in 20 clusters"
    assert result.to_dict()["design"] == result.design
    assert "20 clusters in every pair" in result.footnotes()[-1]
    # Wins are still those of topics.
    assert pair.wins + pair.ties + pair.losses == 200


def test_five_copies_of_every_topic_change_nothing():
    rng = np.random.default_rng(8)
    values = np.clip(rng.normal(0.5, 0.1, (2, 40)) + np.array([[0.05], [0.0]]), 0, 1)
    once = scores(values).compare().pairs[0]
    copies = scores(np.repeat(values, 5, axis=1))
    again = copies.compare(design=design_of(copies, 40, 5)).pairs[0]
    assert again.p == pytest.approx(once.p, abs=1e-12)
    assert again.ci == pytest.approx(once.ci, abs=1e-12)
    assert copies.compare().pairs[0].p < once.p * 0.6


def test_clusters_keep_the_level():
    claims = {"none": 0, "design": 0}
    for seed in range(60):
        found = scores(clustered(seed))
        claims["none"] += found.compare(test="t").pairs[0].p <= 0.05
        design = design_of(found, 20, 10)
        claims["design"] += found.compare(test="t", design=design).pairs[0].p <= 0.05
    assert claims["design"] <= 7 < claims["none"]


def test_clusters_of_different_sizes_give_the_variance_of_a_ratio():
    """The witness is the textbook's variance of a ratio of cluster totals (Cochran 1977, 9.2)."""
    rng = np.random.default_rng(1)
    clusters = np.repeat(np.arange(12), rng.integers(1, 9, 12))
    values = rng.random((1, len(clusters)))
    parts = UnitDesign(clusters, np.zeros(12, dtype=int), np.ones(len(clusters))).parts(values)
    totals, sizes = np.bincount(clusters, weights=values[0]), np.bincount(clusters)
    ratio = totals.sum() / sizes.sum()
    variance = ((totals - ratio * sizes) ** 2).sum() / 11 / 12 / sizes.mean() ** 2
    assert parts.mean() == pytest.approx(values.mean())
    assert parts.var(ddof=1) / 12 == pytest.approx(variance)


def test_strata_leave_the_spread_within_them():
    """The witness is the variance of a stratified mean: the sum over strata of W^2 s^2 / n."""
    rng = np.random.default_rng(2)
    strata = np.repeat([0, 1, 2], [10, 20, 15])
    values = rng.random((1, 45)) + 3 * strata
    design = UnitDesign(np.arange(45), strata, np.ones(45))
    parts = design.parts(values)
    groups = [values[0, strata == h] for h in range(3)]
    expected = sum((len(g) / 45) ** 2 * g.var(ddof=1) / len(g) for g in groups)
    assert parts.mean() == pytest.approx(values.mean())
    assert parts.var(ddof=1) / 45 == pytest.approx(expected)


def test_probabilities_weigh_the_units():
    values = np.array([[0.2, 0.4, 0.9, 0.8], [0.1, 0.5, 0.7, 0.6]])
    found = scores(values)
    names = found.units["topic"]
    design = Design(names, ("",) * 4, ("",) * 4, (0.5, 1.0, 0.25, 1.0))
    result = found.compare(test="t", design=design)
    weights = np.array([2.0, 1.0, 4.0, 1.0])
    assert result.pairs[0].difference == pytest.approx((values[0] - values[1]) @ weights / 8)
    assert result.standings[0].mean == pytest.approx(values[0] @ weights / 8)


def test_a_design_goes_with_the_scores(tmp_path):
    found = scores(clustered(5))
    design = design_of(found, 20, 10)
    with_design = found.with_design(design)
    assert with_design.compare().pairs[0] == found.compare(design=design).pairs[0]
    box, plain = (s.interval()["run0"] for s in (with_design, found))
    (name,) = box
    assert box[name].n == 20
    assert box[name].value == pytest.approx(plain[name].value)
    with_design.save(tmp_path / "s.json")
    assert cf.load(tmp_path / "s.json").compare().pairs[0] == with_design.compare().pairs[0]


def test_names_that_look_like_clusters_are_noted():
    values = clustered(1, correlation=0.5)
    found = scores(values)
    from dataclasses import replace

    names = tuple(f"user{k // 10}-{k % 10}" for k in range(200))
    found = replace(found, units={"topic": names})
    assert any("look like 20 clusters" in note for note in found.compare(test="t").notes)
    design = {name: name.split("-")[0] for name in names}
    assert not any("look like" in n for n in found.compare(test="t", design=design).notes)
    assert named_clusters(["a", "b-1"]) is None
    assert cluster_correlation(np.arange(3.0), np.arange(3)) != cluster_correlation(
        np.arange(3.0), np.arange(3)
    )


def test_what_is_wrong_with_a_design_is_said(tmp_path):
    file = tmp_path / "design.csv"
    file.write_text("unit,clutser\nt1,a\n")
    with pytest.raises(InputError, match=r"unknown column 'clutser'.*Did you mean .cluster."):
        read_design(file)
    file.write_text("unit,cluster,probability\nt1,a,2\nt1,b,1\n,c,1\n")
    with pytest.raises(InputError) as caught:
        read_design(file)
    text = str(caught.value)
    assert "probability is '2'" in text
    assert "stands twice" in text
    assert "names no unit" in text
    found = scores(clustered(1))
    file.write_text("unit,cluster\nzz,a\n")
    with pytest.raises(UsageError, match="has no topic"):
        found.compare(design=file)
    two = Design(("a", "b"), ("c", "c"), ("s", "t"), (1.0, 1.0))
    with pytest.raises(UsageError, match="in two strata"):
        unit_design(two, ["a", "b"], "topic")


def clustered_truths(seed, clusters=30, size=5, gold=10):
    """Gold for whole clusters and silver for all, as scores of one run; the mean of all gold."""
    rng = np.random.default_rng(seed)
    shared = np.repeat(rng.normal(0, 1, clusters), size)
    true = np.clip(0.5 + 0.15 * shared + rng.normal(0, 0.1, clusters * size), 0, 1)
    silver = np.clip(true + rng.normal(0, 0.1, true.size), 0, 1)
    all_silver = scores(np.array([silver, silver[::-1]]))
    names = all_silver.units["topic"]
    chosen = [names[i] for i in range(gold * size)]
    judged = scores(np.array([true, true[::-1]])).of_units("topic", chosen)
    return judged, all_silver, {name: f"c{i // size}" for i, name in enumerate(names)}


def test_gold_and_silver_obey_the_design():
    from cranfield.comparison.ppi import powered

    gold, silver, design = clustered_truths(4)
    plain, obeyed = (
        powered(gold, silver, design=d, pairs=True, resamples=500) for d in (None, design)
    )
    for before, after in zip(plain.estimates, obeyed.estimates, strict=True):
        assert after.value == pytest.approx(before.value, abs=0.05)
        assert (after.units, after.total) == (10, 30)
        assert after.such[1] - after.such[0] > 1.3 * (before.such[1] - before.such[0])
    assert any("gold for 10 of 30 clusters" in note for note in obeyed.notes)
    # A part of a cluster is no sample of clusters.
    part = gold.of_units("topic", gold.units["topic"][2:33])
    with pytest.raises(UsageError, match="only a part of 2 clusters"):
        powered(part, silver, design=design)


def test_slices_obey_the_design():
    values = clustered(5, clusters=24, size=5)
    found = scores(values)
    design = design_of(found, 24, 5)
    groups = {name: "even" if int(design[name][1:]) % 2 else "odd" for name in design}
    plain, obeyed = found.by(groups), found.with_design(design).by(groups)
    widths = [[pair.ci[1] - pair.ci[0] for pair in answer.pairs] for answer in (plain, obeyed)]
    assert all(after > before for before, after in zip(*widths, strict=True))
