"""Every command's answer can be had from Python: a row per command, and all answers travel."""

import copy
import csv
import io
import json
import pickle
import shutil
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import cranfield as cf
from benchmarks.fuzz.folders import png
from benchmarks.fuzz.sound_calls import DRAWN
from cranfield.answers import Answer
from cranfield.campaign.annotation_task import Sheet, Unit, UnitAnswers, response_of
from cranfield.campaign.forms import ontology_form
from cranfield.campaign.surveys.making import count_survey
from cranfield.campaign.surveys.ratings import relatedness_survey
from cranfield.cli import COMMANDS, find_command, main
from cranfield.io.samples import SAMPLE
from cranfield.report.document import document_of, maker_of
from cranfield.report.render import FORMATS, render

QRELS = str(SAMPLE / "qrels.txt.gz")
RUNS = [str(SAMPLE / "runs" / f"{n}.run.gz") for n in ("pca", "pixels", "random")]
TOPICS = list(cf.read_qrels(QRELS).topics)
TRUTH = str(SAMPLE / "truth.csv")
LABELS = [str(SAMPLE / "labels" / f"{n}.csv.gz") for n in ("logistic", "tree", "bayes")]
ONTOLOGY, RULES = str(SAMPLE / "ontology.csv"), str(SAMPLE / "rules.toml")
TILES = str(SAMPLE.parent / "photos")
LOG, COSTS = str(SAMPLE / "judgement-log.csv.gz"), str(SAMPLE / "costmap.csv")

# Commands whose answer is a file or a stream of bytes, and where that is held to the library.
BYTES = {
    "chart": "tests/report: a chart is drawn by cranfield.report.charts",
    "convert": "tests/cli/test_convert.py: what is written is read back",
    "import": "tests/io/test_exports.py: a log, topics or a run",
    "trec_eval": "tests/golden: bytes of trec_eval",
    "publish": "tests/site/test_publish.py: a folder of pages",
    "report": "tests/report/test_collection_report.py: a page of several answers",
    "serve": "tests/server: a site over HTTP",
    "judge": "tests/server/test_work.py: a program that judges",
    "submit": "tests/server/test_submissions.py: a run sent to a site",
    **{
        f"site {action}": "tests/server: the folder of a site"
        for action in (
            *("import", "export", "backup", "restore", "verify", "clock", "rescore", "passwd"),
            "rehearse",
        )
    },
    "demo": "tests/cli/test_demo_command.py: tables and a page of several answers",
}


