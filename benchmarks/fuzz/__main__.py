"""The fuzzer itself: seeded cases for every command, in this process and as processes.

It prints the classes of cases, how many there were and how many ended badly, and exits 1 when
one did. A case is made again from its seed and number: `--only 1234`.
"""

from __future__ import annotations

import argparse
import random
import shlex
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from benchmarks.fuzz.mutations import MUTATIONS, NUMBERS, special_file
from benchmarks.fuzz.outcomes import Case, Outcome, faults, run_inside, run_process
from benchmarks.fuzz.samples import TEMPLATES, write_all

OUTPUTS = ["out.json", "out.csv", "out.run", "out.tsv", "out.parquet", "out.npz", "out.txt"]
ODD_OUTPUTS = ["/dev/full", "/dev/null", "missing/out", ".", "o" * 250, "o" * 300, "a\nb", "-"]
SHELLS = {
    "full output": '"$@" > /dev/full',
    "closed output": '"$@" >&-',
    "closed errors": '"$@" 2>&-',
    "gone reader": '"$@" | true',
    "little memory": 'ulimit -v 600000; "$@"',
    "few files": 'ulimit -n 12; "$@"',
    "small files": 'ulimit -f 1; "$@"',
    "no threads": 'ulimit -v 900000; "$@" --jobs 64',
    "ascii": 'PYTHONIOENCODING=ascii LC_ALL=C "$@"',
}


class Fuzzer:
    """Makes and tries cases; each is a function of the seed and its number."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.seed, self.folder = seed, folder
        self.samples = folder / "samples"
        self.samples.mkdir()
        self.paths = write_all(self.samples)

    def case(self, number: int, *, process: bool) -> Case:
        rng = random.Random(f"{self.seed}-{number}")
        place = self.folder / f"case{number}"
        place.mkdir()
        kind = rng.choice(["bytes", "bytes", "bytes", "special", "option", "output"])
        if process:
            kind = rng.choice(["bytes", "special", "special", "output", "signal", *SHELLS])
        args, slots, out = self._filled(rng, place, kind)
        case = Case(number, kind, args, place, out)
        if kind == "option":
            self._odd_option(case, rng)
        elif kind == "special" and slots:
            name = rng.choice(slots)
            odd = special_file(place, name, rng)
            case.args = [str(odd) if a == name else a for a in case.args]
        elif slots and kind in ("bytes", *SHELLS):
            for name in rng.sample(slots, rng.choice([1, 1, min(2, len(slots))])):
                self._mutate(place / name, rng)
        if kind in SHELLS:
            case.shell = SHELLS[kind]
            takes_jobs = args[0] in ("eval", "compare", "label", "pool")
            if kind == "no threads" and not takes_jobs:
                case.shell = SHELLS["little memory"]
        if kind == "signal":
            case.stopped_after = rng.random() * 0.8
            case.stop_signal = rng.choice([signal.SIGINT, signal.SIGTERM])
        case.before = {p.name for p in place.iterdir()}
        return case

    def _filled(
        self, rng: random.Random, place: Path, kind: str
    ) -> tuple[list[str], list[str], Path | None]:
        """A template with its files, copied to the place of the case."""
        args, slots, out = [], [], None
        for word in shlex.split(rng.choice(TEMPLATES)):
            if not (word.startswith("{") and word.endswith("}")):
                args.append(word)
                continue
            if word in ("{out}", "{svg}", "{folder}"):
                name = {"{svg}": "out.svg", "{folder}": "runs"}.get(word) or rng.choice(OUTPUTS)
                if kind == "output":
                    name = rng.choice(ODD_OUTPUTS)
                out = place / name
                args.append(name)
                continue
            source = rng.choice(self.paths[word[1:-1]])
            # Two runs of one file would only ever be refused for their name.
            while source.name in slots and len(self.paths[word[1:-1]]) > 1:
                source = rng.choice(self.paths[word[1:-1]])
            shutil.copy(source, place / source.name)
            args.append(source.name)
            slots.append(source.name)
        return args, slots, out

    def _mutate(self, path: Path, rng: random.Random) -> None:
        data = path.read_bytes()
        for _ in range(rng.choice([1, 1, 1, 2, 4])):
            data = rng.choice(MUTATIONS)(data, rng)[: 4 << 20]
        path.write_bytes(data)

    def _odd_option(self, case: Case, rng: random.Random) -> None:
        values = [i for i, a in enumerate(case.args) if i and case.args[i - 1].startswith("-")]
        if values:
            case.args[rng.choice(values)] = rng.choice(
                [*NUMBERS, "P@" + "9" * 400, "AP(rel=1e400)"]
            )

    def tried(self, number: int, *, process: bool) -> tuple[Case, Outcome, list[str]]:
        case = self.case(number, process=process)
        outcome = run_process(case) if process else run_inside(case)
        found = faults(case, outcome)
        shutil.rmtree(case.folder, ignore_errors=True)
        return case, outcome, found


def run(cases: int, processes: int, seed: int, only: int | None = None) -> int:
    """Try so many cases, so many of them as processes, and print what came of them."""
    started = time.monotonic()
    tried: Counter[str] = Counter()
    bad: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="cranfield-fuzz-") as folder:
        fuzzer = Fuzzer(seed, Path(folder))
        for number in range(cases) if only is None else [only]:
            case, outcome, found = fuzzer.tried(number, process=number < processes)
            name = f"{'process' if number < processes else 'inside'}: {case.kind}"
            tried[name] += 1
            if found or only is not None:
                bad[name] += bool(found)
                command = shlex.join(["cranfield", *case.args])
                print(f"case {number}: {', '.join(found) or 'fine'}\n  {command}\n  {case.shell}")
                print("  " + outcome.err.strip()[-600:].replace("\n", "\n  "))
    for name, count in sorted(tried.items()):
        print(f"{name:<28} {count:>6} cases {bad[name]:>4} bad")
    seconds = time.monotonic() - started
    total, wrong = sum(tried.values()), sum(bad.values())
    print(f"{total} cases, {wrong} bad outcomes, {seconds:.0f} s, seed {seed}")
    return 1 if wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--processes", type=int, default=2_000, help="so many of them")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="this case alone, and what it says")
    args = parser.parse_args()
    return run(args.cases, args.processes, args.seed, args.only)


if __name__ == "__main__":
    sys.exit(main())
