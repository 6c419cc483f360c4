"""Worked figures of S. Nowak's thesis (2011): Table 7.1, equation 7.2, section 7.5.3."""

import numpy as np
import pytest

from cranfield.data.costmap import CostMap
from cranfield.data.labels import LabelMatrix
from cranfield.data.ontology import Ontology, Requirement, Rules
from cranfield.evaluation.labels import evaluate_labels
from cranfield.ontologies import pto

# Figure 7.4: the 14 concepts that can be assigned, with the paths of Table A.1.
FRAGMENT = [
    ("Portrait", "Representation.Portrait"),
    ("Single", "PicturedObjects.Persons.Single"),
    ("Small", "PicturedObjects.Persons.SmallGroup"),
    ("Big", "PicturedObjects.Persons.BigGroup"),
    ("Plants", "LandscapeElements.Plants"),
    ("Flowers", "LandscapeElements.Plants.Flowers"),
    ("Trees", "LandscapeElements.Plants.Trees"),
    ("Water", "LandscapeElements.Water"),
    ("Lake", "LandscapeElements.Water.Lake"),
    ("River", "LandscapeElements.Water.River"),
    ("Sea", "LandscapeElements.Water.Sea"),
    ("Mountains", "LandscapeElements.Mountains"),
    ("Sky", "LandscapeElements.Sky"),
    ("Clouds", "LandscapeElements.Sky.Clouds"),
]
RULES = Rules(
    exactly_one=(("Single", "Small", "Big"),),
    requires=(Requirement("Portrait", ("Single", "Small", "Big")),),
)
TRUTH = {"Portrait", "Single", "Plants", "Water", "Mountains", "Sky"}
PREDICTED = {"Portrait", "Trees", "Mountains", "Clouds"}


@pytest.fixture(scope="module")
def value():
    concepts = [c for c, _ in FRAGMENT]
    truth = LabelMatrix.of({"photo": TRUTH}, concepts=concepts)
    run = LabelMatrix.of({"photo": PREDICTED}, concepts=concepts, name="run")
    ontology = Ontology.from_paths(FRAGMENT, rules=RULES).checked()

    def score(measure: str) -> float:
        return evaluate_labels(truth, [run], [measure], ontology=ontology).mean()["run"][measure]

    return score


@pytest.mark.parametrize(
    ("measure", "printed"),
    [
        ("HLoss", 0.29),
        ("MaxLoss", 0.29),
        ("WeightedEuclidean", 1.72),
        ("hP", 0.66),
        ("hR", 0.66),
        ("hF", 0.66),
        ("hF(mean='arithmetic')", 0.66),
        ("hP(average='macro')", 0.66),
        ("hR(average='macro')", 0.66),
        ("hP(expand='descendants')", 1.0),
        ("hR(expand='descendants')", 0.33),
        ("hF(expand='descendants', mean='arithmetic')", 0.66),
        ("P.example", 0.50),
        ("R.example", 0.33),
        ("F.example(mean='arithmetic')", 0.42),
    ],
)
def test_table_7_1(value, measure, printed):
    # The table cuts 2/3 to 0.66 and rounds the others: one unit of its last digit.
    assert value(measure) == pytest.approx(printed, abs=0.00667)


def test_table_7_1_exact_fractions(value):
    assert value("HLoss") == pytest.approx(4 / 14, abs=1e-15)
    assert value("MaxLoss") == pytest.approx(4 / 14, abs=1e-15)
    assert value("WeightedEuclidean") == pytest.approx(
        (3 * 0.75**2 + 3 * 0.75**3) ** 0.5, abs=1e-15
    )
    assert value("hF(expand='descendants')") == pytest.approx(0.5, abs=1e-15)
    assert value("F.example") == pytest.approx(0.4, abs=1e-15)


def test_table_7_1_scores_with_the_listed_paths(value):
    # Errata: 3 broken labels, and 13/14 + 1/14 + 4/14 + 1/14 for those that are missed.
    assert value("OS") == pytest.approx(1 - (3 + 19 / 14) / 8, abs=1e-15)
    assert value("OS") == pytest.approx(0.4554, abs=5e-5)
    assert value("HS") == pytest.approx(0.8125, abs=1e-15)


def test_link_costs_of_equation_7_2():
    costs = pto(2009).cost_map
    assert costs.cost("Landscape_Nature", "Outdoor") == 12 / 14
    assert costs.cost("Landscape_Nature", "Indoor") == 12 / 14
    assert costs.cost("Landscape_Nature", "Trees") == 13 / 14
    # The thesis prints 0.86 and 0.93 (section 8.1).
    assert round(12 / 14, 2) == 0.86
    assert round(13 / 14, 2) == 0.93


def test_two_deepest_leaves_that_meet_at_the_root_cost_1():
    assert pto(2009).cost_map.cost("Trees", "Single_Person") == 1.0
    assert pto(2009, tree="listed").cost_map.cost("Trees", "Landscape_Nature") == 1.0


@pytest.mark.parametrize(("year", "concepts"), [(2009, 53), (2010, 93), (2011, 99)])
@pytest.mark.parametrize("tree", ["default", "listed"])
def test_sizes_of_the_photo_tagging_ontology(year, concepts, tree):
    ontology = pto(year, tree=tree)
    assert len(ontology.concepts) == concepts
    assert ontology.problems() == []


