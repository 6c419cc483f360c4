"""Boxes of YOLO and Label Studio, shares of pictures, and what is written is read again."""

import json
import struct
import zlib

import numpy as np
import pytest

import cranfield as cf
from cranfield.errors import InputError, UsageError
from cranfield.io.regions import coerce_regions


def png(width, height):
    """A picture of that size, as small as a PNG file can be."""

    def chunk(kind, data):
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    head = struct.pack(">IIBBBBB", width, height, 1, 0, 0, 0, 0)
    rows = zlib.compress(b"\0" * ((width + 7) // 8 + 1) * height)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@pytest.fixture
def yolo(tmp_path):
    """Two pictures with a text file each and one without: 200 x 100 pixels."""
    folder = tmp_path / "set"
    (folder / "labels").mkdir(parents=True)
    (folder / "images").mkdir()
    (folder / "data.yaml").write_text("path: .\nnames:\n  0: cat\n  1: dog\n")
    (folder / "labels" / "a.txt").write_text("0 0.5 0.5 0.2 0.4\n1 0.1 0.1 0.1 0.2\n")
    (folder / "labels" / "b.txt").write_text("")
    for name in "abc":
        (folder / "images" / f"{name}.png").write_bytes(png(200, 100))
    return folder


def test_a_folder_of_yolo_in_pixels(yolo):
    truth = cf.read_regions(yolo)
    assert truth.items == ("a", "b", "c")
    assert truth.concepts == ("cat", "dog")
    # (0.5 - 0.2 / 2) * 200, (0.5 - 0.4 / 2) * 100, 0.2 * 200, 0.4 * 100
    np.testing.assert_allclose(truth.boxes, [[80, 30, 40, 40], [10, 0, 20, 20]], atol=1e-9)
    assert truth.confidences is None
    assert not truth.relative


def test_without_pictures_yolo_has_shares(yolo):
    (yolo / "images" / "b.png").unlink()
    truth = cf.read_regions(yolo)
    assert truth.relative
    np.testing.assert_allclose(truth.boxes[0], [0.4, 0.3, 0.2, 0.4])
    assert "shares" in truth.notes[0]


def test_a_run_in_shares_is_held_against_pixels(yolo, tmp_path):
    run = tmp_path / "run"
    run.mkdir()
    (run / "a.txt").write_text("0 0.5 0.5 0.2 0.4 0.9\n1 0.1 0.1 0.1 0.2 0.8\n")
    scores = cf.evaluate_regions(yolo, {"same": run}, "AP.region")
    # Classes of a run without names are numbers, which a truth of YOLO does not have.
    assert "concepts that the truth does not have" in scores.notes[-1]
    (run / "classes.txt").write_text("cat\ndog\n")
    scores = cf.evaluate_regions(yolo, {"same": run}, "AP.region")
    assert scores.mean()["same"]["AP.region"] == pytest.approx(1.0)
    boxes = {"a": [("cat", 80.0, 30.0, 40.0, 40.0), ("dog", 10.0, 0.0, 20.0, 20.0)]}
    with pytest.raises(InputError, match="sizes of the pictures are not known"):
        cf.evaluate_regions(boxes, {"same": run}, "AP.region")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("0 0.5 0.5 0.2", "is no box"),
        ("cat 0.5 0.5 0.2 0.1", "is no box"),
        ("0 0.5 nan 0.2 0.1", "cannot be"),
        ("0 0.5 0.5 -0.2 0.1", "cannot be"),
        ("0 80 30 40 40", "shares of the picture"),
    ],
)
def test_bad_lines_of_yolo(yolo, line, message):
    (yolo / "labels" / "a.txt").write_text(f"0 0.5 0.5 0.2 0.4\n{line}\n")
    with pytest.raises(InputError, match=message) as error:
        cf.read_regions(yolo)
    assert error.value.problems[0].line == 2


def studio(*drawn):
    """An export: (item, annotator, label, x, y, width, height) in pixels of 200 x 50."""
    tasks = {}
    for item, annotator, label, x, y, width, height in drawn:
        value = {"x": x / 2, "y": 2 * y, "width": width / 2, "height": 2 * height}
        result = {
            "original_width": 200,
            "original_height": 50,
            "value": value | {"rectanglelabels": [label]},
        }
        people = tasks.setdefault(item, {})
        people.setdefault(annotator, []).append(result)
    return [
        {
            "data": {"image": f"/data/upload/{item}"},
            "annotations": [
                {"completed_by": {"email": who}, "result": results}
                for who, results in people.items()
            ],
        }
        for item, people in tasks.items()
    ]


