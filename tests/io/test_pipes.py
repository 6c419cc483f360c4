"""Runs through a pipe are scored while they come, and kept on disk in case of scattered topics."""

import io
import tempfile

import pytest

import cranfield as cf
from cranfield.errors import InputError
from cranfield.io.trec import SpooledStream

QRELS = {f"t{t}": {f"d{t * 7 % 50}": 1, f"d{t}": 2} for t in range(20)}
ROWS = [f"t{t} Q0 d{d} 1 {50 - d + t / 7:.4f} r\n" for t in range(20) for d in range(300)]
SCATTERED = [*ROWS[::2], *ROWS[1::2]]


class Pipe(io.BytesIO):
    def seekable(self):
        return False


def through_a_pipe(rows):
    return cf.Input("run", Pipe("".join(rows).encode()))


def values(rows, source):
    scores = cf.evaluate(QRELS, [source], "AP nDCG@10")
    return {name: scores.mean()[name] for name in scores.mean()}


@pytest.mark.parametrize("rows", [ROWS, SCATTERED])
def test_a_pipe_has_the_scores_of_a_file(tmp_path, rows):
    path = tmp_path / "run"
    path.write_text("".join(rows))
    assert values(rows, through_a_pipe(rows)) == values(rows, path)


def test_a_run_in_order_is_never_in_memory_as_a_whole(monkeypatch):
    monkeypatch.setattr("cranfield.io.trec.read_run", lambda *_, **__: pytest.fail("read whole"))
    values(ROWS, through_a_pipe(ROWS))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([*ROWS, ROWS[-1]], "run:6001: item 'd299' is listed twice for topic 't19'"),
        ([*ROWS, "t1 Q0 d1 1\n"], "run:6001: too few fields"),
        ([], "run: is empty: no retrieved items found"),
        (["x Q0 d1 1 1 r\n"], "none of its topics"),
    ],
)
def test_what_is_wrong_has_the_same_words(tmp_path, rows, message):
    path = tmp_path / "run"
    path.write_text("".join(rows))
    with pytest.raises(InputError, match=message) as piped:
        values(rows, through_a_pipe(rows))
    with pytest.raises(InputError) as filed:
        values(rows, path)
    assert str(piped.value) == str(filed.value).replace(str(path), "run")


def test_without_room_on_disk_only_scattered_topics_are_refused(monkeypatch):
    def nowhere(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", nowhere)
    values(ROWS, through_a_pipe(ROWS))
    with pytest.raises(InputError, match="do not stand together, and there is no room on disk"):
        values(SCATTERED, through_a_pipe(SCATTERED))


def test_a_disk_that_fills_up_ends_the_keeping_not_the_reading(monkeypatch):
    class Full(io.BytesIO):
        def write(self, _):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(tempfile, "TemporaryFile", Full)
    source = io.BytesIO(b"abc")
    with SpooledStream(cf.Input("run", b""), source.readinto) as kept:
        assert kept(memoryview(bytearray(8))) == 3
        with pytest.raises(InputError, match="no room on disk"):
            kept.reopen()
