"""Lists of ids in the place of {item: number}: a ranking, best first, or the relevant items."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any, TypeGuard

from cranfield.data import Judgements, Table
from cranfield.errors import InputError, first_duplicate


def is_list_of_ids(items: Any) -> bool:
    return isinstance(items, list | tuple | Set) and all(isinstance(i, str | int) for i in items)


def is_mapping_of_lists(source: Any) -> TypeGuard[Mapping[Any, Any]]:
    """Whether this is {topic: [item, ...]}."""
    return (
        isinstance(source, Mapping) and bool(source) and all(map(is_list_of_ids, source.values()))
    )


def list_as_mapping(items: Any, kind: type[Table], source_name: str, topic: str) -> Any:
    """A list of ids as {item: number}, anything else as it is. A set has no order."""
    if not is_list_of_ids(items):
        return items
    names = [str(item) for item in items]
    twice = first_duplicate(names)
    if twice is not None:
        raise InputError.single(
            source_name, f"item {twice!r} is listed twice for topic {topic!r}; keep one of them"
        )
    if kind is Judgements or isinstance(items, Set):
        return dict.fromkeys(names, 1 if kind is Judgements else 1.0)
    return {name: float(-place) for place, name in enumerate(names, 1)}


def lists_as_mappings(source: Any, kind: type[Table], source_name: str) -> Any:
    """{topic: [item, ...]} as {topic: {item: number}}, any other form as it is."""
    if not is_mapping_of_lists(source):
        return source
    return {
        topic: list_as_mapping(items, kind, source_name, str(topic))
        for topic, items in source.items()
    }
