"""Runs that no system made: of graded quality to try a study on, and random ones beside real ones.

Thesis 7.5.3 and 7.5.4 (Figures 7.6-7.8): does a measure tell random and over-eager systems from
real ones? Annotation: runs of uniform random confidences, runs that set a share of all labels by
chance, and real runs with chance labels added up to a label density. Rankings: the judged and
retrieved items of each topic in random order.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import numpy as np

from cranfield.answers import Answer
from cranfield.data import Judgements, Run
from cranfield.data.labels import LabelMatrix, dense
from cranfield.errors import UsageError, check_at_most, plural
from cranfield.io.coerce import coerce_judgements
from cranfield.io.delimited import trec_blocks
from cranfield.io.files import make_folder, write_atomic
from cranfield.io.labels import (
    check_all_listed,
    read_truth,
    write_labels,
)
from cranfield.lab.study_input import (
    LabelMaterial,
    RankedMaterial,
    RunScores,
    StudyInput,
    notes_of,
)
from cranfield.notes import Notes, Progress, Watcher, with_progress
from cranfield.options import DEFAULT_THRESHOLD, LABEL_DENSITIES
from cranfield.stats._resample import Floats
from cranfield.validation import Seed, validate_params
from cranfield.work.executors import Plain, Plan, run_pieces
from cranfield.work.seeds import generator
from cranfield.work.serialisation import floats

MOST_RANDOM = 10_000
_CONFIDENCES, _LABELS, _EXTRA, _ORDER, _SURE = 31, 32, 33, 34, 35


@dataclass(frozen=True, slots=True)
class TestedRun:
    """A run of the study: "real", "random" or "over" (a real run with chance labels added)."""

    name: str
    kind: str
    base: str
    density: float | None


@dataclass(frozen=True, slots=True)
class Verdict:
    """One measure: the best random run beside the real ones.

    `beaten` is the share of real runs that the best random run beats or equals; `separates`
    says that it stays below the median real run, None where there is no value to compare.
    `over_pays` is the share of pairs of a real run and a density in which adding labels by chance
    raised the score, with the least confidence that counts as predicted or with those that the
    run itself uses; pairs in which the run was as dense before are left out.
    """

    measure: str
    median_real: float
    best_random: float
    best_random_run: str
    beaten: float
    separates: bool | None
    over_pays: float


@dataclass(frozen=True, repr=False, eq=False)
class RandomStudy(Answer):
    """`scores` has a row per run and a column per measure."""

    command: ClassVar[str] = "lab random"
    table_maker: ClassVar[str] = "cranfield.report.tables.lab:random_document"

    measures: tuple[str, ...]
    runs: tuple[TestedRun, ...]
    scores: Floats
    verdicts: tuple[Verdict, ...]
    seed: int

    def verdict(self, measure: str) -> Verdict:
        for verdict in self.verdicts:
            if verdict.measure == measure:
                return verdict
        raise UsageError(f"no measure {measure!r} (there are: {', '.join(self.measures)})")

    def by_density(self) -> list[tuple[float, int, Floats]]:
        """Label densities of random runs, how many there are, and their scores, a row for each."""
        groups: dict[float, list[int]] = {}
        for i, run in enumerate(self.runs):
            if run.kind == "random" and run.density is not None and run.name != "Random0":
                density_text = run.name.partition(" ")[0].removeprefix("Random")
                groups.setdefault(float(density_text) / 100, []).append(i)
        return [(d, len(rows), self.scores[rows]) for d, rows in groups.items()]

    def headline(self) -> str:
        fooled = [v.measure for v in self.verdicts if v.separates is False]
        subject = f"{plural(len(self.runs), 'run')}, real and random"
        return f"{subject}; not told apart by {', '.join(fooled)}" if fooled else subject

    def payload(self, **_: object) -> dict[str, Any]:
        return {
            "study": "random",
            "seed": self.seed,
            "measures": [
                {
                    "measure": v.measure,
                    "median_real": v.median_real,
                    "best_random": v.best_random,
                    "best_random_run": v.best_random_run,
                    "beaten": v.beaten,
                    "separates": v.separates,
                    "over_pays": v.over_pays,
                }
                for v in self.verdicts
            ],
            "runs": [
                {
                    "name": r.name,
                    "kind": r.kind,
                    "base": r.base,
                    "density": r.density,
                    "scores": dict(zip(self.measures, map(float, s), strict=True)),
                }
                for r, s in zip(self.runs, self.scores, strict=True)
            ],
        }


# Pieces: each makes a run, scores it, and says what kind it is.


class _MadeUp(ABC):
    """A run that was not submitted but made up: there is nothing to note about it."""

    __slots__ = ()
    material: StudyInput

    @abstractmethod
    def run(self) -> Any: ...

    def scored(self, _: Notes) -> tuple[Any, RunScores | None]:
        """The run and its scores, which there are none of where no such run can be made."""
        random_run = self.run()
        return random_run, None if random_run is None else self.material.score(random_run)


@dataclass(frozen=True, slots=True)
class _Real:
    """A run as it is."""

    material: StudyInput
    name: str
    source: Any
    kind: ClassVar[str] = "real"
    base: ClassVar[str] = ""

    def scored(self, notes: Notes) -> tuple[Any, RunScores]:
        return self.material.examine(self.source, self.name, notes)


@dataclass(frozen=True, slots=True)
class _RandomRanking(_MadeUp):
    """All items judged for a topic or retrieved by a run, in random order, to the usual depth."""

    material: RankedMaterial
    name: str
    sources: tuple[Any, ...]
    number: int
    seed: int
    kind: ClassVar[str] = "random"
    base: ClassVar[str] = ""

    def run(self) -> Run:
        judged = self.material.read_judgements().to_dict()
        read = self.material.read_run
        lists = [read(source, f"run{i}").to_dict() for i, source in enumerate(self.sources)]
        rankings: dict[str, dict[str, float]] = {}
        for t, (topic, grades) in enumerate(judged.items()):
            items = sorted({*grades, *(i for ranked in lists for i in ranked.get(topic, ()))})
            longest = max((len(ranked.get(topic, ())) for ranked in lists), default=0)
            order = generator(self.seed, _ORDER, self.number, t).permutation(len(items))
            selection = order[: longest or len(items)]
            rankings[topic] = {items[k]: -float(place) for place, k in enumerate(selection)}
        return Run.from_dict(rankings).named(self.name)


@dataclass(frozen=True, slots=True)
class _RandomConfidences(_MadeUp):
    """A confidence by chance for every item and concept."""

    material: LabelMaterial
    name: str
    seed: int
    kind: ClassVar[str] = "random"
    base: ClassVar[str] = ""

    def run(self) -> LabelMatrix:
        truth = self.material.read_labels()
        values = generator(self.seed, _CONFIDENCES).random(truth.shape)
        return replace(truth, name=self.name, labels=None, confidences=values)


@dataclass(frozen=True, slots=True)
class _RandomLabels(_MadeUp):
    """A share of all labels set by chance."""

    material: LabelMaterial
    name: str
    density: float
    number: int
    seed: int
    kind: ClassVar[str] = "random"
    base: ClassVar[str] = ""

    def run(self) -> LabelMatrix:
        truth = self.material.read_labels()
        draw = generator(self.seed, _LABELS, self.number).random(truth.shape)
        return replace(truth, name=self.name, labels=draw < self.density, confidences=None)


@dataclass(frozen=True, slots=True)
class _OverAnnotated(_MadeUp):
    """A run's own labels and chance ones beside them, until the density is reached.

    The confidence of a label that was added is the least that counts as predicted; when `sure`
    it is drawn from those of the run's own labels, and a run without confidences makes none.
    """

    material: LabelMaterial
    name: str
    base: str
    source: Any
    density: float
    number: int
    seed: int
    sure: bool
    kind: ClassVar[str] = "over"

    def run(self) -> LabelMatrix | None:
        read = self.material.read_run(self.source, self.base)
        labelled = read.with_threshold(DEFAULT_THRESHOLD)
        labels = dense(labelled.labels)
        share = max(0.0, self.density - labels.mean()) / max(1.0 - labels.mean(), 1e-12)
        extra = generator(self.seed, _EXTRA, self.number).random(labels.shape) < share
        confidences = None
        if labelled.confidences is not None:
            original = dense(labelled.confidences)
            added = (
                self._drawn(labels, original)
                if self.sure
                else _least(labels, original, self.material)
            )
            confidences = np.where(extra & ~labels, np.maximum(original, added), original)
        elif self.sure:
            return None
        return replace(labelled, name=self.name, labels=labels | extra, confidences=confidences)

    def _drawn(self, labels: Any, confidences: Any) -> Any:
        """A confidence of the run's own labels for every cell, by chance."""
        label_confidences = confidences[labels]
        if not label_confidences.size:
            return DEFAULT_THRESHOLD
        return generator(self.seed, _SURE, self.number).choice(label_confidences, labels.shape)


