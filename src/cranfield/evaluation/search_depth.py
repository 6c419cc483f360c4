"""Asking a system for more results until a person's whole list is among them (Sa 5).

"If the system under evaluation allows incremental requests, then one can keep increasing the set":
nothing has then to be supposed of images that were not returned, and equation 21 is the whole
displacement.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from cranfield.data import Run
from cranfield.data.subjects import SubjectRankings
from cranfield.errors import UsageError, check_counts
from cranfield.validation import validate_params

# What a system answers: the items of a topic, best first, as many as were asked for or fewer.
Ask = Callable[[str, int], Sequence[str]]


@dataclass(frozen=True)
class SearchDepths:
    """A run that is long enough, how many items each topic took, and what was never found."""

    run: Run
    depths: dict[str, int]
    never: dict[str, tuple[str, ...]]


@validate_params
def ask_until_found(
    people: SubjectRankings,
    ask: Ask,
    *,
    first: int = 10,
    most: int | None = None,
    name: str = "run",
) -> SearchDepths:
    """Ask for `first` items of every topic, then twice as many and so on, until all are there.

    It ends when every item that any person listed is found, when the system has no more to
    give, or at `most` items. Answers must grow: what was given before comes first again.

    >>> people = SubjectRankings.from_rows([("s", "q", "x", 1.0), ("s", "q", "z", 0.5)])
    >>> found = ask_until_found(people, lambda topic, count: "abxcdez"[:count], first=2)
    >>> found.depths, found.never
    ({'q': 7}, {})
    """
    check_counts(first=first, most=most)
    rankings: dict[str, dict[str, float]] = {}
    depths, never = {}, {}
    for topic in people.topics:
        targets = {item for lists in people.lists.values() for item, _ in lists.get(topic, ())}
        items = _enough(topic, targets, ask, first, most)
        places = {item: place for place, item in enumerate(items, 1)}
        missed = tuple(sorted(targets - places.keys()))
        if missed:
            never[topic] = missed
        depths[topic] = len(items)
        rankings[topic] = {item: -float(place) for item, place in places.items()}
    return SearchDepths(Run.from_dict(rankings).named(name), depths, never)


def _enough(topic: str, targets: set[str], ask: Ask, first: int, limit: int | None) -> list[str]:
    count, before = first, list[str]()
    while True:
        count = count if limit is None else min(count, limit)
        items = list(ask(topic, count))[:count]
        if len(set(items)) < len(items):
            raise UsageError(f"topic {topic}: the system gives an item twice")
        if items[: len(before)] != before:
            raise UsageError(f"topic {topic}: asked for {count} items, the first ones changed")
        if targets <= set(items) or len(items) < count or count == limit:
            return items
        count, before = 2 * count, items
