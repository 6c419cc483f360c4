"""What little gold and model judges say of three runs of TREC DL 2019, beside all human judgements.

    CRANFIELD_DATA=... python benchmarks/truth_dl19.py [--write]

The judgements may not be shipped, so they are looked for below CRANFIELD_DATA (model_judges/ and
qrels/); the tables are. With --write they are put into the page that explains the truth.
"""

from __future__ import annotations

import itertools
import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

import cranfield as cf
from check_stats import percent, shown
from check_truth import PAGE
from cranfield import stats
from cranfield.comparison.ppi import Estimate
from run import replace_block

MEASURES = "nDCG@10 AP(rel=2) P(rel=2)@10"
CHOICES, GOLD_TOPICS, PAIR_CHOICES = 1000, 10, 60
# A cell that misses its bar is looked at again, with so many other choices.
MORE_CHOICES = 20_000
# With the largest judge intervals are at most so wide, in parts of plain gold's.
WIDEST = {"nDCG@10": 0.82, "AP(rel=2)": 0.80}
LARGEST = "llama3-70b-4prompts"
# An interval may hold the value so much less often than plain gold's.
SLACK = 0.02


def data() -> tuple[Path, list[Path], list[Path]]:
    """The human judgements, the model judges and the runs."""
    root = Path(os.environ.get("CRANFIELD_DATA", "."))
    judges = sorted((root / "model_judges").glob("dl19-*.qrels.gz"))
    if not judges:
        sys.exit("CRANFIELD_DATA does not name a folder with model_judges/ and qrels/")
    human = root / "qrels" / "qrels.dl19-passage.txt"
    return human, judges, sorted((root / "model_judges").glob("dl19-*.run.gz"))


def name_of(judge: Path) -> str:
    return judge.name.removeprefix("dl19-").removesuffix(".qrels.gz")


def topics_of_gold(table: cf.Scores, human: cf.Scores, measure: cf.Measure) -> np.ndarray:
    """The values under a judge in the order of the human topics."""
    place = {topic: i for i, topic in enumerate(table.units["topic"])}
    values: np.ndarray = table.values[measure][:, [place[t] for t in human.units["topic"]]]
    return values


@dataclass(frozen=True)
class Cell:
    """How often intervals hold the value, with silver and of gold alone, and how wide they are.

    `error` is the standard error of the difference of both shares, on the same choices.
    """

    held: float
    plain: float
    error: float
    width: float

    @classmethod
    def of(cls, gold: np.ndarray, silver: np.ndarray, choices: int, seed: int) -> Cell:
        """Intervals of these units from random choices of the topics with gold."""
        rng = np.random.default_rng(seed)
        chosen = np.array([rng.permutation(len(gold))[:GOLD_TOPICS] for _ in range(choices)])
        found = stats.powered_means(
            gold[chosen],
            silver[chosen],
            np.full(choices, silver.mean()),
            len(gold),
            resamples=999,
            jobs=2,
        )
        held = np.abs(found.value - gold.mean()) <= found.these
        plain = np.abs(found.gold - gold.mean()) <= found.gold_these
        return cls(
            float(held.mean()),
            float(plain.mean()),
            float((held.astype(float) - plain).std() / np.sqrt(choices)),
            float(found.these.mean() / found.gold_these.mean()),
        )

    @property
    def short(self) -> bool:
        return self.held < self.plain - SLACK

    def __str__(self) -> str:
        behind = f"{100 * (self.plain - self.held):.1f} ± {100 * self.error:.1f} points"
        return f"{percent(self.held)} and {percent(self.plain)}, {behind} behind"


