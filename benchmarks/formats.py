"""Every format of runs, labels and judgement logs beside libraries that merely read it.

CPU seconds, not the clock: the commands take turns in one run, so that a loaded machine hits all of
them alike, and threads are paid for.
"""

from __future__ import annotations

import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from harness import DATA, importable
from workload import make

COMMAND = str(Path(sys.executable).parent / "cranfield")
REPEATS = 3
ITEMS, CONCEPTS, LABEL_RUNS, JUDGED = 13_000, 53, 20, 1_000_000
FOLDER = DATA / "formats"

# What peers do with a file: read it, nothing else.
PEERS: dict[str, tuple[str, str]] = {
    "polars reads csv": ("polars", "import polars as p; print(len(p.read_csv(PATH)))"),
    "pyarrow reads csv": ("pyarrow", "import pyarrow.csv as p; print(p.read_csv(PATH).num_rows)"),
    "orjson": ("orjson", "import orjson; print(len(orjson.loads(open(PATH, 'rb').read())))"),
    "json": ("json", "import json; print(len(json.load(open(PATH))))"),
    "pyarrow reads parquet": (
        "pyarrow",
        "import pyarrow.parquet as p; print(p.read_table(PATH).num_rows)",
    ),
    "duckdb reads parquet": (
        "duckdb",
        "import duckdb; print(len(duckdb.sql(f'from \\'{PATH}\\'').fetchnumpy()))",
    ),
    "igzip unpacks": (
        "isal",
        "from isal import igzip; f = igzip.open(PATH)\n"
        "print(sum(len(b) for b in iter(lambda: f.read(1 << 20), b'')))",
    ),
    "gzip unpacks": (
        "gzip",
        "import gzip; f = gzip.open(PATH)\n"
        "print(sum(len(b) for b in iter(lambda: f.read(1 << 20), b'')))",
    ),
}


def main() -> str:
    """A million lines in every format, CPU seconds and memory, beside who only reads them."""
    # In a process of its own: the memory of a timed child starts from that of its parent.
    subprocess.run([sys.executable, __file__, "--write"], check=True)
    qrels, run = make(1000, 1000)
    files = _write_runs(run)
    rows = [("eval, TREC text", _eval(qrels, run), {"cat": ["cat", str(run)]})]
    rows += [
        (f"eval, {ending}", _eval(qrels, files[ending]), _peers(files[ending], *names))
        for ending, names in {
            ".csv": ("polars reads csv", "pyarrow reads csv"),
            ".json": ("orjson", "json"),
            ".parquet": ("pyarrow reads parquet", "duckdb reads parquet"),
            ".txt.gz": ("igzip unpacks", "gzip unpacks"),
        }.items()
        if ending in files
    ]
    truth, labels = _write_labels()
    reading = "import polars as p, sys\nfor f in sys.argv[1:]: print(len(p.read_csv(f)))"
    peers = {"polars reads csv": [sys.executable, "-c", reading, *labels]}
    rows.append(
        (
            f"label, {LABEL_RUNS} files of {ITEMS:,} x {CONCEPTS}",
            [COMMAND, "label", truth, *labels],
            peers if importable("polars") else {},
        )
    )
    log = _write_log()
    rows.append(
        (
            f"agreement, {JUDGED:,} judgements",
            [COMMAND, "agreement", str(log)],
            _peers(log, "polars reads csv"),
        )
    )
    lines = ["| job | tool | CPU s | peak MB | CPU / ours |", "|---|---|--:|--:|--:|"]
    for job, ours, others in rows:
        lines += _compared(job, {"cranfield": ours, **others})
    return "\n".join(lines) + "\n"


def _eval(qrels: Path, run: Path) -> list[str]:
    return [COMMAND, "eval", str(qrels), str(run), "-m", "AP nDCG@10"]


def _peers(path: Path, *names: str) -> dict[str, list[str]]:
    found = {name: PEERS[name] for name in names if importable(PEERS[name][0])}
    return {
        name: [sys.executable, "-c", f"PATH = {str(path)!r}\n{code}"]
        for name, (_, code) in found.items()
    }


