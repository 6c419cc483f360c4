"""Ontologies as files: OWL and SKOS, CSV `concept,path`, and rules in TOML."""

from __future__ import annotations

import csv
import io
import json
import urllib.parse
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from cranfield.data.ontology import Ontology, Rules
from cranfield.errors import InputError, MissingExtraError, UsageError, plural
from cranfield.io.files import inner_suffix, write_atomic
from cranfield.io.ids import NAME_CSV, RDF
from cranfield.io.ontology import BASE, CATEGORY, RDF_FORMATS, read_ontology
from cranfield.validation import validate_params

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
