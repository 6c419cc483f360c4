"""What aggregation and quality control find where the truth is known.

    python benchmarks/annotators.py accuracy FOLDER   logs with label.csv and truth.csv
    python benchmarks/annotators.py recovery          made-up logs with planted confusions

Prints tables of docs/explanation/agreement.md; the others are made by check_crowd.py.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from cranfield.agreement.aggregation import Aggregated, aggregate_judgements
from cranfield.agreement.simulate import simulate_log
from cranfield.io.judgement_log import read_judgement_log

VOTES = ("majority", "weighted-majority")
MODELS = ("dawid-skene", "one-coin", "mace")


def main(argv: Sequence[str] | None = None) -> int:
    args = list(sys.argv[1:] if argv is None else argv)
    if args[:1] == ["accuracy"] and len(args) == 2:
        accuracy(Path(args[1]))
    elif args == ["recovery"]:
        recovery()
    else:
        print(__doc__)
        return 2
    return 0


def accuracy(folder: Path) -> None:
    """The share of items whose aggregated answer is the true one."""
    heads = [*VOTES, *(f"{m}{end}" for m in MODELS for end in ("", ", prior 0"))]
    print("| log | judgements | annotators | items with truth | " + " | ".join(heads) + " |")
    print("|---|" + "---:|" * (3 + len(heads)))
    for path in sorted(folder.glob("*/label.csv")):
        log = read_judgement_log(path, duplicates="first")
        with (path.parent / "truth.csv").open() as stream:
            truth = {row["item"]: row["truth"] for row in csv.DictReader(stream)}
        shares = [share_right(aggregate_judgements(log, method), truth) for method in VOTES]
        for method in MODELS:
            shares += [
                share_right(aggregate_judgements(log, method, prior=prior), truth)
                for prior in (None, 0.0)
            ]
        known = sum(item in truth for item in log.items)
        cells = [path.parent.name, f"{len(log):,}", f"{len(log.annotators):,}", f"{known:,}"]
        print("| " + " | ".join([*cells, *(f"{s:.4f}" for s in shares)]) + " |")


def share_right(found: Aggregated, truth: dict[str, str]) -> float:
    """The share of items that come out right; a tie counts by its expected value."""
    shares = []
    for item, row in zip(found.item.tolist(), found.probability, strict=True):
        true = truth.get(found.items[item])
        if true is not None:
            leading = [v for v, p in zip(found.values, row, strict=True) if p >= row.max() - 1e-9]
            shares.append((true in leading) / len(leading))
    return sum(shares) / len(shares)


def recovery() -> None:
    """The mean absolute error of Dawid-Skene's tables against planted ones."""
    print("| judgements | mean error of a cell | wrong items |")
    print("|---:|---:|---:|")
    people, q = 8, 3
    for items in (50, 200, 1000, 5000, 20_000):
        rng = np.random.default_rng(5)
        planted = rng.dirichlet(np.ones(q), (people, q)) * 0.4
        planted[:, np.arange(q), np.arange(q)] += 0.6
        made = simulate_log(
            annotators=people,
            items=items,
            answers=q,
            judgements_per_item=people,
            confusion=planted,
            rng=5,
        )
        found = aggregate_judgements(made.log, "dawid-skene", prior=0)
        table = np.zeros((people, q, q))
        for annotator, _, true, answer, p in found.confusion():
            table[int(annotator[1:]), int(true), int(answer)] = p
        wrong = (found.winner != made.truth[found.item]).mean()
        print(f"| {len(made.log):,} | {np.abs(table - planted).mean():.4f} | {wrong:.2%} |")


if __name__ == "__main__":
    sys.exit(main())
