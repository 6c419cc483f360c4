"""Malformed CSV, JSON and Parquet end as other malformed input: exit code 2, where and what."""

from __future__ import annotations

from typing import Any

import pytest

from tests.cli.bench import Bench


def csv(rows: str) -> str:
    return "topic,item,score\n" + rows


BAD_CSV: dict[str, tuple[str | bytes, str]] = {
    "short line": (
        csv("1,a\n"),
        "bad.csv:2: 2 fields in '1,a' (the header has 3: topic, item, score)",
    ),
    "extra field": (
        csv("1,a,2,3\n"),
        "bad.csv:2: 4 fields in '1,a,2,3' (the header has 3: topic, item, score)",
    ),
    "score abc": (csv("1,a,1\n1,b,abc\n"), "bad.csv:3: score 'abc' is not a number"),
    "score 1_0": (csv("1,a,1_0\n"), "bad.csv:2: score '1_0' is not a number"),
    "score nan": (
        csv("1,a,nan\n"),
        "bad.csv:2: score 'nan' is not a finite number; no item can be ranked by it",
    ),
    "duplicate item": (
        csv("1,a,1\n1,b,1\n1,a,1\n"),
        "bad.csv:4: item 'a' is listed twice for topic '1', first on line 2; keep one of them",
    ),
    "not UTF-8": (
        csv("1,a,1\n").encode() + b"1,\xe9,1\n",
        "bad.csv:3: byte 0xe9 is not UTF-8 text; convert the file, for example with iconv",
    ),
    "empty": ("", "bad.csv: is empty (expected a header: topic, item, score)"),
    "header only": (csv(""), "bad.csv: is empty: no rows with topic, item and score"),
    "no header": (
        "1,a,x\n",
        "bad.csv:1: no column 'topic' in the header ['1', 'a', 'x'] (expected: topic, item, score)",
    ),
    "two columns of one name": (
        "topic,item,score,Score\n1,a,1,2\n",
        "bad.csv:1: two columns are named 'score'; keep one of them",
    ),
    "comment": (csv("# x\n"), "bad.csv:2: 1 field in '# x' (the header has 3: topic, item, score)"),
    "empty item": (csv("1,,1\n"), "bad.csv:2: the topic or the item is empty"),
    "zero byte": (csv("1,a\0,1\n"), r"bad.csv:2: binary data in 'a\x00'; is this a text file?"),
    "no overlap": (
        csv("9,a,1\n"),
        "bad.csv: none of its topics (9) is judged (judged: 1, 2); do run and judgements belong "
        "together?",
    ),
}


@pytest.mark.parametrize("case", BAD_CSV)
def test_bad_csv(case: str, bench: Bench) -> None:
    content, message = BAD_CSV[case]
    assert bench.refused("qrels", bench.write("bad.csv", content)) == message


def test_csv_with_harmless_differences(bench: Bench) -> None:
    text = "\ufeffTopic,Item,Score\r\n1,a,2\r\n\r\n1,b,1\r\n2,a,1.5"
    bench.write("run.csv", text)
    assert bench.accepted("qrels", "run.csv")[0].splitlines()[1] == "run,1.0,3.0,2"
    bench.write("run.tsv", text.replace(",", "\t"))
    assert bench.accepted("qrels", "run.tsv")[0].splitlines()[1] == "run,1.0,3.0,2"


def test_grades_are_not_ranked_by(bench: Bench) -> None:
    bench.write("q.csv", "topic,item,grade\n1,a,nan\n")
    assert bench.refused("q.csv", "run") == "q.csv:2: grade 'nan' is not a finite number"
    bench.write("q.txt", "1 0 a inf\n")
    assert bench.refused("q.txt", "run") == "q.txt:1: grade 'inf' is not a finite number"


def test_repeated_judgements_in_csv(bench: Bench) -> None:
    bench.write("q.csv", "topic,item,grade\n1,a,1\n1,a,1\n2,a,0.5\n")
    out, err = bench.accepted("q.csv", "run")
    assert out.splitlines()[1] == "run,0.5,3.0,2"
    assert err == (
        "warning: q.csv:3: item 'a' is judged twice, with the same grade on line 2; "
        "the repetition is ignored\n"
        "warning: run: 33 % of the first 10 items are unjudged\n"
    )
    bench.write("q.csv", "topic,item,grade\n1,a,1\n1,a,2\n")
    assert bench.refused("q.csv", "run") == (
        "q.csv:3: item 'a' has another grade for topic '1' on line 2; keep one"
    )


