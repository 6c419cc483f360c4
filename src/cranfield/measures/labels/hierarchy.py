"""Measures that know a hierarchy of concepts (No 4.4, Table 4.5, section 7.4)."""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from cranfield import _core
from cranfield.data.labels import Bools, Floats
from cranfield.data.ontology import Ontology
from cranfield.measures.base import Measure, Param
from cranfield.measures.labels.blocks import ItemBlock, LabelPlan, PerConcept, PerItem, reached
from cranfield.measures.labels.concept import EMPTY_SETS, f_measure, precision, ratio, recall
from cranfield.measures.labels.example import NO_TRUE, VOCABULARY, plain
from cranfield.measures.labels.ontology import COST
from cranfield.references import Source


def shared_parent(ontology: Ontology) -> Bools:
    """[a, b] is True when two concepts have a parent in common; the root is a parent too."""
    above = [
        frozenset(ontology.parents[node]) or frozenset({-1})
        for node in ontology.concept_nodes.values()
    ]
    return np.array([[bool(a & b) for b in above] for a in above], dtype=bool)


def balanced_distance(ontology: Ontology) -> Floats:
    """[key, response]: BDM of Maynard et al. (2006), 1 for equal concepts.

    BDM = BR CP/n1 / (BR CP/n1 + DPK/n2 + DPR/n3), where CP, DPK, DPR count the links from the
    root to the most specific common ancestor and from there to key and response; n1, n2, n3
    are mean lengths of the chains from the root to a leaf that hold either, the key, the
    response; BR is the branching of the common ancestor relative to the mean of inner nodes.
    """
    nodes = list(ontology.concept_nodes.values())
    depths = np.array(ontology.depths, dtype=float)
    branching = np.array([len(below) for below in ontology.children], dtype=float)
    mean_branching = float(np.append(branching[branching > 0], len(ontology.top)).mean())
    meet = _deepest_common(ontology, nodes)
    to_meet = np.where(meet >= 0, depths[meet], 0.0)
    lengths, either = _chain_lengths(ontology, nodes)
    closeness = branching[meet] / mean_branching * to_meet / either
    distance = (depths[nodes][:, None] - to_meet) / lengths[:, None]
    distance = distance + distance.T
    with np.errstate(invalid="ignore"):
        similarity: Floats = np.where(meet >= 0, closeness / (closeness + distance), 0.0)
    np.fill_diagonal(similarity, 1.0)
    return similarity


def _deepest_common(ontology: Ontology, nodes: list[int]) -> NDArray[np.intp]:
    """[a, b]: the deepest node that is above or equal to two concepts; -1 for the root."""
    holds = np.zeros((len(ontology.nodes), len(nodes)), dtype=bool)
    for column, node in enumerate(nodes):
        holds[[node, *ontology.nodes_above[node]], column] = True
    meet = np.full((len(nodes), len(nodes)), -1)
    for node in sorted(range(len(ontology.nodes)), key=ontology.depths.__getitem__):
        below = np.flatnonzero(holds[node])
        meet[np.ix_(below, below)] = node
    return meet


def _chain_lengths(ontology: Ontology, nodes: list[int]) -> tuple[Floats, Floats]:
    """Mean length of the chains through each concept, and of those through either of two."""
    leaves = [n for n, below in enumerate(ontology.children) if not below]
    ends = np.array(
        [[leaf == n or n in ontology.nodes_above[leaf] for leaf in leaves] for n in nodes],
        dtype=float,
    )
    lengths = np.array([ontology.depths[leaf] for leaf in leaves], dtype=float)
    count, total = ends.sum(axis=1), ends @ lengths
    shared, shared_total = ends @ ends.T, (ends * lengths) @ ends.T
    either = (total[:, None] + total - shared_total) / (count[:, None] + count - shared)
    return total / count, either


FAMILY = "annotation, hierarchical"
_HIERARCHY = frozenset({"labels", "hierarchy"})
_ONE_CLASS = (
    "only items whose true and whose predicted labels are one concept each (its ancestors may be "
    "labelled too): all others left out"
)

# Below this a denominator that should be 0 is only the rounding of a sum.
TINY = 1e-12

