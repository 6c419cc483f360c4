"""The formula of a declaration is that of what it computes with its parameters."""

from __future__ import annotations

from itertools import combinations

import pytest

from cranfield.measures import REGISTRY, Measure, measure

# Parameters whose choices leave the formula of a topic as it is, and why.
SAME_FORMULA = {
    "mean": "how topics or concepts are averaged, which is no part of the formula of one",
    "empty": "which topics are averaged",
    "size": "which boxes count",
    "shape": "what overlaps: boxes or masks",
    "missing": "the ranks of items that were not retrieved, whatever is computed from ranks",
}
# Here a parameter of that name is of another kind.
OWN_FORMULA = {("F.example", "mean"), ("hF", "mean")}


def _choices(m: Measure):
    for name, param in m.params.items():
        values = param.choices or ((True, False) if param.kind is bool else ())
        if values and (name not in SAME_FORMULA or (m.name, name) in OWN_FORMULA):
            yield name, (None, *values) if param.default is None else values


CHOICES = [(m, *choice) for m in REGISTRY.values() for choice in _choices(m)]


def test_the_choices_are_those_of_the_catalogue():
    assert {(m.name, name) for m, name, _ in CHOICES} >= {
        ("nDCG", "discount"),
        ("DCG", "discount"),
        ("IdealDCG", "discount"),
        ("MNRO", "generality"),
        ("iP", "version"),
        ("DisplacementQuality", "g"),
        ("hP", "expand"),
        ("hR", "average"),
        ("OS", "rules"),
        *OWN_FORMULA,
    }


@pytest.mark.parametrize(("m", "name", "values"), CHOICES, ids=lambda value: str(value))
def test_each_choice_has_its_formula(m, name, values):
    formulas = {v: m.formula if v is None else m.bind(**{name: v}).formula for v in values}
    for one, other in combinations(values, 2):
        assert formulas[one] != formulas[other], f"{m.name}: {name}={one!r} and {other!r}"


@pytest.mark.parametrize("m", REGISTRY.values(), ids=str)
def test_the_formula_of_a_declaration_is_that_of_its_defaults(m):
    assert m.bind().formula == m.formula


@pytest.mark.parametrize(("m", "name", "values"), CHOICES, ids=lambda value: str(value))
def test_braces_of_every_formula_are_balanced(m, name, values):
    for value in values:
        if value is None:
            continue
        bare = m.bind(**{name: value}).formula.replace(r"\{", "").replace(r"\}", "")
        assert bare.count("{") == bare.count("}")


def test_a_discount_is_shown():
    assert (
        measure("DCG@10(discount='jk')").formula == r"\sum_{i \le k} \frac{g(i)}{\max(1, \log_2 i)}"
    )
    assert measure("DCG@10(discount='none')").formula == measure("CG@10").formula
    assert measure("nDCG(discount='none')").formula == measure("nCG@10").formula
