"""How often intervals by the truth of a crowd hold the accuracy under the known truth, and why not.

    CRANFIELD_DATA=... python benchmarks/truth_crowds.py [--write]

The judgements may not be shipped, so they are looked for below CRANFIELD_DATA (crowd/).
"""

from __future__ import annotations

import csv
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import cranfield as cf
from check_stats import percent, shown
from check_truth import PAGE
from cranfield.stats import powered_means
from run import replace_block

CROWDS = ("bluebird", "rte", "trec2010_relevance", "web")
METHODS = ("dawid-skene", "one-coin")
RUNS, GOLD = 200, 50
# Sweeps of the sampler that draws the tables of the workers too, and how many come before.
SWEEPS, BEFORE = 300, 100
# What its annotators are taken for before their first judgement: right in 7 of 10, 5 judgements.
RIGHT, STRENGTH = 0.7, 5.0
SHARPNESS = np.geomspace(0.02, 2.0, 60)


@dataclass(frozen=True, eq=False)
class Crowd:
    """A log of judgements by codes, its posterior, and the known truth of some of the items.

    `known` are the items with a truth (rows of `chances`), `right` are their true answers.
    """

    worker: np.ndarray
    item: np.ndarray
    label: np.ndarray
    chances: np.ndarray
    known: np.ndarray
    right: np.ndarray

    @classmethod
    def of(cls, folder: Path, method: str) -> Crowd:
        with (folder / "label.csv").open() as file:
            rows = [(r["worker"], r["item"], r["label"]) for r in csv.DictReader(file)]
        with (folder / "truth.csv").open() as file:
            true = {r["item"]: r["truth"] for r in csv.DictReader(file)}
        rows = list(dict.fromkeys(rows))
        found = posterior(rows, method)
        place = {found.items[i]: k for k, i in enumerate(found.item.tolist())}
        workers = {w: k for k, w in enumerate(dict.fromkeys(w for w, _, _ in rows))}
        answer = {value: k for k, value in enumerate(found.values)}
        items = [i for i in true if i in place and true[i] in answer]
        return cls(
            np.array([workers[w] for w, _, _ in rows]),
            np.array([place[i] for _, i, _ in rows]),
            np.array([answer[v] for _, _, v in rows]),
            found.probability,
            np.array([place[i] for i in items]),
            np.array([answer[true[i]] for i in items]),
        )

    @property
    def p(self) -> np.ndarray:
        """The posterior of the items whose truth is known."""
        return self.chances[self.known]


def posterior(rows: list[tuple[str, str, str]], method: str) -> cf.AggregatedTruth:
    """What `aggregate` makes of a log (worker, item, label)."""
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "log.csv"
        path.write_text("\n".join(["annotator,item,category", *map(",".join, rows)]) + "\n")
        log = cf.read_judgement_log(path, duplicates="first")
    return cf.aggregate_judgements(log, method)


