"""Streamed lines, and what is told of how far they have been read."""

import csv
import gzip
import os
import threading

import pytest

from cranfield.cli import main
from cranfield.errors import InputError
from cranfield.io.files import csv_rows, input_lines

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
    writer = threading.Thread(target=lambda: path.write_text("".join(LINES)), daemon=True)
    writer.start()
    shares = []
    assert list(input_lines(path, progress=shares.append)) == LINES
    writer.join(timeout=60)
    assert set(shares) == {0.0}


def test_long_fields_are_read_where_they_are_expected_and_nowhere_else():
    limit = csv.field_size_limit()
    rows = csv_rows(["a\n", "x" * 200_000 + "\n"], "f.csv", long_fields=True)
    assert [(line, len(row[0])) for line, row in rows] == [(1, 1), (2, 200_000)]
    assert csv.field_size_limit() == limit
    with pytest.raises(InputError, match=r"f\.csv:8: not valid CSV"):
        list(csv_rows(["a\n", "x" * 200_000 + "\n"], "f.csv", first_line=7))


@pytest.mark.parametrize(
    ("command", "header"),
    [
        (["ontology", "check"], "concept,path"),
        (["lab", "votes", "count"], "question,AP,RR"),
        (["label", "-m", "F.example", "f.csv"], "item,Sea,Sky"),
        (["agreement"], "annotator,item,category"),
    ],
)
def test_a_field_without_end_is_refused_with_its_line(
    tmp_path, monkeypatch, capsys, command, header
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.csv").write_text(f'{header}\n"{"x" * 200_000}",1,0\n')
    assert main([*command, "f.csv"]) == 2
    assert capsys.readouterr().err.startswith("f.csv:2: not valid CSV")
