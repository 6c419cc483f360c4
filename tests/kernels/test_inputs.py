"""One result, whatever the run and the judgements come in and however they are cut up."""

from __future__ import annotations

import copy
import gzip
import io
import pickle
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cranfield.data import Judgements, Run
from cranfield.evaluation.ranked import evaluate
from cranfield.evaluation.scores import Scores
from cranfield.io import read_qrels, read_run
from tests.reference import ranked

MEASURES = "AP nDCG@10 RR Bpref NumRet NumRel"
CHUNK = 1 << 20
Nested = dict[str, dict[str, float]]


def problem(seed: int = 0, topics: int = 12) -> tuple[Nested, Nested]:
    """Judgements and a run with ties, odd ids, a missing topic and one without judgements."""
    draw = random.Random(seed)
    items = [f"d{i}" for i in range(40)] + ["é", "日本", "D-1", "a#b", "x/y"]
    qrels: Nested = {}
    run: Nested = {}
    for t in range(topics):
        topic = f"{t:02}" if t % 3 else f"t-{t}"
        judged = draw.sample(items, draw.randint(1, 20))
        qrels[topic] = {i: draw.choice([-1.0, 0.0, 0.0, 1.0, 2.0, 1.5]) for i in judged}
        if t:
            ranked_items = draw.sample(items, draw.randint(1, 40))
            run[topic] = {i: draw.choice([1.0, 2.0, draw.random()]) for i in ranked_items}
    run["unjudged"] = {"d1": 1.0}
    return qrels, run


QRELS, RUN = problem()


def rows(nested: Nested) -> list[tuple[str, str, float]]:
    return [(t, i, v) for t, items in nested.items() for i, v in items.items()]


def run_text(lines: list[tuple[str, str, float]]) -> str:
    return "".join(f"{t} Q0 {i} 0 {v!r} tag\n" for t, i, v in lines)


def qrels_text(lines: list[tuple[str, str, float]]) -> str:
    return "".join(f"{t} 0 {i} {v!r}\n" for t, i, v in lines)


def expected() -> np.ndarray[Any, np.dtype[np.float64]]:
    table = []
    for topic, judgements in QRELS.items():
        grades = ranked.order(RUN.get(topic, {}), judgements)
        judged = list(judgements.values())
        inf = float("inf")
        table.append(
            [
                ranked.average_precision(grades, judged, 1, inf),
                ranked.ndcg(grades, judged, 10, 0, 0),
                ranked.reciprocal_rank(grades, judged, 1, inf),
                ranked.bpref(grades, judged, 1),
                ranked.num_ret(grades, judged),
                ranked.num_rel(grades, judged, 1),
            ]
        )
    return np.array(table)


def values(scores: Scores) -> np.ndarray[Any, np.dtype[np.float64]]:
    stacked = np.stack([scores.values[m][0] for m in scores.measures], axis=1)
    return stacked[np.argsort(list(scores.units["topic"]))]


def assert_expected(scores: Scores) -> None:
    assert sorted(scores.units["topic"]) == sorted(QRELS)
    order = np.argsort(list(QRELS))
    np.testing.assert_allclose(values(scores), expected()[order], rtol=1e-12, atol=1e-12)
    assert scores.missing == (1,)
    assert any("unjudged" in note for note in scores.notes)


def frames(kind: str, nested: Nested, names: tuple[str, str, str]) -> Any:
    columns = {n: list(c) for n, c in zip(names, zip(*rows(nested), strict=True), strict=True)}
    if kind == "arrow":
        return pytest.importorskip("pyarrow").table(columns)
    library = pytest.importorskip(kind)
    return library.DataFrame(columns)


@pytest.mark.parametrize("form", ["dict", "columns", "numpy", "pandas", "polars", "arrow"])
@pytest.mark.parametrize("names", [("topic", "item"), ("query_id", "doc_id"), ("qid", "docno")])
def test_objects_in_memory(form: str, names: tuple[str, str]) -> None:
    qrels: Any
    run: Any
    if form == "dict":
        qrels, run = QRELS, RUN
    elif form in ("columns", "numpy"):
        make = list if form == "columns" else np.array
        qrels = tuple(make(c) for c in zip(*rows(QRELS), strict=True))
        run = tuple(make(c) for c in zip(*rows(RUN), strict=True))
    else:
        qrels = frames(form, QRELS, (*names, "relevance"))
        run = frames(form, RUN, (*names, "score"))
    assert_expected(evaluate(qrels, run, MEASURES))