Counts = Callable[[Floats, Floats, Floats], Floats]


# -- losses ---------------------------------------------------------------------------------


def _h_loss(block: ItemBlock) -> Floats:
    wrong = block.truth ^ block.labels
    first = wrong & ~reached(wrong, block.knowledge.above.T)
    return np.asarray(first.sum(axis=1) / block.width)


def _max_loss(block: ItemBlock) -> Floats:
    truth, labels = block.expanded("ancestors")
    return np.asarray((truth ^ labels).sum(axis=1) / truth.shape[1])


def _weighted_euclidean(measure: Measure) -> LabelPlan:
    base = float(measure.value_of("base"))

    def values(block: ItemBlock) -> Floats:
        hierarchy = block.knowledge.hierarchy
        weights = base ** np.array([hierarchy.depth(c) for c in block.knowledge.concepts], float)
        distances: Floats = np.sqrt((block.truth ^ block.labels) @ weights)
        return distances

    return PerItem(values)


# -- precision, recall and F of expanded sets -------------------------------------------------


def _expanded_counts(block: ItemBlock, direction: str) -> Floats:
    truth, labels = block.expanded(direction)
    return np.array([m.sum(axis=1) for m in (truth & labels, labels, truth)], dtype=float)


def _arithmetic_f(tp: Floats, predicted: Floats, true: Floats) -> Floats:
    return (precision(tp, predicted, true) + recall(tp, predicted, true)) / 2


def _expanded(formula: Counts) -> Callable[[Measure], LabelPlan]:
    def plan(measure: Measure) -> LabelPlan:
        direction = str(measure.value_of("expand"))
        applied = formula
        if "mean" in measure.params and measure.value_of("mean") == "arithmetic":
            applied = _arithmetic_f
        pooled = measure.value_of("average") == "micro"
        return PerItem(
            values=lambda block: applied(*_expanded_counts(block, direction)),
            counts=(lambda block: _expanded_counts(block, direction)) if pooled else None,
            total=(lambda sums: float(applied(*sums))) if pooled else None,
        )

    return plan


# -- one class per item -----------------------------------------------------------------------


def _class_of(flags: Bools, block: ItemBlock) -> NDArray[np.intp]:
    """The one concept that a label set means, -1 where it means several or none."""
    closure = block.knowledge.above + np.eye(block.width, dtype=np.float32)
    covered = flags.astype(np.float32) @ closure.T
    means = flags & (covered == flags.sum(axis=1, keepdims=True))
    return np.where(means.any(axis=1), means.argmax(axis=1), -1)


def _classes(block: ItemBlock) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    return block.once(
        "classes", lambda: (_class_of(block.truth, block), _class_of(block.labels, block))
    )


def _of_classes(table: Callable[[Ontology], Floats]) -> Callable[[Measure], LabelPlan]:
    def values(block: ItemBlock) -> Floats:
        true, predicted = _classes(block)
        looked_up = block.knowledge.table(table)[true, predicted]
        return np.where((true >= 0) & (predicted >= 0), looked_up, np.nan)

    return plain(values)


def _parent_one(block: ItemBlock) -> Floats:
    best = block.ranked[:, 4].astype(np.intp)
    related = block.knowledge.table(shared_parent)[best]
    has_relative = (related & block.truth).any(axis=1)
    return np.where(block.true > 0, has_relative, np.nan)


# -- costs between sets -------------------------------------------------------------------------


def _set_distance(measure: Measure) -> LabelPlan:
    cost, dummy = str(measure.value_of("cost")), float(measure.value_of("dummy"))

    def values(block: ItemBlock) -> Floats:
        smallest = _core.set_assignment(
            block.truth, block.labels, block.knowledge.costs(cost), dummy, block.jobs
        )
        return smallest / np.maximum(np.maximum(block.true, block.predicted), 1)

    return PerItem(values)


