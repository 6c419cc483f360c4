"""Quality while a batch runs: agreement on its way, who stands out, and whether it matters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, select

from cranfield.agreement.coefficients import LEAST, Resampling, assess
from cranfield.agreement.quality import AnnotatorQuality, quality_of
from cranfield.agreement.ranking_robustness import compare_rankings
from cranfield.campaign.batches import Assignment as Given
from cranfield.campaign.batches import status_of
from cranfield.campaign.responses import collect_responses, suggestion_influence
from cranfield.campaign.submissions import ROWS
from cranfield.campaign.truth import expected_forms
from cranfield.data.judgement_log import FilledForm, JudgementLog
from cranfield.errors import CranfieldError, UsageError
from cranfield.io.labels import read_labels
from cranfield.options import DEFAULT_THRESHOLD
from cranfield.server.context import SECOND, Context
from cranfield.server.services.assessors import assessors_of
from cranfield.server.services.batch_factory import accepted_runs
from cranfield.server.services.batch_results import collect_forms, filled_forms, open_disputes
from cranfield.server.services.batches import Batch, load_batch
from cranfield.server.services.campaigns import Row
from cranfield.server.services.judgements import gold_score
from cranfield.server.store.work_tables import assignment, batch, hit
from cranfield.server.thresholds import threshold_of

# Draws of the interval of agreement, runs whose order is correlated at most, and how often
# agreement is looked at on the way.
RESAMPLES, MOST_RUNS, MOMENTS = 200, 30, 8
# Concepts that the board names whose answers suggestions moved the most; the first row is all.
MOST_INFLUENCED = 11


def similar_batches(connection: Connection, this_batch: Batch) -> list[Batch]:
    """This batch and all others of the campaign that ask the same."""
    rows = connection.execute(
        select(batch)
        .where(batch.c.campaign == this_batch.row["campaign"])
        .order_by(batch.c.created)
    ).mappings()
    same = [load_batch(connection, dict(row)) for row in rows if row["kind"] == this_batch.kind]
    concepts = {form.concepts for form in this_batch.forms.values()}
    return [b for b in same if {form.concepts for form in b.forms.values()} == concepts]


def batch_dashboard(connection: Connection, batch: Batch) -> dict[str, Any]:
    """All that the board of a batch shows."""
    assignments = [
        Given(
            0,
            batch.id,
            row.hit,
            row.assessor,
            row.state,
            seconds=row.active_ms / SECOND,
        )
        for row in connection.execute(
            select(
                assignment.c.hit, assignment.c.assessor, assignment.c.state, assignment.c.active_ms
            )
            .join(hit, hit.c.id == assignment.c.hit)
            .where(hit.c.batch == batch.id)
        )
    ]
    status = status_of(batch.plan, assignments)
    forms = [
        f
        for similar in similar_batches(connection, batch)
        for f in filled_forms(connection, similar)
    ]
    own_forms = [f for f in forms if f.batch == batch.row["slug"] and not f.rejected]
    people = assessors_of(connection, batch.row["campaign"])
    quality = _quality(forms)
    return {
        "status": status,
        "expected": _expected(batch, own_forms),
        "agreement": _agreement(own_forms),
        "influence": suggestion_influence([f for f in own_forms if f.suggested])[:MOST_INFLUENCED],
        "people": [_person(connection, batch, row, own_forms, quality) for row in people],
        "rejections": _rejections(connection, batch),
        "open_disputes": len(open_disputes(connection, batch)) if own_forms else 0,
    }


def _expected(batch: Batch, forms: Sequence[FilledForm]) -> dict[str, float] | None:
    """The forms that adaptive overlap is expected to take, and their cost."""
    if not batch.plan.certainty:
        return None
    log = collect_responses(forms).log if forms else None
    fewest, most, so_far = expected_forms(log, batch.plan)
    return {
        "fewest": fewest,
        "most": most,
        "forms": so_far,
        "low": batch.plan.pay * fewest,
        "high": batch.plan.pay * most,
    }


def _quality(forms: Sequence[FilledForm]) -> dict[str, AnnotatorQuality]:
    """What speaks against whom, over all batches that ask the same: copiers share few items."""
    accepted = [f for f in forms if not f.rejected and f.values]
    if not accepted:
        return {}
    return {p.annotator: p for p in quality_of(collect_responses(accepted).log)}


def _agreement(forms: Sequence[FilledForm]) -> dict[str, Any] | None:
    """The agreement so far with its interval, and the concepts with the least."""
    if len({f.annotator for f in forms}) < 2:
        return None
    log = collect_responses(forms).log
    try:
        agreement = assess(log, "fleiss", resampling=Resampling(resamples=RESAMPLES))
    except CranfieldError:
        return None
    # Below its least a value speaks of units that were judged once.
    defined = [r for r in agreement.concepts if r.values["fleiss"] >= LEAST]
    worst = sorted(defined, key=lambda r: r.values["fleiss"])[:5]
    overall = agreement.overall.values["fleiss"]
    return {
        "fleiss": overall if overall >= LEAST else math.nan,
        "known": overall >= LEAST,
        "interval": agreement.overall.intervals.get("fleiss", (math.nan, math.nan)),
        "worst": [(r.name, r.values["fleiss"]) for r in worst],
    }


def _person(
    connection: Connection,
    batch: Batch,
    row: Row,
    forms: Sequence[FilledForm],
    quality: Mapping[str, AnnotatorQuality],
) -> dict[str, Any]:
    own_forms = [f for f in forms if f.annotator == row["pseudonym"]]
    correct, answered = (
        gold_score(connection, batch, row["id"]) if batch.plan.gold_units else (0, 0)
    )
    seconds = sorted(f.seconds for f in own_forms)
    flags = quality[row["pseudonym"]].reasons if row["pseudonym"] in quality else ()
    return {
        "id": row["id"],
        "pseudonym": row["pseudonym"],
        "kind": row["kind"],
        "state": row["state"],
        "forms": len(own_forms),
        "seconds": seconds[len(seconds) // 2] if seconds else math.nan,
        "gold": f"{correct} of {answered}" if answered else "",
        "flags": flags,
        "cost": batch.plan.pay * len(own_forms),
    }


def _rejections(connection: Connection, batch: Batch) -> list[Row]:
    rows = connection.execute(
        select(assignment.c.id, assignment.c.reason, assignment.c.reissued_as, hit.c.item)
        .join(hit, hit.c.id == assignment.c.hit)
        .where(hit.c.batch == batch.id, assignment.c.state == "rejected")
        .order_by(assignment.c.id)
    )
    return [dict(row) for row in rows.mappings()]


def agreement_over_time(connection: Connection, batch: Batch) -> list[dict[str, Any]]:
    """Agreement after each eighth of the forms, as they were handed in, with its interval."""
    forms = [f for f in filled_forms(connection, batch) if not f.rejected]
    cuts = sorted({math.ceil(len(forms) * k / MOMENTS) for k in range(1, MOMENTS + 1)})
    points = []
    for cut in cuts:
        so_far = _agreement(forms[:cut])
        if so_far is not None and not math.isnan(so_far["fleiss"]):
            low, high = so_far["interval"]
            points.append({"forms": cut, "fleiss": so_far["fleiss"], "low": low, "high": high})
    return points


def rankings(connection: Connection, context: Context, batch: Batch) -> list[dict[str, Any]]:
    """Does it matter who judged: how alike the orders of the runs are by each assessor's truth."""
    log = collect_forms(connection, batch).log
    concepts = next(iter(batch.forms.values())).concepts
    runs = []
    for name, threshold, file in accepted_runs(connection, context, batch.row["task"])[:MOST_RUNS]:
        limit = threshold_of(threshold) or DEFAULT_THRESHOLD
        decided = None if limit == ROWS else limit
        runs.append(read_labels(file, threshold=decided, concepts=concepts, name=name))
    study = compare_rankings(_binary(log), runs, "F.example")
    return [
        {"a": p.a, "b": p.b, "runs": p.systems, "tau": p.kendall}
        for ranking in study.rankings
        for p in ranking.pairs
    ]


def _binary(log: JudgementLog) -> JudgementLog:
    if log.levels is None:
        raise UsageError("orders of runs are correlated for labels of 0 and 1")
    return log
