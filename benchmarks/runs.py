"""Comparing 2 to 180 runs, their pages and JSON, and starting: beside the least that numpy takes.

    python benchmarks/runs.py

CPU seconds, the commands taking turns. The limit of a comparison is a sketch in bare numpy of what
no comparison can do without: the draws of topics, and for every pair and draw the sum of squares.
That of starting is Python itself. Bars are ratios, which hold on a loaded machine as well.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from formats import COMMAND, _cpu
from harness import DATA
from workload import make

TOPICS, ITEMS, RUNS, MEASURES, RESAMPLES = 50, 1000, 180, 5, 10_000
FOLDER = DATA / "runs"
# How many times the limit a comparison of so many runs may take.
BARS = {2: 2.0, 20: 2.0, 60: 2.5, 180: 2.0}
HTML_RUNS, HTML_BAR, PAGE_BAR = 40, 1.7, 3.0
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


def _least(command: Sequence[str], repeats: int) -> tuple[float, float]:
    return min(_cpu(command) for _ in range(repeats))


def _row(job: str, ours: Sequence[str], limit: Sequence[str], bar: float, repeats: int) -> str:
    seconds, memory = _least(ours, repeats)
    least, _ = _least(limit, repeats)
    ratio = seconds / least
    said = "holds" if ratio <= bar else "missed"
    return f"| {job} | {seconds:.2f} | {memory:.0f} | {least:.2f} | {ratio:.1f} | {bar:g}, {said} |"


def main() -> str:
    """Comparing 2 to 180 runs x 50 topics x 1,000 items under 5 measures, and starting."""
    lines = [
        "| job | CPU s | peak MB | limit, CPU s | CPU / limit | bar |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for count, bar in BARS.items():
        sketch = [sys.executable, "-c", SKETCH, str(count)]
        ours = [COMMAND, "compare", *files(count), "--quiet"]
        repeats = 3 if count < RUNS else 1
        lines.append(_row(f"compare, {count} runs", ours, sketch, bar, repeats))
    with tempfile.TemporaryDirectory() as folder:
        table = [COMMAND, "compare", *files(HTML_RUNS), "--quiet"]
        page = [COMMAND, "eval", *files(HTML_RUNS), "--quiet", "-o", f"{folder}/eval.html"]
        name = f"eval, {HTML_RUNS} runs as HTML (limit: comparing them)"
        lines.append(_row(name, page, table, HTML_BAR, 1))
        for ending, bar in (("html", f"{PAGE_BAR:g} MB"), ("json", "")):
            path = Path(folder) / f"all.{ending}"
            ours = [COMMAND, "compare", *files(), "--quiet", "--format", ending, "-o", str(path)]
            seconds, memory = _cpu(ours)
            size = path.stat().st_size / 1e6
            job = f"compare, {RUNS} runs as {ending.upper()}: {size:.1f} MB"
            held = ", holds" if ending == "html" and size <= PAGE_BAR else ""
            lines.append(f"| {job} | {seconds:.2f} | {memory:.0f} | | | {bar}{held} |")
    bare = [sys.executable, "-I", "-S", "-c", "pass"]
    qrels, run = map(str, make(50, 100, judged=10))
    lines.append(_row("eval, 50 x 100 (limit: Python)", [COMMAND, "eval", qrels, run], bare, 5, 9))
    helped = [COMMAND, "compare", "--help"]
    lines.append(_row("compare --help (limit: Python)", helped, bare, 7.3, 9))
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    if "--write" in sys.argv:
        write(FOLDER)
    else:
        print(main())
