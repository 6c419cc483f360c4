"""Does a measure tell random and over-eager systems from real ones?

Thesis 7.5.3 and 7.5.4 (Figures 7.6-7.8). Annotation: runs of uniform random confidences, runs
that set a share of all labels by chance, and real runs with chance labels added up to a label
density. Rankings: the judged and retrieved items of each topic in random order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cranfield.errors import UsageError
from cranfield.lab.material import Material, floats, generator, numbers
from cranfield.stats._resample import Floats
from cranfield.work.executors import Answer, Plan, run_pieces

if TYPE_CHECKING:
    from cranfield.report.document import Table

DENSITIES = (0.1, 0.3, 0.5, 0.7, 0.9)
_CONFIDENCES, _LABELS, _EXTRA, _ORDER = 31, 32, 33, 34


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
    raised the score; pairs in which the run was as dense before are left out.
    """

    measure: str
    median_real: float
    best_random: float
    best_random_run: str
    beaten: float
    separates: bool | None
    over_pays: float


@dataclass(frozen=True, eq=False)
class RandomStudy:
    """`scores` has a row per run and a column per measure."""

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

    def table(self) -> Table:
        from cranfield.report.document import Cell, Column, Table

        over = any(r.kind == "over" for r in self.runs)
        columns = [
            Column("measure", numeric=False),
            Column("median_real", heading="median real"),
            Column("best_random", heading="best random"),
            Column("run", numeric=False),
            Column("beaten", 2, heading="real runs beaten"),
            Column("separates", numeric=False),
        ]
        if over:
            columns.append(Column("over_pays", 2, heading="over-annotation pays"))
        says = {True: "yes", False: "NO", None: "-"}
        rows: list[list[Cell]] = [
            [
                v.measure,
                v.median_real,
                v.best_random,
                v.best_random_run,
                v.beaten,
                says[v.separates],
                *([v.over_pays] if over else []),
            ]
            for v in self.verdicts
        ]
        notes = ["separates: the best random run stays below the median of the real ones"]
        return Table(columns, rows, "Random runs beside real ones", notes)

    def runs_table(self) -> Table:
        """Every run with its label density and scores."""
        from cranfield.report.document import Cell, Column, Table

        columns = [
            Column("run", numeric=False),
            Column("kind", numeric=False),
            Column("density", 3),
            *(Column(m) for m in self.measures),
        ]
        rows: list[list[Cell]] = [
            [r.name, r.kind, r.density, *map(float, s)]
            for r, s in zip(self.runs, self.scores, strict=True)
        ]
        return Table(columns, rows, "Score against label density")

    def to_dict(self) -> dict[str, Any]:
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


@dataclass(frozen=True, slots=True)
class _Piece:
    material: Material
    name: str
    kind: str
    base: str
    source: Any
    density: float
    number: int
    seed: int


def random_study(
    material: Material,
    *,
    densities: tuple[float, ...] = DENSITIES,
    count: int = 5,
    over: bool = True,
    rng: int = 0,
    plan: Plan | None = None,
) -> RandomStudy:
    """Score random runs beside the real ones.

    Annotation: `densities` are the label densities of random and over-annotating runs; without
    `over` there are none of the latter. Rankings: `count` random ones.
    """
    for density in densities:
        if not 0 < density <= 1:
            raise UsageError(f"a label density lies above 0 and up to 1, not {density!r}")
    if len(set(densities)) < len(densities):
        raise UsageError("a label density is given twice")
    plan = plan or Plan()
    material = material.for_plan(plan)
    bare = material.without_runs()
    pieces: dict[str, _Piece] = {
        n: _Piece(bare, n, "real", "", s, 0.0, i, rng) for i, (n, s) in enumerate(material.runs)
    }
    for piece in _made_up(bare, material, densities, count, over, rng):
        if piece.name in pieces:
            raise UsageError(f"a run is named {piece.name!r}, as a random one would be; rename it")
        pieces[piece.name] = piece
    study = {
        "study": "random",
        **material.described(),
        "densities": list(densities),
        "count": count,
        "over": over,
        "seed": rng,
    }
    answers = run_pieces(_run_piece, pieces, plan, study=study)
    scores = floats([a["overall"] for a in answers.values()])
    runs = tuple(
        TestedRun(p.name, p.kind, p.base, answers[key]["density"]) for key, p in pieces.items()
    )
    names = tuple(map(str, material.measures))
    signs = material.signs
    verdicts = tuple(_verdict(m, runs, scores[:, j], signs[j]) for j, m in enumerate(names))
    return RandomStudy(names, runs, scores, verdicts, rng)


