"""Seeded cases for every command: each is a function of the seed and its number."""

from __future__ import annotations

import random
import re
import shlex
import shutil
import signal
import stat
from pathlib import Path

from benchmarks.fuzz.commands import templates
from benchmarks.fuzz.folders import asked, write_folders
from benchmarks.fuzz.mutations import NUMBERS, mutated, special_file
from benchmarks.fuzz.outcomes import (
    Case,
    HungError,
    Outcome,
    faults,
    run_inside,
    run_process,
    time_limit,
)
from benchmarks.fuzz.samples import all_kinds

ENDINGS = ["json", "csv", "run", "tsv", "parquet", "npz", "txt", "run.gz"]
ODD_OUTPUTS = ["/dev/full", "/dev/null", "missing/out", ".", "o" * 250, "o" * 300, "a\nb", "-"]
SHELLS = {
    "full output": '"$@" > /dev/full',
    "closed output": '"$@" >&-',
    "closed errors": '"$@" 2>&-',
    "gone reader": 'set -o pipefail; "$@" | true',
    "little memory": 'ulimit -v 600000; "$@"',
    "few files": 'ulimit -n 12; "$@"',
    "small files": 'ulimit -f 1; "$@"',
    "no threads": 'ulimit -v 900000; "$@" --jobs 64',
    "ascii": 'PYTHONIOENCODING=ascii LC_ALL=C "$@"',
}
ODD_OPTIONS = [
    *NUMBERS,
    "P@" + "9" * 400,
    "AP(rel=1e400)",
    "nDCG@1e400",
    "RBP(p=nan)",
    "a" * 70_000,
]
PLACE = re.compile(r"\{([^}]+)\}")


