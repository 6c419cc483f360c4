"""The compiled reader of separated text is the Python one to the letter, or steps aside."""

import io
import json
import random
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cranfield import _core
from cranfield.data import Judgements, Run
from cranfield.data.categories import CategoryGraph
from cranfield.errors import InputError
from cranfield.io import read_qrels, read_run
from cranfield.io.concepts import read_pairs
from cranfield.io.fast_csv import PlainRows
from cranfield.io.files import Caps, Input
from cranfield.io.judgement_log import read_judgement_log
from cranfield.io.labels import read_labels
from cranfield.io.votes import (
    read_category_votes,
    read_soft_labels,
    read_subject_rankings,
)

NUMBERS = ["0", "1", "0.5", "12.345678", "-3", "1e3", "+2", " 0.25 ", "5.", ".5", "-0.0", "1e-400"]
ODD_NUMBERS = [
    "inf",
    "-inf",
    "1e999",
    "nan",
    "1_000",
    "x",
    "",
    "0x10",
    "١",
    "1.2.3",
    "--1",
    "nan(1)",
]
NAMES = ["a", "b", "c", "doc 7", "é", "日本", "w1", "x" * 70]
ODD_NAMES = [
    "",
    " a",
    "a ",
    '"a"',
    '"a,b"',
    'a"b',
    '"',
    '""',
    "a\tb",
    "a\xa0",
    "\u2028",
    "#a",
    "a\x0bb",
]
ENDS = ["\n", "\r\n"]
ODD_ENDS = ["\r", "\n\n", " \n", "\x85\n", "\0\n", "\n \n", ""]


def rarely(usual, odd):
    """Mostly what files hold, sometimes what they should not."""
    return st.integers(0, 30).flatmap(lambda n: st.sampled_from(usual if n else [*usual, *odd]))


def tables(header, kinds, separator):
    """Texts of rows below a header: `kinds` has n for a number and t for a name."""
    cells = {"t": rarely(NAMES, ODD_NAMES), "n": rarely(NUMBERS, ODD_NUMBERS)}
    row = st.tuples(*(cells[kind] for kind in kinds)).map(separator.join)
    end = rarely(ENDS, ODD_ENDS)
    rows = st.lists(st.tuples(row, end).map("".join), max_size=12).map("".join)
    start = st.sampled_from(["", "", "", "\ufeff", "\n", " "])
    tail = st.sampled_from(["", "", "\n", "a", '"', ","])
    heading = (
        st.sampled_from([header, header, header.upper(), f'"{header}"']) if header else st.just("")
    )
    ended = heading.map(lambda text: text + "\n") if header else heading
    return st.tuples(start, ended, rows, tail).map("".join)


def outcome(read, source):
    """Everything that a reader makes of an input, for comparison."""
    try:
        found = read(source)
    except InputError as error:
        return str(error)
    if isinstance(found, Run | Judgements):
        rows = [(t, i, repr(v)) for t, i, v in found.rows()]
        return found.topics, found.offsets.tolist(), rows, found.notes
    names = getattr(found, "__dataclass_fields__", None) or vars(found)
    held = ((name, getattr(found, name)) for name in names)
    return {n: repr(v.tolist()) if isinstance(v, np.ndarray) else v for n, v in held}


def check(read, text, name, *, pipe=True):
    """Hold the compiled reader against the one in Python; whether the compiled one was used."""
    data, columns, taken = text.encode(), PlainRows.columns, []

    def watched(*args, **options):
        taken.append(columns(*args, **options))
        return taken[-1]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(PlainRows, "columns", watched)
        found = outcome(read, Input(name, data))
        patch.setattr(PlainRows, "columns", lambda *_, **__: None)
        assert outcome(read, Input(name, data)) == found
    if pipe:
        once = io.BytesIO(data)
        once.seekable = lambda: False
        assert outcome(read, Input(name, once)) == found
    return any(reader is not None for reader in taken)


@pytest.mark.parametrize(
    ("name", "separator", "header", "kinds"),
    [
        ("r.csv", ",", "topic,item,score", "ttn"),
        ("r.csv", ";", "topic;item;score", "ttn"),
        ("r.tsv", "\t", "query\tdocno\trank", "ttn"),
        ("r.csv", ",", "item,note,topic,sim", "tttn"),
        ("r.csv", ",", "", "ttn"),
        ("r.csv", ",", "", "tttnnt"),
    ],
)
def test_runs_and_judgements(name, separator, header, kinds):
    used = []

    @settings(max_examples=50, deadline=None, derandomize=True)  # so that some are always plain
    @given(tables(header, kinds, separator))
    def holds(text):
        used.append(check(read_run, text, name))
        used.append(check(read_qrels, text, name.replace("r.", "q.")))

    holds()
    assert any(used)


@settings(max_examples=50, deadline=None)
@given(tables("", "ttn", " "))
def test_runs_of_three_columns_between_blanks(text):
    check(read_run, text, "r.txt", pipe=False)


