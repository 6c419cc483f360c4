"""`runs benchmark`: descriptors on folders of the layouts that collections of pictures have."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import cranfield as cf
from cranfield.cli import main
from cranfield.errors import InputError


def _write_pictures(folder: Path, names: list[str], kinds: list[int]) -> None:
    """Pictures of one kind have one colour, but for noise."""
    rng = np.random.default_rng(2)
    colours = rng.integers(40, 215, (max(kinds) + 1, 3))
    for name, kind in zip(names, kinds, strict=True):
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        noise = rng.integers(-30, 31, (24, 24, 3))
        Image.fromarray((colours[kind] + noise).astype(np.uint8)).save(path)


def test_classes_end_to_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"{kind}/{number}.png" for kind in "abc" for number in range(4)]
    _write_pictures(tmp_path / "in", names, [n // 4 for n in range(12)])
    target = tmp_path / "out"
    asked = ["runs", "benchmark", str(tmp_path / "in"), "--as", "mnro-table-5", "-o", str(target)]
    assert main([*asked, "-d", "CLD LBP SpCD", "--format", "json", "--quiet"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["layout"], answer["pictures"]) == ("classes", 12)
    # The means are those of the files that it leaves, scored anew.
    runs = sorted((target / "runs").glob("*.run"))
    scores = cf.evaluate(target / "qrels.txt", runs, "AP P@10 P@20 NMRR MNRO", collection_size=12)
    means = {row["descriptor"]: row["mean"] for row in answer["descriptors"]}
    assert set(means) == {"CLD", "LBP", "SpCD"}
    for run, values in scores.mean().items():
        assert means[run] == pytest.approx(dict(values))
    order = [row["mean"]["AP"] for row in answer["descriptors"]]
    assert order == sorted(order, reverse=True)
    assert [row["place"] for row in answer["descriptors"]] == [1, 2, 3]
    assert all(0 <= row["confidence"] <= 1 for row in answer["descriptors"])
    assert len(answer["neighbours"]) == 2 * 5
    assert (target / "leaderboard-AP.svg").read_text().startswith("<svg")
    # Each picture asks for the three others of its class.
    qrels = cf.read_qrels(target / "qrels.txt").to_dict()
    assert set(qrels["a/0"]) == {"a/1", "a/2", "a/3"}


@pytest.mark.parametrize(
    "layout, names, topic, relevant",
    [
        ("wang", [f"{n}.png" for n in (0, 1, 99, 100, 101)], "0", {"1", "99"}),
        ("nister", [f"ukbench{n:05}.png" for n in range(8)], "ukbench00005", {4, 6, 7}),
    ],
)
def test_layouts_of_wang_and_nister(
    tmp_path: Path, layout: str, names: list[str], topic: str, relevant: set[str] | set[int]
) -> None:
    _write_pictures(tmp_path / "in", names, [0] * len(names))
    target = tmp_path / "out"
    answer = cf.benchmark_descriptors(tmp_path / "in", descriptors="SCD CLD", output=target)
    assert answer.layout == layout
    items = {f"ukbench{n:05}" if isinstance(n, int) else n for n in relevant}
    assert set(cf.read_qrels(target / "qrels.txt").to_dict()[topic]) == items


def test_other_folders_need_judgements(tmp_path: Path) -> None:
    _write_pictures(tmp_path, ["x.png", "y.png", "z.png"], [0, 0, 1])
    with pytest.raises(InputError, match="name the judgements"):
        cf.benchmark_descriptors(tmp_path, descriptors="SCD")
    answer = cf.benchmark_descriptors(
        tmp_path, {"x": {"y": 1}}, descriptors="SCD CLD", preset="lire"
    )
    assert answer.layout == "judgements"
    assert set(answer.scores.runs) == {"SCD.lire", "CLD.lire"}
    assert answer.scores.evaluated == (1, 1)
