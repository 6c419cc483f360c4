"""The tables of `cranfield agreement`, each with its part of the JSON answer."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cranfield.agreement.assess import Agreement, Bootstrap, Row, assess_agreement
from cranfield.agreement.coefficients import COEFFICIENTS
from cranfield.agreement.exclusive import Forms
from cranfield.agreement.groups import GroupAgreement, group_agreement
from cranfield.agreement.majority import accuracy_per_item, majority_agreement, vote
from cranfield.agreement.pairwise import pairwise
from cranfield.agreement.quality import AnnotatorQuality, check_quality
from cranfield.data.judgement_log import Floats, JudgementLog
from cranfield.io.judgement_log import read_annotator_groups, read_gold
from cranfield.report.document import Cell, Column, Document, Table

# A matrix of more annotators than this is too wide to read; the pairs are then a list.
MATRIX_UP_TO = 15
# Longer tables are cut where people read them.
ROWS_SHOWN = 200
FORMS_SHOWN = 20


def _text(name: str) -> Column:
    return Column(name, numeric=False)


def agreement_payload(found: Agreement, bootstrap: Bootstrap | None) -> dict[str, Any]:
    payload: dict[str, Any] = {
        "overall": found.overall.values,
        "concepts": _rows(found.concepts),
        "annotators": [
            {
                "annotator": a.annotator,
                "judgements": a.judgements,
                "accuracy_to_majority": a.accuracy_to_majority,
            }
            for a in found.annotators
        ],
    }
    if bootstrap is not None:
        payload["intervals"] = {
            "resamples": bootstrap.resamples,
            "confidence": bootstrap.confidence,
            "seed": bootstrap.seed,
            "overall": found.overall.intervals,
            "concepts": [{"concept": row.name, **row.intervals} for row in found.concepts],
        }
    return payload


def agreement_tables(
    found: Agreement, log: JudgementLog, bootstrap: Bootstrap | None
) -> list[Table]:
    rows = [found.overall, *found.concepts]
    what = "category" if log.kind == "category" and log.allowed is None else "concept"
    notes = ["each category against all others"] if what == "category" else []
    tables = [_coefficient_table(f"Agreement per {what}", what, rows, found.coefficients, notes)]
    if bootstrap is not None:
        tables.append(_interval_table(found, what, bootstrap))
    people: list[list[Cell]] = [
        [a.annotator, a.judgements, a.accuracy_to_majority] for a in found.annotators
    ]
    columns = [_text("annotator"), Column("judgements"), Column("accuracy_to_majority")]
    ties = f"{found.ties} tied units count for the lowest answer" if found.ties else ""
    tables.append(Table(columns, people, "Annotators", [ties] if ties else []))
    return tables


def _coefficient_table(
    title: str, what: str, rows: Sequence[Row], names: Sequence[str], notes: Sequence[str] = ()
) -> Table:
    columns = [_text(what), Column("units"), *(Column(n) for n in names)]
    cells: list[list[Cell]] = [[r.name, r.units, *(r.values[n] for n in names)] for r in rows]
    return Table(columns, cells, title, notes)


def _interval_table(found: Agreement, what: str, bootstrap: Bootstrap) -> Table:
    columns = [_text(what)]
    for name in found.coefficients:
        columns += [Column(f"{name}_low"), Column(f"{name}_high")]
    rows: list[list[Cell]] = [
        [row.name, *(x for name in found.coefficients for x in row.intervals[name])]
        for row in (found.overall, *found.concepts)
    ]
    title = (
        f"Intervals: {bootstrap.confidence:.0%} of {bootstrap.resamples} samples of the items, "
        f"seed {bootstrap.seed}"
    )
    return Table(columns, rows, title)


def categories_part(
    questions: JudgementLog, found: Agreement, bootstrap: Bootstrap | None
) -> Document:
    """The exclusive groups, each as one question; its answers are names without an order."""
    nominal = [name for name in found.coefficients if not COEFFICIENTS[name].needs]
    if not nominal:
        return Document({}, [])
    found = assess_agreement(questions, " ".join(nominal), bootstrap=bootstrap)
    payload = [{"category": row.name, "units": row.units, **row.values} for row in found.concepts]
    table = _coefficient_table(
        "Agreement per exclusive group", "category", found.concepts, found.coefficients
    )
    return Document({"categories": payload}, [table])


def pairs_part(log: JudgementLog, found: Agreement, progress: Callable[[float], None]) -> Document:
    """Accuracy, Cohen and Scott of each pair; a matrix with the column Merged for a few."""
    pairs = pairwise(log, progress)
    names = pairs.annotators
    columns = (pairs.units, pairs.accuracy, pairs.cohen, pairs.scott)
    rows: list[list[Cell]] = [
        [names[a], names[b], int(u), float(x), float(c), float(s)]
        for a, b, u, x, c, s in zip(pairs.first, pairs.second, *columns, strict=True)
    ]
    keys = ("a", "b", "units", "accuracy", "cohen", "scott")
    payload = {
        "pairs": [dict(zip(keys, row, strict=True)) for row in rows],
        "cohen_mean_of_pairs": pairs.mean_cohen,
    }
    heads = [_text("a"), _text("b"), *(Column(k) for k in keys[2:])]
    note = f"mean of Cohen's kappa over pairs: {pairs.mean_cohen:.4f}"
    whole = Table(heads, rows, "Pairs of annotators", [note])
    tables = [_shortened(whole)]
    if len(names) <= MATRIX_UP_TO:
        tables.insert(0, _matrix_table(found, pairs.matrix(pairs.accuracy), names))
    return Document(payload, tables, machine=whole)


def _shortened(table: Table) -> Table:
    """A table for people to read; CSV and JSON have all of its rows."""
    hidden = len(table.rows) - ROWS_SHOWN
    if hidden <= 0:
        return table
    more = f"... and {hidden} more rows (--format csv or json has all)"
    return Table(table.columns, table.rows[:ROWS_SHOWN], table.title, [more, *table.notes])


def _matrix_table(found: Agreement, matrix: Floats, names: Sequence[str]) -> Table:
    merged = {a.annotator: a.accuracy_to_majority for a in found.annotators}
    rows: list[list[Cell]] = [
        [
            name,
            *(float(matrix[i, j]) if j > i else None for j in range(1, len(names))),
            merged.get(name),
        ]
        for i, name in enumerate(names)
    ]
    columns = [_text(""), *(Column(n, digits=3) for n in names[1:]), Column("Merged", digits=3)]
    known = matrix[np.triu_indices(len(names), 1)]
    known = known[~np.isnan(known)]
    mean = float(known.mean()) if known.size else math.nan
    return Table(columns, rows, "Accuracy of annotators", [f"mean over pairs: {mean:.4f}"])


def items_part(log: JudgementLog) -> Document:
    """The accuracy among the annotators of each item."""
    every, selected = accuracy_per_item(log)
    judged = np.bincount(log.item, minlength=len(log.items))
    keys = ("item", "judgements", "accuracy", "accuracy_selected")
    rows: list[list[Cell]] = [
        [name, int(judged[i]), float(every[i]), float(selected[i])]
        for i, name in enumerate(log.items)
        if judged[i]
    ]
    mean = _known_mean(every)
    table = Table(
        [_text("item"), *(Column(k) for k in keys[1:])],
        rows,
        "Items",
        [f"mean accuracy: {mean:.4f}; selected: {_known_mean(selected):.4f}"],
    )
    payload = {"per_item": [dict(zip(keys, row, strict=True)) for row in rows]}
    return Document(payload, [_shortened(table)], machine=table)


def _known_mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(known.mean()) if known.size else math.nan


def majority_part(log: JudgementLog) -> Document:
    """Agreement with the majority, in both ways of counting."""
    found = majority_agreement(log, vote(log))
    means = {
        "concepts": {
            "selected": _known_mean(found.concept_selected),
            "all": _known_mean(found.concept_every),
        },
        "items": {
            "selected": _known_mean(found.item_selected),
            "all": _known_mean(found.item_every),
        },
    }
    concept_rows = _named(log.concepts, found.concept_selected, found.concept_every)
    item_rows = _named(log.items, found.item_selected, found.item_every)
    payload = {
        "majority": {
            "mean": means,
            "concepts": [
                dict(zip(("concept", "selected", "all"), r, strict=True)) for r in concept_rows
            ],
            "items": [dict(zip(("item", "selected", "all"), r, strict=True)) for r in item_rows],
        }
    }
    note = "selected: units where somebody selected the concept; all: every unit"
    columns = [Column("selected"), Column("all")]
    table = Table(
        [_text("concept"), *columns],
        [
            *concept_rows,
            ["mean per concept", *means["concepts"].values()],
            ["mean per item", *means["items"].values()],
        ],
        "Agreement with the majority",
        [note],
    )
    return Document(payload, [table])


def _named(names: Sequence[str], selected: Floats, every: Floats) -> list[list[Cell]]:
    return [
        [name, float(selected[i]), float(every[i])]
        for i, name in enumerate(names)
        if not math.isnan(every[i])
    ]


def map_part(log: JudgementLog, args: argparse.Namespace, beside: dict[str, Table]) -> Document:
    """The agreement map of the Ontology Score, concept,agreement, for a file of its own."""
    found = majority_agreement(log, vote(log))
    values = found.concept_every if args.map_counting == "all" else found.concept_selected
    rows: list[list[Cell]] = [
        [name, float(values[i])] for i, name in enumerate(log.concepts) if values[i] == values[i]
    ]
    beside[args.map] = Table([_text("concept"), Column("agreement")], rows)
    absent = len(log.concepts) - len(rows)
    said = f"{args.map}: {absent} concepts that nobody selected are not in the map"
    return Document({}, [], [said] if absent else [])


def groups_part(log: JudgementLog, path: str, coefficients: str) -> Document:
    """Agreement within groups of annotators and between their merged truths."""
    found: GroupAgreement = group_agreement(log, read_annotator_groups(path, log), coefficients)
    names = found.coefficients
    within = [
        {"group": g.name, "annotators": g.annotators, **g.row.values, "concepts": _rows(g.concepts)}
        for g in found.within
    ]
    between = [
        {"a": b.a, "b": b.b, "units": b.row.units, **b.row.values, "concepts": _rows(b.concepts)}
        for b in found.between
    ]
    parts = [(g.name, g.annotators, g.row, g.concepts) for g in found.within]
    parts += [(f"{b.a} - {b.b} (merged)", 2, b.row, b.concepts) for b in found.between]
    rows: list[list[Cell]] = [
        [name, people, row.units, *(row.values[n] for n in names)] for name, people, row, _ in parts
    ]
    columns = [_text("group"), Column("annotators"), Column("units"), *map(Column, names)]
    # Figures 6.5 and 6.6 of the thesis: one coefficient, concept by concept.
    shown = "free_marginal" if "free_marginal" in names else names[0]
    each: list[list[Cell]] = [
        [row.name, *(concepts[i].values[shown] for *_, concepts in parts)]
        for i, row in enumerate(parts[0][3])
    ]
    heads = [_text("concept"), *(Column(name) for name, *_ in parts)]
    return Document(
        {"groups": within, "between_groups": between},
        [
            Table(columns, rows, "Groups of annotators"),
            Table(heads, each, f"Groups of annotators per concept: {shown}"),
        ],
    )


def _rows(rows: Sequence[Row]) -> list[dict[str, Any]]:
    return [{"concept": row.name, **row.values} for row in rows]


def forms_part(log: JudgementLog, forms: Forms, reward: float | None) -> Document:
    """Which forms were rejected, by annotator and reason, with time and cost."""
    facts: dict[str, Any] = {
        "total": forms.total,
        "rejected": forms.rejected,
        "seconds_per_kept_form": forms.seconds_kept,
        "seconds_per_rejected_form": forms.seconds_rejected,
    }
    if reward is not None:
        facts["cost"] = reward * forms.total
        facts["cost_of_rejected"] = reward * forms.rejected
    payload = {
        "forms": facts
        | {
            "broken": [
                {
                    "annotator": b.annotator,
                    "item": b.item,
                    "category": b.group,
                    "answers": list(b.answers),
                }
                for b in forms.broken
            ]
        }
    }
    rows: list[list[Cell]] = [[b.annotator, b.item, b.reason] for b in forms.broken[:FORMS_SHOWN]]
    share = forms.rejected / forms.total if forms.total else 0.0
    notes = [f"{forms.rejected} of {forms.total} forms rejected ({share:.2%})"]
    if len(forms.broken) > FORMS_SHOWN:
        hidden = len(forms.broken) - FORMS_SHOWN
        notes.insert(0, f"... and {hidden} more (--format json has all)")
    if log.seconds is not None:
        notes.append(
            f"mean seconds per form: kept {forms.seconds_kept:.1f}, "
            f"rejected {forms.seconds_rejected:.1f}"
        )
    columns = [_text("annotator"), _text("item"), _text("reason")]
    return Document(payload, [Table(columns, rows, "Forms that break a rule", notes)])


def quality_part(
    log: JudgementLog, forms: Forms | None, args: argparse.Namespace, beside: dict[str, Table]
) -> Document:
    """Who should not count, and why; time and cost of what was judged."""
    gold = read_gold(args.gold, log) if args.gold else None
    people = check_quality(log, gold=gold, gold_minimum=args.gold_minimum, fast=args.fast)
    rejected = [p.annotator for p in people if p.rejected]
    clean = log.of_annotators(p.annotator for p in people if not p.rejected)
    if args.clean:
        beside[args.clean] = Table([_text(h) for h in clean.header], list(clean.rows()))
    after = assess_agreement(clean, args.coefficients).overall.values if len(clean) else {}
    payload: dict[str, Any] = {
        "quality": {
            "annotators": [_quality_row(p, args.gold is not None) for p in people],
            "rejected": rejected,
            "overall_without_rejected": after,
            "effort": _effort(log, forms, args.reward),
        }
    }
    tables = [_quality_table(people, gold is not None, log.seconds is not None)]
    if log.seconds is not None or args.reward is not None:
        tables.append(_effort_table(payload, args.reward))
    part = Document(payload, tables)
    if forms is None:
        return part
    about = forms_part(log, forms, args.reward)
    return Document(part.payload | about.payload, [*part.tables, *about.tables])


def _quality_row(person: AnnotatorQuality, gold: bool) -> dict[str, Any]:
    row: dict[str, Any] = {
        "annotator": person.annotator,
        "judgements": person.judgements,
        "kappa_to_others": person.skill,
        "median_seconds": person.seconds,
        "rejected": person.rejected,
        "reasons": list(person.reasons),
    }
    if gold:
        row |= {"gold_asked": person.gold_asked, "gold_correct": person.gold_correct}
    return row


def _quality_table(people: Sequence[AnnotatorQuality], gold: bool, timed: bool) -> Table:
    columns = [_text("annotator"), Column("judgements"), Column("kappa_to_others", digits=3)]
    if timed:
        columns.append(Column("median_seconds", digits=1))
    if gold:
        columns += [Column("gold_correct"), Column("gold_asked")]
    rows: list[list[Cell]] = []
    for p in sorted(people, key=lambda p: not p.rejected):
        extra: list[Cell] = [p.seconds] if timed else []
        extra += [p.gold_correct, p.gold_asked] if gold else []
        verdict = "; ".join(p.reasons) or "kept"
        rows.append([p.annotator, p.judgements, p.skill, *extra, verdict])
    count = sum(p.rejected for p in people)
    note = f"{count} of {len(people)} annotators should not count"
    return Table([*columns, _text("verdict")], rows, "Quality of annotators", [note])


def _effort(log: JudgementLog, forms: Forms | None, reward: float | None) -> dict[str, Any]:
    """Time and cost of the log: per judgement and per form."""
    key = log.annotator.astype(np.int64) * len(log.items) + log.item
    kept = int(np.unique(key).size)
    paid = kept if forms is None else forms.total
    effort: dict[str, Any] = {"forms": paid, "judgements": len(log)}
    if log.seconds is not None:
        effort["seconds"] = float(log.seconds.sum())
        effort["seconds_per_judgement"] = float(log.seconds.mean())
        effort["seconds_per_form"] = float(log.seconds.sum()) / kept
    if reward is not None:
        effort["cost"] = reward * paid
        effort["cost_per_judgement"] = reward * paid / len(log)
        effort["cost_per_kept_form"] = reward * paid / kept
    return effort


def _effort_table(payload: dict[str, Any], reward: float | None) -> Table:
    effort = payload["quality"]["effort"]
    rows: list[list[Cell]] = [[name.replace("_", " "), value] for name, value in effort.items()]
    note = [] if reward is None else ["every form is paid, also a rejected one"]
    return Table([_text("effort"), Column("value")], rows, "Time and cost", note)
