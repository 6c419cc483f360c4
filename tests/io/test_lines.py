"""Streamed lines, and what is told of how far they have been read."""

import gzip
import os
import threading

import pytest

from cranfield.io.files import input_lines

LINES = [f"article {i}\tsea\n" for i in range(50_000)]


@pytest.mark.parametrize("name", ["links.tsv", "links.tsv.gz"])
def test_the_share_read_grows(tmp_path, name):
    path = tmp_path / name
    with (gzip.open if name.endswith(".gz") else open)(path, "wt") as out:
        out.writelines(LINES)
    shares = []
    assert list(input_lines(path, progress=shares.append)) == LINES
    assert len(shares) == 3
    assert shares == sorted(shares)
    assert 0 < shares[0] <= shares[-1] <= 1


def test_a_pipe_has_no_known_share(tmp_path):
    path = tmp_path / "pipe"
    os.mkfifo(path)
    writer = threading.Thread(target=lambda: path.write_text("".join(LINES)))
    writer.start()
    shares = []
    assert list(input_lines(path, progress=shares.append)) == LINES
    writer.join()
    assert set(shares) == {0.0}
