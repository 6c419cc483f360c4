"""Tables of the studies of measures, of pools and of simulated runs."""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any

from cranfield.campaign.next_judgements import LEDGER_HEAD, ledger_rows
from cranfield.errors import plural
from cranfield.lab.measure_correlation import BASELINE, CONFIDENCE, Correlations, Join, forms_of
from cranfield.lab.measure_requirements import TITLES, Requirements
from cranfield.lab.unjudged import METHODS
from cranfield.report.charts.studies import figures
from cranfield.report.document import Cell, Column, Document, Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cranfield.answers import Answer
    from cranfield.campaign.next_judgements import NextJudgements
    from cranfield.campaign.next_opinions import NextOpinions
    from cranfield.campaign.pool import Pool, PooledItem
    from cranfield.lab.growing_collections import Generality
    from cranfield.lab.planning import CampaignPlan
    from cranfield.lab.rank_curves import Curves
    from cranfield.lab.ranking_stability import Comparability, Stability
    from cranfield.lab.replay import DesignReplay, OverlapStudy, Replay
    from cranfield.lab.reusability import Reusability
    from cranfield.lab.synthetic_runs import RandomStudy, SimulatedRuns
    from cranfield.lab.unjudged import UnjudgedStudy


def study_document(
    answer: Answer, tables: Sequence[Table], machine: Table | None = None
) -> Document:
    """The tables of a study; its charts are drawn only where a page asks for them."""
    return Document(answer.to_dict, tables, answer.notes, machine, figures=partial(figures, answer))


_TITLES = {
    "noise": "Flipped truth",
    "judgements": "Incomplete truth",
    "units": "Fewer units",
}


def stability_document(answer: Stability) -> Document:
    """A table for each part of the study; for machines one long table."""
    return study_document(answer, _parts(answer), _long(answer))


def _percent(share: float) -> str:
    return f"{100 * share:g}%"


def _stages(answer: Stability, change: str) -> Table:
    """Measures down, stages across: tau to the original, and to the previous stage."""
    stages = [s for s in answer.stages if s.change == change]
    shares = list(dict.fromkeys(s.share for s in stages))
    columns = [Column("measure", numeric=False)]
    columns += [Column(f"original_{s:g}", 3, heading=_percent(s)) for s in shares]
    columns += [Column(f"previous_{s:g}", 3, heading=f"{_percent(s)} prev.") for s in shares]
    columns += [Column(f"distance_{s:g}", 2, heading=f"{_percent(s)} D") for s in shares]
    rows: list[list[Cell]] = []
    for measure in answer.measures:
        stage_at = {s.share: s for s in stages if s.measure == measure}
        rows.append(
            [
                measure,
                *(stage_at[s].original for s in shares),
                *(stage_at[s].previous for s in shares),
                *(stage_at[s].distance for s in shares),
            ]
        )
    notes = [
        f"Kendall's tau over {len(answer.runs)} runs to the original ranking and to the stage "
        f"before; mean of {answer.repeats} repetitions;",
        "D: mean distance of Kolmogorov-Smirnov between the ranking and the original one.",
    ]
    if change == "units":
        notes.append(
            "A part of the units is compared with the whole that it belongs to, which flatters it: "
            "for rankings by other units see 'Other units'."
        )
    return Table(columns, rows, _TITLES[change], notes)


def _both_ways(answer: Stability, change: str) -> list[Table]:
    """Cost maps in complete measures and alone, one below the other; stages across."""
    forms = forms_of(answer.measures)
    if not forms:
        return []
    stages = [s for s in answer.stages if s.change == change]
    shares = list(dict.fromkeys(s.share for s in stages))
    stage_at = {(s.measure, s.share): s for s in stages}
    columns = [Column("cost map", numeric=False), Column("measure", numeric=False)]
    columns += [Column(f"original_{s:g}", 3, heading=_percent(s)) for s in shares]
    columns += [Column(f"previous_{s:g}", 3, heading=f"{_percent(s)} prev.") for s in shares]
    rows: list[list[Cell]] = [
        [
            label,
            way_of_use,
            *(stage_at[name, s].original for s in shares),
            *(stage_at[name, s].previous for s in shares),
        ]
        for label, *names in forms
        for way_of_use, name in zip(("complete", "alone"), names, strict=True)
    ]
    return [Table(columns, rows, f"{_TITLES[change]}: cost maps in complete measures and alone")]


