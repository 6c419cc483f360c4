"""When a gate is red: by test and by interval, for measures of either direction."""

import pytest

import cranfield as cf
from cranfield.cli import main
from cranfield.comparison.options import ComparisonOptions
from cranfield.comparison.regression_gate import check_floors, drift_checked, worse_checked
from cranfield.errors import UsageError
from cranfield.report.tables.comparison import junit_xml, markdown_summary

DRAWS_500 = ComparisonOptions(resamples=500)
TOPICS = [f"t{i:02}" for i in range(40)]
JUDGED = {t: {"a": 1, "b": 0, "c": 0, "d": 0} for t in TOPICS}


def run(places):
    """A run that has the relevant item of each topic at a rank."""
    items = ["b", "c", "d"]
    listed = {}
    for topic, place in zip(TOPICS, places, strict=True):
        order = [*items[: place - 1], "a", *items[place - 1 :]]
        listed[topic] = {item: float(-i) for i, item in enumerate(order)}
    return listed


GOOD, SAME = run([1, 2] * 20), run([2, 1] * 20)
WORSE, SLIGHTLY = run([3, 4] * 20), run([2, 2] + [1, 2] * 19)


def compared(change, measures="RR", **options):
    scores = cf.evaluate(JUDGED, {"main": GOOD, "change": change}, measures, collection_size=4)
    return scores.compare(baseline="main", resamples=500, **options)


@pytest.mark.parametrize("measure", ["RR", "NMRR"])
def test_by_test_a_loss_must_be_real(measure):
    for change, holds in ((WORSE, False), (SAME, True), (SLIGHTLY, True)):
        (check,) = worse_checked(compared(change, measure), 0.01)
        assert check.holds is holds, check.said
    (check,) = worse_checked(compared(WORSE, measure), 0.9)
    assert check.holds


def test_by_interval_a_loss_must_be_ruled_out():
    assert not worse_checked(compared(SAME), 0.01, "interval")[0].holds
    assert worse_checked(compared(SAME), 0.6, "interval")[0].holds
    assert not worse_checked(compared(WORSE), 0.01, "interval")[0].holds


def lowered(topics):
    """A change that moves the relevant item from the first to the second rank on some topics."""
    return run([2 if i < topics else (1, 2)[i % 2] for i in range(len(TOPICS))])


def test_a_loss_within_the_margin_stops_nobody():
    change = lowered(24)
    loss = compared(change).pairs[0]
    # Significantly worse than the baseline, by more than 0.14, but not shown to be so.
    assert loss.p_corrected <= 0.05
    assert loss.difference < -0.14 < max(loss.ci)
    assert worse_checked(compared(change), 0.14)[0].holds
    assert not worse_checked(compared(change), 0.01)[0].holds


def test_non_inferiority_and_superiority_by_name():
    for margin in (0.01, 0.6):
        by_name, older = (
            worse_checked(compared(SAME), margin, by)[0].holds
            for by in ("non-inferiority", "interval")
        )
        assert by_name is older
    scores = cf.evaluate(JUDGED, {"main": WORSE, "change": GOOD}, "RR")
    better = scores.compare(baseline="main", resamples=500)
    assert worse_checked(better, 0.1, "superiority")[0].holds
    assert not worse_checked(better, 0.9, "superiority")[0].holds
    assert not worse_checked(compared(SAME), 0.0, "superiority")[0].holds


def test_what_cannot_be_asked():
    scores = cf.evaluate(JUDGED, {"main": GOOD, "change": SAME}, "RR")
    with pytest.raises(UsageError, match="baseline="):
        worse_checked(scores.compare(test="t"), 0.01)
    with pytest.raises(UsageError, match="is not one of test, non-inferiority, superiority"):
        worse_checked(compared(SAME), 0.01, "tset")
    with pytest.raises(UsageError, match="from 0 on"):
        worse_checked(compared(SAME), -0.1)


def test_assert_not_worse(tmp_path):
    old = cf.evaluate(JUDGED, {"main": GOOD}, "RR AP")
    old.save(tmp_path / "kept.json")
    new = cf.evaluate(JUDGED, {"change": WORSE}, "RR")
    for baseline in (old, str(tmp_path / "kept.json")):
        with pytest.raises(AssertionError, match=r"change: RR is 0\.2917"):
            cf.assert_not_worse(new, baseline, 0.01, resamples=500)
    found = cf.assert_not_worse(cf.evaluate(JUDGED, {"main": SAME}, "RR"), old, 0.01, test="t")
    assert found.baseline == "baseline main"
    with pytest.raises(UsageError, match="needs two runs"):
        cf.assert_not_worse(new, "nobody")
    with pytest.raises(UsageError, match="under none of these measures"):
        cf.assert_not_worse(cf.evaluate(JUDGED, {"change": SAME}, "P@1"), old)


def stepwise(step):
    """A system that puts the relevant item of a few more topics lower with each change."""
    return run([3 if i < 4 * step else (1, 2)[i % 2] for i in range(len(TOPICS))])


