"""Every format of runs, labels and judgement logs beside libraries that merely read it."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

from harness import DATA, importable
from jobs import Job, rows_of
from workload import make

COMMAND = str(Path(sys.executable).parent / "cranfield")
# Peers may live elsewhere, so that they change nothing here.
PEERS_PYTHON = os.environ.get("CRANFIELD_PEERS", sys.executable)
ITEMS, CONCEPTS, LABEL_RUNS, JUDGED = 13_000, 53, 20, 1_000_000
FOLDER = DATA / "formats"
# ImageCLEF text has no header, and blanks between its cells.
BLANKS = "p.ReadOptions(autogenerate_column_names=True), p.ParseOptions(delimiter=' ')"

# What peers do with a file: read it, nothing else.
PEERS: dict[str, tuple[str, str]] = {
    "polars reads csv": ("polars", "import polars as p; print(len(p.read_csv(PATH)))"),
    "polars reads tsv": (
        "polars",
        "import polars as p; print(len(p.read_csv(PATH, separator='\\t')))",
    ),
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
    return rows_of([*_reading(), *_writing(), *_long_runs(), *_labels_and_logs()])


def _reading() -> list[Job]:
    qrels, run = make(1000, 1000)
    files = _write_runs(run)
    jobs = [Job("eval, TREC text", _eval(qrels, run), {"cat": ["cat", str(run)]})]
    for ending, names, aim, megabytes in (
        (".csv", ("polars reads csv", "pyarrow reads csv"), 0.9, 100),
        (".tsv", ("polars reads tsv",), 0.9, 100),
        (".json", ("orjson", "json"), 1.05, 100),
        (".parquet", ("duckdb reads parquet", "pyarrow reads parquet"), 1.67, None),
        (".txt.gz", ("igzip unpacks", "gzip unpacks"), None, 50),
    ):
        if ending in files:
            ours, peers = _eval(qrels, files[ending]), _peers(files[ending], *names)
            jobs.append(Job(f"eval, {ending}", ours, peers, aim, megabytes))
    return jobs


def _writing() -> list[Job]:
    _, run = make(1000, 1000)
    table, target = _write_runs(run)[".csv"], FOLDER / "written"
    copying = "import polars as p\np.read_csv(PATH).write_csv(PATH + '.copy')"
    packing = (
        "import gzip, shutil as s\ns.copyfileobj(open(PATH, 'rb'), gzip.open(PATH + '.gz', 'w'))"
    )
    polars = {"polars reads and writes csv": _python(table, copying)} if _there("polars") else {}
    gzip_ = {"gzip packs csv": _python(table, packing)}
    name = "convert, 1,000,000 lines"
    return [
        Job(f"{name}, .csv to TREC", _convert(table, target, ".run"), polars, 1.0, 75),
        Job(f"{name}, TREC to .csv", _convert(run, target, ".csv"), polars, 1.0, 75),
        Job(f"{name}, .csv to .json", _convert(table, target, ".json"), polars, 1.0, 75),
        Job(f"{name}, .csv to .run.gz", _convert(table, target, ".run.gz"), gzip_, 0.2, 75),
    ]


def _long_runs() -> list[Job]:
    """Seven million lines: from a file, packed, through a pipe, as trec_eval prints them."""
    qrels, run = make(6980, 1000)
    packed = _packed(run, FOLDER / "long.txt.gz")
    evaluated, cat = _eval(qrels, run), {"cat": ["cat", str(run)]}
    piped = ["bash", "-c", f"cat '{run}' | '{COMMAND}' eval '{qrels}' - -m 'AP nDCG@10'"]
    through = ["bash", "-c", f"cat '{run}' | cat >/dev/null"]
    pipe = {"cranfield eval": evaluated, "cat into cat": through}
    asked = [COMMAND, "trec_eval", "-q", str(qrels), str(run)]
    whole = {"cranfield eval": evaluated, **_trec_eval("-q", qrels, run)}
    bare = {**_sketch(qrels, run), **cat}
    unpacking = _peers(packed, "igzip unpacks", "gzip unpacks")
    name = "6,980,000 lines"
    return [
        Job(f"eval, {name}", evaluated, bare, 1.43, 50, clock=True),
        Job(f"eval, {name}, .gz", _eval(qrels, packed), unpacking, 1.67, 50, clock=True),
        Job(f"eval -, {name} through a pipe", piped, pipe, 2.0, 50, clock=True),
        Job(f"trec_eval -q, {name}", asked, whole, 1.6, 50),
    ]


def _sketch(qrels: Path, run: Path) -> dict[str, list[str]]:
    """The bare program beside this file, compiled the first time; nothing without a compiler."""
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        return {}
    source = Path(__file__).with_name("sketch.cpp")
    how = ["-O3", "-std=c++20", "-pthread"]

    def compiled(path: Path) -> None:
        subprocess.run([compiler, *how, str(source), "-o", str(path)], check=True)

    made = _once(FOLDER / "sketch", compiled)
    return {"sketch in C++": [str(made), str(qrels), str(run), str(os.cpu_count() or 1)]}


def _trec_eval(*args: object) -> dict[str, list[str]]:
    program = shutil.which("trec_eval")
    return {"trec_eval": [program, *map(str, args)]} if program else {}


def _labels_and_logs() -> list[Job]:
    jobs = []
    for ending, code in (("csv", "p.read_csv(f)"), ("txt", f"p.read_csv(f, {BLANKS})")):
        truth, *labels = _write_labels(ending)
        reading = f"import pyarrow.csv as p, sys\nfor f in sys.argv[1:]: print(len({code}))"
        peers = {"pyarrow reads csv": [PEERS_PYTHON, "-c", reading, *labels]}
        form = {"csv": "CSV", "txt": "ImageCLEF text"}[ending]
        name = f"label, {LABEL_RUNS} files of {ITEMS:,} x {CONCEPTS}, {form}"
        ours = [COMMAND, "label", truth, *labels]
        jobs.append(Job(name, ours, peers if _there("pyarrow") else {}, 2.0))
    for times, aim, megabytes in ((1, 1.85, None), (10, 5.3, 400)):
        log = _write_log(times)
        name = f"agreement, {times * JUDGED:,} judgements"
        ours, read = [COMMAND, "agreement", str(log)], _peers(log, "polars reads csv")
        jobs.append(Job(name, ours, read, aim, megabytes))
    return jobs


def _convert(source: Path, target: Path, ending: str) -> list[str]:
    return [COMMAND, "convert", str(source), f"{target}{ending}", "--kind", "run"]


def _there(package: str) -> bool:
    return importable(package, PEERS_PYTHON)


def _eval(qrels: Path, run: Path) -> list[str]:
    return [COMMAND, "eval", str(qrels), str(run), "-m", "AP nDCG@10"]


def _peers(path: Path, *names: str) -> dict[str, list[str]]:
    found = {name: PEERS[name] for name in names if _there(PEERS[name][0])}
    return {name: _python(path, code) for name, (_, code) in found.items()}


def _python(path: Path, code: str) -> list[str]:
    return [PEERS_PYTHON, "-c", f"PATH = {str(path)!r}\n{code}"]


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

    def as_csv(path: Path, mark: str = ",") -> None:
        lines = (f"{t}{mark}{i}{mark}{s}\n" for t, i, s in rows())
        path.write_text(mark.join(("topic", "item", "score")) + "\n" + "".join(lines))

    def as_tsv(path: Path) -> None:
        as_csv(path, "\t")

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

    writers = {".csv": as_csv, ".tsv": as_tsv, ".json": as_json}
    if importable("pyarrow"):
        writers[".parquet"] = as_parquet
    made = {ending: _once(FOLDER / f"run{ending}", write) for ending, write in writers.items()}
    return made | {".txt.gz": _packed(run, FOLDER / "run.txt.gz")}


def _packed(run: Path, path: Path) -> Path:
    """The run as gzip packs it."""

    def write(draft: Path) -> None:
        with run.open("rb") as raw, gzip.open(draft, "wb", 6) as packed:
            shutil.copyfileobj(raw, packed)

    return _once(path, write)


def _write_labels(ending: str = "csv") -> list[str]:
    """A truth and runs of one kind, as wide CSV with a header or as ImageCLEF text without one."""
    head, mark = ("item," + ",".join(f"C{j}" for j in range(CONCEPTS)) + "\n", ",")
    if ending == "txt":
        head, mark = "", " "

    def write(name: str, form: str, seed: int) -> str:
        def table(draft: Path) -> None:
            import numpy as np

            drawn = np.random.default_rng(seed).random((ITEMS, CONCEPTS))
            cells = (drawn < 0.1 if form == "%d" else drawn).tolist()
            line = mark.join(["i%05d", *[form] * CONCEPTS]) + "\n"
            rows = (line % (i, *row) for i, row in enumerate(cells))
            draft.write_text(head + "".join(rows))

        return str(_once(FOLDER / f"{name}.{ending}", table))

    runs = [write(f"labels{n:02d}", "%.6f", n + 6) for n in range(LABEL_RUNS)]
    return [write("truth", "%d", 5), *runs]


def _write_log(times: int = 1) -> Path:
    def repeated(path: Path) -> None:
        header, rows = _write_log().read_text().split("\n", 1)
        with path.open("w") as out:
            out.write(header + "\n")
            out.writelines(rows.replace(",i", f",{k}i") for k in range(times))

    def write(path: Path) -> None:
        import numpy as np

        rng = np.random.default_rng(6)
        with path.open("w") as out:
            out.write("annotator,item,concept,value\n")
            for cell in range(JUDGED // 50):
                said = zip(rng.choice(400, 50, replace=False), rng.integers(0, 2, 50), strict=True)
                out.writelines(f"w{a},i{cell // 20},C{cell % 20},{v}\n" for a, v in said)

    if times > 1:
        return _once(FOLDER / f"log{times}.csv", repeated)
    return _once(FOLDER / "log.csv", write)


if __name__ == "__main__":
    if "--write" in sys.argv:
        _write_runs(make(1000, 1000)[1])
        _packed(make(6980, 1000)[1], FOLDER / "long.txt.gz")
        _write_labels()
        _write_labels("txt")
        _write_log(10)
    else:
        print(main())
