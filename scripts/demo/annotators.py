"""Annotators: a judgement log by a stated error model."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from scripts.demo.annotation import CONCEPTS, concepts_of
from scripts.demo.images import Digits, Floats, Ints, csv_text, item_id, stream


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


def readings(data: Digits, images: Ints) -> tuple[Floats, Ints]:
    """How hard each image is, and what digit it could be taken for.

    Hardness is the share of its 15 nearest training images (Euclidean) that show another digit;
    it can be taken for the commonest of those.
    """
    hardness = np.zeros(len(images))
    other = data.digits[images].copy()
    learned = data.digits[data.training]
    for i, at in enumerate(images):
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
    files = {"judgement-log.csv.gz": csv_text(["annotator,item,concept,value,seconds"], rows)}
    yes = answers.sum(axis=0)
    no = len(answers) - yes
    pairs = len(answers) * (len(answers) - 1)
    agreeing = ((yes * (yes - 1) + no * (no - 1)) / pairs).mean(axis=0)
    files["agreement.csv"] = csv_text(
        ["concept,agreement"], ((c, f"{v:.4f}") for c, v in zip(CONCEPTS, agreeing, strict=True))
    )
    return files


def simulate(data: Digits) -> tuple[Ints, Floats]:
    """Answers (0 or 1) and seconds: annotators x images x concepts."""
    hardness, other = readings(data, data.agreement)
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
