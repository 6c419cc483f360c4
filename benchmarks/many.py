"""Time and memory where there is much: runs, label files, judgements, a large .gz.

    python benchmarks/many.py

The data are made here, once, and kept in benchmarks/data. CPU seconds of all threads together and
the largest memory of one run of each command.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from formats import COMMAND, _cpu, _once
from harness import DATA
from runs import files as ranked_files

FOLDER = DATA / "many"
ITEMS, CONCEPTS, LABEL_RUNS = 13_000, 53, 73
JUDGED, ANNOTATORS = 10_000_000, 1000
# Topics of a run of 1,000 items each whose text has 2 GB.
TOPICS, DEPTH, BLOCKS = 60_000, 1000, 50


def write_labels(folder: Path) -> None:
    """A truth and runs that know more or less of it, as wide CSV."""
    import numpy as np

    rng = np.random.default_rng(2009)
    folder.mkdir()
    truth = rng.random((ITEMS, CONCEPTS)) < 0.17
    head = "item," + ",".join(f"c{c:02d}" for c in range(CONCEPTS)) + "\n"
    names = [f"im{n:05d}" for n in range(ITEMS)]
    cells = np.array([f",{n / 100:.2f}" for n in range(101)])
    for n in range(LABEL_RUNS + 1):
        noise = rng.normal(size=truth.shape) * (0.2 + 0.01 * n)
        shown = truth * 1.0 if n == 0 else np.clip(np.where(truth, 0.55, 0.35) + noise, 0, 1)
        rows = cells[np.rint(100 * shown).astype(int)].tolist()
        name = "truth.csv" if n == 0 else f"run{n:02d}.csv"
        with (folder / name).open("w") as stream:
            stream.write(head)
            stream.writelines(f"{i}{''.join(row)}\n" for i, row in zip(names, rows, strict=True))


def write_log(path: Path) -> None:
    """Judgements annotator,item,concept,value, ten of every cell."""
    import numpy as np

    rng = np.random.default_rng(7)
    with path.open("w") as stream:
        stream.write("annotator,item,concept,value\n")
        for start in range(0, JUDGED // 10, 10_000):
            cells = np.repeat(np.arange(start, start + 10_000), 10)
            who = (cells * 7 + np.tile(np.arange(10), 10_000) * 97) % ANNOTATORS
            value = (rng.random(cells.size) < np.where(cells % 3 == 0, 0.9, 0.1)).astype(int)
            rows = zip(who.tolist(), cells.tolist(), value.tolist(), strict=True)
            stream.writelines(f"a{w},i{c // 20},c{c % 20},{v}\n" for w, c, v in rows)


def write_gz(path: Path) -> None:
    """A run of many topics; what its items are repeats only far beyond what packing sees."""
    import gzip

    import numpy as np

    try:
        from isal import igzip as packer
    except ImportError:
        packer = gzip
    rng = np.random.default_rng(1)
    blocks = []
    for _ in range(BLOCKS):
        ids = rng.choice(8_841_823, DEPTH, replace=False).tolist()
        scores = (30 - np.cumsum(rng.random(DEPTH) * 0.02)).tolist()
        lines = (f"TOPIC Q0 {i} {n + 1} {scores[n]:.6f} x\n" for n, i in enumerate(ids))
        blocks.append(("".join(lines).encode(), ids[DEPTH // 7]))
    judged = []
    with packer.open(path, "wb", compresslevel=1) as stream:
        for t in range(TOPICS):
            text, relevant = blocks[t % BLOCKS]
            stream.write(text.replace(b"TOPIC", b"%06d" % t))
            judged.append(f"{t:06d} 0 {relevant} 1\n")
    (FOLDER / "qrels.txt").write_text("".join(judged))


JOBS = ("ranked", "labels", "log", "gz")


def _command(job: str) -> tuple[str, list[str]]:
    if job == "ranked":
        return "`compare` of 180 runs, 50 topics x 1,000 items, 5 measures", [
            "compare",
            *ranked_files(),
            "--quiet",
        ]
    if job == "labels":
        folder = _once(FOLDER / "labels", write_labels)
        runs = [str(folder / f"run{n:02d}.csv") for n in range(1, LABEL_RUNS + 1)]
        what = f"`label` of {LABEL_RUNS} files of {ITEMS:,} x {CONCEPTS}"
        return what, ["label", str(folder / "truth.csv"), *runs, "--quiet"]
    if job == "log":
        path = _once(FOLDER / "log.csv", write_log)
        return f"`agreement` of {JUDGED:,} judgements", ["agreement", str(path), "--quiet"]
    path = _once(FOLDER / "run.txt.gz", write_gz)
    what = f"`eval` of {TOPICS * DEPTH:,} lines as .gz ({path.stat().st_size / 1e9:.1f} GB packed)"
    return what, ["eval", str(FOLDER / "qrels.txt"), str(path), "-m", "AP nDCG@10", "--quiet"]


def main() -> str:
    """Much of everything: CPU seconds and memory of one command each."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    lines = ["| command | CPU s | peak MB |", "|---|--:|--:|"]
    for job in JOBS:
        # In a process of its own: the memory of a timed child starts from that of its parent.
        subprocess.run([sys.executable, __file__, "--make", job], check=True)
        what, arguments = _command(job)
        seconds, memory = _cpu([COMMAND, *arguments])
        lines.append(f"| {what} | {seconds:.1f} | {memory:.0f} |")
    return "\n".join(lines) + f"\n\n{os.cpu_count()} cores; no network, no cache of results.\n"


if __name__ == "__main__":
    if "--make" in sys.argv:
        FOLDER.mkdir(parents=True, exist_ok=True)
        _command(sys.argv[-1])
    else:
        print(main())