def _least(labels: Any, confidences: Any, material: LabelMaterial) -> Any:
    """The least confidence that counts as predicted, for each concept.

    It is the threshold where that made the labels. A run that brought its own shows it by the
    least sure of them; for a concept that it never predicts, by the least sure of all.
    """
    limits = material.limits
    if np.array_equal(labels, confidences >= limits):
        return limits
    overall = confidences[labels].min() if labels.any() else DEFAULT_THRESHOLD
    return np.where(labels.any(axis=0), np.where(labels, confidences, np.inf).min(axis=0), overall)


_Piece: TypeAlias = _Real | _RandomRanking | _RandomConfidences | _RandomLabels | _OverAnnotated


@validate_params
@with_progress
def random_study(
    material: StudyInput,
    *,
    densities: tuple[float, ...] = LABEL_DENSITIES,
    count: int = 5,
    per_density: int = 1,
    over: bool = True,
    rng: Seed = 0,
    plan: Plan | None = None,
    progress: Watcher | None = None,
) -> RandomStudy:
    """Score random runs beside the real ones.

    Annotation: `densities` are the label densities of random and over-annotating runs, with
    `per_density` random ones of each; without `over` there are none of the latter. Rankings:
    `count` random ones.
    """
    check_at_most(MOST_RANDOM, count=count, per_density=per_density)
    for density in densities:
        if not 0 < density <= 1:
            raise UsageError(f"a label density lies above 0 and up to 1, not {density!r}")
    if len(set(densities)) < len(densities):
        raise UsageError("a label density is given twice")
    plan = plan or Plan()
    material = material.for_plan(plan)
    pieces: dict[str, _Piece] = {
        name: _Real(material.without_runs(), name, source) for name, source in material.runs
    }
    for task in _made_up(material, densities, count, per_density, over, rng):
        if task.name in pieces:
            raise UsageError(f"a run is named {task.name!r}, as a random one would be; rename it")
        pieces[task.name] = task
    study = {
        "study": "random",
        **material.described(),
        "densities": list(densities),
        "count": count,
        "over": over,
        "seed": rng,
    } | ({"per_density": per_density} if per_density > 1 else {})
    results = run_pieces(
        _run_piece, pieces, plan, study=study, loads=material.loads, progress=progress
    )
    answers = {name: answer for name, answer in results.items() if "skipped" not in answer}
    scores = floats([a["overall"] for a in answers.values()])
    runs = tuple(
        TestedRun(name, pieces[name].kind, pieces[name].base, answer["density"])
        for name, answer in answers.items()
    )
    names = tuple(map(str, material.measures))
    signs = material.signs
    verdicts = tuple(_verdict(m, runs, scores[:, j], signs[j]) for j, m in enumerate(names))
    submitted = {name: answers[name] for name in material.run_names}
    return RandomStudy(names, runs, scores, verdicts, rng, notes=notes_of(submitted))