@pytest.mark.parametrize("measure", ["RR", "NMRR"])
def test_small_losses_that_add_up_are_seen(measure, tmp_path):
    """Each change may lose 0.1; all together lose more, which only earlier baselines show."""

    def scored(step):
        return cf.evaluate(JUDGED, {"main": stepwise(step)}, measure, collection_size=4)

    ledger = scored(0)
    stopped = None
    for step in range(1, 9):
        change = scored(step)
        try:
            cf.assert_not_worse(change, ledger, 0.1, resamples=500)
        except AssertionError as error:
            stopped = str(error)
            break
        # The step by itself is always allowed.
        before = scored(step - 1)
        cf.assert_not_worse(change, before, 0.1, resamples=500)
        ledger = cf.accept_run(ledger, change)
        assert ledger.accepted == step + 1
        ledger.save(tmp_path / "ledger.json")
        ledger = cf.load(tmp_path / "ledger.json")
    assert step > 2
    assert stopped is not None
    assert "the accepted baseline main (1 of" in stopped
    assert "allowed loss 0.1 since any accepted baseline by test" in stopped
    # Nothing but the drift stops it.
    cf.assert_not_worse(change, scored(step - 1), 0.1, resamples=500)


def test_drift_by_non_inferiority_and_superiority():
    ledger = cf.evaluate(JUDGED, {"main": GOOD}, "RR")
    for _ in range(3):
        ledger = cf.accept_run(ledger, cf.evaluate(JUDGED, {"main": GOOD}, "RR"))
    assert ledger.runs == ("main", "main 2", "main 3", "main 4")
    change = cf.evaluate(JUDGED, {"change": SAME}, "RR")
    (wide,) = drift_checked(change, ledger, 0.6, "non-inferiority", options=DRAWS_500)
    (narrow,) = drift_checked(change, ledger, 0.01, "non-inferiority", options=DRAWS_500)
    assert wide.holds
    assert not narrow.holds
    assert drift_checked(change, ledger, 0.01, options=DRAWS_500)[0].holds
    assert drift_checked(change, ledger, 0.01, "superiority") == ()
    # One baseline is the last one, which the gate itself looks at.
    assert drift_checked(change, cf.accept_run(ledger.of_runs(["main"]), change), 0.0) != ()


def test_what_cannot_be_accepted():
    two = cf.evaluate(JUDGED, {"main": GOOD, "other": SAME}, "RR")
    one = two.of_runs(["main"])
    with pytest.raises(UsageError, match="a baseline is one run"):
        cf.accept_run(two, one)
    with pytest.raises(UsageError, match="one run is accepted at a time"):
        cf.accept_run(one, two)
    with pytest.raises(UsageError, match="under none of these measures"):
        cf.accept_run(one, cf.evaluate(JUDGED, {"main": GOOD}, "AP"))


def test_accepting_on_the_command_line(tmp_path, capsys):
    qrels = "".join(f"{t} 0 {i} {g}\n" for t, items in JUDGED.items() for i, g in items.items())
    (tmp_path / "qrels").write_text(qrels)
    for step in range(9):
        lines = (
            f"{t} Q0 {i} 0 {s} x\n" for t, items in stepwise(step).items() for i, s in items.items()
        )
        (tmp_path / f"s{step}.run").write_text("".join(lines))
    ledger, qrels_file = str(tmp_path / "accepted.json"), str(tmp_path / "qrels")
    argv = ["eval", qrels_file, str(tmp_path / "s0.run"), "-m", "RR", "--per-topic", "--quiet"]
    assert main([*argv, "--format", "json", "-o", ledger]) == 0
    gate = ["--fail-if-worse", "0.1", "--baseline", ledger, "--resamples", "500", "--quiet"]
    codes = []
    for step in range(1, 9):
        before = (tmp_path / "accepted.json").read_bytes()
        codes.append(
            main(["compare", qrels_file, str(tmp_path / f"s{step}.run"), *gate, "--accept"])
        )
        # A run that fails is not accepted.
        assert ((tmp_path / "accepted.json").read_bytes() != before) is (codes[-1] == 0)
    assert codes[0] == 0
    assert codes[-1] == 1
    assert "of more than the margin" in capsys.readouterr().err
    assert cf.load(ledger).accepted == 1 + codes.count(0)
    assert main(["compare", qrels_file, str(tmp_path / "s1.run"), *gate[2:], "--accept"]) == 2
    assert "--accept needs --fail-if-worse" in capsys.readouterr().err


def test_floors_and_files():
    scores = cf.evaluate(JUDGED, {"main": GOOD, "<odd>": WORSE}, "RR")
    checks = check_floors(scores, {"RR": 0.5})
    assert [check.holds for check in checks] == [True, False]
    assert 'classname="&lt;odd&gt;"' in junit_xml(checks)
    summary = markdown_summary(checks)
    assert summary.startswith("**1 of 2 checks failed**")
    assert summary.index("FAILED") < summary.index("passed")
    assert "| result | run | measure | what was found |" in summary


def test_files_of_fail_under(tmp_path, capsys):
    (tmp_path / "q").write_text("t 0 a 1\n")
    (tmp_path / "r.run").write_text("t Q0 b 0 2 x\nt Q0 a 0 1 x\n")
    argv = ["eval", str(tmp_path / "q"), str(tmp_path / "r.run"), "-m", "AP", "--quiet"]
    files = ["--junit", str(tmp_path / "j.xml"), "--summary", str(tmp_path / "s.md")]
    assert main([*argv, "--fail-under", "AP=0.6", *files]) == 1
    assert "failed: r: AP is 0.5000, expected at least 0.6" in capsys.readouterr().err
    assert 'failures="1"' in (tmp_path / "j.xml").read_text()
    assert main([*argv, "--fail-under", "AP=0.5", *files]) == 0
    assert "1 checks passed" in (tmp_path / "s.md").read_text()
