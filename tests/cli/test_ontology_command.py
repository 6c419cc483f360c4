"""`cranfield ontology`: checks, views, and every kind of file."""

import io
import json

import pytest

from cranfield.cli import main
from cranfield.data.ontology import Requirement
from cranfield.io.ontology import parse_ontology, read_ontology
from cranfield.ontologies import BUILT_IN


def run(capsys, *argv):
    code = main(["ontology", *argv])
    out, err = capsys.readouterr()
    assert "Traceback" not in err
    return code, out, err


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_ontologies_are_sound(capsys, name):
    code, out, _ = run(capsys, "check", name)
    assert code == 0
    assert "no cycle and no contradiction" in out


def test_show(capsys):
    code, out, _ = run(capsys, "show", "pto-2009")
    assert code == 0
    assert "53 concepts, 11 categories, 3 levels" in out
    assert "Portrait requires one of" in out
    code, out, _ = run(capsys, "show", "pto-2009", "Lake")
    assert "needs its ancestors  Water" in out
    code, out, _ = run(capsys, "show", "pto-2009", "Landscape_Nature", "--format", "json")
    assert json.loads(out)["costs"]["Trees"] == 13 / 14
    code, _, err = run(capsys, "show", "pto-2009", "Lakes")
    assert code == 2
    assert "Did you mean 'Lake'?" in err


TURTLE = """
@prefix : <http://example.org/photo#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Water a owl:Class . :Sky a owl:Class . :Place a owl:Class .
:Lake a owl:Class ; rdfs:subClassOf :Water . :Sea a owl:Class ; rdfs:subClassOf :Water .
:Indoor a owl:Class ; rdfs:subClassOf :Place . :Outdoor a owl:Class ; rdfs:subClassOf :Place .
:Person a owl:Class . :Animal a owl:Class ; rdfs:label "Animals"@en .
:Place owl:disjointUnionOf ( :Indoor :Outdoor ) .
:Lake owl:disjointWith :Sea .
[] a owl:AllDisjointClasses ; owl:members ( :Person :Animal :Water ) .
:Portrait a owl:Class ; rdfs:subClassOf [ a owl:Class ; owl:unionOf (
  [ a owl:Restriction ; owl:onProperty :has ; owl:someValuesFrom :Person ]
  [ a owl:Restriction ; owl:onProperty :has ; owl:someValuesFrom :Animal ] ) ] .
"""


def test_owl(tmp_path, capsys):
    path = tmp_path / "photo.ttl"
    path.write_text(TURTLE)
    ontology = read_ontology(path)
    assert ontology.ancestors("Lake") == ("Water",)
    assert ontology.rules.exactly_one == (("Indoor", "Outdoor"),)
    assert set(ontology.rules.disjoint) == {("Lake", "Sea"), ("Animals", "Person", "Water")}
    assert ontology.rules.requires == (Requirement("Portrait", ("Animals", "Person")),)
    assert ontology.cost_map.cost("Lake", "Sea") == 2 / 6
    code, _, _ = run(capsys, "check", str(path))
    assert code == 0


def test_owl_in_xml_says_the_same(tmp_path):
    import rdflib

    turtle, xml = tmp_path / "photo.ttl", tmp_path / "photo.owl"
    turtle.write_text(TURTLE)
    rdflib.Graph().parse(turtle).serialize(xml, format="xml")
    one, other = read_ontology(turtle), read_ontology(xml)
    assert one.nodes == other.nodes
    assert one.parents == other.parents
    assert one.rules == other.rules


def test_skos(tmp_path):
    path = tmp_path / "photo.ttl"
    path.write_text(
        "@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"
        "@prefix : <http://example.org/> .\n"
        ':water a skos:Concept ; skos:prefLabel "Water"@en , "Wasser"@de .\n'
        ":lake a skos:Concept ; skos:broader :water .\n"
        ":sea a skos:Concept . :water skos:narrower :sea .\n"
    )
    ontology = read_ontology(path)
    assert ontology.concepts == ("lake", "sea", "Water")
    assert ontology.ancestors("lake") == ontology.ancestors("sea") == ("Water",)


def test_an_acyclic_graph_has_several_parents(tmp_path):
    path = tmp_path / "graph.csv"
    path.write_text("concept,path\nHouse,House\nBoat,Boat\nHouseboat,House.HB\nHouseboat,Boat.HB\n")
    ontology = read_ontology(path)
    assert ontology.ancestors("Houseboat") == ("House", "Boat")
    # L = 2: a deep link costs 1/6, House to Boat goes through the houseboat.
    assert ontology.cost_map.cost("Houseboat", "Boat") == 1 / 6
    assert ontology.cost_map.cost("House", "Boat") == 2 / 6


