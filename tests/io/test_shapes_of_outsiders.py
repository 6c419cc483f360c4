"""Files as people make them by hand or with other tools, with the values of the canonical form."""

import json

import pytest

import cranfield as cf
from cranfield.cli import main
from cranfield.io import read_qrels, read_run

QRELS = {"1": {"a": 1, "b": 0, "d": 2}, "2": {"c": 2, "e": 0}}
RUN = {"1": {"b": 3.5, "a": 2.25, "d": 1.0}, "2": {"e": 2.0, "c": 1.5}}
ORDER = {topic: list(items) for topic, items in RUN.items()}
TRUTH = {"p": {"Sky", "Sea"}, "q": {"Sky"}, "r": {"Sea"}, "s": {"Sky", "Dog"}}
SURE = {
    "p": {"Dog": 0.1, "Sea": 0.4, "Sky": 0.9},
    "q": {"Dog": 0.2, "Sea": 0.8, "Sky": 0.3},
    "r": {"Dog": 0.65, "Sea": 0.7, "Sky": 0.2},
    "s": {"Dog": 0.05, "Sea": 0.1, "Sky": 0.6},
}
GRADED = [(t, i, g) for t, items in QRELS.items() for i, g in items.items()]
SCORED = [(t, i, s) for t, items in RUN.items() for i, s in items.items()]
RANKED = [(t, i, n) for t, items in ORDER.items() for n, i in enumerate(items, 1)]
FULL = [(t, i, n, s) for (t, i, n), (_, _, s) in zip(RANKED, SCORED, strict=True)]


def lines(rows, separator="\t"):
    return "".join(separator.join(map(str, row)) + "\n" for row in rows)


def records(*found):
    return "".join(json.dumps(record) + "\n" for record in found)


def named(names, rows):
    return [dict(zip(names.split(), row, strict=True)) for row in rows]