def _category_similarity(measure: Measure) -> LabelPlan:
    cost = str(measure.value_of("cost"))

    def sums(block: ItemBlock) -> Floats:
        similar = 1.0 - block.knowledge.costs(cost)
        others = ~np.eye(block.width, dtype=bool)
        average = float(similar[others].mean()) if block.width > 1 else 0.0
        scaled = (similar - average) / (1.0 - average) if average < 1 else np.zeros_like(similar)
        truth, labels = block.truth.astype(float), block.labels.astype(float)
        from_false = np.clip(truth @ scaled, -1, 1) * (block.labels & ~block.truth)
        from_missed = np.clip(labels @ scaled, -1, 1) * (block.truth & ~block.labels)
        return np.vstack(
            [block.concept_counts, from_false.sum(axis=0)[None], from_missed.sum(axis=0)[None]]
        )

    return PerConcept(sums=sums, finish=lambda found, _: _similarity_f(found), by_cell=False)


def _similarity_f(sums: Floats) -> Floats:
    tp, predicted, true, false_share, missed_share = sums
    credit = np.maximum(tp + false_share + missed_share, 0.0)
    p_of, r_of = predicted + missed_share, true + false_share
    p = np.divide(credit, p_of, out=np.zeros_like(credit), where=p_of > TINY)
    r = np.divide(credit, r_of, out=np.zeros_like(credit), where=r_of > TINY)
    total = predicted + true
    return np.where(total == 0, 1.0, ratio(2 * p * r, p + r, np.ones_like(p)))


# -- declarations -------------------------------------------------------------------------------

HLOSS = Measure(
    name="HLoss",
    title="Hierarchical loss (Cesa-Bianchi et al.)",
    formula=r"\frac{1}{C}|\{c\in Y_n\triangle Z_n:\ \mathrm{anc}(c)\cap(Y_n\triangle Z_n)="
    r"\emptyset\}|",
    source=Source("nowak-thesis", "section 4.4.2.1, Table 7.1", "divided by C as in Table 7.1"),
    range=(0.0, 1.0),
    higher_is_better=False,
    needs=_HIERARCHY,
    plan=plain(_h_loss),
    family=FAMILY,
    summary="Wrong concepts that have no wrong ancestor, as a part of all concepts.",
    ties="none",
    undefined="always defined",
    example="HLoss",
)

MAXLOSS = Measure(
    name="MaxLoss",
    title="Maximal loss (Cai and Hofmann)",
    formula=r"\frac{1}{C}|\hat Y_n\triangle\hat Z_n|",
    source=Source("nowak-thesis", "section 4.4.2.1, Table 7.1"),
    range=(0.0, 1.0),
    higher_is_better=False,
    needs=_HIERARCHY,
    plan=plain(_max_loss),
    family=FAMILY,
    summary="Hamming loss of the label sets with their ancestors added, over all concepts of the "
    "ontology.",
    ties="none",
    undefined="always defined",
    example="MaxLoss",
)

EUCLIDEAN = Measure(
    name="WeightedEuclidean",
    title="Weighted Euclidean distance (Struyf et al.)",
    formula=r"\sqrt{\sum_c w^{\mathrm{depth}(c)}(y_{nc}-z_{nc})^2}",
    source=Source("nowak-thesis", "section 4.4.2.1, Table 7.1"),
    range=(0.0, float("inf")),
    higher_is_better=False,
    needs=_HIERARCHY,
    plan=_weighted_euclidean,
    family=FAMILY,
    summary="Distance of the label vectors where deep concepts weigh less.",
    params=MappingProxyType({"base": Param(float, 0.75, "weight of a link", low=0.0, high=1.0)}),
    ties="none",
    undefined="always defined",
    example="WeightedEuclidean",
)

_EXPAND = Param(
    str,
    "ancestors",
    "what is added to both sets: the 'ancestors' that are concepts of the ontology, all 'nodes' "
    "above, its categories too (Kiritchenko), or the 'descendants' (Ipeirotis)",
    ("ancestors", "nodes", "descendants"),
)
_AVERAGE = Param(
    str, "micro", "pool all items (Kiritchenko), or mean over items (Verspoor)", ("micro", "macro")
)
_EXPANSION = MappingProxyType({"expand": _EXPAND, "average": _AVERAGE})
_CATEGORIES = "categories, which cannot be annotated, count only with expand='nodes'"
_EXPANDED_SOURCE = Source("nowak-thesis", "section 4.4.2.2, Table 7.1", _CATEGORIES)

