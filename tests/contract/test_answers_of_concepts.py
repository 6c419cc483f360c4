"""What concerns concepts and names answers in Python as on the command line, and travels."""

import copy
import json
import pickle
from pathlib import Path

import pytest

import cranfield as cf
from cranfield.cli import main
from cranfield.errors import CancelledError, UsageError

MAP = "concept,Sea,Lake,Sky\nSea,0,0.2,0.6\nLake,0.2,0,0.5\nSky,0.6,0.5,0\n"
TAGS = "item,tags\n1,sea sky\n2,sea\n3,sky boat\n4,sea sky\n"
PAIRS = "word1,word2,human\nsea,sky,3\nsea,boat,1\nsky,boat,2\nsea,dune,0\n"
ANSWERS = {
    "pairs": (
        lambda: cf.relate_pairs("pairs.csv", "FTS COOC", tags="tags.csv", links="x.csv"),
        ["relatedness", "pairs.csv", "-m", "FTS COOC", "--tags", "tags.csv", "--links", "x.csv"],
        {},
    ),
    "people": (
        lambda: cf.relate_pairs("pairs.csv", "FTS", tags="tags.csv", missing="zero"),
        [
            "relatedness",
            "pairs.csv",
            "-m",
            "FTS",
            "--tags",
            "tags.csv",
            "--missing",
            "zero",
            "--human",
        ],
        {"human": True},
    ),
    "costs": (
        lambda: cf.relate_concepts("concepts.txt", "FTS", tags="tags.csv"),
        ["relatedness", "--concepts", "concepts.txt", "-m", "FTS", "--tags", "tags.csv"],
        {},
    ),
    "methods": (cf.list_methods, ["relatedness", "--list"], {}),
    "map": (
        lambda: cf.view_cost_map("map.csv", nearest=1, concepts=["Sea"]),
        ["costmap", "show", "map.csv", "--nearest", "1", "--concept", "Sea"],
        {},
    ),
    "maps": (
        lambda: cf.compare_cost_maps("map.csv", "other.csv", permutations=9, seed=3),
        [
            "costmap",
            "compare",
            "map.csv",
            "other.csv",
            "--permutations",
            "9",
            "--seed",
            "3",
            "--top",
            "2",
        ],
        {"top": 2},
    ),
    "measures": (cf.list_measures, ["measures"], {}),
    "a measure": (lambda: cf.describe_measure("nDCG@10"), ["measures", "NDCG@10"], {}),
    "check": (lambda: cf.check_ontology("pto-2010"), ["ontology", "check", "pto-2010"], {}),
    "ontology": (lambda: cf.view_ontology("pto-2009"), ["ontology", "show", "pto-2009"], {}),
    "concept": (
        lambda: cf.view_concept("pto-2009", "Sea"),
        ["ontology", "show", "pto-2009", "Sea"],
        {},
    ),
}


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    files = {"map.csv": MAP, "other.csv": MAP.replace("0.2", "0.3"), "tags.csv": TAGS}
    for name, text in (files | {"pairs.csv": PAIRS, "concepts.txt": "sea\nsky\nboat\n"}).items():
        Path(name).write_text(text)


@pytest.mark.parametrize("name", ANSWERS)
def test_the_command_prints_what_the_call_answers(name, capsys):
    call, argv, view = ANSWERS[name]
    assert main([*argv, "--format", "json"]) == 0
    printed, told = capsys.readouterr()
    answer = call()
    assert json.loads(printed) == answer.to_dict(**view)
    assert len(told.splitlines()) == len(answer.notes)
    assert main(argv) == 0
    shown, begun = capsys.readouterr().out.splitlines(), str(answer).splitlines()
    assert view or shown[0] == begun[0]


@pytest.mark.parametrize("name", ANSWERS)
def test_answers_travel(name):
    answer = ANSWERS[name][0]()
    answer.save("answer.json")
    for arrived in (
        cf.load("answer.json"),
        pickle.loads(pickle.dumps(answer)),
        copy.deepcopy(answer),
    ):
        assert arrived == answer
        assert arrived.to_dict() == answer.to_dict()
        assert str(arrived) == str(answer)
    assert len(repr(answer)) < 1000
    assert "\n" not in repr(answer)


