"""`make bench`: Cranfield beside its peers, end to end, three times each; prints ratios.

Every part is a process of its own with a time limit: one that fails is told at the end, and keeps
the table that it had. With --long, also the parts that take minutes each, and how time grows from
10^5 to 10^8 lines (12 GB of disk). With --write, the tables replace those in README.md,
docs/benchmarks.md and docs/how-to/many-runs.md.
"""

from __future__ import annotations

import argparse
import importlib
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from harness import MEASURES, compare, importable, run_once, table
from workload import make

ROOT = Path(__file__).resolve().parents[1]
DOCUMENTS = tuple(
    ROOT / name for name in ("README.md", "docs/benchmarks.md", "docs/how-to/many-runs.md")
)
COMMAND = str(Path(sys.executable).parent / "cranfield")
TREC_NAMES = "map ndcg ndcg_cut.10 recip_rank P.10 recall.1000 Rprec bpref".split()  # noqa: SIM905
# Parts of the bench that live in files of their own; each has main() -> str.
PARTS = (
    "files",
    "cold",
    "formats",
    "runs",
    "many",
    "memory",
    "ranked",
    "stats",
    "agreement",
    "relatedness",
    "charts",
    "regions",
)
# Those that take minutes, each.
LONG = ("labels", "truth", "images", "lab", "tables", "publish", "growth")
# Seconds that a part may take: the first time it makes its data.
MOST, MOST_LONG = 600, 1200


def files_to_means() -> str:
    """6,980 topics x 1,000 items, from files on disk to eight printed means."""
    qrels, run = map(str, make(6980, 1000))
    here = str(Path(__file__).parent / "peer.py")
    commands = {"cranfield": [COMMAND, "eval", qrels, run, "-m", MEASURES]}
    if shutil.which("trec_eval"):
        commands["trec_eval"] = ["trec_eval", *(f"-m{m}" for m in TREC_NAMES), qrels, run]
    for peer in ("pytrec_eval", "ir_measures", "ranx"):
        if importable(peer):
            commands[peer] = [sys.executable, here, peer, qrels, run]
    return table(compare(commands))


def cold_start() -> str:
    """50 topics x 100 items: what starting the program costs."""
    qrels, run = map(str, make(50, 100, judged=10))
    here = str(Path(__file__).parent / "peer.py")
    commands = {
        "cranfield": [COMMAND, "eval", qrels, run, "-m", MEASURES],
        "import numpy": [sys.executable, "-c", "import numpy; print(numpy.__version__)"],
    }
    for peer in ("pytrec_eval", "ir_measures"):
        if importable(peer):
            commands[peer] = [sys.executable, here, peer, qrels, run]
    return table(compare(commands, repeats=7))


def growth() -> str:
    """Seconds and memory from 10^5 to 10^8 lines; both files and results stay in order of size."""
    lines = ["| lines | seconds | ns per line | peak MB |", "|--:|--:|--:|--:|"]
    for topics in (100, 1_000, 10_000, 100_000):
        qrels, run = map(str, make(topics, 1000))
        seconds, megabytes = min(
            run_once([COMMAND, "eval", qrels, run, "-m", MEASURES]) for _ in range(3)
        )
        count = topics * 1000
        lines.append(
            f"| {count:,} | {seconds:.2f} | {seconds / count * 1e9:.0f} | {megabytes:.0f} |"
        )
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help="only these parts (default: all short ones)")
    parser.add_argument("--long", action="store_true", help="also the parts that take minutes")
    parser.add_argument("--write", action="store_true", help="put the tables into the documents")
    parser.add_argument("--here", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    names = args.parts or [*PARTS, *(LONG if args.long else ())]
    if args.here:
        print(_function(names[0])())
        return 0
    begun, failed = time.monotonic(), list[str]()
    for number, name in enumerate(names, 1):
        print(f"\n## {name} ({number} of {len(names)})\n", flush=True)
        started = time.monotonic()
        text = _table_of(name)
        print(text or f"{name} failed: its table stays as it was", flush=True)
        print(f"{time.monotonic() - started:.0f} s", file=sys.stderr, flush=True)
        if not text:
            failed.append(name)
        elif args.write:
            for document in DOCUMENTS:
                replace_block(document, f"bench:{name}", text)
    print(f"\n{time.monotonic() - begun:.0f} s; failed: {', '.join(failed) or 'none'}")
    return 1 if failed else 0


def _table_of(name: str) -> str:
    """The table of a part, made in a process of its own: what it loads counts for no other."""
    command = [sys.executable, __file__, name, "--here"]
    limit = MOST_LONG if name in LONG else MOST
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=limit)
    except subprocess.TimeoutExpired:
        print(f"{name} took more than {limit} s", file=sys.stderr)
        return ""
    return done.stdout if done.returncode == 0 else ""


def _function(name: str) -> Callable[[], str]:
    own = {"files": files_to_means, "cold": cold_start, "growth": growth}
    made: Callable[[], str] = own[name] if name in own else importlib.import_module(name).main
    return made


def replace_block(document: Path, name: str, text: str) -> None:
    """Put a table between its markers, where a document has them."""
    old = document.read_text()
    begin, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    pattern = re.compile(re.escape(begin) + ".*?" + re.escape(end), re.DOTALL)
    document.write_text(pattern.sub(lambda _: f"{begin}\n{text.strip()}\n{end}", old))


if __name__ == "__main__":
    sys.exit(main())