def _made_up(
    material: StudyInput,
    densities: Sequence[float],
    count: int,
    per_density: int,
    over: bool,
    seed: int,
) -> Sequence[_Piece]:
    without_runs = material.without_runs()
    if isinstance(without_runs, RankedMaterial):
        sources = tuple(source for _, source in material.runs)
        return [
            _RandomRanking(without_runs, f"Random{k + 1}", sources, k, seed) for k in range(count)
        ]
    if not isinstance(without_runs, LabelMaterial):
        raise UsageError(f"no random runs are made up for a {type(without_runs).__name__}")
    pieces: list[_Piece] = [_RandomConfidences(without_runs, "Random0", seed)]
    for k, d in enumerate(densities):
        for n in range(per_density):
            # The first one is the same however many there are.
            name = f"Random{100 * d:g}" + (f" ({n + 1})" if n else "")
            pieces.append(_RandomLabels(without_runs, name, d, k + n * len(densities), seed))
        for i, (name, source) in enumerate(material.runs if over else ()):
            number = i * len(densities) + k
            for sure in (False, True):
                run_name = f"{name}+{100 * d:g}" + (" as sure" if sure else "")
                pieces.append(
                    _OverAnnotated(without_runs, run_name, name, source, d, number, seed, sure)
                )
    return pieces


