"""`--keep-going`: the good runs are scored, the bad ones told, in eval, label and compare."""

import json

import pytest

from cranfield.cli import main
from cranfield.io.samples import SAMPLE

QRELS, TRUTH = str(SAMPLE / "qrels.txt.gz"), str(SAMPLE / "truth.csv")
RUNS = [str(SAMPLE / "runs" / f"{n}.run.gz") for n in ("pca", "pixels")]
LABELS = [str(SAMPLE / "labels" / f"{n}.csv.gz") for n in ("logistic", "tree")]


@pytest.fixture
def bad(tmp_path):
    ranked = tmp_path / "broken.run"
    ranked.write_text("zero-1 Q0 d1365 1 0.9 x\nzero-1 Q0 d1029 two\n")
    labels = tmp_path / "broken.csv"
    labels.write_text("item,Zero\nd0601,7\n")
    stranger = tmp_path / "stranger.csv"
    stranger.write_text("item,Zero,Cat\nd0601,0.5,0.1\n")
    return ranked, labels, stranger


@pytest.mark.parametrize("command", ["eval", "compare"])
def test_ranked_runs(bad, capsys, command):
    files = [QRELS, *RUNS, str(bad[0])]
    assert main([command, *files]) == 2
    capsys.readouterr()
    assert main([command, *files, "-m", "AP", "--keep-going", "--format", "json"]) == 1
    out, err = capsys.readouterr()
    found = json.loads(out)
    names = [r if isinstance(r, str) else r["name"] for r in found["runs"]]
    assert names == ["pca", "pixels"]
    assert any(note.startswith(f"left out: {bad[0]}:2: ") for note in found["notes"])
    assert f"left out: {bad[0]}:2:" in err


@pytest.mark.parametrize("argv", [["label", TRUTH], ["compare", "--truth", TRUTH]])
def test_annotations(bad, capsys, argv):
    files = [*LABELS, str(bad[1]), str(bad[2])]
    more = ["-m", "F.example", "--keep-going", "--format", "json"]
    assert main([*argv, *files, *more]) == 1
    found = json.loads(capsys.readouterr().out)
    names = [r if isinstance(r, str) else r["name"] for r in found["runs"]]
    assert names == ["logistic", "tree"]
    for path in bad[1:]:
        assert any(note.startswith(f"left out: {path}") for note in found["notes"])


def test_all_are_good_or_none_is(bad, capsys):
    assert main(["eval", QRELS, *RUNS, "--keep-going"]) == 0
    assert main(["eval", QRELS, str(bad[0]), "--keep-going"]) == 2
    assert f"{bad[0]}:2:" in capsys.readouterr().err


def test_not_with_gold_and_silver(bad, capsys):
    argv = ["eval", "--gold", QRELS, "--silver", QRELS, *RUNS, "--keep-going"]
    assert main(argv) == 2
    assert "cannot be combined" in capsys.readouterr().err
