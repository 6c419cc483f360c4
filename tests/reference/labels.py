"""Slow twins of the measures of annotation: sets and loops that read like the formulae."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence, Set

from cranfield.data.ontology import Ontology

Labels = Set[str]
Cost = Callable[[str, str], float]


# -- one concept: scores and truth of all items ------------------------------------------------


def roc_points(truth: Sequence[bool], scores: Sequence[float]) -> list[tuple[float, float]]:
    """(FPR, TPR) at every threshold, from (0, 0) on."""
    positives = sum(truth)
    negatives = len(truth) - positives
    points = [(0.0, 0.0)]
    for limit in sorted(set(scores), reverse=True):
        chosen = [y for y, s in zip(truth, scores, strict=True) if s >= limit]
        points.append(((len(chosen) - sum(chosen)) / negatives, sum(chosen) / positives))
    return points


def auc(truth: Sequence[bool], scores: Sequence[float]) -> float:
    """How often a positive beats a negative, a tie counting half."""
    positive = [s for y, s in zip(truth, scores, strict=True) if y]
    negative = [s for y, s in zip(truth, scores, strict=True) if not y]
    if not positive or not negative:
        return math.nan
    wins = sum((p > n) + (p == n) / 2 for p in positive for n in negative)
    return wins / (len(positive) * len(negative))


def eer(truth: Sequence[bool], scores: Sequence[float]) -> float:
    """Where the ROC curve crosses the line FPR = 1 - TPR."""
    if all(truth) or not any(truth):
        return math.nan
    points = roc_points(truth, scores)
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        before, after = x0 + y0 - 1, x1 + y1 - 1
        if after >= 0:
            return x0 + (x1 - x0) * -before / (after - before)
    return math.nan


def precision_recall(truth: Sequence[bool], scores: Sequence[float]) -> list[tuple[float, float]]:
    """(precision, recall) at every threshold, high to low."""
    points = []
    for limit in sorted(set(scores), reverse=True):
        chosen = [y for y, s in zip(truth, scores, strict=True) if s >= limit]
        points.append((sum(chosen) / len(chosen), sum(chosen) / sum(truth)))
    return points


def average_precision(truth: Sequence[bool], scores: Sequence[float]) -> float:
    if not any(truth):
        return math.nan
    total, before = 0.0, 0.0
    for precision, recall in precision_recall(truth, scores):
        total += (recall - before) * precision
        before = recall
    return total


def interpolated_ap(truth: Sequence[bool], scores: Sequence[float]) -> float:
    if not any(truth):
        return math.nan
    points = precision_recall(truth, scores)
    levels = [k / 10 for k in range(11)]
    return sum(max(p for p, r in points if r >= level - 1e-12) for level in levels) / 11


def precision_at(
    truth: Sequence[bool], scores: Sequence[float], items: Sequence[str], k: int
) -> float:
    """Precision of the first k items; equal scores by item id, larger first."""
    if not any(truth):
        return math.nan
    by_id = sorted(range(len(items)), key=lambda i: items[i], reverse=True)
    ranking = sorted(by_id, key=lambda i: -scores[i])
    return sum(truth[i] for i in ranking[:k]) / k


# -- one item: confidences of its concepts, in the order of the vocabulary ----------------------


def ranking(confidences: Mapping[str, float]) -> list[str]:
    """Concepts by confidence, vocabulary order in ties."""
    return sorted(confidences, key=lambda c: -confidences[c])


def worst_rank(concept: str, confidences: Mapping[str, float]) -> int:
    return sum(v >= confidences[concept] for v in confidences.values())


def one_error(truth: Labels, confidences: Mapping[str, float]) -> float:
    return float(ranking(confidences)[0] not in truth) if truth else math.nan


def coverage(truth: Labels, confidences: Mapping[str, float]) -> float:
    if not truth:
        return math.nan
    return max(worst_rank(c, confidences) for c in truth) - len(truth)


def ranking_loss(truth: Labels, confidences: Mapping[str, float]) -> float:
    wrong = confidences.keys() - truth
    if not truth or not wrong:
        return math.nan
    errors = sum(confidences[c] <= confidences[w] for c in truth for w in wrong)
    return errors / (len(truth) * len(wrong))


def item_average_precision(truth: Labels, confidences: Mapping[str, float]) -> float:
    if not truth:
        return math.nan
    total = 0.0
    for c in truth:
        true_above = sum(confidences[t] >= confidences[c] for t in truth)
        total += true_above / worst_rank(c, confidences)
    return total / len(truth)


def item_rprec(truth: Labels, confidences: Mapping[str, float]) -> float:
    return item_precision_at(truth, confidences, len(truth))


def item_precision_at(truth: Labels, confidences: Mapping[str, float], k: int) -> float:
    """Precision of the first k concepts; a ranking of fewer is filled up with wrong ones."""
    return len(truth & set(ranking(confidences)[:k])) / k if truth else math.nan


def semantic_rprec(truth: Labels, confidences: Mapping[str, float], cost: Cost) -> float:
    """The best of all one-to-one assignments, tried one by one."""
    if not truth:
        return math.nan
    best = ranking(confidences)[: len(truth)]
    return max(
        sum(1 - cost(a, b) for a, b in zip(best, order, strict=True))
        for order in itertools.permutations(sorted(truth))
    ) / len(truth)


# -- one item: two label sets --------------------------------------------------------------------


def broken_labels(predicted: Labels, ontology: Ontology) -> set[str]:
    """Labels that break a rule."""
    broken: set[str] = set()
    for _, group in ontology.exclusive:
        members = [predicted & set(member) for member in group]
        if sum(bool(m) for m in members) >= 2:
            broken |= set().union(*members)
    for _, need in ontology.requirements:
        if need.concept in predicted and not predicted & set(need.any_of):
            broken.add(need.concept)
    for concept in predicted:
        if set(ontology.ancestors(concept)) - predicted:
            broken.add(concept)
    return broken


def ontology_score(
    truth: Labels,
    predicted: Labels,
    cost: Cost,
    agreement: Mapping[str, float],
    broken: Labels = frozenset(),
    alpha: float = 1.0,
) -> float:
    """No 7.1-7.3; labels that are equally near pay the mean of their agreements."""
    union = truth | predicted
    if not union:
        return 1.0
    if not predicted:
        return float(0.0**alpha)
    kept = truth - broken
    total = float(len(broken))
    for z in predicted - truth - broken:
        if not kept:
            total += 1
            continue
        least = min(cost(z, y) for y in kept)
        nearest = [y for y in kept if cost(z, y) == least]
        total += least * sum(agreement[y] for y in nearest) / len(nearest)
    for y in kept - predicted:
        total += min(cost(z, y) for z in predicted) * agreement[y]
    return float((1 - total / len(union)) ** alpha)


def label_set_distance(truth: Labels, predicted: Labels, cost: Cost, dummy: float) -> float:
    """The cheapest of all ways to pair the labels, the smaller set filled up with dummies."""
    size = max(len(truth), len(predicted))
    if not size:
        return 0.0
    left = [*sorted(predicted), *[None] * (size - len(predicted))]
    right = [*sorted(truth), *[None] * (size - len(truth))]
    return (
        min(
            sum(
                dummy if a is None or b is None else cost(a, b)
                for a, b in zip(left, p, strict=True)
            )
            for p in itertools.permutations(right)
        )
        / size
    )


def h_loss(truth: Labels, predicted: Labels, ontology: Ontology) -> float:
    wrong = truth ^ predicted
    first = [c for c in wrong if not wrong & set(ontology.ancestors(c))]
    return len(first) / len(ontology.concepts)


def alpha_score(
    truth: Labels, predicted: Labels, alpha: float, missed: float, false: float
) -> float:
    """Shen et al. (2004), of which No 3.19 is the case of equal weights."""
    if not truth | predicted:
        return 1.0
    errors = missed * len(truth - predicted) + false * len(predicted - truth)
    return float((1 - errors / len(truth | predicted)) ** alpha)


def expand(labels: Labels, ontology: Ontology, direction: str) -> set[str]:
    """Labels with their ancestors or descendants among the concepts, or with all nodes above."""
    if direction == "ancestors":
        return set(labels).union(*(ontology.ancestors(c) for c in labels))
    if direction == "nodes":
        above = (ontology.nodes_above[ontology.concept_nodes[c]] for c in labels)
        return set(labels) | {ontology.label(n) for nodes in above for n in nodes}
    below = {c for c in ontology.concepts if set(ontology.ancestors(c)) & labels}
    return set(labels) | below


def max_loss(truth: Labels, predicted: Labels, ontology: Ontology) -> float:
    grown = (expand(s, ontology, "ancestors") for s in (truth, predicted))
    return len(next(grown) ^ next(grown)) / len(ontology.concepts)


def weighted_euclidean(truth: Labels, predicted: Labels, ontology: Ontology) -> float:
    return math.sqrt(sum(0.75 ** ontology.depth(c) for c in truth ^ predicted))


def only_class(labels: Labels, ontology: Ontology) -> str | None:
    """The concept that a set means when all its other labels are ancestors of it."""
    for c in labels:
        if labels - {c} <= set(ontology.ancestors(c)):
            return c
    return None


# -- all items -----------------------------------------------------------------------------------


def category_similarity_f(
    truth: Sequence[Labels], predicted: Sequence[Labels], concepts: Sequence[str], cost: Cost
) -> dict[str, float]:
    """Sun and Lim: contributions of wrong and missed labels, concept by concept."""
    pairs = [(a, b) for a in concepts for b in concepts if a != b]
    average = sum(1 - cost(a, b) for a, b in pairs) / len(pairs)

    def contribution(concept: str, others: Labels) -> float:
        if average == 1:
            return 0.0
        raw = sum((1 - cost(o, concept) - average) / (1 - average) for o in others)
        return min(1.0, max(-1.0, raw))

    found = {}
    for c in concepts:
        items = list(zip(truth, predicted, strict=True))
        tp = sum(c in y and c in z for y, z in items)
        n_predicted, n_true = sum(c in z for _, z in items), sum(c in y for y, _ in items)
        false_share = sum(contribution(c, y) for y, z in items if c in z and c not in y)
        missed_share = sum(contribution(c, z) for y, z in items if c in y and c not in z)
        credit = max(tp + false_share + missed_share, 0.0)
        p = credit / (n_predicted + missed_share) if n_predicted + missed_share > 1e-12 else 0.0
        r = credit / (n_true + false_share) if n_true + false_share > 1e-12 else 0.0
        f = 2 * p * r / (p + r) if p + r else 0.0
        found[c] = f if n_predicted + n_true else 1.0
    return found


def hausdorff_similarity(truth: Labels, predicted: Labels, cost: Cost) -> float:
    """1 - the cost of the label that is farthest from the other set (No 4.4.3)."""
    if not truth or not predicted:
        return 1.0 if not truth and not predicted else 0.0
    missed = max(min(cost(y, z) for z in predicted) for y in truth)
    wrong = max(min(cost(y, z) for y in truth) for z in predicted)
    return 1.0 - max(missed, wrong)


def path_similarity(truth: Labels, predicted: Labels, concepts: Labels, cost: Cost) -> float:
    """The best product of 1 - cost on a way from each predicted label to a true one (No 4.4.3)."""
    if not truth or not predicted:
        return 1.0 if not truth and not predicted else 0.0
    total = 0.0
    for label in predicted:
        best = {concept: 1.0 if concept == label else 0.0 for concept in concepts}
        waiting = set(concepts)
        while waiting:
            nearest = max(waiting, key=best.__getitem__)
            waiting.remove(nearest)
            for other in waiting:
                best[other] = max(best[other], best[nearest] * (1.0 - cost(nearest, other)))
        total += max(best[concept] for concept in truth)
    return total / len(predicted)