class Fuzzer:
    """Makes and tries cases."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.seed, self.folder = seed, folder
        samples = folder / "samples"
        samples.mkdir()
        files = all_kinds()
        (samples / "o.csv").write_bytes(files["ontology"]["o.csv"])
        files |= asked(samples / "o.csv")
        self.paths: dict[str, list[Path]] = {}
        for kind, named in files.items():
            for name, data in named.items():
                (samples / name).write_bytes(data)
                self.paths.setdefault(kind, []).append(samples / name)
        self.paths |= write_folders(samples, files)
        # Where commands without an option for it look for WordNet, and for the token of a team.
        self.environment = {"WNSEARCHDIR": str(samples / "wordnet"), "CRANFIELD_TOKEN": "x"}

    def whole(self, number: int, *, full: bool) -> Case:
        """A template with sound files: with all that may be left out, or nothing of it."""
        template = templates()[number]
        brackets = re.sub(r"\[([^]]*)\]", r"\1" if full else "", template)
        return self._filled(random.Random(number), number, "whole", brackets)

    def case(self, number: int, *, process: bool) -> Case:
        """The case of a number; one after the other tries all templates."""
        rng = random.Random(f"{self.seed}-{number}")
        kind = rng.choice(["bytes", "bytes", "bytes", "special", "option", "output"])
        if process:
            kind = rng.choice(["bytes", "special", "special", "output", "signal", *SHELLS])
        template = templates()[number % len(templates())]
        asked_for = re.sub(r"\[([^]]*)\]", lambda m: m[1] if rng.random() < 0.5 else "", template)
        case = self._filled(rng, number, kind, asked_for)
        if kind == "option":
            _odd_option(case, rng)
        elif kind == "special" and case.inputs:
            name = rng.choice(case.inputs)
            odd = special_file(case.folder, name, rng, process=process)
            named = re.compile(rf"(^|[=/]){re.escape(name)}$")
            case.args = [named.sub(lambda m: m[1] + str(odd), word) for word in case.args]
            if odd.name.startswith("pipe-"):
                case.pipes.append((odd, case.folder / name))
        elif case.inputs and kind in ("bytes", *SHELLS):
            for name in rng.sample(case.inputs, rng.choice([1, 1, min(2, len(case.inputs))])):
                _damage(case.folder / name, rng)
        if kind in SHELLS:
            many = "no threads" if case.args[0] in ("eval", "compare", "label", "publish") else ""
            case.shell = SHELLS[kind if kind != "no threads" else many or "little memory"]
        if kind == "signal":
            case.stopped_after = rng.random() * rng.choice([0.02, 0.2, 1.0])
            case.stop_signal = rng.choice([signal.SIGINT, signal.SIGTERM])
        if case.out is not None and rng.random() < 0.3 and kind != "output":
            case.old = b"what was there before\n" if not case.makes_folder else None
            if case.old:
                case.out.write_bytes(case.old)
        case.before = {p.name for p in case.folder.iterdir()}
        return case

    def tried(self, number: int, *, process: bool) -> tuple[Case, Outcome, list[str]]:
        """What a case came to, and what is wrong with that."""
        found = self.judged(self.case(number, process=process), process=process)
        if found[1].hung:
            # On a busy machine anything may take its time once.
            found = self.judged(self.case(number, process=process), process=process)
        return found

    def judged(self, case: Case, *, process: bool) -> tuple[Case, Outcome, list[str]]:
        outcome = run_process(case) if process else run_inside(case)
        try:
            with time_limit():
                found = faults(case, outcome)
        except HungError:
            found = ["what was written cannot be read in time"]
        shutil.rmtree(case.folder, ignore_errors=True)
        return case, outcome, found

    def _place(self, number: int) -> Path:
        place = self.folder / f"case{number}"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        return place

    def _filled(self, rng: random.Random, number: int, kind: str, template: str) -> Case:
        """A template with its files, copied to the place of the case."""
        place = self._place(number)
        case = Case(number, kind, template.split()[0], place, self.environment)

        def fill(found: re.Match[str]) -> str:
            name = found[1]
            if name == "folder" or name.split(".")[0] == "out":
                return _output(case, name, rng)
            # Two runs of one file would only ever be refused for their name.
            taken = {other[0] for other in case.inputs}
            new = [path for path in self.paths[name] if path.name[0] not in taken]
            source = rng.choice(new or self.paths[name])
            copy = shutil.copytree if source.is_dir() else shutil.copy
            if not (place / source.name).exists():
                copy(source, place / source.name)
            if name == "picturelist":
                shutil.copytree(source.parent / "pictures", place / "pictures")
            case.inputs.append(source.name)
            return source.name

        case.args = [PLACE.sub(fill, word) for word in shlex.split(template)]
        return case


def _output(case: Case, name: str, rng: random.Random) -> str:
    """The name of a file or folder to be written."""
    ending = name.partition(".")[2] or rng.choice(ENDINGS)
    made = "made" if name == "folder" else f"out{'' if case.out is None else '2'}.{ending}"
    if case.kind == "output":
        made = rng.choice(ODD_OUTPUTS)
    if case.out is None:
        case.out, case.makes_folder = case.folder / made, name == "folder"
    return made


def _damage(path: Path, rng: random.Random) -> None:
    if path.is_dir():
        files = sorted(p for p in path.rglob("*") if p.is_file())
        # What says where everything is, as often as all the others.
        named = [p for p in files if p.suffix in (".toml", ".sqlite")]
        path = rng.choice(named if named and rng.random() < 0.4 else files)
        if rng.random() < 0.1:
            path.unlink()
            return
    data = path.read_bytes()
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        data = mutated(data, rng)[: 4 << 20]
    mode = path.stat().st_mode
    path.chmod(mode | stat.S_IWUSR)  # a site keeps its runs read-only, which binds all but root
    path.write_bytes(data)
    path.chmod(mode)


def _odd_option(case: Case, rng: random.Random) -> None:
    values = [i for i, a in enumerate(case.args) if i and case.args[i - 1].startswith("-")]
    if values:
        case.args[rng.choice(values)] = rng.choice(ODD_OPTIONS)
