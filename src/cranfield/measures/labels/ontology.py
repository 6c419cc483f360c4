"""Scores with semantic costs: OS, HS (No 7.1-7.3), Semantic R-Precision (No 9.1-9.4), similarity.

The last are of how alike two sets of labels are by the ontology or by costs (No 4.4.3).
"""

from __future__ import annotations

from types import MappingProxyType

import numpy as np

from cranfield import _core
from cranfield.data.labels import Bools, Floats
from cranfield.data.ontology import TREE_COST, Knowledge, Ontology
from cranfield.measures.base import Measure, Param
from cranfield.measures.labels.blocks import ItemBlock, LabelPlan, Matching, PerItem
from cranfield.measures.labels.example import NO_TRUE, VOCABULARY
from cranfield.references import Source

FAMILY = "annotation, semantic"
COST = Param(
    str, "", "the cost map: a name given with it, 'tree' for the ontology's own, or the default"
)
ALPHA = Param(float, 1, "forgiveness rate", low=0.0)
_EMPTY = "nothing true and nothing predicted: 1; nothing predicted: 0"


def score_of(cost: Floats, union: Floats, alpha: float) -> Floats:
    """(1 - cost / union) ** alpha; an empty union scores 1."""
    share = cost / np.where(union == 0, 1.0, union)
    scores: Floats = np.clip(1.0 - share, 0.0, 1.0) ** alpha
    return scores


def matching_of(measure: Measure) -> Matching:
    """How OS or HS matches label sets: HS knows neither rules nor agreements (No 8.3.1)."""
    complete = measure.name == "OS"
    rules = complete and bool(measure.value_of("rules"))
    return Matching(str(measure.value_of("cost")), rules=rules, agreement=complete)


def _score(measure: Measure) -> LabelPlan:
    matching, alpha = matching_of(measure), float(measure.value_of("alpha"))

    def values(block: ItemBlock) -> Floats:
        union = block.true + block.predicted - block.tp
        return score_of(block.match_cost(matching), union, alpha)

    return PerItem(values)


def _semantic_rprec(measure: Measure) -> LabelPlan:
    cost = str(measure.value_of("cost"))

    def values(block: ItemBlock) -> Floats:
        smallest = _core.ranked_assignment(
            block.truth, block.confidences, block.knowledge.costs(cost), block.jobs
        )
        return np.where(block.true > 0, block.true - smallest, np.nan) / np.maximum(block.true, 1)

    return PerItem(values, ranked=True)


def _written_os(measure: Measure) -> str:
    """With rules, the labels that break one pay 1 each beside the costs of the match."""
    score = r"\left(1-\frac{\mathrm{match}(Z_n,Y_n)}{|Z_n\cup Y_n|}\right)^{\alpha}"
    if not measure.value_of("rules"):
        return score
    return rf"{score}, \quad {_BREAKING}"


_BREAKING = r"\mathrm{cost}(z)=1 \text{ where } z\in Z_n \text{ breaks a rule}"

OS = Measure(
    name="OS",
    title="Ontology score",
    formula=r"\left(1-\frac{\mathrm{match}(Z_n,Y_n)}{|Z_n\cup Y_n|}\right)^{\alpha}, "
    rf"\quad {_BREAKING}",
    written=_written_os,
    source=Source(
        "nowak-thesis",
        "7.1-7.3",
        "a label that breaks a rule pays 1 and asks for no match of its own, but a missed label "
        "may still be matched with it; where several true labels are equally near, their mean "
        "agreement is paid; without a cost map every confusion costs 1",
    ),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=frozenset({"labels", "costs"}),
    plan=_score,
    family=FAMILY,
    summary="Wrong and missed labels pay their least cost to the other set, times the agreement of "
    "people on the true label; labels that break a rule of the ontology pay 1.",
    params=MappingProxyType(
        {
            "cost": COST,
            "alpha": ALPHA,
            "rules": Param(bool, True, "whether labels that break a rule of the ontology pay 1"),
        }
    ),
    ties="the mean agreement over equally near labels",
    undefined=_EMPTY,
    example="OS(cost='fts') OS(rules=False)",
)

