"""`cranfield weaklabel`: outliers under a tag go, what fits it stays."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import cranfield as cf
from cranfield.cli import main


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(1)
    features, tags, truth = ["item,f0,f1,f2,f3"], ["item,tag"], ["item,tag"]
    for tag, centre in (("beach", 2.0), ("snow", -2.0)):
        for k in range(100):
            fits = k < 75
            row = rng.normal(centre if fits else 0.0, 0.8 if fits else 4.0, 4)
            features.append(f"{tag}{k}," + ",".join(f"{x:.5f}" for x in row))
            tags.append(f"{tag}{k},{tag}")
            if fits:
                truth.append(f"{tag}{k},{tag}")
    for name, lines in (("features", features), ("tags", tags), ("truth", truth)):
        (tmp_path / f"{name}.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_the_filter_raises_precision_and_keeps_recall(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    args = ["weaklabel", str(folder / "features.csv"), str(folder / "tags.csv")]
    args += ["--truth", str(folder / "truth.csv"), "--outliers", "0.25"]
    assert main([*args, "--kept", str(folder / "kept.csv"), "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    for tag in found["tags"]:
        assert tag["precision_before"] == 0.75
        assert tag["precision"] > 0.9
        assert tag["recall"] > 0.9
    kept = (folder / "kept.csv").read_text().splitlines()
    assert kept[0] == "item,tag,fit"
    assert len(kept) - 1 == sum(tag["kept"] for tag in found["tags"])
    assert main(args) == 0
    assert "precision_before" in capsys.readouterr().out


def test_an_archive_of_features_gives_the_same(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from cranfield.io.arrays import read_features

    items, table = read_features(folder / "features.csv")
    np.savez(folder / "features.npz", items=np.array(items), features=table)
    answers = []
    for name in ("features.csv", "features.npz"):
        assert main(["weaklabel", str(folder / name), str(folder / "tags.csv")]) == 0
        answers.append(capsys.readouterr().out)
    assert answers[0] == answers[1]


def test_a_tag_with_few_items_is_left_alone(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "few.csv").write_text("item,tag\nbeach0,rare\nsnow0,rare\n")
    assert main(["weaklabel", str(folder / "features.csv"), str(folder / "few.csv")]) == 0
    shown = capsys.readouterr()
    assert "rare      2     2" in shown.out
    assert "1 tags with fewer than 5 items" in shown.err


@pytest.mark.parametrize(
    "name, text, expected",
    [
        ("features", "name,f\na,1\n", "features.csv:1: the header should be item"),
        ("features", "item,f\na,1\na,2\n", "features.csv:3: item 'a' again (first on line 2)"),
        ("features", "item,f\na,x\n", "features.csv:2: feature 'x' is not a finite number"),
        ("features", "item,f\na,1,2\n", "features.csv:2: 3 fields, expected 2"),
        ("features", "item,f\n", "has a header but no items"),
        ("tags", "item,label\na,x\n", "tags.csv:1: the header is 'item,label'"),
        ("tags", "item,tag\na\n", "tags.csv:2: expected an item and a tag"),
        ("tags", "item,tag\nbeach0,x\nbeach0,x\n", "tags.csv:3: item 'beach0' with tag 'x' again"),
        ("tags", "item,tag\nnowhere,x\n", "item 'nowhere' of tag 'x' has no features"),
        ("tags", "item,tag\n", "has a header but no tags"),
    ],
)
def test_bad_files(
    name: str, text: str, expected: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / f"{name}.csv").write_text(text)
    assert main(["weaklabel", str(folder / "features.csv"), str(folder / "tags.csv")]) == 2
    said = capsys.readouterr().err
    assert expected in said
    assert "Traceback" not in said


def test_bad_options(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    args = ["weaklabel", str(folder / "features.csv"), str(folder / "tags.csv")]
    assert main([*args, "--outliers", "1.5"]) == 2
    assert "not between 0 and 1" in capsys.readouterr().err
    assert main([*args, "--gamma", "-1"]) == 2
    assert "not above 0" in capsys.readouterr().err


def test_a_folder_of_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pictures = Path(cf.__file__).parent / "samples" / "photos" / "pictures"
    names = sorted(path.stem for path in pictures.glob("*.jpg"))
    tagged = [n for n in names if n.startswith("coffee")] + ["brick_00", "grass_10"]
    (tmp_path / "tags.csv").write_text("item,tag\n" + "".join(f"{n},coffee\n" for n in tagged))
    truth = "".join(f"{n},coffee\n" for n in tagged if n.startswith("coffee"))
    (tmp_path / "truth.csv").write_text(f"item,tag\n{truth}")
    args = ["weaklabel", str(pictures), str(tmp_path / "tags.csv")]
    args += ["--truth", str(tmp_path / "truth.csv"), "--method", "median"]
    assert main([*args, "--format", "json"]) == 0
    [tag] = json.loads(capsys.readouterr().out)["tags"]
    assert tag["items"] == len(tagged)
    assert tag["precision"] >= tag["precision_before"]
