"""gzip data by ISA-L where it is installed: the same bytes, our words for what is wrong."""

import gzip
import os
import sys

import pytest

from cranfield.errors import InputError
from cranfield.io.compression import open_gzip
from cranfield.io.files import Caps, Input, read_bytes

LINES = b"".join(b"t%d Q0 d%d 1 0.5 r\n" % (n % 50, n) for n in range(20_000))
PACKED = gzip.compress(LINES)
READERS = ["isal", "gzip"]


@pytest.fixture(params=READERS)
def reader(request, monkeypatch):
    if request.param == "gzip":
        monkeypatch.setitem(sys.modules, "isal", None)
    else:
        pytest.importorskip("isal")
    return request.param


def test_the_bytes_are_the_same(reader):
    assert read_bytes(Input("a.gz", PACKED)) == LINES
    assert read_bytes(Input("a.gz", PACKED + gzip.compress(b"more") + b"\0" * 8)) == LINES + b"more"
    assert read_bytes(Input("a.gz", gzip.compress(b""))) == b""


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (PACKED[:1000], "the compressed data ends too early; is the file truncated"),
        (PACKED[:-3], "the compressed data ends too early; is the file truncated"),
        (b"t1 Q0 d1 1 0.5 r\n", "not valid gzip data"),
        (b"hello", "not valid gzip data"),
        (PACKED[:400] + b"\xff" * 50 + PACKED[450:], "not valid gzip data"),
        (PACKED[:-8] + b"abcd" + PACKED[-4:], "not valid gzip data"),
        (PACKED[:-4] + b"abcd", "not valid gzip data"),
    ],
)
def test_damage_is_told_with_the_name_of_the_file(reader, data, message):
    with pytest.raises(InputError, match=rf"^a\.gz: {message}"):
        read_bytes(Input("a.gz", data))


def test_caps_hold_while_unpacking(reader):
    bomb = gzip.compress(b"0" * 50_000_000)
    with pytest.raises(InputError, match=r"holds more than 1,000,000 bytes"):
        read_bytes(Input("a.gz", bomb, Caps(unpacked_bytes=1_000_000)))


def test_isal_is_used_where_it_is_installed(tmp_path):
    igzip = pytest.importorskip("isal.igzip")
    path = tmp_path / "a.gz"
    path.write_bytes(PACKED)
    with path.open("rb") as raw, open_gzip(raw, os.fspath(path)) as stream:
        assert isinstance(stream, igzip.IGzipFile)
