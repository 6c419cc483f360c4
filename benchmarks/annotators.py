"""What aggregation and quality control find where the truth is known.

    python benchmarks/annotators.py recovery          made-up logs with planted confusions

Prints tables of docs/explanation/agreement.md; the others are made by check_crowd.py.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np

from cranfield.agreement.aggregation import aggregate_judgements
from cranfield.agreement.simulate import simulate_log


def main(argv: Sequence[str] | None = None) -> int:
    args = list(sys.argv[1:] if argv is None else argv)
    if args == ["recovery"]:
        recovery()
    else:
        print(__doc__)
        return 2
    return 0


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
