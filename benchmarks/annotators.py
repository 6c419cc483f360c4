"""What aggregation and quality control find where the truth is known.

    python benchmarks/annotators.py accuracy FOLDER   logs with label.csv and truth.csv
    python benchmarks/annotators.py spammers          made-up logs with planted spammers
    python benchmarks/annotators.py recovery          made-up logs with planted confusions

Prints the tables of docs/explanation/agreement.md.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from cranfield.agreement.aggregate import METHODS, aggregate_judgements
from cranfield.agreement.quality import check_quality
from cranfield.agreement.simulate import SPAMMERS, simulate_log
from cranfield.io.judgement_log import read_judgement_log

TRIALS = 50


def main(argv: Sequence[str] | None = None) -> int:
    args = list(sys.argv[1:] if argv is None else argv)
    if args[:1] == ["accuracy"] and len(args) == 2:
        accuracy(Path(args[1]))
    elif args == ["spammers"]:
        spammers()
    elif args == ["recovery"]:
        recovery()
    else:
        print(__doc__)
        return 2
    return 0


def accuracy(folder: Path) -> None:
    """The share of items whose aggregated answer is the true one."""
    print("| log | judgements | annotators | items with truth | " + " | ".join(METHODS) + " |")
    print("|---|" + "---:|" * (3 + len(METHODS)))
    for path in sorted(folder.glob("*/label.csv")):
        log = read_judgement_log(path, duplicates="first")
        with (path.parent / "truth.csv").open() as stream:
            truth = {row["item"]: row["truth"] for row in csv.DictReader(stream)}
        shares = []
        for method in METHODS:
            found = aggregate_judgements(log, method)
            said = {
                log.items[i]: log.values[v]
                for i, v in zip(found.item.tolist(), found.winner.tolist(), strict=True)
            }
            known = [item for item in truth if item in said]
            shares.append(sum(said[item] == truth[item] for item in known) / len(known))
        cells = [path.parent.name, f"{len(log):,}", f"{len(log.annotators):,}", f"{len(known):,}"]
        print("| " + " | ".join([*cells, *(f"{s:.4f}" for s in shares)]) + " |")


def spammers() -> None:
    """How many planted spammers are found, and how many careful annotators are accused."""
    settings = [
        ("200 items, 10 careful judgements each, 4 answers", {}),
        ("200 items, 10 each, 2 answers", {"answers": 2}),
        ("60 items, 5 each, 4 answers", {"items": 60, "judgements_per_item": 5}),
        ("careful ones right in 90-99 %", {"skill": (0.9, 0.99)}),
        ("careful ones right in 50-70 %", {"skill": (0.5, 0.7)}),
    ]
    print(f"20 careful annotators and one of each kind, {TRIALS} made-up logs each\n")
    print("| log | " + " | ".join(SPAMMERS) + " | false alarms |")
    print("|---|" + "---:|" * (len(SPAMMERS) + 1))
    for title, options in settings:
        found = dict.fromkeys(SPAMMERS, 0)
        alarms = careful = 0
        for seed in range(TRIALS):
            made = simulate_log(spammers=SPAMMERS, rng=seed, **options)  # type: ignore[arg-type]
            for person, planted in zip(check_quality(made.log), made.planted, strict=True):
                if planted:
                    found[planted] += person.rejected
                else:
                    careful += 1
                    alarms += person.rejected
        cells = [f"{found[kind] / TRIALS:.0%}" for kind in SPAMMERS]
        print(f"| {title} | " + " | ".join(cells) + f" | {alarms / careful:.2%} of {careful:,} |")


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
            annotators=people, items=items, answers=q, judgements_per_item=people,
            confusion=planted, rng=5,
        )  # fmt: skip
        found = aggregate_judgements(made.log, "dawid-skene", tolerance=1e-9, iterations=500)
        table = np.zeros((people, q, q))
        for annotator, _, true, answer, p in found.confusion():
            table[int(annotator[1:]), int(true), int(answer)] = p
        wrong = (found.winner != made.truth[found.item]).mean()
        print(f"| {len(made.log):,} | {np.abs(table - planted).mean():.4f} | {wrong:.2%} |")


if __name__ == "__main__":
    sys.exit(main())
