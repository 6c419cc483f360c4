"""Comparing 2 to 180 runs, their pages and JSON, and starting: beside the least that numpy takes.

    python benchmarks/runs.py

The limit of a comparison is a sketch in bare numpy of what
no comparison can do without: the draws of topics, and for every pair and draw the sum of squares.
That of starting is Python itself. Bars are ratios, which hold on a loaded machine as well.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from formats import COMMAND
from harness import DATA
from jobs import Job, rows_of
from workload import make

TOPICS, ITEMS, RUNS, MEASURES, RESAMPLES = 50, 1000, 180, 5, 10_000
FOLDER = DATA / "runs"
# How many times the limit a comparison of so many runs may take.
BARS = {2: 2.0, 20: 2.0, 60: 2.5, 180: 2.0}
HTML_RUNS = 40
SKETCH = f"""
import sys, numpy as np
runs, pairs = int(sys.argv[1]), np.triu_indices(int(sys.argv[1]), 1)
rng = np.random.default_rng(0)
for _ in range({MEASURES}):
    values = rng.random((runs, {TOPICS}))
    drawn = rng.integers({TOPICS}, size=({RESAMPLES}, {TOPICS}))
    drawn += np.arange({RESAMPLES})[:, None] * {TOPICS}
    counts = np.bincount(drawn.ravel(), minlength=drawn.size).reshape(drawn.shape).T.astype(float)
    means = values @ counts
    for start in range(0, len(pairs[0]), 128):
        a, b = (p[start : start + 128] for p in pairs)
        squares = (values[a] - values[b]) ** 2 @ counts
        gap = means[a] - means[b]
        squares -= gap * gap
        gap *= gap
        gap /= squares
        (gap >= 1.0).sum(axis=1)
"""


def write(folder: Path) -> None:
    """Runs that are better and worse, on topics that are easy and hard."""
    import numpy as np

    rng = np.random.default_rng(3)
    names = [f"d{n:06d}" for n in range(5 * ITEMS)]
    worth = rng.random((TOPICS, len(names)))
    with (folder / "qrels.txt").open("w") as stream:
        for t in range(TOPICS):
            judged = rng.choice(len(names), 400, replace=False)
            lines = (f"t{t} 0 {names[i]} {int(worth[t, i] > 0.93)}\n" for i in judged)
            stream.writelines(lines)
    for r in range(RUNS):
        skill = 0.2 + 0.5 * rng.random()
        with (folder / f"run{r:03d}.run").open("w") as stream:
            for t in range(TOPICS):
                scores = skill * worth[t] * rng.random() + rng.random(len(names))
                order = np.argsort(-scores)[:ITEMS].tolist()
                stream.writelines(
                    f"t{t} Q0 {names[i]} {n} {scores[i]:.5f} run{r:03d}\n"
                    for n, i in enumerate(order, 1)
                )


def files(count: int = RUNS) -> list[str]:
    """The judgements and some runs, made in a process of its own the first time."""
    if not (FOLDER / "made").exists():
        FOLDER.mkdir(parents=True, exist_ok=True)
        subprocess.run([sys.executable, __file__, "--write"], check=True)
        (FOLDER / "made").touch()
    return [str(FOLDER / "qrels.txt"), *(str(FOLDER / f"run{r:03d}.run") for r in range(count))]


def main() -> str:
    """Comparing 2 to 180 runs x 50 topics x 1,000 items under 5 measures, pages, and starting."""
    with tempfile.TemporaryDirectory() as folder:
        return rows_of([*_comparisons(), *_pages(Path(folder)), *_starting()])


def _comparisons() -> list[Job]:
    return [
        Job(
            f"compare, {count} runs",
            _compare(count),
            {"sketch in numpy": [sys.executable, "-c", SKETCH, str(count)]},
            bar,
        )
        for count, bar in BARS.items()
    ]


def _pages(folder: Path) -> list[Job]:
    """Pages, and JSON, beside the comparison that they show."""
    page, html, listed = (folder / name for name in ("eval.html", "all.html", "all.json"))
    few, all_ = ({"cranfield compare": _compare(count)} for count in (HTML_RUNS, RUNS))
    shown = [COMMAND, "eval", *files(HTML_RUNS), *_written(page)]
    name = f"compare, {RUNS} runs"
    return [
        Job(f"eval, {HTML_RUNS} runs as HTML", shown, few, 1.67, path=page),
        Job(f"{name} as HTML", [*_compare(RUNS), *_written(html)], all_, 1.25, path=html, page=3.0),
        Job(f"{name} as JSON", [*_compare(RUNS), *_written(listed)], path=listed),
    ]


def _starting() -> list[Job]:
    bare = {"python": [sys.executable, "-c", "pass"]}
    qrels, run = map(str, make(50, 100, judged=10))
    tiny, helped = [COMMAND, "eval", qrels, run], [COMMAND, "compare", "--help"]
    return [
        Job("eval, 50 x 100", tiny, bare, 5.0, clock=True, repeats=15),
        Job("compare --help", helped, bare, 7.3, clock=True, repeats=15),
    ]


def _compare(count: int) -> list[str]:
    return [COMMAND, "compare", *files(count), "--quiet"]


def _written(path: Path) -> list[str]:
    return ["--quiet", "--format", path.suffix[1:], "-o", str(path)]


if __name__ == "__main__":
    if "--write" in sys.argv:
        write(FOLDER)
    else:
        print(main())
