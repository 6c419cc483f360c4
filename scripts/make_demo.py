"""Makes the data of the collection `digits` that ships with Cranfield.

    python scripts/make_demo.py [FOLDER]

The images are scikit-learn's handwritten digits (pip install 'cranfield[ml]'). Every random draw
is seeded, so the same versions of numpy and scikit-learn make the same files again; others can
differ in the last digits, and in `network` and the pool a little more than that. The few files
that state facts and not results (collection.toml, ontology.csv, rules.toml, SOURCES.md) are
written by hand and lie beside what this script makes; SOURCES.md explains the rules in prose.
"""

from __future__ import annotations

import argparse
import gzip
import struct
import zlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

FOLDER = Path(__file__).resolve().parents[1] / "src" / "cranfield" / "samples" / "digits"
SEED = 1967  # the year of the Cranfield tests' final report
NAMES = ("Zero", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight", "Nine")
# The concepts beside the digits themselves: which digits have them.
TRAITS: dict[str, tuple[int, ...]] = {
    "Even": (0, 2, 4, 6, 8),
    "Odd": (1, 3, 5, 7, 9),
    "Prime": (2, 3, 5, 7),
    "HasLoop": (0, 6, 8, 9),
    "StraightStrokes": (1, 4, 7),
}
CONCEPTS = (*NAMES, *TRAITS)
SIDE, LEVELS = 8, 16
SHEET_COLUMNS = 43

TRAINING = 597  # the first images in scikit-learn's order; never retrieved and never a topic
TOPICS_PER_DIGIT = 8
ANNOTATED_PER_DIGIT = 40
JUDGED_BY_ANNOTATORS = 99
DEPTH = 100  # of the runs
POOL_DEPTH = 50
UNPOOLED = ("projection", "random")  # came too late to be judged, as happens
NEAREST_SHARE = 0.2  # of its class, grade 2


@dataclass(frozen=True)
class Digits:
    """The images, their digits, and who serves for what; all are positions in `items`."""

    pixels: Floats
    digits: Ints
    training: Ints
    topics: Ints
    collection: Ints
    annotated: Ints
    agreement: Ints

    @property
    def splits(self) -> dict[str, Ints]:
        names = ("training", "topics", "collection", "annotated", "agreement")
        return {name: getattr(self, name) for name in names}

    def topic_names(self) -> list[str]:
        """zero-1 to nine-8, in the order of `topics`."""
        return [
            f"{NAMES[self.digits[t]].lower()}-{i % TOPICS_PER_DIGIT + 1}"
            for i, t in enumerate(self.topics)
        ]


def item_id(position: int) -> str:
    return f"d{position:04d}"


def stream(name: str) -> np.random.Generator:
    """A random stream of its own for each use, so that one use does not move another."""
    return np.random.default_rng([SEED, zlib.crc32(name.encode())])


def load() -> Digits:
    """The images and the splits."""
    from sklearn.datasets import load_digits

    bunch = load_digits()
    digits = bunch.target.astype(np.int64)
    rest = np.arange(TRAINING, len(digits))
    topics = _per_digit(rest, digits, TOPICS_PER_DIGIT, stream("topics"))
    collection = np.setdiff1d(rest, topics)
    chosen = _per_digit(collection, digits, ANNOTATED_PER_DIGIT, stream("annotated"))
    order = np.argsort(stream("agreement").random(len(chosen)))
    return Digits(
        pixels=bunch.data.astype(np.float64),
        digits=digits,
        training=np.arange(TRAINING),
        topics=topics,
        collection=collection,
        annotated=np.sort(chosen),
        agreement=np.sort(chosen[order[:JUDGED_BY_ANNOTATORS]]),
    )


def _per_digit(pool: Ints, digits: Ints, count: int, rng: np.random.Generator) -> Ints:
    """As many positions of each digit, the digits in order."""
    keys = rng.random(len(pool))
    parts = [
        np.sort(pool[of][np.argsort(keys[of])[:count]])
        for of in (np.flatnonzero(digits[pool] == d) for d in range(len(NAMES)))
    ]
    return np.concatenate(parts)


# Retrieval: systems, runs, judgements


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
    files["topics.csv"] = _csv(
        ["topic,item,digit"],
        ((name, item_id(t), data.digits[t]) for name, t in zip(
            data.topic_names(), data.topics, strict=True
        )),
    )  # fmt: skip
    files["qrels.txt.gz"] = judgements_text(data, rankings)
    return files


# Annotation: truth, classifiers


def concepts_of(digits: Ints) -> NDArray[np.bool_]:
    """One row per image, one column per concept."""
    rows = [[digit == d for d in range(10)] + [digit in t for t in TRAITS.values()]
            for digit in digits.tolist()]  # fmt: skip
    return np.array(rows)


def one_by_one(make: Callable[[], Any]) -> Callable[[Digits], Floats]:
    """Confidences from a classifier per concept that knows nothing of the other concepts."""

    def confidences(data: Digits) -> Floats:
        truth = concepts_of(data.digits[data.training])
        learn, ask = (data.pixels[of] / LEVELS for of in (data.training, data.annotated))
        columns = [make().fit(learn, column).predict_proba(ask)[:, 1] for column in truth.T]
        return np.stack(columns, axis=1)

    return confidences


def logistic(**options: Any) -> Any:
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(max_iter=5000, **options)


def neighbours() -> Any:
    from sklearn.neighbors import KNeighborsClassifier

    return KNeighborsClassifier(9)


def tree() -> Any:
    from sklearn.tree import DecisionTreeClassifier

    return DecisionTreeClassifier(min_samples_leaf=4, random_state=SEED)


def bayes() -> Any:
    from sklearn.naive_bayes import GaussianNB

    return GaussianNB(var_smoothing=1e-2)


CLASSIFIERS: dict[str, Callable[[Digits], Floats]] = {
    "logistic": one_by_one(logistic),
    "neighbours": one_by_one(neighbours),
    "tree": one_by_one(tree),
    "bayes": one_by_one(bayes),
    # A missed concept costs it three hundred times a false one, so it says too much.
    "eager": one_by_one(partial(logistic, class_weight={True: 300.0, False: 1.0})),
    "chance": lambda data: stream("chance").random((len(data.annotated), len(CONCEPTS))),
}
TIMID_THRESHOLD = 0.97


def annotation_files(data: Digits) -> dict[str, str]:
    """Truth and runs; `timid` orders as `logistic` does but decides far too late."""
    items = [item_id(i) for i in data.annotated]
    head = [",".join(("item", *CONCEPTS))]
    truth = concepts_of(data.digits[data.annotated]).astype(int).tolist()
    files = {"truth.csv": _csv(head, ((i, *row) for i, row in zip(items, truth, strict=True)))}
    for name, classify in CLASSIFIERS.items():
        rows = [[f"{v:.4g}" for v in row] for row in np.round(classify(data), 4).tolist()]
        lines = [(i, *row) for i, row in zip(items, rows, strict=True)]
        files[f"labels/{name}.csv.gz"] = _csv(head, lines)
        if name == "logistic":
            decisions = [
                (i, *("1" if float(v) >= TIMID_THRESHOLD else "0" for v in row))
                for i, *row in lines
            ]
            # ImageCLEF 2010: the confidence rows of all items, then as many rows of 0 and 1.
            files["labels/timid.txt.gz"] = "".join(
                " ".join(line) + "\n" for line in [*lines, *decisions]
            )
    files["costmap.csv"] = costmap_text()
    return files


def costmap_text() -> str:
    """What it costs to take one concept for another: 1 - shared digits / digits of either."""
    sets = [frozenset({d}) for d in range(10)] + [frozenset(t) for t in TRAITS.values()]
    rows = [
        (name, *(f"{1 - len(a & b) / len(a | b):.4g}" for b in sets))
        for name, a in zip(CONCEPTS, sets, strict=True)
    ]
    return _csv([",".join(("", *CONCEPTS))], rows)


# Annotators: a judgement log by a stated error model


@dataclass(frozen=True)
class Annotator:
    """How a simulated annotator errs.

    `misread` is the chance to take an image that is as hard as can be for another digit, `slip`
    that to answer one question wrongly all the same, `seconds` the median time of an answer. A
    spammer does not look: `guess` is the chance of a yes.
    """

    misread: float = 0.0
    slip: float = 0.0
    seconds: float = 4.0
    guess: float | None = None


ANNOTATORS = {
    "ada": Annotator(misread=0.3, slip=0.005, seconds=4.5),
    "ben": Annotator(misread=0.4, slip=0.010, seconds=3.8),
    "cleo": Annotator(misread=0.4, slip=0.015, seconds=5.2),
    "dora": Annotator(misread=0.6, slip=0.020, seconds=3.1),
    "emil": Annotator(misread=0.6, slip=0.030, seconds=4.0),
    "hurried": Annotator(misread=1.0, slip=0.080, seconds=1.0),
    "spammer": Annotator(guess=0.3, seconds=0.4),
}
VAGUE = {"HasLoop": 3.0, "StraightStrokes": 4.0}  # these slip more often, by this factor
VOTERS = 15


def readings(data: Digits) -> tuple[Floats, Ints]:
    """How hard each image is, and what digit it could be taken for.

    Hardness is the share of its 15 nearest training images (Euclidean) that show another digit;
    it can be taken for the commonest of those.
    """
    hardness = np.zeros(len(data.agreement))
    other = data.digits[data.agreement].copy()
    learned = data.digits[data.training]
    for i, at in enumerate(data.agreement):
        distances = ((data.pixels[data.training] - data.pixels[at]) ** 2).sum(axis=1)
        nearest = learned[np.lexsort((data.training, distances))[:VOTERS]]
        wrong = nearest[nearest != data.digits[at]]
        hardness[i] = len(wrong) / VOTERS
        if len(wrong):
            other[i] = np.bincount(wrong).argmax()
    return hardness, other


def agreement_files(data: Digits) -> dict[str, str]:
    """The log, and the agreement on each concept that it shows."""
    answers, seconds = simulate(data)
    items = [item_id(i) for i in data.agreement]
    rows = (
        (name, item, concept, int(answers[a, i, c]), f"{seconds[a, i, c]:.1f}")
        for a, name in enumerate(ANNOTATORS)
        for i, item in enumerate(items)
        for c, concept in enumerate(CONCEPTS)
    )
    files = {"judgement-log.csv.gz": _csv(["annotator,item,concept,value,seconds"], rows)}
    yes = answers.sum(axis=0)
    no = len(answers) - yes
    pairs = len(answers) * (len(answers) - 1)
    agreeing = ((yes * (yes - 1) + no * (no - 1)) / pairs).mean(axis=0)
    files["agreement.csv"] = _csv(
        ["concept,agreement"], ((c, f"{v:.4f}") for c, v in zip(CONCEPTS, agreeing, strict=True))
    )
    return files


def simulate(data: Digits) -> tuple[Ints, Floats]:
    """Answers (0 or 1) and seconds: annotators x images x concepts."""
    hardness, other = readings(data)
    truth, mistaken = concepts_of(data.digits[data.agreement]), concepts_of(other)
    vague = np.array([VAGUE.get(c, 1.0) for c in CONCEPTS])
    answers, seconds = [], []
    for name, annotator in ANNOTATORS.items():
        rng = stream(f"annotator {name}")
        misread = rng.random(len(hardness)) < annotator.misread * hardness
        slips = rng.random(truth.shape) < annotator.slip * vague
        guesses = rng.random(truth.shape)
        pace = np.vectorize(NormalDist(0, 0.4).inv_cdf)(rng.random(truth.shape))
        seen = np.where(misread[:, None], mistaken, truth) ^ slips
        answers.append(seen if annotator.guess is None else guesses < annotator.guess)
        effort = 1 + hardness[:, None] if annotator.guess is None else 1.0
        seconds.append(np.maximum(annotator.seconds * np.exp(pace) * effort, 0.1))
    return np.array(answers).astype(np.int64), np.array(seconds)


# Images and splits


def image_sheet(pixels: Floats) -> bytes:
    """All images as one grey PNG: tiles of 8 x 8 in rows of 43, ink dark on white."""
    rows = -(-len(pixels) // SHEET_COLUMNS)
    tiles = np.zeros((rows * SHEET_COLUMNS, SIDE, SIDE))
    tiles[: len(pixels)] = pixels.reshape(-1, SIDE, SIDE)
    sheet = tiles.reshape(rows, SHEET_COLUMNS, SIDE, SIDE).swapaxes(1, 2)
    grey = (255 - np.round(sheet.reshape(rows * SIDE, -1) * 255 / LEVELS)).astype(np.uint8)
    lines = b"".join(b"\0" + line.tobytes() for line in grey)
    header = struct.pack(">IIBBBBB", grey.shape[1], grey.shape[0], 8, 0, 0, 0, 0)
    chunks = [(b"IHDR", header), (b"IDAT", zlib.compress(lines, 9)), (b"IEND", b"")]
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
        for kind, body in chunks
    )


def item_files(data: Digits) -> dict[str, str]:
    files = {
        f"splits/{name}.txt": "".join(f"{item_id(i)}\n" for i in of)
        for name, of in data.splits.items()
    }
    files["items.csv"] = _csv(
        ["item,digit"], ((item_id(i), digit) for i, digit in enumerate(data.digits))
    )
    return files


def _csv(head: list[str], rows: Iterable[Iterable[object]]) -> str:
    return "\n".join([*head, *(",".join(map(str, row)) for row in rows)]) + "\n"


def write(folder: Path, files: Mapping[str, str | bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        data = content.encode() if isinstance(content, str) else content
        # Without a time stamp the same text gives the same archive.
        path.write_bytes(gzip.compress(data, 9, mtime=0) if path.suffix == ".gz" else data)


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the data of the collection 'digits'.")
    parser.add_argument("folder", nargs="?", type=Path, default=FOLDER)
    folder: Path = parser.parse_args().folder
    from threadpoolctl import threadpool_limits

    data = load()
    # Sums over several threads differ in their last digits, and training enlarges that.
    with threadpool_limits(1):
        for make in (item_files, retrieval_files, annotation_files, agreement_files):
            write(folder, make(data))
    write(folder, {"images.png": image_sheet(data.pixels)})


if __name__ == "__main__":
    main()
