"""What every declaration promises, held over the whole registry.

Measures are found through their declarations, so one that is added later is tested here without
a change, unless it needs input that no group below knows: then the first test fails.
"""

from __future__ import annotations

import copy
import math
import pickle

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cranfield.errors import MeasureError
from cranfield.evaluation.ranked import evaluate
from cranfield.measures import (
    ANNOTATION,
    FAMILIES,
    POOLED,
    RANKED,
    REGIONS,
    REGISTRY,
    SETS,
    Measure,
    measure,
    parse_measures,
)
from cranfield.references import REFERENCES
from cranfield.registry import Registry, parse_name, split_names
from tests.contract.measure_groups import bindings, groups_of


@pytest.mark.parametrize("m", REGISTRY.values(), ids=str)
def test_every_measure_is_in_one_property_group(m: Measure) -> None:
    assert len(groups_of(m)) == 1, f"no property group knows what {m} needs: {sorted(m.needs)}"


# Declarations


@pytest.mark.parametrize("m", REGISTRY.values(), ids=str)
def test_declaration_is_complete(m: Measure) -> None:
    for text in ("title", "summary", "formula", "undefined", "family", "example", "ties"):
        assert getattr(m, text).strip(), f"{m.name} declares no {text}"
    assert m.title[0].isupper() or m.title.startswith("nDCG")
    assert m.summary.endswith("."), m.summary
    assert m.source.key in REFERENCES
    low, high = m.range
    assert low < high
    assert m.higher_is_better in (True, False, None)
    assert m.needs
    for name, param in m.params.items():
        assert param.doc, f"{m.name} does not explain {name}"
        if param.default is not None:
            assert param.convert(m.name, name, param.default) == param.default


@pytest.mark.parametrize("m", REGISTRY.values(), ids=str)
def test_examples_parse_to_the_measure(m: Measure) -> None:
    for text in split_names(m.example):
        assert measure(text).name == m.name


@pytest.mark.parametrize("m", REGISTRY.values(), ids=str)
def test_formula_has_balanced_braces(m: Measure) -> None:
    depth = 0
    bare = m.formula.replace(r"\{", "").replace(r"\}", "")
    for char in bare:
        depth += (char == "{") - (char == "}")
        assert depth >= 0
    assert depth == 0


def test_names_are_unique_and_every_family_is_registered() -> None:
    declared = [m.name for family in FAMILIES for m in family.DECLARED]
    assert len(declared) == len(set(declared)) == len(RANKED)
    assert len(REGISTRY) == len({m.name for m in REGISTRY.values()})
    lowered = [name.lower() for name in declared]
    assert len(lowered) == len(set(lowered)), "names that differ only in case confuse people"
    trec = [m.trec_name for m in REGISTRY.values() if m.trec_name]
    assert len(trec) == len(set(trec))


@pytest.mark.parametrize("name", SETS)
def test_sets_parse(name: str) -> None:
    assert parse_measures(name)


# Names

SPELLINGS = {
    "MAP map Map AP": "AP",
    "MRR mrr recip_rank reciprocal_rank RR": "RR",
    "NDCG@10 ndcg@10 ndcg_cut_10 ndcg_cut.10 nDCG_10 nDCG@10": "nDCG@10",
    "Recall@100 recall_100 R@100 recall.100": "R@100",
    "Precision@5 P_5 p@5 Prec@5 P.5": "P@5",
    "Hits@10 hit_rate@10 Success@10 success_10": "Success@10",
    "success@1": "Success@1",
    "F1@10 F@10 f1@10": "F@10",
    "MAP@10 map_cut_10": "AP@10",
    "gm_map GMAP MAP(mean='geometric')": "AP(mean='geometric')",
    "MiAP miap": "iAP",
    "11pt_avg": "iAP(version=10)",
    "ip@0.5": "iP@0.5",
    "iprec_at_recall_0.50": "iP@0.5(version=10)",
    "bpref": "Bpref",
    "r_precision rprec": "Rprec",
    "anmrr": "NMRR",
    "set_F": "SetF",
    "F1@10 f1@10 F@10": "F@10",
    "alpha-nDCG@20 alpha_ndcg@20 alpha-ndcg@20": "alpha_nDCG@20",
    "ERR-IA@20 err_ia@20": "ERR_IA@20",
    "strec@5 StRecall@5": "StRecall@5",
    "MAP-IA": "AP_IA",
    "ContextPrecision context_precision": "SetP",
    "context_recall": "SetR",
}


