"""The command `cranfield relatedness`, as a user meets it."""

import csv
import io
import json
import math
from pathlib import Path

import pytest

from cranfield.cli import main
from cranfield.io.costmap import read_costmap
from cranfield.relatedness import methods
from tests.cli.relatedness import answer, run, write_files


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files()
    return tmp_path


def test_pairs_in_the_contracts_shape(place, capsys):
    found = answer(capsys, "--method", "NWD", "--counts", "counts.csv", "pairs.csv")
    assert found["method"] == "NWD"
    assert [set(row) for row in found["pairs"]] == [
        {"word1", "word2", "relatedness", "sense1", "sense2", "human"}
    ] * 3
    assert found["pairs"][1]["relatedness"] == 0.0
    assert found["pairs"][0]["human"] == 3.5
    assert found["spearman"] == 1.0
    assert -1 <= found["pearson"] <= 1


def test_without_people_there_is_no_correlation(place, capsys):
    found = answer(capsys, "-m", "NWD", "--counts", "counts.csv", "--pair", "sea", "beach")
    assert found["spearman"] is None
    assert found["pearson"] is None
    assert found["pairs"][0]["human"] is None


@pytest.mark.wordnet
def test_words_phrases_plurals_and_senses(place, capsys):
    pairs = [
        "--pair",
        "clouds",
        "sky",
        "--pair",
        "still life",
        "painting",
        "--pair",
        "river#n#1",
        "sea#n",
        "--pair",
        "Rivers",
        "Still_Life",
    ]
    found = answer(capsys, "-m", "WUP", *pairs)
    senses = [(row["sense1"], row["sense2"]) for row in found["pairs"]]
    assert senses[0][0] == "cloud#n#1"
    assert senses[1][0] == "still_life#n#1"
    assert senses[2][0] == "river#n#1"
    assert all(0 < row["relatedness"] <= 1 for row in found["pairs"])


@pytest.mark.wordnet
def test_unknown_words_are_listed_and_mapped(place, capsys):
    code, out, err = run(capsys, "-m", "PATH", "--pair", "Partylife", "wedding", "--format", "json")
    assert code == 0
    assert err == "warning: not found, so without a value: Partylife\n"
    found = json.loads(out)
    assert found["pairs"][0]["relatedness"] is None
    assert found["unmapped"] == ["Partylife"]
    Path("map.csv").write_text("concept,word\nPartylife,party\n")
    found = answer(capsys, "-m", "PATH", "--pair", "Partylife", "wedding", "--mapping", "map.csv")
    assert found["pairs"][0]["relatedness"] > 0
    assert found["pairs"][0]["sense1"].startswith("party#n#")


@pytest.mark.wordnet
def test_adjectives_hang_in_no_tree(place, capsys):
    code, out, err = run(capsys, "-m", "WUP HSO", "--pair", "happy", "sad", "--format", "json")
    assert code == 0
    assert err == "warning: no noun or verb, so without a value for WUP: happy, sad\n"
    wup, hso = (method["pairs"][0]["relatedness"] for method in json.loads(out)["methods"])
    assert wup is None
    assert hso > 0


@pytest.mark.wordnet
def test_all_methods_against_people(place, capsys):
    code, out, err = run(capsys, "--human", "pairs.csv")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "Correlation with people's scores"
    assert [line.split()[0] for line in lines[3:12]] == [
        "PATH",
        "WUP",
        "LCH",
        "RES",
        "JCN",
        "LIN",
        "HSO",
        "LESK",
        "VEC",
    ]
    assert len(answer(capsys, "pairs.csv")["methods"]) == 9


def test_correlations_as_figures(place, capsys):
    options = ("-m", "NWD COOC", "--counts", "counts.csv", "--human", "pairs.csv")
    code, out, _ = run(capsys, *options, "--format", "csv")
    assert code == 0
    head, nwd, cooc = csv.reader(io.StringIO(out))
    assert head == [
        "method",
        "spearman",
        "spearman_low",
        "spearman_high",
        "pearson",
        "pearson_low",
        "pearson_high",
        "pairs",
        "left_out",
    ]
    # Three pairs are too few for an interval.
    assert nwd[:4] == ["NWD", "1.0", "", ""]
    assert cooc[-2:] == ["3", "0"]


@pytest.mark.wordnet
def test_senses_in_different_trees_have_no_value(place, capsys):
    found = answer(capsys, "-m", "LCH", "--pair", "car#n#1", "run#v#1")
    assert found["pairs"][0]["relatedness"] is None
    assert found["pairs"][0]["sense1"] is None