def small_gold() -> tuple[str, list[str]]:
    """Gold for 10 of 43 topics, 1,000 random choices: intervals of these units."""
    human, judges, runs = data()
    gold = cf.evaluate(human, runs, MEASURES)
    rows, missed = [], []
    for judge in judges:
        silver = cf.evaluate(judge, runs, MEASURES)
        for measure in gold.measures:
            all_silver = topics_of_gold(silver, gold, measure)
            cells, widths = [], []
            for y, f in zip(gold.values[measure], all_silver, strict=True):
                cell = Cell.of(y, f, CHOICES, 0)
                widths.append(cell.width)
                cells.append(f"{percent(cell.held)} ({percent(cell.plain)}), {cell.width:.2f}")
                if cell.short:
                    name, again = f"{name_of(judge)}, {measure}", Cell.of(y, f, MORE_CHOICES, 1)
                    print(f"{name}: {cell}; in {MORE_CHOICES} other choices {again}")
                    missed += [f"{name}: {again}"] if again.short else []
            mean = float(np.mean(widths))
            rows.append([f"{name_of(judge)}, {measure}", *cells, f"{mean:.2f}"])
            if name_of(judge) == LARGEST and mean > WIDEST.get(str(measure), np.inf):
                missed.append(f"{name_of(judge)}, {measure}: width {mean:.3f}")
    names = [run.name.removeprefix("dl19-").removesuffix(".run.gz") for run in runs]
    return shown(["judge, measure", *names, "mean width"], rows), missed


def judged() -> tuple[str, list[str]]:
    """The six judges beside the people, and what they do to the three runs."""
    human, judges, runs = data()
    report = cf.assess_judges(human, {name_of(j): j for j in judges}, runs, MEASURES)
    rows = []
    for judge in report.judges:
        a = judge.agreement
        three = (a.share, a.weighted, a.shift)
        row = [judge.name, *(f"{e.value:.2f} ({e.low:.2f} to {e.high:.2f})" for e in three)]
        for m in judge.measures:
            bias = float(np.mean(m.judged) - np.mean(m.gold))
            row.append(f"{m.tau:.2f}, {bias:+.2f}, {m.interaction_p:.4f}")
        rows.append(row)
    heads = ["judge", "same grade", "weighted kappa", "grade shift"]
    return shown([*heads, *(m.measure for m in report.judges[0].measures)], rows), []


def some_pairs() -> tuple[str, list[str]]:
    """Gold for a fifth of the pairs of every topic, 60 random choices, the largest judge."""
    human_path, judges, runs = data()
    human = cf.read_qrels(human_path)
    silver = next(j for j in judges if name_of(j) == LARGEST)
    measures = "P(rel=2)@10 DCG@10"
    true = cf.evaluate(human, runs, measures).mean()
    rng = np.random.default_rng(1)
    ends = np.asarray(human.offsets)
    seen: dict[str, list[list[float]]] = {}
    for _ in range(PAIR_CHOICES):
        kept = np.zeros(len(human), dtype=bool)
        for begin, end in itertools.pairwise(ends.tolist()):
            size = end - begin
            kept[begin + rng.permutation(size)[: max(2, round(size / 5))]] = True
        values = np.where(kept, human.values, -1.0)
        gold = replace(human, values=values, strata=np.zeros(len(human), dtype=np.int64))
        found = cf.evaluate_powered(gold, silver, runs, measures, pairs=True, resamples=499)
        for e in (*found.estimates, *found.pairs):
            of = (e.run, "") if isinstance(e, Estimate) else (e.a, e.b)
            value = true[of[0]][e.measure] - (true[of[1]][e.measure] if of[1] else 0.0)
            row = [e.these[0] <= value <= e.these[1], e.these[1] - e.these[0]]
            row += [e.gold_these[0] <= value <= e.gold_these[1], e.gold_these[1] - e.gold_these[0]]
            row.append(e.value - value)
            what = f"{e.measure}, differences" if of[1] else e.measure
            seen.setdefault(what, []).append([float(x) for x in row])
    rows = []
    for measure, listed in seen.items():
        held, width, gold_held, gold_width, off = np.mean(listed, axis=0)
        plain, parts = f"{percent(gold_held)}, {gold_width:.3f}", f"{width / gold_width:.2f}"
        rows.append([measure, percent(held), f"{width:.3f}", plain, parts, f"{off:+.3f}"])
    heads = ["measure", "held", "width", "gold alone: held, width", "width in parts of it"]
    return shown([*heads, "off by"], rows), []


TABLES = {"judges": judged, "small-gold": small_gold, "some-pairs": some_pairs}


def main() -> int:
    missed: list[str] = []
    for name, make in TABLES.items():
        if any(a in TABLES for a in sys.argv) and name not in sys.argv:
            continue
        table, short = make()
        print(f"{name}: {make.__doc__}\n{table}\n")
        missed += short
        if "--write" in sys.argv:
            replace_block(PAGE, f"dl19:{name}", table)
    for line in missed:
        print(f"missed: {line}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
