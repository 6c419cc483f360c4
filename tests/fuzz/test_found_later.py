"""What whole runs of the fuzzer found, each as the smallest case that showed it."""

from __future__ import annotations

import html
import json
import os
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import cranfield as cf
from cranfield.cli import main
from cranfield.cli._messages import run_guarded
from cranfield.relatedness.wordnet_files import cached

Said = pytest.CaptureFixture[str]
PYTHON = shlex.quote(sys.executable)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "q.txt").write_text("".join(f"t{k} 0 a 1\nt{k} 0 b 0\n" for k in range(6)))
    lines = "".join(f"t{k} Q0 a 1 2 a\nt{k} Q0 b 2 1 a\n" for k in range(6))
    (tmp_path / "a.run").write_text(lines)
    (tmp_path / "b.run").write_text(lines.replace(" a 1 2", " c 1 2"))
    return tmp_path


def _shell(command: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)


def test_vectors_from_a_pipe_are_read_once(folder: Path) -> None:
    np.savez(folder / "v.npz", items=np.array(["a", "b", "c"]), vectors=np.eye(3))
    done = _shell(f"mkfifo p.npz; cat v.npz > p.npz & {PYTHON} -m cranfield search p.npz")
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 6


@pytest.mark.parametrize(("signal", "code"), [(SystemExit(143), 143), (KeyboardInterrupt(), 130)])
def test_a_signal_while_a_class_is_made_is_no_fault(signal: BaseException, code: int) -> None:
    # Python hides what is raised while it names the parts of a class in an error of its own.
    def interrupted() -> int:
        raise RuntimeError("Error calling __set_name__") from signal

    assert run_guarded(interrupted) == code


