"""The script makes what is committed: all that needs no learning, to the letter."""

import gzip
import struct
import zlib
from collections import defaultdict

import numpy as np
import pytest

from cranfield.io.samples import SAMPLE
from scripts.demo import annotation, annotators, images, retrieval, subjects

pytest.importorskip("sklearn", reason="the images come from scikit-learn, of the extra 'ml'")


@pytest.fixture(scope="module")
def data():
    return images.load()


def committed(name: str) -> str:
    content = (SAMPLE / name).read_bytes()
    return (gzip.decompress(content) if name.endswith(".gz") else content).decode()


def committed_ranking(name: str) -> dict[str, list[tuple[str, float]]]:
    ranking = defaultdict(list)
    for line in committed(f"runs/{name}.run.gz").splitlines():
        topic, _, item, _, score, _ = line.split()
        ranking[topic].append((item, float(score)))
    return dict(ranking)


def test_items_splits_and_agreement(data):
    files = images.item_files(data) | annotators.agreement_files(data)
    assert len(files) == 8
    for name, content in files.items():
        assert content == committed(name), name


def test_topics_captions_and_what_people_say(data):
    files = subjects.caption_files(data) | subjects.subject_files(data)
    files["topics.csv"] = retrieval.topics_text(data)
    files["design.csv"] = retrieval.design_text(data)
    assert len(files) == 6
    for name, content in files.items():
        assert content == committed(name), name


@pytest.mark.parametrize("name", ["pixels", "bits", "random", "gradients"])
def test_runs_without_learning(data, name):
    ranking = retrieval.rank(retrieval.SYSTEMS[name](data), data)
    assert retrieval.run_text(name, ranking) == committed(f"runs/{name}.run.gz")


def test_runs_with_learning_come_out_alike(data):
    """Other versions of the libraries may differ in the last digits, so the items are compared."""
    for name in ("discriminant", "pca", "projection"):
        made = retrieval.rank(retrieval.SYSTEMS[name](data), data)
        for topic, rows in committed_ranking(name).items():
            common = {item for item, _ in rows} & {item for item, _ in made[topic]}
            assert len(common) >= 98, (name, topic)


def test_the_year_before_comes_out_alike(data):
    """Figures of learners may differ in their last digits with the versions of the libraries."""
    (made,) = annotation.earlier_files(data).values()
    rows = [text.splitlines() for text in (made, committed("earlier/2025.csv"))]
    for new, old in zip(*rows, strict=True):
        assert new.rsplit(",", 1)[0] == old.rsplit(",", 1)[0]
        if new != rows[0][0]:
            assert float(new.rsplit(",", 1)[1]) == pytest.approx(
                float(old.rsplit(",", 1)[1]), abs=0.02
            )


def test_judgements_follow_from_the_runs(data):
    rankings = {name: committed_ranking(name) for name in retrieval.SYSTEMS}
    assert retrieval.judgements_text(data, rankings) == committed("qrels.txt.gz")


def test_truth_and_costs(data, monkeypatch):
    kept = {name: annotation.CLASSIFIERS[name] for name in ("neighbours", "chance")}
    monkeypatch.setattr(annotation, "CLASSIFIERS", kept)
    files = annotation.annotation_files(data)
    assert files.keys() == {
        "truth.csv",
        "truth-training.csv",
        "costmap.csv",
        "labels/neighbours.csv.gz",
        "labels/chance.csv.gz",
    }
    for name, content in files.items():
        assert content == committed(name), name


def test_the_sheet_shows_the_images(data):
    content = (SAMPLE / "images.png").read_bytes()
    width, height = struct.unpack(">II", content[16:24])
    start = content.index(b"IDAT") + 4
    size = struct.unpack(">I", content[start - 8 : start - 4])[0]
    lines = np.frombuffer(zlib.decompress(content[start : start + size]), np.uint8)
    grey = lines.reshape(height, width + 1)
    assert not grey[:, 0].any()  # no line is filtered
    for position in (0, 42, 43, 1796):
        row, column = divmod(position, 43)
        tile = grey[row * 8 : row * 8 + 8, 1 + column * 8 : 9 + column * 8].astype(float)
        ink = np.round((255 - tile) * 16 / 255)
        assert (ink.ravel() == data.pixels[position]).all()


def test_writing_twice_gives_the_same_bytes(tmp_path):
    for folder in ("a", "b"):
        images.write(tmp_path / folder, {"x/y.txt.gz": "text\n", "z.bin": b"\0"})
    for name in ("x/y.txt.gz", "z.bin"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
