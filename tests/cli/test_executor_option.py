"""`eval` and `label` with --executor print what they print without it."""

from pathlib import Path

import pytest

import cranfield
from cranfield.cli import main

DIGITS = Path(cranfield.__file__).parent / "samples" / "digits"
RUNS = [str(p) for p in sorted((DIGITS / "runs").iterdir())[:3]]
LABELS = [str(DIGITS / "labels" / n) for n in ("bayes.csv.gz", "timid.txt.gz", "tree.csv.gz")]
EVAL = ["eval", str(DIGITS / "qrels.txt.gz"), *RUNS]
LABEL = ["label", str(DIGITS / "truth.csv"), *LABELS, "--ontology", str(DIGITS / "ontology.csv")]
COMMANDS = {
    "eval": [*EVAL, "-m", "AP NMRR P@10 NumRelRet"],
    "eval json": [*EVAL, "-m", "AP RR", "--per-topic", "--tie-range", "--format", "json"],
    "eval html": [*EVAL, "-m", "AP", "--format", "html"],
    "label html": [*LABEL, "-m", "F.example", "--format", "html"],
    "label": [*LABEL, "-m", "F.example OS AP.concept"],
    "label json": [*LABEL, "-m", "F.example AUC F.concept", "--per-item", "--per-concept",
                   "--threshold", "0.4", "--threshold", "tree=0.6", "--format", "json"],
}  # fmt: skip


@pytest.mark.parametrize("name", COMMANDS)
def test_processes_print_what_threads_print(capsys, name):
    assert main(COMMANDS[name]) == 0
    expected = capsys.readouterr()
    assert main([*COMMANDS[name], "--executor", "processes", "--jobs", "2"]) == 0
    found = capsys.readouterr()
    assert found.out == expected.out
    assert sorted(found.err.splitlines()) == sorted(expected.err.splitlines())


@pytest.mark.parametrize(
    "argv, message",
    [
        ([*EVAL, "--executor", "cloud"], "is not one of threads, processes"),
        ([*EVAL, RUNS[0], "--executor", "processes"], "two runs are named"),
        ([*EVAL, "-", "--executor", "processes"], "standard input"),
        ([*EVAL, "nothing.run", "--executor", "processes"], "nothing.run: no such file"),
        ([*LABEL, "--threshold", "x=1", "--executor", "processes"], "'x', which is not a run"),
        ([*EVAL, "--executor", "dask://127.0.0.1:1"], ("no Dask scheduler", "cranfield[cluster]")),
    ],
)
def test_bad_input(capsys, argv, message):
    assert main(argv) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    wanted = message if isinstance(message, tuple) else (message,)
    assert any(text in shown.err for text in wanted), shown.err
    assert "Traceback" not in shown.err
