"""What a score is, at every door; and headers whose cost is linear."""

from __future__ import annotations

import datetime
import json
import time
from decimal import Decimal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import cranfield as cf
from cranfield.errors import CranfieldError, InputError
from cranfield.io.files import Caps, Input

JUDGED = {"t": {"a": 1}}
IDS = (["t", "t"], ["a", "b"])


@pytest.mark.parametrize(
    "scores",
    [
        np.ma.masked_array([9.0, 1.0], mask=[1, 0]),
        np.array([9 + 1j, 1]),
        np.array(["2020-01-01", "2021-01-01"], dtype="M8[D]"),
        np.array([1, 2], dtype="m8[s]"),
        ["1", "2"],
        [1.0, "1_0"],
        [1.0, 2j],
        [1.0, None],
        [1.0, datetime.date(2020, 1, 1)],
        [1.0, float("nan")],
        [[1.0], [2.0]],
    ],
    ids=str,
)
def test_columns_that_are_no_scores(scores: Any) -> None:
    with pytest.raises(CranfieldError):
        cf.evaluate(JUDGED, (*IDS, scores), "RR")


@pytest.mark.parametrize("score", [1j, "1", None, float("nan"), datetime.date(2020, 1, 1)], ids=str)
def test_dicts_that_have_no_scores(score: Any) -> None:
    with pytest.raises(CranfieldError):
        cf.evaluate(JUDGED, {"t": {"a": score}}, "RR")
    with pytest.raises(CranfieldError):
        cf.Run.from_dict({"t": {"a": score}})
    if score is not None:
        with pytest.raises(CranfieldError):
            cf.LabelMatrix.of({"i": {"Sky": score}})


def test_what_is_a_score() -> None:
    for scores in ([2, 1], [True, False], [Decimal("1.5"), 1], np.array([2, 1], np.uint8)):
        assert cf.evaluate(JUDGED, (*IDS, scores), "RR").mean() == {"run": {"RR": 1.0}}


@pytest.mark.parametrize("sign", ["", "-"])
def test_infinite_scores_are_accepted_at_every_door(sign: str) -> None:
    pa = pytest.importorskip("pyarrow")
    infinite = float(f"{sign}inf")
    wanted = {"RR": 0.5 if sign else 1.0}
    table = pa.table({"topic": IDS[0], "item": IDS[1], "score": [infinite, 1.0]})
    doors = [
        {"t": {"a": infinite, "b": 1.0}},
        (*IDS, [infinite, 1.0]),
        (*IDS, np.array([infinite, 1.0])),
        table,
        table.to_pandas(),
        Input("r.run", f"t Q0 a 1 {sign}inf x\nt Q0 b 2 1 x\n".encode()),
        Input("r.run", f"t Q0 a 1 {sign}1e999 x\nt Q0 b 2 1 x\n".encode()),
        Input("r.csv", f"topic,item,score\nt,a,{sign}inf\nt,b,1\n".encode()),
        Input("r.json", json.dumps({"t": {"a": infinite, "b": 1.0}}).encode()),
    ]
    for door in doors:
        (mean,) = cf.evaluate(JUDGED, [door], "RR").mean().values()
        assert mean == wanted, door
    for text in ("t 0 a inf\n", "t 0 a nan\n"):
        with pytest.raises(InputError, match="is not a finite number"):
            cf.read_qrels(Input("q", text.encode()))


@pytest.mark.parametrize("text", ["1_000", "٣", "１", "0x1", ""])
def test_only_python_would_take_these_for_numbers(text: str) -> None:
    inputs = [
        (cf.read_run, "r.run", f"t Q0 a 1 {text} x\n"),
        (cf.read_run, "r.csv", f"topic,item,score\nt,a,{text}\n"),
        (cf.read_qrels, "q", f"t 0 a {text}\n"),
        (cf.read_labels, "l.csv", f"item,Sky\ni,{text}\n"),
        (cf.read_labels, "long.csv", f"item,concept,value\ni,Sky,{text}\n"),
        (cf.read_labels, "l.txt", f"i {text or 'x'}\n"),
        (cf.read_judgement_log, "log.csv", f"annotator,item,concept,value\np,i,c,{text}\n"),
        (cf.read_judgement_log, "s.csv", f"annotator,item,category,seconds\np,i,c,{text}\n"),
        (cf.read_subject_rankings, "s.csv", f"subject,topic,item,significance\np,t,i,{text}\n"),
    ]
    for read, name, content in inputs:
        with pytest.raises(InputError):
            read(Input(name, content.encode()))  # type: ignore[operator]


@pytest.mark.slow
def test_a_header_of_a_million_columns() -> None:
    def seconds(count: int) -> float:
        names = ",".join(f"c{i}" for i in range(count))
        data = f"item,{names}\ni,{','.join('01'[i % 2] for i in range(count))}\n".encode()
        begun = time.process_time()
        matrix = cf.read_labels(Input("w.csv", data, Caps(line_bytes=None)))
        assert matrix.shape == (1, count)
        return time.process_time() - begun

    few, many = seconds(100_000), seconds(1_000_000)
    assert many < 40 * max(few, 0.05)  # a hundred times as long if it were quadratic
    wide = b"item," + b",".join(b"c%d" % i for i in range(200_000))
    with pytest.raises(InputError, match="the line is longer than 1 MB"):
        cf.read_labels(Input("w.csv", wide))


@pytest.mark.parametrize("ties", [{}, {"ties": "average"}])
def test_scores_beyond_a_double_are_told(tmp_path: Path, ties: dict[str, Any]) -> None:
    path = tmp_path / "odd.run"
    scores = ("1e401", "1e400", "inf", "0.0000000000000", "1e-400", "-2e-500", "-inf")
    path.write_text("".join(f"t Q0 i{n} 1 {s} odd\n" for n, s in enumerate(scores)))
    said = "has 4 scores beyond what a double holds"
    assert said in cf.read_run(path).notes[0]
    found = cf.evaluate({"t": {"i0": 1}}, {"odd": path}, "AP", **ties).notes
    assert [note for note in found if note.startswith(f"odd: {said}")] == list(found)
    path.write_text("t Q0 a 1 inf odd\nt Q0 b 2 0e0 odd\nt Q0 c 3 0.000000000000000 odd\n")
    assert cf.read_run(path).notes == ()
