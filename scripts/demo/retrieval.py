"""Retrieval: systems, runs, judgements."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from statistics import NormalDist

import numpy as np

from scripts.demo.images import LEVELS, SEED, SIDE, Digits, Floats, csv_text, item_id, stream

DEPTH = 100  # of the runs
POOL_DEPTH = 50
UNPOOLED = ("projection", "random")  # came too late to be judged, as happens
NEAREST_SHARE = 0.2  # of its class, grade 2


def cosine(topics: Floats, items: Floats) -> Floats:
    """The cosine of every topic with every item."""
    norms = [np.maximum(np.linalg.norm(m, axis=1), 1e-12) for m in (topics, items)]
    return np.asarray((topics @ items.T) / np.outer(*norms))


def gradient_histograms(pixels: Floats) -> Floats:
    """Gradient strength by direction (eight of them) in nine overlapping 4 x 4 cells."""
    images = pixels.reshape(-1, SIDE, SIDE)
    down, right = np.gradient(images, axis=(1, 2))
    strength = np.hypot(down, right)
    direction = np.floor(np.arctan2(down, right) / np.pi * 4 + 0.5).astype(int) % 8
    windows = [np.s_[:, top : top + 4, left : left + 4] for top in (0, 2, 4) for left in (0, 2, 4)]
    cells = [
        (strength[window] * (direction[window] == d)).sum(axis=(1, 2))
        for window in windows
        for d in range(8)
    ]
    return np.stack(cells, axis=1)


def same_bits(data: Digits) -> Floats:
    """How many of the 64 pixels agree on being darker than half: whole numbers, so many ties."""
    bits = data.pixels > LEVELS / 2
    return np.array([(bits[t] == bits[data.collection]).sum(axis=1) for t in data.topics], float)


def embedded(embed: Callable[[Digits], Floats], data: Digits) -> Floats:
    """The cosine in a space that `embed` maps all images to."""
    space = embed(data)
    return cosine(space[data.topics], space[data.collection])


def principal_components(data: Digits) -> Floats:
    from sklearn.decomposition import PCA

    model = PCA(16, svd_solver="full").fit(data.pixels[data.training])
    return np.asarray(model.transform(data.pixels))


def random_projection(data: Digits) -> Floats:
    uniform = stream("projection").random((SIDE * SIDE, 12))
    normal = np.vectorize(NormalDist().inv_cdf)(uniform)
    centred = data.pixels - data.pixels[data.training].mean(axis=0)
    return np.asarray(centred @ normal)


def discriminants(data: Digits) -> Floats:
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    model = LinearDiscriminantAnalysis(solver="eigen", shrinkage=0.1)
    model.fit(data.pixels[data.training], data.digits[data.training])
    return np.asarray(model.transform(data.pixels))


def hidden_layer(data: Digits) -> Floats:
    """The 32 hidden units of a network that was trained to tell the digits of the training split.

    They are rectified and centred, as the cosine of vectors without negative parts is dull.
    """
    from sklearn.neural_network import MLPClassifier

    inputs = data.pixels / LEVELS
    model = MLPClassifier((32,), solver="lbfgs", alpha=0.1, max_iter=2000, random_state=SEED)
    model.fit(inputs[data.training], data.digits[data.training])
    hidden = np.maximum(inputs @ model.coefs_[0] + model.intercepts_[0], 0)
    return np.asarray(hidden - hidden[data.training].mean(axis=0))


# Every system answers with the scores of all topics x all items of the collection.
SYSTEMS: dict[str, Callable[[Digits], Floats]] = {
    "network": partial(embedded, hidden_layer),
    "discriminant": partial(embedded, discriminants),
    "gradients": partial(embedded, lambda data: gradient_histograms(data.pixels)),
    "pca": partial(embedded, principal_components),
    "pixels": partial(embedded, lambda data: data.pixels),
    "bits": same_bits,
    "projection": partial(embedded, random_projection),
    "random": lambda data: stream("random").random((len(data.topics), len(data.collection))),
}

Ranking = dict[str, list[tuple[str, float]]]


def rank(scores: Floats, data: Digits) -> Ranking:
    """The best items of each topic by rounded score, ties by item id as trec_eval breaks them."""
    rounded = np.round(scores, 6)
    ranking = {}
    for topic, row in zip(data.topic_names(), rounded, strict=True):
        order = np.lexsort((-data.collection, -row))[:DEPTH]
        ranking[topic] = [(item_id(data.collection[i]), float(row[i])) for i in order]
    return ranking


def run_text(name: str, ranking: Ranking) -> str:
    return "".join(
        f"{topic} Q0 {item} {position} {score:.6g} {name}\n"
        for topic, items in ranking.items()
        for position, (item, score) in enumerate(items, 1)
    )


def shift_distances(topics: Floats, items: Floats) -> Floats:
    """The least Euclidean distance over the nine shifts of the topic by at most one pixel.

    No system uses this space: it only decides which images of a digit deserve grade 2.
    """
    square = np.pad(topics.reshape(-1, SIDE, SIDE), ((0, 0), (1, 1), (1, 1)))
    best = np.full((len(topics), len(items)), np.inf)
    for down in range(3):
        for right in range(3):
            moved = square[:, down : down + SIDE, right : right + SIDE].reshape(len(topics), -1)
            squares = (moved**2).sum(axis=1)[:, None] + (items**2).sum(axis=1) - 2 * moved @ items.T
            best = np.minimum(best, squares)
    return np.sqrt(best)


def judgements_text(data: Digits, rankings: Mapping[str, Ranking]) -> str:
    """Every image of the topic's digit (1, or 2 for the nearest fifth of them), and with grade 0
    every other image that some pooled run has among its first 50.
    """
    pooled: dict[str, set[str]] = {}
    for name in rankings.keys() - UNPOOLED:
        for topic, items in rankings[name].items():
            pooled.setdefault(topic, set()).update(item for item, _ in items[:POOL_DEPTH])
    distances = shift_distances(data.pixels[data.topics], data.pixels[data.collection])
    lines = []
    for i, topic in enumerate(data.topic_names()):
        same = np.flatnonzero(data.digits[data.collection] == data.digits[data.topics[i]])
        by_distance = same[np.lexsort((same, distances[i, same]))]
        grades = dict.fromkeys(pooled.get(topic, ()), 0)
        grades |= {item_id(data.collection[j]): 1 for j in same}
        nearest = by_distance[: round(NEAREST_SHARE * len(same))]
        grades |= {item_id(data.collection[j]): 2 for j in nearest}
        lines += [f"{topic} 0 {item} {grades[item]}\n" for item in sorted(grades)]
    return "".join(lines)


def retrieval_files(data: Digits) -> dict[str, str]:
    """Topics, runs and judgements."""
    rankings = {name: rank(system(data), data) for name, system in SYSTEMS.items()}
    files = {f"runs/{name}.run.gz": run_text(name, r) for name, r in rankings.items()}
    files["topics.csv"] = topics_text(data)
    files["design.csv"] = design_text(data)
    files["qrels.txt.gz"] = judgements_text(data, rankings)
    return files


def design_text(data: Digits) -> str:
    """The clusters of the topics: those that ask for one digit are alike."""
    return csv_text(
        ["unit,cluster"],
        ((name, data.digits[t]) for name, t in zip(data.topic_names(), data.topics, strict=True)),
    )


def topics_text(data: Digits) -> str:
    """The topics: the item that each asks with, its digit, and what it asks for."""
    return csv_text(
        ["topic,item,digit,text"],
        (
            (name, item_id(t), data.digits[t], f"Images of the digit {data.digits[t]} like this")
            for name, t in zip(data.topic_names(), data.topics, strict=True)
        ),
    )
