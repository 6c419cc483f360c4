"""Odd words and odd files: `cranfield relatedness` answers with a value or a clear refusal."""

import json
from pathlib import Path

import pytest

from cranfield.cli import main
from cranfield.errors import CranfieldError
from cranfield.relatedness.wordnet.locate import find_database


def has_wordnet() -> bool:
    try:
        find_database()
    except CranfieldError:
        return False
    return True


needs_wordnet = pytest.mark.skipif(
    not has_wordnet(), reason="needs the WordNet database: apt-get install wordnet-base"
)
PAIR = ("--pair", "sea", "beach")


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(capsys, *argv):
    code = main(["relatedness", *argv])
    out, err = capsys.readouterr()
    return code, out, err


def values(capsys, *argv):
    code, out, _ = run(capsys, *argv, "--format", "json", "--quiet")
    assert code == 0
    found = json.loads(out)
    return [[row["relatedness"] for row in m["pairs"]] for m in found.get("methods", [found])]


def refusal(capsys, *argv):
    code, out, err = run(capsys, *argv)
    assert (code, out) == (2, "")
    return err


@needs_wordnet
@pytest.mark.parametrize("word", ["river#N#1", "RIVER#n#1", "River", " rivers "])
def test_case_does_not_matter(capsys, word):
    code, out, err = run(capsys, "-m", "PATH", "--pair", word, "river#n#1", "--format", "json")
    assert (code, err) == (0, "")
    pair = json.loads(out)["pairs"][0]
    assert (pair["relatedness"], pair["sense1"]) == (1.0, "river#n#1")


@needs_wordnet
@pytest.mark.parametrize(
    "word", ["river#n#²", "river#n#0", "river#n#-1", "river#n#", "#n#1", "river#x#1", "café", "#",
             f"river#n#{'9' * 5000}"]
)  # fmt: skip
def test_words_that_are_none_have_no_value(capsys, word):
    code, out, err = run(capsys, "-m", "PATH", "--pair", word, "sea", "--format", "json")
    assert code == 0
    assert err == f"warning: not found, so without a value: {word}\n"
    assert json.loads(out)["pairs"][0]["relatedness"] is None


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
        ("Word 1,Word 2,Human (mean)\nlove,sex,6.77\n", "p.csv:1: score 'Human (mean)' is not a "
         "number (expected: word1,word2[,human], and a header of these names or none)"),
        ("word1;word2\nsea;beach\n", "p.csv:1: not a pair of words"),
    ],
)  # fmt: skip
def test_pairs_that_are_none(capsys, text, message):
    Path("p.csv").write_text(text)
    Path("c.csv").write_text(HEAD)
    assert refusal(capsys, "-m", "NWD", "--counts", "c.csv", "p.csv").startswith(message)


def test_a_very_long_name_is_no_crash(capsys):
    name = "x" * 200_000
    Path("p.csv").write_text(f"word1,word2\n{name},sea\n")
    Path("c.csv").write_text(HEAD + f"{name},,5\nsea,,5\nsea,{name},1\n")
    Path("concepts.csv").write_text(f"concept\n{name}\nsea\n")
    assert values(capsys, "-m", "COOC", "--counts", "c.csv", "p.csv") == [[pytest.approx(1 / 9)]]
    code, _, _ = run(
        capsys, "-m", "COOC", "--counts", "c.csv", "--concepts", "concepts.csv", "-o", "m.csv"
    )
    assert code == 0
    assert main(["costmap", "show", "m.csv", "--format", "json"]) == 0


def test_a_cost_map_names_its_concepts(capsys):
    Path("m.csv").write_text("concept,a,,c\na,0,0.5,1\n,0.5,0,0.2\nc,1,0.2,0\n")
    assert main(["costmap", "show", "m.csv"]) == 2
    assert capsys.readouterr().err.startswith("m.csv:1: column 3 has no name")