@pytest.mark.parametrize(
    ("header", "kinds"),
    [
        ("item,Sea,Sky", "tnn"),
        ("item,concept,value", "ttn"),
        ("item,concept,value,probability", "ttnn"),
    ],
)
def test_labels_as_csv(header, kinds):
    @settings(max_examples=50, deadline=None)
    @given(tables(header, kinds, ","))
    def holds(text):
        check(read_labels, text, "l.csv")

    holds()


@settings(max_examples=50, deadline=None)
@given(tables("", "tnnn", " "))
def test_labels_as_imageclef_text(text):
    check(read_labels, text, "l.txt")


@pytest.mark.parametrize(
    ("header", "kinds"),
    [
        ("annotator,item,concept,value", "tttn"),
        ("worker,task,label,seconds", "tttn"),
        ("annotator,note,item,category", "tttt"),
    ],
)
def test_judgement_logs(header, kinds):
    @settings(max_examples=50, deadline=None)
    @given(tables(header, kinds, ","))
    def holds(text):
        check(read_judgement_log, text, "log.csv")

    holds()


GRAPH = CategoryGraph.from_pairs([("all", ""), *((name, "all") for name in NAMES)])


@pytest.mark.parametrize(
    ("read", "header", "kinds"),
    [
        (
            lambda given: read_category_votes(given, GRAPH, skipped="abstain"),
            "subject,item,category",
            "ttt",
        ),
        (
            lambda given: read_category_votes(given, GRAPH),
            "item,subject,note,category",
            "tttt",
        ),
        (lambda given: read_soft_labels(given, GRAPH), "item,category,probability", "ttn"),
        (read_subject_rankings, "subject,topic,item,significance", "tttn"),
        (lambda given: SimpleNamespace(pairs=read_pairs(given)), "word1,word2,human", "ttn"),
        (lambda given: SimpleNamespace(pairs=read_pairs(given)), "word1,word2", "tt"),
    ],
)
def test_what_people_say(read, header, kinds):
    """Votes, shares of votes, ranked lists and pairs of words."""
    used = []

    @settings(max_examples=60, deadline=None)
    @given(tables(header, kinds, ","))
    def holds(text):
        used.append(check(read, text, "said.csv"))

    holds()
    assert any(used)


def test_votes_are_counted_as_in_python():
    rng = random.Random(2)
    rows = [f"s{s},i{i},{rng.choice(NAMES)}" for i in range(40) for s in range(5)]
    text = "subject,item,category\n" + "\n".join(rows) + "\n"
    assert check(lambda given: read_category_votes(given, GRAPH), text, "votes.csv")
    shares = [f"i{i},{name},{1 / 8}" for i in range(20) for name in NAMES]
    text = "item,category,probability\n" + "\n".join(shares) + "\n"
    assert check(lambda given: read_soft_labels(given, GRAPH), text, "shares.csv")


def test_decisions_follow_confidences():
    rows = ["a 0.5 0.25", "b 0.75 0", "b 1 0", "a 0 1"]
    assert check(read_labels, "\n".join(rows), "l.txt")
    found = read_labels(Input("l.txt", ("\n".join(rows) + "\n").encode()))
    assert found.labels.tolist() == [[False, True], [True, False]]
    for spoilt in (["a 0.5", "b 1", "b 0.5", "a 1"], ["a 1", "b 1", "a 1"], ["a 1", "a 1"]):
        check(read_labels, "\n".join(spoilt) + "\n", "l.txt")


@pytest.mark.parametrize("separator", [",", " "])
def test_bytes_may_be_cut_anywhere(separator):
    rng = random.Random(4)
    rows = [[f"topic{rng.randrange(9)}", f"é{n}", str(rng.random())] for n in range(300)]
    data = "".join(separator.join(row) + rng.choice(ENDS) for row in rows).encode()[:-1]

    def read(pieces):
        reader = _core.SeparatedReader(separator, "ctn", False, len(data))
        assert all(reader.feed(piece) for piece in pieces)
        assert reader.finish()
        return reader.names(0), bytes(reader.codes(0)), reader.texts(1), bytes(reader.numbers())

    whole = read([data])
    assert whole[2] == [row[1] for row in rows]
    for size in (1, 7, 63, 64, 65, 1000):
        assert read([data[at : at + size] for at in range(0, len(data), size)]) == whole


@pytest.mark.parametrize(
    "fault", [b"\xff", b"\0", b"a,b\n", b'x"y,b,1\n', b"a,b,1,2\n", b"a,b,nan\n"]
)
def test_what_is_not_plain_is_refused(fault):
    reader = _core.SeparatedReader(",", "ctn", False, 0)
    assert reader.feed(b"a,b,1\n")
    assert not (reader.feed(fault) and reader.finish())
    assert not reader.feed(b"a,c,1\n")


