"""What `cranfield relatedness` refuses: the options, files and mappings it cannot use."""

from pathlib import Path

import pytest

from tests.cli.relatedness import run, write_files


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files()
    return tmp_path


BAD = {
    "nothing to relate": [],
    "give pairs or --concepts, not both": ["pairs.csv", "--concepts", "concepts.txt"],
    "No relatedness method named 'WUPP'. Did you mean 'WUP'?": ["-m", "WUPP", "pairs.csv"],
    "a cost map is made by one method": ["--concepts", "concepts.txt"],
    "NWD needs hit counts": ["-m", "NWD", "pairs.csv"],
    "WLM needs a link table": ["-m", "WLM", "pairs.csv"],
    "TREE needs an ontology": ["-m", "TREE", "pairs.csv"],
    "absent.csv: no such file": ["absent.csv"],
    "give --counts or --tags": [
        "-m",
        "NWD",
        "--counts",
        "counts.csv",
        "--tags",
        "tags.csv",
        "pairs.csv",
    ],
    "--save-counts keeps what NWD, FTS, FCS or COOC": [
        "-m",
        "NWD",
        "--save-counts",
        "x",
        "pairs.csv",
    ],
    "--provider needs --counts": ["-m", "NWD", "--provider", "x.toml", "pairs.csv"],
    "--human needs pairs with people's scores": ["--human", "--pair", "a", "b"],
    "--human needs pairs with people's scores, not": ["--human", "--concepts", "concepts.txt"],
    "--pair wants two words, and one of them is empty": ["--pair", " ", "sea"],
    "pto-2012: no such file, and no built-in list of concepts of that name. Did you mean 'pto-20": [
        "-m",
        "NWD",
        "--counts",
        "counts.csv",
        "--concepts",
        "pto-2012",
    ],
    "nowhere: no such folder": ["--wordnet", "nowhere", "pairs.csv"],
}


@pytest.mark.parametrize("message", BAD)
def test_bad_usage(place, capsys, message):
    code, out, err = run(capsys, *BAD[message])
    assert (code, out) == (2, "")
    assert message in err
    assert "Traceback" not in err


FILES = [
    ("pairs.csv", "word1,word2,human\nsea\n", [], "pairs.csv:2: not a pair of words"),
    ("pairs.csv", "word1,word2,human\nsea,car,much\n", [], "pairs.csv:2: score 'much' is not a"),
    ("pairs.csv", "\n", [], "pairs.csv: holds no pair of words"),
    ("pairs.csv", "word1,word2\n", [], "pairs.csv: holds no pair of words"),
    ("counts.csv", "term,with,count\n", [], "counts.csv: the size of the corpus is missing"),
    ("counts.csv", "# total: 9\nsea,3\n", [], "counts.csv:2: not hit counts"),
    ("counts.csv", "# total: 9\nterm,with,count\nsea,,x\n", [], "counts.csv:3: count 'x' is not"),
    ("counts.csv", "# total: 9\nterm,with,count\nsea,sea,2\n", [], "'sea' together with itself"),
    ("counts.csv", "# total: 9\nterm,with,count\nsea,,2\nsea,,2\n", [], ":4: 'sea' counted twice"),
    ("counts.csv", "# total: 9\nterm,with,count\nsea,,22\n", [], "occurs 22 times in a corpus"),
    ("counts.csv", "# total: 9\nterm,with,count\nsea,car,2\n", [], "but not alone"),
    ("counts.csv", "# total: 9\nterm,with,count\nsea,2\n", [], ":3: 2 columns, expected term"),
    ("tags.csv", "photo,tags\n", ["--tags", "tags.csv"], "tags.csv:1: not a tag corpus"),
    ("tags.csv", "item,tags\n1\n", ["--tags", "tags.csv"], "tags.csv:2: 1 columns, expected 2"),
    ("tags.csv", "item,tag\n1,a\n2,a\n1,b\n", ["--tags", "tags.csv"], ":4: item '1' comes back"),
    ("tags.csv", "item,a,b,c\n1,0,1,x\n", ["--tags", "tags.csv"], ":2: value 'x' is not a number"),
    ("tags.txt", "1 0 1\n", ["--tags", "tags.txt"], "tags.txt:1: an item and 2 numbers, but 0"),
    ("tags.csv", "item,tags\n1,\xff\n", ["--tags", "tags.csv"], ":2: byte 0xff is not UTF-8"),
    ("links.csv", "a,b,c\n", ["-m", "WLM", "--links", "links.csv"], "links.csv:1: 3 columns"),
    ("p.toml", "name = 3", ["--provider", "p.toml"], "p.toml: name is missing or not text"),
    ("p.toml", "name = ", ["--provider", "p.toml"], "p.toml:1: not valid TOML"),
    (
        "p.toml",
        'name="x"\nurl="http://x"\ncount="n"\ntotal=9',
        ["--provider", "p.toml"],
        "url has no {query}",
    ),
    (
        "p.toml",
        'name="x"\nurl="{query}"\ncount="n"\ntotal=9\nspeed=1',
        ["--provider", "p.toml"],
        "unknown setting speed",
    ),
    *(
        (
            "p.toml",
            f'name="x"\nurl="http://x/{{query}}"\ncount="n"\n{setting}',
            ["--provider", "p.toml"],
            message,
        )
        for setting, message in [
            ("total=0", "total is the size of the corpus, expected 1 or more"),
            ("total=true", "total is missing or not a whole number"),
            ("total=9\njoin=3", "join is not text"),
            ("total=9\nseconds=-1", "seconds is not a number from 0 on"),
            ("total=9\nseconds=nan", "seconds is not a number from 0 on"),
        ]
    ),
    (
        "p.toml",
        'name="x"\nurl="x/{query}"\ncount="n"\ntotal=9',
        ["--provider", "p.toml"],
        "url is no web address (expected http:// or https://)",
    ),
]


@pytest.mark.parametrize("name, text, options, message", FILES)
def test_bad_files(place, capsys, name, text, options, message):
    Path(name).write_bytes(text.encode("latin-1"))
    counts = [] if "--tags" in options or "--links" in options else ["--counts", "counts.csv"]
    method = [] if "-m" in options else ["-m", "NWD"]
    code, out, err = run(capsys, *method, *counts, *options, "pairs.csv", "-o", "out.csv")
    assert (code, out) == (2, "")
    assert message in err
    assert not Path("out.csv").exists()


@pytest.mark.parametrize(
    "text, message",
    [
        ("", "concepts.txt: holds no concept"),
        ("sea\nsea\n", "concepts.txt:2: concept 'sea' is already on line 1"),
        ("number,name\n1,sea\n", "concepts.txt:1: several columns but none named 'concept'"),
        ("number,concept\n1,\n", "concepts.txt:2: no name in the column 'concept'"),
    ],
)
def test_bad_concepts(place, capsys, text, message):
    Path("concepts.txt").write_text(text)
    code, _, err = run(capsys, "-m", "NWD", "--counts", "counts.csv", "--concepts", "concepts.txt")
    assert code == 2
    assert message in err


@pytest.mark.wordnet
@pytest.mark.parametrize(
    "text, message",
    [
        ("concept,word\nsea\n", "map.csv:2: 1 columns, expected: concept,word"),
        ("sea,lake\nsea,river\n", "map.csv:2: concept 'sea' given twice"),
    ],
)
def test_bad_mappings(place, capsys, text, message):
    Path("map.csv").write_text(text)
    code, _, err = run(capsys, "-m", "WUP", "pairs.csv", "--mapping", "map.csv")
    assert code == 2
    assert message in err
