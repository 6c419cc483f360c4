"""What comes through a pipe, or under a name that tells nothing, is known by how it begins."""

import gzip
import json
import os
import subprocess
import sys
import threading

import pytest

import cranfield as cf
from cranfield.errors import InputError

QRELS = {"1": {"a": 1, "b": 0}, "2": {"b": 2}}
RUN = {"1": {"b": 2.5, "a": 1.5}, "2": {"b": 2.0, "c": 1.0}}
ROWS = [(t, i, s) for t, items in RUN.items() for i, s in items.items()]
GRADES = [(t, i, g) for t, items in QRELS.items() for i, g in items.items()]


def table(header, rows, mark):
    return "\n".join(mark.join(map(str, row)) for row in [header, *rows]) + "\n"


RUNS = {
    "TREC": "".join(f"{t} Q0 {i} 1 {s} r\n" for t, i, s in ROWS),
    "JSON": json.dumps(RUN),
    "JSON on lines": "\n" + json.dumps(RUN, indent=1),
    "JSON Lines": "".join(
        json.dumps({"query_id": t, "doc_id": i, "score": s}) + "\n" for t, i, s in ROWS
    ),
    "records": json.dumps([{"topic": t, "item": i, "score": s} for t, i, s in ROWS]),
    "CSV": "\ufeff" + table(("topic", "item", "score"), ROWS, ","),
    "CSV after blank lines": "\n\n" + table(("topic", "item", "score"), ROWS, ","),
    "semicolons": table(("topic", "item", "score"), ROWS, ";"),
    "TSV": table(("query_id", "doc_id", "score"), ROWS, "\t"),
    "three columns": "".join(f"{t}\t{i}\t{s}\n" for t, i, s in ROWS),
}
JUDGED = {
    "TREC": "".join(f"{t} 0 {i} {g}\n" for t, i, g in GRADES),
    "JSON": json.dumps(QRELS),
    "BEIR": table(("query-id", "corpus-id", "score"), GRADES, "\t"),
    "semicolons": table(("topic", "item", "grade"), GRADES, ";"),
    "three columns": "".join(f"{t} {i} {g}\n" for t, i, g in GRADES),
    "strata": "".join(f"{t} 0 {i} 1 {g}\n" for t, i, g in GRADES),
}
TRUTH = {"i1": {"Sky": 1, "Sea": 0}, "i2": {"Sky": 0, "Sea": 1}}
LABELS = {
    "text": "i1 0.7 0.2\ni2 0.1 0.3\n",
    "JSON": '{"i1": {"Sky": 0.7, "Sea": 0.2}, "i2": {"Sky": 0.1, "Sea": 0.3}}',
    "CSV": "item,Sky,Sea\ni1,0.7,0.2\ni2,0.1,0.3\n",
    "semicolons": "item;Sky;Sea\ni1;0,7;0,2\ni2;0.1;0.3\n",
    "TSV": "item\tSky\tSea\ni1\t0.7\t0.2\ni2\t0.1\t0.3\n",
    "long TSV": "item\tconcept\tvalue\ni1\tSky\t0.7\ni1\tSea\t0.2\ni2\tSky\t0.1\ni2\tSea\t0.3\n",
}


@pytest.fixture
def pipe(tmp_path):
    """A named pipe that somebody writes into, as a shell makes one of <(...)."""
    path = tmp_path / "pipe"
    os.mkfifo(path)

    def filled(data):
        threading.Thread(target=lambda: path.write_bytes(data), daemon=True).start()
        return str(path)

    return filled


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("form", RUNS)
def test_runs_through_a_pipe(pipe, form, packed):
    data = RUNS[form].encode()
    assert cf.read_run(pipe(gzip.compress(data) if packed else data)).to_dict() == RUN
    expected = cf.evaluate(QRELS, {"pipe": RUN}, "AP nDCG@10").mean()
    piped = pipe(gzip.compress(data) if packed else data)
    assert cf.evaluate(QRELS, piped, "AP nDCG@10").mean() == expected


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("form", JUDGED)
def test_judgements_through_a_pipe(pipe, form, packed):
    data = JUDGED[form].encode()
    assert cf.read_qrels(pipe(gzip.compress(data) if packed else data)).to_dict() == QRELS


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("form", LABELS)
def test_labels_through_a_pipe(pipe, form, packed):
    data = LABELS[form].encode()
    found = cf.read_labels(pipe(gzip.compress(data) if packed else data), concepts=["Sky", "Sea"])
    assert found.confidences.tolist() == [[0.7, 0.2], [0.1, 0.3]]


@pytest.mark.parametrize("form", RUNS)
def test_files_under_a_name_that_tells_nothing(tmp_path, form):
    path = tmp_path / "some.txt"
    path.write_text(RUNS[form])
    assert cf.read_run(path).to_dict() == RUN
    expected = cf.evaluate(QRELS, {"some": RUN}, "AP").mean()
    assert cf.evaluate(QRELS, path, "AP").mean() == expected


@pytest.mark.parametrize("form", [form for form in JUDGED if form != "strata"])
def test_judgements_under_a_name_that_tells_nothing(tmp_path, form):
    path = tmp_path / "some.txt"
    path.write_text(JUDGED[form])
    assert cf.read_qrels(path).to_dict() == QRELS


@pytest.mark.parametrize("form", [form for form in LABELS if form not in ("text", "JSON")])
@pytest.mark.parametrize("ending", [".txt", ".csv", ".tsv"])
def test_labels_whatever_separates_them(tmp_path, form, ending):
    path = tmp_path / f"some{ending}"
    path.write_text(LABELS[form])
    found = cf.read_labels(path, concepts=["Sky", "Sea"])
    assert found.confidences.tolist() == [[0.7, 0.2], [0.1, 0.3]]


def test_a_name_of_a_concept_may_have_what_separates_others(tmp_path):
    path = tmp_path / "some.csv"
    path.write_text("item;Sky, cloudy;Sea\ni1;0,7;0,2\n")
    assert cf.read_labels(path).concepts == ("Sky, cloudy", "Sea")
    path.write_text('item,"Sky; a; b",Sea\ni1,0.7,0.2\n')
    assert cf.read_labels(path).concepts == ("Sky; a; b", "Sea")


def test_packed_standard_input_of_any_reader(tmp_path):
    log = "annotator,item,concept,value\nx,i,Sky,1\ny,i,Sky,0\n"
    command = [sys.executable, "-m", "cranfield", "agreement", "-", "--format", "csv"]
    plain, packed = (
        subprocess.run(command, input=data, capture_output=True, timeout=120)
        for data in (log.encode(), gzip.compress(log.encode()))
    )
    assert (packed.returncode, packed.stdout) == (0, plain.stdout)


def test_what_is_cut_off_is_said(pipe):
    data = gzip.compress(os.urandom(9000))[:-3000]
    with pytest.raises(InputError, match="ends too early"):
        cf.read_run(pipe(data))


def test_judgements_in_the_place_of_a_run(pipe):
    with pytest.raises(InputError, match="Were they exchanged"):
        cf.evaluate(QRELS, pipe(JUDGED["TREC"].encode()), "AP")