def test_a_signal_that_a_library_made_another_error_of(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted() -> int:
        raise ImportError("Importing the numpy C-extensions failed")

    monkeypatch.setattr("cranfield._process.stopped_with", stopped := [])
    monkeypatch.setattr("cranfield.cli._messages.stopped_with", stopped)
    assert run_guarded(interrupted) == 3
    stopped.append(143)
    assert run_guarded(interrupted) == 143


def test_after_an_interrupt_python_ends_as_usual(folder: Path) -> None:
    command = (
        "import atexit, sys; atexit.register(print, 'put away'); import cranfield.cli as c; "
        "c.main = lambda: 130; from cranfield.__main__ import start; sys.exit(start())"
    )
    done = _shell(f"{PYTHON} -c {shlex.quote(command)}")
    assert (done.returncode, done.stdout) == (130, "put away\n")


@pytest.mark.slow
def test_pictures_are_refused_where_memory_has_a_limit(folder: Path) -> None:
    pytest.importorskip("vl_convert")
    chart = f"{PYTHON} -m cranfield chart leaderboard q.txt a.run b.run -m AP -o x"
    done = _shell(f"ulimit -v 4000000; {chart}.pdf")
    assert done.returncode == 2
    assert "draw it as .svg, or without that limit" in done.stderr
    assert _shell(f"ulimit -v 4000000; {chart}.svg").returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("kilobytes", [100_000, 300_000])
def test_where_arrays_have_no_room_that_is_told(folder: Path, kilobytes: int) -> None:
    # OpenBLAS ended the process with its own words and exit code 1.
    limited = f"ulimit -v {kilobytes}; {PYTHON} -m cranfield"
    done = _shell(f"{limited} compare q.txt a.run b.run -m AP --resamples 20")
    assert (done.returncode, done.stderr) == (2, "cranfield: not enough memory for this\n")
    assert _shell(f"{limited} eval q.txt a.run -m AP").returncode == 0


@pytest.mark.parametrize("number", [0, 1, 2])
def test_no_file_takes_the_place_of_a_closed_stream(folder: Path, number: int) -> None:
    show = "open(3 if fd != 3 else 4, 'w').write(os.readlink(f'/proc/self/fd/{fd}'))"
    code = f"import os; fd = {number}; from cranfield.__main__ import _open_streams as s; s(); "
    done = _shell(f"{PYTHON} -c {shlex.quote(code + show)} 3>there {number}>&- ; cat there")
    assert done.stdout == "/dev/null"


def test_a_cache_of_a_path_that_is_not_utf8(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRANFIELD_CACHE", str(folder))
    arrays = {"a": np.arange(3)}
    assert cached("x", os.fsdecode(b"/\xff\xfe"), lambda: arrays).keys() == {"a"}


def test_categories_of_a_table_are_no_numbers(folder: Path, capsys: Said) -> None:
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    column = pa.array(["x", "y"]).dictionary_encode()
    pq.write_table(pa.table({"item": ["i", "j"], "Sky": column}), "t.parquet")
    assert main(["label", "t.parquet", "t.parquet", "-m", "F.example"]) == 2
    said = capsys.readouterr().err
    assert "column 'Sky' has dictionary with 0 empty cells, expected numbers" in said
    assert "--" not in said


def test_toml_that_is_nested_too_deep(folder: Path, capsys: Said) -> None:
    deep = "a = " + "[" * 5000
    Path("o.csv").write_text("concept,path\nSky,0.1\n")
    Path("rules.toml").write_text(deep)
    Path("collection.toml").write_text(deep)
    assert main(["ontology", "check", "o.csv", "--rules", "rules.toml"]) == 2
    assert "rules.toml: not valid TOML: nested too deep" in capsys.readouterr().err
    assert main(["collection", "check", "."]) == 1
    assert "not valid TOML: nested too deep" in capsys.readouterr().out


def test_gold_of_a_topic_that_the_silver_has_not(folder: Path, capsys: Said) -> None:
    Path("collection.toml").write_text(
        'name = "x"\njudgements = "q.txt"\nruns = ["a.run", "b.run"]\n'
    )
    Path("gold.txt").write_text(Path("q.txt").read_text() + "other 0 a 1\n")
    command = "publish . --kind ranked --gold gold.txt --silver q.txt --resamples 20 -o made"
    assert main(command.split()) == 2
    assert "--gold judges 1 topic that --silver does not (other)" in capsys.readouterr().err
    assert not Path("made").exists()


def test_infinite_costs_are_refused_without_a_warning(folder: Path) -> None:
    Path("m.csv").write_text(",a,b\na,inf,inf\nb,inf,0\n")
    with pytest.raises(cf.InputError, match="the cost of 'a' to 'a' is inf"):
        cf.read_costmap("m.csv")


@pytest.mark.parametrize("method", ["zsum", "minmax", "combsum", "rrf", "borda"])
@pytest.mark.parametrize("large", [float("inf"), 1.5e308])
def test_very_large_scores_keep_their_order_when_runs_are_fused(method: str, large: float) -> None:
    run = {"t": {"a": large, "b": 1.0, "c": -large}}
    fused = cf.fuse({"x": run, "y": {"t": {"a": 3.0, "b": 2.0, "c": 1.0}}}, method).run.to_dict()
    assert sorted(fused["t"], key=fused["t"].__getitem__, reverse=True) == ["a", "b", "c"]
    assert all(np.isfinite(list(fused["t"].values())))


def test_notes_of_a_saved_answer_are_text(folder: Path) -> None:
    cf.evaluate("q.txt", "a.run", "AP").save("s.json")
    document = json.loads(Path("s.json").read_text())
    text = json.dumps(document)
    assert '"notes": []' in text or '"notes"' in text
    document["result"]["notes"] = [["a"]]
    Path("s.json").write_text(json.dumps(document))
    with pytest.raises(cf.InputError, match=r"s\.json"):
        cf.load("s.json")


@pytest.mark.parametrize("value", [10**400, 2**70, 10**9], ids=["huge", "large", "many"])
def test_resamples_have_a_bound(value: int) -> None:
    with pytest.raises(cf.UsageError, match="is too large: at most"):
        cf.stats.bootstrap_means(np.eye(3), resamples=value)


@pytest.mark.slow
def test_a_tag_corpus_of_very_many_columns_is_read_at_linear_cost(folder: Path) -> None:
    names = ",".join(f"c{k}" for k in range(30_000))
    Path("tags.csv").write_text(f"item,{names}\ni{',1' * 30_000}\n")
    started = time.process_time()
    assert cf.analyse_tags("tags.csv", min_items=1)
    assert time.process_time() - started < 100
    Path("twice.csv").write_text(f"item,{names},c7\ni{',1' * 30_001}\n")
    with pytest.raises(cf.InputError, match="column 'c7' is there twice"):
        cf.analyse_tags("twice.csv")


def test_pages_of_surveys_allow_their_own_script_alone(folder: Path) -> None:
    assert main(["survey", "measures", "-o", "made", "--quiet"]) == 0
    page = next(Path("made").glob("*.html")).read_text()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    allowed = html.unescape(policy[1])
    assert allowed.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in allowed
