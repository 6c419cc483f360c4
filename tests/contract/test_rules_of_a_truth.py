"""Sets of labels under rules: what breaks them, what mends them, and the sample's truth."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np
import pytest

import cranfield as cf
from cranfield.agreement.aggregation import aggregate_judgements
from cranfield.data.ontology import Ontology, Requirement, RuleBook, Rules, exclusive_groups
from cranfield.io.judgement_log import read_judgement_log
from cranfield.io.ontology import read_rules_of
from cranfield.io.samples import SAMPLE

CONCEPTS = ("Day", "Night", "Dusk", "Indoor", "Outdoor", "Sky", "Sun")
RULES = Rules(
    exactly_one=(("Day", "Night", "Dusk"),),
    disjoint=(("Indoor", "Outdoor"),),
    requires=(Requirement("Sun", ("Day", "Dusk")), Requirement("Sky", ("Outdoor",))),
)


def every_set() -> list[frozenset[str]]:
    sizes = range(len(CONCEPTS) + 1)
    return [frozenset(s) for s in chain.from_iterable(combinations(CONCEPTS, n) for n in sizes)]


def keeps(labels: frozenset[str]) -> bool:
    """The rules, written out."""
    return (
        len(labels & {"Day", "Night", "Dusk"}) == 1
        and not {"Indoor", "Outdoor"} <= labels
        and ("Sun" not in labels or bool(labels & {"Day", "Dusk"}))
        and ("Sky" not in labels or "Outdoor" in labels)
    )


def test_what_breaks_a_rule() -> None:
    book = RuleBook.of(RULES, CONCEPTS)
    for labels in every_set():
        assert (book.broken(labels) is None) == keeps(labels), labels
    table = np.array([[c in labels for c in CONCEPTS] for labels in every_set()])
    broken = np.zeros(len(table), dtype=bool)
    for _, rows in book.broken_rows(table, CONCEPTS):
        broken |= rows
    assert broken.tolist() == [not keeps(labels) for labels in every_set()]


@pytest.mark.parametrize("seed", range(30))
def test_the_nearest_set_is_the_cheapest_that_keeps_all_rules(seed: int) -> None:
    rng = np.random.default_rng(seed)
    book = RuleBook.of(RULES, CONCEPTS)
    cost = dict(zip(CONCEPTS, rng.random(len(CONCEPTS)).tolist(), strict=True))
    start = every_set()[int(rng.integers(2 ** len(CONCEPTS)))]
    found = book.nearest(start, cost)
    assert found is not None
    assert keeps(found)
    spent = {s: sum(cost[c] for c in s ^ start) for s in every_set() if keeps(s)}
    assert spent[found] == pytest.approx(min(spent.values()))


def test_a_specialisation_needs_its_ancestors() -> None:
    ontology = Ontology.from_paths([("Water", "Water"), ("Sea", "Water.Sea")])
    book = RuleBook.of(ontology, ("Water", "Sea"))
    problem = book.broken({"Sea"})
    assert problem is not None
    assert problem.rule == "Sea needs its ancestor Water"
    assert book.nearest({"Sea"}, {"Sea": 3.0, "Water": 1.0}) == {"Sea", "Water"}


@pytest.mark.parametrize("method", ["majority", "dawid-skene", "one-coin", "mace"])
@pytest.mark.parametrize("with_ontology", [False, True])
def test_the_truth_of_the_sample_breaks_no_rule(method: str, with_ontology: bool) -> None:
    rules = read_rules_of(
        rules=SAMPLE / "rules.toml", ontology=SAMPLE / "ontology.csv" if with_ontology else None
    )
    assert rules is not None
    log = read_judgement_log(SAMPLE / "judgement-log.csv.gz", groups=exclusive_groups(rules))
    found = aggregate_judgements(log, method, rules=rules)
    book = RuleBook.of(rules, log.concepts)
    chosen: dict[str, set[str]] = {item: set() for item in log.items}
    for row in found.rows():
        if row["value"] == "1":
            chosen[row["item"]].add(row["concept"])
    assert [item for item, labels in chosen.items() if book.broken(labels)] == []


def test_label_tells_of_a_truth_that_breaks_its_rules(tmp_path) -> None:
    rules = tmp_path / "rules.toml"
    rules.write_text('[[exactly_one]]\nconcepts = ["Day", "Night"]\n')
    truth = {"a": {"Day"}, "b": {"Day", "Night"}, "c": {"Sky"}}
    scores = cf.evaluate_labels(truth, {"mine": truth}, "F.example", rules=rules)
    assert any(
        "2 of 3 items break a rule themselves, such as 'b': exactly one of {Day, Night}" in note
        for note in scores.notes
    ), scores.notes
    kept = {"a": {"Day"}, "b": {"Night"}}
    scores = cf.evaluate_labels(kept, {"mine": kept}, "F.example", rules=rules)
    assert not any("break a rule" in note for note in scores.notes)