def test_an_export_of_label_studio(tmp_path):
    path = tmp_path / "export.json"
    rows = [("a.jpg", "ann", "cat", 10, 20, 30, 10), ("b.jpg", "bob", "dog", 0, 0, 100, 25)]
    path.write_text(json.dumps(studio(*rows)))
    truth = cf.read_regions(path)
    assert truth.items == ("a", "b")  # named as the labels of such an export are
    np.testing.assert_allclose(truth.boxes, [row[3:] for row in rows])
    np.testing.assert_allclose(truth.picture_sizes, [[200, 50], [200, 50]])
    path.write_text(json.dumps(studio(*rows, ("a.jpg", "bob", "cat", 1, 2, 3, 4))))
    with pytest.raises(InputError, match="several people annotated 'a'"):
        cf.read_regions(path)
    assert {name: len(boxes) for name, boxes in cf.read_drawn_regions(path).items()} == {
        "ann": 1,
        "bob": 2,
    }


def test_a_turned_rectangle_is_refused(tmp_path):
    tasks = studio(("a.jpg", "ann", "cat", 10, 20, 30, 10))
    tasks[0]["annotations"][0]["result"][0]["value"]["rotation"] = 30
    path = tmp_path / "export.json"
    path.write_text(json.dumps(tasks))
    with pytest.raises(InputError, match="is turned"):
        cf.read_regions(path)


TRUTH = {
    "images": [{"id": 7, "file_name": "a.jpg", "width": 200, "height": 100}, {"id": 8}],
    "categories": [{"id": 3, "name": "dog"}, {"id": 1, "name": "cat"}],
    "annotations": [
        {"id": 1, "image_id": 7, "category_id": 1, "bbox": [1, 2, 30.5, 40], "area": 9.5},
        {"id": 2, "image_id": 7, "category_id": 3, "bbox": [0, 0, 5, 6], "iscrowd": 1},
    ],
}


def content(regions):
    sure = None if regions.confidences is None else regions.confidences.tolist()
    names = [regions.items[i] for i in regions.item], [regions.concepts[i] for i in regions.concept]
    return *names, regions.boxes.tolist(), regions.areas.tolist(), regions.flags.tolist(), sure


@pytest.mark.parametrize("target", ["out.json", "out.json.gz", "out.csv", "out.tsv"])
def test_what_is_written_is_read_again(tmp_path, target):
    source = tmp_path / "truth.json"
    source.write_text(json.dumps(TRUTH))
    truth = cf.read_regions(source)
    lost = cf.write_regions(truth, tmp_path / target)
    assert content(cf.read_regions(tmp_path / target)) == content(truth)
    assert bool(lost) == (".json" not in target)  # tables have no item without a box
    if "json" in target:
        assert cf.read_regions(tmp_path / target).items == truth.items


def test_results_of_coco_are_written_with_their_numbers(tmp_path):
    results = [{"image_id": 7, "category_id": 3, "bbox": [0.0, 0.0, 5.0, 6.0], "score": 0.25}]
    (tmp_path / "in.json").write_text(json.dumps(results))
    cf.write_regions(cf.read_regions(tmp_path / "in.json"), tmp_path / "out.json")
    assert json.loads((tmp_path / "out.json").read_text()) == results
    named = cf.Regions.of({"a.jpg": [("cat", 1, 2, 3, 4, 0.5)]})
    with pytest.raises(InputError, match="is no number"):
        cf.write_regions(named, tmp_path / "out.json")


@pytest.mark.parametrize("sure", [True, False])
def test_masks_are_written_and_read_again(tmp_path, sure):
    rows = [
        {"image_id": 1, "category_id": 1, "segmentation": {"size": [2, 3], "counts": counts}}
        for counts in ([0, 6], [1, 2, 1, 1, 1])
    ]
    source: object = [row | {"score": 0.5} for row in rows]
    if not sure:
        source = {
            "images": [{"id": 1, "height": 2, "width": 3}],
            "categories": [{"id": 1, "name": "cat"}],
            "annotations": [row | {"id": k} for k, row in enumerate(rows)],
        }
    (tmp_path / "in.json").write_text(json.dumps(source))
    regions = cf.read_regions(tmp_path / "in.json", masks=True)
    assert cf.write_regions(regions, tmp_path / "out.json") == ()
    back = cf.read_regions(tmp_path / "out.json", masks=True)
    assert back.masks.runs.tolist() == regions.masks.runs.tolist() == [0, 6, 1, 2, 1, 1, 1]
    assert content(back) == content(regions)
    (note,) = cf.write_regions(regions, tmp_path / "out.csv")
    assert "masks have no place in it" in note


def test_what_files_have_no_place_for_is_told(tmp_path):
    boxes = "item,concept,x,y,width,height,difficult\na,cat,1,2,3,4,1\na,cat,1,2,3,4,0\n"
    (tmp_path / "in.csv").write_text(boxes)
    truth = cf.read_regions(tmp_path / "in.csv")
    assert cf.write_regions(truth, tmp_path / "out.csv") == ()
    (note,) = cf.write_regions(truth, tmp_path / "out.json")
    assert "no difficult boxes (1 count as wanted)" in note
    with pytest.raises(InputError, match="longer than the 65,536 letters"):
        cf.write_regions(cf.Regions.of({"a": [("c" * 70_000, 1, 2, 3, 4)]}), tmp_path / "long.csv")