SCORES = {
    "triples.jsonl": records(*named("query_id doc_id score", SCORED)),
    "beir.jsonl": records(*named("query-id corpus-id score", SCORED)),
    "camel.jsonl": records(*named("QueryId DocId Score", SCORED)),
    "topics.jsonl": records(*({t: items} for t, items in RUN.items())),
    "results.jsonl": records(
        *(
            {"query_id": t, "results": named("doc_id score", items.items())}
            for t, items in RUN.items()
        )
    ),
    "hits.jsonl": records(
        *({"qid": int(t), "hits": named("id score", items.items())} for t, items in RUN.items())
    ),
    "frame.json": json.dumps(named("query_id doc_id score", SCORED)),
    "pairs.json": json.dumps({t: [[*pair] for pair in items.items()] for t, items in RUN.items()}),
    "details.json": json.dumps({t: named("doc_id score", i.items()) for t, i in RUN.items()}),
    "decimal-commas.csv": "query;document;score\n" + lines(SCORED, ";").replace(".", ","),
    "commas-without-head.csv": lines(SCORED, ";").replace(".", ","),
    "both.csv": "qid;docid;rank;score\n" + lines(FULL, ";"),
    "index.csv": ",qid,docno,score\n" + lines([(n, *r) for n, r in enumerate(SCORED)], ","),
    "windows.tsv": "\ufeffQuery-ID\tCorpus-ID\tScore\r\n" + lines(SCORED).replace("\n", "\r\n"),
    "blanks.txt": lines(SCORED, " "),
    "bare.csv": lines(SCORED, ","),
}
RANKS = {
    "ranks.jsonl": records(*named("qid docno rank", RANKED)),
    "lists.jsonl": records(*({t: items} for t, items in ORDER.items())),
    "ranking.jsonl": records(*({"topic": t, "ranking": items} for t, items in ORDER.items())),
    "ids.jsonl": records(*({"query_id": t, "doc_ids": items} for t, items in ORDER.items())),
    "marco.tsv": "qid\tpid\trank\n" + lines(RANKED),
    "blanks.txt": lines(RANKED, " "),
    "lists.json": json.dumps(ORDER),
}
GRADES = {
    "irds.jsonl": records(*named("query_id doc_id relevance", GRADED)),
    "beir.jsonl": records(*named("query-id corpus-id score", GRADED)),
    "topics.jsonl": records(*({t: items} for t, items in QRELS.items())),
    "qrels.jsonl": records(*({"query_id": t, "qrels": items} for t, items in QRELS.items())),
    "frame.json": json.dumps(named("query_id doc_id relevance", GRADED)),
    "beir.tsv": "query-id\tcorpus-id\tscore\n" + lines(GRADED),
    "bare.tsv": lines(GRADED),
    "marco.tsv": lines((t, 0, i, g) for t, i, g in GRADED),
    "marco-head.tsv": "qid\titer\tpid\trel\n" + lines((t, 0, i, g) for t, i, g in GRADED),
    "semicolons.csv": lines(GRADED, ";"),
    "three.txt": lines(GRADED, " "),
    "judgment.csv": "qid,docno,judgment\n" + lines(GRADED, ","),
    "relevant.csv": "query,document,relevant\n" + lines(GRADED, ","),
}
LISTS = {item: sorted(labels) for item, labels in TRUTH.items()}
LABELS = {
    "bars.csv": "item,labels\n" + lines(((i, "|".join(c)) for i, c in LISTS.items()), ","),
    "inner.csv": "item,labels\n" + lines(((i, ";".join(c)) for i, c in LISTS.items()), ","),
    "quoted.csv": "item,labels\n"
    + lines(((i, f'"{", ".join(c)}"') for i, c in LISTS.items()), ","),
    "blanks.csv": "item,labels\n" + lines(((i, " ".join(c)) for i, c in LISTS.items()), ","),
    "open.csv": "item,labels\n" + lines(((i, ",".join(c)) for i, c in LISTS.items()), ","),
    "python.csv": "item,labels\n" + lines(((i, f'"{c}"') for i, c in LISTS.items()), ","),
    "semicolons.csv": "image;tags\n" + lines(((i, ",".join(c)) for i, c in LISTS.items()), ";"),
    "tabs.tsv": "filename\tlabels\n" + lines((i, ",".join(c)) for i, c in LISTS.items()),
    "pairs.csv": "item,concept\n"
    + lines(((i, c) for i, found in LISTS.items() for c in found), ","),
    "label.csv": "image,label\n" + lines(((i, "|".join(c)) for i, c in LISTS.items()), ","),
    "lists.jsonl": records(*({"item": i, "labels": c} for i, c in LISTS.items())),
    "tags.jsonl": records(*({"image_id": i, "tags": c} for i, c in LISTS.items())),
    "items.jsonl": records(*({i: c} for i, c in LISTS.items())),
    "frame.json": json.dumps([{"file_name": i, "labels": c} for i, c in LISTS.items()]),
}
CELLS = [(i, c, v) for i, row in SURE.items() for c, v in row.items()]
CONFIDENCES = {
    "decimal-commas.csv": "item;Dog;Sea;Sky\n"
    + lines(([i, *(str(v).replace(".", ",") for v in r.values())] for i, r in SURE.items()), ";"),
    "long.csv": "item;concept;value\n" + lines(CELLS, ";"),
    "confidence.csv": "item,concept,confidence\n" + lines(CELLS, ","),
    "score.csv": "image,label,score\n" + lines(CELLS, ","),
    "values.jsonl": records(*({"item": i, "labels": row} for i, row in SURE.items())),
    "scores.jsonl": records(*({"id": i, "scores": row} for i, row in SURE.items())),
    "items.jsonl": records(*({i: row} for i, row in SURE.items())),
    "cells.jsonl": records(*named("item concept confidence", CELLS)),
}


@pytest.mark.parametrize("name", SCORES)
def test_runs_with_scores(tmp_path, name):
    (tmp_path / name).write_text(SCORES[name])
    assert read_run(tmp_path / name).to_dict() == RUN


@pytest.mark.parametrize("name", RANKS)
def test_runs_with_ranks(tmp_path, name):
    (tmp_path / name).write_text(RANKS[name])
    found = read_run(tmp_path / name)
    assert {topic: found.ranking(topic) for topic in found.topics} == ORDER


