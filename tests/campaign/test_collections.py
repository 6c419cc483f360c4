"""A folder of somebody's own: drafted, checked, scored; and what is told of a bad one."""

import json
import random
import tomllib
from pathlib import Path

import pytest

import cranfield as cf
from cranfield.cli import main
from cranfield.io.collection import DECLARED
from cranfield.io.samples import SAMPLE, copy_sample
from cranfield.report.document import document_of


@pytest.fixture
def own(tmp_path):
    """What people have: judgements, runs, labels, pictures and notes, under names of their own."""
    rng = random.Random(5)
    home = tmp_path / "my things"
    topics = [f"q{n}" for n in range(1, 9)]
    items = [f"photo_{n:03d}" for n in range(40)]
    files = {
        "queries.csv": "topic,text\n" + "".join(f"{t},photos of {t}\n" for t in topics),
        "relevance.txt": "".join(
            f"{t} 0 {i} {int(rng.random() < 0.3)}\n" for t in topics for i in items
        ),
        "ground_truth.csv": "item,sky,sea\n"
        + "".join(f"{i},{rng.randint(0, 1)},{rng.randint(0, 1)}\n" for i in items),
        "README.md": "What this is.\n",
        "notes.doc": "nobody can tell\nwhat, this: is\n",
    }
    for name in ("alpha", "beta"):
        files[f"output/{name}.txt"] = "".join(
            f"{t} Q0 {i} {n} {1 - n / 50:.3f} {name}\n"
            for t in topics
            for n, i in enumerate(rng.sample(items, 20), 1)
        )
        files[f"labels/{name}.csv"] = "item,sky,sea\n" + "".join(
            f"{i},{rng.random():.3f},{rng.random():.3f}\n" for i in items
        )
    for name, text in files.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    (home / "images").mkdir()
    for item in items:
        (home / "images" / f"{item}.jpg").write_bytes(b"\xff\xd8\xff\xe0")
    return home


