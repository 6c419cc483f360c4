"""What is rehearsed with: a made-up collection, teams, and runs good and bad.

The collection has marks that must not leak; a rehearsal may be of the whole campaign or a share.
"""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield import ontologies
from cranfield.errors import UsageError
from cranfield.io.files import write_atomic

# Runs that a team may have in a task, as campaigns have it unless told otherwise.
QUOTA = 5


@dataclass(frozen=True)
class Scale:
    """Counts of everything; `share` is 1 for the whole campaign."""

    share: float = 1.0

    def __post_init__(self) -> None:
        if not 0 < self.share <= 1:
            raise UsageError(f"scale={self.share:g} is not above 0 and at most 1")

    def _at_least(self, minimum: int, full: int) -> int:
        return max(minimum, round(full * self.share))

    @property
    def teams(self) -> int:
        return self._at_least(4, 20)

    @property
    def onlookers(self) -> int:
        """Teams that register and submit nothing."""
        return self._at_least(2, 14)

    @property
    def runs(self) -> int:
        return self._at_least(9, 73)

    @property
    def items(self) -> int:
        return self._at_least(100, 1000)

    @property
    def topics(self) -> int:
        return self._at_least(10, 50)

    @property
    def depth(self) -> int:
        """Items that a run lists for a topic."""
        return self._at_least(100, 1000)

    @property
    def annotated(self) -> int:
        """Items that experts and crowd annotate."""
        return self._at_least(30, 99)

    @property
    def experts(self) -> int:
        return self._at_least(3, 11)

    @property
    def workers(self) -> int:
        return self._at_least(20, 60)

    @property
    def spammers(self) -> int:
        return self.workers // 5

    @property
    def pool_depth(self) -> int:
        return self._at_least(5, 50)

    @property
    def judges(self) -> int:
        return self._at_least(2, 6)

    @property
    def survey_people(self) -> int:
        """All of them at any scale: the tables that must come out are of thirty people."""
        return 30

    @property
    def preference_people(self) -> int:
        return 20


Floats: TypeAlias = NDArray[np.float64]
Bools: TypeAlias = NDArray[np.bool_]
NAME = "harbour"
# How much a ranking errs on its own, beside what misleads all of them.
_OWN_ERRORS = 0.33
# The split that the crowd annotates.
CROWD = "crowd"
LICENCE = "The data of this rehearsal may be used for the rehearsal only."
SETTINGS = f"""\
name = "{NAME}"
title = "Harbour pictures, a rehearsal"
version = "1"
licence = "{LICENCE}"
series = "Rehearsals"
year = "2026"
layout = 2
seed = 7
size = %(size)d
items = "items.csv"
topics = "topics.csv"
retrieved = "all"
judgements = "%(judgements)s"
runs = ["runs/drift.run"]
measures = ["AP", "nDCG@10", "P@10"]
primary = "AP"
baseline = "drift"
truth = "%(truth)s"
annotated = "all"
label_runs = ["labels/chance.csv"]
label_measures = ["AP.concept", "F.example", "OS"]
label_primary = "AP.concept"
label_baseline = "chance"
ontology = "pto-2009"
run_facts = "run-facts.csv"

[splits]
all = "splits/all.txt"
crowd = "splits/crowd.txt"
"""
# Baselines are the organiser's own; they belong to no team and have no rank.
FACTS = """\
run,team,tag,configuration,description,baseline
drift,,drift,V,items in an order of chance,true
chance,,chance,V,confidences of chance,true
"""


