"""How often intervals by the truth of a crowd hold the accuracy under the known truth.

    CRANFIELD_DATA=... python benchmarks/truth_crowds.py [--write]

The judgements may not be shipped, so they are looked for below CRANFIELD_DATA (crowd/).
"""

from __future__ import annotations

import csv
import os
import sys
import tempfile
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


def posterior(folder: Path, method: str) -> tuple[dict[str, int], np.ndarray, tuple[str, ...]]:
    """Items, the probability of each category, and the categories."""
    with (folder / "label.csv").open() as file:
        rows = [(r["worker"], r["item"], r["label"]) for r in csv.DictReader(file)]
    with tempfile.TemporaryDirectory() as place:
        path = Path(place) / "log.csv"
        lines = ["annotator,item,category", *(",".join(row) for row in dict.fromkeys(rows))]
        path.write_text("\n".join(lines) + "\n")
        log = cf.read_judgement_log(path, duplicates="first")
    found = cf.aggregate_judgements(log, method)
    names = {found.items[i]: k for k, i in enumerate(found.item.tolist())}
    return names, found.probability, found.values


def crowds() -> tuple[str, list[str]]:
    """Accuracy of 200 simulated runs under the posterior, and under the known truth."""
    root = Path(os.environ.get("CRANFIELD_DATA", ".")) / "crowd"
    table = []
    for name in CROWDS:
        folder = root / name
        if not folder.exists():
            sys.exit("CRANFIELD_DATA does not name a folder with crowd/")
        with (folder / "truth.csv").open() as file:
            true = {r["item"]: r["truth"] for r in csv.DictReader(file)}
        for method in METHODS:
            place, chances, values = posterior(folder, method)
            items = [i for i in true if i in place and true[i] in values]
            p = chances[[place[i] for i in items]]
            right = np.array([values.index(true[i]) for i in items])
            table.append([f"{name}, {method}", *_row(p, right)])
    heads = [
        "crowd, method",
        "items",
        "crowd right",
        "said",
        "± said",
        "off by",
        "held",
        f"with {GOLD} gold items",
    ]
    return shown(heads, table), []


def _row(p: np.ndarray, right: np.ndarray) -> list[str]:
    rng = np.random.default_rng(1)
    n, answers = p.shape
    at = np.arange(n)
    held, off, spreads, gold = [], [], [], []
    for skill in np.linspace(0.5, 0.95, RUNS):
        other = (right + rng.integers(1, max(answers, 2), size=n)) % answers
        said = np.where(rng.random(n) < skill, right, other)
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
    winner = p.argmax(axis=1)
    return [
        str(n),
        percent(float((winner == right).mean())),
        percent(float(p.max(axis=1).mean())),
        f"{np.mean(spreads):.4f}",
        f"{np.mean(off):+.4f}",
        percent(float(np.mean(held))),
        percent(float(np.mean(gold))),
    ]


def main() -> int:
    table, _ = crowds()
    print(table)
    if "--write" in sys.argv:
        replace_block(PAGE, "truth:crowds", table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
