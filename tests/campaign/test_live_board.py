"""The live board: its parts, its levels, and an attack that gains less than the bound."""

import numpy as np
import pytest

from cranfield import evaluate
from cranfield.campaign.live_board import live_rows, live_units, probing_bound, write_part
from cranfield.errors import UsageError
from cranfield.io import read_qrels


def scored(accuracies, rng, topics=200):
    """Runs that put the one relevant item of a topic first with some probability."""
    truth = {f"t{n}": {"good": 1} for n in range(topics)}
    right = {name: rng.random(topics) < share for name, share in accuracies.items()}
    runs = {
        name: {f"t{n}": {"good": 2.0 if hits[n] else 0.0, "bad": 1.0} for n in range(topics)}
        for name, hits in right.items()
    }
    return evaluate(truth, runs, "P@1")


def entries(*names):
    return [{"run": name, "team": name.partition(".")[0], "baseline": False} for name in names]


def test_parts_share_nothing_and_are_the_same_every_time(tmp_path):
    lines = [f"t{n} 0 d{k} {int(k == n % 3)}" for n in range(20) for k in range(3)]
    truth = tmp_path / "qrels.txt"
    truth.write_text("\n".join(lines) + "\n")
    topics = {}
    for part in ("live", "sealed"):
        folder = tmp_path / part
        folder.mkdir()
        options = {"part": part, "live_part": "30%", "salt": "s", "splits": {}}
        file = write_part(truth, "ranked", folder, **options)
        topics[part] = set(read_qrels(file).to_dict())
    assert len(topics["live"]) == 6
    assert topics["live"] | topics["sealed"] == {f"t{n}" for n in range(20)}
    assert not topics["live"] & topics["sealed"]
    units = [f"t{n}" for n in range(20)]
    assert live_units(units, "30%", "s", {}) == topics["live"]
    assert live_units(units, "30%", "other", {}) != topics["live"]
    with pytest.raises(UsageError, match="each of the two parts"):
        live_units(units[:3], "30%", "s", {})


def test_teams_that_tests_cannot_tell_apart_share_a_level_and_its_value():
    scores = scored({"A.r": 0.90, "B.r": 0.88, "C.r": 0.30}, np.random.default_rng(3))
    board = live_rows(scores, "P@1", entries("A.r", "B.r", "C.r"))
    places = {row["team"]: row["place"] for row in board["rows"]}
    assert places == {"A": 1, "B": 1, "C": 3}
    values = {row["team"]: row["value"] for row in board["rows"]}
    assert values["A"] == values["B"] > values["C"]
    assert all(abs(v / board["step"] - round(v / board["step"])) < 1e-9 for v in values.values())
    # The step is about what a test resolves: half the width of the interval of a difference.
    assert 0.03 < board["step"] <= 0.1


def test_a_team_climbs_only_by_a_run_that_is_significantly_better():
    scores = scored({"A.1": 0.5, "A.2": 0.52, "A.3": 0.8}, np.random.default_rng(1))
    stands = [
        live_rows(scores, "P@1", entries(*names))["rows"][0]["run"]
        for names in (("A.1",), ("A.1", "A.2"), ("A.1", "A.2", "A.3"))
    ]
    assert stands == ["A.1", "A.1", "A.3"]


@pytest.mark.parametrize("seed", range(5))
def test_probing_gains_less_than_the_bound_and_far_less_than_on_exact_scores(seed):
    """The attack of Blum and Hardt: keep random answers that score above chance, let them vote."""
    from cranfield.campaign.live_board import LEVEL, round_up
    from cranfield.stats.paired import t_test

    rng = np.random.default_rng(seed)
    units, probes = 400, 200
    answers = rng.integers(0, 2, units)
    guesses = rng.integers(0, 2, (probes, units))
    right = (guesses == answers).astype(float)

    def voted(kept):
        return (np.where(guesses[kept].mean(axis=0) >= 0.5, 1, 0) == answers).mean()

    exact = voted(np.flatnonzero(right.mean(axis=1) > 0.5))
    # What the board lets through: the best run so far, rounded, where a test sees more.
    step = round_up(1.96 * (right[0] - right[1]).std(ddof=1) / np.sqrt(units))
    best, shown, changes, kept = 0, None, 0, []
    for probe in range(probes):
        difference = right[probe] - right[best]
        if difference.mean() > 0 and t_test(difference).p[0] < LEVEL:
            best = probe
        value = round(right[best].mean() / step) * step
        if value != shown:
            changes += shown is not None
            kept += [probe] if shown is not None else []
            shown = value
    gained = (voted(kept) if kept else right[0].mean()) - 0.5
    assert gained < probing_bound(units, probes, step, changes)
    assert exact - 0.5 > 0.1
    assert gained < (exact - 0.5) / 2
