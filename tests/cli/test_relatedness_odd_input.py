"""Odd words and odd files: `cranfield relatedness` answers with a value or a clear refusal."""

import json
import math
from pathlib import Path

import pytest

from cranfield.cli import main
from tests.cli.relatedness import run

PAIR = ("--pair", "sea", "beach")


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def values(capsys, *argv):
    code, out, _ = run(capsys, *argv, "--format", "json", "--quiet")
    assert code == 0
    found = json.loads(out)
    return [[row["relatedness"] for row in m["pairs"]] for m in found.get("methods", [found])]


def refusal(capsys, *argv):
    code, out, err = run(capsys, *argv)
    assert (code, out) == (2, "")
    return err


@pytest.mark.wordnet
@pytest.mark.parametrize("word", ["river#N#1", "RIVER#n#1", "River", " rivers "])
def test_case_does_not_matter(capsys, word):
    code, out, err = run(capsys, "-m", "PATH", "--pair", word, "river#n#1", "--format", "json")
    assert (code, err) == (0, "")
    pair = json.loads(out)["pairs"][0]
    assert (pair["relatedness"], pair["sense1"]) == (1.0, "river#n#1")


@pytest.mark.wordnet
@pytest.mark.parametrize(
    "word",
    [
        "river#n#²",
        "river#n#0",
        "river#n#-1",
        "river#n#",
        "#n#1",
        "river#x#1",
        "café",
        "#",
        f"river#n#{'9' * 5000}",
    ],
)
def test_words_that_are_none_have_no_value(capsys, word):
    code, out, err = run(capsys, "-m", "PATH", "--pair", word, "sea", "--format", "json")
    assert code == 0
    assert err == f"warning: not found, so without a value: {word}\n"
    assert json.loads(out)["pairs"][0]["relatedness"] is None


@pytest.mark.wordnet
@pytest.mark.parametrize(
    ("word", "sense"),
    [
        ("ice-cream", "ice_cream#n#1"),
        ("hot-dogs", "hot_dog#n#1"),
        ("brother-in-law", "brother-in-law#n#1"),
    ],
)
def test_hyphens_and_blanks_of_compounds(capsys, word, sense):
    code, out, err = run(capsys, "-m", "PATH", "--pair", word, sense, "--format", "json")
    assert (code, err) == (0, "")
    pair = json.loads(out)["pairs"][0]
    assert (pair["relatedness"], pair["sense1"]) == (1.0, sense)


@pytest.mark.wordnet
def test_a_mapping_that_is_not_built_in(capsys):
    assert refusal(capsys, "-m", "PATH", "--mapping", "PTO", *PAIR) == (
        "PTO: no such file, and no built-in mapping of that name. Did you mean 'pto'?\n"
    )


HEAD = "# total: 100\nterm,with,count\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEAD + "sea,,²\n", "c.csv:3: count '²' is not a whole number"),
        (HEAD + "sea,,٣\n", "c.csv:3: count '٣' is not a whole number"),
        (HEAD + "sea,,nan\n", "c.csv:3: count 'nan' is not a whole number"),
        (HEAD + f"sea,,{'9' * 5000}\n", "c.csv:3: count '999999"),
        ("# total: ²\n" + HEAD[13:], "c.csv: the size of the corpus is missing"),
        (f"# total: {'9' * 5000}\n" + HEAD[13:], "c.csv: the size of the corpus is missing"),
        ("# total: 50\n" + HEAD, "c.csv:2: total is given twice"),
        (HEAD + "beach,,1\n\nsea,,101\n", "c.csv:5: 'sea' occurs 101 times in a corpus of 100"),
        (HEAD + "beach,,1\nbeach,sea,1\n", "c.csv:4: 'sea' is counted with other terms but not"),
        (HEAD + "sea,,5\nbeach,,5\nsea,beach,2\nbeach,sea,3\n", "c.csv:6: 'beach' with 'sea' coun"),
    ],
)
def test_counts_that_are_none(capsys, text, message):
    Path("c.csv").write_text(text)
    assert refusal(capsys, "-m", "NWD", "--counts", "c.csv", *PAIR).startswith(message)