# What is added to a set of labels.
_ADDED = {
    "ancestors": r"\mathrm{anc}(Y)",
    "nodes": r"\mathrm{above}(Y)",
    "descendants": r"\mathrm{desc}(Y)",
}


def _share(below: str, measure: Measure) -> str:
    """Labels that are true and predicted as a part of others: of all items, or the mean."""
    if measure.value_of("average") == "micro":
        return rf"\frac{{\sum_n|\hat Y_n\cap\hat Z_n|}}{{\sum_n|\hat {below}_n|}}"
    return rf"\frac1N\sum_n\frac{{|\hat Y_n\cap\hat Z_n|}}{{|\hat {below}_n|}}"


def _expansion(measure: Measure) -> str:
    return rf"\hat Y=Y\cup {_ADDED[str(measure.value_of('expand'))]}"


def _written_hp(measure: Measure) -> str:
    return rf"{_share('Z', measure)}, \quad {_expansion(measure)}"


def _written_hr(measure: Measure) -> str:
    return rf"{_share('Y', measure)}, \quad {_expansion(measure)}"


def _written_hf(measure: Measure) -> str:
    p, r, over = "hP", "hR", ""
    parts = rf"hP={_share('Z', measure)}, \quad hR={_share('Y', measure)}"
    if measure.value_of("average") == "macro":
        p, r, over = "hP_n", "hR_n", r"\frac1N\sum_n"
        parts = (
            r"hP_n=\frac{|\hat Y_n\cap\hat Z_n|}{|\hat Z_n|}, \quad "
            r"hR_n=\frac{|\hat Y_n\cap\hat Z_n|}{|\hat Y_n|}"
        )
    mean = rf"\frac{{{p}+{r}}}{{2}}"
    if measure.value_of("mean") == "harmonic":
        mean = rf"\frac{{2\,{p}\,{r}}}{{{p}+{r}}}"
    return rf"{over}{mean}, \quad {parts}, \quad {_expansion(measure)}"


HP = Measure(
    name="hP",
    title="Hierarchical precision",
    formula=r"\frac{\sum_n|\hat Y_n\cap\hat Z_n|}{\sum_n|\hat Z_n|}, "
    r"\quad \hat Y=Y\cup \mathrm{anc}(Y)",
    written=_written_hp,
    source=_EXPANDED_SOURCE,
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=_HIERARCHY,
    plan=_expanded(precision),
    family=FAMILY,
    summary="Precision of the label sets with their ancestors (or descendants) added, whether a "
    "label file mentions these or not.",
    params=_EXPANSION,
    ties="none",
    undefined=EMPTY_SETS,
    example="hP(expand='descendants')",
)

HR = Measure(
    name="hR",
    title="Hierarchical recall",
    formula=r"\frac{\sum_n|\hat Y_n\cap\hat Z_n|}{\sum_n|\hat Y_n|}, "
    r"\quad \hat Y=Y\cup \mathrm{anc}(Y)",
    written=_written_hr,
    source=_EXPANDED_SOURCE,
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=_HIERARCHY,
    plan=_expanded(recall),
    family=FAMILY,
    summary="Recall of the label sets with their ancestors (or descendants) added, whether a "
    "label file mentions these or not.",
    params=_EXPANSION,
    ties="none",
    undefined=EMPTY_SETS,
    example="hR(average='macro')",
)

HF = Measure(
    name="hF",
    title="Hierarchical F-measure",
    formula=r"\frac{2\,hP\,hR}{hP+hR}, \quad "
    r"hP=\frac{\sum_n|\hat Y_n\cap\hat Z_n|}{\sum_n|\hat Z_n|}, \quad "
    r"hR=\frac{\sum_n|\hat Y_n\cap\hat Z_n|}{\sum_n|\hat Y_n|}, "
    r"\quad \hat Y=Y\cup \mathrm{anc}(Y)",
    written=_written_hf,
    source=Source(
        "nowak-thesis",
        "section 4.4.2.2, Table 7.1",
        f"Table 7.1 prints the arithmetic mean: mean='arithmetic'; {_CATEGORIES}",
    ),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=_HIERARCHY,
    plan=_expanded(f_measure),
    family=FAMILY,
    summary="Harmonic mean of hP and hR.",
    params=MappingProxyType(
        {
            "expand": _EXPAND,
            "average": _AVERAGE,
            "mean": Param(str, "harmonic", "mean of hP and hR", ("harmonic", "arithmetic")),
        }
    ),
    ties="none",
    undefined=EMPTY_SETS,
    example="hF",
)

