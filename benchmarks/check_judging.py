"""Does judging in rounds hold what it promises? Simulated campaigns with known complete judgements.

    python benchmarks/check_judging.py [--write] [--replays N]

Ends with 1 when a bar is missed. With --write the tables are put into the page on judging.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

# Matrices are small: threads of their own only wait for each other.
os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")

import numpy as np

import cranfield as cf
from campaigns import ap_like
from cranfield.campaign.adaptive_judging import AdaptiveJudging, CandidateCells
from cranfield.lab.replay import CompleteJudgements, DesignReplay, replay_design, summary_of
from cranfield.measures import measure
from cranfield.stats.paired import t_test
from run import replace_block

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "judging.md"
ALPHA = 0.05


def campaign(
    rng: np.random.Generator, topics: int, runs: int, items: int, depth: int
) -> tuple[CandidateCells, np.ndarray]:
    """Runs of rising quality in five families, whose errors are partly those of all others."""
    skills, families = np.linspace(0.5, 1.5, runs), rng.integers(0, 5, runs)
    ranks, truths, numbers = [], [], []
    for topic in range(topics):
        relevant = rng.random(items) < np.clip(rng.beta(1, 8), 0.01, 0.5)
        relevant[0] = True
        shared, family = rng.normal(0, 0.8, items), rng.normal(0, 0.7, (5, items))
        skill = np.maximum(0, skills + rng.normal(0, 0.4, runs)) * 1.6
        scores = skill[:, None] * relevant + shared + family[families]
        scores += rng.normal(0, 0.7, (runs, items))
        order = np.argsort(-scores, axis=1)[:, :depth]
        table = np.zeros((items, runs), dtype=np.uint8)
        table[order, np.arange(runs)[:, None]] = np.arange(1, depth + 1)
        pooled = table.max(axis=1) > 0
        ranks.append(table[pooled])
        truths.append(relevant[pooled])
        numbers.append(np.full(pooled.sum(), topic))
    topic_of = np.concatenate(numbers)
    cells = CandidateCells(
        tuple(f"r{n}" for n in range(runs)),
        tuple(map(str, range(topics))),
        topic_of,
        [str(n) for n in range(len(topic_of))],
        np.vstack(ranks),
    )
    return cells, np.concatenate(truths).astype(float)


def replays(
    name: str, count: int, batch: int, budget: float, size: tuple[int, int, int, int], seed: int
) -> DesignReplay:
    """So many campaigns, each judged once, with a look after every batch."""
    outcomes, candidates = [], 0
    for number in range(count):
        cells, relevance = campaign(np.random.default_rng([seed, number]), *size)
        candidates += len(cells)
        asked = measure(name)
        complete = CompleteJudgements.of(cells, relevance, asked, ALPHA)
        outcomes.append(
            replay_design(
                cells,
                relevance,
                asked,
                complete,
                method="sampled",
                budget=int(budget * len(cells)),
                batch=batch,
                seed=number,
            )
        )
    return summary_of("sampled", outcomes, candidates / count)


def percent(share: float | None) -> str:
    return "" if share is None else f"{100 * share:.1f} %"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) - 1)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def promises(many: int, large: int) -> tuple[str, list[str]]:
    """Pairs, false claims and coverage."""
    rows, missed = [], []
    cases = [
        ("P@10", many, 50, 0.3, (20, 8, 150, 50)),
        ("P@10", large, 200, 0.3, (50, 30, 400, 100)),
        ("RBP", large, 200, 0.3, (50, 30, 400, 100)),
    ]
    for name, count, batch, budget, size in cases:
        began = time.perf_counter()
        result = replays(name, count, batch, budget, size, 7)
        print(name, count, f"{time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
        rows.append(
            [
                f"{name}, {size[0]} topics x {size[1]} runs",
                str(count),
                percent(result.judged),
                percent(result.significant),
                percent(result.false),
                percent(result.coverage),
                percent(result.coverage_runs),
                f"{result.tau:.3f}",
            ]
        )
        if result.false > ALPHA:
            missed.append(f"{rows[-1][0]}: {percent(result.false)} of the replays claim too much")
        missed += [
            f"{rows[-1][0]}: intervals hold in {percent(share)}"
            for share in (result.coverage, result.coverage_runs)
            if share is not None and not 0.93 <= share <= 0.99
        ]
        if size[1] == 30 and result.significant < 0.95:
            missed.append(f"{rows[-1][0]}: only {percent(result.significant)} of the pairs")
    heads = ("campaign", "replays", "judged", "significant pairs", "false", "pairs", "runs", "tau")
    return table(heads, rows), missed


def judges(count: int) -> tuple[str, list[str]]:
    """A good, a biased and a useless judge: judgements until as many pairs are settled as alone."""
    rows, missed = [], []
    spent: dict[str, list[float]] = {}
    saves: dict[str, list[float]] = {}
    for number in range(count):
        rng = np.random.default_rng([11, number])
        cells, relevance = campaign(rng, 50, 20, 200, 50)
        noise = rng.random(len(cells))
        opinions = {
            "alone": None,
            "good": np.where(noise < 0.1, 1 - relevance, relevance),
            "biased": np.maximum(relevance, noise < 0.5),
            "useless": (noise < 0.5).astype(float),
        }
        for name, judge in opinions.items():
            run = AdaptiveJudging(
                replace(cells, judge=judge), measure("P@10"), expected=40, seed=number
            )
            most = int(0.3 * len(cells))
            while np.count_nonzero(run.judged) < most:
                proposal = run.propose(100)
                run.record(proposal, relevance[proposal.cells])
            spent.setdefault(name, []).append(float(run.intervals()[1].mean()))
            saves.setdefault(name, []).append(run.judge_saves or 0.0)
    alone = np.array(spent["alone"])
    for name in ("good", "biased", "useless"):
        # Radii shrink with the root of the judgements.
        cost = float(np.mean((np.array(spent[name]) / alone) ** 2)) - 1
        saved = float(np.mean(saves[name]))
        verdict = "worth its calls" if saved >= 0.05 else "not worth its calls"
        rows.append([name, percent(cost), percent(saved), verdict])
        if cost > 0.02:
            missed.append(f"{name} judge: costs {percent(cost)}")
    if float(np.mean(saves["useless"])) >= 0.05:
        missed.append("a useless judge is said to be worth its calls")
    return table(("judge", "more judgements than alone", "said to save", "verdict"), rows), missed


def tenths(kind: str, rng: np.random.Generator, topics: int) -> np.ndarray:
    """P@10 of two runs of equal quality, 2 x topics, as whole numbers from 0 to 10."""
    if kind == "AP-like":
        return np.round(10 * ap_like(rng, 2, topics)).astype(int)
    if kind == "coarse":
        return 10 * (rng.random((2, topics)) < 0.4)
    values = rng.binomial(10, 0.3, (2, topics))
    return np.where(rng.random(topics) < 0.6, 0, values)


def pilot_scores(values: np.ndarray) -> cf.Scores:
    """Scores of P@10 whose values are these."""
    judged = {f"t{t}": {f"d{k}": 1 for k in range(10)} for t in range(values.shape[1])}
    runs = {
        f"r{r}": {
            f"t{t}": {f"{'d' if k < hits else 'x'}{k}": 20.0 - k for k in range(10)}
            for t, hits in enumerate(row.tolist())
        }
        for r, row in enumerate(values)
    }
    return cf.evaluate(judged, runs, "P@10")


def plans(pilots: int) -> tuple[str, list[str]]:
    """The power that campaigns of the planned size have, over pilots of 400 topics."""
    rows, missed = [], []
    for kind, difference in (("AP-like", 0.05), ("coarse", 0.15), ("zero-heavy", 0.04)):
        powers, sizes = [], []
        for number in range(pilots):
            rng = np.random.default_rng([13, number])
            scores = pilot_scores(tenths(kind, rng, 400))
            plan = cf.lab.plan_campaign(
                scores,
                difference=difference,
                test="t",
                correction="none",
                simulations=300,
                rng=number,
            ).plans[0]
            if plan.needed is None:
                continue
            sizes.append(plan.needed)
            drawn = [tenths(kind, rng, plan.needed) / 10 for _ in range(400)]
            gaps = np.array([pair[0] - pair[1] for pair in drawn]) + difference
            powers.append(float((t_test(gaps).p <= ALPHA).mean()))
        power = float(np.mean(powers))
        rows.append([kind, f"{difference:g}", f"{np.mean(sizes):.0f}", "80.0 %", percent(power)])
        if abs(power - 0.8) > 0.05:
            missed.append(f"plans for {kind} values have a power of {percent(power)}")
    return table(("values", "difference", "topics", "planned", "power"), rows), missed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--replays", type=int, default=1000)
    parser.add_argument("--large", type=int, default=100)
    parser.add_argument("--pilots", type=int, default=20)
    parser.add_argument("--judges", type=int, default=8)
    arguments = parser.parse_args()
    missed: list[str] = []
    parts = {
        "judging-plans": plans(arguments.pilots),
        "judging-promises": promises(arguments.replays, arguments.large),
        "judging-judges": judges(arguments.judges),
    }
    for name, (text, complaints) in parts.items():
        print(f"\n{text}")
        missed += complaints
        if arguments.write:
            replace_block(PAGE, name, text)
    print("\n" + ("\n".join(missed) or "every bar holds"))
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main())
