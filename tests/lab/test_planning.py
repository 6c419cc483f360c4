"""Plans of campaigns against the formula of the t-test, and against arithmetic."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import cranfield as cf
from cranfield.cli import main
from cranfield.lab.planning import gold_beside_judge


def pilot(values: np.ndarray) -> cf.Scores:
    """Scores of P@10 whose values are these: runs x topics, in tenths."""
    judged = {f"t{t}": {f"d{k}": 1 for k in range(10)} for t in range(values.shape[1])}
    runs = {
        f"r{r}": {
            f"t{t}": {
                **{f"d{k}": 100.0 - k for k in range(hits)},
                **{f"x{k}": 50.0 - k for k in range(10 - hits)},
            }
            for t, hits in enumerate(row.tolist())
        }
        for r, row in enumerate(values)
    }
    return cf.evaluate(judged, runs, "P@10")


@pytest.fixture(scope="module")
def two_runs() -> cf.Scores:
    rng = np.random.default_rng(5)
    return pilot(np.clip(np.round(rng.normal(5, 1.6, (2, 60))), 0, 10).astype(int))


def test_two_runs_under_a_t_test_need_what_the_formula_says(two_runs: cf.Scores) -> None:
    """SciPy's noncentral t is the witness, at the number of topics that the plan names."""
    answer = cf.lab.plan_campaign(
        two_runs, difference=0.1, test="t", correction="none", simulations=300, rng=3
    )
    plan = answer.plan("P@10")
    values = np.asarray(two_runs.values[two_runs.measures[0]])
    spread = (values[0] - values[1]).std(ddof=1)
    assert plan.spread == pytest.approx(spread)
    n = plan.needed
    assert n is not None
    critical = stats.t.ppf(0.975, n - 1)
    shift = 0.1 / spread * math.sqrt(n)
    assert stats.nct.sf(critical, n - 1, shift) == pytest.approx(0.8, abs=0.05)
    assert plan.needed_low < n < plan.needed_high
    # What 60 topics can show: the same formula solved for the difference.
    shown = plan.detectable / spread * math.sqrt(60)
    assert stats.nct.sf(stats.t.ppf(0.975, 59), 59, shown) == pytest.approx(0.8, abs=0.05)


def test_more_runs_and_corrections_need_more_topics() -> None:
    rng = np.random.default_rng(6)
    values = np.clip(np.round(rng.normal(5, 1.6, (5, 50))), 0, 10).astype(int)
    options = {"difference": 0.1, "test": "t", "simulations": 100}
    every = cf.lab.plan_campaign(pilot(values), **options, correction="holm").plans[0].needed
    plain = cf.lab.plan_campaign(pilot(values), **options, correction="none").plans[0].needed
    base = cf.lab.plan_campaign(pilot(values), **options, baseline="r0", correction="holm")
    assert plain < base.plans[0].needed < every


def test_gold_beside_a_judge_is_the_variance_of_prediction_powered_means() -> None:
    for topics, correlation, judged in ((50, 0.8, 200), (100, 0.5, 1000), (30, 0.95, 60)):
        gold = gold_beside_judge(topics, correlation, judged)
        variance = [(1 - correlation**2) / n + correlation**2 / judged for n in (gold, gold - 1)]
        assert variance[0] <= 1 / topics < variance[1]
    assert gold_beside_judge(50, 0.0, 10_000) == 50


def test_a_judge_that_is_not_worth_its_calls_is_said(two_runs: cf.Scores) -> None:
    options = {"difference": 0.15, "test": "t", "simulations": 40}
    useless = cf.lab.plan_campaign(two_runs, **options, judge_correlation=0.1)
    assert any("not worth its calls" in note for note in useless.notes)
    good = cf.lab.plan_campaign(two_runs, **options, judge_correlation=0.9)
    assert any("fewer" in note for note in good.notes)


def test_the_cost_is_that_of_its_parts(two_runs: cf.Scores, tmp_path: Path) -> None:
    answer = cf.lab.plan_campaign(
        two_runs, difference=0.2, test="t", simulations=20, judgements_per_topic=40,
        assessors=3, seconds=12, hourly=15,
    )  # fmt: skip
    topics = answer.plans[0].needed
    assert answer.judgements(topics) == topics * 120
    assert answer.hours(topics) == pytest.approx(topics * 120 * 12 / 3600)
    assert answer.money(topics) == pytest.approx(topics * 6.0)
    answer.save(tmp_path / "plan.json")
    assert cf.load(tmp_path / "plan.json").to_dict() == answer.to_dict()


@pytest.mark.parametrize(
    "wrong",
    [{"difference": 0.0}, {"difference": 0.1, "judge_correlation": 1.0},
     {"difference": 0.1, "simulations": 0}, {"difference": 0.1, "seconds": -1.0}],
)  # fmt: skip
def test_what_cannot_be_planned_is_refused(two_runs: cf.Scores, wrong: dict[str, float]) -> None:
    with pytest.raises(cf.UsageError):
        cf.lab.plan_campaign(two_runs, **wrong)


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [f"t{t} 0 d{k} 1" for t in range(12) for k in range(3)]
    (tmp_path / "q.txt").write_text("\n".join(lines) + "\n")
    for name, shift in (("a", 0), ("b", 1)):
        rows = [
            f"t{t} Q0 {'d' if (t + k + shift) % 3 else 'x'}{k} {k + 1} {9 - k} {name}"
            for t in range(12)
            for k in range(3)
        ]
        (tmp_path / f"{name}.run").write_text("\n".join(rows) + "\n")
    files = [str(tmp_path / name) for name in ("q.txt", "a.run", "b.run")]
    assert main(["lab", "plan", *files, "-m", "AP", "--simulations", "5", "--test", "t"]) == 0
    assert "Topics for a difference of 0.05" in capsys.readouterr().out
