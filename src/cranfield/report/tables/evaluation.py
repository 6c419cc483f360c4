"""Tables of evaluation: scores, explanations, votes on categories, displacement, measures."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from cranfield.report.document import Cell, Column, Document, Table

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from cranfield.evaluation.baselines import Annotation
    from cranfield.evaluation.calibration import CalibratedRun
    from cranfield.evaluation.category_votes import UncertainScores
    from cranfield.evaluation.concept_queries import ConceptRanking
    from cranfield.evaluation.displacement import DisplacementScores
    from cranfield.evaluation.explanations import Derivation, Explanations, ItemExplanation
    from cranfield.evaluation.feedback import Feedback
    from cranfield.evaluation.fusion import Fusion
    from cranfield.evaluation.index_quality import IndexQuality
    from cranfield.evaluation.scores import Scores
    from cranfield.measures import Measure


UNITS = {"topic": "topics", "item": "items", "concept": "concepts"}


def scores_document(
    scores: Scores, *, per: Sequence[str] = (), ranks: bool = False, **_: object
) -> Document:
    """The leaderboard, how far ties can move it, and the values of the units in `per`.

    With `ranks` every measure has the rank of each run beside its value.
    """
    tables = [_with_density(scores) if scores.task == "labels" else leaderboard(scores)]
    if ranks:
        tables = [rank_table(scores)]
    if scores.tie_range:
        tables.append(tie_table(scores))
    if "errors_from" in scores.facts:
        tables.append(error_table(scores))
        if "effects" in scores.run_facts[0]:
            tables.append(effect_table(scores))
    if "draws" in scores.facts and scores.task == "regions":
        tables += resampled_tables(scores)
    if scores.doubt is not None:
        tables += doubt_tables(scores)
    long_tables = [per_unit(scores, unit) for unit in per]
    readable = [table for unit in per for table in unit_tables(scores, unit)]
    machine = long_tables[0] if long_tables else None
    payload = partial(scores.to_dict, per=per)
    return Document(payload, [*tables, *readable], scores.notes, machine, lead=scores.verdict())


def score_columns(scores: Scores) -> list[Column]:
    """A column per measure that knows which end of it is good."""
    best = {True: "max", False: "min", None: ""}
    return [
        Column(
            str(m),
            digits=_digits(m),
            best=best[m.higher_is_better],
            heading=m.mean_label,
            bar=i == 0,
        )
        for i, m in enumerate(scores.measures)
    ]


def _digits(measure: Measure) -> int:
    return 0 if measure.averaging == "sum" else 4


def leaderboard(scores: Scores) -> Table:
    """The means of all runs, best first, the best of each column marked, and their topics."""
    unit = f"{scores.main_unit}s"
    columns = [Column("run", numeric=False), *score_columns(scores), Column(unit)]
    means = scores.mean()
    rows: list[list[Cell]] = [
        [scores.runs[i], *means[scores.runs[i]].values(), scores.evaluated[i]]
        for i in scores.best_first()
    ]
    return Table(columns, rows, notes=_left_out_notes(scores))


def error_table(scores: Scores) -> Table:
    """How many boxes of each run are right, wrong in which way, and missed."""
    kinds = list(scores.run_facts[0]["errors"])
    columns = [Column("run", numeric=False), *(Column(kind, digits=0) for kind in kinds)]
    rows: list[list[Cell]] = [
        [scores.runs[i], *scores.run_facts[i]["errors"].values()] for i in scores.best_first()
    ]
    note = f"boxes with a confidence of {scores.facts['errors_from']:g} or more, overlap 0.5"
    return Table(columns, rows, "What became of the boxes", [note])


def effect_table(scores: Scores) -> Table:
    """How much average precision each run would gain without the errors of each kind."""
    kinds = list(scores.run_facts[0]["effects"])
    columns = [Column("run", numeric=False), *map(Column, kinds)]
    rows: list[list[Cell]] = [
        [scores.runs[i], *scores.run_facts[i]["effects"].values()] for i in scores.best_first()
    ]
    note = "AP.region(iou=0.5) of all boxes, whatever their confidence; gains do not add up"
    return Table(columns, rows, "What mending errors would add", [note])


def resampled_tables(scores: Scores) -> list[Table]:
    """Intervals of the means of runs over resampled items, and the differences of runs."""
    note = f"{scores.facts['draws']} resamples of the items, seed {scores.facts['seed']}"
    columns = [Column("measure", numeric=False), Column("run", numeric=False), Column("mean")]
    columns += [Column("low", heading="from"), Column("high", heading="to")]
    rows: list[list[Cell]] = []
    for m in scores.measures:
        means = scores.plain_means(m)
        for i in scores.best_first(m):
            ends = scores.run_facts[i]["ci"][str(m)] or (None, None)
            rows.append([str(m), scores.runs[i], means[i], *ends])
    tables = [Table(columns, rows, "95 % intervals", [note])]
    if scores.facts["pairs"]:
        columns = [Column(name, numeric=False) for name in ("measure", "a", "b")]
        columns += [Column("difference"), Column("low", heading="from")]
        columns += [Column("high", heading="to"), Column("p"), Column("p_corrected")]
        rows = [
            [
                *(row[name] for name in ("measure", "a", "b", "difference")),
                *(row["ci"] or (None, None)),
                *(row[name] for name in ("p", "p_corrected")),
            ]
            for row in scores.facts["pairs"]
        ]
        note = "p: from the spread of the resampled differences; corrected by Holm per measure"
        tables.append(Table(columns, rows, "Differences of runs", [note]))
    return tables


def rank_table(scores: Scores) -> Table:
    """The mean of every run under every measure with its rank; runs that tie share one."""
    from cranfield.comparison.standings import shared_ranks

    columns = [Column("run", numeric=False)]
    cells: list[list[Cell]] = [[run] for run in scores.runs]
    for column, m in zip(score_columns(scores), scores.measures, strict=True):
        columns += [column, Column(f"{m}_rank", 0, heading="rank")]
        values = (float(v) for v in scores.overall[m])
        for row, value, rank in zip(cells, values, shared_ranks(scores, m), strict=True):
            row += [value, rank]
    cells = [cells[i] for i in scores.best_first()]
    return Table(columns, cells, notes=_left_out_notes(scores))


def _left_out_notes(scores: Scores) -> list[str]:
    """How many topics (items, concepts) the means leave out; measures that agree share a line."""
    groups: dict[tuple[str, str], list[str]] = {}
    for m in scores.measures:
        left_out = zip(scores.runs, scores.left_out(m), strict=True)
        if counts := ", ".join(f"{run} {n}" for run, n in left_out if n):
            unit = UNITS.get(scores.unit_of[m], "units")
            groups.setdefault((unit, counts), []).append(str(m))
    return [
        f"{names[0]} is undefined for some {unit}, which its mean leaves out: {counts}"
        if len(names) == 1
        else f"{', '.join(names)} are undefined for some {unit}, which their means leave out: "
        f"{counts}"
        for (unit, counts), names in groups.items()
    ]


def per_unit(scores: Scores, unit: str) -> Table:
    """The values of each run for each topic (item, concept), then for all of them."""
    measures = scores.measures_of(unit)
    columns = [Column("run", numeric=False), Column(unit, numeric=False)]
    columns += [Column(str(m), digits=_digits(m)) for m in measures]
    means = scores.mean()
    rows: list[list[Cell]] = [list(row.values()) for row in scores.rows(unit)]
    for run in scores.runs:
        values = [means[run][str(m)] for m in measures]
        rows.append([run, "all", *(None if math.isnan(v) else v for v in values)])
    return Table(columns, rows, f"Per {unit}")


def unit_tables(scores: Scores, unit: str) -> list[Table]:
    """What `per_unit` has as people read it: topics (items, concepts) by runs, or by measures.

    A run alone has a column for each measure; several have a table for each.
    """
    measures = scores.measures_of(unit)
    long = per_unit(scores, unit)
    units = list(dict.fromkeys(row[1] for row in long.rows))
    if len(scores.runs) == 1:
        columns = [Column(unit, numeric=False), *long.columns[2:]]
        return [Table(columns, [row[1:] for row in long.rows], long.title)]
    tables = []
    for j, m in enumerate(measures, 2):
        cells = {(row[0], row[1]): row[j] for row in long.rows}
        columns = [Column(unit, numeric=False)]
        columns += [Column(run, digits=_digits(m)) for run in scores.runs]
        rows = [[name, *(cells.get((run, name)) for run in scores.runs)] for name in units]
        tables.append(Table(columns, rows, f"{m} per {unit}"))
    return tables


def tie_table(scores: Scores) -> Table:
    """The least and the greatest value that the orders within ties can give."""
    measure_columns = score_columns(scores)
    rows: list[list[Cell]] = []
    for i in scores.best_first():
        row: list[Cell] = [scores.runs[i]]
        for m, column in zip(scores.measures, measure_columns, strict=True):
            ends = scores.tie_range.get(m)
            row.append(f"{column.show(ends[i][0])} to {column.show(ends[i][1])}" if ends else None)
        rows.append(row)
    columns = [Column("run", numeric=False)]
    columns += [Column(c.name, heading=c.label) for c in measure_columns]
    return Table(columns, rows, "How far the order within ties can move each value")


def _with_density(scores: Scores) -> Table:
    """The leaderboard with the label cardinality and density of every run and of the truth."""
    board = leaderboard(scores)
    true = scores.facts.get("truth")
    if true is None or not scores.run_facts:
        return board
    measure_names = {str(m) for m in scores.measures}
    density = {
        "label_cardinality": Column("LabelCardinality", digits=2, heading="labels/item"),
        "label_density": Column("LabelDensity", digits=3, heading="density"),
    }
    # Those asked for as measures have a column already.
    keys = [key for key, column in density.items() if column.name not in measure_names]
    rows: list[list[Cell]] = [
        [*row, *(scores.run_facts[i][k] for k in keys)]
        for row, i in zip(board.rows, scores.best_first(), strict=True)
    ]
    truth_values = {column.name: true[key] for key, column in density.items()}
    values: list[Cell] = [truth_values.get(str(m)) for m in scores.measures]
    rows.append(["(truth)", *values, true["items"], *(true[k] for k in keys)])
    # The row of the truth does not compete: a run alone is not the best of anything.
    alone = len(scores.runs) == 1
    columns = [
        *(replace(c, best="") if alone else c for c in board.columns),
        *(density[key] for key in keys),
    ]
    return Table(columns, rows, board.title, board.notes)


# A table of more topics, items and pairs is too long to read; JSON has them all.
ROWS_SHOWN = 10
MOST_RUNS = 20


def doubt_tables(scores: Scores) -> list[Table]:
    """Both parts of every interval, who is better, each place, and what carries the doubt."""
    tables = [_doubt_of_runs(scores)]
    if len(scores.runs) > 1:
        tables += [_better_pairs(scores), _place_chances(scores)]
    tables.append(_doubtful_units(scores))
    if scores.doubt is not None and scores.doubt.items:
        tables.append(_doubtful_items(scores))
    if scores.run_facts and "bounds" in scores.run_facts[0]:
        tables.insert(1, _score_bounds(scores))
    return tables


def _score_bounds(scores: Scores) -> Table:
    """The least and the greatest value that the cells without a judgement allow."""
    columns = [_text_column("measure"), _text_column("run"), Column("expected")]
    columns += [Column("lowest"), Column("highest")]
    rows: list[list[Cell]] = []
    for m in scores.measures:
        for i in scores.best_first(m):
            ends = scores.run_facts[i]["bounds"][str(m)]
            if ends is not None:
                rows.append([str(m), scores.runs[i], float(scores.overall[m][i]), *ends])
    note = "lowest and highest: with the worst and the best labels of the cells not judged"
    return Table(columns, rows, "Bounds whatever the other cells are", [note])


def _text_column(name: str) -> Column:
    return Column(name, numeric=False)


def _doubt_of_runs(scores: Scores) -> Table:
    from cranfield.evaluation.truth_uncertainty import run_doubts

    unit = f"{scores.main_unit}s"
    columns = [_text_column("measure"), _text_column("run"), Column("expected")]
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
    return Table(columns, rows, "How far the values are sure", _doubt_notes(scores, unit))


def _doubt_notes(scores: Scores, unit: str) -> list[str]:
    doubt = scores.doubt
    if doubt is None:
        return []
    exact = f"; exact for {', '.join(doubt.exact)}" if doubt.exact else ""
    imputed = "judged_cells" in scores.facts.get("truth", {})
    allowing = "judged cells" if imputed else "probabilities"
    return [
        f"expected: over truths that the {allowing} allow; ± truth: the spread that comes "
        f"from the truth; ± {unit}: the spread that comes from the choice of {unit}.",
        f"95 % intervals of the truth alone, of the {unit} alone, and of both together. "
        f"{doubt.draws} draws of the whole truth, the same for all runs, seed {doubt.seed}{exact}.",
    ]


def _better_pairs(scores: Scores) -> Table:
    from cranfield.evaluation.truth_uncertainty import better_rows

    columns = [_text_column("measure"), _text_column("a"), _text_column("b"), Column("difference")]
    columns += [Column("by_truth", heading="± truth"), Column("better", heading="a better")]
    rows: list[list[Cell]] = [list(row.values()) for row in better_rows(scores)]
    note = f"a better: over the draws of the truth, on these {scores.main_unit}s; a tie is half."
    return Table(columns, rows, "Who is better under this truth", [note]).first(10 * ROWS_SHOWN)


def _place_chances(scores: Scores) -> Table:
    doubt = scores.doubt
    count = min(len(scores.runs), MOST_RUNS)
    columns = [_text_column("measure"), _text_column("run")]
    columns += [Column(f"place_{i + 1}", 3, heading=str(i + 1)) for i in range(count)]
    rows: list[list[Cell]] = []
    for m in scores.measures:
        if doubt is None or m.higher_is_better is None:
            continue
        for run, places in zip(scores.runs, doubt.places(m).tolist(), strict=True):
            rows.append([str(m), run, *places[:count]])
    return Table(columns, rows, "Probability of each place")


def _doubtful_units(scores: Scores) -> Table:
    from cranfield.evaluation.truth_uncertainty import topic_doubts

    unit = scores.main_unit
    columns = [_text_column("measure"), _text_column("unit"), Column("share"), Column("spread")]
    rows: list[list[Cell]] = []
    for m in map(str, scores.measures):
        largest = [t for t in topic_doubts(scores) if t.measure == m][:ROWS_SHOWN]
        rows += [[t.measure, t.topic, t.share, t.spread] for t in largest]
    note = "share: of the variance that comes from the truth, averaged over runs"
    return Table(columns, rows, f"The {unit}s that carry the doubt", [note])


def _doubtful_items(scores: Scores) -> Table:
    columns = [
        _text_column("measure"),
        _text_column("topic"),
        _text_column("item"),
        Column("share"),
    ]
    rows: list[list[Cell]] = []
    doubt = scores.doubt
    for m in map(str, scores.measures):
        largest = [i for i in (doubt.items if doubt else ()) if i.measure == m][:ROWS_SHOWN]
        rows += [[i.measure, i.topic, i.item, i.share] for i in largest]
    note = "share: of the variance that comes from the truth, in the mean over runs"
    return Table(columns, rows, "The items that carry the doubt", [note])


def fusion_document(fusion: Fusion, **_: object) -> Document:
    """The weights of the runs; with folds, those of each and what they reach."""
    runs = Table(
        [Column("run", numeric=False), Column("weight", digits=2)],
        [list(pair) for pair in zip(fusion.names, fusion.weights, strict=True)],
        fusion.headline(),
    )
    tables = [runs]
    if fusion.folds:
        columns = [Column("fold"), Column("topics"), Column("tuned"), Column("held out")]
        columns += [Column(name, digits=2) for name in fusion.names]
        rows: list[list[Cell]] = [
            [number, len(fold.topics), fold.tuned, fold.held_out, *fold.weights]
            for number, fold in enumerate(fusion.folds, 1)
        ]
        notes = (f"{fusion.measure} of all topics, each held out: {fusion.held_out:.4f}",)
        tables.append(Table(columns, rows, f"Tuned for {fusion.measure}", notes))
    return Document(fusion.to_dict, tables, fusion.notes)


def feedback_document(feedback: Feedback, **_: object) -> Document:
    """A row for each measure: before, after, and the gain with its interval."""
    names = ("before", "after", "gain", "low", "high", "topics")
    rows: list[list[Cell]] = [
        [gain.measure, *(getattr(gain, name) for name in names)] for gain in feedback.gains
    ]
    columns = [Column("measure", numeric=False), *map(Column, names)]
    return Document(feedback.to_dict(), [Table(columns, rows, feedback.headline())], feedback.notes)


def annotation_document(annotation: Annotation, **_: object) -> Document:
    """A row for each concept."""
    table = Table(
        [Column("concept", numeric=False), Column("threshold")],
        [[concept, limit] for concept, limit in annotation.thresholds.items()],
        annotation.headline(),
    )
    return Document(annotation.to_dict, [table], annotation.notes)


def calibrated_run_document(answer: CalibratedRun, **_: object) -> Document:
    """Measures before and after, and what is true of the cells of each range of confidences."""
    rows: list[list[Cell]] = [[name, *values] for name, values in answer.measures.items()]
    columns = [Column("measure", numeric=False), Column("before"), Column("after")]
    tables = [Table(columns, rows, answer.headline())] if rows else []
    for when, bins in (("before", answer.before), ("after", answer.after)):
        heads = [Column("cells"), Column("mean confidence"), Column("true")]
        counted: list[list[Cell]] = [[b.cells, b.confidence, b.true] for b in bins]
        if counted:
            tables.append(Table(heads, counted, f"Reliability {when}"))
    return Document(answer.to_dict, tables, answer.notes)


def concept_query_document(ranking: ConceptRanking, **_: object) -> Document:
    """A row per query with its first items."""
    columns = [Column(name, numeric=False) for name in ("topic", "query", "first items")]
    rows = [[t, q, ", ".join(ranking.best(t))] for t, q in ranking.queries]
    return Document(ranking.to_dict, [Table(columns, rows, ranking.headline())], ranking.notes)


def explanations_document(answer: Explanations, **_: object) -> Document:
    """Labels, derivations and values of the item, run by run."""
    tables = [
        table for explanation in answer.explained for table in _explanation_tables(explanation)
    ]
    return Document(answer.to_dict, tables, answer.notes)


def _explanation_tables(explanation: ItemExplanation) -> Iterator[Table]:
    union = [*explanation.truth, *(c for c in explanation.predicted if c not in explanation.truth)]
    reasons = {c: "; ".join(v.rule for v in explanation.broken if v.concept == c) for c in union}
    rows: list[list[Cell]] = []
    for concept in union:
        true, predicted = concept in explanation.truth, concept in explanation.predicted
        verdict = "right" if true and predicted else "missed" if true else "wrong"
        confidence = None if explanation.confidences is None else explanation.confidences[concept]
        rows.append(
            [
                concept,
                "yes" if true else "",
                "yes" if predicted else "",
                confidence,
                verdict,
                reasons[concept],
            ]
        )
    columns = [
        Column(n, numeric=n == "confidence")
        for n in ("concept", "true", "predicted", "confidence", "verdict", "broken rule")
    ]
    yield Table(columns, rows, f"{explanation.item} in {explanation.run}")
    for derivation in explanation.derivations:
        yield _derivation_table(derivation)
    if explanation.values:
        values: list[list[Cell]] = [[name, value] for name, value in explanation.values.items()]
        yield Table(
            [Column("measure", numeric=False), Column("value")], values, "Values of this item"
        )


def _derivation_table(derivation: Derivation) -> Table:
    ranked = derivation.measure.name == "SRP"
    columns = [
        Column("label", numeric=False),
        Column("role", numeric=False),
        Column("assigned to" if ranked else "nearest", numeric=False),
        Column("cost"),
        *([] if ranked else [Column("agreement")]),
        Column("relatedness" if ranked else "pays"),
    ]
    rows: list[list[Cell]] = [
        [s.label, s.role, s.partner, s.cost, *([] if ranked else [s.agreement]), s.counts]
        for s in derivation.steps
    ]
    return Table(columns, rows, str(derivation.measure), [derivation.arithmetic])


def category_votes_document(scores: UncertainScores, **_: object) -> Document:
    """Distributions per topic, bands over depths, categories of the queries, and who is better."""
    tables = [_category_topics(scores)]
    if scores.bands:
        tables.append(_category_bands(scores))
    tables.append(_categories(scores))
    if scores.comparisons:
        tables.append(_better_in_category(scores))
    return Document(scores.to_dict, tables, scores.notes)


def _depth(scores: UncertainScores) -> str:
    return "" if scores.k is None else f"@{scores.k}"


def _category_topics(scores: UncertainScores) -> Table:
    names = [f"{m}{_depth(scores)}" for m in ("P", "R")]
    heads = [_text_column("run"), _text_column("topic")]
    if scores.k is None:
        heads.append(Column("items"))
    heads += [
        Column(f"{n} {statistic}") for n in names for statistic in ("mean", "sd", "5 %", "95 %")
    ]
    rows: list[list[Cell]] = []
    for name, topics in scores.runs.items():
        for t in topics:
            row: list[Cell] = [name, t.topic, *([t.retrieved] if scores.k is None else [])]
            for d in (t.precision, t.recall):
                row += (
                    [None] * 4 if d is None else [d.mean, d.sd, d.quantile(0.05), d.quantile(0.95)]
                )
            rows.append(row)
        p, r = scores.mean(name, "precision"), scores.mean(name, "recall")
        blank: list[Cell] = [None] if scores.k is None else []
        rows.append([name, "all", *blank, *p, None, None, *r, None, None])
    which = "all items" if scores.k is None else f"the first {scores.k} items"
    return Table(heads, rows, f"Uncertain precision and recall of {which}")


def _category_bands(scores: UncertainScores) -> Table:
    heads = [_text_column("run"), Column("k")]
    heads += [
        Column(f"{m} {statistic}") for m in ("P", "R") for statistic in ("mean", "low", "high")
    ]
    rows: list[list[Cell]] = [[b.run, b.k, *b.precision, *b.recall] for b in scores.bands]
    note = "low, high: the band of nine tenths around the mean over topics"
    return Table(heads, rows, "Precision and recall over depths", [note])


def _categories(scores: UncertainScores) -> Table:
    seen: dict[str, list[list[Cell]]] = {}
    for topics in scores.runs.values():
        for t in topics:
            seen.setdefault(
                t.topic, [[t.topic, c.category, c.probability, c.size] for c in t.categories]
            )
    heads = [
        _text_column("topic"),
        _text_column("category"),
        Column("probability"),
        Column("size", digits=2),
    ]
    rows = [row for rows_of in seen.values() for row in rows_of]
    note = "probability: that the query is of it; size: expected number of its items"
    return Table(heads, rows, "Categories of the queries", [note])


def _better_in_category(scores: UncertainScores) -> Table:
    heads = [_text_column("a"), _text_column("b"), _text_column("topic")]
    heads += [Column(c) for c in ("a better", "equal", "b better")] + [Column("p", below=True)]
    rows: list[list[Cell]] = []
    for c in scores.comparisons:
        for topic, o in [*c.topics.items(), ("all", c.overall)]:
            p = c.p if topic == "all" else None
            rows.append([c.a, c.b, topic, o.better, o.equal, o.worse, p])
    measure = f"P{_depth(scores)}" if scores.k else "R"
    notes = ["p: paired randomisation test of the expected values over topics"]
    return Table(heads, rows, f"Probability that a run has the higher {measure}", notes)


def displacement_document(
    scores: DisplacementScores, *, per: Sequence[str] = (), **_: object
) -> Document:
    """Means over subjects, what they are made of, tests between runs, and more if asked for."""
    tables = [_displacement_overview(scores)]
    parts = _displacement_parts(scores)
    if parts is not None:
        tables.append(parts)
    if scores.pairs:
        tables.append(_displacement_pairs(scores))
    machine = tables[0]
    if "subject" in per:
        machine = _listing(scores, scores.subject_rows(), ("run", "subject"), "Per subject")
        tables.append(machine)
    if "topic" in per:
        keys = ("run", "subject", "topic")
        machine = _listing(scores, scores.topic_rows(), keys, "Per subject and topic")
        tables.append(machine)
    return Document(partial(scores.to_dict, per=per), tables, scores.notes, machine)


def _displacement_overview(scores: DisplacementScores) -> Table:
    columns = [Column("run", numeric=False)]
    for m in scores.measures:
        columns.append(Column(str(m), best="max" if m.higher_is_better else "min"))
        columns.append(Column(f"sd of {m}", heading="sd"))
    columns += [Column("subjects"), Column("topics")]
    rows: list[list[Cell]] = []
    for r, run in enumerate(scores.runs):
        row: list[Cell] = [run]
        for m in scores.measures:
            row += [float(scores.mean(m)[r]), _number(scores.spread(m)[r])]
        rows.append([*row, len(scores.subjects), len(scores.topics)])
    return Table(columns, rows, notes=["sd: between subjects"])


def _displacement_parts(scores: DisplacementScores) -> Table | None:
    """What the displacement is made of, under each supposition."""
    sums = [(m, parts) for m in scores.measures if (parts := scores.parts(m)) is not None]
    if not sums:
        return None
    columns = [Column("run", numeric=False), Column("listed"), Column("not retrieved")]
    columns += [Column(f"{m} {part}") for m, _ in sums for part in ("retrieved", "other items")]
    rows: list[list[Cell]] = [
        [run, scores.listed, scores.absent[r], *(x for _, parts in sums for x in parts[r])]
        for r, run in enumerate(scores.runs)
    ]
    note = "listed: items of all lists; the two parts of each sum: of items retrieved, and not"
    return Table(columns, rows, "What the displacement is made of", [note])


def _displacement_pairs(scores: DisplacementScores) -> Table:
    columns = [Column(name, numeric=False) for name in ("measure", "a", "b")]
    columns += [Column("difference"), Column("p", below=True)]
    rows: list[list[Cell]] = [
        [p.measure, p.a, p.b, p.difference, _number(p.p)] for p in scores.pairs
    ]
    note = "paired randomisation test over subjects"
    return Table(columns, rows, "Differences between runs", [note])


def _listing(
    scores: DisplacementScores,
    rows: Iterable[dict[str, Any]],
    keys: Sequence[str],
    title: str,
) -> Table:
    columns = [Column(k, numeric=False) for k in keys]
    columns += [Column(str(m)) for m in scores.measures]
    return Table(columns, [list(row.values()) for row in rows], title)


def _number(value: float) -> float | None:
    return None if math.isnan(value) else float(value)


def index_quality_document(
    answer: IndexQuality, *, per: Sequence[str] = (), **_: object
) -> Document:
    """The scores of queries that know the answer and of runs, and what the runs lose."""
    from cranfield.evaluation.index_quality import BEST, OPTIMAL

    scores = answer.scores
    board = leaderboard(scores)
    notes = [f"{OPTIMAL}: Rocchio's, best for the difference of mean cosines, not for a measure"]
    if answer.reference == BEST:
        notes.append(f"{BEST}: found by descent on a loss of the ranking")
    tables = [replace(board, notes=[*board.notes, *notes])]
    if answer.others:
        rows: list[list[Cell]] = []
        for run in answer.others:
            lost = [answer.lost(run, m) for m in scores.measures]
            rows.append([run, *(f"{value:.4f} ({share:.0%})" for value, share in lost)])
        columns = [Column("run", numeric=False)]
        columns += [Column(str(m), heading=m.mean_label) for m in scores.measures]
        title = f"Lost in the query (and as a share of what the {answer.reference} reaches)"
        tables.append(Table(columns, rows, title))
    unit_tables = [per_unit(scores, unit) for unit in per]
    return Document(
        partial(answer.to_dict, per=per),
        [*tables, *unit_tables],
        answer.notes,
        unit_tables[0] if unit_tables else None,
    )
