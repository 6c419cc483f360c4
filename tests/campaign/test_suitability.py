"""The requirements on test collections: what a program can tell of a folder."""

import json

import pytest

import cranfield as cf
from cranfield.cli import main
from cranfield.io.samples import SAMPLE


def states(folder):
    rows = cf.check_collection(folder).requirements
    assert [row.number for row in rows] == list(range(1, 12))
    return {row.number: (row.state, row.figure) for row in rows}


def test_the_sample(capsys):
    found = states(SAMPLE)
    assert found[4][0] == "met"
    assert f"differences from {cf.stats.detectable_effect(80):.2f}" in found[4][1]
    assert found[7] == (
        "met",
        "1120 of 1120 items with a text; 80 of 80 topics with a text; "
        "0 of 80 topics with a narrative",
    )
    assert found[8] == ("met", "CC-BY-4.0")
    assert found[10] == ("met", "100% of the cells are judged; items that break a rule: 0")
    assert main(["collection", "check", str(SAMPLE), "--format", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["requirements"]) == 11


def test_what_a_small_collection_lacks(tmp_path):
    (tmp_path / "truth.csv").write_text("item,Sky,Sea\na,1,0\nb,1,1\nc,?,0\n")
    (tmp_path / "rules.toml").write_text('[[disjoint]]\nconcepts = ["Sky", "Sea"]\n')
    (tmp_path / "collection.toml").write_text(
        'name = "small"\ntruth = "truth.csv"\nrules = "rules.toml"\n'
    )
    found = states(tmp_path)
    assert found[4][0] == "open"
    assert found[5] == ("open", "no splits are named")
    assert found[7] == ("open", "no texts are named")
    assert found[8] == ("open", "no licence is named")
    assert found[10] == ("open", "83% of the cells are judged; items that break a rule: 1")
    assert cf.check_collection(tmp_path).count == 0


@pytest.mark.parametrize(
    "line, text",
    [
        ("topic,title,description,narrative", "bikes: People on bikes"),
        ("topic,title,text,narrative", "People on bikes"),
    ],
)
def test_topics_have_a_title_and_a_description(tmp_path, line, text):
    (tmp_path / "topics.csv").write_text(f"{line}\nt1,bikes,People on bikes,No motorbikes\n")
    (tmp_path / "qrels.txt").write_text("t1 0 a 1\n")
    (tmp_path / "collection.toml").write_text(
        'name = "c"\ntopics = "topics.csv"\njudgements = "qrels.txt"\n'
    )
    from cranfield.campaign.item_texts import read_texts

    texts = read_texts(cf.read_collection(tmp_path))
    assert texts.topics == {"t1": text}
    assert texts.narratives == {"t1": "No motorbikes"}
    assert "1 of 1 topics with a narrative" in states(tmp_path)[7][1]