@pytest.mark.parametrize("name", GRADES)
def test_judgements(tmp_path, name):
    (tmp_path / name).write_text(GRADES[name])
    assert read_qrels(tmp_path / name).to_dict() == QRELS


@pytest.mark.parametrize("name", LABELS)
def test_truths(tmp_path, name):
    (tmp_path / name).write_text(LABELS[name])
    found, wanted = cf.read_labels(tmp_path / name), cf.LabelMatrix.of(TRUTH)
    assert (found.items, found.concepts) == (wanted.items, wanted.concepts)
    assert (found.labels == wanted.labels).all()


@pytest.mark.parametrize("name", CONFIDENCES)
def test_confidences(tmp_path, name):
    (tmp_path / name).write_text(CONFIDENCES[name])
    found, wanted = cf.read_labels(tmp_path / name), cf.LabelMatrix.of(SURE)
    assert (found.items, found.concepts) == (wanted.items, wanted.concepts)
    assert found.confidences.tolist() == wanted.confidences.tolist()


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("r.json", '[{"query_id": "1", "score": 2}]', "record 1: no item in the record"),
        ("r.json", "[]", "expected a JSON object"),
        ("r.json", '{"1": [["a", 1], ["a", 2]]}', "'a' is listed twice"),
        ("r.json", '{"1": [["a", "x"]]}', "'x' is not a number"),
        ("r.jsonl", '{"query_id": "1", "results": [{"score": 1}]}', "no item in the record"),
        ("r.csv", "qid;docno;score\n1;a;1.234,5\n", "'1.234,5' is not a number"),
    ],
)
def test_what_is_wrong_is_said(tmp_path, name, text, says):
    (tmp_path / name).write_text(text)
    with pytest.raises(cf.InputError, match=says):
        read_run(tmp_path / name)


@pytest.mark.parametrize(
    "text",
    [
        '{"item": "a", "labels": ["x"]}\n{"item": "a", "labels": ["y"]}\n',
        '{"item": "a", "concept": "x", "value": 1}\n{"item": "a", "concept": "x", "value": 0}\n',
    ],
)
def test_an_item_that_stands_twice(tmp_path, text):
    (tmp_path / "l.jsonl").write_text(text)
    with pytest.raises(cf.InputError, match=r"l\.jsonl:2: item 'a' is listed twice"):
        cf.read_labels(tmp_path / "l.jsonl")


def test_every_command_takes_them(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.jsonl").write_text(GRADES["qrels.jsonl"])
    (tmp_path / "a.jsonl").write_text(SCORES["hits.jsonl"])
    (tmp_path / "b.jsonl").write_text(RANKS["lists.jsonl"])
    (tmp_path / "three.tsv").write_text(lines(RANKED))
    (tmp_path / "t.jsonl").write_text(LABELS["lists.jsonl"])
    (tmp_path / "s.jsonl").write_text(CONFIDENCES["cells.jsonl"])
    (tmp_path / "collection.toml").write_text('judgements = "q.jsonl"\n')
    for asked in (
        "eval q.jsonl a.jsonl b.jsonl -m AP",
        "compare q.jsonl a.jsonl b.jsonl -m AP --resamples 20",
        "label t.jsonl s.jsonl -m AP.concept",
        "check . a.jsonl b.jsonl",
        "convert --kind run a.jsonl a.run",
        "eval q.jsonl a.jsonl b.jsonl -m AP --format html -o r.html",
    ):
        assert main(asked.split()) == 0, (asked, capsys.readouterr().err)
    capsys.readouterr()
    # What decides is named where the command has it, and only there.
    assert main(["eval", "q.jsonl", "three.tsv", "-m", "AP"]) == 0
    assert "(--third decides); a header would say it" in capsys.readouterr().err
    assert main(["check", ".", "three.tsv"]) == 0
    told = capsys.readouterr().err
    assert "it counts from 1 in every topic; a header would say it" in told
    assert "third=" not in told