def test_a_subset_of_the_concepts(tmp_path):
    ontology = read_ontology("pto-2009").restricted_to(["Sky", "Lake", "Indoor", "Outdoor"])
    assert ontology.ancestors("Lake") == ()
    assert {v.concept for v in ontology.violations({"Lake", "Indoor", "Outdoor"})} == {
        "Indoor", "Outdoor",
    }  # fmt: skip
    assert ontology.cost_map.cost("Sky", "Indoor") == 12 / 14


UNSOUND = {
    "cycle": (
        "concept,path\nA,A\nB,A.B\nA,A.B.A\n",
        "",
        "the is-a links form a cycle",
    ),
    "disjoint with its ancestor": (
        "concept,path\nWater,Water\nLake,Water.Lake\n",
        '[[disjoint]]\nconcepts = ["Water", "Lake"]\n',
        "'Lake' can never be assigned: with its ancestors Water it breaks 'disjoint",
    ),
    "requires what it excludes": (
        "concept,path\nPortrait,Portrait\nPerson,Person\n",
        '[[requires]]\nconcept = "Portrait"\nany_of = ["Person"]\n'
        '[[disjoint]]\nconcepts = ["Portrait", "Person"]\n',
        "'Portrait' can never be assigned: every way to meet what it requires",
    ),
    "unknown concept": (
        "concept,path\nSky,Sky\nSea,Sea\n",
        '[[disjoint]]\nconcepts = ["Sky", "Seas"]\n',
        "'Seas' in 'disjoint' is not a concept or category. Did you mean 'Sea'?",
    ),
    "lonely group": (
        "concept,path\nSky,Sky\n",
        '[[exactly_one]]\nconcepts = ["Sky"]\n',
        "has fewer than 2 members",
    ),
}


@pytest.mark.parametrize("kind", UNSOUND)
def test_unsound_ontologies_fail_the_check(tmp_path, capsys, kind):
    paths, rules, message = UNSOUND[kind]
    (tmp_path / "o.csv").write_text(paths)
    (tmp_path / "r.toml").write_text(rules)
    argv = (str(tmp_path / "o.csv"), "--rules", str(tmp_path / "r.toml"))
    code, out, _ = run(capsys, "check", *argv)
    assert code == 1
    assert message in out
    code, out, _ = run(capsys, "check", *argv, "--format", "json")
    assert any(message in text for text in json.loads(out)["problems"])
    code, out, err = run(capsys, "show", *argv)
    assert code == 2
    assert message in err
    assert out == ""