def test_tags_give_fts_and_text_gives_fcs(place, capsys):
    found = answer(capsys, "-m", "FTS FCS COOC", "--tags", "tags.csv", "--pair", "sea", "beach")
    fts, fcs, cooc = (method["pairs"][0]["relatedness"] for method in found["methods"])
    assert cooc == pytest.approx(2 / 3)
    assert fcs == 1.0
    assert 0 < fts < 1


def test_counts_are_kept_with_date_and_size(place, capsys):
    first = answer(
        capsys,
        "-m",
        "FTS",
        "--tags",
        "tags.csv",
        "--concepts",
        "concepts.txt",
        "--save-counts",
        "kept.csv",
    )
    head = Path("kept.csv").read_text().splitlines()[:4]
    assert head[0] == "# total: 4"
    assert head[1] == "# source: tags.csv, tags"
    assert head[2].startswith("# date: 2")
    again = answer(capsys, "-m", "NWD", "--counts", "kept.csv", "--concepts", "concepts.txt")
    assert again["costs"] == first["costs"]


@pytest.mark.parametrize(
    "name, text",
    [
        ("long.csv", "item,tag\n1,sea\n1,beach\n2,sea\n"),
        ("values.csv", "item,concept,value\n1,sea,1\n1,beach,0.7\n1,car,0\n2,sea,1\n"),
        ("wide.tsv", "item\tsea\tbeach\tcar\n1\t1\t1\t0\n2\t1\t0\t0\n"),
        ("plain.txt", "1 1 1 0\n2 1 0 0\n"),
    ],
)
def test_forms_of_tag_corpora(place, capsys, name, text):
    Path(name).write_text(text)
    found = answer(capsys, "-m", "COOC", "--tags", name, "--concepts", "concepts.txt", "--quiet")
    assert found["costs"][0] == pytest.approx([0, 0.5, 1])


def test_links(place, capsys):
    Path("links.tsv").write_text(
        "source\ttarget\n"
        + "".join(
            f"{s}\t{t}\n" for s, t in [("a", "Sea"), ("b", "Sea"), ("b", "Beach"), ("c", "Car")]
        )
    )
    found = answer(
        capsys,
        "-m",
        "WLM",
        "--links",
        "links.tsv",
        "--articles",
        "16",
        "--pair",
        "sea",
        "beach",
        "--pair",
        "sea",
        "car",
    )
    assert [row["relatedness"] for row in found["pairs"]] == [pytest.approx(0.75), 0.0]


def test_the_angle_of_link_vectors(place, capsys):
    """Milne and Witten (2008): a link weighs log(articles / articles that link to its target)."""
    links = [("sea", "x"), ("sea", "y"), ("Beach", "x"), ("Beach", "z"), ("car", "x"), ("sky", "q")]
    Path("links.csv").write_text("source,target\n" + "".join(f"{s},{t}\n" for s, t in links))
    pairs = ["--pair", "sea", "beach", "--pair", "sea", "car", "--pair", "sea", "sky"]
    found = answer(capsys, "-m", "WIKI", "--links", "links.csv", *pairs)
    # Eight articles, three of which link to x, one each to y, z and q.
    to_x, to_other = math.log(8 / 3), math.log(8)
    both = to_x**2 / (to_x**2 + to_other**2)
    alone = to_x / math.sqrt(to_x**2 + to_other**2)
    assert [row["relatedness"] for row in found["pairs"]] == pytest.approx([both, alone, 0])
    two = answer(
        capsys, "-m", "WIKI WLM", "--links", "links.csv", "--articles", "80", "--quiet", *pairs
    )
    assert [m["method"] for m in two["methods"]] == ["WIKI", "WLM"]
    assert two["methods"][0]["pairs"][0]["relatedness"] > both


def test_link_vectors_need_a_file_and_enough_articles(place, capsys, monkeypatch):
    Path("links.csv").write_text("source,target\na,sea\nb,sea\nsea,a\nbeach,a\n")
    code, _, err = run(
        capsys, "-m", "WIKI", "--links", "links.csv", "--articles", "1", "--pair", "sea", "beach"
    )
    assert (code, "2 links lead to one article" in err) == (2, True)
    code, _, err = run(capsys, "-m", "WIKI", "--links", "-", "--pair", "sea", "beach")
    assert (code, err) == (2, "WIKI reads --links twice, which a pipe cannot: give a file\n")


def test_tree(place, capsys):
    found = answer(
        capsys,
        "-m",
        "TREE",
        "--ontology",
        "pto-2009",
        "--pair",
        "Lake",
        "River",
        "--pair",
        "Lake",
        "Partylife",
    )
    near, far = (row["relatedness"] for row in found["pairs"])
    assert near > far >= 0


