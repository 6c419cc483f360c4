"""The plan of a campaign: what its scores so far can show, and what a smaller difference costs."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from cranfield.errors import CranfieldError
from cranfield.evaluation.scores import Scores
from cranfield.lab import CampaignPlan, plan_campaign
from cranfield.report.charts.studies import power_chart
from cranfield.server.forms import sentence
from cranfield.server.http import campaign_of, context_of, handler, render_page
from cranfield.server.services import campaigns, scoring
from cranfield.site.pages.graphs import figure

# More runs have too many pairs to simulate while the page is waited for.
MOST_RUNS = 30
SIMULATIONS = 100
# What the form holds at first.
USUAL = {
    "difference": "0.05",
    "power": "0.8",
    "judgements": "100",
    "people": "1",
    "seconds": "20",
    "hourly": "15",
}


@handler("plan")
def show_plan(request: Request) -> Response:
    """The fields stand in the address, so that a link leads to the same plan."""
    context, row = context_of(request), campaign_of(request)
    with context.store.read() as connection:
        tasks = campaigns.tasks_of(connection, row["id"])
        slug = request.query_params.get("t", "")
        task = next((t for t in tasks if t["slug"] == slug), tasks[0] if tasks else None)
        scores = None if task is None else scoring.scores_so_far(connection, context, task["id"])
    fields = {name: request.query_params.get(name, text) for name, text in USUAL.items()}
    measures = [] if scores is None else _means(scores)
    measure = request.query_params.get("measure", "") or next(iter(measures), "")
    plan, error = None, ""
    if scores is not None and len(scores.runs) > 1 and measures:
        try:
            plan = _plan(scores, measure, fields)
        except CranfieldError as reason:
            error = sentence(str(reason))
        except ValueError:
            error = "Every field takes a number."
    return render_page(
        request,
        "plan.html",
        400 if error else 200,
        tasks=tasks,
        task=task,
        scores=scores,
        measures=measures,
        measure=measure,
        fields=fields,
        plan=plan,
        outlook=None if plan is None else plan.plans[0],
        chart=None if plan is None else figure(power_chart(plan)),
        error=error,
    )


def _means(scores: Scores) -> list[str]:
    return [str(m) for m in scores.measures if m in scores.values and scores.is_mean(m)]


def _plan(scores: Scores, measure: str, fields: dict[str, str]) -> CampaignPlan:
    runs = list(scores.runs)
    if len(runs) > MOST_RUNS:
        means = scores.mean()
        usable = [run for run in runs if measure in means[run]]
        runs = sorted(usable, key=lambda run: means[run][measure], reverse=True)[:MOST_RUNS]
    return plan_campaign(
        scores.of_runs(runs),
        measure,
        difference=float(fields["difference"]),
        power=float(fields["power"]),
        test="t",
        simulations=SIMULATIONS,
        judgements_per_topic=float(fields["judgements"]),
        assessors=int(fields["people"]),
        seconds=float(fields["seconds"]),
        hourly=float(fields["hourly"]),
    )