def test_estimated_joint_counts_stay_in_range(capsys):
    Path("c.csv").write_text(HEAD + "sea,,10\nbeach,,8\nsea,beach,60\n")
    (nwd,), (cooc,) = values(capsys, "-m", "NWD COOC", "--counts", "c.csv", *PAIR)
    assert 0 < nwd < 1
    assert cooc == pytest.approx(8 / 10)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "Word 1,Word 2,Human (mean)\nlove,sex,6.77\n",
            "p.csv:1: score 'Human (mean)' is not a "
            "number (expected: word1,word2[,human], and a header of these names or none)",
        ),
        ("word1;word2\nsea;beach\n", "p.csv:1: not a pair of words"),
    ],
)
def test_pairs_that_are_none(capsys, text, message):
    Path("p.csv").write_text(text)
    Path("c.csv").write_text(HEAD)
    assert refusal(capsys, "-m", "NWD", "--counts", "c.csv", "p.csv").startswith(message)


def test_a_very_long_name_is_no_crash(capsys):
    name = "x" * 200_000
    Path("p.csv").write_text(f"word1,word2\n{name},sea\n")
    Path("c.csv").write_text(HEAD + f"{name},,5\nsea,,5\n")
    Path("concepts.csv").write_text(f"concept\n{name}\nsea\n")
    Path("m.csv").write_text(f",sea,{name}\nsea,0,1\n{name},1,0\n")
    told = refusal(capsys, "-m", "NWD", "--counts", "c.csv", "--pair", "sea", "sky")
    assert told.startswith("c.csv:")
    assert "field larger than field limit" in told
    assert refusal(capsys, "-m", "PATH", "p.csv").startswith("p.csv:2: ")
    assert refusal(capsys, "-m", "PATH", "--concepts", "concepts.csv").startswith("concepts.csv:2:")
    assert main(["costmap", "show", "m.csv"]) == 2
    assert capsys.readouterr().err.startswith("m.csv:1: ")


def test_a_cost_map_names_its_concepts(capsys):
    Path("m.csv").write_text("concept,a,,c\na,0,0.5,1\n,0.5,0,0.2\nc,1,0.2,0\n")
    assert main(["costmap", "show", "m.csv"]) == 2
    assert capsys.readouterr().err.startswith("m.csv:1: column 3 has no name")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,tags\n", "t.csv: holds no item"),
        ("item,tags\n1,sea\n2,\n1,beach\n", "t.csv:4: item '1' comes back"),
        ("item,sea,beach\n1,1,0\n1,0,1\n", "t.csv:3: item '1' comes back"),
        ("item,sea,Sea,beach\n1,1,0,1\n", "t.csv:1: column 'sea' is there twice"),
        ("item,sea,,beach\n1,1,0,1\n", "t.csv:1: a column has no name"),
        ("item,sea,beach\n1,nan,1\n", "t.csv:2: value 'nan' is not a number"),
        ("item,sea,beach\n1,,1\n", "t.csv:2: value '' is not a number"),
    ],
)
def test_tag_corpora_that_are_none(capsys, text, message):
    Path("t.csv").write_text(text)
    options = ("-m", "FTS", "--tags", "t.csv", "--save-counts", "kept.csv", "-o", "o.csv")
    assert refusal(capsys, *options, *PAIR).startswith(message)
    assert not Path("kept.csv").exists()
    assert not Path("o.csv").exists()


def test_items_without_tags_with_doubled_ones_and_with_a_long_text(capsys):
    long = "x " * 100_000
    Path("t.csv").write_text(f"item,tags,text\n1,sea beach,\n2,,\n3,sea sea,{long}beach\n4,car,\n")
    assert values(capsys, "-m", "COOC FCS", "--tags", "t.csv", *PAIR) == [[0.5], [1.0]]


TAGS = "item,tags,text\n1,sea beach,\n2,sea,a beach\n3,car,\n"


def test_a_pipe_is_not_counted_twice(capsys, monkeypatch):
    Path("t.csv").write_text(TAGS)
    with Path("t.csv").open() as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert "ask for it by itself" in refusal(capsys, "-m", "FTS FCS", "--tags", "-", *PAIR)
        assert values(capsys, "-m", "FCS", "--tags", "-", *PAIR) == [[1.0]]


def test_counts_that_would_overwrite_each_other_are_not_saved(capsys):
    Path("t.csv").write_text(TAGS)
    options = ("--tags", "t.csv", "--save-counts", "kept.csv", *PAIR)
    assert "ask for FCS by itself" in refusal(capsys, "-m", "FTS FCS", *options)
    assert "there is no such method" in refusal(capsys, "-m", "TREE", *options)
    assert not Path("kept.csv").exists()