def test_a_tree_does_not_mind_case_and_underscores(place, capsys):
    pairs = ("--pair", "still life", "SEA", "--pair", "Still_Life", "Sea")
    found = answer(capsys, "-m", "TREE", "--ontology", "pto-2009", *pairs)
    loose, exact = (row["relatedness"] for row in found["pairs"])
    assert loose == exact


def test_a_tree_over_the_concepts_of_a_built_in_ontology(place, capsys):
    found = answer(capsys, "-m", "TREE", "--ontology", "pto-2009", "--concepts", "pto-2009")
    assert len(found["concepts"]) == 53
    row = found["costs"][found["concepts"].index("Landscape_Nature")]
    assert row[found["concepts"].index("Trees")] == pytest.approx(13 / 14)


def test_a_cost_map_is_written_whole_and_read_again(place, capsys):
    code, out, err = run(
        capsys, "-m", "NWD", "--counts", "counts.csv", "--concepts", "concepts.txt", "-o", "map.csv"
    )
    assert (code, out, err) == (0, "", "wrote map.csv (4 lines)\n")
    costs = read_costmap("map.csv")
    assert costs.concepts == ("sea", "beach", "car")
    assert costs.cost("sea", "car") == 1.0
    code, out, _ = run(
        capsys,
        "-m",
        "NWD",
        "--counts",
        "counts.csv",
        "--concepts",
        "concepts.txt",
        "--format",
        "csv",
    )
    assert out == Path("map.csv").read_text()


@pytest.mark.wordnet
@pytest.mark.parametrize(
    "method", ["PATH", "WUP", "LCH", "RES", "JCN", "LIN", "HSO", "LESK", "VEC"]
)
def test_every_wordnet_method_makes_a_cost_map(place, capsys, method):
    Path("concepts.txt").write_text("sea\nlake\ncar\nautomobile\nPartylife\n")
    code, _, err = run(capsys, "-m", method, "--concepts", "concepts.txt", "-o", "map.csv")
    assert code == 0
    assert err.startswith("warning: not found, so at cost 1 from all others: Partylife\n")
    costs = read_costmap("map.csv")
    assert costs.cost("car", "automobile") == pytest.approx(0, abs=1e-9)
    assert 0 < costs.cost("sea", "lake") < 1
    assert costs.cost("sea", "Partylife") == 1
    # What two concepts cost does not depend on the others.
    Path("concepts.txt").write_text("lake\nsea\n")
    run(capsys, "-m", method, "--concepts", "concepts.txt", "-o", "small.csv")
    small = read_costmap("small.csv").cost("sea", "lake")
    assert small == pytest.approx(costs.cost("sea", "lake"), abs=1e-12)


@pytest.mark.wordnet
@pytest.mark.parametrize("method", [m.name for m in methods("wordnet")])
def test_two_names_of_one_sense_cost_nothing(place, capsys, method):
    # The sense that rock shares with rock-and-roll was never tagged in SemCor, and the glosses
    # around other senses of fabric and framework overlap more than those of the shared one.
    Path("names.txt").write_text("rock\nrock-and-roll\nfabric\nframework\n")
    costs = answer(capsys, "-m", method, "--concepts", "names.txt")["costs"]
    assert (costs[0][1], costs[2][3]) == (0.0, 0.0)
    assert costs[0][2] > 0


def test_the_cost_map_plugs_into_label(place, capsys):
    run(
        capsys, "-m", "NWD", "--counts", "counts.csv", "--concepts", "concepts.txt", "-o", "fts.csv"
    )
    Path("truth.csv").write_text("item,sea,beach,car\n1,1,0,0\n2,0,1,1\n")
    Path("run.csv").write_text("item,sea,beach,car\n1,0,0.9,0\n2,0,1,0.8\n")
    code = main(
        [
            "label",
            "truth.csv",
            "run.csv",
            "-m",
            "OS(cost='fts') SRP",
            "--costmap",
            "fts=fts.csv",
            "--format",
            "json",
        ]
    )
    out, _ = capsys.readouterr()
    assert code == 0
    scores = json.loads(out)["runs"][0]["mean"]
    assert len(scores) == 2
    assert all(0 < value <= 1 for value in scores.values())


def test_list(place, capsys):
    code, out, _ = run(capsys, "--list")
    assert code == 0
    for name in ("PATH", "VEC", "WLM", "NWD", "FTS", "FCS", "TREE", "COOC"):
        assert name in out
    listed = json.loads(run(capsys, "--list", "--format", "json")[1])["methods"]
    assert all(m["source"] and m["range"] and m["needs"] for m in listed)
    assert next(m for m in listed if m["name"] == "RES")["range"] == [0.0, None]