def _ranges(answer: Stability, change: str) -> Table:
    """Measures down, stages across: the lowest and the highest tau of the repetitions."""
    stages = [s for s in answer.stages if s.change == change]
    shares = list(dict.fromkeys(s.share for s in stages))
    columns = [Column("measure", numeric=False)]
    for s in shares:
        columns += [
            Column(f"low_{s:g}", 3, heading=f"{_percent(s)} low"),
            Column(f"high_{s:g}", 3, heading="high"),
        ]
    range_at = {(s.measure, s.share): s.original_ends for s in stages}
    rows: list[list[Cell]] = [
        [m, *(end for share in shares for end in range_at[m, share])] for m in answer.measures
    ]
    return Table(columns, rows, f"{_TITLES[change]}: range of the repetitions")


def _parts(answer: Stability) -> list[Table]:
    """A table for each part of the study."""
    tables = []
    for change in dict.fromkeys(s.change for s in answer.stages):
        tables.append(_stages(answer, change))
        tables += _both_ways(answer, change)
        if answer.repeats > 1:
            tables.append(_ranges(answer, change))
    if answer.swaps or answer.powers:
        tables.append(_order(answer))
    if answer.power_differences:
        tables.append(_power_differences(answer))
    return tables + ([_other_units(answer)] if answer.others else [])


def _power_differences(answer: Stability) -> Table:
    """Which measures tell more pairs apart than others."""
    columns = [Column("a", numeric=False), Column("b", numeric=False)]
    columns += [Column("difference", 3), Column("low", 3), Column("high", 3), Column("p")]
    rows: list[list[Cell]] = [
        [d.a, d.b, d.difference, *d.interval, d.p] for d in answer.power_differences
    ]
    notes = ["a - b: shares of pairs told apart; intervals and p from parts of the units."]
    return Table(columns, rows, "Which measure tells more pairs apart?", notes)


def _other_units(answer: Stability) -> Table:
    """What another collection of other units would say of the runs."""
    best = answer.others[0].best
    columns = [Column("measure", numeric=False), Column("units", 0), Column("alpha", 3)]
    columns += [
        Column("tau", 3),
        Column("tau_best", 3, heading=f"tau of best {best}"),
        Column("winner", 2, heading="same winner"),
    ]
    rows: list[list[Cell]] = [
        [o.measure, o.units, o.alpha, o.tau, o.tau_best, o.winner] for o in answer.others
    ]
    first = answer.others[0]
    notes = [
        f"To be expected between the rankings by so many units and by as many others. By "
        f"{first.measure} another {first.units} units would name the same best run with a "
        f"probability of {100 * first.winner:.0f} %, whatever alpha ({first.alpha:.2f}) says of "
        f"all runs together, and rank the best {best} with a tau of {first.tau_best:.2f}.",
    ]
    return Table(columns, rows, "Other units", notes)


def _long(answer: Stability) -> Table:
    """For machines: every change, share and measure in a row of its own."""
    names = (
        "original",
        "original_low",
        "original_high",
        "previous",
        "previous_low",
        "previous_high",
        "concordant",
        "concordant_previous",
    )
    columns = [
        Column("change", numeric=False),
        Column("share"),
        Column("measure", numeric=False),
        *(Column(n) for n in names),
    ]
    rows: list[list[Cell]] = [
        [
            s.change,
            s.share,
            s.measure,
            s.original,
            *s.original_ends,
            s.previous,
            *s.previous_ends,
            s.concordant,
            s.concordant_previous,
        ]
        for s in answer.stages
    ]
    return Table(columns, rows) if rows else _order(answer)


