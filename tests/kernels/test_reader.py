"""The compiled reader of TREC files agrees with a reader of ten lines."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import example, given, settings
from hypothesis import strategies as st

from cranfield.errors import InputError
from cranfield.io.trec import read_run

BLANKS = bytes(range(1, 33))  # whatever is not above the space; zeros make a file binary

good_field = st.sampled_from(
    [b"1", b"2", b"t", b"Q0", b"a", b"b", b"c\xc3\xa9", b"#x", b"0.5", b"-3", b"1e3", b"12345678.9"]
)
any_field = st.one_of(
    good_field, st.sampled_from([b"nan", b"x", b"\xff", b"+-1", b"-", b"1.2.3", b"\0", b"1e999"])
)
gap = st.sampled_from([b" ", b"\t", b"  ", b" \t ", b"\x0b", b"\r"])


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    fields = draw(
        st.one_of(
            st.tuples(good_field, good_field, good_field, good_field, good_field, good_field),
            st.lists(any_field, max_size=8),
        )
    )
    parts = [draw(st.sampled_from([b"", b" "]))]
    for field in fields:
        parts += [field, draw(gap)]
    return b"".join(parts) + draw(st.sampled_from([b"", b"\r"]))


def slow_reader(data: bytes) -> dict[str, dict[str, float]] | None:
    """What a run file says, or None when it is to be refused."""
    content: dict[str, dict[str, float]] = {}
    for line in data.removeprefix(b"\xef\xbb\xbf").split(b"\n"):
        if b"\0" in line:
            return None
        fields = line.translate(bytes.maketrans(BLANKS, b" " * len(BLANKS))).split()
        if not fields or fields[0].startswith(b"#"):
            continue
        if len(fields) != 6:
            return None
        try:
            topic, item, score = fields[0].decode(), fields[2].decode(), float(fields[4])
        except ValueError:
            return None
        if score != score or item in content.setdefault(topic, {}):
            return None
        content[topic][item] = score
    return content or None


@given(st.lists(lines(), max_size=8), st.booleans())
@settings(max_examples=150, deadline=None)
@example([b"1 Q0 a 0 1 r", b"1 Q0 a 0 2 r"], False)
@example([b"#1 Q0 a 0 1 r", b"1 Q0 b 0 1 r\0"], True)
def test_equals_the_slow_reader(content: list[bytes], ends: bool) -> None:
    # Only lines that are followed by some more bytes are looked at many at a time.
    data = b"\n".join(content) + (b"\n#" + b"-" * 300 if ends else b"")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run"
        path.write_bytes(data)
        try:
            got = read_run(path, jobs=1).to_dict()
        except InputError:
            got = None
    assert got == slow_reader(data)