def _made_up(
    bare: Material,
    material: Material,
    densities: tuple[float, ...],
    count: int,
    over: bool,
    seed: int,
) -> list[_Piece]:
    if material.kind != "labels":
        sources = tuple(s for _, s in material.runs)
        return [
            _Piece(bare, f"Random{k + 1}", "random", "", sources, 0.0, k, seed)
            for k in range(count)
        ]
    pieces = [_Piece(bare, "Random0", "random", "", None, 0.0, 0, seed)]
    for k, d in enumerate(densities):
        pieces.append(_Piece(bare, f"Random{100 * d:g}", "random", "", None, d, k, seed))
        if over:
            pieces += [
                _Piece(bare, f"{n}+{100 * d:g}", "over", n, s, d, i * len(densities) + k, seed)
                for i, (n, s) in enumerate(material.runs)
            ]
    return pieces


def _run_piece(piece: _Piece) -> Answer:
    run = _random_ranking(piece) if _is_random_ranking(piece) else _label_run(piece)
    scored = piece.material.score(run)
    density = None if piece.material.kind != "labels" else float(run.density)
    return {"overall": numbers(scored.overall), "density": density}


def _is_random_ranking(piece: _Piece) -> bool:
    return piece.material.kind != "labels" and piece.kind == "random"


def _label_run(piece: _Piece) -> Any:
    """A run as it is, a random one, or one with chance labels added."""
    material = piece.material
    if piece.kind != "random":
        run = material.read_run(piece.source, piece.name if piece.kind == "real" else piece.base)
        return run if piece.kind == "real" else _overannotated(run, piece)
    truth: Any = material.read_truth()
    if piece.density == 0.0:
        values = generator(piece.seed, _CONFIDENCES).random(truth.shape)
        return replace(truth, name=piece.name, labels=None, confidences=values)
    chosen = generator(piece.seed, _LABELS, piece.number).random(truth.shape) < piece.density
    return replace(truth, name=piece.name, labels=chosen, confidences=None)


def _overannotated(run: Any, piece: _Piece) -> Any:
    """The run's own labels and chance ones beside them, until the density is reached."""
    from cranfield.data.labels import DEFAULT_THRESHOLD, dense

    labelled = run.with_threshold(DEFAULT_THRESHOLD)
    own = dense(labelled.labels)
    share = max(0.0, piece.density - own.mean()) / max(1.0 - own.mean(), 1e-12)
    extra = generator(piece.seed, _EXTRA, piece.number).random(own.shape) < share
    confidences = None
    if labelled.confidences is not None:
        kept = dense(labelled.confidences)
        # A label that was added is one the system now claims to be sure of.
        confidences = np.where(extra & ~own, np.maximum(kept, DEFAULT_THRESHOLD), kept)
    return replace(labelled, name=piece.name, labels=own | extra, confidences=confidences)


def _random_ranking(piece: _Piece) -> Any:
    """All items judged for a topic or retrieved by a run, in random order, to the usual depth."""
    from cranfield.io.forms import coerce_run

    judged = piece.material.read_truth().to_dict()  # type: ignore[union-attr]
    lists = [
        piece.material.read_run(source, f"run{i}").to_dict()
        for i, source in enumerate(piece.source)
    ]
    run: dict[str, dict[str, float]] = {}
    for t, (topic, grades) in enumerate(judged.items()):
        items = sorted({*grades, *(i for one in lists for i in one.get(topic, ()))})
        depth = max((len(one.get(topic, ())) for one in lists), default=len(items)) or len(items)
        order = generator(piece.seed, _ORDER, piece.number, t).permutation(len(items))[:depth]
        run[topic] = {items[k]: -float(place) for place, k in enumerate(order)}
    return coerce_run(run, piece.name)


def _verdict(measure: str, runs: tuple[TestedRun, ...], scores: Floats, sign: float) -> Verdict:
    signed = sign * scores
    of_kind = {
        kind: [i for i, r in enumerate(runs) if r.kind == kind and not np.isnan(signed[i])]
        for kind in ("real", "random", "over")
    }
    real, chance = signed[of_kind["real"]], signed[of_kind["random"]]
    if not real.size or not chance.size:
        return Verdict(measure, *(float("nan"),) * 2, "", float("nan"), None, float("nan"))
    best = of_kind["random"][int(np.argmax(chance))]
    base = {r.name: i for i, r in enumerate(runs) if r.kind == "real"}
    pairs = [(i, base[runs[i].base]) for i in of_kind["over"]]
    # A run that is denser than was asked for got no label and proves nothing.
    gains = [signed[i] > signed[j] for i, j in pairs if runs[i].density != runs[j].density]
    median = float(np.median(real))
    return Verdict(
        measure,
        sign * median,
        float(scores[best]),
        runs[best].name,
        float((real <= chance.max()).mean()),
        bool(chance.max() < median),
        float(np.mean(gains)) if gains else float("nan"),
    )
