"""What a site costs beside the calls that it is made of, in CPU seconds.

    python benchmarks/publish.py

Two collections are made up: 73 annotation runs of 13,000 items x 53 concepts under three
measures, and 180 ranked runs of 50 topics x 1,000 items under three measures. `publish` is held
against `label` (`eval`) and `compare` alone on the same files: all pairs, the same draws.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

from harness import DATA

COMMAND = [sys.executable, "-m", "cranfield"]
LABEL_MEASURES = "AP.concept F.example HammingLoss"
MEASURES = "AP nDCG@10 P@10"
DIGITS = [f"{k / 1000:.3f}".encode() for k in range(1001)]


def main() -> str:
    """A site of 73 annotation runs (13,000 x 53) and of 180 ranked runs (50 x 1,000)."""
    lines = [
        "| site of | publish, s | calls alone, s | ratio | peak MB | pages | MB of pages |",
        "|---|--:|--:|--:|--:|--:|--:|",
    ]
    for name, folder, calls in (
        ("73 annotation runs", label_collection(), _label_calls),
        ("180 ranked runs", ranked_collection(), _ranked_calls),
    ):
        alone = sum(cpu(call)[0] for call in calls(folder))
        site = folder / "site"
        used, peak, out = cpu(["publish", str(folder), "-o", str(site), "--format", "json"])
        told = json.loads(out)
        lines.append(
            f"| {name} | {used:.1f} | {alone:.1f} | **{used / alone:.2f}** | {peak:.0f} | "
            f"{told['pages']} | {told['bytes'] / 1e6:.0f} |"
        )
        shutil.rmtree(site)
    return "\n".join(lines) + "\n"


def cpu(arguments: list[str]) -> tuple[float, float, bytes]:
    """CPU seconds, peak memory in MB and output of a command."""
    child = subprocess.Popen([*COMMAND, *arguments, "--quiet"], stdout=subprocess.PIPE)
    out = child.stdout.read()  # type: ignore[union-attr]
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{arguments[0]} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, out


def _label_calls(folder: Path) -> list[list[str]]:
    truth, runs = str(folder / "truth.csv"), sorted(map(str, folder.glob("runs/*")))
    return [
        ["label", truth, *runs, "-m", LABEL_MEASURES],
        ["compare", "--truth", truth, *runs, "-m", LABEL_MEASURES, "--format", "json"],
    ]


def _ranked_calls(folder: Path) -> list[list[str]]:
    files = [str(folder / "qrels.txt"), *sorted(map(str, folder.glob("runs/*")))]
    return [
        ["eval", *files, "-m", MEASURES],
        ["compare", *files, "-m", MEASURES, "--format", "json"],
    ]


def label_collection(runs: int = 73, items: int = 13_000, concepts: int = 53) -> Path:
    """A truth and runs that know it better and worse, as CSV."""
    folder = DATA / f"labels-{runs}x{items}x{concepts}"
    if (folder / "collection.toml").exists():
        return folder
    rng = np.random.default_rng(5)
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    names = [f"c{j}" for j in range(concepts)]
    head = ",".join(["item", *names]).encode() + b"\n"
    truth = rng.random((items, concepts)) < rng.uniform(0.02, 0.4, concepts)
    ids = [f"i{k:05d}".encode() for k in range(items)]

    def write(path: Path, cells: np.ndarray, table: list[bytes]) -> None:
        rows = (
            b",".join([i, *(table[v] for v in row)])
            for i, row in zip(ids, cells.tolist(), strict=True)
        )
        path.write_bytes(head + b"\n".join(rows) + b"\n")

    write(folder / "truth.csv", truth.astype(int), [b"0", b"1"])
    for k in range(runs):
        noise = rng.random(truth.shape)
        share = 0.15 + 0.6 * k / runs
        sure = np.clip((1 - share) * truth + share * noise, 0, 1)
        write(folder / "runs" / f"run{k:02d}.csv", np.rint(1000 * sure).astype(int), DIGITS)
    _describe(folder, "truth.csv", [f"runs/run{k:02d}.csv" for k in range(runs)], labels=True)
    return folder


def ranked_collection(runs: int = 180, topics: int = 50, items: int = 1_000) -> Path:
    """Judgements and rankings that find them sooner and later."""
    folder = DATA / f"ranked-{runs}x{topics}x{items}"
    if (folder / "collection.toml").exists():
        return folder
    rng = np.random.default_rng(6)
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    relevant = {t: rng.choice(5_000, 40, replace=False) for t in range(topics)}
    with (folder / "qrels.txt").open("w") as out:
        for t, ids in relevant.items():
            out.writelines(f"{t} 0 d{i} {rng.integers(1, 4)}\n" for i in ids)
    for k in range(runs):
        with (folder / "runs" / f"run{k:03d}.run").open("w") as out:
            for t in range(topics):
                scores = rng.random(5_000)
                scores[relevant[t]] += 0.5 * (1 - k / runs)
                order = np.argsort(-scores)[:items]
                out.writelines(
                    f"{t} Q0 d{i} {rank} {scores[i]:.6f} r\n" for rank, i in enumerate(order, 1)
                )
    _describe(folder, "qrels.txt", [f"runs/run{k:03d}.run" for k in range(runs)], labels=False)
    return folder


def _describe(folder: Path, truth: str, runs: list[str], *, labels: bool) -> None:
    keys = (
        ("truth", "label_runs", "label_measures") if labels else ("judgements", "runs", "measures")
    )
    measures = (LABEL_MEASURES if labels else MEASURES).split()
    text = f'name = "bench"\nsize = 13000\n{keys[0]} = "{truth}"\n'
    text += f"{keys[1]} = {json.dumps(runs)}\n{keys[2]} = {json.dumps(measures)}\n"
    facts = ["run,team,configuration"]
    facts += [f"{Path(path).stem},T{k % 20:02d},{'VTM'[k % 3]}" for k, path in enumerate(runs)]
    (folder / "facts.csv").write_text("\n".join(facts) + "\n")
    text += 'run_facts = "facts.csv"\n'
    (folder / "collection.toml").write_text(text)


if __name__ == "__main__":
    print(main())
