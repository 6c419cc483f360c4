"""Makes hierarchical.json: precision, recall and F of hiclass on random paths of a small tree.

Run with hiclass 5.0.8 (pip install hiclass): python make_hierarchical.py > hierarchical.json
"""

import json
import random
import sys

AVERAGES = ("micro", "macro")


def path(draw: random.Random) -> list[str]:
    """From the top down to one of three levels; below that the path is empty."""
    depth = draw.choice([1, 2, 3, 3])
    steps = [draw.choice("abc") for _ in range(depth)]
    return [".".join(steps[: level + 1]) if level < depth else "" for level in range(3)]


def main() -> None:
    import numpy as np
    from hiclass import metrics  # no dependency of the suite

    found = []
    for seed in range(40):
        draw = random.Random(seed)
        count = draw.randint(1, 12)
        truth, run = ([path(draw) for _ in range(count)] for _ in range(2))
        arrays = np.array(truth, dtype=object), np.array(run, dtype=object)
        values = {
            f"{name} {average}": float(getattr(metrics, function)(*arrays, average=average))
            for name, function in (("hP", "precision"), ("hR", "recall"), ("hF", "f1"))
            for average in AVERAGES
            # Its macro F is that of macro precision and recall, ours the mean over items.
            if (name, average) != ("hF", "macro")
        }
        found.append({"truth": truth, "run": run, "values": values})
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