def test_a_folder_of_ones_own_from_init_to_scores(own, capsys):
    assert main(["collection", "init", str(own), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert {row["file"]: row["key"] for row in found["found"]} == {
        "queries.csv": "topics",
        "relevance.txt": "judgements",
        "ground_truth.csv": "truth",
        "README.md": "sources",
        "output/alpha.txt": "runs",
        "output/beta.txt": "runs",
        "labels/alpha.csv": "label_runs",
        "labels/beta.csv": "label_runs",
        "images": "pictures",
    }
    assert found["unknown"] == ["notes.doc"]
    assert main(["collection", "check", str(own), "--format", "json"]) == 0
    checked = json.loads(capsys.readouterr().out)
    assert checked["problems"] == []
    assert checked["has"]["pictures"] == "40"
    runs = [str(path) for path in sorted(own.glob("output/*")) + sorted(own.glob("labels/*"))]
    assert main(["check", str(own), *runs]) == 0
    capsys.readouterr()
    for kind, rows in (("ranked", {"alpha", "beta"}), ("labels", {"alpha", "beta"})):
        argv = ["campaign", "results", str(own), "--kind", kind, "--format", "json"]
        assert main(argv) == 0
        table = json.loads(capsys.readouterr().out)
        assert {row["run"] for row in table["parts"][0]["rows"]} == rows
    for command in ("eval", "label"):
        assert main([command, str(own), "--format", "json"]) == 0
        scored = json.loads(capsys.readouterr().out)
        assert [run["name"] for run in scored["runs"]] == ["alpha", "beta"]


def test_a_folder_of_ones_own_is_published(own, capsys):
    pytest.importorskip("jinja2")
    cf.init_collection(own)
    site = own.parent / "site"
    assert main(["publish", str(own), "-o", str(site), "--quiet"]) == 0
    pages = {path.relative_to(site).as_posix() for path in site.rglob("*.html")}
    assert any("alpha" in page for page in pages), pages
    assert any("q1" in page for page in pages), pages
    text = "".join(path.read_text() for path in site.rglob("*.html"))
    assert "photos of q1" in text
    # Nothing of the truth goes out unasked.
    truth = (own / "ground_truth.csv").read_text().splitlines()[1:]
    for path in site.rglob("*"):
        if path.suffix in (".html", ".json", ".csv"):
            assert not set(truth) & set(path.read_text().splitlines()), path


def test_init_overwrites_nothing(own, capsys):
    assert main(["collection", "init", str(own)]) == 0
    before = (own / "collection.toml").read_text()
    assert main(["collection", "init", str(own)]) == 2
    assert "is there already; nothing was written" in capsys.readouterr().err
    assert (own / "collection.toml").read_text() == before


def test_every_key_of_a_draft_is_explained_and_valid(own):
    cf.init_collection(own)
    text = (own / "collection.toml").read_text()
    for key in DECLARED:
        if key.kind not in ("splits", "images", "years"):
            assert f"{key.name} = " in text, key.name
    # What is commented out could be switched on: it is TOML.
    switched = "\n".join(line.removeprefix("# ") for line in text.splitlines() if " = " in line)
    lines = [line for line in switched.splitlines() if not line.endswith("[")]
    for line in lines:
        tomllib.loads(line)


def test_the_sample_is_drafted_as_it_was_written_by_hand(tmp_path):
    home = copy_sample(tmp_path / "digits")
    (home / "collection.toml").unlink()
    cf.init_collection(home)
    drafted, written = cf.read_collection(home), cf.read_collection(SAMPLE)
    for key in ("judgements", "truth", "topics", "items", "concepts", "ontology", "rules"):
        assert getattr(drafted, key).name == getattr(written, key).name, key
    for key in ("runs", "label_runs", "cost_maps"):
        names = [{path.name for path in getattr(c, key)} for c in (drafted, written)]
        assert names[0] == names[1], key
    assert (drafted.annotated, drafted.retrieved) == ("annotated", "collection")
    assert drafted.run_facts == written.run_facts
    assert cf.check_collection(home).count == 0


@pytest.mark.parametrize(
    "change, file, said",
    [
        (('primary = "AP"', 'primary = "RR"'), "collection.toml", "primary 'RR' is not among"),
        (('"nDCG@10"', '"nDGC@10"'), "collection.toml", "No measure named 'nDGC'"),
        (('baseline = "pixels"', 'baseline = "pixel"'), "collection.toml", "mean 'pixels'"),
        (("FERN,Fernwood", "FERM,Fernwood"), "collection.toml", "team 'FERN' of run"),
        (("network,FERN", "netwerk,FERN"), "collection.toml", "'netwerk', which is not a run"),
        (("zero-1,d0877", "null-1,d0877"), "qrels.txt.gz", "1 topics are not public: 'zero-1'"),
        (("Zero,The digit", "Null,The digit"), "truth.csv", "concepts are not public: 'Zero'"),
        (("d0601,0,1", "d0601,0,2"), "truth.csv", "value 2 of item 'd0601' is outside"),
        (("Zero,Number", "Zero"), "ontology.csv", ""),
    ],
)
def test_what_is_wrong_is_told(tmp_path, change, file, said):
    home = copy_sample(tmp_path / "digits")
    old, new = change
    changed = 0
    for path in [*home.glob("*.csv"), home / "collection.toml"]:
        text = path.read_text()
        if old in text:
            path.write_text(text.replace(old, new, 1))
            changed += 1
    assert changed
    found = cf.check_collection(home)
    assert found.count
    told = [p for p in found.problems if Path(p.file).name == file]
    assert any(said in p.message for p in told), found.problems


def test_a_size_below_what_was_judged_is_told(own):
    assert main(["collection", "init", str(own), "--quiet"]) == 0
    toml = own / "collection.toml"
    toml.write_text(toml.read_text().replace("layout = 2", "layout = 2\nsize = 39"))
    said = [problem.message for problem in cf.check_collection(own).problems]
    assert said == ["size is 39, but 40 items are judged for one topic"]


def test_a_bad_toml_is_told_with_its_lines(tmp_path, capsys):
    (tmp_path / "collection.toml").write_text('name = 3\nruns = ["gone.run"]\nsise = 4\n')
    assert main(["collection", "check", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    for line in ("1  name is 3", "2  runs names 'gone.run'", "3  unknown key 'sise'"):
        assert line in out


def test_answers_have_tables(own):
    for answer in (cf.init_collection(own), cf.check_collection(own)):
        assert document_of(answer).tables
        assert answer.headline()


@pytest.mark.parametrize("name", ["../secret.png", "/etc/passwd", "C:\\\\secret.png"])
def test_nothing_outside_of_the_folder_is_opened(own, name):
    """Names in files of a collection, which others may have written, stay inside it."""
    (own / "items.csv").write_text(f"item,picture\nphoto_000,{name}\n")
    (own / "facts.csv").write_text(f"run,threshold\nalpha,{name}\n")
    for line in (
        'items = "items.csv"',
        'run_facts = "facts.csv"\nlabel_runs = ["labels/alpha.csv"]',
    ):
        (own / "collection.toml").write_text(f'truth = "ground_truth.csv"\n{line}\n')
        found = cf.check_collection(own)
        assert any("the collection's folder" in p.message for p in found.problems)
