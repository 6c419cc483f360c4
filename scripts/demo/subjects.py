"""People without a truth: captions, votes for categories, and rankings of images."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from scripts.demo.annotators import readings
from scripts.demo.images import LEVELS, NAMES, SIDE, Digits, Floats, csv_text, item_id, stream
from scripts.demo.retrieval import shift_distances

# How people sort digits by their look: every digit lies in one kind.
KINDS: dict[str, tuple[int, ...]] = {
    "round": (0, 6, 8, 9),
    "curved": (2, 3, 5),
    "straight": (1, 4, 7),
}


@dataclass(frozen=True)
class Subject:
    """How a simulated person sorts and ranks.

    `misread` is the chance to take an image that is as hard as can be for another digit, `broad`
    that to name the kind and not the digit, `blur` how far an image's place is from where its
    look puts it.
    """

    misread: float
    broad: float
    blur: float


SUBJECTS = {
    "ines": Subject(misread=0.3, broad=0.05, blur=0.05),
    "jonas": Subject(misread=0.5, broad=0.10, blur=0.10),
    "kaya": Subject(misread=0.5, broad=0.20, blur=0.10),
    "luis": Subject(misread=0.8, broad=0.10, blur=0.20),
    "mara": Subject(misread=1.0, broad=0.30, blur=0.30),
}
RANKED_TOPICS_PER_DIGIT = 2
SHOWN, LISTED = 24, 10  # images that a subject looks at for a topic, and those listed


def caption_files(data: Digits) -> dict[str, str]:
    """A line on the look of every image, which says nothing of its digit."""
    ink = data.pixels / LEVELS
    square = ink.reshape(-1, SIDE, SIDE)
    amount = ink.mean(axis=1)
    used = (square.max(axis=1) > 0.25).sum(axis=1)
    halves = square[:, : SIDE // 2].sum(axis=(1, 2)), square[:, SIDE // 2 :].sum(axis=(1, 2))
    weights = np.searchsorted(np.quantile(amount, [1 / 3, 2 / 3]), amount)
    widths = np.searchsorted([5, 6], used, side="right")
    rows = [
        (
            item_id(i),
            f"{('thin', 'plain', 'bold')[weights[i]]} strokes; "
            f"{('narrow', 'middling', 'wide')[widths[i]]}; "
            f"more ink {'above' if halves[0][i] > halves[1][i] else 'below'}",
        )
        for i in range(len(ink))
    ]
    return {"captions.csv.gz": csv_text(["item,text"], rows)}


def subject_files(data: Digits) -> dict[str, str]:
    """Votes with the tree of categories, and rankings."""
    parents = [("all", ""), *((kind, "all") for kind in KINDS)]
    parents += [(NAMES[d], kind) for kind, digits in KINDS.items() for d in digits]
    return {
        "categories.csv": csv_text(["category,parent"], parents),
        "votes.csv.gz": csv_text(["subject,item,category"], _votes(data)),
        "rankings.csv": csv_text(["subject,topic,item,significance"], _rankings(data)),
    }


def _votes(data: Digits) -> Iterator[tuple[str, str, str]]:
    images = np.sort(np.concatenate([data.topics, data.collection]))
    hardness, other = readings(data, images)
    kind_of = {d: kind for kind, digits in KINDS.items() for d in digits}
    for name, subject in SUBJECTS.items():
        rng = stream(f"votes {name}")
        misread = rng.random(len(images)) < subject.misread * hardness
        broad = rng.random(len(images)) < subject.broad
        seen = np.where(misread, other, data.digits[images])
        for image, digit, is_broad in zip(images, seen.tolist(), broad, strict=True):
            yield name, item_id(image), kind_of[digit] if is_broad else NAMES[digit]


def _rankings(data: Digits) -> Iterator[tuple[str, str, str, str]]:
    per_digit = len(data.topics) // len(NAMES)
    chosen = [i for i in range(len(data.topics)) if i % per_digit < RANKED_TOPICS_PER_DIGIT]
    names = data.topic_names()
    likeness = _likeness(data)
    for name, subject in SUBJECTS.items():
        rng = stream(f"rankings {name}")
        for topic in chosen:
            shown = np.argsort(-likeness[topic], kind="stable")[:SHOWN]
            felt = likeness[topic, shown] + subject.blur * (rng.random(SHOWN) - 0.5)
            felt = np.clip(felt, 0, 1).round(2)
            for i in np.argsort(-felt, kind="stable")[:LISTED]:
                item = item_id(data.collection[shown[i]])
                yield name, names[topic], item, f"{felt[i]:.2f}"


def _likeness(data: Digits) -> Floats:
    """From 1 for an image like the topic to 0 for the most unlike one of the collection."""
    distances = shift_distances(data.pixels[data.topics], data.pixels[data.collection])
    return np.asarray(1 - distances / distances.max(axis=1, keepdims=True))