def _order(answer: Stability) -> Table:
    """Swap rate and discriminative power of every measure."""
    swaps = {s.measure: s for s in answer.swaps}
    powers = {p.measure: p for p in answer.powers}
    columns = [Column("measure", numeric=False)]
    if swaps:
        columns += [
            Column("swap_rate", heading="swap rate", best="min"),
            Column("swap_needed", heading="needed for 5%"),
        ]
    if powers:
        columns += [
            Column("power", heading="told apart", best="max"),
            Column("power_low", 3, heading="low"),
            Column("power_high", 3, heading="high"),
            Column("power_needed", heading="needed to tell"),
        ]
    rows = []
    for m in answer.measures:
        row: list[Any] = [m]
        if swaps:
            row += [swaps[m].rate, swaps[m].needed] if m in swaps else [None, None]
        if powers:
            power = powers.get(m)
            row += [power.share, *power.interval, power.needed] if power else [None] * 4
        rows.append(row)
    notes = [
        "swap rate: two halves of the units order a pair of runs oppositely; needed for 5%: "
        "difference from which on no more than that swap;",
        "told apart: share of pairs of runs that a studentised bootstrap test separates, each by "
        "itself; low, high: 95 % interval over other units; needed to tell: the difference that is "
        "enough for every pair.",
    ]
    return Table(columns, rows, "Order of runs under other units", notes)


def calibration_document(answer: Comparability) -> Document:
    """How alike the rankings are, and both scores of every run."""
    verdicts: list[list[Cell]] = [
        [m, tau] for m, tau in zip(answer.measures, answer.taus, strict=True)
    ]
    columns = [Column("measure", numeric=False), Column("kendall", 3, heading="tau")]
    notes = [
        f"tau between the rankings of {len(answer.runs)} runs before and after each concept's "
        f"confidences were fitted to the truth of other items ({answer.folds} folds)"
    ]
    alike = Table(columns, verdicts, "Are confidences comparable across concepts?", notes)
    heads = [Column("run", numeric=False), Column("error", 3), Column("after", 3)]
    for m in answer.measures:
        heads += [Column(m), Column(f"{m} calibrated", heading="calibrated")]
    rows: list[list[Cell]] = [
        [
            name,
            *answer.errors[i].tolist(),
            *(
                v
                for j in range(len(answer.measures))
                for v in (answer.raw[i, j], answer.made[i, j])
            ),
        ]
        for i, name in enumerate(answer.runs)
    ]
    return study_document(answer, [alike, Table(heads, rows, "Runs, and their calibration error")])


def correlations_document(answer: Correlations) -> Document:
    """The pairs, cost maps in both ways, then the steps of both trees."""
    return study_document(
        answer, [_correlated_pairs(answer), *_cost_map_ranks(answer), *_cluster_tables(answer)]
    )


def _cost_map_ranks(answer: Correlations) -> list[Table]:
    """Cost maps in both ways as one square: complete measures above, maps alone below."""
    forms = forms_of(answer.measures)
    if len(forms) < 2:
        return []
    baseline = [(BASELINE, BASELINE, BASELINE)] if BASELINE in answer.measures else []
    entries = [*forms, *baseline]
    rows: list[list[Cell]] = [
        [
            label,
            *(
                None
                if i == j
                else answer.pair(complete, column_forms[1]).kendall
                if i < j
                else answer.pair(alone, column_forms[2]).kendall
                for j, column_forms in enumerate(entries)
            ),
        ]
        for i, (label, complete, alone) in enumerate(entries)
    ]
    columns = [Column("cost map", numeric=False), *(Column(label, 3) for label, _, _ in entries)]
    title = "tau of complete measures (above) and of cost maps alone (below the diagonal)"
    return [Table(columns, rows, title)]


