"""All result tables of a campaign beside scoring and comparing its runs alone.

Two collections: 73 annotations of 13,000 items with 53 concepts under three measures, and 180
rankings of 1,000 items for 50 topics. Each side in a process of its own, by processor time: the
scores and their comparison, and the same with every table that the collection can have.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

SEED = 2009
CONFIGURATIONS = ("V", "T", "M")
TEAMS = 19
RANKED = {"topics": 50, "items": 1000, "runs": 180}
LABELS = {"items": 13_000, "concepts": 53, "runs": 73}


def facts(names: list[str]) -> str:
    rows = [
        f"{name},TEAM{n % TEAMS:02d},r{n // TEAMS},{CONFIGURATIONS[n % 3]},{'no' if n else 'yes'}"
        for n, name in enumerate(names)
    ]
    return "\n".join(["run,team,tag,configuration,baseline", *rows]) + "\n"


def make_labels(folder: Path, items: int, concepts: int, runs: int) -> None:
    """A truth at the label density of ImageCLEF 2009, and runs that know more or less of it."""
    from cranfield.ontologies import pto

    rng = np.random.default_rng(SEED)
    names = np.array([f"im{n:05d}" for n in range(items)])
    known = np.array(pto(2009).concepts[:concepts])
    truth = rng.random((items, concepts)) < 0.17
    np.savez(folder / "truth.npz", items=names, concepts=known, labels=truth)
    (folder / "labels").mkdir()
    listed = [f"run{n:02d}" for n in range(runs)]
    for n, name in enumerate(listed):
        noise = rng.normal(size=truth.shape) * (0.2 + 0.01 * n)
        values = np.clip(np.where(truth, 0.55, 0.35) + noise, 0, 1)
        arrays = {"items": names, "concepts": known, "confidences": values}
        np.savez(folder / "labels" / f"{name}.npz", **arrays)
    (folder / "facts.csv").write_text(facts(listed))
    files = ", ".join(f'"labels/{name}.npz"' for name in listed)
    (folder / "collection.toml").write_text(
        f'truth = "truth.npz"\nlabel_runs = [{files}]\nontology = "pto-2009"\n'
        'label_measures = ["AP.concept", "F.example", "OS"]\nrun_facts = "facts.csv"\n'
    )


def make_ranked(folder: Path, topics: int, items: int, runs: int) -> None:
    rng = np.random.default_rng(SEED)
    names = [f"d{n:06d}" for n in range(20 * items)]
    (folder / "runs").mkdir()
    with (folder / "qrels.txt").open("w") as stream:
        for t in range(topics):
            judged = rng.choice(len(names), 200, replace=False)
            stream.writelines(f"t{t} 0 {names[i]} {int(i % 3 == 0)}\n" for i in judged)
    listed = [f"run{n:03d}" for n in range(runs)]
    for name in listed:
        with (folder / "runs" / f"{name}.run").open("w") as stream:
            for t in range(topics):
                order = rng.choice(len(names), items, replace=False)
                stream.writelines(
                    f"t{t} Q0 {names[i]} {n} {1 - n / items:.4f} {name}\n"
                    for n, i in enumerate(order.tolist(), 1)
                )
    (folder / "facts.csv").write_text(facts(listed))
    files = ", ".join(f'"runs/{name}.run"' for name in listed)
    (folder / "collection.toml").write_text(
        f'judgements = "qrels.txt"\nruns = [{files}]\n'
        'measures = ["AP", "nDCG@10", "P@10"]\nrun_facts = "facts.csv"\n'
    )


def side(folder: str, kind: str, with_tables: bool) -> dict[str, float]:
    """Processor seconds and peak memory of scoring, comparing and, if asked for, all tables."""
    from cranfield.campaign.results import TABLES, ResultsData, result_table
    from cranfield.io.collection import read_collection

    start = time.process_time()
    material = ResultsData.of(read_collection(folder), kind, released=with_tables)  # type: ignore[arg-type]
    material = material.compared(jobs=os.cpu_count() or 1)
    tables = 0
    if with_tables:
        for name, table in TABLES.items():
            if kind in table.kinds and name != "years":
                tables += bool(str(result_table(name, material)))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": time.process_time() - start, "peak": peak, "tables": tables}


def main() -> str:
    """A row per collection: the ratio is what all tables cost beside scores and comparison."""
    rows = [
        "| collection | tables | scores and comparison, s | with all tables, s | ratio | peak MB |",
        "|---|--:|--:|--:|--:|--:|",
    ]
    for kind, make, sizes in (("labels", make_labels, LABELS), ("ranked", make_ranked, RANKED)):
        with tempfile.TemporaryDirectory() as folder:
            make(Path(folder), **sizes)
            alone, whole = (_apart(folder, kind, with_tables) for with_tables in (False, True))
        size = " x ".join(f"{number:,} {name}" for name, number in sizes.items())
        ratio = whole["seconds"] / alone["seconds"]
        rows.append(
            f"| {kind}: {size} | {whole['tables']:.0f} | {alone['seconds']:.1f} | "
            f"{whole['seconds']:.1f} | {ratio:.2f} | {whole['peak']:.0f} |"
        )
    return "\n".join(rows) + "\n"


def _apart(folder: str, kind: str, with_tables: bool) -> dict[str, float]:
    command = [sys.executable, __file__, folder, kind, str(int(with_tables))]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, float] = json.loads(done.stdout)
    return found


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(json.dumps(side(sys.argv[1], sys.argv[2], sys.argv[3] == "1")))
    else:
        print(main())