@pytest.mark.parametrize("yolo", [False, True])
def test_folders_are_written_and_read_again(tmp_path, yolo):
    source = tmp_path / "truth.json"
    source.write_text(json.dumps(TRUTH | {"images": TRUTH["images"][:1]}))
    truth = cf.read_regions(source)
    notes = cf.write_regions(truth, f"{tmp_path / 'out'}/", yolo=yolo)
    assert notes  # neither has a place for crowds
    back = cf.read_regions(tmp_path / "out")
    assert back.relative == yolo
    factors = [200, 100, 200, 100] if yolo else 1
    np.testing.assert_allclose(back.boxes * factors, truth.boxes)
    assert [back.concepts[i] for i in back.concept] == ["cat", "dog"]


def test_names_that_lead_elsewhere_are_refused(tmp_path):
    regions = cf.Regions.of({"../a.jpg": [("cat", 1, 2, 3, 4)]})
    with pytest.raises(InputError, match="cannot be the name of a file"):
        cf.write_regions(regions, f"{tmp_path / 'out'}/")
    with pytest.raises(UsageError, match="a folder"):
        cf.write_regions(regions, tmp_path / "x.txt", yolo=True)


class Detections:
    """What supervision gives for a picture."""

    def __init__(self, xyxy, class_id, confidence=None, names=None):
        self.xyxy, self.class_id, self.confidence = np.array(xyxy), np.array(class_id), confidence
        self.data = {} if names is None else {"class_name": np.array(names)}


ROWS = {
    "a.jpg": [("cat", 10.0, 20.0, 30.0, 40.0, 0.5), ("dog", 0.0, 0.0, 5.0, 5.0, 0.25)],
    "b.jpg": [],
}


def test_what_detectors_give_in_python():
    expected = cf.Regions.of(ROWS, "r")
    corners = [[10, 20, 40, 60], [0, 0, 5, 5]]
    empty = np.zeros((0, 4))
    forms = [
        {
            "a.jpg": Detections(corners, [7, 8], np.array([0.5, 0.25]), ["cat", "dog"]),
            "b.jpg": Detections(empty, [], np.zeros(0)),
        },
        {
            "a.jpg": {"boxes": np.array(corners), "labels": ["cat", "dog"], "scores": [0.5, 0.25]},
            "b.jpg": {"boxes": empty, "labels": [], "scores": []},
        },
    ]
    for form in forms:
        regions = coerce_regions(form, "r")
        assert regions.items == expected.items
        assert regions.concepts == expected.concepts
        assert regions.boxes == pytest.approx(expected.boxes)
        assert regions.confidences == pytest.approx(expected.confidences)
        truth = {item: [row[:5] for row in rows] for item, rows in ROWS.items()}
        scores = cf.evaluate_regions(truth, form, "AP.region")
        assert scores.mean()["run"]["AP.region"] == pytest.approx(1)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_data_frames(library):
    module = pytest.importorskip(library)
    rows = [(item, *row) for item, its_rows in ROWS.items() for row in its_rows]
    names = ["image_id", "label", "x", "y", "w", "h", "score"]
    columns = {name: [row[k] for row in rows] for k, name in enumerate(names)}
    frame = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    regions = coerce_regions(frame, "r")
    assert regions.items == ("a.jpg",)
    assert regions.boxes == pytest.approx(cf.Regions.of(ROWS, "r").boxes)
    truth = {item: [row[:5] for row in rows] for item, rows in ROWS.items()}
    for runs in (frame, {"mine": frame}, [frame]):
        scores = cf.evaluate_regions(truth, runs, "AP.region")
        assert list(scores.mean().values()) == [{"AP.region": pytest.approx(1)}]
    columns["w"][0] = -1.0
    bad = module.table(columns) if library == "pyarrow" else module.DataFrame(columns)
    with pytest.raises(InputError, match=r"<r>: row 0: the box .* has a negative width"):
        coerce_regions(bad, "r")


def test_what_no_detector_gives():
    with pytest.raises(InputError, match="'a' has 1 boxes, but 2 labels"):
        coerce_regions({"a": {"boxes": [[0, 0, 1, 1]], "labels": ["x", "y"]}}, "r")
    with pytest.raises(InputError, match="'a' has no boxes"):
        coerce_regions({"a": {"boxes": [["x", 0, 1, 1]], "labels": ["x"]}}, "r")


def test_a_run_without_a_box():
    scores = cf.evaluate_regions({"a": [("cat", 0, 0, 1, 1)]}, {"none": {"a": []}}, "AP.region")
    assert scores.mean() == {"none": {"AP.region": 0.0}}