def _correlated_pairs(answer: Correlations) -> Table:
    """One row per pair."""
    columns = [
        Column("a", numeric=False),
        Column("b", numeric=False),
        Column("kendall", heading="tau"),
        Column("low"),
        Column("high"),
        Column("within"),
        Column("ap", heading="tau_ap"),
        Column("ap_reverse", heading="tau_ap b>a"),
        Column("spearman", heading="rho"),
        Column("pearson", heading="r"),
        Column("rbo"),
        Column("distance", heading="D"),
    ]
    rows: list[list[Cell]] = [
        [
            p.a,
            p.b,
            p.kendall,
            *p.interval,
            p.within,
            p.ap,
            p.ap_reverse,
            p.spearman,
            p.pearson,
            p.rbo,
            p.distance,
        ]
        for p in answer.pairs
    ]
    tied = any(p.kendall_name == "tau-b" for p in answer.pairs)
    notes = [
        f"tau over {len(answer.runs)} runs"
        + (", as tau-b where runs tie" if tied else ", without ties")
        + f"; low, high: {CONFIDENCE:.0%} interval from {answer.resamples} resamples of the "
        "units;",
        "within: mean over runs of tau-b over the units of a run; D: distance of "
        "Kolmogorov-Smirnov.",
    ]
    return Table(columns, rows, "How alike measures rank the runs", notes)


def _cluster_tables(answer: Correlations) -> list[Table]:
    """The steps of the clustering, closest first: by rankings of runs, and within runs."""
    trees = (answer.tree, "by runs"), (answer.within_tree, "within runs")
    return [_cluster_table(tree, basis) for tree, basis in trees if tree]


def _cluster_table(tree: tuple[Join, ...], basis: str) -> Table:
    columns = [
        Column("step", digits=0),
        Column("left", numeric=False),
        Column("right", numeric=False),
        Column("distance", heading="1 - tau"),
    ]
    rows: list[list[Cell]] = [
        [i, ", ".join(j.left), ", ".join(j.right), j.distance] for i, j in enumerate(tree, 1)
    ]
    return Table(columns, rows, f"Clusters of measures {basis} (average linkage)")


def curves_document(answer: Curves) -> Document:
    """A row per rank."""
    return study_document(answer, [_rank_values(answer)])


def _rank_values(answer: Curves) -> Table:
    """One relevant item: the value at each rank. Two: lowest and highest at each rank."""
    if len(answer.ranks[0]) == 1:
        columns = [Column("rank", 0), *(Column(m) for m in answer.measures)]
        rows: list[list[Cell]] = [
            [r[0], *map(float, v)] for r, v in zip(answer.ranks, answer.values, strict=True)
        ]
        return Table(columns, rows, f"One relevant item among {answer.size:,}")
    columns = [Column("rank", 0, heading="last rank")]
    for m in answer.measures:
        columns += [Column(f"{m}_low", heading=f"{m} low"), Column(f"{m}_high", heading="high")]
    sides = [answer.envelope(m) for m in answer.measures]
    rows = [
        [first[0], *(v for side in sides for v in side[k][1:])] for k, first in enumerate(sides[0])
    ]
    return Table(columns, rows, f"Two relevant items among {answer.size:,}")


def generality_document(answer: Generality) -> Document:
    """A row per size of the collection."""
    tables = [_values_by_size(answer)]
    if len(answer.runs) > 1:
        tables.append(_generality_of_runs(answer))
    return study_document(answer, tables)


def _generality_of_runs(answer: Generality) -> Table:
    """A row per run, its value under every measure in every collection."""
    columns = [Column("run", numeric=False)]
    for m in answer.measures:
        columns += [Column(f"{m}_{size}", heading=f"{m}, {size:,} items") for size in answer.sizes]
    rows: list[list[Cell]] = [
        [run, *(float(v) for j in range(len(answer.measures)) for v in answer.scores[:, i, j])]
        for i, run in enumerate(answer.runs)
    ]
    return Table(columns, rows, "Every run")


def _values_by_size(answer: Generality) -> Table:
    columns = [Column("size", 0, heading="items")]
    for m in answer.measures:
        columns += [Column(m), Column(f"{m}_deviation", 2, heading="dev. %")]
    means = answer.mean()
    rows: list[list[Cell]] = [
        [
            size,
            *(
                v
                for j, m in enumerate(answer.measures)
                for v in (float(means[k, j]), answer.deviation(m)[k] if k else None)
            ),
        ]
        for k, size in enumerate(answer.sizes)
    ]
    notes = [f"mean over {plural(len(answer.runs), 'run')}; dev. %: from the smallest collection"]
    return Table(columns, rows, "The same topics in growing collections", notes)


