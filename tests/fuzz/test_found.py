"""What the fuzzer found, each as the smallest case that showed it."""

from __future__ import annotations

import gzip
import io
import json
import os
import shlex
import subprocess
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import cranfield as cf
from benchmarks.fuzz.folders import png
from cranfield.cli import main
from cranfield.cli._messages import in_options
from cranfield.errors import InputError, Problem, suggest
from cranfield.io.arrays import read_archive, read_arrow_table
from cranfield.report.charts import behaviour

Said = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.txt").write_text("t 0 a 1\nt 0 b 0\n")
    (tmp_path / "a.run").write_text("t Q0 a 1 2 a\nt Q0 b 2 1 a\n")
    (tmp_path / "b.run").write_text("t Q0 b 1 2 b\nt Q0 a 2 1 b\n")
    np.savez(tmp_path / "v.npz", items=np.array(["a", "b", "c"]), vectors=np.eye(3))
    return tmp_path


@pytest.mark.parametrize("ending", ["run", "run.gz", "json", "csv", "tsv", "parquet"])
def test_runs_are_written_as_their_name_says(folder: Path, ending: str) -> None:
    target = f"out.{ending}"
    assert main(["fuse", "a.run", "b.run", "-o", target, "--quiet"]) == 0
    assert set(cf.read_run(target).to_dict()["t"]) == {"a", "b"}
    assert main(["search", "v.npz", "-o", target, "--quiet"]) == 0
    assert set(cf.read_run(target).to_dict()) == {"a", "b", "c"}


def test_answers_are_packed_where_their_name_says_so(folder: Path) -> None:
    assert main(["eval", "q.txt", "a.run", "--format", "json", "-o", "out.json.gz"]) == 0
    assert json.loads(gzip.decompress((folder / "out.json.gz").read_bytes()))


def test_several_relevant_items_of_which_one_moves() -> None:
    assert (
        "rank 1 to 9 of 10; 1 more not retrieved"
        in behaviour("AP RR", size=10, relevant=2).description
    )


def test_a_link_to_itself_is_no_folder_of_pictures(folder: Path, capsys: Said) -> None:
    (folder / "loop").symlink_to(folder / "loop")
    assert main(["describe", "loop", "-d", "CEDD", "-o", "made"]) == 2
    assert "loop" in capsys.readouterr().err


def test_a_list_of_pictures_with_a_zero_byte(folder: Path, capsys: Said) -> None:
    (folder / "one.png").write_bytes(png(8, 8))
    (folder / "list.txt").write_bytes(b"one.png\na\0b.png\n")
    assert main(["describe", "list.txt", "-d", "ColorHistogram", "-o", "made"]) in (0, 2)
    assert "fault of Cranfield" not in capsys.readouterr().err


def test_objects_of_python_are_never_read(folder: Path) -> None:
    np.savez(folder / "o.npz", items=np.array([{"a": 1}], dtype=object))
    with pytest.raises(InputError, match="objects of Python, which are never read"):
        read_archive("o.npz")


def _two_columns_of_a_name(path: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    column = pa.array(["a"])
    pq.write_table(pa.Table.from_arrays([column, column], names=["item", "item"]), path)


def test_a_table_with_two_columns_of_a_name(folder: Path, capsys: Said) -> None:
    pytest.importorskip("pyarrow")
    _two_columns_of_a_name(folder / "t.parquet")
    with pytest.raises(InputError, match="two columns are called 'item'"):
        read_arrow_table("t.parquet")
    assert main(["search", "t.parquet"]) == 2
    assert "t.parquet" in capsys.readouterr().err


def test_a_table_that_is_refused_at_once_aborts_nothing(folder: Path) -> None:
    # Threads of Arrow were still being started when the process was over.
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"x": ["t"], "y": ["a"], "z": [1]}), folder / "q.parquet")
    command = [sys.executable, "-m", "cranfield", "eval", "q.parquet", "a.run"]
    codes = {subprocess.run(command, capture_output=True, timeout=60).returncode for _ in range(2)}
    assert codes == {2}


DEEP = '{"a": ' + "[" * 100_000


@pytest.mark.parametrize(
    "command",
    [
        "survey count deep.json deep.json",
        "lab votes tally deep.json deep.json",
        "form read deep.json",
        "compare deep.json a.run b.run",
        "label deep.json deep.json",
        "eval deep.json a.run",
    ],
)
def test_json_that_is_nested_too_deep(folder: Path, command: str, capsys: Said) -> None:
    (folder / "deep.json").write_text(DEEP)
    assert main(command.split()) == 2
    assert "deep.json" in capsys.readouterr().err


def test_messages_have_an_end(folder: Path) -> None:
    columns = ",".join(f"c{k}" for k in range(40_000))
    problems = [Problem(k, f"expected {columns}") for k in range(1, 30)]
    assert len(str(InputError("file", problems))) < 60_000


def test_a_very_long_name_is_compared_with_none(monkeypatch: pytest.MonkeyPatch) -> None:
    def compared(*_: object) -> None:
        raise AssertionError("takes minutes for names this long")

    monkeypatch.setattr("difflib.SequenceMatcher", compared)
    assert suggest("a" * 70_000, ["AP", "RR", "nDCG"]) == ""


