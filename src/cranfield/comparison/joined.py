"""Estimates from little gold and much silver as scores and a comparison, for boards and pages.

Whatever shows runs takes scores of every unit and a comparison of the runs. Here each unit has its
gold value where people judged it and its silver value elsewhere; the mean of a run is not the mean
of these but the estimate, and its interval has two parts: what the choice of the gold units leaves
open (*these units*), and that together with the choice of all units (*such units*).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from cranfield.comparison.answer import Comparison, Pairs, Standing
from cranfield.comparison.compare import measure_facts
from cranfield.comparison.pair_statistics import COUNTS, VALUES, Columns
from cranfield.comparison.ppi import Estimate, PoweredPair, PoweredScores
from cranfield.comparison.summary import comparison_verdict
from cranfield.evaluation.scores import Scores, aggregate
from cranfield.measures.base import Measure
from cranfield.notes import Notes
from cranfield.stats import effects
from cranfield.stats._resample import Floats
from cranfield.stats.intervals import clipped
from cranfield.stats.posthoc import places, rank_groups


def combine_scores(gold: Scores, silver: Scores) -> Scores:
    """The silver's scores with the values of gold on the units that have both."""
    unit = gold.main_unit
    place = {name: i for i, name in enumerate(silver.units[unit])}
    columns = [place[name] for name in gold.units[unit]]
    rows = [silver.index_of(run) for run in gold.runs]
    values, overall = {}, {}
    for m in silver.measures:
        if m not in silver.values or m not in gold.values or silver.unit_of[m] != unit:
            continue
        table = np.array(silver.values[m])[rows]
        table[:, columns] = gold.values[m]
        values[m] = table
        overall[m] = np.array([aggregate(m, row) for row in table])
    shared = tuple(m for m in silver.measures if m in values)
    return replace(
        silver,
        runs=gold.runs,
        measures=shared,
        unit_of=dict.fromkeys(shared, unit),
        values=values,
        overall=overall,
        left={},
        tie_range={},
        doubt=None,
        missing=tuple(silver.missing[i] for i in rows),
        evaluated=tuple(silver.evaluated[i] for i in rows),
        run_facts=(),
    )


def comparison_from_ppi(ppi: PoweredScores, units: Scores) -> tuple[Scores, Comparison]:
    """The estimates as scores, whose values of single units are those of `units`, and a
    comparison of every two runs."""
    by_name = {str(m): m for m in units.measures}
    compared = tuple(by_name[str(m["name"])] for m in ppi.measures)
    selected = units.select(compared)
    notes = Notes()
    notes.extend(ppi.notes)
    notes.add(
        f"means are estimates from {ppi.gold_units} of {ppi.silver_units} {ppi.unit}s with "
        "gold and silver for all; single values are gold where there is gold, else silver"
    )
    scores = replace(
        selected,
        overall={m: _estimated(ppi, selected, m) for m in compared},
        left={m: tuple(selected.left_out(m)) for m in compared},
        notes=notes.lines(),
    )
    tables = [_columns(ppi, scores, m, i) for i, m in enumerate(compared)]
    comparison = Comparison(
        pairs=Pairs.joined(scores.runs, [str(m) for m in compared], tables),
        standings=tuple(s for m in compared for s in _standings(ppi, scores, m)),
        families=(),
        runs=scores.runs,
        measures=tuple(
            measure_facts(m, scores.unit_of[m], len(scores.units[scores.unit_of[m]]))
            for m in compared
        ),
        baseline=None,
        test="bootstrap" if ppi.interval == "studentized" else "t",
        correction=ppi.correction,
        tail="two",
        alpha=ppi.alpha,
        interval=ppi.interval,
        resamples=ppi.resamples if ppi.interval == "studentized" else None,
        seed=ppi.seed,
        topics=len(scores.units[scores.main_unit]),
        unit=scores.main_unit,
        margin=None,
        detect=None,
        power=0.8,
        gold_units=ppi.gold_units,
        notes=notes.lines(),
    )
    return scores, replace(comparison, verdict=comparison_verdict(scores, comparison))


