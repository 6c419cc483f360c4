"""Ontologies from files: CSV `concept,path` with rules in TOML, OWL, RDF and SKOS."""

from __future__ import annotations

import io
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

from cranfield.data.ontology import Ontology, Requirement, Rules, parse_rules
from cranfield.errors import InputError, MissingExtraError, Problem, suggest
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
from cranfield.io.sniff import separator_of
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
    extra_rules = read_rules(rules)
    return Ontology(
        ontology.nodes,
        ontology.parents,
        ontology.concept_nodes,
        ontology.rules + extra_rules,
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
        data = read_until_zero(source)
        suffix, source = _ending_by_start(data), Input(describe(source), data)
    if suffix in RDF_FORMATS:
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
    source_name = describe(path)
    text = read_text(path)
    with io.StringIO(text, newline="") as stream:
        rows = list(csv_rows(stream, source_name, separator_of(text, delimiter)))
    rows = [(number, row) for number, row in rows if any(cell.strip() for cell in row)]
    if not rows:
        raise InputError.single(source_name, "is empty, expected a header with concept,path")
    header = [cell.strip() for cell in rows[0][1]]
    if "concept" not in header or "path" not in header:
        raise InputError.single(
            source_name, f"header {','.join(header)!r} lacks 'concept' or 'path'", 1
        )
    concept_column, path_column = header.index("concept"), header.index("path")
    pairs: dict[tuple[str, str], None] = {}
    problems: list[Problem] = []
    for number, row in rows[1:]:
        if len(row) != len(header):
            problems.append(Problem(number, f"{len(row)} values, expected {len(header)}"))
            continue
        concept, dotted = row[concept_column].strip(), row[path_column].strip()
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
        raise InputError(source_name, problems)
    return Ontology.from_paths(pairs, name=source_name)


BASE = "urn:x-cranfield:"
CATEGORY = f"{BASE}category"


def parse_rdf(path: str | Path | Input, form: str) -> Ontology:
    """The ontology in an RDF file of a given serialisation."""
    try:
        import rdflib
    except ModuleNotFoundError:
        raise MissingExtraError("rdflib", "ontology", "Reading OWL, RDF and SKOS") from None
    source_name = describe(path)
    data = read_until_zero(path).removeprefix(BYTE_ORDER_MARK)
    graph = rdflib.Graph()
    try:
        graph.parse(data=data, format=form)
    except Exception as error:
        # Every parser of rdflib has exceptions of its own, several of them plain Exception.
        first = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InputError.single(source_name, f"not valid RDF ({form}): {first}") from None
    if next(iter(graph.subjects(rdflib.RDF.type, rdflib.SKOS.Concept)), None) is not None:
        return _Skos(graph, source_name).ontology()
    return _Owl(graph, source_name).ontology()


class _Graph(ABC):
    """What both languages share: resources, their names, and links between them."""

    def __init__(self, graph: Any, source_name: str) -> None:
        import rdflib

        self.rdf, self.graph, self.source_name = rdflib, graph, source_name
        self.members = sorted(
            {
                m
                for m in self.concept_resources()
                if isinstance(m, rdflib.URIRef) and m != rdflib.OWL.Thing
            }
        )
        if not self.members:
            raise InputError.single(source_name, "has no owl:Class and no skos:Concept")
        self.position = {m: i for i, m in enumerate(self.members)}
        self.names = [self._name(m) for m in self.members]
        if len(set(self.names)) < len(self.names):
            twice = next(n for i, n in enumerate(self.names) if n in self.names[:i])
            raise InputError.single(source_name, f"two concepts are called {twice!r}")

    @abstractmethod
    def concept_resources(self) -> Iterable[Any]:
        """The nodes of the graph that are concepts."""

    @abstractmethod
    def links(self) -> Iterable[tuple[Any, Any]]:
        """Pairs of a concept and one above it."""

    def rules(self) -> Rules:
        return Rules()

    def ontology(self) -> Ontology:
        parents: list[list[int]] = [[] for _ in self.members]
        for child, parent in self.links():
            if child in self.position and parent in self.position:
                above = parents[self.position[child]]
                if self.position[parent] not in above:
                    above.append(self.position[parent])
        categories = set(self.graph.subjects(self.rdf.URIRef(CATEGORY)))
        concept_nodes = {
            self.name_of(m): i for m, i in self.position.items() if m not in categories
        }
        return Ontology(
            tuple(self.names),
            tuple(map(tuple, parents)),
            MappingProxyType(concept_nodes),
            self.rules(),
            self.source_name,
        )

    def name_of(self, member: Any) -> str:
        return self.names[self.position[member]]

    def _name(self, member: Any) -> str:
        for kind in (self.rdf.SKOS.prefLabel, self.rdf.RDFS.label):
            texts = list(self.graph.objects(member, kind))
            preferred = [t for t in texts if getattr(t, "language", None) in (None, "en")] or texts
            if preferred:
                return str(min(preferred, key=str))
        tail = str(member).rsplit("#", 1)[-1].rstrip("/")
        return tail.rsplit("/", 1)[-1]


class _Skos(_Graph):
    def concept_resources(self) -> Iterable[Any]:
        return self.graph.subjects(self.rdf.RDF.type, self.rdf.SKOS.Concept)  # type: ignore[no-any-return]

    def links(self) -> Iterable[tuple[Any, Any]]:
        yield from self.graph.subject_objects(self.rdf.SKOS.broader)
        yield from ((c, p) for p, c in self.graph.subject_objects(self.rdf.SKOS.narrower))


class _Owl(_Graph):
    def concept_resources(self) -> Iterable[Any]:
        rdf = self.rdf
        yield from self.graph.subjects(rdf.RDF.type, rdf.OWL.Class)
        yield from self.graph.subjects(rdf.RDF.type, rdf.RDFS.Class)

    def links(self) -> Iterable[tuple[Any, Any]]:
        yield from self.graph.subject_objects(self.rdf.RDFS.subClassOf)
        for parent, parts in self.graph.subject_objects(self.rdf.OWL.disjointUnionOf):
            yield from ((part, parent) for part in self._list(parts))

    def rules(self) -> Rules:
        owl, rdfs = self.rdf.OWL, self.rdf.RDFS
        disjoint = {
            tuple(sorted((self.name_of(a), self.name_of(b))))
            for a, b in self.graph.subject_objects(owl.disjointWith)
            if a in self.position and b in self.position
        }
        for group in self.graph.subjects(self.rdf.RDF.type, owl.AllDisjointClasses):
            for members in self.graph.objects(group, owl.members):
                disjoint.add(self._known_names(self._list(members)))
        exactly = [
            self._known_names(self._list(parts))
            for _, parts in sorted(self.graph.subject_objects(owl.disjointUnionOf), key=str)
        ]
        exactly += [g for g in self._functional() if g not in exactly]
        # The members of an exactly-one group are disjoint already.
        disjoint = {
            g for g in disjoint if not any(set(g) <= set(partition) for partition in exactly)
        }
        requires = [
            Requirement(self.name_of(member), options)
            for member in self.members
            for above in self.graph.objects(member, rdfs.subClassOf)
            if above not in self.position
            for options in self._required(above)
        ]
        return Rules(
            tuple(g for g in exactly if g),
            tuple(sorted(g for g in disjoint if g)),
            tuple(sorted(requires, key=lambda r: (r.concept, r.any_of))),
        )

    def _functional(self) -> Iterator[tuple[str, ...]]:
        """The classes that functional properties lead to: a union, or those below a class."""
        rdf, rdfs, owl = self.rdf.RDF, self.rdf.RDFS, self.rdf.OWL
        for functional_property in sorted(
            self.graph.subjects(rdf.type, owl.FunctionalProperty), key=str
        ):
            for goal in sorted(self.graph.objects(functional_property, rdfs.range), key=str):
                below = self._known_names(self.graph.subjects(rdfs.subClassOf, goal))
                group = (
                    below if goal in self.position else self._known_names(self._alternatives(goal))
                )
                if len(group) > 1:
                    yield group

    def _required(self, expression: Any) -> Iterator[tuple[str, ...]]:
        """The alternatives that an anonymous superclass demands, one tuple per demand."""
        owl = self.rdf.OWL
        for parts in self.graph.objects(expression, owl.intersectionOf):
            for part in self._list(parts):
                yield from self._required(part)
        if list(self.graph.objects(expression, owl.intersectionOf)):
            return
        options = self._known_names(self._alternatives(expression))
        if options:
            yield options

    def _alternatives(self, expression: Any) -> Iterator[Any]:
        owl = self.rdf.OWL
        if expression in self.position:
            yield expression
        for filler in self.graph.objects(expression, owl.someValuesFrom):
            yield from self._alternatives(filler)
        for parts in self.graph.objects(expression, owl.unionOf):
            for part in self._list(parts):
                yield from self._alternatives(part)

    def _known_names(self, members: Iterable[Any]) -> tuple[str, ...]:
        return tuple(sorted({self.name_of(m) for m in members if m in self.position}))

    def _list(self, head: Any) -> list[Any]:
        from rdflib.collection import Collection

        return list(Collection(self.graph, head))
