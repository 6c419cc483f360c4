"""The fuzzer itself: seeded cases for every command, in one process and as processes.

It prints the classes of cases, how many there were and how many ended badly, and exits 1 when
one did. First of all every template is tried with sound files: what it is then refused for would
hide all that comes behind it. A case is made again from its seed and number: `--only 1234`.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor

from benchmarks.fuzz.commands import ELSEWHERE, parsers, templates, without_template
from benchmarks.fuzz.public_functions import functions, walk
from benchmarks.fuzz.shares import Share, Tally, shares


def run(parts: Sequence[Share], seed: int) -> int:
    """Try these cases and print what came of them."""
    begun, tally = time.monotonic(), Tally()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(len(parts), mp_context=context) as workers:
        for found in workers.map(Share.tried, parts):
            tally.join(found)
    wrong = _doors() if len(parts) > 1 else 0
    commands = [name for name, _ in parsers()]
    print(f"{len(templates())} templates of {len(commands)} commands and steps; elsewhere:")
    for name, where in ELSEWHERE.items():
        print(f"  {name}: {where}")
    for missing in without_template():
        print(f"  no template: {missing}")
    return max(tally.show(seed, time.monotonic() - begun), wrong)


def _doors() -> int:
    """Try public functions with values that they cannot use."""
    calls, bad = 0, 0
    for call, wrong in walk():
        calls, bad = calls + 1, bad + bool(wrong)
        if wrong:
            print(f"{call}: {wrong}", flush=True)
    print(f"{calls} calls of {len(functions())} public functions, {bad} bad outcomes")
    return 1 if bad else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--processes", type=int, default=2_000, help="so many of them")
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", type=int, help="this case alone, and what it says")
    args = parser.parse_args()
    if args.only is not None:
        process = args.only < args.processes
        return run([Share([args.only], args.seed, process=process, telling=True)], args.seed)
    numbers = range(args.first, args.first + args.cases)
    return run(shares(numbers, args.processes, args.seed), args.seed)


if __name__ == "__main__":
    sys.exit(main())