def answered_form():
    """What one person said about one item on a page of our own."""
    form = ontology_form(cf.read_ontology(ONTOLOGY, rules=RULES))
    sheet = Sheet("Digits", "labels", {"form": form}, (Unit("d1"),))
    return response_of(sheet, "ann", [UnitAnswers("d1", {"Zero": ["Two"]}, comment="why")])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Small files for the commands that the sample collection has nothing for."""
    monkeypatch.chdir(tmp_path)
    files = {
        "votes.csv": "subject,item,category\ns1,a,x\ns2,a,y\ns1,b,x\ns2,b,x\ns1,c,y\ns2,c,y\n",
        "tree.csv": "category,parent\nx,all\ny,all\n",
        "queries.run": "a Q0 b 1 2 r\na Q0 c 2 1 r\nb Q0 a 1 2 r\nb Q0 c 2 1 r\n",
        "people.csv": "subject,topic,item,significance\ns1,t,a,1\ns1,t,b,0.5\ns2,t,b,1\ns2,t,a,1\n",
        "list.run": "t Q0 b 1 2 r\nt Q0 a 2 1 r\nt Q0 c 3 0 r\n",
        "pairs.csv": "word1,word2,human\nsky,Zero,1\nOne,Two,3\nOne,Three,2\n",
        "two.csv": "word1,word2\nOne,Two\nOdd,Even\n",
        "labels.csv": "item,odd,low\n" + "".join(f"i{k},{k % 2},{int(k < 5)}\n" for k in range(12)),
        "grouped.csv": "subject,item,group\ns,a,x\ns,b,x\ns,c,y\nt,a,u\nt,b,u\nt,c,v\n",
        "asked.csv": "topic,query\n1,One OR Two\n2,Odd AND NOT One\n",
        "boxes.csv": "item,concept,x,y,width,height\na,cat,1,1,9,9\nb,cat,3,3,5,5\n",
        "placed.csv": "item,concept,x,y,width,height,confidence\na,cat,1,2,9,9,0.5\n",
        "tags.csv": "item,tag\n" + "".join(f"i{k},sky\n" for k in range(12)),
        "captions.csv": "item,caption\na,red cat\nb,cat on a mat\nc,a mat\n",
        "drawn.json": DRAWN,
        "kinds.csv": "topic,group\n"
        + "".join(f"{t},{'ab'[k % 2]}\n" for k, t in enumerate(TOPICS)),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    rng = np.random.default_rng(3)
    np.savez(
        tmp_path / "vectors.npz",
        items=np.array([f"i{k}" for k in range(12)]),
        vectors=rng.random((12, 4)),
    )
    for number, kind in enumerate("aaabbb"):
        (tmp_path / "classes" / kind).mkdir(parents=True, exist_ok=True)
        picture = tmp_path / "classes" / kind / f"{number}.png"
        picture.write_bytes(png(20 + number, 20, 40 * number))
    (tmp_path / "answers.json").write_text(json.dumps(answered_form().to_dict()))
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "list.run").write_text(files["list.run"])
    survey = relatedness_survey([("sky", "sea"), ("sea", "lake")])
    rated = [UnitAnswers(unit, {"rating": ["4"]}) for unit in survey.key["units"]]
    said = response_of(survey.sheet, "ann", rated).to_dict()
    (tmp_path / "survey-key.json").write_text(json.dumps(survey.key))
    (tmp_path / "survey-answers.json").write_text(json.dumps(said))
    (tmp_path / "judged.txt").write_text("i0 0 i1 1\ni0 0 i2 0\ni3 0 i4 1\n")
    return tmp_path


def material():
    return cf.lab.StudyInput.ranked(QRELS, RUNS, "AP RR")


# command -> rows of (arguments, the call that gives the same answer)
ROWS = {
    "eval": [
        (
            [QRELS, *RUNS, "-m", "AP P@10", "--tie-range", "--per-topic"],
            lambda: cf.evaluate(QRELS, RUNS, "AP P@10", tie_range=True),
            {"per": ("topic",)},
        ),
        ([QRELS, RUNS[0]], lambda: cf.evaluate(QRELS, RUNS[0])),
        (
            [QRELS, *RUNS, "-m", "AP", "--by", "kinds.csv"],
            lambda: cf.evaluate(QRELS, RUNS, "AP").by("kinds.csv"),
        ),
        (
            [
                "regions",
                "boxes.csv",
                "placed.csv",
                "-m",
                "AP.region F.region",
                "--draws",
                "9",
                "--errors",
                "0.3",
            ],
            lambda: cf.evaluate_regions(
                "boxes.csv", "placed.csv", "AP.region F.region", draws=9, errors=0.3
            ),
        ),
        (
            ["--gold", QRELS, "--silver", QRELS, RUNS[0], "-m", "AP"],
            lambda: cf.evaluate_powered(QRELS, QRELS, RUNS[0], "AP"),
        ),
    ],
    "label": [
        (
            [TRUTH, *LABELS, "--ontology", ONTOLOGY, "--rules", RULES, "--per-concept"],
            lambda: cf.evaluate_labels(TRUTH, LABELS, ontology=ONTOLOGY, rules=RULES),
            {"per": ("concept",)},
        ),
        (
            [TRUTH, LABELS[0], "-m", "OS F.example", "--ontology", ONTOLOGY, "--explain", "d1000"],
            lambda: cf.explain_labels(
                TRUTH, LABELS[:1], "d1000", "OS F.example", ontology=ONTOLOGY
            ),
        ),
    ],
    "compare": [
        (
            [QRELS, *RUNS, "-m", "AP", "--baseline", "pixels", "--resamples", "500"],
            lambda: cf.evaluate(QRELS, RUNS, "AP").compare(baseline="pixels", resamples=500),
        ),
        (
            ["--truth", TRUTH, *LABELS, "-m", "F.example", "--test", "t"],
            lambda: cf.evaluate_labels(TRUTH, LABELS, "F.example").compare(test="t"),
        ),
    ],
    "errors": [
        (
            [QRELS, *RUNS, "-m", "AP", "--baseline", "pixels", "--count", "4"],
            lambda: cf.find_errors([QRELS, *RUNS], measures="AP", baseline="pixels", shown=4),
        ),
        (
            ["--truth", TRUTH, *LABELS, "-m", "AP.concept"],
            lambda: cf.find_errors(LABELS, TRUTH, measures="AP.concept"),
        ),
        (
            [str(SAMPLE), "--kind", "labels"],
            lambda: cf.find_errors([str(SAMPLE)], kind="labels"),
        ),
    ],
    "judges": [
        (
            [QRELS, QRELS, "--runs", *RUNS, "-m", "AP", "--resamples", "50"],
            lambda: cf.assess_judges(QRELS, [QRELS], RUNS, "AP", resamples=50),
        )
    ],
    "measures": [
        ([], lambda: cf.list_measures()),
        (["nDCG"], lambda: cf.describe_measure("nDCG")),
    ],
    "ontology": [
        (["show", "pto-2009"], lambda: cf.view_ontology("pto-2009")),
        (["show", "pto-2009", "Sea"], lambda: cf.view_concept("pto-2009", "Sea")),
        (["check", ONTOLOGY], lambda: cf.check_ontology(ONTOLOGY)),
        (["categories", ONTOLOGY], lambda: cf.count_categories(ONTOLOGY)),
        (
            ["compare", "pto-2009", "pto-2010"],
            lambda: cf.compare_vocabularies("pto-2009", "pto-2010"),
        ),
    ],
    "tags": [
        (["tags.csv", "--min-items", "3"], lambda: cf.analyse_tags("tags.csv", min_items=3)),
    ],
    "truth next": [([LOG], lambda: cf.lab.next_opinions(LOG))],
    "truth regions": [(["drawn.json"], lambda: cf.region_agreement("drawn.json"))],
    "groups": [(["grouped.csv"], lambda: cf.study_groups("grouped.csv"))],
    "query": [
        (["asked.csv", LABELS[0]], lambda: cf.query_concepts("asked.csv", LABELS[0])),
    ],
    "costmap": [
        (["show", COSTS], lambda: cf.view_cost_map(COSTS)),
        (["compare", COSTS, COSTS], lambda: cf.compare_cost_maps(COSTS, COSTS)),
    ],
    "relatedness": [
        (["--list"], lambda: cf.list_methods()),
        (
            ["-m", "TREE", "--ontology", ONTOLOGY, "two.csv"],
            lambda: cf.relate_pairs("two.csv", "TREE", ontology=ONTOLOGY),
        ),
        (
            ["-m", "TREE", "--ontology", ONTOLOGY, "--concepts", ONTOLOGY],
            lambda: cf.relate_concepts(ONTOLOGY, "TREE", ontology=ONTOLOGY),
        ),
    ],
    "agreement": [
        (
            [LOG, "--quality"],
            lambda: cf.assess_agreement(cf.read_judgement_log(LOG), quality=cf.QualityCheck()),
        ),
    ],
    "aggregate": [
        ([LOG, "--method", "dawid-skene"], lambda: aggregated("dawid-skene")),
        ([LOG, "--method", "majority"], lambda: aggregated("majority")),
    ],
    "lab": [
        (
            ["correlate", QRELS, *RUNS, "-m", "AP RR", "--resamples", "50"],
            lambda: cf.lab.correlate(material(), resamples=50),
        ),
        (["curves", "-m", "AP RR", "--size", "8"], lambda: cf.lab.curves("AP RR", size=8)),
        (["requirements", "AP"], lambda: cf.lab.requirements("AP")),
    ],
    "form": [(["read", "answers.json"], lambda: cf.read_forms(["answers.json"]))],
    "survey": [
        (
            ["count", "survey-key.json", "survey-answers.json"],
            lambda: count_survey("survey-key.json", ["survey-answers.json"]),
        )
    ],
    "pool": [([*RUNS, "--depth", "3"], lambda: cf.lab.make_pool(RUNS, depth=3))],
    "descriptors": [
        ([], lambda: cf.list_descriptors()),
        (["CEDD"], lambda: cf.describe_descriptor("CEDD")),
    ],
    "describe": [
        (
            [TILES, "-d", "EHD", "-o", "features"],
            lambda: described_anew(),
        )
    ],
    "search": [(["vectors.npz"], lambda: cf.search("vectors.npz"))],
    "runs": [
        (
            ["feedback", "vectors.npz", "--pseudo", "--depth", "2"],
            lambda: cf.apply_feedback("vectors.npz", pseudo=True, depth=2),
        ),
        (
            ["text", "captions.csv", "--language", "none"],
            lambda: cf.search_texts("captions.csv", language="none"),
        ),
        (
            ["benchmark", "classes", "-d", "SCD CLD"],
            lambda: cf.benchmark_descriptors("classes", descriptors="SCD CLD"),
        ),
    ],
    "fuse": [
        ([*RUNS[:2], "--method", "rrf"], lambda: cf.fuse(RUNS[:2], "rrf")),
        (
            [*RUNS[:2], "--tune", QRELS, "--folds", "2"],
            lambda: cf.fuse(RUNS[:2], tune=QRELS, folds=2),
        ),
    ],
    "annotate": [
        (
            ["--train", "vectors.npz", "labels.csv", "--apply", "vectors.npz", "-o", "found.csv"],
            lambda: cf.annotate("vectors.npz", "labels.csv", "vectors.npz", name="found"),
        )
    ],
    "calibrate": [
        (
            [TRUTH, LABELS[0], "--method", "platt", "-o", "found.csv"],
            lambda: cf.calibrate(TRUTH, LABELS[0], method="platt", name="found"),
        )
    ],
    "collection": [
        (["check", str(SAMPLE)], lambda: cf.check_collection(SAMPLE)),
        (["init", "own"], lambda: drafted_anew()),
        (
            ["split", TRUTH, "a=0.5", "b=0.5"],
            lambda: cf.split_items(TRUTH, {"a": 0.5, "b": 0.5}),
        ),
    ],
    "check": [
        ([str(SAMPLE), *RUNS, *LABELS], lambda: cf.check_submissions(SAMPLE, [*RUNS, *LABELS])),
    ],
    "campaign": [
        (
            ["results", str(SAMPLE), "--table", "best-per-concept"],
            lambda: cf.campaign_results(SAMPLE, "best-per-concept"),
        ),
    ],
    "uncertain": [
        (
            ["votes.csv", "tree.csv", "queries.run", "-k", "2"],
            lambda: cf.evaluate_uncertain(
                cf.read_category_votes("votes.csv", cf.read_categories("tree.csv")),
                ["queries.run"],
                k=2,
            ),
        )
    ],
    "displacement": [
        (
            ["people.csv", "list.run"],
            lambda: cf.evaluate_displacement(cf.read_subject_rankings("people.csv"), ["list.run"]),
        )
    ],
    "index-quality": [
        (
            ["vectors.npz", "judged.txt"],
            lambda: cf.evaluate_index(cf.read_item_vectors("vectors.npz"), "judged.txt"),
        )
    ],
    "weaklabel": [
        (
            ["vectors.npz", "tags.csv", "--method", "median"],
            lambda: cf.filter_weak_labels(
                *cf.read_features("vectors.npz"), cf.read_tags("tags.csv"), method="median"
            ),
        )
    ],
}


def described_anew():
    shutil.rmtree("features", ignore_errors=True)
    return cf.describe_pictures(TILES, "EHD", "features")


def drafted_anew():
    Path("own/collection.toml").unlink(missing_ok=True)
    return cf.init_collection("own")


def aggregated(method):
    return cf.aggregate_judgements(cf.read_judgement_log(LOG), method)


def cases():
    for command, rows in ROWS.items():
        for number, row in enumerate(rows):
            absent = row[0][:1] == ["text"] and find_spec("bm25s") is None
            marks = pytest.mark.skipif(absent, reason="the extra text is not installed")
            yield pytest.param(command, row, id=f"{command} {number}", marks=marks)


def test_every_command_has_a_row():
    typed = [[command, *row[0]] for command, rows in ROWS.items() for row in rows]
    typed += [command.split() for command in BYTES]
    assert {find_command(words)[0] for words in typed} == COMMANDS.keys()


@pytest.mark.parametrize("command, row", list(cases()))
def test_a_call_answers_what_the_command_prints(capsys, folder, command, row):
    argv, call, *view = row
    assert main([command, *argv, "--format", "json", "--quiet"]) == 0
    printed = json.loads(capsys.readouterr().out)
    answer = call()
    assert isinstance(answer, Answer)
    assert json.loads(json.dumps(answer.to_dict(**(view[0] if view else {})))) == printed
    assert {"cranfield", "command", "notes"} <= printed.keys()
    assert printed["command"] == command or printed["command"].split()[0] == command


@pytest.mark.parametrize("command, row", list(cases()))
def test_answers_travel(folder, command, row):
    answer = row[1]()
    expected = answer.to_dict()
    answer.save("kept.json")
    for other in (
        pickle.loads(pickle.dumps(answer)),
        copy.deepcopy(answer),
        cf.load("kept.json"),
    ):
        assert type(other) is type(answer)
        assert other.to_dict() == expected
        assert other == answer
    assert type(answer).__repr__ is Answer.__repr__
    assert len(repr(answer)) < 1000
    assert "\n" not in repr(answer)
    assert str(answer).strip()
    assert "text/html" in answer._repr_mimebundle_()


@pytest.mark.parametrize("command, row", list(cases()))
def test_an_answer_has_every_format(folder, command, row):
    answer = row[1]()
    document = document_of(answer)
    assert [form for form in FORMATS if not render(document, form).strip()] == []
    frame = answer.to_pandas()
    header, *rows = csv.reader(io.StringIO(answer.to_csv()))
    assert list(frame.columns) == header == answer.to_polars().columns
    assert len(frame) == len(rows) == answer.to_arrow().num_rows
    # Scores and comparisons have the rows that they are asked for: of topics, of pairs.
    if not isinstance(answer, cf.Scores | cf.Comparison):
        printed = list(csv.reader(io.StringIO(render(document, "csv"))))
        assert header == printed[0]
        assert len(rows) == len(printed) - 1


def subclasses(kind):
    for one in kind.__subclasses__():
        yield one
        yield from subclasses(one)


def test_every_kind_of_answer_has_tables_and_a_name_in_files():
    from cranfield.answers import FILE_NAMES

    kinds = [kind for kind in subclasses(Answer) if kind.__module__.startswith("cranfield")]
    assert kinds
    for kind in kinds:
        assert callable(maker_of(kind)), kind
        assert f"{kind.__module__}:{kind.__name__}" in FILE_NAMES.values(), kind


SAVED = sorted((Path(__file__).parent / "saved").glob("*.json"))


@pytest.mark.parametrize("path", SAVED, ids=lambda path: path.stem)
def test_a_file_of_the_first_layout_loads_with_a_note(path, tmp_path):
    answer = cf.load(path)
    assert "first layout of saved results" in answer.notes[-1]
    answer.save(tmp_path / "again.json")
    text = (tmp_path / "again.json").read_text()
    document = json.loads(text)
    assert (document["format"], document["version"]) == ("cranfield-result", 2)
    assert f'"{type(answer).__name__}"' not in text
    assert cf.load(tmp_path / "again.json") == answer


def test_scores_of_the_first_layout_keep_their_values():
    # One ranks a b c; relevant are a, c of the first topic, b of the second, a, b of the third.
    means = cf.load(SAVED[0].with_name("scores.json")).mean()
    assert means["one"]["AP"] == pytest.approx(((1 + 2 / 3) / 2 + 1 / 2 + 1) / 3)


def test_a_file_of_a_later_version_is_refused(tmp_path):
    path = tmp_path / "later.json"
    cf.describe_measure("AP").save(path)
    path.write_text(path.read_text().replace('"version": 2', '"version": 3', 1))
    with pytest.raises(cf.InputError, match="later Cranfield"):
        cf.load(path)