DIMC = Measure(
    name="DIMC",
    title="Depth-independent misclassification cost",
    formula=r"|\mathrm{path}(y_n, z_n)|",
    source=Source("nowak-thesis", "section 4.4.1"),
    range=(0.0, float("inf")),
    higher_is_better=False,
    needs=_HIERARCHY,
    plan=_of_classes(lambda ontology: ontology.distances(weighted=False)),
    family=FAMILY,
    summary="Links between the true and the predicted concept, for items with one concept.",
    ties="none",
    undefined=_ONE_CLASS,
    example="DIMC",
)

DDMC = Measure(
    name="DDMC",
    title="Depth-dependent misclassification cost",
    formula=r"\sum_{l\in\mathrm{path}(y_n,z_n)}\mathrm{cost}(l)",
    source=Source("nowak-thesis", "section 4.4.1, 7.2", "link costs of equation 7.2"),
    range=(0.0, 1.0),
    higher_is_better=False,
    needs=_HIERARCHY,
    plan=_of_classes(lambda ontology: ontology.cost_map.costs),
    family=FAMILY,
    summary="Cost of the links between the true and the predicted concept; deep links are cheap.",
    ties="none",
    undefined=_ONE_CLASS,
    example="DDMC",
)

BALANCED = Measure(
    name="BalancedDistance",
    title="Balanced distance metric (Maynard et al.)",
    formula=r"\frac{BR\,CP/n_1}{BR\,CP/n_1+DPK/n_2+DPR/n_3}",
    source=Source(
        "nowak-thesis",
        "section 4.4.1",
        "BR is the branching of the common ancestor over the mean branching of inner nodes, n1 "
        "the mean length of the chains that hold either concept",
    ),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=_HIERARCHY,
    plan=_of_classes(balanced_distance),
    family=FAMILY,
    summary="How close the true and the predicted concept are, 1 when equal, 0 when only the "
    "root is above both.",
    ties="none",
    undefined=_ONE_CLASS,
    example="BalancedDistance",
)

SET_DISTANCE = Measure(
    name="LabelSetDistance",
    title="Distance of label sets (Wu et al.)",
    formula=r"\frac{1}{m}\min_{\pi}\sum_{i=1}^{m}\mathrm{cost}(z_i,y_{\pi(i)}),\ "
    r"m=\max(|Y_n|,|Z_n|)",
    source=Source(
        "nowak-thesis",
        "section 4.4.2.3",
        "simplified: Wu et al. weigh a label also by how often it occurs in training data; here "
        "costs are those of the tree or of a cost map, which may hold such weights, and a dummy "
        "costs 1",
    ),
    range=(0.0, 1.0),
    higher_is_better=False,
    needs=frozenset({"labels", "costs"}),
    plan=_set_distance,
    family=FAMILY,
    summary="Mean cost of the best one-to-one assignment of the two sets; the smaller is filled "
    "up with dummies.",
    params=MappingProxyType(
        {"cost": COST, "dummy": Param(float, 1, "cost of a dummy", low=0.0, high=1.0)}
    ),
    ties="none: every best assignment costs the same",
    undefined="nothing true and nothing predicted: 0",
    example="LabelSetDistance",
)

PARENT_ONE = Measure(
    name="ParentOneAccuracy",
    title="Parent one-accuracy (Cai and Hofmann)",
    formula=r"[\mathrm{par}(\mathrm{arg}\max_c f(z_{nc}))\in\mathrm{par}(Y_n)]",
    source=Source("nowak-thesis", "section 4.4.2.1"),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=frozenset({"confidences", "hierarchy"}),
    plan=lambda _: PerItem(_parent_one, ranked=True),
    family=FAMILY,
    summary="1 when the concept with the highest confidence shares a parent with a true one.",
    ties=VOCABULARY,
    undefined=NO_TRUE,
    example="ParentOneAccuracy",
)