def test_categories_and_whole_numbers_as_ids() -> None:
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame(rows(RUN), columns=["topic", "item", "score"])
    frame["topic"] = frame["topic"].astype("category")
    assert_expected(evaluate(QRELS, frame, MEASURES))
    numbers = pd.DataFrame({"topic": [1, 1, 2], "item": [7, 8, 7], "score": [2, 1, 3]})
    scores = evaluate({"1": {"8": 1}, "2": {"7": 1}}, numbers, "RR")
    assert values(scores)[:, 0].tolist() == [0.5, 1.0]


@pytest.mark.parametrize("ending", ["", ".gz", ".zst", "-"])
def test_files(ending: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = run_text(rows(RUN)).encode()
    qrels = tmp_path / "qrels"
    qrels.write_text(qrels_text(rows(QRELS)))
    path: Path | str = tmp_path / f"run{ending}"
    if ending == "-":
        path = "-"
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    elif ending == ".gz":
        Path(path).write_bytes(gzip.compress(data[:500]) + gzip.compress(data[500:]))
    elif ending == ".zst":
        zstd = pytest.importorskip("backports.zstd", reason="no zstd here to make a file with")
        Path(path).write_bytes(zstd.compress(data))
    else:
        Path(path).write_bytes(data)
    assert_expected(evaluate(qrels, path, MEASURES))


@pytest.mark.parametrize("jobs", [1, 2])
@pytest.mark.parametrize("seed", [0, 1])
def test_scattered_topics(jobs: int, seed: int, tmp_path: Path) -> None:
    lines = rows(RUN)
    random.Random(seed).shuffle(lines)
    judged = rows(QRELS)
    random.Random(seed).shuffle(judged)
    (tmp_path / "run").write_text(run_text(lines))
    (tmp_path / "qrels").write_text(qrels_text(judged))
    assert_expected(evaluate(tmp_path / "qrels", tmp_path / "run", MEASURES, jobs=jobs))
    columns = tuple(list(c) for c in zip(*lines, strict=True))
    assert_expected(evaluate(tuple(list(c) for c in zip(*judged, strict=True)), columns, MEASURES))


def test_objects_that_were_read_before(tmp_path: Path) -> None:
    (tmp_path / "run").write_text(run_text(rows(RUN)))
    (tmp_path / "qrels").write_text(qrels_text(rows(QRELS)))
    qrels, run = read_qrels(tmp_path / "qrels"), read_run(tmp_path / "run")
    assert qrels.to_dict() == QRELS
    assert run.to_dict() == RUN
    assert run.name == "run"
    assert run.tag == "tag"
    assert_expected(evaluate(qrels, run, MEASURES))
    assert_expected(evaluate(qrels, [run], MEASURES, jobs=2))


# Files of several chunks: topics of odd sizes meet the border at odd places.


def large_run(sizes: list[int], newline: str) -> tuple[bytes, dict[str, float]]:
    """A run whose only relevant items are the last of each topic, with the AP of each."""
    parts, wanted = [], {}
    for t, size in enumerate(sizes):
        topic = f"topic{t}"
        parts += [f"{topic} Q0 item{i} {i} {size - i} r{newline}" for i in range(size)]
        wanted[topic] = 1 / size
        if t % 7 == 3:
            parts.append(f"# comment after {topic}{newline}{newline}\t {newline}")
    return "".join(parts).encode(), wanted


def large_problem(shape: str) -> tuple[bytes, dict[str, float]]:
    draw = random.Random(shape)
    if shape == "larger than a chunk":
        return large_run([3, 120_000, 5, 1, 90_000, 2], "\n")
    newline = "\r\n" if shape == "CRLF" else "\n"
    data, wanted = large_run([draw.choice([1, 7, 997, 4999]) for _ in range(60)], newline)
    if shape == "no last newline":
        data = data.rstrip(b"\n")
    elif shape == "BOM":
        data = b"\xef\xbb\xbf" + data
    elif shape == "tabs":
        data = data.replace(b" ", b"\t \t")
    return data, wanted


SHAPES = ["plain", "CRLF", "no last newline", "BOM", "tabs", "larger than a chunk"]


@pytest.mark.parametrize("shape", SHAPES)
def test_borders_of_chunks(shape: str, tmp_path: Path) -> None:
    data, wanted = large_problem(shape)
    assert len(data) > 2 * CHUNK
    qrels = {t: {f"item{round(1 / ap) - 1}": 1} for t, ap in wanted.items()}
    (tmp_path / "run").write_bytes(data)
    (tmp_path / "run.gz").write_bytes(gzip.compress(data, 1))
    for name in ("run", "run.gz"):
        for jobs in (1, 2):
            scores = evaluate(qrels, tmp_path / name, "AP NumRet", jobs=jobs)
            assert scores.notes == ()
            ap = dict(zip(scores.units["topic"], values_of(scores, 0), strict=True))
            assert ap == pytest.approx(wanted, rel=1e-12)
            assert values_of(scores, 1) == [round(1 / wanted[t]) for t in scores.units["topic"]]
    whole = read_run(tmp_path / "run.gz", jobs=2)
    assert list(whole.topics) == list(wanted)
    assert len(whole) == sum(round(1 / ap) for ap in wanted.values())


def values_of(scores: Scores, measure: int) -> list[float]:
    return [float(v) for v in scores.values[scores.measures[measure]][0]]


def test_many_runs_at_once_equal_each_alone(tmp_path: Path) -> None:
    paths = []
    for seed in range(5):
        _, run = problem(seed)
        paths.append(tmp_path / f"run{seed}.txt")
        paths[-1].write_text(run_text(rows(run)))
    together = evaluate(QRELS, paths, MEASURES, jobs=2)
    assert together.runs == tuple(f"run{seed}" for seed in range(5))
    for path, (name, means) in zip(paths, together.mean().items(), strict=True):
        assert evaluate(QRELS, path, MEASURES, jobs=1).mean() == {name: means}


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("1", 1.0),
        ("-1", -1.0),
        ("+1", 1.0),
        ("1.", 1.0),
        (".5", 0.5),
        ("-.5", -0.5),
        ("0.1", 0.1),
        ("12345678.12345678", 12345678.12345678),
        ("123456789.5", 123456789.5),
        ("0.30000000000000004", 0.30000000000000004),
        ("1e-5", 1e-5),
        ("1E+3", 1000.0),
        ("4.9e-324", 5e-324),
        ("1e-999", 0.0),
        ("-0", 0.0),
        ("007", 7.0),
        ("99999999.9999999", 99999999.9999999),
        ("1.7976931348623157e308", 1.7976931348623157e308),
    ],
)
@pytest.mark.parametrize("tail", ["", " r" * 20])
def test_numbers_are_read_as_python_reads_them(
    text: str, number: float, tail: str, tmp_path: Path
) -> None:
    # What follows on the line decides whether eight bytes at a time can be looked at.
    (tmp_path / "run").write_text(f"1 Q0 a 1 {text} r\n# {tail}\n")
    assert read_run(tmp_path / "run").to_dict() == {"1": {"a": number}}


