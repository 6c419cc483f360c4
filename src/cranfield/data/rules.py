"""Rules between concepts, as they are written in TOML."""

from __future__ import annotations

from typing import Any

from cranfield.data.ontology import Requirement, Rules
from cranfield.data.toml import parse_toml
from cranfield.errors import InputError, Problem, suggest

_KINDS = ("exactly_one", "disjoint", "requires")


def parse_rules(text: str, where: str) -> Rules:
    """Rules written as `[[exactly_one]]`, `[[disjoint]]` and `[[requires]]`."""
    document = parse_toml(text, where)
    problems: list[Problem] = [
        Problem(
            0, f"unknown kind of rule {key!r}.{suggest(key, _KINDS)} Expected {', '.join(_KINDS)}"
        )
        for key in document
        if key not in _KINDS
    ]
    groups: dict[str, list[tuple[str, ...]]] = {"exactly_one": [], "disjoint": []}
    for kind, found in groups.items():
        for number, entry in enumerate(_entries(document, kind, problems), 1):
            place = f"[[{kind}]] number {number}"
            found.append(_names(entry, "concepts", place, problems, {"concepts"}))
    requires = []
    for number, entry in enumerate(_entries(document, "requires", problems), 1):
        place = f"[[requires]] number {number}"
        any_of = _names(entry, "any_of", place, problems, {"concept", "any_of"})
        concept = entry.get("concept")
        if isinstance(concept, str):
            requires.append(Requirement(concept, any_of))
        else:
            problems.append(Problem(0, f'{place} lacks a line such as concept = "Portrait"'))
    if problems:
        raise InputError(where, problems)
    return Rules(tuple(groups["exactly_one"]), tuple(groups["disjoint"]), tuple(requires))


def _entries(document: dict[str, Any], kind: str, problems: list[Problem]) -> list[dict[str, Any]]:
    entries = document.get(kind, [])
    if isinstance(entries, list) and all(isinstance(e, dict) for e in entries):
        return entries
    problems.append(Problem(0, f"{kind} is written as [[{kind}]] with its lines below"))
    return []


def _names(
    entry: dict[str, Any], key: str, place: str, problems: list[Problem], known: set[str]
) -> tuple[str, ...]:
    problems += [
        Problem(0, f"{place} has an unknown key {other!r}.{suggest(other, known)}")
        for other in sorted(entry.keys() - known)
    ]
    names = entry.get(key)
    if not isinstance(names, list) or not all(isinstance(n, str) for n in names):
        problems.append(Problem(0, f'{place} lacks a list such as {key} = ["Indoor", "Outdoor"]'))
        return ()
    return tuple(names)
