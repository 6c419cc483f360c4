"""Judging the judges: agreement, shifts, swaps, and runs that a judge favours."""

import json

import numpy as np
import pytest

import cranfield as cf
from cranfield.cli import main
from cranfield.errors import UsageError


@pytest.fixture
def campaign():
    """Forty topics; a generous judge, a judge by chance, and one that likes run c."""
    rng = np.random.default_rng(2)
    gold, runs = {}, {n: {} for n in "abc"}
    judges = {"generous": {}, "chance": {}, "partial": {}}
    for t in range(40):
        grades = rng.integers(0, 3, size=15)
        for name, skill in (("a", 1.5), ("b", 0.8), ("c", 0.0)):
            scores = skill * grades + rng.normal(size=15)
            runs[name][f"t{t}"] = {f"d{i}": float(s) for i, s in enumerate(scores)}
        liked = sorted(range(15), key=lambda i: -runs["c"][f"t{t}"][f"d{i}"])[:5]
        given = {
            "generous": np.minimum(grades + 1, 2),
            "chance": rng.integers(0, 3, size=15),
            "partial": np.where(np.isin(np.arange(15), liked), 2, grades),
        }
        gold[f"t{t}"] = {f"d{i}": int(g) for i, g in enumerate(grades)}
        for name, row in given.items():
            judges[name][f"t{t}"] = {f"d{i}": int(g) for i, g in enumerate(row)}
    return gold, judges, runs


def test_agreement_is_that_of_scikit_learn(campaign):
    metrics = pytest.importorskip("sklearn.metrics")
    gold, judges, _ = campaign
    report = cf.assess_judges(gold, judges, resamples=200)
    ours = [g for row in gold.values() for g in row.values()]
    for judge in report.judges:
        theirs = [judges[judge.name][t][d] for t, row in gold.items() for d in row]
        a = judge.agreement
        assert a.share.value == pytest.approx(metrics.accuracy_score(ours, theirs))
        assert a.kappa.value == pytest.approx(metrics.cohen_kappa_score(ours, theirs))
        weighted = metrics.cohen_kappa_score(ours, theirs, weights="quadratic")
        assert a.weighted.value == pytest.approx(weighted)
        assert a.shift.value == pytest.approx(np.mean(theirs) - np.mean(ours))
        assert [list(r) for r in a.confusion] == metrics.confusion_matrix(ours, theirs).tolist()
        for found in (a.share, a.kappa, a.weighted, a.shift):
            assert found.low <= found.value <= found.high


def test_what_judges_do_to_the_runs(campaign):
    gold, judges, runs = campaign
    families = {"a": "ours", "b": "ours", "c": "theirs"}
    report = cf.assess_judges(gold, judges, runs, "P@5 nDCG@5", families=families, resamples=100)
    by_name = {judge.name: judge for judge in report.judges}
    p, ndcg = by_name["partial"].measures
    assert p.gold[0] > p.gold[2]
    assert p.judged[2] == 1.0
    assert p.tau < 1
    assert p.interaction_p < 0.001
    best = max(p.favours, key=lambda f: f.ahead)
    assert best.name == "c"
    assert best.p_corrected < 0.001
    assert {(s.a, s.b) for s in p.swaps} == {("a", "c"), ("b", "c")}
    assert all(s.gold_difference > 0 > s.judged_difference for s in p.swaps)
    assert next(f for f in p.families if f.name == "theirs").ahead > 0
    assert ndcg.units == 40
    # The same truth changes nothing.
    same = cf.assess_judges(gold, {"same": gold}, runs, "P@5", resamples=50).judges[0]
    assert same.agreement.kappa.value == 1.0
    assert same.measures[0].tau == 1.0
    assert same.measures[0].interaction_p is None
    assert not same.measures[0].swaps


