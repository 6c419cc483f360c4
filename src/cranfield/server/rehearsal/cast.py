"""The participants: teams with runs in every form, and uploads that must be refused."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from cranfield.server.rehearsal.world import QUOTA, World

CONFIGURATIONS = ("V", "T", "M")
# Invented: towns of no country.
_TOWNS = (
    "Arnhold", "Beltane", "Corvina", "Dunmere", "Estrava", "Fennick", "Galdora", "Hexley",
    "Ilmater", "Jorvane", "Kestral", "Lunden", "Merrow", "Norvik", "Ostrava Bay", "Pellam",
    "Quillon", "Rosmere", "Sandvik Isle", "Tarrow", "Ulvane", "Vesperia", "Wexcombe", "Xanthe",
    "Yarrowfield", "Zennor Cove", "Ambry", "Bristow Ness", "Calder Isle", "Drayle", "Elmsworth",
    "Farrow", "Gorsey", "Hallow Point",
)  # fmt: skip


@dataclass(frozen=True)
class TeamPart:
    """A team: what it is called on the site, and how its lead logs in."""

    number: int
    acronym: str
    name: str
    country: str

    @property
    def login(self) -> str:
        return f"lead-{self.acronym.lower()}"

    @property
    def password(self) -> str:
        return f"rehearsal of {self.acronym} 2026"


@dataclass(frozen=True)
class RunPart:
    """A run as it is sent."""

    task: str
    team: TeamPart
    tag: str
    configuration: str
    ending: str
    content: bytes
    threshold: str = ""

    @property
    def description(self) -> str:
        return f"features of configuration {self.configuration}, made for the rehearsal"


@dataclass(frozen=True)
class BadUpload:
    """An upload that must be refused, and where the first problem is; 0 is the whole file."""

    kind: str
    task: str
    ending: str
    content: bytes
    line: int
    threshold: str = ""


def teams(world: World) -> tuple[list[TeamPart], list[TeamPart]]:
    """Those that submit, and those that only register."""
    names = _TOWNS[: world.scale.teams + world.scale.onlookers]
    parts = [
        TeamPart(n, f"{name[:3].upper()}{n:02d}", f"University of {name}", f"{name} Islands")
        for n, name in enumerate(names)
    ]
    return parts[: world.scale.teams], parts[world.scale.teams :]


def runs(world: World, takers: list[TeamPart]) -> Iterator[RunPart]:
    """The first team fills its quota of annotations; the other runs go round."""
    labels = max(QUOTA + 1, round(world.scale.runs * 0.6))
    owners = [takers[0]] * QUOTA
    others = takers[1:]
    owners += [others[n % len(others)] for n in range(labels - QUOTA)]
    for number, team in enumerate(owners):
        yield _label_run(world, team, number)
    for number in range(world.scale.runs - labels):
        yield _ranked_run(world, takers[number % len(takers)], number)


def _quality(world: World, number: int) -> float:
    return float(world.draw(5, number).uniform(0.2, 1.6))


def _label_run(world: World, team: TeamPart, number: int) -> RunPart:
    """One threshold, one per concept, or decisions as rows of their own, in turn."""
    confidences = world.confidences(_quality(world, number), number)
    configuration = CONFIGURATIONS[number % 3]
    tag = f"run{number:02d}"
    form = (number // 3 + number) % 3
    if form == 0:
        content = world.labels_text(confidences).encode()
        return RunPart("labels", team, tag, configuration, ".csv", content, "0.5")
    if form == 1:
        limits = np.round(world.draw(6, number).uniform(0.3, 0.7, len(world.concepts)), 2)
        lines = [f"{c},{v}" for c, v in zip(world.concepts, limits.tolist(), strict=True)]
        content = gzip.compress(world.labels_text(confidences).encode(), mtime=0)
        threshold = "\n".join(lines)
        return RunPart("labels", team, tag, configuration, ".csv.gz", content, threshold)
    content = world.imageclef_text(confidences, confidences > 0.55).encode()
    return RunPart("labels", team, tag, configuration, ".txt", content, "rows")


def _ranked_run(world: World, team: TeamPart, number: int) -> RunPart:
    scores = world.rankings(_quality(world, 1000 + number), number)
    text = world.run_text(scores, f"rank{number:02d}").encode()
    packed = number % 2 == 1
    return RunPart(
        "ranked",
        team,
        f"rank{number:02d}",
        CONFIGURATIONS[number % 3],
        ".run.gz" if packed else ".run",
        gzip.compress(text, mtime=0) if packed else text,
    )


def sixth_run(world: World, team: TeamPart) -> RunPart:
    """One more than the team may have."""
    return _label_run(world, team, 900)


def late_run(world: World, team: TeamPart) -> RunPart:
    """One that comes after the deadline."""
    return _ranked_run(world, team, 901)


def bad_uploads(world: World) -> list[BadUpload]:
    """Twenty kinds, each twice: at different places of the file."""
    return [bad for turn in (0, 1) for bad in _bad(world, turn)]


def _bad(world: World, turn: int) -> Iterator[BadUpload]:
    ranked = world.run_text(world.rankings(0.5, 800 + turn), "bad").splitlines()
    labels = world.labels_text(world.confidences(0.5, 810 + turn)).splitlines()
    at = 40 + 7 * turn  # the line that is spoilt, counted from 1

    def spoilt(lines: list[str], new: str) -> bytes:
        return ("\n".join([*lines[: at - 1], new, *lines[at:]]) + "\n").encode()

    topic, _, item, rank, score, tag = ranked[at - 1].split()
    first = next(line.split()[2] for line in ranked if line.split()[0] == topic)
    ranked_content = ("\n".join(ranked) + "\n").encode()
    head, *cells = labels[at - 1].split(",")
    for kind, new in (
        ("an item twice", f"{topic} Q0 {first} {rank} {score} {tag}"),
        ("an unknown topic", f"999{turn} Q0 {item} {rank} {score} {tag}"),
        ("an unknown item", f"{topic} Q0 img9999{turn}x {rank} {score} {tag}"),
        ("no number as score", f"{topic} Q0 {item} {rank} high {tag}"),
        ("not a number as score", f"{topic} Q0 {item} {rank} nan {tag}"),
        ("a column too few", f"{topic} Q0 {item} {rank}"),
        ("a NUL byte", f"{topic} Q0 {item}\0 {rank} {score} {tag}"),
    ):
        yield BadUpload(kind, "ranked", ".run", spoilt(ranked, new), at)
    yield BadUpload("an empty file", "ranked", ".run", b"\n" * turn, 0)
    yield BadUpload("UTF-16", "ranked", ".run", ranked_content.decode().encode("utf-16"), 1)
    packed = gzip.compress(ranked_content, mtime=0)
    yield BadUpload("a packed file cut short", "ranked", ".run.gz", packed[: len(packed) // 2], 0)
    for kind, new in (
        ("percents", ",".join([head, *(f"{float(c) * 100:.2f}" for c in cells)])),
        ("an unknown image", ",".join([f"img9999{turn}x", *cells])),
        ("an image twice", ",".join([labels[at - 2].split(",")[0], *cells])),
        ("a value too few", ",".join([head, *cells[:-1]])),
        ("no number as confidence", ",".join([head, "much", *cells[1:]])),
        ("a negative confidence", ",".join([head, "-0.25", *cells[1:]])),
    ):
        yield BadUpload(kind, "labels", ".csv", spoilt(labels, new), at)
    yield BadUpload(
        "missing images", "labels", ".csv", ("\n".join(labels[: 60 + turn]) + "\n").encode(), 0
    )
    renamed = [labels[0].replace(world.concepts[3 + turn], f"Nothing{turn}"), *labels[1:]]
    yield BadUpload("an unknown concept", "labels", ".csv", ("\n".join(renamed) + "\n").encode(), 1)
    good = ("\n".join(labels) + "\n").encode()
    yield BadUpload(
        "a threshold of an unknown concept", "labels", ".csv", good, 0, f"Nothing{turn},0.5"
    )
    yield BadUpload("no rows of decisions", "labels", ".csv", good, 0, "rows")