def knowing(crowd: Crowd, right: np.ndarray, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Answers of runs that know the truth of 50 to 95 % of the items."""
    n, answers = crowd.p.shape
    for skill in np.linspace(0.5, 0.95, RUNS):
        other = (right + rng.integers(1, max(answers, 2), size=n)) % answers
        yield np.where(rng.random(n) < skill, right, other)


def voting(crowd: Crowd, _right: np.ndarray, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """Answers of runs that say what one worker said on 50 to 95 % of the items, else anything."""
    n, answers = crowd.p.shape
    order = np.argsort(crowd.item, kind="stable")
    first = np.searchsorted(crowd.item[order], crowd.known)
    votes = np.bincount(crowd.item, minlength=len(crowd.chances))[crowd.known]
    for share in np.linspace(0.5, 0.95, RUNS):
        said = crowd.label[order[first + (rng.random(n) * votes).astype(int)]]
        yield np.where(rng.random(n) < share, said, rng.integers(0, answers, size=n))


Runs = Callable[[Crowd, np.ndarray, np.random.Generator], Iterator[np.ndarray]]


def crowds() -> str:
    """Accuracy of 200 simulated runs under the posterior, and under the known truth."""
    table = []
    for folder in folders():
        for method in METHODS:
            crowd = Crowd.of(folder, method)
            table.append([f"{folder.name}, {method}", *_row(crowd)])
    heads = ["crowd, method", "items", "crowd right", "said", "± said", "off by", "held"]
    return shown([*heads, f"with {GOLD} gold items"], table)


def folders() -> list[Path]:
    root = Path(os.environ.get("CRANFIELD_DATA", ".")) / "crowd"
    if not root.exists():
        sys.exit("CRANFIELD_DATA does not name a folder with crowd/")
    return [root / name for name in CROWDS]


def _row(crowd: Crowd) -> list[str]:
    rng = np.random.default_rng(1)
    p, right = crowd.p, crowd.right
    n, at = len(p), np.arange(len(p))
    held, off, spreads, gold = [], [], [], []
    for said in knowing(crowd, right, rng):
        chance = p[at, said]
        spread = np.sqrt((chance * (1 - chance)).sum()) / n
        accuracy = float((said == right).mean())
        off.append(float(chance.mean()) - accuracy)
        spreads.append(float(spread))
        held.append(abs(off[-1]) <= 1.96 * spread)
        chosen = rng.permutation(n)[:GOLD]
        correct = (said == right).astype(float)
        found = powered_means(
            correct[None, chosen], chance[None, chosen], [chance.mean()], n, resamples=499
        )
        gold.append(abs(found.value[0] - accuracy) <= found.these[0])
    return [
        str(n),
        percent(float((p.argmax(axis=1) == right).mean())),
        percent(float(p.max(axis=1).mean())),
        f"{np.mean(spreads):.4f}",
        f"{np.mean(off):+.4f}",
        percent(float(np.mean(held))),
        percent(float(np.mean(gold))),
    ]


def reasons() -> str:
    """Dawid and Skene's posterior mended in two ways, and where it is right by construction."""
    table = []
    for folder in folders():
        crowd = Crowd.of(folder, "dawid-skene")
        rng = np.random.default_rng(2)
        drawn = (crowd.p.cumsum(axis=1) > rng.random((len(crowd.p), 1))).argmax(axis=1)
        ways: dict[str, tuple[np.ndarray, Callable[..., np.ndarray]]] = {
            "as it is": (crowd.right, by_itself),
            "workers' tables drawn too": (crowd.right, among(with_tables(crowd))),
            f"as sure as {GOLD} gold items say": (crowd.right, as_sure_as_gold),
            "truth drawn from it": (drawn, by_itself),
        }
        for name, (right, draws) in ways.items():
            row = [f"{folder.name}, {name}"]
            for runs in (knowing, voting):
                row += _covered(crowd, right, runs, draws)
            table.append(row)
    heads = ["crowd, posterior", "runs that know: off by", "held", "runs of votes: off by", "held"]
    return shown(heads, table)


def _covered(
    crowd: Crowd, right: np.ndarray, runs: Runs, draws: Callable[..., np.ndarray]
) -> list[str]:
    rng = np.random.default_rng(1)
    held, off = [], []
    for said in runs(crowd, right, rng):
        drawn = draws(crowd, said, rng)
        accuracy = (said == right).mean()
        low, high = np.quantile(drawn, [0.025, 0.975])
        # A share of n items has steps of 1/n.
        held.append(low - 1e-9 <= accuracy <= high + 1e-9)
        off.append(float(drawn.mean() - accuracy))
    return [f"{np.mean(off):+.4f}", percent(float(np.mean(held)))]


def among(truths: np.ndarray) -> Callable[..., np.ndarray]:
    """The accuracy of a run in draws of the truth that are there."""

    def accuracies(_crowd: Crowd, said: np.ndarray, _rng: np.random.Generator) -> np.ndarray:
        found: np.ndarray = (truths == said).mean(axis=1)
        return found

    return accuracies


def by_itself(crowd: Crowd, said: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The accuracy of a run in 500 draws of the truth, items by themselves."""
    return _drawn(crowd.p[np.arange(len(said)), said], rng)


def _drawn(chance: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    return np.array([(rng.random(len(chance)) < chance).mean() for _ in range(500)])


def as_sure_as_gold(crowd: Crowd, said: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The same, with all probabilities raised to the power that suits some known items best."""
    logs = np.log(np.maximum(crowd.p, 1e-12))
    chosen = rng.permutation(len(said))[:GOLD]

    def raised(rows: np.ndarray, power: float) -> np.ndarray:
        found = np.exp(power * (rows - rows.max(axis=1, keepdims=True)))
        shares: np.ndarray = found / found.sum(axis=1, keepdims=True)
        return shares

    at, true = np.arange(GOLD), crowd.right[chosen]
    likely = [np.log(raised(logs[chosen], power)[at, true]).sum() for power in SHARPNESS]
    best = float(SHARPNESS[int(np.argmax(likely))])
    return _drawn(raised(logs, best)[np.arange(len(said)), said], rng)


def with_tables(crowd: Crowd) -> np.ndarray:
    """Draws of the true answers and of the workers' tables in turn (Gibbs): a row per draw."""
    rng = np.random.default_rng(3)
    n, answers = crowd.chances.shape
    workers = int(crowd.worker.max()) + 1
    before = np.full((answers, answers), STRENGTH * (1 - RIGHT) / (answers - 1))
    np.fill_diagonal(before, STRENGTH * RIGHT)
    truth = (crowd.chances.cumsum(axis=1) > rng.random((n, 1))).argmax(axis=1)
    kept = []
    for sweep in range(SWEEPS):
        counts = np.zeros((workers, answers, answers))
        np.add.at(counts, (crowd.worker, truth[crowd.item], crowd.label), 1)
        tables = rng.standard_gamma(counts + before)
        logs = np.log(np.maximum(tables / tables.sum(axis=2, keepdims=True), 1e-12))
        said = logs[crowd.worker, :, crowd.label]
        common = rng.dirichlet(np.bincount(truth, minlength=answers) + 1.0)
        score = np.log(common) + np.column_stack(
            [np.bincount(crowd.item, said[:, k], minlength=n) for k in range(answers)]
        )
        chances = np.exp(score - score.max(axis=1, keepdims=True))
        shares = (chances / chances.sum(axis=1, keepdims=True)).cumsum(axis=1)
        truth = (shares > rng.random((n, 1))).argmax(axis=1)
        if sweep >= BEFORE:
            kept.append(truth[crowd.known])
    return np.array(kept)


def main() -> int:
    for name, make in (("crowds", crowds), ("reasons", reasons)):
        table = make()
        print(f"{name}: {make.__doc__}\n{table}\n")
        if "--write" in sys.argv:
            replace_block(PAGE, f"truth:{name}", table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