SIMILARITY = Measure(
    name="CategorySimilarityF",
    title="F-measure with category similarity (Sun and Lim)",
    formula=r"\frac{2 P^{cs} R^{cs}}{P^{cs}+R^{cs}},\ "
    r"P^{cs}=\frac{(TP+\mathrm{FpCon}+\mathrm{FnCon})^+}{TP+FP+\mathrm{FnCon}}",
    source=Source(
        "nowak-thesis",
        "section 4.4.2.2",
        "simplified: Sun and Lim compare feature vectors of the categories in training data by "
        "their cosine; here the similarity of concepts is 1 - cost, of any cost map, which may be "
        "made from such vectors",
    ),
    range=(0.0, 1.0),
    higher_is_better=True,
    needs=frozenset({"labels", "costs"}),
    plan=_category_similarity,
    family=FAMILY,
    summary="F per concept where a wrong label counts for or against by its similarity to the "
    "labels of the other set.",
    params=MappingProxyType({"cost": COST}),
    ties="none",
    undefined=EMPTY_SETS,
    example="CategorySimilarityF",
)


def common_heights(ontology: Ontology) -> Floats:
    """[a, b]: how high the lowest node above or equal to two concepts is, as a share of the root.

    The height of a node is the longest way down to a leaf; a concept has the height 0 with itself.
    """
    count = len(ontology.nodes)
    heights = np.zeros(count)
    for node in sorted(range(count), key=ontology.depths.__getitem__, reverse=True):
        heights[node] = max((1 + heights[below] for below in ontology.children[node]), default=0)
    tops = heights[list(ontology.top)]
    # A single node on top is the root itself.
    root = float(tops.max()) + (len(tops) > 1)
    nodes = list(ontology.concept_nodes.values())
    lowest = np.full((len(nodes), len(nodes)), root)
    holds = np.zeros((count, len(nodes)), dtype=bool)
    for column, node in enumerate(nodes):
        holds[[node, *ontology.nodes_above[node]], column] = True
    for node in range(count):
        below = np.flatnonzero(holds[node])
        place = np.ix_(below, below)
        lowest[place] = np.minimum(lowest[place], heights[node])
    np.fill_diagonal(lowest, 0.0)
    return lowest / max(root, 1.0)


def _nearest_errors(block: ItemBlock, costs: Floats, guesses: int | None) -> Floats:
    """The mean over true concepts of the least cost to one of the first concepts of the ranking.

    Without a number of guesses there are as many as the item has true concepts.
    """
    order = np.argsort(-block.confidences, axis=1, kind="stable")
    values = np.full(len(order), np.nan)
    for item in np.flatnonzero(block.truth.any(axis=1)):
        true = np.flatnonzero(block.truth[item])
        first = order[item, : guesses or len(true)]
        values[item] = costs[np.ix_(true, first)].min(axis=1).mean()
    return values


def _hierarchical_error(measure: Measure) -> LabelPlan:
    guesses = None if measure.at is None else int(measure.at)

    return PerItem(
        lambda block: _nearest_errors(block, block.knowledge.table(common_heights), guesses),
        ranked=True,
    )


def _flat_error(measure: Measure) -> LabelPlan:
    guesses = None if measure.at is None else int(measure.at)
    return PerItem(
        lambda block: _nearest_errors(block, 1.0 - np.eye(block.width), guesses), ranked=True
    )


FLAT_ERROR = Measure(
    name="FlatError",
    title="Flat error of the first guesses (ImageNet)",
    formula=r"\frac1{|Y_n|}\sum_{c\in Y_n}\min_{j\le k}[z_{nj}\neq c]",
    source=Source("ilsvrc-2015", "section 4.1; challenges of 2010 and 2011"),
    range=(0.0, 1.0),
    higher_is_better=False,
    needs=frozenset({"confidences"}),
    plan=_flat_error,
    family=FAMILY,
    summary="The part of the true concepts that is not among the k concepts with the highest "
    "confidence (without a cutoff: as many as are true); the challenge takes five guesses and one "
    "true concept: FlatError@5.",
    cutoff="optional",
    ties=VOCABULARY,
    undefined=NO_TRUE,
    example="FlatError@5",
)

