"""What is assumed of an annotator before the first judgement, and where that is all there is.

A model that starts from nothing believes a person who judged five items as firmly as one who
judged five hundred. Everybody is therefore taken to be a usual member of this crowd until many
judgements say otherwise: as often right as pairs of annotators agree, as if `PRIOR` judgements
had been seen.
"""

from __future__ import annotations

import math
from typing import Literal, TypeAlias

import numpy as np

from cranfield.agreement._arrays import ratio, sum_by
from cranfield.agreement._em import Model, Voices
from cranfield.agreement.dawid_skene import dawid_skene
from cranfield.agreement.mace import mace
from cranfield.agreement.one_coin import one_coin
from cranfield.data.judgement_log import Floats

ModelName: TypeAlias = Literal["dawid-skene", "one-coin", "mace"]
MODELS: tuple[ModelName, ...] = ("dawid-skene", "one-coin", "mace")
# Judgements that the usual member of the crowd counts for.
PRIOR = 10.0
# As many at least, however different the annotators are.
WEAKEST = 1.0
# Units that every answer has before the first one.
BASE = 1.0
# Spammed answers of all kinds together that MACE takes everybody to have given.
HABIT = 2.0
# Nobody is taken to be surer than this, or hardly better than chance, before they are seen.
SUREST = 0.95
ABOVE_CHANCE = 0.1
# At the median fewer judgements than these per annotator teach a model nothing of people.
FEW = 10
# A table of confusions needs as many for each of its rows.
FEW_PER_ROW = 5


def usual_accuracy(counts: Floats) -> float:
    """How often a usual annotator is right, from how often two of them agree.

    `counts` has the judgements of each unit by answer. Two people who are right with
    probability m and otherwise err evenly over q - 1 answers agree with probability
    m**2 + (1 - m)**2 / (q - 1).
    """
    answers = counts.shape[1]
    given = counts.sum(axis=1)
    paired = given >= 2
    others = max(answers - 1, 1)
    agreed = 1.0
    if paired.any():
        same = (counts * (counts - 1)).sum(axis=1)[paired]
        agreed = float((same / (given * (given - 1))[paired]).mean())
    # The larger root of (1 + 1/k) m**2 - (2/k) m + 1/k - agreed = 0, k wrong answers.
    a, b, c = 1 + 1 / others, -2 / others, 1 / others - agreed
    root = (-b + math.sqrt(max(b * b - 4 * a * c, 0.0))) / (2 * a)
    return float(min(max(root, 1 / answers + ABOVE_CHANCE), SUREST))


def usual_strength(voices: Voices, counts: Floats, right: float) -> float:
    """How many judgements it takes to know an annotator better than the crowd.

    The more annotators differ from each other, the fewer. They agree with the others in a
    share that is linear in how often they are right; the spread of that share beyond what
    chance gives is the spread of a beta distribution.
    """
    given = counts.sum(axis=1)[voices.unit]
    heard = given >= 2
    answer, unit = voices.answer[voices.voice][heard], voices.unit[heard]
    same = (counts[unit, answer] - 1) / (given[heard] - 1)
    who = voices.annotator[voices.voice][heard]
    n = np.bincount(who, minlength=voices.annotators)
    known = n >= FEW
    if np.count_nonzero(known) < 3:
        return PRIOR
    mean = ratio(sum_by(who, same, n.size), n)[known]
    square = ratio(sum_by(who, same**2, n.size), n)[known]
    chance = float(((square - mean**2) / (n[known] - 1)).mean())
    slope = right - (1 - right) / max(counts.shape[1] - 1, 1)
    spread = (float(mean.var(ddof=1)) - chance) / slope**2
    if spread <= 0:
        return PRIOR
    return float(np.clip(right * (1 - right) / spread - 1, WEAKEST, PRIOR))


def model_of(name: ModelName, right: float, answers: int, strength: float) -> Model:
    """A model in which everybody begins as a usual member of the crowd."""
    wrong = strength * (1 - right)
    if name == "dawid-skene":
        return dawid_skene(strength * right, wrong / max(answers - 1, 1))
    if name == "one-coin":
        return one_coin(strength * right, wrong)
    if strength == 0:
        return mace()
    # Who knows is right, and who spams is right by chance.
    knows = max((right - 1 / answers) / max(1 - 1 / answers, 1e-9), 0.05)
    return mace(strength * knows, strength * (1 - knows), HABIT / answers)


def too_little(name: ModelName, voices: Voices) -> str:
    """A sentence where the judgements cannot teach a model, or nothing."""
    said = voices.per_annotator(np.asarray(voices.spoken.sum(axis=1)).ravel())
    typical = float(np.median(said[said > 0])) if (said > 0).any() else 0.0
    if typical < FEW:
        return (
            f"half of the annotators gave {typical:.0f} judgements or fewer: too little for "
            f"{name} to learn about people; the plain majority is as good"
        )
    needed = FEW_PER_ROW * voices.answers
    if name == "dawid-skene" and typical < needed:
        return (
            f"half of the annotators gave {typical:.0f} judgements or fewer: too little for a "
            f"table of {voices.answers} x {voices.answers} confusions (from {needed} on); one-coin "
            "or mace learn one or few numbers per annotator"
        )
    return ""