def _run_piece(task: _Piece) -> Plain:
    notes = Notes()
    run, scored = task.scored(notes)
    if scored is None:
        return {"skipped": True}
    density = float(run.density) if isinstance(run, LabelMatrix) else None
    return scored.packed(notes) | {"density": density}


def _verdict(measure: str, runs: tuple[TestedRun, ...], scores: Floats, sign: float) -> Verdict:
    signed = sign * scores
    of_kind = {
        kind: [i for i, r in enumerate(runs) if r.kind == kind and not np.isnan(signed[i])]
        for kind in ("real", "random", "over")
    }
    submitted, chance = signed[of_kind["real"]], signed[of_kind["random"]]
    if not submitted.size or not chance.size:
        return Verdict(measure, *(float("nan"),) * 2, "", float("nan"), None, float("nan"))
    best = of_kind["random"][int(np.argmax(chance))]
    base = {r.name: i for i, r in enumerate(runs) if r.kind == "real"}
    pairs = [(i, base[runs[i].base]) for i in of_kind["over"]]
    # A run that is denser than was asked for got no label and proves nothing.
    paid: dict[tuple[str, float | None], bool] = {}
    for i, j in pairs:
        if runs[i].density != runs[j].density:
            # The same labels with less or more confidence: it pays when one of them does.
            key = runs[i].base, runs[i].density
            paid[key] = paid.get(key, False) or bool(signed[i] > signed[j])
    gains = list(paid.values())
    median = float(np.median(submitted))
    return Verdict(
        measure,
        float(sign * median),
        float(scores[best]),
        runs[best].name,
        float((submitted <= chance.max()).mean()),
        bool(chance.max() < median),
        float(np.mean(gains)) if gains else float("nan"),
    )


DEPTH = 1000
MOST_SYSTEMS = 10_000
_GRADED_RANKINGS, _GRADED_LABELS = 51, 52


@dataclass(frozen=True, repr=False, eq=False)
class SimulatedRuns(Answer):
    """The files of runs that were made up."""

    command: ClassVar[str] = "lab simulate"
    table_maker: ClassVar[str] = "cranfield.report.tables.lab:simulated_runs_document"

    files: tuple[str, ...]

    def headline(self) -> str:
        return f"{plural(len(self.files), 'run')} in {Path(self.files[0]).parent}"

    def payload(self, **_: object) -> dict[str, Any]:
        return {"files": list(self.files)}