@pytest.mark.parametrize("text", ["+-1", "--1", "1-", "e5", ".", "-", "1e", "1,5", "1..2", "0b1"])
def test_what_is_no_number_is_refused(text: str, tmp_path: Path) -> None:
    from cranfield.errors import InputError

    (tmp_path / "run").write_text(f"1 Q0 a 1 {text} r\n# and more text than a number needs\n")
    with pytest.raises(InputError, match="is not a number"):
        read_run(tmp_path / "run")


def test_judgements_and_runs_travel_to_other_processes(tmp_path: Path) -> None:
    judged, retrieved = problem()
    (tmp_path / "a.run").write_text("t-0 Q0 d1 1 2.5 tag\n")
    judgements, run = Judgements.from_dict(judged), Run.from_dict(retrieved).named("x")
    expected = evaluate(judgements, [run], MEASURES).per_topic()  # also builds what is cached
    there, back = (pickle.loads(pickle.dumps(one)) for one in (judgements, run))
    assert back.name == "x"
    assert evaluate(there, [back], MEASURES).per_topic() == expected
    read = read_run(tmp_path / "a.run")
    assert pickle.loads(pickle.dumps(read)).to_dict() == read.to_dict()
    assert copy.deepcopy(judgements).to_dict() == judgements.to_dict()


@pytest.mark.parametrize("kind", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("column", ["run", "run_id", "System"])
def test_a_frame_of_several_runs_is_split_by_its_column(kind: str, column: str) -> None:
    """A row of another run must not be taken for one of this run's items."""
    data = {
        column: ["A", "B", "A"],
        "query_id": ["q1", "q2", "q2"],
        "doc_id": ["a", "b", "c"],
        "score": [1.0, 1.0, 2.0],
    }
    library = pytest.importorskip(kind)
    frame = library.table(data) if kind == "pyarrow" else library.DataFrame(data)
    scores = evaluate({"q1": {"a": 1}, "q2": {"b": 1}}, frame, "AP")
    assert scores.mean() == {"A": {"AP": 0.5}, "B": {"AP": 0.5}}


@pytest.mark.parametrize("seed", range(20))
def test_the_whole_way_up_leaves_the_best_item(seed: int) -> None:
    scores = np.random.default_rng(seed).normal(size=50)
    run = Run.from_dict({"t": {f"i{k}": float(v) for k, v in enumerate(scores)}})
    assert run.above("100%").ranking("t") == run.ranking("t")[:1]
    assert len(run.above("0%").ranking("t")) == 50
