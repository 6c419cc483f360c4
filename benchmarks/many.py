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

from formats import COMMAND, CONCEPTS, ITEMS, _once, _write_labels, _write_log
from harness import DATA, CommandError, used
from runs import files as ranked_files

FOLDER = DATA / "many"
LABEL_RUNS, JUDGED = 73, 10_000_000
# Topics of a run of 1,000 items each whose text has 2 GB.
TOPICS, DEPTH, BLOCKS = 60_000, 1000, 50


def link_labels(folder: Path) -> None:
    """A truth and 73 names of label files that others read: as much as if all of them differed."""
    folder.mkdir()
    truth, *runs = _write_labels()
    (folder / "truth.csv").hardlink_to(truth)
    for n in range(LABEL_RUNS):
        (folder / f"run{n + 1:02d}.csv").hardlink_to(runs[n % len(runs)])


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
        folder = _once(FOLDER / "labels", link_labels)
        runs = [str(folder / f"run{n:02d}.csv") for n in range(1, LABEL_RUNS + 1)]
        what = f"`label` of {LABEL_RUNS} files of {ITEMS:,} x {CONCEPTS}"
        return what, ["label", str(folder / "truth.csv"), *runs, "--quiet"]
    if job == "log":
        path = _write_log(10)
        return f"`agreement` of {JUDGED:,} judgements", ["agreement", str(path), "--quiet"]
    path = _once(FOLDER / "run.txt.gz", write_gz)
    what = f"`eval` of {TOPICS * DEPTH:,} lines as .gz ({path.stat().st_size / 1e9:.1f} GB packed)"
    return what, ["eval", str(FOLDER / "qrels.txt"), str(path), "-m", "AP nDCG@10", "--quiet"]


def main() -> str:
    """Much of everything: CPU seconds and memory of one command each."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    lines = ["| command | CPU s | seconds | peak MB |", "|---|--:|--:|--:|"]
    for job in JOBS:
        # In a process of its own: the memory of a timed child starts from that of its parent.
        subprocess.run([sys.executable, __file__, "--make", job], check=True)
        what, arguments = _command(job)
        print(f"  {what} ...", file=sys.stderr, flush=True)
        try:
            taken = used([COMMAND, *arguments])
        except CommandError as error:
            lines.append(f"| {what} | failed: {error} | | |")
            continue
        lines.append(f"| {what} | {taken.cpu:.1f} | {taken.seconds:.1f} | {taken.megabytes:.0f} |")
    return "\n".join(lines) + f"\n\n{os.cpu_count()} cores; no network, no cache of results.\n"


if __name__ == "__main__":
    if "--make" in sys.argv:
        FOLDER.mkdir(parents=True, exist_ok=True)
        _command(sys.argv[-1])
    else:
        print(main())
