"""Vocabularies are read from ontologies and from plain lists."""

from cranfield.io.ontology import read_vocabulary


def test_a_list_has_no_structure_and_a_table_of_paths_has(tmp_path):
    names, paths = tmp_path / "names.csv", tmp_path / "paths.csv"
    names.write_text("concept\nSt. Paul\nSea\n")
    paths.write_text("concept,path\nSea,Water.Sea\n")
    assert read_vocabulary(names).concepts == ("St. Paul", "Sea")
    assert read_vocabulary(names).levels == 1
    assert read_vocabulary(paths).levels == 2
    assert read_vocabulary("pto-2009").levels == 3


def test_a_list_can_have_rules(tmp_path):
    names, rules = tmp_path / "names.txt", tmp_path / "rules.toml"
    names.write_text("Day\nNight\n")
    rules.write_text('[[disjoint]]\nconcepts = ["Day", "Night"]\n')
    assert read_vocabulary(names, rules=rules).violations({"Day", "Night"})