def test_a_judge_that_changes_all_runs_alike_is_not_accused(campaign):
    """Of judges whose mistakes know nothing of the runs few are called partial."""
    gold, _, runs = campaign
    rng = np.random.default_rng(4)
    called = 0
    for _ in range(20):
        noisy = {
            t: {d: int(rng.integers(0, 3)) if rng.random() < 0.2 else g for d, g in row.items()}
            for t, row in gold.items()
        }
        two = {n: runs[n] for n in "aa"[:1]} | {"a2": runs["a"]}
        two["a2"] = {
            t: {d: s + rng.normal() * 0.01 for d, s in r.items()} for t, r in two["a2"].items()
        }
        found = cf.assess_judges(gold, {"noisy": noisy}, two, "P@5", resamples=20).judges[0]
        p = found.measures[0].interaction_p
        called += p is not None and p <= 0.05
    assert called <= 4


def test_annotation_and_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(1)
    for name, noise in (("gold", 0.0), ("crowd", 0.2)):
        rows = [
            f"i{k},{int((k % 2) ^ (rng.random() < noise))},{int(k % 3 == 0)}" for k in range(30)
        ]
        (tmp_path / f"{name}.csv").write_text("item,x,y\n" + "\n".join(rows) + "\n")
    for name in "ab":
        rows = [f"i{k},{rng.random():.3f},{rng.random():.3f}" for k in range(30)]
        (tmp_path / f"{name}.csv").write_text("item,x,y\n" + "\n".join(rows) + "\n")
    (tmp_path / "f.csv").write_text("run,family\na,one\nb,two\n")
    line = (
        "judges gold.csv crowd.csv --annotation --runs a.csv b.csv -m HammingLoss --families f.csv"
    )
    assert main([*line.split(), "--resamples", "100", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["unit"] == "item"
    assert found["judges"][0]["measures"][0]["runs"] == ["a", "b"]
    assert len(found["judges"][0]["measures"][0]["families"]) == 2
    assert main([*line.split(), "--resamples", "100"]) == 0
    assert "Agreement with the gold" in capsys.readouterr().out


def test_judges_that_cannot_be_compared(campaign):
    gold, judges, _ = campaign
    with pytest.raises(UsageError, match="nothing that the gold judged"):
        cf.assess_judges(gold, {"other": {"x": {"d": 1}}})
    with pytest.raises(UsageError, match="no judge"):
        cf.assess_judges(gold, {})
    less = {"less": {t: judges["chance"][t] for t in list(gold)[:30]}}
    found = cf.assess_judges(gold, less, resamples=20)
    assert any("did not judge 150" in note for note in found.notes)


def test_epsilon_of_sphericity():
    """1 where all differences of runs vary alike, 1 / (runs - 1) where one contrast varies."""
    from cranfield import stats

    rng = np.random.default_rng(3)
    topic, contrast = rng.normal(size=60), np.array([2.0, -1.0, -1.0, 0.0])
    assert stats.sphericity(topic + contrast[:, None] * rng.normal(size=60)) == pytest.approx(1 / 3)
    alike = np.linalg.qr(rng.normal(size=(60, 5)) - 0)[0]
    alike = np.linalg.qr(np.column_stack([np.ones(60), alike]))[0][:, 1:5].T
    assert stats.sphericity(alike + topic) == pytest.approx(1.0)
    assert stats.sphericity(rng.normal(size=(2, 30))) == pytest.approx(1.0)
    # By the definition of Greenhouse and Geisser (1959), from the covariances of the runs.
    values = rng.normal(size=(4, 20)) * np.array([[1.0], [2.0], [0.5], [3.0]])
    s = np.cov(values)
    k = len(s)
    above = k**2 * (np.trace(s) / k - s.mean()) ** 2
    below = (k - 1) * ((s**2).sum() - 2 * k * (s.mean(axis=1) ** 2).sum() + k**2 * s.mean() ** 2)
    assert stats.sphericity(values) == pytest.approx(above / below)