BAD_FILES = {
    "empty.csv": ("", "is empty, expected a header"),
    "header.csv": ("name,path\na,b\n", "header.csv:1: header 'name,path' lacks 'concept'"),
    "part.csv": ("concept,path\nSky,A..Sky\n", "part.csv:2: path 'A..Sky' has an empty part"),
    "cells.csv": ("concept,path\nSky\n", "cells.csv:2: 1 values, expected 2"),
    "twice.csv": ("concept,path\nSky,S\nSky,S\n", "twice.csv:3: concept 'Sky' given twice"),
    "nameless.csv": ("concept,path\n,S\n", "nameless.csv:2: the concept has no name"),
    "broken.ttl": ("this is not turtle", "broken.ttl: not valid RDF (turtle)"),
    "broken.owl": ("<rdf", "broken.owl: not valid RDF (xml)"),
    "nothing.ttl": ("", "nothing.ttl: has no owl:Class and no skos:Concept"),
    "other.docx": ("x", "not an ontology by its ending"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_malformed_ontologies(tmp_path, capsys, name):
    text, message = BAD_FILES[name]
    (tmp_path / name).write_text(text)
    code, out, err = run(capsys, "check", str(tmp_path / name))
    assert code == 2
    assert message in err
    assert out == ""


BAD_RULES = {
    "syntax": ("[[disjoint]]\nconcepts = [\n", "rules.toml:"),
    "kind": ('[[disjointed]]\nconcepts = ["a"]\n', "Did you mean 'disjoint'?"),
    "key": ('[[disjoint]]\nconcept = ["a", "b"]\n', "unknown key 'concept'"),
    "list": ('[[disjoint]]\nconcepts = "Sky"\n', "[[disjoint]] number 1 lacks a list such as"),
    "table": ('[disjoint]\nconcepts = ["a"]\n', "disjoint is written as [[disjoint]]"),
    "requires": ('[[requires]]\nany_of = ["Sky"]\n', "lacks a line such as concept ="),
}


@pytest.mark.parametrize("kind", BAD_RULES)
def test_malformed_rules(tmp_path, capsys, kind):
    text, message = BAD_RULES[kind]
    (tmp_path / "rules.toml").write_text(text)
    code, _, err = run(capsys, "check", "pto-2009", "--rules", str(tmp_path / "rules.toml"))
    assert code == 2
    assert message in err


def test_a_category_in_a_rule_stands_for_its_concepts(tmp_path):
    (tmp_path / "o.csv").write_text(
        "concept,path\nLake,Nature.Lake\nSea,Nature.Sea\nCar,City.Car\n"
    )
    (tmp_path / "r.toml").write_text('[[disjoint]]\nconcepts = ["Nature", "City"]\n')
    ontology = parse_ontology(tmp_path / "o.csv", rules=tmp_path / "r.toml").checked()
    assert ontology.violations({"Lake", "Sea"}) == []
    assert {v.concept for v in ontology.violations({"Lake", "Car"})} == {"Lake", "Car"}


FUNCTIONAL = """
@prefix : <http://example.org/photo#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Light a owl:Class .
:Neutral a owl:Class ; rdfs:subClassOf :Light . :Dark a owl:Class ; rdfs:subClassOf :Light .
:Bright a owl:Class ; rdfs:subClassOf :Light . :Bright owl:disjointWith :Dark .
:Day a owl:Class . :Night a owl:Class . :Dog a owl:Class .
:hasLight a owl:ObjectProperty , owl:FunctionalProperty ; rdfs:range :Light .
:hasTime a owl:FunctionalProperty ; rdfs:range [ a owl:Class ; owl:unionOf ( :Day :Night ) ] .
:hasDog a owl:ObjectProperty ; rdfs:range :Dog .
"""


def test_a_functional_property_means_exactly_one(tmp_path):
    """No 5.5.1.2: hasIllumination is functional, so that each photo has one illumination."""
    path = tmp_path / "light.ttl"
    path.write_text(FUNCTIONAL)
    rules = read_ontology(path).rules
    assert rules.exactly_one == (("Bright", "Dark", "Neutral"), ("Day", "Night"))
    assert rules.disjoint == ()


@pytest.mark.filterwarnings("ignore::DeprecationWarning:rdflib")
@pytest.mark.parametrize("ending", ["csv", "tsv", "owl", "ttl", "nt", "n3", "jsonld"])
@pytest.mark.parametrize("name", ["pto-2009", "pto-2011-listed"])
def test_ontologies_are_written_and_read_again(tmp_path, capsys, name, ending):
    out, kept = tmp_path / f"out.{ending}", tmp_path / "rules.toml"
    code, _, err = run(capsys, "convert", name, str(out), "--rules-to", str(kept))
    assert (code, err) == (0, f"wrote {out}\nwrote {kept}\n")
    table = ending in ("csv", "tsv")
    one, other = read_ontology(name), read_ontology(out, rules=kept if table else None)
    assert set(one.concepts) == set(other.concepts)
    assert len(one.nodes) == len(other.nodes)
    assert (other.cost_map.aligned(one.concepts) == one.cost_map.costs).all()
    for concept in one.concepts:
        assert set(one.ancestors(concept)) == set(other.ancestors(concept))
    for kind in ("exactly_one", "disjoint"):
        groups = [{frozenset(g) for g in getattr(o.rules, kind)} for o in (one, other)]
        assert groups[0] == groups[1]
    needs = [{(r.concept, frozenset(r.any_of)) for r in o.rules.requires} for o in (one, other)]
    assert needs[0] == needs[1]


def test_skos_is_written_without_rules(tmp_path, capsys):
    out = tmp_path / "out.ttl"
    code, _, err = run(capsys, "convert", "pto-2009", str(out), "--skos")
    assert code == 0
    assert err.startswith("warning: SKOS has no rules: 7 rules not written (keep them with --rul")
    assert "skos:broader" in out.read_text()
    one, other = read_ontology("pto-2009"), read_ontology(out)
    assert (other.cost_map.aligned(one.concepts) == one.cost_map.costs).all()
    assert len(other.rules) == 0


def test_what_cannot_be_written_is_said(tmp_path, capsys):
    code, _, err = run(capsys, "convert", "pto-2009", str(tmp_path / "out.txt"))
    assert (code, "not an ontology by its ending" in err) == (2, True)
    graph = tmp_path / "graph.csv"
    graph.write_text(
        "concept,path\nHouse,House\nBoat,Boat\nHouseboat,House.HB\nHouseboat,Boat.HB\n"
    )
    again = tmp_path / "again.csv"
    assert run(capsys, "convert", str(graph), str(again))[0] == 0
    assert read_ontology(again).ancestors("Houseboat") == ("House", "Boat")


@pytest.mark.filterwarnings("ignore::DeprecationWarning:rdflib")
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("ending", ["ttl", "owl", "nt", "jsonld", "csv", "tsv"])
def test_an_ontology_through_a_pipe_is_known_by_its_start(
    tmp_path, capsys, monkeypatch, ending, mark
):
    out = tmp_path / f"out.{ending}"
    run(capsys, "convert", "pto-2009", str(out), "--quiet")
    data = mark + out.read_bytes()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(data)))
    code, printed, err = run(capsys, "check", "-", "--format", "json")
    assert (code, err) == (0, "")
    assert json.loads(printed)["concepts"] == 53
    marked = tmp_path / f"marked.{ending}"
    marked.write_bytes(data)
    assert len(read_ontology(marked).concepts) == 53