def random_document(answer: RandomStudy, *, all_runs: bool = False) -> Document:
    """A row per measure; with `all_runs` also the scores of every run."""
    tables = [
        _above_chance(answer),
        *_random_densities(answer),
        *([_random_runs(answer)] if all_runs else []),
    ]
    return study_document(answer, tables)


def _random_densities(answer: RandomStudy) -> list[Table]:
    """What random runs of a density reach: mean, least and most, where there are several."""
    groups = answer.by_density()
    if not any(count > 1 for _, count, _ in groups):
        return []
    columns = [Column("density", 2), Column("runs")]
    for m in answer.measures:
        columns += [
            Column(m),
            Column(f"{m} low", heading="low"),
            Column(f"{m} high", heading="high"),
        ]
    rows: list[list[Cell]] = [
        [
            density,
            count,
            *(
                float(end)
                for values in scores.T
                for end in (values.mean(), values.min(), values.max())
            ),
        ]
        for density, count, scores in groups
    ]
    return [Table(columns, rows, "Random runs by label density")]


def _above_chance(answer: RandomStudy) -> Table:
    over = any(r.kind == "over" for r in answer.runs)
    columns = [
        Column("measure", numeric=False),
        Column("median_real", heading="median real"),
        Column("best_random", heading="best random"),
        Column("run", numeric=False),
        Column("beaten", 2, heading="real runs beaten"),
        Column("separates", numeric=False),
    ]
    if over:
        columns.append(Column("over_pays", 2, heading="over-annotation pays"))
    says = {True: "yes", False: "NO", None: "-"}
    rows: list[list[Cell]] = [
        [
            v.measure,
            v.median_real,
            v.best_random,
            v.best_random_run,
            v.beaten,
            says[v.separates],
            *([v.over_pays] if over else []),
        ]
        for v in answer.verdicts
    ]
    notes = ["separates: the best random run stays below the median of the real ones"]
    return Table(columns, rows, "Random runs beside real ones", notes)


def _random_runs(answer: RandomStudy) -> Table:
    """Every run with its label density and scores."""
    columns = [
        Column("run", numeric=False),
        Column("kind", numeric=False),
        Column("density", 3),
        *(Column(m) for m in answer.measures),
    ]
    rows: list[list[Cell]] = [
        [r.name, r.kind, r.density, *map(float, s)]
        for r, s in zip(answer.runs, answer.scores, strict=True)
    ]
    return Table(columns, rows, "Score against label density")


def requirements_document(answer: Requirements) -> Document:
    """A row per measure, and the counter-examples below."""
    return study_document(answer, [_requirement_table(answer)])


def _requirement_table(answer: Requirements) -> Table:
    text = {True: "yes", False: "no", None: "people"}
    tried = {(r.measure, r.number) for r in answer.found}
    columns = [Column("measure", numeric=False)]
    columns += [Column(str(n), numeric=False) for n in answer.numbers]
    rows: list[list[Cell]] = [
        [m, *(text[answer.of(m, n).holds] if (m, n) in tried else "-" for n in answer.numbers)]
        for m in answer.measures
    ]
    notes = [f"{n}: {TITLES[n]}" for n in answer.numbers]
    notes += [
        f"{r.measure}, {r.number}: {r.counter_example}" for r in answer.found if r.counter_example
    ]
    return Table(columns, rows, "Requirements on a metric", notes)


def pool_document(answer: Pool, *, first: int | None = None) -> Document:
    """The pool by topic, for machines item by item; or the `first` items to judge next."""
    items = _pooled_items(answer, answer.items if first is None else answer.next_to_judge(first))
    table = _pooled_topics(answer) if first is None else items
    return Document(partial(answer.to_dict, first=first), [table], answer.notes, items)