HIERARCHICAL_ERROR = Measure(
    name="HierarchicalError",
    title="Hierarchical error of the first guesses (ImageNet)",
    formula=r"\frac1{|Y_n|}\sum_{c\in Y_n}"
    r"\min_{j\le k}\frac{h(\mathrm{lca}(c,z_{nj}))}{h(\mathrm{root})}",
    source=Source(
        "ilsvrc-2015",
        "section 4.1; challenges of 2010 and 2011",
        "where concepts have several common ancestors, the one of the least height",
    ),
    range=(0.0, 1.0),
    higher_is_better=False,
    needs=frozenset({"confidences", "hierarchy"}),
    plan=_hierarchical_error,
    family=FAMILY,
    summary="How high the lowest common ancestor of a true concept and the nearest of the k first "
    "guesses (without a cutoff: as many as are true) is in the hierarchy, as a share of the height "
    "of its root.",
    cutoff="optional",
    ties=VOCABULARY,
    undefined=NO_TRUE,
    example="HierarchicalError@5",
)


def _chain(ontology: Ontology, node: int) -> list[int]:
    """The nodes from the top of the hierarchy to a node, by the first parent of each."""
    chain = [node]
    while ontology.parents[chain[-1]]:
        chain.append(ontology.parents[chain[-1]][0])
    return chain[::-1]


def _code_errors(true: list[int], predicted: list[int], branches: list[int]) -> float:
    """The error of a code at the places of the true one; what is not said costs half."""
    weights = [1.0 / (i * b) for i, b in enumerate(branches, 1)]
    same = 0
    while same < min(len(true), len(predicted)) and true[same] == predicted[same]:
        same += 1
    wrong = 0.5 if len(predicted) == same else 1.0
    return wrong * sum(weights[same:]) / sum(weights)


def _codes(ontology: Ontology, axis_nodes: int) -> Floats:
    """[true, predicted]: the error of one concept for another of its axis; the last column is for
    none. The first `axis_nodes` nodes of a chain name the axis. NaN where a concept is an axis."""
    chains = [_chain(ontology, node) for node in ontology.concept_nodes.values()]
    places = [chain[axis_nodes:] for chain in chains]
    errors = np.full((len(chains), len(chains) + 1), np.nan)
    for t, (chain, place) in enumerate(zip(chains, places, strict=True)):
        if not place:
            continue
        above = chain[axis_nodes - 1 : -1] if axis_nodes else [-1, *chain[:-1]]
        branches = [len(ontology.top if node < 0 else ontology.children[node]) for node in above]
        for p, other in enumerate([*places, []]):
            errors[t, p] = _code_errors(place, other, branches)
    return errors


def _codes_of_axes(ontology: Ontology) -> Floats:
    return _codes(ontology, 1)


def _codes_of_one(ontology: Ontology) -> Floats:
    return _codes(ontology, 0)


def _axes(ontology: Ontology) -> Bools:
    """[axis, concept]: which top node a concept lies below."""
    tops = np.array([_chain(ontology, node)[0] for node in ontology.concept_nodes.values()])
    return np.array([tops == top for top in ontology.top], dtype=bool)


def _one_axis(ontology: Ontology) -> Bools:
    return np.ones((1, len(ontology.concept_nodes)), dtype=bool)


def _irma_error(measure: Measure) -> LabelPlan:
    several = str(measure.value_of("axes")) == "top"

    def values(block: ItemBlock) -> Floats:
        axes = block.knowledge.table(_axes if several else _one_axis)
        errors = block.knowledge.table(_codes_of_axes if several else _codes_of_one)
        total, count = np.zeros(len(block.truth)), np.zeros(len(block.truth))
        is_one = np.ones(len(block.truth), dtype=bool)
        for axis in axes:
            truth, labels = block.truth & axis, block.labels & axis
            true, predicted = _class_of(truth, block), _class_of(labels, block)
            error = np.where(labels.any(axis=1) & (predicted < 0), 1.0, errors[true, predicted])
            counted = (true >= 0) & ~np.isnan(errors[true, -1])
            total[counted] += error[counted]
            count += counted
            is_one &= (true >= 0) | ~truth.any(axis=1)
        return np.where(is_one & (count > 0), total / np.maximum(count, 1), np.nan)

    return plain(values)(measure)


