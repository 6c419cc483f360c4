"""Judging in rounds: unbiased whatever is predicted, claims that complete judgements confirm."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cranfield as cf
from cranfield.campaign.adaptive_judging import (
    AdaptiveJudging,
    CandidateCells,
    CellWeights,
    Round,
    border_slopes,
    inclusion_probabilities,
    systematic_sample,
)
from cranfield.campaign.next_judgements import DrawnCell, ledger_rows, read_ledger
from cranfield.campaign.pool import ranks_within
from cranfield.cli import main
from cranfield.data import Run
from cranfield.io.files import csv_text
from cranfield.measures import measure
from cranfield.stats.anytime import best_rho, e_value, mixture_radius


def collection(
    rng: np.random.Generator, topics: int = 12, runs: int = 5, size: int = 40
) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, dict[str, float]]]]:
    """Judgements, and runs of rising quality."""
    truth, scores = {}, {f"r{r}": {} for r in range(runs)}
    for t in range(topics):
        relevant = rng.random(size) < 0.25
        relevant[0] = True
        truth[f"t{t}"] = {f"d{k}": int(relevant[k]) for k in range(size)}
        for r in range(runs):
            values = 0.5 * r * relevant + rng.normal(0, 1, size)
            scores[f"r{r}"][f"t{t}"] = {f"d{k}": float(values[k]) for k in range(size)}
    return truth, scores


def cells_of(truth, scores, judge=None, depth: int = 20) -> tuple[CandidateCells, np.ndarray]:
    runs = [Run.from_dict(run) for run in scores.values()]
    cells = CandidateCells.of(list(scores), ranks_within(runs, depth), judge)
    names = [cells.topics[t] for t in cells.topic.tolist()]
    relevance = [truth[t][i] for t, i in zip(names, cells.items, strict=True)]
    return cells, np.array(relevance, dtype=float)


@pytest.mark.parametrize("name", ["P@10", "P(rel=1)@3", "RBP@20", "RBP(p=0.5)@20"])
def test_sums_over_cells_are_the_measure(name: str) -> None:
    truth, scores = collection(np.random.default_rng(1))
    cells, relevance = cells_of(truth, scores)
    values = CellWeights.of(cells, measure(name)).values(relevance)
    expected = cf.evaluate(truth, scores, name)
    order = [cells.topics.index(t) for t in expected.units["topic"]]
    table = np.asarray(expected.values[expected.measures[0]])
    assert pytest.approx(table) == values[order].T


@pytest.mark.parametrize("name", ["AP", "nDCG@10", "R@10", "RR", "RBP(gain='graded')"])
def test_measures_that_are_no_sums_are_refused(name: str) -> None:
    scores = collection(np.random.default_rng(1))[1]
    with pytest.raises(cf.CranfieldError):
        cf.lab.next_judgements(scores, name)


def test_every_cell_comes_with_its_probability() -> None:
    rng = np.random.default_rng(2)
    chances = inclusion_probabilities(rng.pareto(1.0, 60), 12)
    assert chances.sum() == pytest.approx(12)
    assert chances.max() == 1.0
    counts = np.zeros(60)
    for start in (np.arange(4000) + 0.5) / 4000:
        cells = systematic_sample(chances, float(start))
        assert len(cells) == 12
        counts[cells] += 1
    assert counts / 4000 == pytest.approx(chances, abs=0.001)


def test_a_round_is_unbiased_whatever_was_predicted() -> None:
    """Over all starts of the comb, the estimates of one round average to the true values."""
    truth, scores = collection(np.random.default_rng(3), topics=4)
    wrong = {t: {i: 1.0 - g for i, g in row.items()} for t, row in truth.items()}
    cells, relevance = cells_of(truth, scores, wrong)
    complete = CellWeights.of(cells, measure("P@10")).values(relevance)
    judging = AdaptiveJudging(cells, measure("P@10"), seed=1)
    chances = inclusion_probabilities(judging._sizes(), 15)
    total, starts = np.zeros_like(complete), (np.arange(400) + 0.5) / 400
    for start in starts:
        drawn = systematic_sample(chances, float(start))
        fresh = AdaptiveJudging(cells, measure("P@10"), seed=1)
        fresh._learn = lambda: None
        fresh.record(Round(1, drawn, chances[drawn]), relevance[drawn])
        total += fresh.values()
    assert total / len(starts) == pytest.approx(complete, abs=0.02)


def test_judged_to_the_end_nothing_is_estimated() -> None:
    truth, scores = collection(np.random.default_rng(4))
    cells, relevance = cells_of(truth, scores)
    judging = AdaptiveJudging(cells, measure("P@5"), seed=2)
    while not judging.is_exact:
        proposal = judging.propose(40)
        judging.record(proposal, relevance[proposal.cells])
    complete = CellWeights.of(cells, measure("P@5")).values(relevance)
    assert judging.values() == pytest.approx(complete)
    look = judging.look()
    assert not look.open.any()
    assert look.radius.max() == 0.0
    # The comparison of complete judgements says the same.
    compared = cf.evaluate(truth, scores, "P@5").compare(test="t", correction="holm")
    significant = {frozenset((p.a, p.b)) for p in compared.pairs if p.p_corrected <= 0.05}
    claims = {frozenset(cells.runs[k] for k in pair) for pair in look.pairs[look.claimed]}
    assert claims == significant
    assert judging.stop_reason(look) == "all that matters for the measure is judged"


def test_the_interval_holds_at_all_looks_together() -> None:
    """Walks of 300 steps: at most 5 % leave the interval anywhere (simulated, fixed seed)."""
    rng = np.random.default_rng(5)
    walks = rng.normal(0, 1, (2000, 300)).cumsum(axis=1)
    variance = np.arange(1.0, 301.0)
    rho = best_rho(np.full(300, 150.0), 0.05)
    outside = (np.abs(walks) > mixture_radius(variance, rho, 0.05)).any(axis=1)
    assert 0.005 < outside.mean() <= 0.05
    evidence = e_value(walks, variance, rho)
    assert (evidence.max(axis=1) >= 20).mean() <= 0.05
    assert evidence[:, -1].mean() == pytest.approx(1.0, abs=0.35)


def test_an_error_in_one_topic_moves_the_border_of_a_test_as_told() -> None:
    rows = np.random.default_rng(8).normal(0.3, 1.0, (2, 15))

    def decides(values: np.ndarray, t: float) -> float:
        return float(values.mean() - t * values.std(ddof=1) / np.sqrt(len(values)))

    slopes = border_slopes(rows, 2.1)
    for row, slope in zip(rows, slopes, strict=True):
        own = row.mean() / row.std(ddof=1) * np.sqrt(15)
        t = float(np.sign(own) * min(abs(own), 2.1))
        for topic in range(15):
            moved = row + 1e-6 * (np.arange(15) == topic)
            change = (decides(moved, t) - decides(row, t)) / 1e-6
            assert slope[topic] / 15 == pytest.approx(change, abs=1e-5)


def test_claims_of_many_campaigns_are_those_of_complete_judgements() -> None:
    """15 small campaigns, looked at after every round: hardly a claim that is not confirmed."""
    false, covered = 0, []
    for seed in range(15):
        truth, scores = collection(np.random.default_rng([6, seed]), topics=15)
        answer = cf.lab.replay_designs(
            truth,
            scores,
            "P@10",
            designs=("sampled",),
            budget=0.6,
            batch=40,
            depth=20,
            replays=1,
            rng=seed,
        )
        false += answer.designs[0].false > 0
        covered.append(answer.designs[0].coverage)
    assert false <= 2
    assert np.mean(covered) >= 0.93


def test_a_useless_judge_is_named_and_a_good_one_saves() -> None:
    rng = np.random.default_rng(7)
    truth, scores = collection(rng, topics=20, size=60)
    noise = {t: {i: int(rng.random() < 0.5) for i in row} for t, row in truth.items()}
    options = {"designs": ("sampled",), "replays": 2, "batch": 50, "depth": 30, "budget": 0.5}
    useless = cf.lab.replay_designs(truth, scores, "RBP", judge=noise, **options)
    assert useless.design("sampled", judge=True).judge_saves < 0.05
    assert any("not worth its calls" in note for note in useless.notes)
    good = cf.lab.replay_designs(truth, scores, "RBP", judge=truth, **options)
    assert good.design("sampled", judge=True).judge_saves > 0.3


@pytest.mark.parametrize("method", ["movement", "move-to-front", "bandit", "doubt"])
def test_what_is_not_drawn_promises_nothing(method: str) -> None:
    _, scores = collection(np.random.default_rng(8))
    answer = cf.lab.next_judgements(scores, "P@5", count=10, method=method)
    assert len(answer.cells) == 10
    assert all(c.probability is None for c in answer.cells)
    judged = [DrawnCell(c.topic, c.item, 1, None, 1.0) for c in answer.cells]
    later = cf.lab.next_judgements(scores, "P@5", count=10, method=method, ledger=judged)
    assert later.runs == later.pairs == ()
    assert not {(c.topic, c.item) for c in later.cells} & {(c.topic, c.item) for c in judged}
    assert any("nothing may be claimed" in note for note in later.notes)


def judged(answer, truth) -> list[DrawnCell]:
    return [
        DrawnCell(c.topic, c.item, c.round, c.probability, float(truth[c.topic][c.item]))
        for c in answer.cells
    ]


def test_a_campaign_by_file_goes_round_by_round_until_it_stops(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    truth, scores = collection(np.random.default_rng(9))
    files = []
    for name, run in scores.items():
        lines = [
            f"{t} Q0 {i} {n} {s} {name}\n"
            for t, row in run.items()
            for n, (i, s) in enumerate(sorted(row.items(), key=lambda p: -p[1]), 1)
        ]
        files.append(str(tmp_path / f"{name}.run"))
        Path(files[-1]).write_text("".join(lines))
    ledger: list[DrawnCell] = []
    file = tmp_path / "ledger.csv"
    stops = ""
    while not stops:
        answer = cf.lab.next_judgements(files, "P@5", ledger=ledger, count=60, depth=20, rng=3)
        assert not [n for n in answer.notes if "other cells" in n]
        ledger += judged(answer, truth)
        file.write_text(csv_text(ledger_rows(ledger)))
        assert read_ledger(file) == pytest.approx(ledger) or len(read_ledger(file)) == len(ledger)
        stops = answer.stop
    assert answer.judged < answer.candidates
    assert all(p.state != "open" for p in answer.pairs)
    # The file has 12 digits of each probability: it draws the same rounds.
    command = ["truth", "pool", *files, "--for", "P@5", "--next", "60", "--depth", "20"]
    assert main([*command, "--ledger", str(file), "--seed", "3", "--format", "json"]) == 0
    printed = capsys.readouterr()
    assert answer.stop in printed.out
    assert "other cells" not in printed.err
    assert main([*command, "--ledger", str(file), "--seed", "4"]) == 0
    assert "draw other cells" in capsys.readouterr().err


def test_broken_ledgers_are_refused(tmp_path: Path) -> None:
    truth, scores = collection(np.random.default_rng(10))
    first = cf.lab.next_judgements(scores, "P@5", count=10, depth=20)
    with pytest.raises(cf.CranfieldError, match="without a judgement"):
        cf.lab.next_judgements(scores, "P@5", ledger=list(first.cells), depth=20)
    rows = judged(first, truth)
    with pytest.raises(cf.CranfieldError, match="judged before"):
        cf.lab.next_judgements(scores, "P@5", ledger=[*rows, rows[0]], depth=20)
    stranger = DrawnCell("t0", "nobody", 1, 0.5, 1.0)
    with pytest.raises(cf.CranfieldError, match="no cell"):
        cf.lab.next_judgements(scores, "P@5", ledger=[*rows, stranger], depth=20)
    file = tmp_path / "ledger.csv"
    for text in ("", "topic,item\n", "topic,item,round,probability,relevance\nt,i,1,2,0\n"):
        file.write_text(text)
        with pytest.raises(cf.CranfieldError):
            read_ledger(file)


def test_what_was_judged_before_is_not_drawn_again() -> None:
    truth, scores = collection(np.random.default_rng(11))
    before = [DrawnCell("t0", f"d{k}", 0, None, float(truth["t0"][f"d{k}"])) for k in range(5)]
    cells, _ = cells_of(truth, scores)
    before = [c for c in before if (c.topic, c.item) in cells.position]
    answer = cf.lab.next_judgements(scores, "RBP", ledger=before, count=50, depth=20)
    assert answer.judged == len(before)
    assert not {(c.topic, c.item) for c in answer.cells} & {(c.topic, c.item) for c in before}


def test_replays_name_designs_that_claim_too_much(capsys: pytest.CaptureFixture[str]) -> None:
    truth, scores = collection(np.random.default_rng(12), topics=15, runs=6)
    answer = cf.lab.replay_designs(truth, scores, "P@5", replays=2, batch=40, depth=20)
    assert [d.method for d in answer.designs] == [
        "sampled",
        "even",
        "movement",
        "move-to-front",
        "bandit",
    ]
    for design in answer.designs:
        assert design.judged <= 0.31
        assert len(design.path) >= 2
        assert (design.coverage is None) == (design.method not in ("sampled", "even"))
    assert str(answer).count("\n") > 8