def test_label_density_of_section_7_5_3():
    # 9.06 labels per item of 53 concepts: 100 items with 906 labels.
    labels = np.zeros((100, 53), dtype=bool)
    labels.flat[np.random.default_rng(7).permutation(5300)[:906]] = True
    truth = LabelMatrix.of(labels)
    assert truth.cardinality == pytest.approx(9.06)
    assert truth.density == pytest.approx(9.06 / 53)
    assert round(truth.density, 2) == 0.17


def test_hs_uses_neither_ontology_nor_agreement_section_8_3_1():
    """ "HS if the ontology and the annotator agreement factors are not used"."""
    concepts = [c for c, _ in FRAGMENT]
    truth = LabelMatrix.of({"photo": TRUTH}, concepts=concepts)
    run = LabelMatrix.of({"photo": PREDICTED}, concepts=concepts, name="run")
    ontology = Ontology.from_paths(FRAGMENT, rules=RULES).checked()
    half = dict.fromkeys(concepts, 0.5)

    def score(measures: str, agreement: dict[str, float] | None) -> dict[str, float]:
        found = evaluate_labels(truth, [run], measures, ontology=ontology, agreement=agreement)
        return found.mean()["run"]

    complete = score("OS HS OS(rules=False)", half)
    assert complete["HS"] == score("HS", None)["HS"] == pytest.approx(0.8125, abs=1e-15)
    # The mixed form: agreements, which halve every cost, and no rules.
    assert complete["OS(rules=False)"] == pytest.approx(1 - 0.1875 / 2, abs=1e-15)
    # Broken labels pay 1 whatever people think of them; the missed ones half of 19/14.
    assert complete["OS"] == pytest.approx(1 - (3 + 19 / 28) / 8, abs=1e-15)


def test_equally_near_labels_pay_their_mean_agreement_equation_7_1():
    """Big is as near to Single as to Small: whichever column comes first, (0.6 + 1) / 2 is paid."""
    agreement = {c: 1.0 for c, _ in FRAGMENT} | {"Single": 0.6}
    ontology = Ontology.from_paths(FRAGMENT).checked()
    found = []
    for concepts in ([c for c, _ in FRAGMENT], [c for c, _ in reversed(FRAGMENT)]):
        truth = LabelMatrix.of({"photo": {"Single", "Small"}}, concepts=concepts)
        run = LabelMatrix.of({"photo": {"Big"}}, concepts=concepts, name="run")
        scores = evaluate_labels(
            truth, [run], "OS(rules=False)", ontology=ontology, agreement=agreement
        )
        found.append(scores.mean()["run"]["OS(rules=False)"])
    # All three are leaves below Persons, two links of 1/14 apart; Single and Small are missed.
    assert found == [pytest.approx(1 - 2 / 14 * (0.8 + 0.6 + 1.0) / 3, abs=1e-15)] * 2


def test_expanded_sets_count_ancestors_that_no_file_mentions():
    """Leaves only (section 4.4.2.2): hiclass gives 5/6 for the same three items."""
    ontology = Ontology.from_paths(
        [("animal", "1"), ("dog", "1.1"), ("cat", "1.2"), ("plant", "2"), ("rose", "2.1")]
    ).checked()
    truth = {"x1": {"dog"}, "x2": {"cat"}, "x3": {"rose"}}
    run = {"x1": {"cat"}, "x2": {"cat"}, "x3": {"rose"}}
    found = evaluate_labels(
        truth, {"run": run}, "hP hR hF hP(expand='nodes') MaxLoss", ontology=ontology
    ).mean()["run"]
    assert found.pop("MaxLoss") == pytest.approx(2 / 15, abs=1e-15)
    assert list(found.values()) == [pytest.approx(5 / 6, abs=1e-15)] * 4


def test_categories_count_with_expand_nodes_only(value):
    """Table 7.1 has 0.66 without LandscapeElements, PicturedObjects and the other categories."""
    # Truth and prediction with all nodes above: 6 + 5 and 6 + 2, of which 7 are common.
    assert value("hP") == pytest.approx(2 / 3)
    assert value("hP(expand='nodes')") == pytest.approx(6 / 8)
    assert value("hR(expand='nodes')") == pytest.approx(6 / 10)


def test_mei_compares_two_runs_item_by_item():
    """4.4.3: scores of two approaches relative to each other, by a distance of label sets."""
    concepts = ["Sea", "Lake", "Car"]
    jcn = CostMap.of(concepts, [[0, 0.2, 1], [0.2, 0, 1], [1, 1, 0]])
    truth = LabelMatrix.of({"1": {"Sea"}, "2": {"Lake"}, "3": {"Car"}}, concepts=concepts)
    near = LabelMatrix.of({"1": {"Lake"}, "2": {"Lake"}, "3": {"Sea"}}, concepts=concepts, name="a")
    far = LabelMatrix.of({"1": {"Car"}, "2": {"Lake"}, "3": {"Car"}}, concepts=concepts, name="b")
    scores = evaluate_labels(truth, [near, far], "LabelSetDistance", costmap=jcn)
    (pair,) = scores.compare(test="randomization", resamples=99).pairs
    assert (pair.wins, pair.ties, pair.losses) == (1, 1, 1)