def reusability_document(answer: Reusability) -> Document:
    """A row per run and measure."""
    return study_document(answer, [_reusability_table(answer)])


def unjudged_document(answer: UnjudgedStudy) -> Document:
    """How near each way comes to the order by judgements, and the scores of all runs."""
    methods = list(answer.scores)
    order_columns = [
        Column("method", numeric=False),
        Column("measure", numeric=False),
        Column("tau", 3),
        Column("tau_ap", 3, heading="tau AP"),
        Column("best", numeric=False, heading="best run"),
        Column("place_of_best", 0, heading="its place"),
    ]
    rows: list[list[Cell]] = [
        [o.method, o.measure, o.tau, o.tau_ap, o.best, o.place_of_best] for o in answer.orders
    ]
    notes = [f"{method}: {words}" for method, words in METHODS.items()]
    notes += [
        "no evaluation: each says how like the others a run is; a run that finds what no other "
        "does comes out low, however good",
        "tau: to the order by judgements, tau AP with more weight on the top; its place: where the "
        "run that is best by judgements stands",
    ]
    tables = [Table(order_columns, rows, "Orders without judgements", notes)]
    for measure in answer.scores[methods[0]]:
        columns = [Column("run", numeric=False), *(Column(method) for method in methods)]
        by_method = [answer.scores[method][measure] for method in methods]
        cells = zip(answer.runs, *by_method, strict=True)
        tables.append(Table(columns, [list(row) for row in cells], f"Runs by {measure}"))
    return study_document(answer, tables)


def _pooled_items(answer: Pool, items: Sequence[PooledItem]) -> Table:
    columns = [
        Column("topic", numeric=False),
        Column("item", numeric=False),
        Column("runs", 0),
        Column("best_rank", 0),
        Column("weight"),
        Column("judged", 0),
    ]
    rows: list[list[Cell]] = [
        [i.topic, i.item, i.runs, i.best_rank, i.weight, int(i.judged)] for i in items
    ]
    return Table(columns, rows, f"Pool of {len(answer.runs)} runs to depth {answer.depth}")


def _pooled_topics(answer: Pool) -> Table:
    """Per topic: how many items, how many of them judged."""
    columns = [
        Column("topic", numeric=False),
        Column("items", 0),
        Column("judged", 0),
        Column("by_one_run", 0, heading="by one run only"),
    ]
    rows: list[list[Cell]] = [[t.topic, t.items, t.judged, t.by_one_run] for t in answer.topics()]
    return Table(columns, rows, f"Pool of {len(answer.runs)} runs to depth {answer.depth}")


def _reusability_table(answer: Reusability) -> Table:
    columns = [
        Column("run", numeric=False),
        Column("measure", numeric=False),
        Column("unique", 0, heading="own items"),
        Column("unique_relevant", 0, heading="relevant"),
        Column("score"),
        Column("score_without", heading="without"),
        Column("change_percent", 2, heading="change %"),
        Column("rank", 0),
        Column("rank_without", 0, heading="rank without"),
    ]
    rows: list[list[Cell]] = [
        [
            r.run,
            r.measure,
            r.unique,
            r.unique_relevant,
            r.score,
            r.score_without,
            r.change_percent,
            r.rank,
            r.rank_without,
        ]
        for r in answer.runs
    ]
    notes = [
        "score: judged by the pool of all runs; own items: what this run alone has in it;",
        "without: judged by the pool of all other runs, so that its own items are unjudged",
    ]
    return Table(columns, rows, f"Leaving each run out of the pool of depth {answer.depth}", notes)


def simulated_runs_document(answer: SimulatedRuns) -> Document:
    """A row per run."""
    table = Table([Column("run", numeric=False)], [[file] for file in answer.files])
    return Document(answer.to_dict, [table], answer.notes)


