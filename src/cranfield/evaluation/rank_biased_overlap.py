"""How alike runs are to one of them, topic by topic: rank-biased overlap."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from cranfield.errors import MeasureError, UsageError
from cranfield.evaluation.scores import Scores
from cranfield.io.coerce import RunForm, RunsForm, coerce_run, name_runs
from cranfield.measures import Measure, parse_measures
from cranfield.notes import Notes, Progress, Watcher, some_names, with_progress
from cranfield.stats import rank_biased_overlap
from cranfield.validation import validate_params


@validate_params
@with_progress
def overlap_of_runs(
    reference: RunForm,
    runs: RunsForm,
    measures: str | Measure | Iterable[str | Measure] = "RBO",
    *,
    progress: Watcher | None = None,
) -> Scores:
    """The rank-biased overlap of each run with a reference run, over the topics of the reference.

    A topic that a run misses is an empty ranking. `measures` are forms of RBO, such as
    `RBO@100(p=0.98)`.

    >>> overlap_of_runs({"t": ["a", "b"]}, {"same": {"t": ["a", "b"]}}).mean()
    {'same': {'RBO': 1.0}}
    """
    parsed = parse_measures(measures)
    for m in parsed:
        if m.name != "RBO":
            raise MeasureError(f"{m} does not compare runs with a run; RBO does")
    report_progress, notes = Progress.of(progress), Notes()
    base = coerce_run(reference, "reference")
    ranked = {topic: base.ranking(topic) for topic in base.topics}
    if not ranked:
        raise UsageError("reference= has no topic")
    named_runs = name_runs(runs)
    values = {m: np.zeros((len(named_runs), len(ranked))) for m in parsed}
    missing = []
    for row, (name, source) in enumerate(named_runs):
        report_progress.check()
        run = coerce_run(source, name)
        has = set(run.topics)
        absent = [topic for topic in ranked if topic not in has]
        missing.append(len(absent))
        if absent:
            notes.add(
                f"misses {len(absent)} of {len(ranked)} topics of the reference "
                f"({some_names(absent)}), scored as an empty ranking",
                about=name,
            )
        for column, (topic, first) in enumerate(ranked.items()):
            second = run.ranking(topic) if topic in has else []
            for m in parsed:
                depth = None if m.at is None else int(m.at)
                persistence = float(m.value_of("p"))
                values[m][row, column] = rank_biased_overlap(
                    first[:depth], second[:depth], p=persistence
                )
        report_progress((row + 1) / len(named_runs))
    return Scores(
        task="ranked",
        runs=tuple(name for name, _ in named_runs),
        measures=parsed,
        units={"topic": tuple(ranked)},
        unit_of=dict.fromkeys(parsed, "topic"),
        values=values,
        overall={m: v.mean(axis=1) for m, v in values.items()},
        missing=tuple(missing),
        evaluated=(len(ranked),) * len(named_runs),
        notes=notes.lines(),
    )
