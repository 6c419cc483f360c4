"""Measures of a run against another run: how alike two rankings are, without judgements."""

from __future__ import annotations

from types import MappingProxyType

from cranfield.errors import NeedsError
from cranfield.measures.base import Measure, Param
from cranfield.measures.ranked.kernel_calls import Context, KernelCall
from cranfield.references import Source

FAMILY = "runs against a run"


def _no_judgements(measure: Measure, _: Context) -> KernelCall:
    raise NeedsError(
        f"{measure} compares runs with another run, not with judgements: in Python, "
        "cranfield.overlap_of_runs(reference, runs)"
    )


RBO = Measure(
    name="RBO",
    title="Rank-biased overlap",
    summary="How much two rankings share from the top down, where rank d weighs p^(d-1), "
    "extrapolated beyond their ends. With a cutoff both are cut there first.",
    formula=r"(1-p)\sum_{d\ge1} p^{d-1}\,\frac{|S_{1:d}\cap T_{1:d}|}{d}",
    source=Source("webber-rbo", equations="32"),
    range=(0.0, 1.0),
    higher_is_better=None,
    needs=frozenset({"ranking", "reference"}),
    plan=_no_judgements,
    params=MappingProxyType(
        {"p": Param(float, 0.9, "persistence: how deep it looks", low=1e-6, high=1 - 1e-6)}
    ),
    cutoff="optional",
    family=FAMILY,
    undefined="both rankings empty: 1; one of them: 0",
    example="RBO RBO@100(p=0.98)",
)

DECLARED = (RBO,)
