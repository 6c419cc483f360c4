"""What the interactive report holds: scores, comparisons and curves as plain data.

Numbers are those of `--format json`, to the last digit. Everything is bounded: what does not fit
is left out, and `left_out` says so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cranfield._json import number
from cranfield.comparison.answer import Comparison, Pairs
from cranfield.comparison.summary import comparison_verdict
from cranfield.evaluation.precision_recall import LEVELS, Roc, recall_curves
from cranfield.evaluation.scores import COMMANDS, Scores, score_verdict
from cranfield.measures import Measure
from cranfield.report.charts.annotation import box_errors, box_recall
from cranfield.report.charts.curves import recall_chart, roc_chart
from cranfield.report.document import Table
from cranfield.report.methods import citations, methods

if TYPE_CHECKING:
    from cranfield.evaluation.regions import RegionCurves
    from cranfield.report.cases import ComparedScores

MOST_VALUES = 60_000
MOST_COMPARED = 40
MOST_PAIRS = 10_000
MOST_ROWS = 2_000
CURVES_SHOWN = 20


@dataclass
class Section:
    """A part of the report about one set of scores; further data are added by name."""

    title: str
    data: dict[str, Any]
    left_out: list[str] = field(default_factory=list)
    tables: Sequence[Table] = ()

    def to_dict(self) -> dict[str, Any]:
        return {"title": self.title, **self.data, "left_out": self.left_out}


def score_section(
    case: ComparedScores, *, title: str, tables: Sequence[Table], items: bool = True
) -> Section:
    """The part of the report that scores and their comparison fill; it may name no items."""
    scores, comparison = case.scores, case.comparison
    section = Section(title, {}, list(case.left_out), tables=tables)
    section.data = {
        "kind": "scores",
        "command": COMMANDS[scores.task],
        "verdict": list(_verdict(case, items)),
        "runs": list(scores.runs),
        "evaluated": list(scores.evaluated),
        "unit": scores.main_unit,
        "measures": [_measure(scores, m) for m in scores.measures],
        "means": {str(m): _numbers(scores.overall[m]) for m in scores.measures},
        "units": {},
        "values": {},
        "notes": list(dict.fromkeys([*scores.notes, *(comparison.notes if comparison else ())])),
        "methods": methods(scores, comparison, case.settings),
        "sources": citations(scores.measures, compared=comparison is not None),
    }
    section.data |= _comparison_data(scores, comparison, section)
    _add_values(section, scores)
    return section


def _verdict(case: ComparedScores, items: bool) -> tuple[str, ...]:
    if case.comparison is None:
        return score_verdict(case.scores, items=items)
    return comparison_verdict(case.scores, case.comparison, items=items)


def _measure(scores: Scores, measure: Measure) -> dict[str, Any]:
    return {
        "name": str(measure),
        "mean_name": measure.mean_label,
        "title": measure.title,
        "higher_is_better": measure.higher_is_better,
        "unit": scores.unit_of[measure],
        "digits": 0 if measure.averaging == "sum" else 4,
        "range": measure.finite_range,
    }


def _numbers(values: Any) -> list[float | None]:
    return [number(float(v)) for v in values]


def _comparison_data(
    scores: Scores, comparison: Comparison | None, section: Section
) -> dict[str, Any]:
    """Intervals, groups and pairs by measure, runs by their position."""
    position = {run: i for i, run in enumerate(scores.runs)}
    if comparison is None:
        boxes = scores.interval() if scores.values else {}
        intervals: dict[str, list[Any]] = {
            str(m): [_ends(boxes[run][str(m)]) for run in scores.runs]
            for m in scores.measures
            if m in scores.values and scores.is_mean(m)
        }
        return {
            "intervals": intervals,
            "standings": {},
            "doubts": {},
            "interval_parts": "",
            "pairs": {},
            "baseline": None,
            "tail": "two",
            "confidence": 0.95,
        }
    standings: dict[str, list[Any]] = {}
    doubts: dict[str, list[Any]] = {}
    intervals = {}
    for s in comparison.standings:
        places = standings.setdefault(s.measure, [None] * len(position))
        places[position[s.run]] = [s.rank, s.group, *s.place_interval, s.place, *s.rank_spread]
        ends = intervals.setdefault(s.measure, [None] * len(position))
        low, high = map(number, s.ci)
        ends[position[s.run]] = None if low is None or high is None else [low, high]
        if s.truth_ci is not None and s.both_ci is not None:
            doubt = doubts.setdefault(s.measure, [None] * len(position))
            doubt[position[s.run]] = [number(end) for end in (*s.truth_ci, *s.both_ci)]
    pairs = _pair_rows(_fitting_pairs(scores, comparison, section), position)
    return {
        "intervals": intervals,
        "standings": standings,
        "doubts": doubts,
        "interval_parts": comparison.interval_parts() if doubts else "",
        "pairs": pairs,
        "baseline": comparison.baseline,
        "tail": comparison.tail,
        "confidence": 1 - comparison.alpha,
    }


def _pair_rows(pairs: Pairs, position: Mapping[str, int]) -> dict[str, list[Any]]:
    """Positions of the two runs, difference, interval, p and corrected p, by measure."""
    columns, place = pairs.columns, [position[run] for run in pairs.runs]
    names = ("difference", "ci_low", "ci_high", "p", "p_corrected")
    values = [_numbers(columns[name].tolist()) for name in names]
    runs = [[place[i] for i in columns[name].tolist()] for name in ("a", "b")]
    measures = [pairs.measures[i] for i in columns["measure"].tolist()]
    rows: dict[str, list[Any]] = {}
    for measure, *row in zip(measures, *runs, *values, strict=True):
        rows.setdefault(measure, []).append(row)
    return rows


def _fitting_pairs(scores: Scores, comparison: Comparison, section: Section) -> Pairs:
    """All pairs, or those among the best runs where there are too many."""
    if len(comparison.pairs) <= MOST_PAIRS:
        return comparison.pairs
    best = {scores.runs[i] for i in scores.best_first(scores.measures[0])[:MOST_COMPARED]}
    section.left_out.append(
        f"Pairs are shown among the {len(best)} best of {len(scores.runs)} runs by "
        f"{scores.measures[0]}; the CSV has them all."
    )
    return comparison.pairs.among(best)


def _ends(box: Any) -> list[float | None] | None:
    low, high = (None, None) if box is None else (number(box.low), number(box.high))
    return None if low is None or high is None else [low, high]


def _add_values(section: Section, scores: Scores) -> None:
    """Values per unit, of all runs or of the best ones that fit."""
    measures = [m for m in scores.measures if m in scores.values and scores.unit_of[m] != "whole"]
    cells = sum(scores.values[m].shape[1] for m in measures)
    fitting = max(1, min(len(scores.runs), MOST_VALUES // max(cells, 1)))
    for m in measures:
        unit = scores.unit_of[m]
        section.data["units"][unit] = list(scores.units[unit])
        runs = scores.best_first(measures[0])[:fitting]
        section.data["values"][str(m)] = {
            "runs": runs,
            "rows": [_numbers(scores.values[m][i]) for i in runs],
        }
    if measures and fitting < len(scores.runs):
        unit = scores.unit_of[measures[0]]
        section.left_out.append(
            f"Single {unit}s are shown for the {fitting} best of {len(scores.runs)} runs by "
            f"{measures[0]}; the table per {unit} has them all."
        )


def add_recall_curve(section: Section, scores: Scores, order: Sequence[str]) -> None:
    """Precision at eleven levels of recall, for the first runs of an order."""
    curves = {c.name: c for c in recall_curves(scores)}
    first_curves = [curves[run] for run in order[:CURVES_SHOWN]]
    no_band = [None] * len(LEVELS)
    section.data["recall"] = {
        "levels": list(LEVELS),
        "curves": [
            {
                "run": c.name,
                "mean": [number(p[1]) for p in c.points],
                "low": [p[1] for p in c.band] or no_band,
                "high": [p[2] for p in c.band] or no_band,
            }
            for c in first_curves
        ],
    }
    section.data.setdefault("charts", {})["recall"] = recall_chart(first_curves).to_dict()
    _note_shortened(section, len(order), "precision against recall")


def add_annotation(
    section: Section, scores: Scores, frequency: Mapping[str, float], curves: Mapping[str, Roc]
) -> None:
    """Label density, frequency of concepts, and ROC curves."""
    section.data["density"] = {
        "truth": scores.facts["truth"]["label_density"],
        "runs": [facts["label_density"] for facts in scores.run_facts],
    }
    section.data["frequency"] = list(frequency.values())
    first_curves = list(curves.items())[:CURVES_SHOWN]
    section.data["roc"] = [{"run": run, "eer": c.eer, "auc": c.auc} for run, c in first_curves]
    if first_curves:
        chart = roc_chart(dict(first_curves), "all items and concepts pooled")
        section.data.setdefault("charts", {})["roc"] = chart.to_dict()
    _note_shortened(section, len(curves), "ROC")


def add_box_curves(section: Section, curves: Sequence[RegionCurves], order: Sequence[str]) -> None:
    """Precision over recall and errors over confidence of boxes, for the first runs of an order."""
    by_run = {c.run: c for c in curves}
    first_curves = [by_run[run] for run in order[:CURVES_SHOWN]]
    if not first_curves:
        return
    section.data["box_curves"] = [
        {
            "run": c.run,
            "precision": float(c.precision.mean()),
            "confidence": float(c.confidences[c.best]),
            **{
                name: number(float(values[c.best]))
                for name, values in (
                    ("error", c.error),
                    ("misplaced", c.misplaced),
                    ("wrong", c.wrong),
                    ("missed", c.missed),
                )
            },
        }
        for c in first_curves
    ]
    section.data.setdefault("charts", {})["box_recall"] = box_recall(first_curves).to_dict()
    section.data["charts"]["box_errors"] = box_errors(first_curves).to_dict()
    _note_shortened(section, len(order), "boxes")


def _note_shortened(section: Section, count: int, subject: str) -> None:
    if count > CURVES_SHOWN:
        section.left_out.append(f"The chart of {subject} has {CURVES_SHOWN} of {count} runs.")


def _cut_note(rows: int) -> list[str]:
    if rows <= MOST_ROWS:
        return []
    return [f"The first {MOST_ROWS:,} of {rows:,} rows; the CSV has them all."]


def _all_numbers(table: Table, column: int) -> bool:
    return not any(isinstance(row[column], str) for row in table.rows)


def _all_whole(table: Table, column: int) -> bool:
    return all(row[column] is None or isinstance(row[column], int) for row in table.rows)


def table_section(title: str, tables: Sequence[Table], notes: Sequence[str] = ()) -> Section:
    """A part of the report that is tables alone."""
    data = {
        "kind": "tables",
        "notes": list(notes),
        "tables": [
            {
                "title": t.title,
                "columns": [
                    {
                        "label": c.label,
                        "numeric": c.numeric and _all_numbers(t, j),
                        "digits": 0 if _all_whole(t, j) else c.digits,
                        "below": c.below,
                    }
                    for j, c in enumerate(t.columns)
                ],
                "rows": [[number(v) for v in row] for row in t.rows[:MOST_ROWS]],
                "notes": [*t.notes, *_cut_note(len(t.rows))],
            }
            for t in tables
        ],
    }
    return Section(title, data, tables=tables)
