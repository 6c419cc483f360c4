"""Formats that people bring, each against the canonical form: values and order."""

import gzip
import json
import sys
import types
from typing import NamedTuple

import pytest

import cranfield as cf
from cranfield.cli import main

QRELS = {"1": {"a": 1, "b": 0, "d": 2}, "2": {"c": 2}}
RUN = {"1": {"a": 2.0, "b": 3.0, "d": 1.0}, "2": {"c": 1.0, "e": 0.5}}
MEASURES = "AP RR nDCG@10 P@2"


def expected(qrels=QRELS, run=RUN):
    return cf.evaluate(qrels, {"r": run}, MEASURES).to_dict(per=("topic",))


def scored(qrels, run):
    return cf.evaluate(qrels, {"r": run}, MEASURES)


def same(scores, other):
    found = scores.to_dict(per=("topic",))
    assert found["per_topic"] == other["per_topic"]
    assert found["runs"] == other["runs"]


JUDGED = [(t, i, g) for t, items in QRELS.items() for i, g in items.items()]
RANKED = [(t, i, s) for t, items in RUN.items() for i, s in items.items()]


def lines(rows, separator="\t"):
    return "".join(separator.join(map(str, row)) + "\n" for row in rows)


@pytest.mark.parametrize(
    "name, text",
    [
        ("beir.tsv", "query-id\tcorpus-id\tscore\n" + lines(JUDGED)),
        ("marco.tsv", lines((t, 0, i, g) for t, i, g in JUDGED)),
        ("marco.csv", lines(((t, 0, i, g) for t, i, g in JUDGED), ",")),
        ("three.tsv", lines(JUDGED)),
        ("european.csv", "topic;item;grade\n" + lines(JUDGED, ";")),
        (
            "records.jsonl",
            "".join(
                json.dumps({"query_id": t, "doc_id": i, "relevance": g}) + "\n"
                for t, i, g in JUDGED
            ),
        ),
    ],
)
def test_judgements(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    same(scored(tmp_path / name, RUN), expected())
    packed = tmp_path / f"{name}.gz"
    packed.write_bytes(gzip.compress(text.encode()))
    same(scored(packed, RUN), expected())


def _rank_rows():
    """The same order by ranks, the last line first."""
    for topic, items in RUN.items():
        best_first = sorted(items, key=lambda item: -items[item])
        for place, item in reversed(list(enumerate(best_first, 1))):
            yield topic, item, place


@pytest.mark.parametrize(
    "name, text, note",
    [
        ("score.tsv", lines(RANKED), "taken for a score"),
        ("score.run", lines(RANKED, " "), "taken for a score"),
        ("rank.tsv", lines(_rank_rows()), "taken for a rank"),
        ("rank.txt", lines(_rank_rows()), "taken for a rank"),
        ("four.tsv", lines((t, i, 0, s) for t, i, s in RANKED), ""),
        ("trec.tsv", lines((t, "Q0", i, 0, s, "x") for t, i, s in RANKED), ""),
        ("ranks.csv", "qid,docno,rank\n" + lines(_rank_rows(), ","), ""),
        ("european.csv", "qid;docno;score\n" + lines(RANKED, ";"), ""),
        (
            "records.jsonl",
            lines([[json.dumps({"qid": t, "docid": i, "score": s})] for t, i, s in RANKED]),
            "",
        ),
        (
            "lists.json",
            json.dumps({t: sorted(i, key=lambda k, i=i: -i[k]) for t, i in RUN.items()}),
            "",
        ),
    ],
)
def test_runs(tmp_path, name, text, note):
    (tmp_path / name).write_text(text)
    scores = scored(QRELS, tmp_path / name)
    same(scores, expected())
    assert [n for n in scores.notes if "third column" in n] == [
        n for n in scores.notes if note and note in n
    ]
    assert bool(note) == any("third column" in n for n in scores.notes)


def test_the_third_column_is_what_one_says(tmp_path, capsys):
    """1 to n in every topic looks like ranks, and may be scores all the same."""
    (tmp_path / "q").write_text("1 0 a 1\n1 0 b 0\n")
    run = tmp_path / "r.tsv"
    run.write_text("1\tb\t1\n1\ta\t2\n")
    found = {}
    for third in ("rank", "score"):
        argv = ["eval", str(tmp_path / "q"), str(run), "-m", "RR", "--third", third]
        assert main([*argv, "--format", "json"]) == 0
        shown = capsys.readouterr()
        assert "third" not in shown.err
        found[third] = json.loads(shown.out)["runs"][0]["mean"]["RR"]
    assert found == {"rank": 0.5, "score": 1.0}
    with pytest.raises(cf.UsageError, match="third='x' is not one of rank, score"):
        cf.read_run(run, third="x")


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
def test_frames_with_ranks_only(kind):
    library = pytest.importorskip(kind)
    topics, items, places = (list(c) for c in zip(*_rank_rows(), strict=True))
    data = {"query_id": topics, "doc_id": items, "rank": places}
    frame = library.table(data) if kind == "pyarrow" else library.DataFrame(data)
    scores = scored(QRELS, frame)
    same(scores, expected())
    assert "rank gives the order" in scores.notes[0]


@pytest.mark.parametrize(
    "name, text, message",
    [
        ("r.tsv", "1\ta\n", "no column 'topic'"),
        ("r.tsv", "1\ta\t1\t2\t3\n", "5 columns without a header"),
        ("r.tsv", "1\ta\t1\n1\tb\n", "r.tsv:2: 2 fields"),
        ("r.jsonl", '{"qid": "1", "docid": "a"}\n', "r.jsonl:1: no score"),
        ("r.jsonl", '{"qid": "1"\n', "r.jsonl:1:"),
        ("r.jsonl", "[1]\n", "not a record"),
        ("r.json", '{"1": ["a", "a"]}', "item 'a' is listed twice"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(cf.InputError, match=message):
        cf.read_run(tmp_path / name)


def test_the_gate(tmp_path, capsys):
    (tmp_path / "q").write_text("1 0 a 1\n")
    (tmp_path / "r.run").write_text("1 Q0 b 1 2 x\n1 Q0 a 2 1 x\n")
    argv = ["eval", str(tmp_path / "q"), str(tmp_path / "r.run"), "-m", "RR"]
    assert main([*argv, "--fail-under", "RR=0.5", "--fail-under", "MAP=0.4"]) == 0
    capsys.readouterr()
    assert main([*argv, "--fail-under", "AP=0.6"]) == 1
    assert capsys.readouterr().err == "failed: r: AP is 0.5000, expected at least 0.6\n"
    # Less is better.
    assert main([*argv, "--fail-under", "NMRR=0.9", "--gmt", "1"]) == 0
    assert main([*argv, "--fail-under", "NMRR=0.01", "--gmt", "1"]) == 1
    assert main([*argv, "--fail-under", "AP"]) == 2


TRUTH = {"a": {"Sky", "Blue Sea"}, "b": {"Sky"}, "c": {"Blue Sea"}}
LABEL_RUN = {
    "a": {"Sky": 0.9, "Blue Sea": 0.4},
    "b": {"Sky": 0.3, "Blue Sea": 0.8},
    "c": {"Sky": 0.2, "Blue Sea": 0.7},
}


def labelled(truth, run, measures="AP.concept F.example", **options):
    return cf.evaluate_labels(truth, {"r": run}, measures, **options).mean()["r"]


@pytest.mark.parametrize(
    "name, text",
    [
        ("bars.csv", "item,labels\na,Sky|Blue Sea\nb,Sky\nc,Blue Sea\n"),
        ("semicolons.csv", "image,tags\na,Sky;Blue Sea\nb,Sky\nc,Blue Sea\n"),
        ("quoted.csv", 'item,labels\na,"Sky, Blue Sea"\nb,Sky\nc,Blue Sea\n'),
        ("ragged.csv", "item,concepts\na,Sky,Blue Sea\nb,Sky\nc,Blue Sea\n"),
        ("tabs.tsv", "item\tlabels\na\tSky,Blue Sea\nb\tSky\nc\tBlue Sea\n"),
        ("lists.json", json.dumps({k: sorted(v) for k, v in TRUTH.items()})),
        ("values.json", json.dumps({k: dict.fromkeys(sorted(v), 1) for k, v in TRUTH.items()})),
    ],
)
def test_lists_of_labels(tmp_path, name, text):
    (tmp_path / name).write_text(text)
    assert labelled(tmp_path / name, LABEL_RUN) == labelled(TRUTH, LABEL_RUN)


def test_blanks_separate_labels_where_nothing_else_does(tmp_path):
    (tmp_path / "t.csv").write_text("item,labels\na,Sky Sea\nb,Sky\n")
    assert set(cf.read_labels(tmp_path / "t.csv").concepts) == {"Sky", "Sea"}
    # One column of numbers is a concept of that name.
    (tmp_path / "n.csv").write_text("item,labels\na,1\nb,0\n")
    assert cf.read_labels(tmp_path / "n.csv").concepts == ("labels",)


@pytest.mark.parametrize(
    "name, text, message",
    [
        (
            "twice.csv",
            "item,labels\na,Sky|Sea\na,Sky|Sea\n",
            "twice.csv:3: item 'a' is listed twice",
        ),
        ("none.csv", "item,labels\na,\nb,\n", "no concept for any item"),
        ("bad.json", "{", "is not JSON"),
        ("list.json", "[1]", "expected {item"),
    ],
)
def test_lists_that_are_wrong(tmp_path, name, text, message):
    (tmp_path / name).write_text(text)
    with pytest.raises(cf.InputError, match=message):
        cf.read_labels(tmp_path / name)


def voc(folder, pattern, values):
    folder.mkdir()
    for concept in ("Blue Sea", "Sky"):
        rows = [f"{item} {value[concept]}" for item, value in values.items() if concept in value]
        name = pattern.format(concept.replace(" ", "-"))
        (folder / name).write_text("\n".join(rows) + "\n")
    return folder


def test_a_file_per_class(tmp_path):
    """PASCAL VOC: aeroplane_val.txt with -1, 0 and 1; comp1_cls_val_aeroplane.txt with scores."""
    truth = voc(
        tmp_path / "truth",
        "{}_val.txt",
        {
            item: {c: 1 if c in shown else -1 for c in ("Sky", "Blue Sea")}
            for item, shown in TRUTH.items()
        },
    )
    run = voc(tmp_path / "run", "comp1_cls_val_{}.txt", LABEL_RUN)
    assert cf.read_labels(truth).concepts == ("Blue-Sea", "Sky")
    assert labelled(truth, run) == labelled(TRUTH, LABEL_RUN)


def test_what_is_difficult_is_told(tmp_path):
    truth = voc(
        tmp_path / "t", "{}.txt", {"a": {"Sky": 1, "Blue Sea": 0}, "b": {"Sky": -1, "Blue Sea": 1}}
    )
    assert "1 labels are marked as difficult" in cf.read_labels(truth).notes[0]


def test_scores_of_any_size(tmp_path):
    """Logits order as the confidences do, in every form; values are the same to the last bit."""
    from math import log

    logits = {
        item: {c: log(v / (1 - v)) for c, v in values.items()} for item, values in LABEL_RUN.items()
    }
    order = labelled(TRUTH, LABEL_RUN, "AP.concept Coverage RankingLoss")
    assert labelled(TRUTH, logits, "AP.concept Coverage RankingLoss", scores="any") == order
    wide = "item,Blue Sea,Sky\n" + "".join(
        f"{i},{v['Blue Sea']!r},{v['Sky']!r}\n" for i, v in logits.items()
    )
    long = "item,concept,value\n" + "".join(
        f"{i},{c},{v!r}\n" for i, values in logits.items() for c, v in values.items()
    )
    for name, text in (("wide.csv", wide), ("long.csv", long)):
        (tmp_path / name).write_text(text)
        found = labelled(TRUTH, tmp_path / name, "AP.concept Coverage RankingLoss", scores="any")
        assert found == order
        # Squashed they are the confidences again; a threshold of 0 is one of 0.5.
        assert labelled(TRUTH, tmp_path / name, "F.example", scores="logistic") == labelled(
            TRUTH, LABEL_RUN, "F.example"
        )
        assert labelled(
            TRUTH, tmp_path / name, "F.example", scores="any", threshold=0.0
        ) == labelled(TRUTH, LABEL_RUN, "F.example")
        with pytest.raises(cf.NeedsError, match="threshold=X in their own unit"):
            labelled(TRUTH, tmp_path / name, "F.example", scores="any")
        with pytest.raises(cf.InputError, match="scores='any'"):
            labelled(TRUTH, tmp_path / name, "F.example")


def test_an_item_without_scores_comes_last():
    """-5 is better than nothing: what a run does not name stands behind all that it names."""
    truth = {"a": {"Sky"}, "b": set(), "c": {"Sky"}}
    run = {"a": {"Sky": -5.0}, "b": {"Sky": -7.0}}
    assert labelled(truth, run, "AP.concept", scores="any")["AP.concept"] == pytest.approx(5 / 6)


def test_scores_on_the_command_line(tmp_path, capsys):
    (tmp_path / "truth.csv").write_text("item,Sky\na,1\nb,0\n")
    (tmp_path / "run.csv").write_text("item,Sky\na,3.5\nb,-2\n")
    asked = ["label", str(tmp_path / "truth.csv"), str(tmp_path / "run.csv"), "-m", "AP.concept"]
    assert main(asked) == 2
    assert "--scores any" in capsys.readouterr().err
    assert main([*asked, "--scores", "any", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"][0]["mean"]["AP.concept"] == 1.0
    compared = ["compare", "--truth", asked[1], asked[2], asked[2], "--scores", "any"]
    assert main(compared) == 2  # two runs of one name
    assert "named" in capsys.readouterr().err


def test_frames_of_pyterrier():
    """topics by qid, documents by docno, grades as label, and a rank beside the score."""
    pandas = pytest.importorskip("pandas")
    qrels = pandas.DataFrame(JUDGED, columns=["qid", "docno", "label"])
    rows = [(t, "text of a query", i, n, s) for n, (t, i, s) in enumerate(RANKED)]
    run = pandas.DataFrame(rows, columns=["qid", "query", "docno", "rank", "score"])
    same(scored(qrels, run), expected())


class _Judged(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int


def test_names_of_ir_datasets(monkeypatch, capsys, tmp_path):
    """What ir_datasets offers for a name; nothing is fetched here."""

    class Found:
        def has_qrels(self):
            return True

        def qrels_iter(self):
            return (_Judged(t, i, g) for t, i, g in JUDGED)

    catalogue = types.ModuleType("ir_datasets")
    catalogue.load = {"toy/test": Found()}.__getitem__
    monkeypatch.setitem(sys.modules, "ir_datasets", catalogue)
    same(scored("irds:toy/test", RUN), expected())
    (tmp_path / "r.json").write_text(json.dumps(RUN))
    assert main(["eval", "irds:toy/test", str(tmp_path / "r.json"), "-m", "AP"]) == 0
    assert main(["eval", "irds:other", str(tmp_path / "r.json"), "-m", "AP"]) == 2
    assert "irds:other: is no data set of ir_datasets" in capsys.readouterr().err

    def unreachable():
        raise RuntimeError("All download sources failed", [OSError("no network")])
        yield

    away = types.SimpleNamespace(has_qrels=lambda: True, qrels_iter=unreachable)
    catalogue.load = {"toy/away": away}.__getitem__
    assert main(["eval", "irds:toy/away", str(tmp_path / "r.json"), "-m", "AP"]) == 2
    told = "irds:toy/away: could not be fetched: All download sources failed"
    assert told in capsys.readouterr().err
    monkeypatch.setitem(sys.modules, "ir_datasets", None)
    with pytest.raises(cf.MissingExtraError, match=r"cranfield\[datasets\]"):
        cf.read_qrels("irds:toy/test")


def test_a_data_set_of_hugging_face():
    """Known by its module; underneath it is an Arrow table."""
    arrow = pytest.importorskip("pyarrow")

    class Dataset:
        def __init__(self, **columns):
            self.table = arrow.table(columns)

        def with_format(self, form):
            assert form == "arrow"
            return _Whole(self.table)

    Dataset.__module__ = "datasets.arrow_dataset"
    topics, items, grades = zip(*JUDGED, strict=True)
    qrels = Dataset(**{"query-id": list(topics), "corpus-id": list(items), "score": list(grades)})
    topics, items, scores = zip(*RANKED, strict=True)
    run = Dataset(qid=list(topics), docno=list(items), score=list(scores))
    same(scored(qrels, run), expected())


class _Whole:
    def __init__(self, table):
        self.table = table

    def __getitem__(self, rows):
        assert rows == slice(None)
        return self.table