def plan_document(answer: CampaignPlan) -> Document:
    """A row per measure, and the curves of power."""
    columns = [
        Column("measure", numeric=False),
        Column("spread"),
        Column("topics", 0),
        Column("topics_from", 0, heading="from"),
        Column("topics_to", 0, heading="to"),
        Column("formula", 0, heading="by formula"),
        Column("detectable"),
    ]
    costs = {
        "judgements": answer.judgements,
        "hours": answer.hours,
        "money": answer.money,
    }
    shown = [name for name, cost in costs.items() if cost(1) is not None]
    columns += [Column(name, 0 if name == "judgements" else 1) for name in shown]
    has_judge = answer.judge_correlation is not None
    columns += [Column("gold", 0)] if has_judge else []
    rows: list[list[Cell]] = []
    for p in answer.plans:
        row: list[Cell] = [p.measure, p.spread, p.needed, p.needed_low, p.needed_high]
        row += [p.formula, p.detectable, *(costs[name](p.needed) for name in shown)]
        rows.append([*row, p.gold] if has_judge else row)
    notes = [
        f"topics: find a difference of {answer.difference:g} in {answer.power:.0%} of the cases, "
        f"by {answer.test} with {answer.correction}, alpha {answer.alpha:g};",
        "from, to: as other topics in the pilot would have it; detectable: by the pilot's "
        f"{answer.pilot_topics} topics",
    ]
    curve: list[list[Cell]] = [
        [p.measure, c.topics, c.power] for p in answer.plans for c in p.curve
    ]
    curves = [Column("measure", numeric=False), Column("topics", 0), Column("power", 3)]
    title = f"Topics for a difference of {answer.difference:g}"
    tables = [Table(columns, rows, title, notes), Table(curves, curve, "Power by topics")]
    return study_document(answer, tables, tables[0])


def overlap_document(answer: OverlapStudy) -> Document:
    """A row for each way to collect opinions, and what adaptive overlap saves."""
    titles = {
        "votes": "fixed, majority",
        "fixed": f"fixed, {answer.method}",
        "adaptive": "adaptive",
    }
    columns = [
        Column("way", numeric=False),
        Column("setting", 2),
        Column("opinions", 2, heading="opinions/item"),
        Column("accuracy"),
        Column("spread", heading="sd"),
        Column("kappa"),
    ]
    with_systems = any(not math.isnan(p.tau) for p in answer.points)
    columns += [Column("tau")] if with_systems else []
    rows: list[list[Cell]] = [
        [
            titles[p.policy],
            p.setting,
            p.opinions,
            p.accuracy,
            p.spread,
            p.kappa,
            *([p.tau] if with_systems else []),
        ]
        for p in answer.points
    ]
    notes = [
        "setting: opinions of every item, or how sure the model must be before an item is closed;",
        f"{answer.repeats} draws of the opinions; reference: {answer.reference} "
        f"({answer.known} answers); pilot of {answer.pilot:.0%}, at most {answer.most} opinions, "
        f"{'the most reliable people first' if answer.people == 'best' else 'people as drawn'}",
    ]
    savings: list[list[Cell]] = []
    for policy in ("fixed", "votes"):
        target, point = answer.target(policy), answer.cheapest(policy)
        row: list[Cell] = [f"{answer.fixed} opinions, {titles[policy]}", target.accuracy]
        nothing: list[Cell] = [None, None, None]
        row += nothing if point is None else [point.setting, point.accuracy, answer.share(policy)]
        savings.append(row)
    heads = [
        Column("against", numeric=False),
        Column("accuracy"),
        Column("sure", 2),
        Column("adaptive", heading="adaptive accuracy"),
        Column("share", 3, heading="share of judgements"),
    ]
    title = "Opinions and accuracy"
    tables = [
        Table(columns, rows, title, notes),
        Table(heads, savings, "The fewest judgements that are as accurate"),
    ]
    return study_document(answer, tables, tables[0])


