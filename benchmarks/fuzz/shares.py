"""Shares of the cases, each for a worker, and what came of them."""

from __future__ import annotations

import resource
import shlex
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.fuzz.cases import Fuzzer
from benchmarks.fuzz.commands import templates
from benchmarks.fuzz.outcomes import Case, Outcome

# Workers that start processes, beside the one in which all other cases are tried.
STARTERS = 2


@dataclass
class Tally:
    """Cases, bad ones, the slowest and the largest, by class; and the time of processors."""

    tried: Counter[str] = field(default_factory=Counter)
    bad: Counter[str] = field(default_factory=Counter)
    slowest: Counter[str] = field(default_factory=Counter)
    largest: Counter[str] = field(default_factory=Counter)
    worked: float = 0.0

    def add(self, where: str, case: Case, outcome: Outcome, found: list[str]) -> None:
        name = f"{where}: {case.kind}"
        self.tried[name] += 1
        self.bad[name] += bool(found)
        self.slowest[name] = max(self.slowest[name], round(outcome.seconds, 1))
        self.largest[name] = max(self.largest[name], outcome.megabytes)

    def join(self, other: Tally) -> None:
        self.tried += other.tried
        self.bad += other.bad
        self.slowest |= other.slowest
        self.largest |= other.largest
        self.worked += other.worked

    def show(self, seed: int, seconds: float) -> int:
        print(f"{'class':<28}{'cases':>7}{'bad':>5}{'slowest s':>11}{'largest MB':>12}")
        for name, count in sorted(self.tried.items()):
            line = f"{name:<28}{count:>7}{self.bad[name]:>5}{self.slowest[name]:>11}"
            print(f"{line}{self.largest[name]:>12}")
        total, wrong = sum(self.tried.values()), sum(self.bad.values())
        told = f"{seconds:.0f} s, {self.worked:.0f} s of processors"
        print(f"{total} cases, {wrong} bad outcomes, {told}, seed {seed}")
        return 1 if wrong else 0


@dataclass(frozen=True)
class Share:
    """Cases that one worker tries, as processes or in its own; `whole` templates before them."""

    numbers: Sequence[int]
    seed: int
    process: bool
    whole: bool = False
    telling: bool = False

    def tried(self) -> Tally:
        tally, where = Tally(), "process" if self.process else "inside"
        with tempfile.TemporaryDirectory(prefix="cranfield-fuzz-") as folder:
            fuzzer = Fuzzer(self.seed, Path(folder))
            for number in range(len(templates()) if self.whole else 0):
                for full in (False, True):
                    found = fuzzer.judged(fuzzer.whole(number, full=full), process=False)
                    self._counted(tally, "inside", *found)
            for number in self.numbers:
                self._counted(tally, where, *fuzzer.tried(number, process=self.process))
        used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        tally.worked = sum(one.ru_utime + one.ru_stime for one in used)
        return tally

    def _counted(
        self, tally: Tally, where: str, case: Case, outcome: Outcome, found: list[str]
    ) -> None:
        tally.add(where, case, outcome, found)
        if found or self.telling:
            command = shlex.join(["cranfield", *case.args])[:1500]
            said = outcome.err.strip()[-600:].replace("\n", "\n  ")
            # In one piece: others tell at the same time.
            told = f"case {case.number}: {', '.join(found) or 'fine'}"
            text = f"{told}\n  {command}\n  {case.shell}\n  {said}\n"
            sys.stdout.write(text.encode(errors="backslashreplace").decode())
            sys.stdout.flush()


def shares(numbers: range, processes: int, seed: int) -> list[Share]:
    """All cases that are processes for some workers, and the others for one."""
    started = [number for number in numbers if number < processes]
    inside = [number for number in numbers if number >= processes]
    parts = [Share(started[k::STARTERS], seed, process=True) for k in range(STARTERS)]
    return [Share(inside, seed, process=False, whole=True), *parts]