@dataclass(frozen=True)
class World:
    """The collection as it was made; only the rehearsal itself knows the truth of it."""

    scale: Scale
    seed: int
    items: tuple[str, ...]
    topics: tuple[str, ...]
    concepts: tuple[str, ...]
    truth: Bools
    grades: NDArray[np.int64]
    canaries: tuple[str, ...]

    @classmethod
    def generated(cls, scale: Scale, seed: int) -> World:
        draw = np.random.default_rng([seed, 1])
        concepts = tuple(ontologies.pto(2009).concepts)
        items = tuple(f"img{n:05d}" for n in range(scale.items))
        labels = _consistent(draw, scale.items, concepts)
        grades = _grades(draw, scale)
        marks = tuple(f"{draw.integers(1 << 62):016x}" for _ in range(3))
        topics = tuple(str(101 + n) for n in range(scale.topics))
        return cls(scale, seed, items, topics, concepts, labels, grades, marks)

    def draw(self, *key: int) -> np.random.Generator:
        """A random generator of its own for a key, the same in every rehearsal of a seed."""
        return np.random.default_rng([self.seed, *key])

    def write(self, folder: Path) -> Path:
        """The collection in a folder, truth and baselines with it."""
        names: dict[str, Any] = {
            "judgements": f"qrels-{self.canaries[0]}.txt",
            "truth": f"truth-{self.canaries[0]}.csv",
            # One item is known to the judgements alone.
            "size": len(self.items) + 1,
        }
        files = {
            "collection.toml": SETTINGS % names,
            "run-facts.csv": FACTS,
            "items.csv": _csv(
                ["item", "text"], ([i, f"a view of the harbour, number {i}"] for i in self.items)
            ),
            "topics.csv": _csv(
                ["topic", "text"], ([t, f"ships like those of topic {t}"] for t in self.topics)
            ),
            "splits/all.txt": "\n".join(self.items) + "\n",
            "splits/crowd.txt": "\n".join(self.items[: self.scale.annotated]) + "\n",
            names["judgements"]: self.qrels_text(self.grades),
            names["truth"]: self.truth_text(self.truth),
            "runs/drift.run": self.run_text(self.rankings(0.0, 990), "drift"),
            "labels/chance.csv": self.labels_text(self.confidences(0.0, 991)),
        }
        for name, text in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomic(path, text.encode())
        return folder

    def qrels_text(self, grades: NDArray[np.int64]) -> str:
        """Judgements whose second column and one judged item are marks."""
        mark, hidden = self.canaries[1:]
        lines = [
            f"{topic} {mark} {self.items[i]} {grades[t, i]}"
            for t, topic in enumerate(self.topics)
            for i in np.flatnonzero(grades[t] >= 0)
        ]
        lines += [f"{topic} {mark} {hidden} 0" for topic in self.topics]
        return "\n".join(lines) + "\n"

    def truth_text(self, truth: Bools) -> str:
        rows = (
            [item, *row] for item, row in zip(self.items, truth.astype(int).tolist(), strict=True)
        )
        return _csv(["item", *self.concepts], rows)

    def confidences(self, quality: float, key: int) -> Floats:
        """What a system of some quality says; 0 knows nothing."""
        draw = self.draw(2, key)
        noise = draw.normal(size=self.truth.shape)
        # Systems are good at some concepts and bad at others.
        skill = quality * draw.uniform(0.3, 1.7, self.truth.shape[1])
        return np.round(1 / (1 + np.exp(-(skill * (2 * self.truth - 1) + noise))), 4)

    def rankings(self, quality: float, key: int) -> Floats:
        """A score for every topic and item; all systems err alike for the greater part."""
        draw = self.draw(3, key)
        skill = quality * draw.uniform(0.3, 1.7, (len(self.topics), 1))
        noise = self.draw(3).normal(size=self.grades.shape)
        noise += _OWN_ERRORS * draw.normal(size=self.grades.shape)
        scores = skill * np.maximum(self.grades, 0) + noise
        return np.round(scores, 6)

    def run_text(self, scores: Floats, tag: str) -> str:
        out = []
        for t, topic in enumerate(self.topics):
            best = np.argsort(-scores[t], kind="stable")[: self.scale.depth]
            out += [
                f"{topic} Q0 {self.items[i]} {rank} {scores[t, i]:.6f} {tag}"
                for rank, i in enumerate(best, 1)
            ]
        return "\n".join(out) + "\n"

    def labels_text(self, confidences: Floats) -> str:
        rows = zip(self.items, confidences.tolist(), strict=True)
        return _csv(["item", *self.concepts], ([item, *row] for item, row in rows))

    def imageclef_text(self, confidences: Floats, labels: Bools) -> str:
        """Confidence rows of all items, then as many rows of decisions, by the ontology's order."""
        first = [
            f"{item} {' '.join(f'{v:.4f}' for v in row)}"
            for item, row in zip(self.items, confidences, strict=True)
        ]
        second = [
            f"{item} {' '.join(str(int(v)) for v in row)}"
            for item, row in zip(self.items, labels, strict=True)
        ]
        return "\n".join([*first, *second]) + "\n"

    def corrected(self) -> tuple[Bools, NDArray[np.int64]]:
        """The truth after the erratum: a few items were judged wrongly."""
        draw = self.draw(4)
        truth, grades = self.truth.copy(), self.grades.copy()
        for row in draw.choice(len(self.items), 3, replace=False):
            truth[row] = truth[draw.integers(len(self.items))]
        for topic in range(0, len(self.topics), 5):
            judged = np.flatnonzero(grades[topic] >= 0)
            grades[topic, draw.choice(judged)] = 1
        return truth, grades


def _consistent(draw: np.random.Generator, items: int, concepts: tuple[str, ...]) -> Bools:
    """Labels that break no rule of the ontology, more or less frequent."""
    ontology = ontologies.pto(2009)
    place = {concept: j for j, concept in enumerate(concepts)}
    share = draw.beta(0.8, 4.0, len(concepts))
    labels = draw.random((items, len(concepts))) < share
    for group in ontology.rules.exactly_one:
        columns = [place[c] for c in group if c in place]
        choice = draw.integers(len(columns), size=items)
        labels[:, columns] = choice[:, None] == np.arange(len(columns))
    return labels


def _grades(draw: np.random.Generator, scale: Scale) -> NDArray[np.int64]:
    """Grades 0, 1 and 2 of pooled items, -1 for those that were not judged."""
    grades = np.full((scale.topics, scale.items), -1, dtype=np.int64)
    for topic in range(scale.topics):
        count = int(draw.integers(5, max(6, scale.items // 12)))
        judged = draw.choice(scale.items, min(scale.items, count * 3), replace=False)
        grades[topic, judged] = 0
        grades[topic, judged[:count]] = draw.integers(1, 3, count)
    return grades


def _csv(header: list[str], rows: Any) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    return out.getvalue()


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
