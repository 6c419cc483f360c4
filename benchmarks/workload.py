"""Made-up runs of any size, written once and kept in benchmarks/data."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from harness import DATA


def make(topics: int, items: int, *, judged: int = 1, seed: int = 1) -> tuple[Path, Path]:
    """Judgements and a run of topics x items, scores falling with rank as systems write them."""
    folder = DATA / f"{topics}x{items}x{judged}"
    qrels, run = folder / "qrels.txt", folder / "run.txt"
    if not (run.exists() and qrels.exists()):
        # In a process of its own: the memory of a timed child starts from that of its parent.
        sizes = [str(n) for n in (topics, items, judged, seed)]
        subprocess.run([sys.executable, __file__, *sizes], check=True)
    return qrels, run


def write(folder: Path, topics: int, items: int, judged: int, seed: int) -> None:
    import numpy as np

    qrels, run = folder / "qrels.txt", folder / "run.txt"
    folder.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    draft = folder / "run.part"
    with qrels.open("w") as q, draft.open("w") as r:
        for t in range(topics):
            topic = 100_000 + 7 * t
            ids = rng.choice(8_841_823, items, replace=False)
            relevant = rng.choice(ids[: max(items // 5, judged)], judged, replace=False)
            for item in relevant:
                q.write(f"{topic} 0 {item} {rng.integers(1, 4)}\n")
            scores = 30 - np.cumsum(rng.random(items) * 0.02)
            r.writelines(
                f"{topic} Q0 {item} {rank} {score:.6f} sketch\n"
                for rank, (item, score) in enumerate(zip(ids, scores, strict=True), 1)
            )
    draft.rename(run)


if __name__ == "__main__":
    numbers = [int(a) for a in sys.argv[1:]]
    write(DATA / "x".join(map(str, numbers[:3])), *numbers)