@pytest.mark.slow
def test_votes_of_very_many_columns_end_at_once(folder: Path, capsys: Said) -> None:
    columns = [f"c{k}" for k in range(40_000)]
    (folder / "v.csv").write_text(f"question,{','.join(columns)}\n1{',1' * 40_000}\n")
    started = time.process_time()
    assert main(["lab", "votes", "count", "v.csv"]) == 2
    assert "v.csv:1: 40,001 columns, more than 1,000" in capsys.readouterr().err
    assert time.process_time() - started < 100


@pytest.mark.parametrize("source", ["/dev/zero", "x" * 5000, "a\0b", 3, b"x", object()])
def test_what_is_no_ontology(source: object) -> None:
    with pytest.raises(cf.CranfieldError):
        cf.evaluate_labels({"i": {"a"}}, [{"i": {"a"}}], "F.example", ontology=source)


@pytest.mark.parametrize("runs", [3, None, object()])
def test_what_are_no_annotations(runs: object) -> None:
    with pytest.raises(cf.CranfieldError):
        cf.evaluate_labels({"i": {"a"}}, runs, "F.example")


def test_bytes_for_an_output_that_is_closed(folder: Path) -> None:
    command = f"{shlex.quote(sys.executable)} -m cranfield search v.npz >&-"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "is closed" in done.stderr


@pytest.mark.parametrize("source", [{"t": {"a": 1}}, (["t"], ["a"]), object(), iter([]), 3])
@pytest.mark.parametrize("read", [cf.read_run, cf.read_qrels, cf.read_ontology])
def test_what_is_no_file(read: Callable[[object], object], source: object) -> None:
    with pytest.raises(cf.CranfieldError):
        read(source)


@pytest.mark.parametrize("concepts", [3, [1, 2], [["a"]], object(), b"x"])
def test_what_are_no_concepts(concepts: object) -> None:
    with pytest.raises(cf.CranfieldError, match="concepts= are names"):
        cf.evaluate_labels({"i": {"a"}}, [{"i": {"a"}}], "F.example", concepts=concepts)


def test_switches_are_advised_as_switches() -> None:
    assert in_options("few_gold=True makes them") == "--few-gold makes them"


@pytest.mark.parametrize("command", ["label", "survey preference"])
def test_no_option_is_advised_that_a_command_does_not_have(
    folder: Path, command: str, capsys: Said
) -> None:
    (folder / "t.csv").write_text("item,Sky\ni,1\n")
    (folder / "r.csv").write_text("item,Sky\ni,7\n")
    more = ["r.csv", "-o", "made"] if command != "label" else []
    assert main([*command.split(), "t.csv", "r.csv", *more]) == 2
    said = capsys.readouterr().err
    assert "is outside [0, 1] (expected a confidence or 0/1" in said
    assert ("--scores" in said) == (command == "label")


@pytest.fixture
def site(folder: Path) -> Path:
    pytest.importorskip("sqlalchemy")
    from cranfield.server import Settings
    from cranfield.server.services.site import open_site

    open_site(Settings(folder / "site")).store.close()
    return folder / "site"


@pytest.mark.parametrize("command", ["verify site", "rescore site x", "backup site --to b.tar.gz"])
def test_a_damaged_store_is_told(site: Path, command: str, capsys: Said) -> None:
    (site / "campaign.sqlite").write_bytes(b"this is no database, " * 500)
    for log in site.glob("campaign.sqlite-*"):
        log.unlink()
    assert main(["campaign", *command.split()]) == 2
    assert "the store cannot be used" in capsys.readouterr().err


def test_an_address_of_a_store_that_is_none(site: Path, capsys: Said) -> None:
    assert main(["campaign", "verify", "site", "--db", "nan"]) == 2
    assert "--db is not an address" in capsys.readouterr().err


@pytest.mark.parametrize("damage", ["bytes", "manifest", "empty"])
def test_a_damaged_backup_leaves_no_folder(site: Path, damage: str, capsys: Said) -> None:
    backup = Path("backup.tar.gz")
    assert main(["campaign", "backup", "site", "--to", str(backup)]) == 0
    data = backup.read_bytes()
    if damage == "bytes":
        backup.write_bytes(data[:200] + b"\xff" * 50 + data[250:])
    elif damage == "empty":
        backup.write_bytes(gzip.compress(b""))
    else:
        with tarfile.open(backup, "w:gz") as archive:
            archive.addfile(_entry("manifest.json", b"[]"), io.BytesIO(b"[]"))
    assert main(["campaign", "restore", str(backup), "--to", "back"]) == 2
    assert "fault of Cranfield" not in capsys.readouterr().err
    assert not os.path.lexists("back")


def _entry(name: str, data: bytes) -> tarfile.TarInfo:
    entry = tarfile.TarInfo(name)
    entry.size = len(data)
    return entry


def test_thresholds_for_a_site_are_text(folder: Path, capsys: Said, monkeypatch) -> None:
    monkeypatch.setenv("CRANFIELD_TOKEN", "x")
    (folder / "th.txt").write_bytes(b"0.5\n\xff\xfe\n")
    asked = ["submit", "a.run", "--to", "http://127.0.0.1:9/c", "--task", "labels"]
    assert main([*asked, "--threshold", "th.txt"]) == 2
    assert "th.txt:2: byte 0xff is not UTF-8 text" in capsys.readouterr().err