def _place_score(measure: Measure) -> LabelPlan:
    wrong = float(measure.value_of("wrong"))

    def values(block: ItemBlock) -> Floats:
        is_right = (block.truth == block.labels).all(axis=1)
        score = np.where(is_right, 1.0, np.where(block.predicted > 0, -wrong, 0.0))
        return np.where(block.true == 1, score, np.nan)

    return plain(values)(measure)


def _written_irma(measure: Measure) -> str:
    share = (
        r"\frac{\sum_i\frac{1}{i\,b_i}\delta(l_i,\hat l_i)}{\sum_i\frac{1}{i\,b_i}}, \quad "
        r"\delta=0\text{ as long as }l_j=\hat l_j,\ j\le i;\ \tfrac12\text{ where left open};\ 1"
    )
    return share if measure.value_of("axes") == "one" else rf"\frac1A\sum_{{a=1}}^{{A}}{share}"


IRMA_ERROR = Measure(
    name="IRMAError",
    title="Error of hierarchical codes (IRMA, medical annotation)",
    formula=r"\frac1A\sum_{a=1}^{A}\frac{\sum_i\frac{1}{i\,b_i}\delta(l_i,\hat l_i)}"
    r"{\sum_i\frac{1}{i\,b_i}}, \quad \delta=0\text{ as long as }l_j=\hat l_j,\ j\le i;\ "
    r"\tfrac12\text{ where left open};\ 1",
    written=_written_irma,
    source=Source(
        "deselaers-irma",
        "section 2.3, Table 1",
        "the mean over items, where the task prints the sum; more than one code predicted on an "
        "axis is wrong from its first place on",
    ),
    range=(0.0, 1.0),
    higher_is_better=False,
    needs=_HIERARCHY,
    plan=_irma_error,
    family=FAMILY,
    summary="Places of the true code from the first wrong one on, weighed by 1 over their number i "
    "and the branches b_i there were, as a share of all; a code that stops early is charged half "
    "of the places that it leaves open. Mean over the axes of the code, which are the top nodes of "
    "the ontology (axes='one': it has no axes).",
    params=MappingProxyType(
        {"axes": Param(str, "top", "whether the top nodes are axes", ("top", "one"))}
    ),
    ties="none",
    undefined="items without one true code on each of the axes they have: left out",
    example="IRMAError",
)

PLACE_SCORE = Measure(
    name="RobotVisionScore",
    title="Score of the Robot Vision task",
    formula=r"[Z_n=Y_n]-w\,[Z_n\neq Y_n,\ Z_n\neq\emptyset]",
    source=Source(
        "caputo-robot-vision",
        "section 4",
        "the mean over items, where the task prints the sum; an unknown place is a concept",
    ),
    range=(-1.0, 1.0),
    higher_is_better=True,
    needs=frozenset({"labels"}),
    plan=_place_score,
    family=FAMILY,
    summary="1 for an item whose one concept is predicted, minus a half for another prediction, 0 "
    "where nothing is said of the item.",
    params=MappingProxyType(
        {"wrong": Param(float, 0.5, "what a wrong prediction costs", low=0.0, high=1.0)}
    ),
    ties="none",
    undefined="items without exactly one true concept: left out",
    example="RobotVisionScore",
)

DECLARED = (
    FLAT_ERROR,
    HIERARCHICAL_ERROR,
    IRMA_ERROR,
    PLACE_SCORE,
    HLOSS,
    MAXLOSS,
    EUCLIDEAN,
    HP,
    HR,
    HF,
    DIMC,
    DDMC,
    BALANCED,
    SET_DISTANCE,
    PARENT_ONE,
    SIMILARITY,
)