def next_judgements_document(answer: NextJudgements) -> Document:
    """The cells to judge as rows of a ledger; then runs and pairs as they stand."""
    ledger = [Column(name, numeric=False) for name in LEDGER_HEAD]
    cells: list[list[Cell]] = [list(row) for row in ledger_rows(answer.cells)[1:]]
    notes = [
        f"{answer.judged:,} of {answer.candidates:,} cells judged; "
        + (answer.stop if answer.stop else "probability: with which a cell was drawn")
    ]
    tables = [Table(ledger, cells, f"To judge in round {answer.round}", notes)]
    if answer.runs:
        columns = [Column("run", numeric=False), Column("mean"), Column("low"), Column("high")]
        rows: list[list[Cell]] = [[r.run, r.mean, r.low, r.high] for r in answer.runs]
        title = f"{answer.measure} were all judged: intervals that hold at every look"
        tables.append(Table(columns, rows, title))
    if answer.pairs:
        columns = [Column("better", numeric=False), Column("worse", numeric=False)]
        columns += [Column("difference"), Column("low"), Column("high")]
        columns += [Column("evidence", 1), Column("state", numeric=False)]
        pairs: list[list[Cell]] = [
            [p.better, p.worse, p.difference, p.low, p.high, p.evidence, p.state]
            for p in answer.pairs
        ]
        notes = [
            "settled: complete judgements would find the difference significant (t-test, Holm);",
            "equal: they would not; evidence: e-value of the order, valid whenever one looks",
        ]
        tables.append(Table(columns, pairs, "Pairs of runs", notes))
    return study_document(answer, tables, tables[0])


def next_opinions_document(answer: NextOpinions) -> Document:
    """A row for each opinion to ask for."""
    columns = [Column("item", numeric=False), Column("annotator", numeric=False)]
    columns += [Column("information", 3), Column("confidence", 3), Column("opinions", 0)]
    rows: list[list[Cell]] = [
        [o.item, o.annotator, o.information, o.confidence, o.opinions] for o in answer.opinions
    ]
    notes = [
        answer.stop or f"{answer.open:,} of {answer.items:,} items open ({answer.method})",
        "information: bits that the opinion is expected to tell; confidence: of the least certain "
        "answer so far",
    ]
    table = Table(columns, rows, "Opinions to ask for", notes)
    return study_document(answer, [table], table)


def replay_document(answer: Replay) -> Document:
    """A row per design at its stop, and the way there."""
    columns = [
        Column("design", numeric=False),
        Column("judgements", 0),
        Column("judged_percent", 1, heading="judged %"),
        Column("significant_percent", 1, heading="significant %"),
        Column("false_percent", 1, heading="false %"),
        Column("tau", 3),
        Column("overlap", 3),
        Column("coverage_percent", 1, heading="coverage %"),
        Column("at_stop_percent", 1, heading="at stop %"),
        Column("runs_percent", 1, heading="runs %"),
        Column("judge_saves_percent", 1, heading="judge saves %"),
    ]

    def percent(share: float | None) -> float | None:
        return None if share is None else 100 * share

    def name(design: DesignReplay) -> str:
        return design.method + (" with judge" if design.judge else "")

    rows: list[list[Cell]] = [
        [
            name(d),
            d.spent,
            percent(d.judged),
            percent(d.significant),
            percent(d.false),
            d.tau,
            d.overlap,
            percent(d.coverage),
            percent(d.at_stop),
            percent(d.coverage_runs),
            percent(d.judge_saves),
        ]
        for d in answer.designs
    ]
    if all(d.judge_saves is None for d in answer.designs):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    notes = [
        f"significant: of the {answer.significant} pairs that complete judgements find significant "
        "(t-test with Holm), those that were claimed;",
        "false: replays with a claim at any look that complete judgements do not confirm;",
        "coverage: intervals of pairs that held at every look; at stop, runs: those at the stop, "
        "and those of the runs at every look",
    ]
    path: list[list[Cell]] = [
        [name(d), percent(p.judged), percent(p.significant), percent(p.false), p.tau, p.overlap]
        for d in answer.designs
        for p in d.path
    ]
    title = f"{answer.measure}: {answer.replays} replays, {answer.candidates:,} cells"
    tables = [
        Table(columns, rows, title, notes),
        Table(columns[:1] + columns[2:7], path, "By judgements"),
    ]
    return study_document(answer, tables, tables[0])
