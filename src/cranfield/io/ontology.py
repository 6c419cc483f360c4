"""Ontologies from files: CSV `concept,path` with rules in TOML, OWL, RDF and SKOS."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from cranfield.data.ontology import Ontology, Requirement, Rules
from cranfield.errors import InputError, Problem, suggest
from cranfield.io.files import csv_rows, describe, inner_suffix, open_text, read_text

RDF_FORMATS = {
    ".owl": "xml", ".rdf": "xml", ".xml": "xml", ".ttl": "turtle", ".nt": "nt", ".n3": "n3",
    ".jsonld": "json-ld",
}  # fmt: skip
_KINDS = ("exactly_one", "disjoint", "requires")


def read_ontology(source: str | Path, *, rules: str | Path | None = None) -> Ontology:
    """An ontology by its built-in name or from a file, checked for cycles and contradictions."""
    return parse_ontology(source, rules=rules).checked()


def parse_ontology(source: str | Path, *, rules: str | Path | None = None) -> Ontology:
    """An ontology as its source says, sound or not; `rules` is a TOML file with more rules."""
    from cranfield.ontologies import BUILT_IN, built_in

    suffix = inner_suffix(source)
    if str(source) in BUILT_IN:
        ontology = built_in(str(source))
    elif suffix in RDF_FORMATS:
        from cranfield.io.ontology_rdf import parse_rdf

        ontology = parse_rdf(source, RDF_FORMATS[suffix])
    elif suffix in (".csv", ".tsv") or str(source) == "-":
        ontology = _parse_csv(source, "\t" if suffix == ".tsv" else ",")
    elif not suffix and not Path(source).exists():
        raise InputError.single(
            str(source),
            f"no such file, and no built-in ontology of that name.{suggest(str(source), BUILT_IN)}",
        )
    else:
        raise InputError.single(
            describe(source),
            "not an ontology by its ending, expected .csv, .tsv, "
            f"{', '.join(RDF_FORMATS)} or one of {', '.join(BUILT_IN)}",
        )
    if rules is None:
        return ontology
    more = read_rules(rules)
    return Ontology(
        ontology.nodes, ontology.parents, ontology.concept_nodes, ontology.rules + more,
        ontology.name,
    )  # fmt: skip


def read_rules(path: str | Path) -> Rules:
    """The rules of a TOML file."""
    return parse_rules(read_text(path), describe(path))


def parse_rules(text: str, where: str) -> Rules:
    """Rules written as `[[exactly_one]]`, `[[disjoint]]` and `[[requires]]`."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"\(at line (\d+)", str(error))
        message = re.sub(r" \(at .*", "", str(error))
        raise InputError.single(
            where, f"not valid TOML: {message}", int(at[1]) if at else 0
        ) from None
    problems: list[Problem] = [
        Problem(0, f"unknown kind of rule {key!r}.{suggest(key, _KINDS)} "
                   f"Expected {', '.join(_KINDS)}")
        for key in document
        if key not in _KINDS
    ]  # fmt: skip
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


def _parse_csv(path: str | Path, delimiter: str) -> Ontology:
    where = describe(path)
    with open_text(path) as stream:
        rows = list(csv_rows(stream, where, delimiter))
    if not rows:
        raise InputError.single(where, "is empty, expected a header with concept,path")
    header = [cell.strip() for cell in rows[0][1]]
    if "concept" not in header or "path" not in header:
        raise InputError.single(where, f"header {','.join(header)!r} lacks 'concept' or 'path'", 1)
    own, way = header.index("concept"), header.index("path")
    pairs: list[tuple[str, str]] = []
    problems: list[Problem] = []
    for number, row in rows[1:]:
        if not any(cell.strip() for cell in row):
            continue
        if len(row) != len(header):
            problems.append(Problem(number, f"{len(row)} values, expected {len(header)}"))
            continue
        concept, dotted = row[own].strip(), row[way].strip()
        if not concept:
            problems.append(Problem(number, "the concept has no name"))
        elif not all(part.strip() for part in dotted.split(".")):
            problems.append(
                Problem(number, f"path {dotted!r} has an empty part (expected: A.B.Concept)")
            )
        elif (concept, dotted) in pairs:
            problems.append(Problem(number, f"concept {concept!r} given twice with the same path"))
        else:
            pairs.append((concept, dotted))
    if not pairs and not problems:
        problems.append(Problem(0, "has no concept"))
    if problems:
        raise InputError(where, problems)
    return Ontology.from_paths(pairs, name=where)
