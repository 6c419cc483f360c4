"""Tables of what is not sure under a truth with probabilities."""

from __future__ import annotations

from cranfield.evaluation.doubt import better_rows, run_doubts, topic_doubts
from cranfield.evaluation.scores import Scores
from cranfield.report.document import Cell, Column, Table

# More topics, items and pairs nobody reads as a table; JSON has them all.
SHOWN = 10
MOST_RUNS = 20


def doubt_tables(scores: Scores) -> list[Table]:
    """Both parts of every interval, who is better, each place, and what carries the doubt."""
    tables = [_runs(scores)]
    if len(scores.runs) > 1:
        tables += [_better(scores), _places(scores)]
    tables.append(_units(scores))
    if scores.doubt is not None and scores.doubt.items:
        tables.append(_items(scores))
    return tables


def _text(name: str) -> Column:
    return Column(name, numeric=False)


def _runs(scores: Scores) -> Table:
    unit = f"{scores.main_unit}s"
    columns = [_text("measure"), _text("run"), Column("expected")]
    columns += [Column("by_truth", heading="± truth"), Column("by_units", heading=f"± {unit}")]
    for name, heading in (("truth", "truth"), ("units", unit), ("both", "both")):
        columns += [Column(f"{name}_low", heading=f"{heading} from")]
        columns += [Column(f"{name}_high", heading="to")]
    rows: list[list[Cell]] = []
    for d in run_doubts(scores):
        row: list[Cell] = [d.measure, d.run, d.expected, d.by_truth, d.by_topics]
        for ends in (d.truth_interval, d.topics_interval, d.interval):
            row += [None, None] if ends is None else list(ends)
        rows.append(row)
    return Table(columns, rows, "How far the values are sure", _notes(scores, unit))


def _notes(scores: Scores, unit: str) -> list[str]:
    doubt = scores.doubt
    if doubt is None:
        return []
    exact = f"; exact for {', '.join(doubt.exact)}" if doubt.exact else ""
    return [
        f"expected: over all truths that the probabilities allow; ± truth: the spread that comes "
        f"from the truth; ± {unit}: the spread that comes from the choice of {unit}.",
        f"95 % intervals of the truth alone, of the {unit} alone, and of both together. "
        f"{doubt.draws} draws of the whole truth, the same for all runs, seed {doubt.seed}{exact}.",
    ]


def _better(scores: Scores) -> Table:
    columns = [_text("measure"), _text("a"), _text("b"), Column("difference")]
    columns += [Column("by_truth", heading="± truth"), Column("better", heading="a better")]
    rows: list[list[Cell]] = [list(row.values()) for row in better_rows(scores)]
    note = f"a better: over the draws of the truth, on these {scores.main_unit}s; a tie is half."
    return Table(columns, rows, "Who is better under this truth", [note]).first(10 * SHOWN)


def _places(scores: Scores) -> Table:
    doubt = scores.doubt
    shown = min(len(scores.runs), MOST_RUNS)
    columns = [_text("measure"), _text("run")]
    columns += [Column(f"place_{i + 1}", 3, heading=str(i + 1)) for i in range(shown)]
    rows: list[list[Cell]] = []
    for m in scores.measures:
        if doubt is None or m.higher_is_better is None:
            continue
        for run, places in zip(scores.runs, doubt.places(m).tolist(), strict=True):
            rows.append([str(m), run, *places[:shown]])
    return Table(columns, rows, "Probability of each place")


def _units(scores: Scores) -> Table:
    unit = scores.main_unit
    columns = [_text("measure"), _text("unit"), Column("share"), Column("spread")]
    rows: list[list[Cell]] = []
    for m in map(str, scores.measures):
        own = [t for t in topic_doubts(scores) if t.measure == m][:SHOWN]
        rows += [[t.measure, t.topic, t.share, t.spread] for t in own]
    note = "share: of the variance that comes from the truth, averaged over runs"
    return Table(columns, rows, f"The {unit}s that carry the doubt", [note])


def _items(scores: Scores) -> Table:
    columns = [_text("measure"), _text("topic"), _text("item"), Column("share")]
    rows: list[list[Cell]] = []
    doubt = scores.doubt
    for m in map(str, scores.measures):
        own = [i for i in (doubt.items if doubt else ()) if i.measure == m][:SHOWN]
        rows += [[i.measure, i.topic, i.item, i.share] for i in own]
    note = "share: of the variance that comes from the truth, in the mean over runs"
    return Table(columns, rows, "The items that carry the doubt", [note])
