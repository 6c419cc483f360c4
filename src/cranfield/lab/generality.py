"""The same topics in growing collections: does a measure stay where it was?

Chatzichristofis et al., section 5.2 (Table 2). Items that are not relevant to a topic are taken
out of its collection, and so of the runs, by chance; the relevant ones always stay.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cranfield.data import Judgements, Run
from cranfield.errors import UsageError, plural
from cranfield.lab.executors import Answer, Plan, run_pieces
from cranfield.lab.material import Material, floats, generator, numbers
from cranfield.stats._resample import Floats

if TYPE_CHECKING:
    from cranfield.report.document import Table

SHARES = (1 / 3, 2 / 3, 1.0)
_SIMULATE = 22


def deviation_percent(base: float, value: float) -> float:
    """The difference from the smallest collection in percent of its value (Ch Table 2)."""
    return abs(value - base) / abs(base) * 100 if base else float("nan")


@dataclass(frozen=True, eq=False)
class Generality:
    """`scores` is sizes x runs x measures; deviations are of the mean over runs."""

    measures: tuple[str, ...]
    runs: tuple[str, ...]
    sizes: tuple[int, ...]
    scores: Floats
    seed: int

    def mean(self) -> Floats:
        """Sizes x measures: the mean over runs."""
        means: Floats = self.scores.mean(axis=1)
        return means

    def deviation(self, measure: str) -> tuple[float, ...]:
        """Per size, in percent from the smallest."""
        column = self.mean()[:, self.measures.index(measure)]
        return tuple(deviation_percent(float(column[0]), float(v)) for v in column)

    def table(self) -> Table:
        from cranfield.report.document import Cell, Column, Table

        columns = [Column("size", 0, heading="items")]
        for m in self.measures:
            columns += [Column(m), Column(f"{m}_deviation", 2, heading="dev. %")]
        means = self.mean()
        rows: list[list[Cell]] = [
            [size, *(v for j, m in enumerate(self.measures)
                     for v in (float(means[k, j]), self.deviation(m)[k] if k else None))]
            for k, size in enumerate(self.sizes)
        ]  # fmt: skip
        notes = [f"mean over {plural(len(self.runs), 'run')}; dev. %: from the smallest collection"]
        return Table(columns, rows, "The same topics in growing collections", notes)

    def to_dict(self) -> dict[str, Any]:
        return {
            "study": "generality", "sizes": list(self.sizes), "seed": self.seed,
            "measures": {
                m: {
                    "mean": self.mean()[:, j].tolist(),
                    "deviation_percent": list(self.deviation(m)),
                    "runs": dict(zip(self.runs, self.scores[:, :, j].T.tolist(), strict=True)),
                }
                for j, m in enumerate(self.measures)
            },
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Piece:
    material: Material
    name: str
    source: Any
    shares: tuple[float, ...]
    size: int
    seed: int


def generality(
    material: Material, *, collection_size: int, shares: tuple[float, ...] = SHARES, rng: int = 0,
    plan: Plan | None = None,
) -> Generality:  # fmt: skip
    """Shrink the collection of real runs to each share of its size, and score them again."""
    if material.kind != "ranked":
        raise UsageError("generality is a study of rankings; annotation has no collection to grow")
    if (
        len(shares) < 2
        or list(shares) != sorted(set(shares))
        or not 0 < shares[0] <= shares[-1] <= 1
    ):
        raise UsageError("shares of the collection rise from above 0 to at most 1, two or more")
    plan = plan or Plan()
    material = material.for_plan(plan)
    bare = material.without_runs()
    pieces = {n: _Piece(bare, n, s, shares, collection_size, rng) for n, s in material.runs}
    study = {
        "study": "generality", **material.described(), "shares": list(shares),
        "size": collection_size, "seed": rng,
    }  # fmt: skip
    answers = run_pieces(_run_piece, pieces, plan, study=study)
    scores = floats([a["sizes"] for a in answers.values()]).transpose(1, 0, 2)
    sizes = tuple(round(s * collection_size) for s in shares)
    return Generality(tuple(map(str, material.measures)), material.run_names, sizes, scores, rng)


def _run_piece(piece: _Piece) -> Answer:
    from cranfield.evaluation import evaluate

    material = piece.material
    judged = material.read_truth()
    run = material.read_run(piece.source, piece.name)
    found = []
    for share in piece.shares:
        size = round(share * piece.size)
        smaller = _smaller(run, judged, size, piece.size, piece.seed)  # type: ignore[arg-type]
        options = dict(material.options) | {"collection_size": size}
        scores = evaluate(judged, {piece.name: smaller}, material.names, jobs=1, **options)
        found.append(numbers(float(scores.overall[m][0]) for m in scores.measures))
    return {"sizes": found}


def _smaller(
    run: Run, judged: Judgements, size: int, full: int, seed: int
) -> dict[str, dict[str, float]]:
    """The run over collections of `size` items: for each topic its relevant items, and others
    by chance, the same ones for every run and, where they are relevant to none, every topic."""
    grades = judged.to_dict()
    smaller: dict[str, dict[str, float]] = {}
    for topic, items in run.to_dict().items():
        relevant = {i for i, g in grades.get(topic, {}).items() if g >= 1}
        if size < len(relevant):
            raise UsageError(
                f"a collection of {size} items cannot hold the {len(relevant)} that are relevant "
                f"to topic {topic!r}"
            )
        limit = (size - len(relevant)) / max(full - len(relevant), 1)
        smaller[topic] = {
            i: s for i, s in items.items() if i in relevant or _chance(i, seed) < limit
        }
    return smaller


def _chance(item: str, seed: int) -> float:
    """A number in [0, 1) that an item has in every run and on every machine."""
    import hashlib

    digest = hashlib.blake2b(f"{seed}:{item}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") / 2.0**64


def simulate(
    measures: str, *, sizes: tuple[int, ...] = (1000, 10_000, 100_000), relevant: int = 20,
    topics: int = 20, quality: float = 1.5, rng: int = 0,
) -> Generality:  # fmt: skip
    """Systems whose scores are normal, those of relevant items higher by `quality`.

    The relevant items keep their scores while the collection grows round them.
    """
    from cranfield.evaluation import evaluate
    from cranfield.measures import parse_measures

    if list(sizes) != sorted(set(sizes)) or len(sizes) < 2 or sizes[0] <= relevant:
        raise UsageError(f"sizes rise, two or more, from above the {relevant} relevant items")
    rows = []
    judged = {str(t): {f"r{k}": 1 for k in range(relevant)} for t in range(topics)}
    for size in sizes:
        run = {}
        for t in range(topics):
            draw = generator(rng, _SIMULATE, t)
            good = draw.normal(quality, 1.0, relevant)
            others = -np.sort(-draw.normal(0.0, 1.0, sizes[-1])[: size - relevant])
            run[str(t)] = {f"r{k}": float(s) for k, s in enumerate(good)}
            run[str(t)] |= {f"x{k}": float(s) for k, s in enumerate(others)}
        scores = evaluate(judged, {"simulated": run}, measures, collection_size=size, jobs=1)
        rows.append([float(scores.overall[m][0]) for m in scores.measures])
    names = tuple(map(str, parse_measures(measures)))
    return Generality(names, ("simulated",), tuple(sizes), floats(rows)[:, None, :], rng)