@pytest.mark.parametrize("spellings", SPELLINGS)
def test_names_that_people_type_lead_to_one_measure(spellings: str) -> None:
    assert [str(m) for m in parse_measures(spellings)] == [SPELLINGS[spellings]]
    assert [str(measure(one)) for one in spellings.split()] == (
        [SPELLINGS[spellings]] * len(spellings.split())
    )


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("nDCG@5,10,20", ["nDCG@5", "nDCG@10", "nDCG@20"]),
        ("nDCG@5, 10 AP", ["nDCG@5", "nDCG@10", "AP"]),
        ("P_5,10", ["P@5", "P@10"]),
        ("ndcg_cut.5,10", ["nDCG@5", "nDCG@10"]),
        ("nDCG@5,10(gain='exp')", ["nDCG@5", "nDCG@10(gain='exp')"]),
        ("nDCG@5(gain='exp'),10", ["nDCG@5(gain='exp')", "nDCG@10(gain='exp')"]),
        ("iP@0.1,0.5", ["iP@0.1", "iP@0.5"]),
        ("CG@1..3 AP", ["CG@1", "CG@2", "CG@3", "AP"]),
        ("nDCG@9..10(gain='exp')", ["nDCG@9(gain='exp')", "nDCG@10(gain='exp')"]),
    ],
)
def test_several_cutoffs_of_one_measure(text: str, meant: list[str]) -> None:
    assert [str(m) for m in parse_measures(text)] == meant


def test_a_name_means_the_measure_of_the_task() -> None:
    from cranfield.measures.labels.registry import parse_label_measures

    for name, ranked, label in (("MAP", "AP", "AP.concept"), ("MiAP", "iAP", "iAP.concept")):
        assert str(parse_measures(name)[0]) == ranked
        assert str(parse_label_measures(name)[0]) == label
    assert str(parse_measures("F1@5")[0]) == "F@5"
    assert str(parse_label_measures("F1")[0]) == "F.example"


@pytest.mark.parametrize("m", REGISTRY.values(), ids=str)
def test_the_names_that_tables_print_are_understood(m: Measure) -> None:
    registry = next(r for r in (RANKED, ANNOTATION, POOLED, REGIONS) if m.name in r)
    for bound in bindings(m):
        assert registry.find(bound.mean_label) == bound


@pytest.mark.parametrize(
    "registry", [RANKED, ANNOTATION, REGIONS], ids=["ranked", "annotation", "regions"]
)
def test_every_alias_leads_to_one_canonical_name(registry: Registry[Measure]) -> None:
    for alias, name in registry.aliases.items():
        stem = parse_name(name, "measure").name
        assert stem in registry, alias
        assert alias.lower() not in {n.lower() for n in registry if n != stem}


def test_measures_of_ir_measures_are_taken_as_they_are() -> None:
    ir = pytest.importorskip("ir_measures")
    given = [ir.nDCG @ 10, ir.nDCG(dcg="exp-log2") @ 10, ir.AP(rel=2), ir.IPrec @ 0.2]
    given += [ir.P(rel=2) @ 5, ir.NumRet(rel=1), ir.RBP(p=0.9, rel=1), ir.Success @ 1]
    assert [str(m) for m in parse_measures(given)] == [
        "nDCG@10",
        "nDCG@10(gain='exp')",
        "AP(rel=2)",
        "iP@0.2(version=9)",
        "P@5(rel=2)",
        "NumRelRet",
        "RBP(p=0.9)",
        "Success@1",
    ]
    assert str(parse_measures(ir.nDCG @ 10)[0]) == "nDCG@10"
    with pytest.raises(MeasureError, match="judged_only"):
        parse_measures(ir.AP(judged_only=True))


@pytest.mark.parametrize("m", REGISTRY.values(), ids=str)
def test_measures_travel(m: Measure) -> None:
    for bound in bindings(m):
        assert copy.deepcopy(bound) is bound
        arrived = pickle.loads(pickle.dumps(bound))
        assert arrived == bound
        assert arrived.plan is bound.plan
    assert pickle.loads(pickle.dumps(m)) == m


@pytest.mark.parametrize("m", REGISTRY.values(), ids=str)
def test_names_parse_and_print_both_ways(m: Measure) -> None:
    seen = set()
    for bound in bindings(m):
        parsed = measure(str(bound))
        assert parsed == bound
        assert dict(parsed.bound) == dict(bound.bound)
        assert parsed.at == bound.at
        assert split_names(f"{bound}, {bound} AP") == [str(bound), str(bound), "AP"]
        seen.add(str(bound))
    assert seen