BAD_JSON: dict[str, tuple[str | bytes, str]] = {
    "not JSON": ('{"1": {"a": 1}', "bad.json:1: not valid JSON: Expecting ',' delimiter"),
    "second line": ('{"1":\n oops}', "bad.json:2: not valid JSON"),
    "a list": ("[]", "bad.json: expected a JSON object {topic: {item: number}}"),
    "empty object": ("{}", "bad.json: is empty: expected a JSON object {topic: {item: number}}"),
    "empty": ("", "bad.json:1: not valid JSON"),
    "no items": ('{"1": 5}', "bad.json: topic '1' is not an object {item: number}"),
    "score x": ('{"1": {"a": "x"}}', "bad.json: 'x' of item 'a', topic '1', is not a number"),
    "true": ('{"1": {"a": true}}', "bad.json: True of item 'a', topic '1', is not a number"),
    "NaN": ('{"1": {"a": NaN}}', "bad.json: score nan of item 'a', topic '1', is not a finite"),
    "many digits": ('{"1": {"a": %s}}' % ("1" * 5000), "bad.json: not valid JSON: Exceeds the"),
    "huge": ('{"1": {"a": 1%s}}' % ("0" * 400), "bad.json: "),
    "surrogate": (r'{"1": {"\ud800": 1}}', "bad.json: "),
    "nested": ("[" * 100_000, "bad.json: nested too deep"),
    "duplicate item": ('{"1": {"a": 1, "a": 2}}', "bad.json: 'a' occurs twice in one object; keep"),
    "duplicate topic": ('{"1": {"a": 1}, "1": {}}', "bad.json: '1' occurs twice in one object"),
    "not UTF-8": (b'{\n"1": {"\xff": 1}}', "bad.json:2: byte 0xff is not UTF-8 text; convert"),
    "no overlap": ('{"9": {"a": 1}}', "bad.json: none of its topics (9) is judged (judged: 1, 2)"),
}


@pytest.mark.parametrize("case", BAD_JSON)
def test_bad_json(case: str, bench: Bench) -> None:
    content, message = BAD_JSON[case]
    assert bench.refused("qrels", bench.write("bad.json", content)).startswith(message)


def test_repeated_judgements_in_json(bench: Bench) -> None:
    bench.write("q.json", '{"1": {"a": 1, "a": 1}, "2": {"a": 1}}')
    out, err = bench.accepted("q.json", "run")
    assert out.splitlines()[1] == "run,1.0,3.0,2"
    assert "q.json: 'a' occurs twice in one object, with the same grade" in err


BAD_PARQUET: dict[str, tuple[dict[str, Any], str]] = {
    "NaN": (
        {"topic": ["1"], "item": ["a"], "score": [float("nan")]},
        "bad.parquet: score nan of item 'a', topic '1', is not a finite number",
    ),
    "missing score": ({"topic": ["1"], "item": ["a"], "score": [None]}, "bad.parquet: "),
    "missing item": (
        {"topic": ["1"], "item": [None], "score": [1.0]},
        "bad.parquet: topics and items must",
    ),
    "text for scores": (
        {"topic": ["1"], "item": ["a"], "score": ["x"]},
        "bad.parquet: scores and grades must be numbers",
    ),
    "no column": (
        {"topic": ["1"], "thing": ["a"], "score": [1.0]},
        "bad.parquet: no column for the item among topic, thing, score (expected: topic, item, ",
    ),
    "no rows": ({"topic": [], "item": [], "score": []}, "bad.parquet: is empty"),
    "duplicate item": (
        {"topic": ["1", "1"], "item": ["a", "a"], "score": [2.0, 1.0]},
        "bad.parquet: item 'a' is listed twice for topic '1'; keep one of them",
    ),
    "not UTF-8": (
        {"topic": [b"1", b"\xff"], "item": ["a", "b"], "score": [1.0, 2.0]},
        "bad.parquet: topics and items must be text or whole numbers",
    ),
    "no overlap": (
        {"topic": ["9"], "item": ["a"], "score": [1.0]},
        "bad.parquet: none of its topics (9) is judged (judged: 1, 2)",
    ),
}


@pytest.mark.parametrize("case", BAD_PARQUET)
def test_bad_parquet(case: str, bench: Bench) -> None:
    pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    import pyarrow.parquet as pq

    content, message = BAD_PARQUET[case]
    pq.write_table(pa.table(content), bench.folder / "bad.parquet")
    assert bench.refused("qrels", "bad.parquet").startswith(message)


def test_damaged_parquet(bench: Bench) -> None:
    pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    for data in (b"", b"hi", b"PAR1" + b"x" * 50):
        message = bench.refused("qrels", bench.write("bad.parquet", data))
        assert message.startswith("bad.parquet: not a Parquet file")


def test_repeated_judgements_in_parquet(bench: Bench) -> None:
    pa = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    import pyarrow.parquet as pq

    columns = {"topic": ["1", "1", "2", "1"], "item": ["a", "b", "a", "a"]}
    pq.write_table(pa.table({**columns, "grade": [1, 0, 1, 1]}), bench.folder / "q.parquet")
    out, err = bench.accepted("q.parquet", "run")
    assert out.splitlines()[1] == "run,1.0,3.0,2"
    assert "item 'a' is judged twice for topic '1' with the same grade" in err
    pq.write_table(pa.table({**columns, "grade": [1, 0, 1, 2]}), bench.folder / "q.parquet")
    assert bench.refused("q.parquet", "run") == (
        "q.parquet: item 'a' is judged 1 and 2 for topic '1'; keep one"
    )
