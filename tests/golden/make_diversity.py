"""Makes diversity.json: values of ndeval on random problems with ties of gains, not of scores.

Run with pyndeval 0.0.8 (pip install pyndeval): python make_diversity.py > diversity.json
"""

import json
import random
import sys

MEASURES = [
    *(f"{name}@{k}" for name in ("ERR-IA", "nERR-IA", "alpha-DCG", "alpha-nDCG") for k in (5, 20)),
    *("NRBP", "nNRBP", "MAP-IA", "P-IA@5", "P-IA@20", "strec@5", "strec@20"),
]


def problem(seed: int) -> dict:
    draw = random.Random(seed)
    count = draw.randint(1, 6)
    items = [f"d{draw.randint(0, 10**5)}" for _ in range(draw.randint(3, 25))]
    judged = {
        str(s): {i: draw.choice([0, 1, 1, 2]) for i in items if draw.random() < 0.35}
        for s in range(1, count + 1)
    }
    run = {i: draw.random() for i in items if draw.random() < 0.8}
    run |= {f"n{n}": draw.random() for n in range(draw.randint(0, 12))}
    return {
        "alpha": draw.choice([0.5, 0.5, 0.1, 0.9]),
        "beta": draw.choice([0.5, 0.8]),
        "judged": judged,
        "run": run,
    }


def main() -> None:
    import pyndeval  # no dependency of the suite

    found = []
    for seed in range(120):
        one = problem(seed)
        qrels = [
            ("t", s, item, grade)
            for s, grades in one["judged"].items()
            for item, grade in grades.items()
        ]
        if not any(grade for *_, grade in qrels) or not one["run"]:
            continue
        run = [("t", item, score) for item, score in one["run"].items()]
        values = pyndeval.ndeval(qrels, run, MEASURES, alpha=one["alpha"], beta=one["beta"])
        found.append(one | {"values": values["t"]})
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
