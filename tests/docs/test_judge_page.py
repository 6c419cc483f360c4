"""The page on model judges: its commands run, and its estimate is between people and program."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import cranfield as cf
from cranfield.cli import main

PAGE = (Path(__file__).parents[2] / "docs/how-to/calibrate-a-judge.md").read_text()
COMMANDS = [line[2:] for line in re.findall(r"^\$ .*$", PAGE, flags=re.MULTILINE)]
TOPICS = [f"t{k}" for k in range(60)]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str, int]]:
    """Sixty topics, of which people judged a third, and a generous judge; what is true."""
    rng = np.random.default_rng(2)
    true = {t: {f"d{i}": int(rng.random() < 0.3) for i in range(12)} for t in TOPICS}
    said = {
        t: {d: max(g, int(rng.random() < 0.2)) for d, g in row.items()} for t, row in true.items()
    }
    human = rng.choice(TOPICS, 20, replace=False).tolist()
    monkeypatch.chdir(tmp_path)
    for name, labels in {"people": {t: true[t] for t in human}, "model": said}.items():
        lines = [f"{t} 0 {d} {g}\n" for t, row in labels.items() for d, g in row.items()]
        Path(f"{name}.qrels").write_text("".join(lines))
    for run, skill in {"a": 0.3, "b": 0.8}.items():
        lines = [
            f"{t} Q0 {d} 1 {rng.random() + skill * g:.6f} {run}\n"
            for t, row in true.items()
            for d, g in row.items()
        ]
        Path(f"{run}.run").write_text("".join(lines))
    return true


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_of_the_page(
    command: str, project: dict[str, dict[str, int]], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*shlex.split(command)[1:], "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_the_interval_holds_the_truth_which_the_judge_misses(
    project: dict[str, dict[str, int]], capsys: pytest.CaptureFixture[str]
) -> None:
    words = "eval --human-labels people.qrels --model-labels model.qrels b.run -m P@5 --format json"
    assert main(shlex.split(words)) == 0
    estimate = json.loads(capsys.readouterr().out)["estimates"][0]["these"]
    truth = cf.evaluate(project, "b.run", "P@5").mean()["b"]["P@5"]
    judge = cf.evaluate("model.qrels", "b.run", "P@5").mean()["b"]["P@5"]
    low, high = estimate
    assert low <= truth <= high
    assert judge > high


def test_the_words_that_people_search_for() -> None:
    for word in ("LLM", "UMBRELA", "RAG", "human labels", "model labels", "prediction-powered"):
        assert word in PAGE