HS = Measure(
    name="HS",
    title="Hierarchical score",
    formula=r"\left(1-\frac{\mathrm{match}(Z_n,Y_n)}{|Z_n\cup Y_n|}\right)^{\alpha}",
    source=Source("nowak-thesis", "7.1-7.3, sections 8.3.1 and 8.3.3"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=frozenset({"labels", "costs"}),
    plan=_score,
    family=FAMILY,
    summary="OS without rules and without agreements: costs alone. It rewards runs that predict "
    "too much: the thesis advises against it.",
    params=MappingProxyType({"cost": COST, "alpha": ALPHA}),
    ties="none: all nearest labels cost the same",
    undefined=_EMPTY,
    example="HS HS(cost='fts')",
)

SRP = Measure(
    name="SRP",
    title="Semantic R-precision",
    formula=r"\frac{1}{|Y_n|}\max_{\pi}\sum_{c\in Z_n^*}\bigl(1-\mathrm{cost}(c,\pi(c))\bigr)",
    source=Source("nowak-thesis", "9.1-9.4", "relatedness is 1 - cost, of any cost map"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=frozenset({"confidences", "costs"}),
    plan=_semantic_rprec,
    family=FAMILY,
    summary="The |Y| best ranked concepts are assigned one to one to the true ones; each pair "
    "counts with its relatedness.",
    params=MappingProxyType({"cost": COST}),
    ties=VOCABULARY,
    undefined=NO_TRUE,
    example="SRP(cost='fts')",
)

SIMILARITY_FAMILY = "annotation, similarity of label sets"
_NEEDS = frozenset({"labels", "costs"})
_EMPTY_SETS = "nothing true and nothing predicted: 1; only one of them empty: 0"


def _nearest(members: Bools, costs: Floats) -> Floats:
    """The least cost from every concept to a member of each item's set; infinite where none is."""
    lowest = np.full(members.shape, np.inf)
    for concept in np.flatnonzero(members.any(axis=0)):
        rows = members[:, concept]
        lowest[rows] = np.minimum(lowest[rows], costs[:, concept])
    return lowest


def _hausdorff(measure: Measure) -> LabelPlan:
    cost = str(measure.value_of("cost"))

    def values(block: ItemBlock) -> Floats:
        costs = block.knowledge.costs(cost)
        distances = np.zeros(len(block.truth))
        for members, others in ((block.truth, block.labels), (block.labels, block.truth)):
            reached = np.where(others, _nearest(members, costs), 0.0)
            distances = np.maximum(distances, reached.max(axis=1, initial=0.0))
        return np.where(np.isinf(distances), 0.0, 1.0 - np.minimum(distances, 1.0))

    return PerItem(values)


def _path(measure: Measure) -> LabelPlan:
    cost = str(measure.value_of("cost"))

    def values(block: ItemBlock) -> Floats:
        distance = 1.0 - _path_similarity(block.knowledge, cost)
        closeness = 1.0 - np.minimum(
            np.where(block.labels, _nearest(block.truth, distance), 0.0), 1.0
        )
        total = np.where(block.labels, closeness, 0.0).sum(axis=1)
        means = total / np.maximum(block.predicted, 1)
        return np.where((block.predicted == 0) & (block.true == 0), 1.0, means)

    return PerItem(values)


def _path_similarity(knowledge: Knowledge, cost: str) -> Floats:
    """The greatest product of similarities on a way between two concepts."""
    name = knowledge.cost_name(cost)
    if name == TREE_COST and name not in knowledge.costmaps:
        return np.asarray(knowledge.table(link_similarity))
    best = 1.0 - knowledge.costs(cost)
    for middle in range(len(best)):
        best = np.maximum(best, best[:, middle, None] * best[None, middle])
    return np.asarray(best)


def link_similarity(ontology: Ontology) -> Floats:
    """The same along the links of an ontology; a link is as similar as it is cheap (No 7.2)."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import dijkstra

    root = len(ontology.nodes)
    links = [
        (child, parent, -np.log1p(-ontology.link_weight(child) / ontology.link_unit))
        for child, above in enumerate(ontology.parents)
        for parent in (above or (root,))
    ]
    lengths = [length for *_, length in links]
    # Older versions of csgraph take no other whole numbers.
    ends = np.array([(child, parent) for child, parent, _ in links], dtype=np.int32).T
    graph = csr_array((lengths, (ends[0], ends[1])), shape=(root + 1, root + 1))
    nodes = list(ontology.concept_nodes.values())
    path_lengths = dijkstra(graph, directed=False, indices=nodes)[:, nodes]
    return np.asarray(np.exp(-path_lengths))


HAUSDORFF = Measure(
    name="HausdorffSimilarity",
    title="Average ConceptNet similarity (Shevade and Sundaram)",
    formula=r"1-\max\Bigl(\max_{z\in Z_n}\min_{y\in Y_n}\mathrm{cost}(y,z),\ "
    r"\max_{y\in Y_n}\min_{z\in Z_n}\mathrm{cost}(y,z)\Bigr)",
    source=Source(
        "nowak-thesis", "section 4.4.3", "costs of any cost map or of the tree, not of ConceptNet"
    ),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=_NEEDS,
    plan=_hausdorff,
    family=SIMILARITY_FAMILY,
    summary="1 - the Hausdorff distance of the two sets: the cost of the label that is farthest "
    "from the other set.",
    params=MappingProxyType({"cost": COST}),
    ties="none",
    undefined=_EMPTY_SETS,
    example="HausdorffSimilarity",
)

PATH = Measure(
    name="PathSimilarity",
    title="Similarity along the best path (Cordi et al.)",
    formula=r"\frac{1}{|Z_n|}\sum_{z\in Z_n}\max_{y\in Y_n}\ \max_{\text{paths}\ z\to y}\ "
    r"\prod_{l\in\text{path}}\mathrm{sim}(l)",
    source=Source(
        "nowak-thesis",
        "section 4.4.3",
        "the thesis does not say how the designer's weights combine along a path: they are "
        "multiplied; a link of the tree weighs 1 - its cost (7.2), a pair of a cost map 1 - its "
        "cost",
    ),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=_NEEDS,
    plan=_path,
    family=SIMILARITY_FAMILY,
    summary="How similar predicted labels are to the true ones, each to the most similar, by the "
    "best way through weighted links.",
    params=MappingProxyType({"cost": COST}),
    ties="none",
    undefined=_EMPTY_SETS,
    example="PathSimilarity",
)

DECLARED = (OS, HS, SRP, HAUSDORFF, PATH)