@given(st.integers(1, 10**9))
@settings(max_examples=40)
def test_any_cutoff_prints_in_full(k: int) -> None:
    assert str(measure(f"P@{k}")) == f"P@{k}"
    assert measure(str(measure(f"P@{k}"))).at == k


@given(st.floats(0, 1))
@settings(max_examples=60)
def test_any_recall_level_survives_printing(share: float) -> None:
    bound = REGISTRY["iP"].bind(at=share)
    assert measure(str(bound)).at == share


@given(st.floats(allow_nan=True, allow_infinity=True))
@settings(max_examples=60)
def test_any_level_of_relevance_survives_or_is_refused(rel: float) -> None:
    if not math.isfinite(rel):
        with pytest.raises(MeasureError, match="is not a number"):
            REGISTRY["AP"].bind(rel=rel)
        return
    bound = REGISTRY["AP"].bind(rel=rel)
    assert measure(str(bound)).value_of("rel") == rel


@pytest.mark.parametrize("m", REGISTRY.values(), ids=str)
def test_unknown_parameters_and_bad_values_are_refused(m: Measure) -> None:
    with pytest.raises(MeasureError, match="has no parameter 'nonsense'"):
        m.bind(nonsense=1)
    for name, param in m.params.items():
        with pytest.raises(MeasureError, match=name):
            m.bind(**{name: 1 if param.kind is str else "text"})
        if param.kind is not str and math.isfinite(param.low):
            with pytest.raises(MeasureError, match="outside"):
                m.bind(**{name: param.low - 1})
        if param.kind is int and not param.choices:
            with pytest.raises(MeasureError, match="whole number"):
                m.bind(**{name: 1.5})
    if m.cutoff == "none":
        with pytest.raises(MeasureError, match="takes no cutoff"):
            m.bind(at=10)
    else:
        with pytest.raises(MeasureError, match=r"cutoff|recall level"):
            m.bind(at=-1)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("RPB", "Did you mean 'RBP'?"),
        ("nDGC@10", "Did you mean 'nDCG'?"),
        ("MMRR", "Did you mean 'MRR'?"),
        ("nDCG_top_10", "Did you mean"),
        ("imageclef210", "No measure named"),
        ("10", "is not the name of a measure"),
        ("P@99999999999999999999", "no ranking is that long"),
        ("P", "P needs a cutoff, such as P@10"),
        ("iP@2", "a recall level lies in [0, 1]"),
        ("P@0", "a cutoff is a whole number from 1 on"),
        ("P@1.5", "a cutoff is a whole number from 1 on"),
        ("P@10@20", "two cutoffs"),
        ("P@1.2.3", "cannot read the cutoff"),
        ("P(rel=2", "unbalanced parenthesis"),
        ("P(2)@10", "parameters are written name=value"),
        ("P(rel=x)@10", "is not a number or a quoted string"),
        ("P(rel=[1])@10", "is not a simple value"),
        ("P(rel=1, rel=2)@10", "rel is given twice"),
        ("P(rel=1)@10(rel=2)", "rel is given twice"),
        ("P(rle=2)@10", "Did you mean 'rel'?"),
        ("P(rel='2')@10", "is not a number"),
        ("P(rel=1e999)@10", "is not a number"),
        ("iP@0.5(version=1e999)", "is not a whole number"),
        ("iP@0.5(version=8)", "is not one of 9, 10"),
        ("RBP(p=2)", "is outside [0, 1]"),
        ("nDCG(discount='ln')", "is not one of 'log2', 'jk', 'none'"),
        ("", "no measure was asked for"),
        ("@10", "is not the name of a measure"),
        ("AP!", "cannot read '!'"),
    ],
)
def test_what_is_wrong_with_a_name_is_said(text: str, says: str) -> None:
    with pytest.raises(MeasureError) as caught:
        parse_measures(text)
    assert says in str(caught.value)


@pytest.mark.parametrize("text", ["nDCG(gain='1=x')", "nDCG(gain='nonsense')", "RBP(gain='exp')"])
def test_gains_that_cannot_be_read_are_refused(text: str) -> None:
    with pytest.raises(MeasureError, match="gain="):
        evaluate({"t": {"a": 1}}, {"t": {"a": 1.0}}, text)
