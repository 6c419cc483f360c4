"""Scores in a few sentences: the leading run, its lead, and where every run fails.

Every sentence holds for the numbers behind it: runs whose means are equal share the lead, and
nothing is called significant here, as nothing was tested.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cranfield.evaluation.scores import Scores
    from cranfield.measures.base import Measure

# Means that differ by less than rounding are equal.
SLACK = 1e-12
NAMED = 3


def join_names(names: Sequence[str], limit: int = NAMED) -> str:
    """Some names as part of a sentence.

    >>> join_names(["a", "b"]), join_names(["a", "b", "c", "d", "e"])
    ('a and b', 'a, b, c and 2 more')
    """
    if len(names) > limit + 1:
        return f"{', '.join(names[:limit])} and {len(names) - limit} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def shown(measure: Measure, value: float) -> str:
    """A value of a measure in a sentence."""
    return f"{value:.{0 if measure.averaging == 'sum' else 4}f}"


class Order(NamedTuple):
    """Runs with a mean under a measure, best first; those that are level with the best lead."""

    measure: Measure
    runs: tuple[str, ...]
    means: tuple[float, ...]
    # Where each run stood before it was put in order.
    given: tuple[int, ...] = ()

    @classmethod
    def of(cls, measure: Measure, runs: Sequence[str], means: Sequence[float]) -> Order:
        sign = 1.0 if measure.higher_is_better is False else -1.0
        defined = [(sign * v, i) for i, v in enumerate(means) if not math.isnan(v)]
        order = [i for _, i in sorted(defined)]
        best = tuple(float(means[i]) for i in order)
        return cls(measure, tuple(runs[i] for i in order), best, tuple(order))

    def level(self, start: int = 0) -> tuple[str, ...]:
        """The run at a position and those behind it with the same mean, as they were given."""
        slack = SLACK * max(1.0, abs(self.means[start]))
        behind = zip(self.given[start:], self.runs[start:], self.means[start:], strict=True)
        same = [(at, r) for at, r, v in behind if abs(v - self.means[start]) <= slack]
        return tuple(r for _, r in sorted(same))

    def sentence(self, total: int) -> str:
        """Who leads by what."""
        name = self.measure.mean_label
        if not self.runs:
            return f"No run has a value under {name}."
        best = shown(self.measure, self.means[0])
        if total == 1:
            return ""  # its table says it
        if self.measure.higher_is_better is None:
            last = shown(self.measure, self.means[-1])
            return f"{name} has no better direction; it goes from {last} to {best}."
        leaders = self.level()
        word = "lowest" if self.measure.higher_is_better is False else "highest"
        if len(leaders) > 1:
            if len(leaders) == total:
                return f"All {total} runs have the same {name}, {best}."
            return f"{join_names(leaders)} share the {word} {name}, {best}."
        if len(self.runs) == 1:
            return f"{leaders[0]} alone has a value under {name}, {best}."
        second = self.level(1)
        gap = abs(self.means[0] - self.means[1])
        digits = 0 if self.measure.averaging == "sum" else 4
        ahead = f"less than {10**-digits:g}" if gap < 10**-digits else shown(self.measure, gap)
        then = shown(self.measure, self.means[1])
        return (
            f"{leaders[0]} leads with the {word} {name}, {best}: {ahead} "
            f"{'below' if word == 'lowest' else 'above'} {join_names(second)} ({then})."
        )


def score_verdict(
    scores: Scores, measure: Measure | None = None, *, items: bool = True
) -> tuple[str, ...]:
    """Who leads under a measure (or the first one), who leads under others, where all fail.

    Items are named only with `items`.
    """
    first = measure or scores.measures[0]
    order = Order.of(first, scores.runs, list(scores.plain_means(first)))
    sentences = [order.sentence(len(scores.runs)), _elsewhere(scores, order)]
    sentences.append(hardest(scores, first, items=items))
    return tuple(filter(None, sentences))


def _elsewhere(scores: Scores, order: Order) -> str:
    """The other measures under which another run leads."""
    if len(scores.runs) < 2 or not order.runs or order.measure.higher_is_better is None:
        return ""
    leaders = set(order.level())
    others: dict[str, list[str]] = {}
    compared = [m for m in scores.measures if m != order.measure and m.higher_is_better is not None]
    for m in compared:
        rival = Order.of(m, scores.runs, list(scores.plain_means(m)))
        if rival.runs and not leaders & set(rival.level()):
            others.setdefault(join_names(rival.level()), []).append(m.mean_label)
    if not others:
        return ""
    count = sum(map(len, others.values()))
    share = f"{count} of {len(compared)} other measure{'s' * (len(compared) > 1)}"
    leader_texts = [f"{runs} by {join_names(names)}" for runs, names in others.items()]
    ending = "; and so on" * (len(leader_texts) > NAMED)
    return f"Another run leads under {share}: {'; '.join(leader_texts[:NAMED])}{ending}."


def hardest(scores: Scores, measure: Measure, *, items: bool = True) -> str:
    """Where no run does well: the topics, items or concepts whose best value is the worst."""
    unit = scores.unit_of[measure]
    if unit == "item" and not items:
        return ""
    names = scores.units.get(unit, ())
    if measure not in scores.values or measure.higher_is_better is None or len(names) < 2:
        return ""
    best = best_values(scores, measure)
    defined = [v for v in best if not math.isnan(v)]
    if not defined:
        return ""
    lower = measure.higher_is_better is False
    worst = max(defined) if lower else min(defined)
    if worst == (min(defined) if lower else max(defined)):
        return ""  # all are equally hard
    worst_units = [name for name, v in zip(names, best, strict=True) if v == worst]
    limit = measure.range[1] if lower else measure.range[0]
    if worst == limit and math.isfinite(limit):
        count = f"{len(worst_units)} of {len(defined)} {unit}s"
        value = shown(measure, worst)
        return f"On {count} every run has the worst value, {value}: {join_names(worst_units)}."
    subject = f"The hardest {unit}s are" if len(worst_units) > 1 else f"The hardest {unit} is"
    runs = "no run gets below" if lower else "no run gets above"
    runs = runs if len(scores.runs) > 1 else "the run gets"
    return f"{subject} {join_names(worst_units)}: {runs} {shown(measure, worst)} there."


def best_values(scores: Scores, measure: Measure) -> list[float]:
    """The best value that any run has on each topic, item or concept; NaN where none has one."""
    pick = min if measure.higher_is_better is False else max
    return [
        pick((v for v in column if not math.isnan(v)), default=math.nan)
        for column in zip(*scores.plain_values(measure), strict=True)
    ]