@pytest.mark.parametrize(
    ("caps", "message"),
    [
        (Caps(lines=50), "has more than 50 lines"),
        (Caps(unpacked_bytes=300), "holds more than 300 bytes"),
        (Caps(line_bytes=20), "the line is longer than 20 bytes"),
    ],
)
def test_caps_hold(caps, message):
    text = (
        "topic,item,score\n"
        + "".join(f"t,{n},1\n" for n in range(100))
        + "t,long-long-long-long,1\n"
    )
    with pytest.raises(InputError, match=message):
        read_run(Input("r.csv", text.encode(), caps))


def test_not_utf8_names_its_line():
    with pytest.raises(InputError, match=r"r\.csv:3: byte 0xff is not UTF-8 text"):
        read_run(Input("r.csv", b"topic,item,score\nt,a,1\nt,\xff,1\n"))


def nested(numbers):
    return st.dictionaries(
        st.sampled_from(["a", "b b", "é", "", 'q"', "\\", "x\ny"]),
        st.dictionaries(st.sampled_from(["d1", "d2", "日本", "\U0001f600"]), numbers, max_size=3),
        max_size=3,
    )


def spoilt(text, cut):
    """JSON with one character left out, doubled or changed."""
    at, how = cut
    at = at % (len(text) + 1)
    return (
        text[:at]
        + ["", text[at : at + 1] * 2, "0", ",", "-", " ", '"', "e5", "\ufeff"][how]
        + text[at + 1 :]
    )


VALUES = st.one_of(
    st.integers(-3, 10**20), st.floats(allow_nan=True), st.sampled_from([-0.0, 0.5, 12.25])
)
ODD_VALUES = st.sampled_from([None, True, "1", [1], {}, 10**400])


@settings(max_examples=200, deadline=None)
@given(
    nested(st.integers(0, 30).flatmap(lambda n: VALUES if n else ODD_VALUES)),
    st.sampled_from([None, 0, 2]),
    st.one_of(st.none(), st.tuples(st.integers(0, 200), st.integers(0, 8))),
    st.booleans(),
)
def test_json_is_read_as_pythons_reader_has_it(content, indent, cut, escaped):
    text = json.dumps(content, indent=indent, ensure_ascii=escaped)
    text = text if cut is None else spoilt(text, cut)
    for read, name in ((read_run, "r.json"), (read_qrels, "q.json")):
        found = outcome(read, Input(name, text.encode()))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_core, "nested_json", lambda *_: None)
            assert outcome(read, Input(name, text.encode())) == found


@pytest.mark.parametrize(
    "text",
    [
        '{"t": {"a": -0}}',
        '{"t": {"a": 01}}',
        '{"t": {"a": 1.}}',
        '{"t": {"a": .5}}',
        '{"t": {"a": +1}}',
        '{"t": {"a": 1, "a": 1}}',
        '{"t": {"a": 1}, "t": {"b": 1}}',
        '{"t": {"a": 1e999}}',
        '{"t": {}}',
        '{"t": {"a": 1e5, "b": -2.5E-3, "c": 123456789012345678901234567890}}',
        '{"t": {"a": NaN}}',
        "{}",
        '{"t": {"a": 1}} x',
        '\ufeff{"t": {"a": 1}}',
        '{"t": ["a", "b"]}',
        '{"t": {"a": 1,}}',
        '{"t": {"a\t": 1}}',
    ],
)
def test_json_at_the_edges(text):
    for read, name in ((read_run, "r.json"), (read_qrels, "q.json")):
        found = outcome(read, Input(name, text.encode()))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_core, "nested_json", lambda *_: None)
            assert outcome(read, Input(name, text.encode())) == found


def test_plain_json_is_taken_by_the_core():
    columns = _core.nested_json('{"t": {"d1": 1.5, "é": 2}, "u": {}}'.encode(), True)
    assert columns is not None
    topics, offsets, items, ends, values, _ = columns
    assert (topics, list(offsets), bytes(items).decode(), list(ends), list(values)) == (
        ["t", "u"],
        [0, 2, 2],
        "d1é",
        [0, 2, 4],
        [1.5, 2.0],
    )


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 9)), max_size=30))
def test_rows_of_codes_that_stand_twice(rows: list[tuple[int, int, int]]) -> None:
    columns = np.array(rows, dtype=np.int32).reshape(len(rows), 3)
    # Codes of any size: few cells have a bit each, many are sorted.
    for scale in (1, 200_000_000):
        first, second, third = (np.ascontiguousarray(c * scale) for c in columns.T)
        assert _core.rows_differ(first, second, third) == (len(set(rows)) == len(rows))


@given(st.binary(max_size=20).map(lambda text: text.replace(b"a", b"\n").replace(b"b", b"\r")))
def test_ends_of_lines(block: bytes) -> None:
    places = [i for i, byte in enumerate(block) if byte in b"\r\n"] or [-1]
    assert _core.line_ends(block) == (block.count(b"\n"), places[0], places[-1])