def test_options_that_no_method_reads_are_told(capsys):
    Path("t.csv").write_text(TAGS)
    options = ("-m", "FTS", "--tags", "t.csv", "--articles", "9", "--ontology", "x")
    code, _, err = run(capsys, *options, *PAIR)
    assert code == 0
    assert err == (
        "warning: --articles, --ontology not read: no use to FTS (choose others with --method)\n"
    )


def test_concepts_that_no_item_has_are_listed(capsys):
    Path("t.csv").write_text(TAGS)
    Path("concepts.txt").write_text("sea\nbeach\nunicorn\n")
    options = ("-m", "FTS", "--tags", "t.csv", "--concepts", "concepts.txt")
    code, out, err = run(capsys, *options, "--format", "json")
    assert code == 0
    assert err == "warning: counted 0 times, so unrelated to all others: unicorn\n"
    found = json.loads(out)
    assert found["unmapped"] == ["unicorn"]
    assert found["costs"][2] == [1.0, 1.0, 0.0]


def test_a_map_for_tabs_is_read_again(capsys):
    Path("t.csv").write_text(TAGS)
    Path("concepts.txt").write_text("sea\nbeach\n")
    options = ("-m", "FTS", "--tags", "t.csv", "--concepts", "concepts.txt")
    assert run(capsys, *options, "-o", "map.tsv")[0] == 0
    assert Path("map.tsv").read_text().startswith("concept\tsea\tbeach\n")
    assert main(["costmap", "show", "map.tsv"]) == 0


LINKS = "source,target\na,sea\nb,sea\nc,sea\nb,beach\nb,beach\nsea,sea\n"


def test_links_doubled_to_oneself_and_in_either_order(capsys):
    Path("l.csv").write_text(LINKS)
    Path("turned.csv").write_text(
        "\n".join(",".join(reversed(line.split(","))) for line in LINKS.splitlines())
    )
    # Four articles link to sea, one of them to beach; there are five in all.
    expected = [[pytest.approx(1 - math.log(4) / math.log(5))]]
    assert values(capsys, "-m", "WLM", "--links", "l.csv", *PAIR) == expected
    assert values(capsys, "-m", "WLM", "--links", "turned.csv", *PAIR) == expected


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("", [], "l.csv: holds no link"),
        ("source,target\n", [], "l.csv: holds no link"),
        ("a,sea\n,sea\n", [], "l.csv:2: an empty name, expected: source,target"),
        ("a,sea\nb\n", [], "l.csv:2: 1 columns, expected: source,target"),
        (LINKS, ["--articles", "3"], "4 articles link to 'sea', but there are said to be 3"),
        (
            LINKS,
            ["--articles", "0"],
            "cranfield concepts relatedness: argument --articles: '0' is not a",
        ),
    ],
)
def test_link_tables_that_are_none(capsys, text, options, message):
    Path("l.csv").write_text(text)
    assert refusal(capsys, "-m", "WLM", "--links", "l.csv", *options, *PAIR).startswith(message)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("c.txt", "sea\nbeach\n"),
        ("c.csv", "Concept\nsea\nbeach\n"),
        ("c.csv", "\ufeffnumber,concept\r\n1,sea\r\n\r\n2, beach \r\n"),
        ("c.tsv", "number\tconcept\n1\tsea\n2\tbeach\n"),
        ("c.txt", "# a remark\nsea\rbeach\r"),
    ],
)
def test_forms_of_lists_of_concepts(capsys, name, text):
    Path(name).write_text(text, newline="")
    Path("counts.csv").write_text(HEAD + "sea,,5\nbeach,,5\nsea,beach,2\n")
    options = ("-m", "NWD", "--counts", "counts.csv", "--concepts", name, "--format", "json")
    code, out, err = run(capsys, *options)
    assert (code, err) == (0, "")
    assert json.loads(out)["concepts"] == ["sea", "beach"]


@pytest.mark.wordnet
def test_a_mapping_with_tabs(capsys):
    Path("m.tsv").write_text("Concept\tWord\nPartylife\tparty\n")
    options = ("-m", "PATH", "--mapping", "m.tsv", "--pair", "Partylife", "party")
    assert values(capsys, *options) == [[1.0]]
