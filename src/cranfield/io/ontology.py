"""Ontologies from files and to files: CSV `concept,path` with rules in TOML, OWL, RDF and SKOS."""

from __future__ import annotations

import csv
import io
import json
import urllib.parse
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

from cranfield.data.ontology import Ontology, Requirement, Rules, parse_rules
from cranfield.errors import InputError, MissingExtraError, Problem, UsageError, plural, suggest
from cranfield.io.concepts import read_concepts
from cranfield.io.files import (
    BYTE_ORDER_MARK,
    NAME_CSV,
    RDF,
    Input,
    can_be_read_again,
    csv_rows,
    describe,
    exists,
    inner_suffix,
    open_text,
    read_text,
    read_until_zero,
    write_atomic,
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


Language = Literal["owl", "skos"]


@validate_params
def write_ontology(
    ontology: Ontology, path: str | Path, *, language: Language = "owl"
) -> tuple[str, ...]:
    """Write an ontology in the format of the file's ending; what could not be said is returned.

    RDF files speak OWL, or SKOS on request, which has no rules; neither has CSV. `write_rules`
    keeps these.
    """
    if language not in ("owl", "skos"):
        raise UsageError(f"language={language!r} is not 'owl' or 'skos'")
    suffix = inner_suffix(path)
    rule = RDF if suffix in RDF_FORMATS else NAME_CSV
    rule.check(str(path), "the concept", map(ontology.label, range(len(ontology.nodes))))
    if suffix in RDF_FORMATS:
        data = _rdf(ontology, RDF_FORMATS[suffix], language)
    elif suffix in (".csv", ".tsv"):
        data = _csv(ontology, "\t" if suffix == ".tsv" else ",", str(path))
    else:
        raise InputError.single(
            str(path),
            f"not an ontology by its ending, expected .csv, .tsv, {', '.join(RDF_FORMATS)}",
        )
    write_atomic(Path(path), data)
    lost = len(ontology.rules) if language == "skos" or suffix in (".csv", ".tsv") else 0
    language_name = "SKOS" if suffix in RDF_FORMATS else "CSV"
    return (f"{language_name} has no rules: {plural(lost, 'rule')} not written",) if lost else ()


def convert_ontology(
    source: str | Path,
    path: str | Path,
    *,
    rules: str | Path | None = None,
    skos: bool = False,
    rules_to: str | Path | None = None,
) -> tuple[str, ...]:
    """Write an ontology of a file, or a built-in one, as another file; what is lost is returned.

    `rules_to` is a TOML file that keeps the rules; nothing is lost then.
    """
    ontology = read_ontology(source, rules=rules)
    notes = write_ontology(ontology, path, language="skos" if skos else "owl")
    if rules_to is None:
        return notes
    write_rules(ontology.rules, rules_to)
    return ()


@validate_params
def write_rules(rules: Rules, path: str | Path) -> None:
    """Write rules as TOML, as `read_rules` takes them."""
    blocks = []
    for kind, groups in (("exactly_one", rules.exactly_one), ("disjoint", rules.disjoint)):
        blocks += [f"[[{kind}]]\nconcepts = {_listed(group)}\n" for group in groups]
    blocks += [
        f"[[requires]]\nconcept = {_quoted(r.concept)}\nany_of = {_listed(r.any_of)}\n"
        for r in rules.requires
    ]
    write_atomic(Path(path), "\n".join(blocks).encode())


def _listed(names: Sequence[str]) -> str:
    return f"[{', '.join(map(_quoted, names))}]"


def _quoted(name: str) -> str:
    """A name as a string of TOML: one of JSON, without halves of characters and without DEL."""
    return json.dumps(name, ensure_ascii=False).replace("\x7f", "\\u007f")


def _rdf(ontology: Ontology, form: str, language: Language) -> bytes:
    try:
        import rdflib
    except ModuleNotFoundError:
        raise MissingExtraError("rdflib", "ontology", "Writing OWL, RDF and SKOS") from None
    graph = rdflib.Graph()
    places = [
        rdflib.URIRef(BASE + urllib.parse.quote(ontology.label(n), safe=""))
        for n in range(len(ontology.nodes))
    ]
    skos = language == "skos"
    kind = rdflib.SKOS.Concept if skos else rdflib.OWL.Class
    above = rdflib.SKOS.broader if skos else rdflib.RDFS.subClassOf
    called = rdflib.SKOS.prefLabel if skos else rdflib.RDFS.label
    if not skos:
        graph.add((rdflib.URIRef(CATEGORY), rdflib.RDF.type, rdflib.OWL.AnnotationProperty))
    for node, place in enumerate(places):
        graph.add((place, rdflib.RDF.type, kind))
        graph.add((place, called, rdflib.Literal(ontology.label(node))))
        if node not in ontology.concept_at:
            graph.add((place, rdflib.URIRef(CATEGORY), rdflib.Literal(True)))
        for parent in ontology.parents[node]:
            graph.add((place, above, places[parent]))
    if not skos:
        _OwlRules(rdflib, graph, ontology, places).add()
    return bytes(graph.serialize(format=form, encoding="utf-8"))


class _OwlRules:
    """The rules of an ontology in the words of OWL."""

    def __init__(self, rdf: Any, graph: Any, ontology: Ontology, places: list[Any]) -> None:
        self.rdf, self.graph, self.ontology, self.places = rdf, graph, ontology, places

    def add(self) -> None:
        rdf, rules = self.rdf, self.ontology.rules
        for number, group in enumerate(rules.exactly_one, 1):
            # A photo has one value of a functional property: one of these classes.
            choice = rdf.URIRef(f"{BASE}choice-{number}")
            self.graph.add((choice, rdf.RDF.type, rdf.OWL.ObjectProperty))
            self.graph.add((choice, rdf.RDF.type, rdf.OWL.FunctionalProperty))
            self.graph.add((choice, rdf.RDFS.range, self._union(group)))
        for group in rules.disjoint:
            apart = rdf.BNode()
            self.graph.add((apart, rdf.RDF.type, rdf.OWL.AllDisjointClasses))
            self.graph.add((apart, rdf.OWL.members, self._list(group)))
        needs = rdf.URIRef(f"{BASE}requires")
        for rule in rules.requires:
            limit = rdf.BNode()
            self.graph.add((limit, rdf.RDF.type, rdf.OWL.Restriction))
            self.graph.add((limit, rdf.OWL.onProperty, needs))
            self.graph.add((limit, rdf.OWL.someValuesFrom, self._union(rule.any_of)))
            self.graph.add((self._place(rule.concept), rdf.RDFS.subClassOf, limit))

    def _union(self, names: Sequence[str]) -> Any:
        rdf = self.rdf
        if len(names) == 1:
            return self._place(names[0])
        union = rdf.BNode()
        self.graph.add((union, rdf.RDF.type, rdf.OWL.Class))
        self.graph.add((union, rdf.OWL.unionOf, self._list(names)))
        return union

    def _list(self, names: Sequence[str]) -> Any:
        from rdflib.collection import Collection

        head = self.rdf.BNode()
        Collection(self.graph, head, [self._place(name) for name in names])
        return head

    def _place(self, name: str) -> Any:
        node = self.ontology.node_of(name)
        if node is None:
            raise InputError.single(self.ontology.name, f"a rule names {name!r}, which it has not")
        return self.places[node]


def _csv(ontology: Ontology, delimiter: str, source_name: str) -> bytes:
    """One row for every link above a concept; the way above it is always the first one."""
    parts = [ontology.label(n) for n in range(len(ontology.nodes))]
    parts = [
        part.replace(".", "_") if n in ontology.concept_at else part.rsplit(".", 1)[-1]
        for n, part in enumerate(parts)
    ]
    first: dict[int, str] = {}
    for node in sorted(range(len(parts)), key=ontology.depths.__getitem__):
        above = ontology.parents[node]
        if len(above) > 1 and node not in ontology.concept_at:
            raise InputError.single(
                source_name,
                f"CSV has one way to a category, and {ontology.nodes[node]!r} has several",
            )
        first[node] = ".".join([first[p] for p in above[:1]] + [parts[node]])
    if len(set(first.values())) < len(first):
        paths = list(first.values())
        twice = next(path for i, path in enumerate(paths) if path in paths[:i])
        raise InputError.single(source_name, f"two nodes would have the path {twice!r}")
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerow(["concept", "path"])
    for concept, node in ontology.concept_nodes.items():
        above = ontology.parents[node]
        paths = [f"{first[p]}.{parts[node]}" for p in above] or [parts[node]]
        writer.writerows([concept, path] for path in paths)
    return out.getvalue().encode()