def _estimated(ppi: PoweredScores, scores: Scores, measure: Measure) -> Floats:
    return np.array([ppi.estimate(run, str(measure)).value for run in scores.runs])


def _columns(ppi: PoweredScores, scores: Scores, measure: Measure, number: int) -> Columns:
    """The pairs of a measure as a comparison has them; what was not asked for is NaN."""
    pairs = [p for p in ppi.pairs if p.measure == str(measure)]
    sign = -1.0 if measure.higher_is_better is False else 1.0
    a, b = (
        np.array([scores.runs.index(getattr(p, side)) for p in pairs], dtype=np.int64)
        for side in "ab"
    )
    p, corrected = _of(pairs, "p"), _of(pairs, "p_corrected")
    smallest_p = 1 / (ppi.resamples + 1) if ppi.interval == "studentized" else 0.0
    difference, means = _of(pairs, "value"), scores.overall[measure]
    columns: Columns = {
        "a": a,
        "b": b,
        "p": p,
        "p_corrected": corrected,
        "p_is_floor": p <= smallest_p,
        "p_corrected_is_floor": (p <= smallest_p) & (corrected <= ppi.alpha),
        "mark": np.where(corrected <= ppi.alpha, np.sign(sign * difference), 0).astype(np.int64),
        "sure": np.ones(len(pairs), dtype=bool),
        "measure": np.full(len(pairs), number),
    }
    columns |= {name: np.zeros(len(pairs), dtype=np.int64) for name in COUNTS}
    columns |= {name: np.full(len(pairs), np.nan) for name in VALUES}
    values = np.asarray(scores.values[measure])
    gaps = sign * (values[a] - values[b])
    columns["topics"] = (~np.isnan(gaps)).sum(axis=1)
    columns["wins"], columns["losses"] = (gaps > 0).sum(axis=1), (gaps < 0).sum(axis=1)
    columns["ties"] = (gaps == 0).sum(axis=1)
    columns["difference"], columns["mean_a"], columns["mean_b"] = difference, means[a], means[b]
    columns["ci_low"] = np.array([p.such[0] for p in pairs])
    columns["ci_high"] = np.array([p.such[1] for p in pairs])
    columns["change_percent"] = effects.changes_percent(means[a], means[b])
    columns["deviation_percent"] = effects.deviations_percent(means[a], means[b])
    return columns


def _of(pairs: Sequence[PoweredPair], name: str) -> Floats:
    return np.array([getattr(pair, name) for pair in pairs], dtype=np.float64)


def _standings(ppi: PoweredScores, scores: Scores, measure: Measure) -> list[Standing]:
    name, runs = str(measure), scores.runs
    sign = -1.0 if measure.higher_is_better is False else 1.0
    oriented = np.nan_to_num(sign * scores.overall[measure], nan=-np.inf)
    beaten = np.zeros((len(runs), len(runs)), dtype=bool)
    for p in ppi.pairs:
        if p.measure == name and p.p_corrected <= ppi.alpha and p.value != 0:
            better, worse = (p.a, p.b) if sign * p.value > 0 else (p.b, p.a)
            beaten[runs.index(worse), runs.index(better)] = True
    order = np.argsort(-oriented, kind="stable")
    groups, at = rank_groups(beaten, order), places(oriented)
    rows = []
    for i in order:
        e = ppi.estimate(runs[i], name)
        rows.append(
            Standing(
                measure=name,
                run=runs[i],
                mean=e.value,
                ci=clipped(_by_units(e), measure.range),
                place=int(at[i]),
                place_interval=(None, None),
                rank=groups[i].rank,
                group=groups[i].letters,
                rank_spread=(groups[i].rank, groups[i].last),
                truth_ci=e.these,
                both_ci=e.such,
            )
        )
    return rows


def _by_units(e: Estimate) -> tuple[float, float]:
    """What the choice of all units leaves open by itself: errors add up as squares."""
    low, high = (
        math.sqrt(max((e.value - such) ** 2 - (e.value - these) ** 2, 0.0))
        for such, these in zip(e.such, e.these, strict=True)
    )
    return e.value - low, e.value + high
