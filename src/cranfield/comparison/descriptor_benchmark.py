"""Descriptors against each other on a folder of pictures: described, searched, scored, compared.

The layout is that of Tables 5 and 8 of Chatzichristofis et al.: means of MAP, P@10, P@20, ANMRR
and AMNRO for each descriptor, and for each two that stand next to each other how far they are
apart and whether that could be chance.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias

import numpy as np

from cranfield.answers import Answer
from cranfield.comparison.answer import Comparison, Pair
from cranfield.comparison.compare import compare
from cranfield.data import Run
from cranfield.errors import InputError, UsageError, plural
from cranfield.evaluation.ranked import evaluate
from cranfield.evaluation.scores import Scores
from cranfield.features.extract import Preset, describe_pictures
from cranfield.features.image_folders import list_pictures
from cranfield.features.search import search
from cranfield.io.coerce import JudgementsForm, coerce_judgements
from cranfield.io.convert import encode_table
from cranfield.io.files import write_atomic
from cranfield.measures import Measure
from cranfield.notes import Progress, Watcher, with_progress
from cranfield.stats.intervals import bootstrap_means
from cranfield.validation import validate_params

Table: TypeAlias = Literal["mnro-table-5"]
Layout: TypeAlias = Literal["auto", "classes", "wang", "nister"]
TABLES: tuple[Table, ...] = ("mnro-table-5",)
LAYOUTS: tuple[Layout, ...] = ("auto", "classes", "wang", "nister")
# The columns of the paper's table, and its descriptors that need nothing but pictures.
MEASURES = "AP P@10 P@20 NMRR MNRO"
DESCRIPTORS = (
    "CEDD C.CEDD FCTH C.FCTH JCD BTDH SpCD EHD SCD CLD RGBHistogram TamuraDirectionality "
    "Correlogram"
)
# Pictures of one class that stand behind one another, by the numbers in their names.
_WANG_CLASS, _NISTER_GROUP = 100, 4
_RESAMPLES = 2000


@dataclass(frozen=True, slots=True)
class PlaceRow:
    """A descriptor's place by MAP, and the share of resamples of the topics that give it the same
    place."""

    descriptor: str
    place: int
    confidence: float


@dataclass(frozen=True, repr=False, eq=False)
class DescriptorBenchmark(Answer):
    """Scores of descriptors, the best first by MAP, with places and a comparison of all pairs."""

    command: ClassVar[str] = "runs benchmark"
    table_maker: ClassVar[str] = "cranfield.report.tables.features:benchmark_document"
    layout: str
    pictures: int
    scores: Scores
    comparison: Comparison
    places: tuple[PlaceRow, ...]

    def neighbours(self) -> list[list[Pair]]:
        """For every two descriptors next to each other, the pair under each measure."""
        order = [row.descriptor for row in self.places]
        rows: dict[frozenset[str], list[Pair]] = {frozenset(p): [] for p in pairwise(order)}
        for pair in self.comparison.pairs:
            if (both := frozenset((pair.a, pair.b))) in rows:
                rows[both].append(pair)
        return list(rows.values())

    def payload(self, **_: object) -> dict[str, Any]:
        """Means and places by descriptor, and the pairs of neighbours."""
        means = self.scores.mean()
        return {
            "layout": self.layout,
            "pictures": self.pictures,
            "descriptors": [
                {**asdict(row), "mean": dict(means[row.descriptor])} for row in self.places
            ],
            "neighbours": [
                {
                    "a": pair.a,
                    "b": pair.b,
                    "measure": pair.measure,
                    "deviation_percent": pair.deviation_percent,
                    "p": pair.p,
                    "stars": pair.stars,
                }
                for pairs in self.neighbours()
                for pair in pairs
            ],
        }

    def headline(self) -> str:
        return (
            f"{plural(len(self.places), 'descriptor')} on {plural(self.pictures, 'picture')}, "
            f"{self.layout}"
        )


@validate_params
@with_progress
def benchmark_descriptors(
    folder: str | Path,
    judgements: JudgementsForm | None = None,
    *,
    table: Table = "mnro-table-5",
    layout: Layout = "auto",
    descriptors: str = DESCRIPTORS,
    preset: Preset | None = None,
    output: str | Path | None = None,
    rng: int = 0,
    jobs: int | None = None,
    progress: Watcher | None = None,
) -> DescriptorBenchmark:
    """Describe the pictures of a folder, search with each of them, score and compare descriptors.

    Without `judgements` relevant is what is of the query's class: the folder a picture lies in
    ("classes"), a hundred numbers (Wang's collection, 0.jpg to 999.jpg), or four (Nistér's,
    ukbench00000.jpg and so on); "auto" looks which. With judgements, such as those of UCID, their
    topics are the queries. `output` keeps vectors, runs and judgements. `table` names the layout
    of the answer, of which there is one.
    """
    if table not in TABLES:
        raise UsageError(f"table={table!r} is not one of {', '.join(TABLES)}")
    items = [picture.item for picture in list_pictures(folder).pictures]
    name, truth = (
        ("judgements", coerce_judgements(judgements))
        if judgements is not None
        else _judgements_of_layout(items, layout, str(folder))
    )
    tracker = Progress.of(progress)
    with tempfile.TemporaryDirectory() as scratch:
        target = Path(scratch if output is None else output)
        described = describe_pictures(
            folder,
            descriptors,
            target / "vectors",
            preset=preset,
            jobs=jobs,
            progress=tracker.part(0.0, 0.5),
        )
        topics = set(coerce_judgements(truth).topics)
        runs: dict[str, Run] = {}
        for number, descriptor in enumerate(described.written, 1):
            answer = search(target / "vectors" / f"{descriptor}.npz", k=len(items), jobs=jobs)
            runs[descriptor] = Run.from_dict(
                {topic: found for topic, found in answer.run().to_dict().items() if topic in topics}
            ).named(descriptor)
            tracker(0.5 + 0.3 * number / len(described.written))
        if output is not None:
            _write_files(target, truth, runs)
    scores = evaluate(truth, runs, MEASURES, collection_size=len(items), jobs=jobs)
    places = _places(scores, rng)
    comparison = compare(scores, rng=rng, jobs=jobs or 1, resamples=_RESAMPLES)
    return DescriptorBenchmark(
        name,
        len(items),
        scores,
        comparison,
        places,
        notes=tuple(
            dict.fromkeys(
                note
                for note in (*described.notes, *scores.notes, *comparison.notes)
                # advice to name another `missing=`, which is no choice here
                if "missing=" not in note
            )
        ),
    )


def _judgements_of_layout(
    items: Sequence[str], layout: Layout, folder: str
) -> tuple[str, Mapping[str, Mapping[str, int]]]:
    """The layout of a folder, and for each picture the others of its class."""
    readings: dict[str, Callable[[str], str | None]] = {
        "classes": _class_of,
        "nister": _nister_group,
        "wang": _wang_class,
    }
    if layout not in LAYOUTS:
        raise UsageError(f"layout={layout!r} is not one of {', '.join(LAYOUTS)}")
    candidates = list(readings) if layout == "auto" else [layout]
    for name in candidates:
        groups = [readings[name](item) for item in items]
        if items and all(group is not None for group in groups):
            break
    else:
        raise InputError.single(
            folder,
            "is no folder of classes, no Wang's collection (0.jpg, 1.jpg, ...) and no Nistér's "
            "(ukbench00000.jpg, ...): name the judgements",
        )
    members: dict[str | None, list[str]] = {}
    for item, group in zip(items, groups, strict=True):
        members.setdefault(group, []).append(item)
    truth = {
        item: {other: 1 for other in members[group] if other != item}
        for item, group in zip(items, groups, strict=True)
        if len(members[group]) > 1
    }
    if not truth:
        raise InputError.single(folder, "has no two pictures of one class")
    return name, truth


def _class_of(item: str) -> str | None:
    head, slash, _ = item.rpartition("/")
    return head if slash else None


def _wang_class(item: str) -> str | None:
    return str(int(item) // _WANG_CLASS) if item.isdecimal() else None


def _nister_group(item: str) -> str | None:
    match = re.fullmatch(r"(?:.*/)?ukbench(\d+)", item)
    return str(int(match[1]) // _NISTER_GROUP) if match else None


def _write_files(target: Path, truth: Any, runs: Mapping[str, Run]) -> None:
    """Judgements and runs beside the vectors."""
    (target / "runs").mkdir(parents=True, exist_ok=True)
    path = target / "qrels.txt"
    write_atomic(path, encode_table(coerce_judgements(truth), path))
    for name, run in runs.items():
        path = target / "runs" / f"{name}.run"
        write_atomic(path, encode_table(run, path))


def _places(scores: Scores, rng: int) -> tuple[PlaceRow, ...]:
    """Descriptors by MAP, with the share of resamples in which each has the same place."""
    first: Measure = scores.measures[0]
    order = np.argsort(-np.asarray(scores.overall[first]), kind="stable")
    rows = np.asarray(scores.values[first], dtype=np.float64)[order]
    means = bootstrap_means(rows, resamples=_RESAMPLES, rng=rng)
    places = np.argsort(np.argsort(-means, axis=0, kind="stable"), axis=0)
    same = (places == np.arange(len(order))[:, None]).mean(axis=1)
    return tuple(
        PlaceRow(scores.runs[run], place, float(share))
        for place, (run, share) in enumerate(zip(order.tolist(), same.tolist(), strict=True), 1)
    )
