"""`cranfield search`: runs from vectors, the same whatever the blocks, threads and files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import cranfield as cf
from cranfield.cli import main
from cranfield.errors import CranfieldError
from cranfield.features import DESCRIPTORS, DISTANCES
from cranfield.features import search as module
from cranfield.features.distances import distances
from cranfield.features.item_vectors import ItemTable
from cranfield.features.search import search
from tests.cluster import local_cluster

ROOT = Path(__file__).parents[2]
PHOTOS = ROOT / "src" / "cranfield" / "samples" / "photos"


def run(*args: object) -> int:
    return main(["search", *map(str, args)])


def lines(path: Path) -> list[list[str]]:
    return [line.split() for line in path.read_text().splitlines()]


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("photos")
    names = "all lire"
    assert main(["describe", str(PHOTOS / "pictures"), "-d", names, "-o", str(folder)]) == 0
    return folder


# MAP of LIRE's descriptors on these pictures, each query left out, ties by name.
LIRE = {
    "Correlogram.lire": 0.7466,
    "CEDD": 0.7219,
    "C.CEDD": 0.6806,
    "CLD64.lire": 0.5806,
    "EHD.lire": 0.4473,
    "FCTH": 0.8011,
    "JCD": 0.7771,
    "LBP.lire": 0.5889,
    "PHOG.lire": 0.3152,
    "SCD.lire": 0.4536,
    "RGBHistogram.lire": 0.7103,
    "Tamura.lire": 0.4144,
}
# Of the versions that are preferred, as the definitions behind them were found to do.
PREFERRED = {
    "EHD": 0.487,
    "SCD": 0.708,
    "CLD": 0.600,
    "Tamura": 0.528,
    "LBP": 0.612,
    "RGBHistogram": 0.734,
    "Correlogram": 0.772,
    "OpponentHistogram": 0.630,
}


def test_mean_average_precision_on_the_photos(photos: Path, tmp_path: Path) -> None:
    names = [*LIRE, *PREFERRED]
    assert run(*(photos / f"{n}.npz" for n in names), "-o", tmp_path, "--quiet") == 0
    runs = [str(tmp_path / f"{name}.run") for name in names]
    found = cf.evaluate(str(PHOTOS / "qrels.txt"), runs, "AP").mean()
    for name, wanted in LIRE.items():
        assert found[name]["AP"] == pytest.approx(wanted, abs=0.005), name
    # These figures were found with another decoder of JPEG.
    for name, wanted in PREFERRED.items():
        assert found[name]["AP"] == pytest.approx(wanted, abs=0.008), name


def test_the_run_says_what_was_compared_and_how(photos: Path, tmp_path: Path) -> None:
    out = tmp_path / "CEDD.run"
    assert run(photos / "CEDD.npz", "-o", out, "-k", "5", "--quiet") == 0
    rows = lines(out)
    assert len(rows) == 144 * 5
    assert {row[5] for row in rows} == {"CEDD-Tanimoto"}
    assert all(0 <= float(row[4]) <= 1 for row in rows)
    assert [row[3] for row in rows[:5]] == list("12345")
    assert not [row for row in rows if row[0] == row[2]]
    assert run(photos / "CEDD.npz", "-o", out, "-k", "5", "--quiet", "--keep-query") == 0
    kept = lines(out)
    # Also where other pictures have the same vector.
    assert [row[0] for row in kept[::5]] == [row[2] for row in kept[::5]]
    assert all(float(row[4]) == 1 for row in kept[::5])


@pytest.mark.parametrize("name", ["CEDD", "EHD", "CLD", "SCD", "JCD", "Correlogram", "Tamura"])
def test_rankings_are_those_of_the_exact_distances(photos: Path, name: str) -> None:
    found = search(photos / f"{name}.npz", k=20, keep_query=True)
    with np.load(photos / f"{name}.npz") as arrays:
        vectors = arrays["vectors"].astype(float)
    table = distances(DESCRIPTORS[name].distance, vectors, vectors, descriptor=DESCRIPTORS[name])
    others = ~np.eye(len(table), dtype=bool)  # of equal distances, the query itself is first
    order = np.lexsort((others, table), axis=1)[:, :20]
    np.testing.assert_array_equal(found.found, order)


def test_blocks_and_threads_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    table = ItemTable.of([f"i{i}" for i in range(300)], rng.random((300, 24)).round(1))
    for name in ("L1", "L2", "cosine", "Tanimoto", "chi2", "JSD", "relative"):
        whole = search(table, distance=name, k=300, jobs=1)
        monkeypatch.setattr("cranfield.features.search._ITEMS", 37)
        monkeypatch.setattr(module, "_QUERIES", 50)
        monkeypatch.setattr(module, "_TOGETHER", 7)
        parts = search(table, distance=name, k=40, jobs=2)
        monkeypatch.undo()
        np.testing.assert_array_equal(parts.scores, whole.scores[:, :40])
        np.testing.assert_array_equal(parts.found, whole.found[:, :40])


def test_queries_from_a_folder_a_file_and_topics(photos: Path, tmp_path: Path) -> None:
    asked = tmp_path / "asked"
    asked.mkdir()
    for name in ("brick_00", "cell_12"):
        (asked / f"{name}.jpg").write_bytes((PHOTOS / "pictures" / f"{name}.jpg").read_bytes())
    Image.new("RGB", (96, 96), "red").save(asked / "red.png")
    by_folder = search(photos / "CEDD.npz", asked, k=10)
    assert by_folder.topics == ("brick_00", "cell_12", "red")
    every = search(photos / "CEDD.npz", k=10)
    for topic in ("brick_00", "cell_12"):
        one, other = by_folder.topics.index(topic), every.topics.index(topic)
        np.testing.assert_array_equal(by_folder.found[one], every.found[other])
    assert main(["describe", str(asked), "-d", "CEDD", "-o", str(tmp_path / "q")]) == 0
    by_file = search(photos / "CEDD.npz", tmp_path / "q" / "CEDD.npz", k=10)
    np.testing.assert_array_equal(by_file.found, by_folder.found)
    (tmp_path / "topics.csv").write_text("topic,item\nT1,brick_00\nT2,cell_12\n")
    by_topic = search(photos / "CEDD.npz", tmp_path / "topics.csv", k=10)
    assert by_topic.topics == ("T1", "T2")
    np.testing.assert_array_equal(by_topic.found, by_folder.found[:2])


def test_any_vectors_can_be_searched(tmp_path: Path) -> None:
    np.save(tmp_path / "v.npy", np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 3.0]]))
    (tmp_path / "ids.txt").write_text("a\nb\nc\n")
    out = tmp_path / "out.run"
    args = (tmp_path / "v.npy", "--items", tmp_path / "ids.txt", "-o", out, "--quiet")
    assert run(*args) == 0
    assert lines(out)[0] == ["a", "Q0", "b", "1", repr(1 / (1 + 2**0.5)), "v-L2"]
    assert run(*args, "--distance", "cosine") == 0
    assert lines(out)[0] == ["a", "Q0", "c", "1", "1", "v-cosine"]


def test_what_is_asked_wrongly(
    photos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(photos / "CEDD.npz", "--distance", "CLD") == 2
    assert "the distance CLD is of vectors of 12 or 33 or 192 numbers" in capsys.readouterr().err
    assert run(photos / "CEDD.npz", "--distance", "tanimotto") == 2
    assert "Did you mean 'Tanimoto'" in capsys.readouterr().err
    assert run(photos / "CEDD.npz", photos / "EHD.npz") == 2
    assert "-o" in capsys.readouterr().err
    assert run(photos / "CEDD.npz", "--queries", photos / "EHD.npz") == 2
    assert "80 numbers" in capsys.readouterr().err
    np.savez(tmp_path / "bad.npz", items=np.array(["a", "b"]), vectors=np.array([[1.0], [np.nan]]))
    assert run(tmp_path / "bad.npz") == 2
    assert "'b' is not finite" in capsys.readouterr().err


def test_json_and_saving(photos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(photos / "CEDD.npz", "-k", "2", "--format", "json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["command"] == "search"
    assert len(found["topics"]) == 144
    assert len(found["topics"][0]["items"]) == 2
    answer = search(photos / "CEDD.npz", k=2)
    answer.save(tmp_path / "kept.json")
    assert cf.load(tmp_path / "kept.json") == answer
    (tmp_path / "CEDD.run").write_bytes(answer.to_bytes())
    assert cf.read_run(tmp_path / "CEDD.run").to_dict() == answer.run().to_dict()


def test_every_distance_can_be_asked_for() -> None:
    rng = np.random.default_rng(4)
    for name, declared in DISTANCES.items():
        length = declared.lengths[0] if declared.lengths else 16
        table = ItemTable.of(list("abcdef"), rng.integers(0, 8, (6, length)))
        found = search(table, distance=name, keep_query=True)
        assert found.found[:, 0].tolist() == list(range(6))
        assert np.isfinite(found.scores).all()


def test_a_look_at_query_and_results(photos: Path, tmp_path: Path) -> None:
    out = tmp_path / "look.html"
    args = [photos / "CEDD.npz", "--format", "html", "-o", out, "--quiet"]
    assert run(*args) == 2
    args += ["--pictures", PHOTOS / "pictures", "--qrels", PHOTOS / "qrels.txt"]
    assert run(*args, "--queries", PHOTOS / "near") == 0
    page = out.read_text()
    assert page.count('class="query"') == 30
    assert page.count("<img ") == 30 * 11
    assert "18 more topics" in page
    assert "<script" not in page
    assert run(*args) == 0
    assert ", relevant" in out.read_text()
    with np.load(photos / "CEDD.npz") as arrays:
        items = arrays["items"].tolist()
    (tmp_path / "topics.csv").write_text(f"topic,item\nfirst,{items[5]}\n")
    assert run(*args, "--queries", tmp_path / "topics.csv", "-k", 25) == 0
    page = out.read_text()
    assert page.count("<img ") == 26
    assert f"<figcaption>{items[5]}<br>query" in page


@pytest.mark.parametrize("queries", [None, "topics"])
def test_on_processes_the_run_is_the_same(photos, tmp_path, monkeypatch, queries):
    monkeypatch.setattr("cranfield.features.search._QUERIES", 50)
    with np.load(photos / "CEDD.npz") as arrays:
        items = arrays["items"].tolist()
    (tmp_path / "topics.csv").write_text("topic,item\n1," + items[5] + "\n2," + items[77] + "\n")
    given = [] if queries is None else ["--queries", tmp_path / "topics.csv"]
    here, there = tmp_path / "here.run", tmp_path / "there.run"
    assert run(photos / "CEDD.npz", *given, "-o", here) == 0
    assert run(photos / "CEDD.npz", *given, "-o", there, "--executor", "processes") == 0
    assert here.read_bytes() == there.read_bytes()


def test_a_cluster_reads_files_itself(photos):
    table = ItemTable.of(["a", "b"], np.eye(2))
    with pytest.raises(CranfieldError, match="are files, which its workers read"):
        search(table, executor="processes")


@pytest.mark.slow
def test_on_a_dask_cluster(photos):
    distributed = pytest.importorskip("distributed")
    with (
        local_cluster(1) as c,
        distributed.Client(c) as client,
        client.get_executor() as executor,
    ):
        there = search(photos / "EHD.npz", k=20, executor=executor)
    here = search(photos / "EHD.npz", k=20)
    assert np.array_equal(there.found, here.found)
    assert np.array_equal(there.scores, here.scores)
