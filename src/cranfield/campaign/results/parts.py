"""Part of the scores: some runs, some concepts, items or topics."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import replace

import numpy as np

from cranfield.errors import NeedsError, UsageError, suggest
from cranfield.evaluation.scores import Scores, aggregate


def only_runs(scores: Scores, runs: Container[str]) -> Scores:
    """The scores of some runs."""
    at = [i for i, run in enumerate(scores.runs) if run in runs]
    if not at:
        raise NeedsError("no run is left of those that were scored")
    return replace(
        scores,
        runs=tuple(scores.runs[i] for i in at),
        values={m: values[at] for m, values in scores.values.items()},
        overall={m: np.asarray(scores.overall[m])[at] for m in scores.measures},
        missing=tuple(scores.missing[i] for i in at),
        evaluated=tuple(scores.evaluated[i] for i in at),
        run_facts=tuple(scores.run_facts[i] for i in at) if scores.run_facts else (),
        left={m: tuple(counts[i] for i in at) for m, counts in scores.left.items()},
        tie_range={m: tuple(ends[i] for i in at) for m, ends in scores.tie_range.items()},
    )


def only_units(scores: Scores, unit: str, names: Sequence[str]) -> Scores:
    """The scores on some topics, items or concepts, with the means over these alone.

    Measures that speak of other units have no value on a part; they are left out, with a note.
    """
    unit_names = scores.units.get(unit, ())
    at = {name: j for j, name in enumerate(unit_names)}
    for name in names:
        if name not in at:
            raise UsageError(f"no scores for {unit} {name!r}.{suggest(name, unit_names)}")
    columns = [at[name] for name in dict.fromkeys(names)]
    measures = tuple(
        m
        for m in scores.measures
        if scores.unit_of[m] == unit and m in scores.values and scores.is_mean(m)
    )
    if not measures:
        raise NeedsError(f"no measure is a mean over {unit}s, so none has a value on some of them")
    values = {m: np.asarray(scores.values[m])[:, columns] for m in measures}
    dropped = [str(m) for m in scores.measures if m not in measures]
    notes = [f"{', '.join(dropped)}: left out, not a mean over {unit}s"] if dropped else []
    counts = (len(columns),) * len(scores.runs)
    return replace(
        scores,
        measures=measures,
        units={unit: tuple(unit_names[j] for j in columns)},
        unit_of=dict.fromkeys(measures, unit),
        values=values,
        overall={m: np.array([aggregate(m, row) for row in values[m]]) for m in measures},
        evaluated=counts if unit == scores.main_unit else scores.evaluated,
        left={m: tuple(int(n) for n in np.isnan(values[m]).sum(axis=1)) for m in measures},
        tie_range={},
        notes=(*scores.notes, *notes),
    )
