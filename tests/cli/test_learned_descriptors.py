"""Descriptors that are learnt: models of the user's own, and visual words of local features."""

import json
import sys

import numpy as np
import pytest
from PIL import Image

import cranfield as cf
from cranfield.cli import main
from cranfield.errors import CranfieldError, MissingExtraError
from cranfield.features import descriptor, visual_words
from cranfield.features.extract import describe_pictures
from cranfield.features.pictures import read_picture, resized
from cranfield.features.search import search
from cranfield.features.visual_words import local_features
from cranfield.io.samples import sample_folder

onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxruntime")
cv2 = pytest.importorskip("cv2")


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """Four photographs, each as it is, turned, and half as large again."""
    folder = tmp_path_factory.mktemp("pictures")
    photos = sorted((sample_folder("photos") / "pictures").glob("*.jpg"))
    for kind, path in enumerate(photos[:: len(photos) // 4][:4]):
        with Image.open(path) as image:
            image.save(folder / f"k{kind}-a.png")
            image.rotate(180).save(folder / f"k{kind}-b.png")
            width, height = image.size
            image.resize((width * 3 // 2, height * 3 // 2)).save(folder / f"k{kind}-c.png")
    return folder


def write_model(path, channels=4):
    """A convolution whose answer NumPy can work out: weighted means of the colours."""
    weights = np.arange(3 * channels, dtype=np.float32).reshape(channels, 3, 1, 1) / 10
    graph = onnx.helper.make_graph(
        [
            onnx.helper.make_node("Conv", ["x", "w"], ["y"]),
            onnx.helper.make_node("GlobalAveragePool", ["y"], ["z"]),
        ],
        "means",
        [onnx.helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, ["n", 3, 32, 32])],
        [onnx.helper.make_tensor_value_info("z", onnx.TensorProto.FLOAT, ["n", channels, 1, 1])],
        [onnx.numpy_helper.from_array(weights, "w")],
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 13)])
    model.ir_version = 8
    path.write_bytes(model.SerializeToString())
    return weights[:, :, 0, 0]


def test_a_model_gives_what_its_formula_gives(pictures, tmp_path):
    weights = write_model(tmp_path / "means.onnx")
    (tmp_path / "means.toml").write_text("mean = [0, 0, 0]\nstd = [1, 1, 1]\n")
    found = describe_pictures(pictures, f"onnx:{tmp_path}/means.onnx RGBHistogram", tmp_path / "f")
    assert found.written["means"] == 4
    with np.load(tmp_path / "f" / "means.npz") as arrays:
        items, vectors = arrays["items"].tolist(), arrays["vectors"]
    for item, vector in zip(items, vectors, strict=True):
        pixels = resized(read_picture(pictures / f"{item}.png").pixels, 32, 32)
        expected = weights @ (pixels.reshape(-1, 3).mean(axis=0) / 255)
        assert vector == pytest.approx(expected, rel=1e-5)
    # Again: nothing to do. With other settings: everything.
    again = describe_pictures(pictures, f"onnx:{tmp_path}/means.onnx", tmp_path / "f")
    assert again.computed == 0
    (tmp_path / "means.toml").write_text("mean = [0, 0, 0]\nstd = [2, 2, 2]\n")
    other = describe_pictures(pictures, f"onnx:{tmp_path}/means.onnx", tmp_path / "f")
    assert other.computed == 12
    with np.load(tmp_path / "f" / "means.npz") as arrays:
        assert arrays["vectors"] == pytest.approx(vectors / 2)
    ranking = search(tmp_path / "f" / "means.npz")
    assert len(ranking.topics) == 12
    assert str(ranking.distance) == "cosine"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("sise = 3\n", "no setting 'sise'"),
        ("mean = [1]\n", "three numbers"),
        ("output = 'q'\n", "no output 'q'"),
    ],
)
def test_settings_of_a_model_that_are_wrong(pictures, tmp_path, settings, message):
    write_model(tmp_path / "m.onnx")
    (tmp_path / "m.toml").write_text(settings)
    with pytest.raises(CranfieldError, match=message):
        describe_pictures(pictures, f"onnx:{tmp_path}/m.onnx", tmp_path / "f")


def test_a_file_that_is_no_model(pictures, tmp_path, capsys):
    (tmp_path / "bad.onnx").write_bytes(b"no model")
    asked = [
        "describe",
        str(pictures),
        "-d",
        f"onnx:{tmp_path}/bad.onnx",
        "-o",
        str(tmp_path / "f"),
    ]
    assert main(asked) == 2
    assert "no model that can be run" in capsys.readouterr().err
    assert main([*asked[:3], f"onnx:{tmp_path}/gone.onnx", *asked[4:]]) == 2
    assert "no such file" in capsys.readouterr().err


def test_visual_words_find_the_same_thing_turned_and_larger(pictures, tmp_path, capsys):
    """SIFT stays the same under both; judged by kind, a layout of colours does worse."""
    asked = ["describe", str(pictures), "-d", "SIFT(words=60) CLD", "-o", str(tmp_path)]
    assert main([*asked, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["described"] == 12
    qrels = {
        f"k{kind}-{one}": {f"k{kind}-{other}": 1 for other in "abc" if other != one}
        for kind in range(4)
        for one in "abc"
    }
    runs = {
        name: search(tmp_path / f"{file}.npz").run()
        for name, file in (("words", "SIFT(words=60)"), ("layout", "CLD"))
    }
    means = cf.evaluate(qrels, runs, "AP").mean()
    assert means["words"]["AP"] > 0.95
    assert means["words"]["AP"] > means["layout"]["AP"]


def test_words_are_learnt_once_and_rows_are_shares(pictures, tmp_path):
    describe_pictures(pictures, "SIFT(words=20)", tmp_path / "a")
    describe_pictures(pictures, "SIFT(words=20)", tmp_path / "b", jobs=1)
    a, b = (np.load(tmp_path / d / "SIFT(words=20).npz")["vectors"] for d in "ab")
    assert np.array_equal(a, b)
    sums = (a**2).sum(axis=1)
    assert sums[sums > 0] == pytest.approx(1, rel=1e-5)
    assert (sums > 0).sum() >= 6  # sky and water have no corners
    assert describe_pictures(pictures, "SIFT(words=20)", tmp_path / "a").computed == 0


def test_vocabularies_may_be_larger_than_65_536():
    assert descriptor("SURF(words=200000)").bound["words"] == 200_000
    rng = np.random.default_rng(4)
    features = rng.random((5000, 8), dtype=np.float32)
    centres = rng.random((70_000, 8), dtype=np.float32)
    nearest = visual_words._nearest(features, centres)
    for row in range(0, 5000, 500):
        distances = ((features[row].astype(float) - centres) ** 2).sum(axis=1)
        assert distances[nearest[row]] == pytest.approx(distances.min(), abs=1e-5)


def test_preset_takes_variants_of_lire(pictures, tmp_path):
    answer = describe_pictures(pictures, "EHD CEDD", tmp_path, preset="lire")
    assert set(answer.written) == {"EHD.lire", "CEDD"}


def test_a_flat_picture_has_no_words():
    assert local_features(np.zeros((20, 20, 3), dtype=np.uint8)).shape == (0, 128)


def test_what_is_missing_is_named(pictures, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(MissingExtraError, match=r"cranfield\[local\]"):
        describe_pictures(pictures, "SIFT", tmp_path)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    write_model(tmp_path / "m.onnx")
    with pytest.raises(MissingExtraError, match=r"cranfield\[onnx\]"):
        describe_pictures(pictures, f"onnx:{tmp_path}/m.onnx", tmp_path)
