"""Tables of how alike measures rank runs."""

from __future__ import annotations

from cranfield.lab.studies.correlate import CONFIDENCE, Correlations, Join
from cranfield.report.document import Cell, Column, Document, Table
from cranfield.report.tables._study import few_runs, study_document
from cranfield.stats.correlation import DISCORDANT


def document(answer: Correlations) -> Document:
    """The pairs, then the steps of both trees."""
    return study_document(answer, [_pairs(answer), *_trees(answer)])


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
    named = (answer.tree, "by runs"), (answer.within_tree, "within runs")
    return [_tree(tree, what) for tree, what in named if tree]


def _tree(tree: tuple[Join, ...], what: str) -> Table:
    columns = [
        Column("step", digits=0),
        Column("left", numeric=False),
        Column("right", numeric=False),
        Column("distance", heading="1 - tau"),
    ]
    rows: list[list[Cell]] = [
        [i, ", ".join(j.left), ", ".join(j.right), j.distance] for i, j in enumerate(tree, 1)
    ]
    return Table(columns, rows, f"Clusters of measures {what} (average linkage)")
