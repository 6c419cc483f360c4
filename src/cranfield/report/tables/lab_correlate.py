"""Tables of how alike measures rank runs."""

from __future__ import annotations

from cranfield.lab.cost_map_measures import BASELINE, forms_of
from cranfield.lab.studies.correlate import CONFIDENCE, Correlations, Join
from cranfield.report.document import Cell, Column, Document, Table
from cranfield.report.tables._study import few_runs, study_document
from cranfield.stats.correlation import DISCORDANT


def correlations_document(answer: Correlations) -> Document:
    """The pairs, cost maps in both ways, then the steps of both trees."""
    return study_document(answer, [_pairs(answer), *_both_ways(answer), *_trees(answer)])


def _both_ways(answer: Correlations) -> list[Table]:
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


def _pairs(answer: Correlations) -> Table:
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
        Column("concordant", heading="D says", numeric=False),
    ]
    says = {True: "agree", False: "differ", None: "-"}
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
            says[p.concordant],
        ]
        for p in answer.pairs
    ]
    tied = any(p.kendall_name == "tau-b" for p in answer.pairs)
    notes = [
        f"tau over {len(answer.runs)} runs"
        + (", as tau-b where runs tie" if tied else ", without ties")
        + f"; low, high: {CONFIDENCE:.0%} interval from {answer.resamples} resamples of the "
        "units;",
        "within: mean over runs of tau-b over the units of a run; D says: the decision of "
        f"Kolmogorov-Smirnov's test at {DISCORDANT:g}{few_runs(len(answer.runs))}.",
    ]
    return Table(columns, rows, "How alike measures rank the runs", notes)


def _trees(answer: Correlations) -> list[Table]:
    """The steps of the clustering, closest first: by rankings of runs, and within runs."""
    trees = (answer.tree, "by runs"), (answer.within_tree, "within runs")
    return [_tree(tree, basis) for tree, basis in trees if tree]


def _tree(tree: tuple[Join, ...], basis: str) -> Table:
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
