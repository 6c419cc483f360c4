"""Tables of agreement: coefficients, pairs, items, groups, annotators and what they lead to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

from cranfield.agreement.aggregation import AggregatedTruth
from cranfield.agreement.agreement import (
    PAIR_KEYS,
    Agreement,
    FormsReport,
    GroupAgreement,
    pair_rows,
)
from cranfield.agreement.card_sorting import GroupingStudy, KindShare
from cranfield.agreement.coefficients import AgreementRow
from cranfield.agreement.majority import ItemAgreement, MajorityShares
from cranfield.agreement.quality import Quality
from cranfield.agreement.ranking_robustness import Rankings, SystemsStudy
from cranfield.agreement.regions import BoxAgreement, RegionAgreement
from cranfield.agreement.weak_labels import WeakLabels
from cranfield.data.judgement_log import JudgementLog
from cranfield.report.document import Cell, Column, Document, Table

if TYPE_CHECKING:
    from cranfield.report.charts.model import Chart

# A matrix of more annotators or truths than this is too wide to read; JSON has all pairs.
MATRIX_UP_TO = 15
# Longer tables are cut where people read them.
ROWS_SHOWN = 200
FORMS_SHOWN = 20


def document(answer: Agreement, **_: object) -> Document:
    """All parts of a study of agreement.

    CSV and TSV hold one table: that of the first part beyond the usual coefficients.
    """
    parts: list[tuple[list[Table], Table | None]] = []
    if answer.categories is not None:
        rows = answer.categories
        title = "Agreement per exclusive group"
        names = tuple(rows[0].values) if rows else ()
        parts.append(([_coefficient_table(title, "category", rows, names)], None))
    if answer.pairs is not None:
        parts.append(_pairs(answer))
    if answer.items is not None:
        parts.append(_items(answer.items))
    if answer.majority is not None:
        parts.append(([_majority(answer.majority)], None))
    if answer.groups is not None:
        parts.append((_groups(answer.groups), None))
    if answer.quality is not None:
        parts.append((_quality(answer.quality), None))
    if answer.forms is not None:
        parts.append(([_forms(answer.forms)], None))
    if answer.systems is not None:
        parts.append((_systems(answer.systems), None))
    machine = next((m or tables[0] for tables, m in parts if tables), None)
    tables = [*_coefficient_tables(answer), *(t for tables, _ in parts for t in tables)]
    figures = partial(_figures, answer)
    return Document(answer.to_dict, tables, answer.notes, machine, figures=figures)


def _figures(answer: Agreement) -> Sequence[Chart]:
    # All charts are loaded with it, which takes longer than a small log.
    from cranfield.report.charts.annotation import agreement_figures

    return agreement_figures(answer)


def quality_document(answer: Quality, **_: object) -> Document:
    """Who should not count, and why."""
    return Document(answer.to_dict, _quality(answer), answer.notes)


def systems_document(answer: SystemsStudy, **_: object) -> Document:
    """Rankings of systems by every truth."""
    return Document(answer.to_dict, _systems(answer), answer.notes)


def log_table(log: JudgementLog) -> Table:
    """A judgement log as its file has it."""
    return Table([_text(h) for h in log.header], list(log.rows()))


def map_table(shares: dict[str, float]) -> Table:
    """An agreement map as its file has it."""
    rows: list[list[Cell]] = [[name, share] for name, share in shares.items()]
    return Table([_text("concept"), Column("agreement")], rows)


def _text(name: str) -> Column:
    return Column(name, numeric=False)


def _coefficient_tables(answer: Agreement) -> list[Table]:
    coefficients, row_kind = answer.found, answer.row_kind
    notes = ["each category against all others"] if row_kind == "category" else []
    rows = [coefficients.overall, *coefficients.concepts]
    tables = [
        _coefficient_table(
            f"Agreement per {row_kind}", row_kind, rows, coefficients.coefficients, notes
        )
    ]
    if answer.resampling is not None:
        tables.append(_interval_table(answer))
    people: list[list[Cell]] = [
        [a.annotator, a.judgements, a.accuracy_to_majority] for a in coefficients.annotators
    ]
    columns = [_text("annotator"), Column("judgements"), Column("accuracy_to_majority")]
    ties = (
        [f"{coefficients.ties} tied units count by their expected value"]
        if coefficients.ties
        else []
    )
    tables.append(Table(columns, people, "Annotators", ties))
    return tables


def _coefficient_table(
    title: str,
    row_kind: str,
    rows: Sequence[AgreementRow],
    names: Sequence[str],
    notes: Sequence[str] = (),
) -> Table:
    columns = [_text(row_kind), Column("units"), *(Column(n) for n in names)]
    cells: list[list[Cell]] = [[r.name, r.units, *(r.values[n] for n in names)] for r in rows]
    return Table(columns, cells, title, notes)


def _interval_table(answer: Agreement) -> Table:
    agreement, resampling = answer.found, answer.resampling
    columns = [_text(answer.row_kind)]
    for name in agreement.coefficients:
        columns += [Column(f"{name}_low"), Column(f"{name}_high")]
    rows: list[list[Cell]] = [
        [row.name, *(x for name in agreement.coefficients for x in row.intervals[name])]
        for row in (agreement.overall, *agreement.concepts)
    ]
    if resampling is None:
        return Table(columns, rows)
    title = (
        f"Intervals: {resampling.confidence:.0%} of {resampling.resamples} samples of the items, "
        f"seed {resampling.seed}"
    )
    return Table(columns, rows, title)


def _pairs(answer: Agreement) -> tuple[list[Table], Table | None]:
    """A list of all pairs; for a few annotators also a matrix with the column Merged."""
    pairs = answer.pairs
    if pairs is None:
        return [], None
    heads = [_text("a"), _text("b"), *(Column(k) for k in PAIR_KEYS[2:])]
    note = f"mean of Cohen's kappa over pairs: {pairs.mean_cohen:.4f}"
    pair_table = Table(heads, pair_rows(pairs), "Pairs of annotators", [note])
    tables = [_first_rows(pair_table)]
    names = pairs.annotators
    if len(names) <= MATRIX_UP_TO:
        merged = {a.annotator: a.accuracy_to_majority for a in answer.found.annotators}
        matrix = pairs.matrix(pairs.accuracy)
        rows: list[list[Cell]] = [
            [
                name,
                *(float(matrix[i, j]) if j > i else None for j in range(1, len(names))),
                merged.get(name),
            ]
            for i, name in enumerate(names)
        ]
        columns = [_text(""), *(Column(n, digits=3) for n in names[1:]), Column("Merged", digits=3)]
        mean_notes = [f"mean over pairs: {pairs.mean_accuracy:.4f}"]
        tables.insert(0, Table(columns, rows, "Accuracy of annotators", mean_notes))
    return tables, pair_table


def _first_rows(table: Table) -> Table:
    """A table for people to read; CSV and JSON have all of its rows."""
    hidden = len(table.rows) - ROWS_SHOWN
    if hidden <= 0:
        return table
    note = f"... and {hidden} more rows (CSV and JSON have all)"
    return Table(table.columns, table.rows[:ROWS_SHOWN], table.title, [note, *table.notes])


def _items(items: Sequence[ItemAgreement]) -> tuple[list[Table], Table | None]:
    rows: list[list[Cell]] = [[i.item, i.judgements, i.accuracy, i.selected] for i in items]
    heads = [_text("item"), Column("judgements"), Column("accuracy"), Column("accuracy_selected")]
    mean_accuracy, mean_selected = (_known_mean([row[c] for row in rows]) for c in (2, 3))
    note = f"mean accuracy: {mean_accuracy:.4f}; selected: {mean_selected:.4f}"
    table = Table(heads, rows, "Items", [note])
    return [_first_rows(table)], table


def _known_mean(values: Sequence[Cell]) -> float:
    finite = [v for v in values if isinstance(v, float) and not math.isnan(v)]
    return sum(finite) / len(finite) if finite else math.nan


def _majority(shares: MajorityShares) -> Table:
    rows: list[list[Cell]] = [[s.name, s.selected, s.every] for s in shares.concepts]
    rows += [
        ["mean per concept", shares.mean("concepts", "selected"), shares.mean("concepts", "all")],
        ["mean per item", shares.mean("items", "selected"), shares.mean("items", "all")],
    ]
    note = "selected: units where at least one annotator selected the concept; all: every unit"
    columns = [_text("concept"), Column("selected"), Column("all")]
    return Table(columns, rows, "Agreement with the majority", [note])


def _groups(groups: GroupAgreement) -> list[Table]:
    names, parts = groups.coefficients, [*groups.within, *groups.between]
    rows: list[list[Cell]] = [
        [g.title, g.annotators, g.row.units, *(g.row.values[n] for n in names)] for g in parts
    ]
    columns = [_text("group"), Column("annotators"), Column("units"), *map(Column, names)]
    tables = [Table(columns, rows, "Groups of annotators")]
    # Figures 6.5 and 6.6 of the thesis: one coefficient, concept by concept.
    coefficient = "free_marginal" if "free_marginal" in names else names[0]
    for unit, lists in (
        ("concept", [g.concepts for g in parts]),
        ("category", [g.categories for g in parts]),
    ):
        if not lists[0] or coefficient not in lists[0][0].values:
            continue
        heads = [_text(unit), *(Column(g.title) for g in parts)]
        unit_rows: list[list[Cell]] = [
            [row.name, *(rows_of[i].values[coefficient] for rows_of in lists)]
            for i, row in enumerate(lists[0])
        ]
        unit_label = "concept" if unit == "concept" else "exclusive group"
        tables.append(
            Table(heads, unit_rows, f"Groups of annotators per {unit_label}: {coefficient}")
        )
    return tables


def _forms(forms: FormsReport) -> Table:
    rows: list[list[Cell]] = [[b.annotator, b.item, b.reason] for b in forms.broken[:FORMS_SHOWN]]
    share = forms.rejected / forms.total if forms.total else 0.0
    notes = [f"{forms.rejected} of {forms.total} forms rejected ({share:.2%})"]
    hidden = len(forms.broken) - FORMS_SHOWN
    if hidden > 0:
        notes.insert(0, f"... and {hidden} more (JSON has all)")
    if not math.isnan(forms.seconds_kept):
        notes.append(
            f"mean seconds per form: kept {forms.seconds_kept:.1f}, "
            f"rejected {forms.seconds_rejected:.1f}"
        )
    columns = [_text("annotator"), _text("item"), _text("reason")]
    return Table(columns, rows, "Forms that break a rule", notes)


def _quality(quality: Quality) -> list[Table]:
    columns = [_text("annotator"), Column("judgements"), Column("kappa_to_others", digits=3)]
    if quality.with_times:
        columns.append(Column("median_seconds", digits=1))
    if quality.with_gold:
        columns += [Column("gold_correct"), Column("gold_asked")]
    rows: list[list[Cell]] = []
    order = {"exclude": 0, "look at": 1, "keep": 2}
    for p in sorted(quality.annotators, key=lambda p: order[p.verdict]):
        extra: list[Cell] = [p.seconds] if quality.with_times else []
        extra += [p.gold_correct, p.gold_asked] if quality.with_gold else []
        rows.append([p.annotator, p.judgements, p.skill, *extra, p.verdict, "; ".join(p.reasons)])
    seen = [p.verdict for p in quality.annotators]
    notes = [
        f"{seen.count('exclude')} of {len(seen)} annotators should not count (two kinds of signs), "
        f"{seen.count('look at')} are to be looked at (one)"
    ]
    heads = [*columns, _text("verdict"), _text("reasons")]
    tables = [Table(heads, rows, "Quality of annotators", notes)]
    if quality.with_times or quality.paid:
        tables.append(_effort(quality))
    return tables


def _effort(quality: Quality) -> Table:
    rows: list[list[Cell]] = [[n.replace("_", " "), v] for n, v in quality.effort.items()]
    notes = []
    if quality.paid:
        notes = [
            "every form is paid" if quality.paid["pay_rejected"] else "rejected forms are not paid"
        ]
    return Table([_text("effort"), Column("value")], rows, "Time and cost", notes)


def _systems(study: SystemsStudy) -> list[Table]:
    return [_ranking(ranking) for ranking in study.rankings]


def _ranking(ranking: Rankings) -> Table:
    apart = [p for p in ranking.pairs if p.concordant is False]
    notes = [
        f"mean over pairs: {ranking.mean_kendall():.4f}; Kolmogorov-Smirnov finds "
        f"{len(apart)} of {len(ranking.pairs)} pairs discordant"
        + (": " + ", ".join(f"{p.a} - {p.b}" for p in apart[:10]) if apart else "")
        + (" ..." if len(apart) > 10 else "")
    ]
    title = f"Rankings of {len(ranking.runs)} systems under {ranking.measure}: Kendall's tau"
    if len(ranking.truths) > MATRIX_UP_TO:
        rows: list[list[Cell]] = [[t, ranking.mean_kendall(t)] for t in ranking.truths]
        return Table([_text("truth"), Column("mean_kendall")], rows, title, notes)
    place = {name: i for i, name in enumerate(ranking.truths)}
    table: list[list[Cell]] = [
        [name, *([None] * len(place)), ranking.mean_kendall(name)] for name in ranking.truths
    ]
    for p in ranking.pairs:
        table[place[p.a]][place[p.b] + 1] = p.kendall
        table[place[p.b]][place[p.a] + 1] = p.kendall
    columns = [_text(""), *(Column(n, digits=3) for n in ranking.truths)]
    return Table([*columns, Column("mean", digits=3)], table, title, notes)


Shape = Literal["truth", "soft", "confidences"]


def aggregation_document(
    answer: AggregatedTruth, *, shape: Shape = "truth", **_: object
) -> Document:
    """The truth: its answers, the probability of every answer, or that of every concept."""
    if shape == "confidences":
        names, rows = ["item", "concept", "value"], answer.confidences()
    else:
        middle = ["concept", "value"] if answer.kind == "concept" else ["category"]
        if answer.names_questions:
            middle = ["question", "category"]
        names = ["item", *middle, "probability"]
        rows = answer.soft_rows() if shape == "soft" else answer.rows()
    last = names[-1]
    columns = [Column(name, numeric=name == last) for name in names]
    table = Table(columns, [[row[name] for name in names] for row in rows])
    return Document(answer.to_dict, [table], answer.notes)


def annotator_table(answer: AggregatedTruth) -> Table:
    """Who judged how much, and how reliably."""
    columns = [Column("annotator", numeric=False), Column("judgements"), Column("reliability")]
    return Table(columns, [list(person.values()) for person in answer.people()])


def confusion_table(answer: AggregatedTruth) -> Table:
    """What each annotator answers by true answer, where the method learns it."""
    names = ("annotator", "concept", "true", "answer")
    columns = [Column(name, numeric=False) for name in names] + [Column("probability")]
    return Table(columns, [list(row) for row in answer.confusion()])


def card_sorting_document(study: GroupingStudy, **_: object) -> Document:
    """The clusters, the kinds of reasons and how far people agree; for machines the square."""
    rows: list[list[Cell]] = [
        [number, len(c), ", ".join(c)] for number, c in enumerate(study.clusters, 1)
    ]
    heads = [Column("cluster", 0), Column("size", 0), Column("items", numeric=False)]
    note = f"together by people at {study.level:g} on average"
    tables = [Table(heads, rows, study.headline(), (note,))]
    for kinds, title in ((study.kinds, "Kinds of reasons"), (study.first_kinds, "First splits")):
        if kinds:
            tables.append(_kinds(kinds, title))
    if study.agreement:
        people: list[list[Cell]] = [list(pair) for pair in study.agreement]
        columns = [Column("a", numeric=False), Column("b", numeric=False), Column("Rand", 3)]
        note = f"adjusted Rand index, {study.mean_agreement:.3f} on average"
        tables.append(Table(columns, people, "Agreement of people", (note,)))
    square: list[list[Cell]] = [
        [item, *row.tolist()] for item, row in zip(study.items, study.together, strict=True)
    ]
    columns = [Column("item", numeric=False), *map(Column, study.items)]
    return Document(study.to_dict, tables, study.notes, machine=Table(columns, square))


def region_agreement_document(answer: RegionAgreement, **_: object) -> Document:
    """Agreement of boxes: of all and each concept, and of every two people."""
    note = (
        "agreement: 2 matched / boxes of both people; overlap: mean of matched boxes. Of the boxes "
        f"that match by place, {100 * answer.naming:.1f} % have the same concept."
    )
    if math.isnan(answer.naming):
        note = "no boxes match by place"
    concepts = _region_table("concept", (*answer.concepts, answer.overall), answer.headline(), note)
    pairs = _region_table("pair", answer.pairs, "Every two people")
    tables = [concepts, pairs] if len(answer.annotators) > 2 else [concepts]
    return Document(answer.to_dict, tables, answer.notes)


def _region_table(name: str, entries: Sequence[BoxAgreement], title: str, note: str = "") -> Table:
    columns = [Column(name, numeric=False), Column("boxes", 0), Column("matched", 0)]
    columns += [Column(label, 3) for label in ("agreement", "low", "high", "overlap")]
    rows: list[list[Cell]] = [
        [e.name, e.boxes, e.matched, e.agreement, *e.interval, e.overlap] for e in entries
    ]
    return Table(columns, rows, title, (note,) if note else ())


def _kinds(kinds: tuple[KindShare, ...], title: str) -> Table:
    rows: list[list[Cell]] = [[k.kind, k.count, 100 * k.share] for k in kinds]
    columns = [Column("kind", numeric=False), Column("count", 0), Column("share %", digits=1)]
    return Table(columns, rows, title)


def weak_labels_document(answer: WeakLabels, **_: object) -> Document:
    """How many items of each tag fit, and how well that was told where the truth is known."""
    columns = [Column("tag", numeric=False), Column("items"), Column("kept")]
    rows: list[list[Cell]] = [[f.tag, len(f.items), int(f.kept.sum())] for f in answer.tags]
    if answer.with_truth:
        columns += [Column("precision_before"), Column("precision"), Column("recall")]
        for row, f in zip(rows, answer.tags, strict=True):
            row += [f.before, f.precision, f.recall]
    return Document(
        answer.to_dict, [Table(columns, rows, "Items that fit their tag")], answer.notes
    )


def kept_items_table(answer: WeakLabels) -> Table:
    """The items that are kept, with how well each fits."""
    rows: list[list[Cell]] = [
        [row["item"], row["tag"], row["fit"]]
        for f in answer.tags
        for row in f.rows()
        if row["kept"]
    ]
    return Table([Column("item", numeric=False), Column("tag", numeric=False), Column("fit")], rows)