def test_notes_name_parameters_in_python_and_options_on_the_command_line(capsys):
    answer = ANSWERS["pairs"][0]()
    assert answer.notes == (
        "counted 0 times, so unrelated to all others: dune",
        "links= not read: no use to FTS, COOC (choose others with method=)",
        "FTS, COOC are counted on one source (tags.csv): that they agree says little",
    )
    assert main(ANSWERS["pairs"][1]) == 0
    assert capsys.readouterr().err.splitlines()[1] == (
        "warning: --links not read: no use to FTS, COOC (choose others with --method)"
    )


def test_correlations_alone_need_people():
    answer = cf.relate_pairs([("sea", "sky")], "FTS", tags="tags.csv")
    with pytest.raises(UsageError, match="human= needs pairs with people's scores"):
        answer.to_dict(human=True)


@pytest.mark.parametrize(
    ("call", "says"),
    [
        (lambda: cf.relate_pairs([], "FTS", tags="tags.csv"), "no pair"),
        (lambda: cf.relate_pairs([("sea",)], "FTS", tags="tags.csv"), "is not a pair of words"),
        (lambda: cf.relate_pairs([("sea", " ")], "FTS", tags="tags.csv"), "one of them is empty"),
        (lambda: cf.relate_pairs("pairs.csv", "FTS", missing="no"), "missing='no' is not one of"),
        (lambda: cf.relate_pairs("pairs.csv", "FTS", tag="x"), "Did you mean 'tags'"),
        (lambda: cf.view_cost_map("map.csv", nearest=0), "nearest=0 is not a whole number"),
    ],
)
def test_what_is_wrong_is_said_in_parameters(call, says):
    with pytest.raises(UsageError) as caught:
        call()
    assert says in str(caught.value)
    assert "--" not in str(caught.value)


def test_long_work_can_be_cancelled():
    progress = cf.Progress()
    progress.cancel()
    for call in (
        lambda: cf.relate_pairs("pairs.csv", "FTS", tags="tags.csv", progress=progress),
        lambda: cf.relate_concepts("concepts.txt", "FTS", tags="tags.csv", progress=progress),
        lambda: cf.compare_cost_maps("map.csv", "other.csv", progress=progress),
    ):
        with pytest.raises(CancelledError):
            call()


def test_several_sources_of_counts_in_one_call(capsys):
    """No 8.2: www_G beside www_Y; each source gives what it gives alone."""
    other = TAGS.replace("3,sky boat", "3,sky sea")
    Path("other.csv").write_text(other)
    both = cf.relate_pairs("pairs.csv", "FTS", tags={"G": "tags.csv", "Y": "other.csv"})
    assert [r.name for r in both.results] == ["FTS (G)", "FTS (Y)"]
    for name, file in (("FTS (G)", "tags.csv"), ("FTS (Y)", "other.csv")):
        alone = cf.relate_pairs("pairs.csv", "FTS", tags=file)
        assert both.values(name).tolist() == pytest.approx(alone.values().tolist(), nan_ok=True)
    words = ["relatedness", "pairs.csv", "-m", "FTS", "--tags", "G=tags.csv", "--tags"]
    assert main([*words, "Y=other.csv", "--human", "--format", "json", "--quiet"]) == 0
    assert [m["method"] for m in json.loads(capsys.readouterr().out)["methods"]] == [
        "FTS (G)",
        "FTS (Y)",
    ]
    with pytest.raises(UsageError, match="made of one"):
        cf.relate_concepts("concepts.txt", "FTS", tags={"G": "tags.csv", "Y": "other.csv"})
    with pytest.raises(UsageError, match="several sources"):
        cf.relate_pairs("pairs.csv", "FTS", tags={"G": "tags.csv"}, counts={"Y": "other.csv"})


def test_methods_of_one_source_are_told():
    found = cf.relate_pairs("pairs.csv", "FTS COOC", tags="tags.csv")
    assert any("one source (tags.csv)" in note for note in found.notes)
    assert not any(
        "one source" in n for n in cf.relate_pairs("pairs.csv", "FTS", tags="tags.csv").notes
    )
