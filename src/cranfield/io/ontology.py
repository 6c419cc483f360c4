"""Ontologies from files: CSV `concept,path` with rules in TOML, OWL, RDF and SKOS."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

from cranfield.data.ontology import Ontology, Rules
from cranfield.data.rules import parse_rules
from cranfield.errors import InputError, Problem, suggest
from cranfield.io.concepts import read_concepts
from cranfield.io.files import (
    BYTE_ORDER_MARK,
    Input,
    can_be_read_again,
    csv_rows,
    describe,
    exists,
    inner_suffix,
    open_text,
    read_text,
    read_until_zero,
)
from cranfield.io.unnamed import separator_of
from cranfield.ontologies import BUILT_IN, built_in
from cranfield.validation import validate_params

RDF_FORMATS = {
    ".owl": "xml",
    ".rdf": "xml",
    ".xml": "xml",
    ".ttl": "turtle",
    ".nt": "nt",
    ".n3": "n3",
    ".jsonld": "json-ld",
}


@validate_params
def read_ontology(source: str | Path | Input, *, rules: str | Path | None = None) -> Ontology:
    """An ontology by its built-in name or from a file, checked for cycles and contradictions."""
    return parse_ontology(source, rules=rules).checked()


def parse_ontology(source: str | Path | Input, *, rules: str | Path | None = None) -> Ontology:
    """An ontology as its source says, sound or not; `rules` is a TOML file with more rules."""
    ontology = built_in(str(source)) if str(source) in BUILT_IN else _parse_file(source)
    if rules is None:
        return ontology
    more = read_rules(rules)
    return Ontology(
        ontology.nodes,
        ontology.parents,
        ontology.concept_nodes,
        ontology.rules + more,
        ontology.name,
    )


def read_vocabulary(source: str | Path, *, rules: str | Path | None = None) -> Ontology:
    """An ontology, or the concepts of a list of names, which have no structure."""
    if str(source) in BUILT_IN or inner_suffix(source) in RDF_FORMATS:
        return read_ontology(source, rules=rules)
    if inner_suffix(source) in (".csv", ".tsv"):
        with open_text(source) as stream:
            header = stream.readline().replace("\t", ",").strip().split(",")
        if {"concept", "path"} <= {cell.strip() for cell in header}:
            return read_ontology(source, rules=rules)
    names = Ontology.flat(read_concepts(source), name=describe(source))
    if rules is None:
        return names
    return replace(names, rules=read_rules(rules)).checked()


def _parse_file(source: str | Path | Input) -> Ontology:
    """An ontology in the format of its ending; what comes through a pipe is known by its start."""
    suffix = inner_suffix(source)
    if suffix not in (*RDF_FORMATS, ".csv", ".tsv") and not can_be_read_again(source):
        whole = read_until_zero(source)
        suffix, source = _ending_by_start(whole), Input(describe(source), whole)
    if suffix in RDF_FORMATS:
        from cranfield.io.ontology_rdf import parse_rdf

        return parse_rdf(source, RDF_FORMATS[suffix])
    if suffix in (".csv", ".tsv"):
        return _parse_csv(source, "\t" if suffix == ".tsv" else ",")
    if not suffix and not exists(Path(str(source))):
        raise InputError.single(
            str(source),
            f"no such file, and no built-in ontology of that name.{suggest(str(source), BUILT_IN)}",
        )
    raise InputError.single(
        describe(source),
        "not an ontology by its ending, expected .csv, .tsv, "
        f"{', '.join(RDF_FORMATS)} or one of {', '.join(BUILT_IN)}",
    )


def _ending_by_start(data: bytes) -> str:
    """The ending that a file with this content would have; CSV where nothing else is certain."""
    start = data.removeprefix(BYTE_ORDER_MARK).lstrip()
    lines = (line for line in start.splitlines() if line.strip() and not line.startswith(b"#"))
    first = next(lines, b"").lstrip()
    if first.startswith((b"<?xml", b"<rdf:", b"<!DOCTYPE", b"<!--")):
        return ".owl"
    if first.startswith((b"{", b"[")):
        return ".jsonld"
    if first.lower().startswith((b"@prefix", b"@base", b"prefix ", b"base ", b"<", b"_:")):
        return ".ttl"  # which has N-Triples in it
    return ".tsv" if b"\t" in first else ".csv"


def read_rules(path: str | Path) -> Rules:
    """The rules of a TOML file."""
    return parse_rules(read_text(path), describe(path))


def read_rules_of(
    *, rules: str | Path | None = None, ontology: str | Path | None = None
) -> Ontology | Rules | None:
    """The rules between concepts that a TOML file, an ontology or both say, None without any."""
    if ontology is not None:
        return read_ontology(ontology, rules=rules)
    return None if rules is None else read_rules(rules)


def _parse_csv(path: str | Path | Input, delimiter: str) -> Ontology:
    where = describe(path)
    text = read_text(path)
    with io.StringIO(text, newline="") as stream:
        rows = list(csv_rows(stream, where, separator_of(text, delimiter)))
    rows = [(number, row) for number, row in rows if any(cell.strip() for cell in row)]
    if not rows:
        raise InputError.single(where, "is empty, expected a header with concept,path")
    header = [cell.strip() for cell in rows[0][1]]
    if "concept" not in header or "path" not in header:
        raise InputError.single(where, f"header {','.join(header)!r} lacks 'concept' or 'path'", 1)
    own, way = header.index("concept"), header.index("path")
    pairs: dict[tuple[str, str], None] = {}
    problems: list[Problem] = []
    for number, row in rows[1:]:
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
            pairs[concept, dotted] = None
    if not pairs and not problems:
        problems.append(Problem(0, "has no concept"))
    if problems:
        raise InputError(where, problems)
    return Ontology.from_paths(pairs, name=where)
