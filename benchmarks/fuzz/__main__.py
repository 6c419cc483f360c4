"""The fuzzer itself: seeded cases for every command, in this process and as processes.

It prints the classes of cases, how many there were and how many ended badly, and exits 1 when
one did. First of all every template is tried with sound files: what it is then refused for would
hide all that comes behind it. A case is made again from its seed and number: `--only 1234`.
"""

from __future__ import annotations

import argparse
import shlex
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from benchmarks.fuzz.cases import Fuzzer
from benchmarks.fuzz.commands import ELSEWHERE, parsers, templates, without_template
from benchmarks.fuzz.outcomes import Case, Outcome


class Tally:
    """Cases, bad ones, the slowest and the largest, by class."""

    def __init__(self) -> None:
        self.tried: Counter[str] = Counter()
        self.bad: Counter[str] = Counter()
        self.slowest: Counter[str] = Counter()
        self.largest: Counter[str] = Counter()
        self.worst: Counter[str] = Counter()
        self.started = time.monotonic()

    def add(self, where: str, case: Case, outcome: Outcome, found: list[str]) -> None:
        name = f"{where}: {case.kind}"
        self.tried[name] += 1
        self.bad[name] += bool(found)
        self.slowest[name] = max(self.slowest[name], round(outcome.seconds, 1))
        self.largest[name] = max(self.largest[name], outcome.megabytes)
        self.worst[shlex.join(case.args)[:70]] = round(outcome.seconds, 1)

    def show(self, seed: int) -> int:
        print(f"{'class':<28}{'cases':>7}{'bad':>5}{'slowest s':>11}{'largest MB':>12}")
        for name, count in sorted(self.tried.items()):
            line = f"{name:<28}{count:>7}{self.bad[name]:>5}{self.slowest[name]:>11}"
            print(f"{line}{self.largest[name]:>12}")
        seconds = time.monotonic() - self.started
        total, wrong = sum(self.tried.values()), sum(self.bad.values())
        print(f"{total} cases, {wrong} bad outcomes, {seconds:.0f} s, seed {seed}")
        return 1 if wrong else 0


def _told(case: Case, outcome: Outcome, found: list[str]) -> None:
    command = shlex.join(["cranfield", *case.args])
    print(f"case {case.number}: {', '.join(found) or 'fine'}\n  {command[:1500]}\n  {case.shell}")
    print("  " + outcome.err.strip()[-600:].replace("\n", "\n  "), flush=True)


def run(numbers: Iterable[int], processes: int, seed: int, *, telling: bool, whole: bool) -> int:
    """Try these cases, those below `processes` as processes, and print what came of them."""
    tally = Tally()
    with tempfile.TemporaryDirectory(prefix="cranfield-fuzz-") as folder:
        fuzzer = Fuzzer(seed, Path(folder))
        for number in range(len(templates()) if whole else 0):
            for full in (False, True):
                tried = fuzzer.judged(fuzzer.whole(number, full=full), process=False)
                tally.add("inside", *tried)
                if tried[2]:
                    _told(*tried)
        for number in numbers:
            tried = fuzzer.tried(number, process=number < processes)
            tally.add("process" if number < processes else "inside", *tried)
            if tried[2] or telling:
                _told(*tried)
    commands = [name for name, _ in parsers()]
    print(f"{len(templates())} templates of {len(commands)} commands and steps; elsewhere:")
    for name, where in ELSEWHERE.items():
        print(f"  {name}: {where}")
    for missing in without_template():
        print(f"  no template: {missing}")
    return tally.show(seed)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--processes", type=int, default=2_000, help="so many of them")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="this case alone, and what it says")
    args = parser.parse_args()
    numbers = range(args.first, args.first + args.cases)
    only = args.only is not None
    return run(
        [args.only] if only else numbers,
        args.processes,
        args.seed,
        telling=only,
        whole=not only,
    )


if __name__ == "__main__":
    sys.exit(main())
