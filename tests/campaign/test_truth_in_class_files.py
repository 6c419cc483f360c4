"""A truth with a file per concept, as PASCAL VOC has it, in a collection."""

import numpy as np
import pytest

import cranfield as cf
from cranfield.cli import main
from tests.peers import sklearn_metrics

CONCEPTS = ("cat", "dog", "sofa")
ITEMS = tuple(f"2008_{n:06d}" for n in range(30))


@pytest.fixture
def folder(tmp_path):
    draw = np.random.default_rng(2)
    truth = draw.random((30, 3)) < 0.4
    truth[:3] = np.eye(3, dtype=bool)
    classes = tmp_path / "own" / "Main"
    classes.mkdir(parents=True)
    for j, concept in enumerate(CONCEPTS):
        rows = [f"{i} {1 if t else -1:2d}\n" for i, t in zip(ITEMS, truth[:, j], strict=True)]
        (classes / f"{concept}_val.txt").write_text("".join(rows))
    runs = {name: np.round(0.4 * truth + 0.6 * draw.random((30, 3)), 3) for name in "xy"}
    for name, values in runs.items():
        rows = [f"{i},{','.join(map(str, v))}\n" for i, v in zip(ITEMS, values, strict=True)]
        (tmp_path / "own" / f"{name}.csv").write_text("".join(["item,cat,dog,sofa\n", *rows]))
    assert main(["collection", "init", str(tmp_path / "own"), "--quiet"]) == 0
    return tmp_path / "own", truth, runs


def test_it_is_found_checked_and_scored(folder):
    place, truth, runs = folder
    assert cf.read_collection(place).truth == place / "Main"
    assert not cf.check_collection(place).problems
    rows = cf.campaign_results(place, "runs", measures=["AP.concept"]).parts[0]
    for run, value in zip(rows.column("run"), rows.column("AP.concept"), strict=True):
        ap = [
            sklearn_metrics.average_precision_score(truth[:, j], runs[run][:, j]) for j in range(3)
        ]
        assert value == pytest.approx(np.mean(ap))
    assert main(["label", str(place), "--quiet"]) == 0
    assert "sofa" in cf.collection_report(place)


def test_it_is_published_and_copied(folder, tmp_path):
    place, _, _ = folder
    cf.publish(place, tmp_path / "sealed", resamples=200)
    assert not list((tmp_path / "sealed").rglob("*_val.txt"))
    cf.publish(place, tmp_path / "open", release_truth=True, resamples=200)
    copied = {path.name: path.read_bytes() for path in (tmp_path / "open").rglob("*_val.txt")}
    assert copied == {path.name: path.read_bytes() for path in (place / "Main").iterdir()}
    cf.write_collection(cf.read_collection(place), tmp_path / "copy")
    again = cf.campaign_results(tmp_path / "copy", "runs").to_dict()
    assert again == cf.campaign_results(place, "runs").to_dict()


def test_a_site_asks_for_one_file(folder, tmp_path, capsys):
    pytest.importorskip("starlette", reason="the extra server is not installed")
    assert main(["campaign", "import", str(folder[0]), "--to", str(tmp_path / "site")]) == 2
    assert "cranfield convert" in capsys.readouterr().err