def _compared(job: str, commands: dict[str, Sequence[str]]) -> list[str]:
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    for _ in range(REPEATS):
        for name, command in commands.items():
            taken[name].append(_cpu(command))
    seconds = {name: statistics.median(s for s, _ in runs) for name, runs in taken.items()}
    return [
        f"| {job} | {name} | {seconds[name]:.2f} | {max(m for _, m in runs):.0f} | "
        f"{seconds[name] / seconds['cranfield']:.1f} |"
        for name, runs in taken.items()
    ]


def _cpu(command: Sequence[str]) -> tuple[float, float]:
    """CPU seconds and peak memory (MB) of one process."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    errors = child.stderr.read()  # type: ignore[union-attr]
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        raise SystemExit(f"{' '.join(command)} failed:\n{errors.decode()[-2000:]}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def _once(path: Path, write: Callable[[Path], None]) -> Path:
    """A file that is written whole or not at all, and only the first time."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_name("part-" + path.name)
        write(draft)
        draft.rename(path)
    return path


def _write_runs(run: Path) -> dict[str, Path]:
    """The run in other formats, by ending."""

    def rows() -> list[tuple[str, str, float]]:
        split = (line.split() for line in run.read_text().splitlines())
        return [(f[0], f[2], float(f[4])) for f in split]

    def as_csv(path: Path) -> None:
        lines = (f"{t},{i},{s}\n" for t, i, s in rows())
        path.write_text("topic,item,score\n" + "".join(lines))

    def as_json(path: Path) -> None:
        nested: dict[str, dict[str, float]] = {}
        for topic, item, score in rows():
            nested.setdefault(topic, {})[item] = score
        path.write_text(json.dumps(nested))

    def as_parquet(path: Path) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        topics, items, scores = zip(*rows(), strict=True)
        pq.write_table(pa.table({"topic": topics, "item": items, "score": scores}), path)

    def as_gzip(path: Path) -> None:
        with run.open("rb") as raw, gzip.open(path, "wb", 6) as packed:
            shutil.copyfileobj(raw, packed)

    writers = {".csv": as_csv, ".json": as_json, ".txt.gz": as_gzip}
    if importable("pyarrow"):
        writers[".parquet"] = as_parquet
    return {ending: _once(FOLDER / f"run{ending}", write) for ending, write in writers.items()}


def _write_labels() -> tuple[str, list[str]]:
    header = ",".join(["item", *(f"C{j}" for j in range(CONCEPTS))])

    def write(path: Path, form: str, seed: int) -> str:
        def table(draft: Path) -> None:
            import numpy as np

            drawn = np.random.default_rng(seed).random((ITEMS, CONCEPTS))
            cells = drawn < 0.1 if form == "%d" else drawn
            text = "\n".join(
                f"i{i:05d}," + ",".join(form % x for x in row) for i, row in enumerate(cells)
            )
            draft.write_text(f"{header}\n{text}\n")

        return str(_once(path, table))

    truth = write(FOLDER / "truth.csv", "%d", 5)
    names = [FOLDER / f"labels{n:02d}.csv" for n in range(LABEL_RUNS)]
    return truth, [write(name, "%.6f", seed) for seed, name in enumerate(names, 6)]


def _write_log() -> Path:
    def write(path: Path) -> None:
        import numpy as np

        rng = np.random.default_rng(6)
        with path.open("w") as out:
            out.write("annotator,item,concept,value\n")
            for cell in range(JUDGED // 50):
                said = zip(rng.choice(400, 50, replace=False), rng.integers(0, 2, 50), strict=True)
                out.writelines(f"w{a},i{cell // 20},C{cell % 20},{v}\n" for a, v in said)

    return _once(FOLDER / "log.csv", write)


if __name__ == "__main__":
    if "--write" in sys.argv:
        _write_runs(make(1000, 1000)[1])
        _write_labels()
        _write_log()
    else:
        print(main())