@validate_params
@with_progress
def simulate_runs(
    truth: Any,
    folder: str | Path,
    *,
    labels: bool = False,
    count: int = 24,
    rng: Seed = 0,
    progress: Watcher | None = None,
) -> SimulatedRuns:
    """Write runs of rising quality into a folder: rankings, or annotations with `labels`.

    `truth` are judgements, or the true concepts of items, as files or objects.
    """
    watched = Progress.of(progress)
    options: dict[str, int] = {"count": count, "rng": rng}
    files: list[str] = []

    def place(name: str) -> Path:
        # The folder is made only now that there is something to put into it.
        files.append(str(make_folder(folder) / name))
        watched(len(files) / count)
        return Path(files[-1])

    if labels:
        for matrix in graded_labels(check_all_listed(read_truth(truth), "The study"), **options):
            write_labels(matrix, place(f"{matrix.name}.csv"))
    else:
        for run in graded_rankings(coerce_judgements(truth), **options):
            write_atomic(place(f"{run.name}.run"), trec_blocks(run))
    return SimulatedRuns(tuple(files))


@validate_params
def graded_rankings(
    judged: Judgements,
    *,
    count: int = 24,
    weakest: float = 0.5,
    strongest: float = 1.5,
    rng: Seed = 0,
) -> Iterator[Run]:
    """Runs of rising quality over the judged items of every topic."""
    topics = judged.to_dict()
    for number, skill in enumerate(_skills(count, weakest, strongest)):
        run: dict[str, dict[str, float]] = {}
        taste = generator(rng, _GRADED_RANKINGS, number).random()
        for t, (topic, grades) in enumerate(topics.items()):
            draw = generator(rng, _GRADED_RANKINGS, number, t)
            items = [*grades, *(f"unjudged-{topic}-{k}" for k in range(len(grades) // 4))]
            gains = np.zeros(len(items))
            judged_grades = np.maximum(np.array(list(grades.values()), dtype=np.float64), 0.0)
            gains[: len(grades)] = np.where(judged_grades > 0, judged_grades**taste, 0.0)
            topic_skill = max(0.0, skill + draw.normal(0.0, 0.6))
            scores = topic_skill * gains + draw.normal(0.0, 1.0, len(items))
            best = np.argsort(-scores, kind="stable")[:DEPTH]
            run[topic] = {items[k]: float(scores[k]) for k in best}
        yield Run.from_dict(run).named(_system_name(number, count))


@validate_params
def graded_labels(
    truth: LabelMatrix,
    *,
    count: int = 24,
    weakest: float = 0.5,
    strongest: float = 1.5,
    rng: Seed = 0,
) -> Iterator[LabelMatrix]:
    """Annotations of rising quality, with confidences, eager and timid ones among them."""
    labels = dense(truth.labels)
    signs = np.where(labels, 1.0, -1.0)
    for number, skill in enumerate(_skills(count, weakest, strongest)):
        draw = generator(rng, _GRADED_LABELS, number)
        concepts = np.maximum(0.0, skill + draw.normal(0.0, 0.4, labels.shape[1]))
        bias = draw.normal(-0.5, 0.7)
        seen = signs * concepts + draw.normal(0.0, 1.0, labels.shape) + bias
        yield replace(
            truth,
            name=_system_name(number, count),
            labels=None,
            confidences=1 / (1 + np.exp(-seen)),
        )


def _skills(count: int, weakest: float, strongest: float) -> list[float]:
    check_at_most(MOST_SYSTEMS, count=count)
    if count < 2 or not 0 <= weakest < strongest < np.inf:
        raise UsageError("two systems or more, of a skill that rises from 0 or above")
    return [float(s) for s in np.linspace(weakest, strongest, count)]


def _system_name(number: int, count: int) -> str:
    return f"system{number + 1:0{len(str(count))}}"
