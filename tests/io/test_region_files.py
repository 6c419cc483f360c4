"""Boxes from files: the same from the compiled reader and from Python's, and faults with places."""

import gzip
import json

import numpy as np
import pytest

import cranfield as cf
from cranfield import _core
from cranfield.errors import InputError, UsageError

TRUTH = {
    "info": {"description": 'a "truth"'},
    "images": [
        {"id": 10, "file_name": "b.jpg", "width": 100, "height": 80},
        {"id": 9, "file_name": "a.jpg", "width": 60, "height": 50},
    ],
    "categories": [{"id": 3, "name": "dog"}, {"id": 1, "name": "cat"}],
    "annotations": [
        {"id": 1, "image_id": 10, "category_id": 1, "bbox": [1, 2, 30.5, 4e1], "iscrowd": 0},
        {
            "id": 2,
            "image_id": 9,
            "category_id": 3,
            "bbox": [0.0, 0, 5, 6],
            "area": 12.25,
            "iscrowd": 1,
            "segmentation": [[1, 2, 3.5], {"a": None, "b": [True, "x\\"]}],
        },
    ],
}
RESULTS = [{"image_id": 9, "category_id": 3, "bbox": [0, 0, 5, 6], "score": 0.5}]


def write(path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def changed(where, **fields):
    truth = json.loads(json.dumps(TRUTH))
    truth[where][0] |= fields
    return truth


def read_by_python(path, monkeypatch):
    with monkeypatch.context() as context:
        context.setattr(_core, "coco_boxes", lambda _: None)
        return cf.read_regions(path)


def columns(regions):
    arrays = (regions.item, regions.concept, regions.boxes, regions.areas, regions.flags)
    sure = None if regions.confidences is None else regions.confidences.tolist()
    return regions.items, regions.concepts, *(a.tolist() for a in arrays), sure


@pytest.mark.parametrize("content", [TRUTH, RESULTS, []], ids=["truth", "results", "empty"])
def test_both_readers_of_coco_agree(tmp_path, monkeypatch, content):
    path = write(tmp_path / "x.json", json.dumps(content, indent=1))
    assert _core.coco_boxes(path.read_bytes()) is not None
    assert columns(cf.read_regions(path)) == columns(read_by_python(path, monkeypatch))


@pytest.mark.parametrize("width", [1e999, -3])
def test_pictures_have_sizes_that_can_be(tmp_path, width):
    path = write(tmp_path / "truth.json", changed("images", width=width).copy())
    with pytest.raises(InputError, match=r"images\[0\] has a width that no picture has"):
        cf.read_regions(path)


def test_names_that_are_no_text_are_told(tmp_path):
    path = write(tmp_path / "truth.json", TRUTH)
    path.write_bytes(path.read_bytes().replace(b'"dog"', b'"d\xa9g"'))
    with pytest.raises(InputError, match="is not UTF-8 text"):
        cf.read_regions(path)


def test_a_truth_of_coco(tmp_path):
    truth = cf.read_regions(write(tmp_path / "truth.json", TRUTH))
    assert truth.items == ("9", "10")  # by number, as the COCO program goes through them
    assert truth.concepts == ("dog", "cat")
    assert truth.item.tolist() == [1, 0]
    assert truth.concept.tolist() == [1, 0]
    assert truth.areas.tolist() == [30.5 * 40, 12.25]
    assert truth.flags.tolist() == [0, 1]
    assert truth.picture_sizes.tolist() == [[60, 50], [100, 80]]
    assert repr(truth) == "<Regions truth: 2 boxes of 2 concepts in 2 items>"


def test_packed_and_with_a_mark_of_byte_order(tmp_path):
    plain = cf.read_regions(write(tmp_path / "x.json", TRUTH))
    packed = tmp_path / "x.json.gz"
    packed.write_bytes(gzip.compress(b"\xef\xbb\xbf" + json.dumps(TRUTH).encode()))
    assert columns(cf.read_regions(packed)) == columns(plain)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (changed("annotations", bbox=[1, 2, -3, 4]), r"annotations\[0\] \(id 1\): .*negative"),
        (changed("annotations", bbox=[1, 2, float("nan"), 4]), r"annotations\[0\].*four numbers"),
        (changed("annotations", bbox=[1, 2, 3]), r"annotations\[0\] has no bbox of four numbers"),
        (changed("annotations", bbox="1 2 3 4"), r"annotations\[0\] has no bbox"),
        (changed("annotations", image_id=77), r"annotations\[0\] .*the image 77, which is not"),
        (changed("annotations", category_id=77), r"annotations\[0\] .*the category 77"),
        (changed("annotations", id=2), r"annotations\[1\] has the id 2 of annotations\[0\]"),
        (changed("annotations", id=None), r"annotations\[0\] has no whole number as id"),
        (changed("images", id=9), "two entries of image have the id 9"),
        (changed("categories", id="x"), r"categories\[0\] has no whole number as id"),
        ({"annotations": []}, "has no list of images"),
        ({"images": []}, "neither a truth of COCO"),
        ("3", "neither a truth of COCO"),
        ('[{"image_id": 9,\n "category_id": }]', r"x\.json:2: not valid JSON"),
        ([{"image_id": 9, "category_id": 3, "bbox": [0, 0, 5, 6]}], r"result\[0\] has no number"),
        ([RESULTS[0], 3], r"result\[1\] is not an object"),
        ([RESULTS[0] | {"score": 1e400}], r"result\[0\]: the confidence is not a number"),
        ("[" * 100_000, "not valid JSON"),
    ],
)
def test_faults_of_coco_have_a_place(tmp_path, content, message):
    with pytest.raises(InputError, match=message):
        cf.read_regions(write(tmp_path / "x.json", content))


# Columns 1 and 2 of a picture of 4 x 3, from row 0 and from row 1 on.
MASK = {"size": [3, 4], "counts": [3, 3, 1, 2, 3]}
MASKED = {"image_id": 9, "category_id": 3, "score": 0.5, "segmentation": MASK}


def test_a_mask_without_a_box_has_the_box_around_it(tmp_path):
    run = cf.read_regions(write(tmp_path / "run.json", json.dumps([MASKED])))
    assert run.boxes.tolist() == [[1, 0, 2, 3]]
    placed = [MASKED | {"bbox": [1, 1, 2, 2]}, MASKED | {"bbox": [0, 0, 1, 1]}]
    path = write(tmp_path / "run.json", json.dumps(placed))
    assert cf.read_regions(path).masks is None
    run = cf.read_regions(path, masks=True)
    assert run.boxes.tolist() == [[1, 1, 2, 2], [0, 0, 1, 1]]
    assert run.masks.runs.tolist() == [3, 3, 1, 2, 3] * 2
    assert run.masks.of(np.array([1])).starts.tolist() == [0, 5]


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        ({"size": [9, 9], "counts": "abc"}, "whose runs do not fill 9 x 9 pixels"),
        ({"size": [9, 9], "counts": "\u00e9"}, "whose runs do not fill 9 x 9 pixels"),
        (MASK | {"counts": [3, 3, 1, 2]}, "whose runs do not fill 4 x 3 pixels"),
        (MASK | {"counts": [3, 3, -1, 7]}, "counts are neither a text nor a list"),
        (MASK | {"size": [3]}, "without a size"),
        (MASK | {"size": [0, 4]}, "of 4 x 0 pixels"),
        (MASK | {"size": [70_000, 70_000]}, "of 70000 x 70000 pixels"),
        ([[1, 1, 2, 2, 3, 1]], "of polygons, for which the image must tell its width and height"),
        ([], "that is neither polygons nor run lengths"),
        (None, "that is neither polygons nor run lengths"),
    ],
)
def test_bad_masks_are_told_with_their_place(tmp_path, mask, message):
    path = write(tmp_path / "run.json", json.dumps([MASKED, MASKED | {"segmentation": mask}]))
    with pytest.raises(InputError, match=rf"result\[1\] has a segmentation .*{message}"):
        cf.read_regions(path, masks=True)


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        ([[1, 1, 2, 2]], "polygon of less than three corners"),
        ([[1, 1, 2, 2, 3, "x"]], "a corner that is no number, or far from its picture"),
        ([[1, 1, 2, 2, 3, 1e6]], "a corner that is no number, or far from its picture"),
        (MASK, r"mask 0 of 4 x 3 pixels is of the item '10' of 200 x 100"),
    ],
)
def test_bad_masks_of_a_truth_are_told(tmp_path, mask, message):
    square = [[0, 0, 9, 0, 9, 9, 0, 9]]
    truth = json.loads(json.dumps(TRUTH))
    for annotation in truth["annotations"]:
        annotation["segmentation"] = square
    truth["annotations"][0] |= {"segmentation": mask, "image_id": 10}
    for image in truth["images"]:
        image |= {"width": 200, "height": 100}
    with pytest.raises(InputError, match=message):
        cf.read_regions(write(tmp_path / "truth.json", json.dumps(truth)), masks=True)


def test_files_without_masks_are_told(tmp_path):
    (tmp_path / "x.csv").write_text("item,concept,x,y,width,height\na,cat,1,2,3,4\n")
    for source in (tmp_path / "x.csv", tmp_path):
        with pytest.raises(InputError, match="has no masks: they are read from COCO's JSON"):
            cf.read_regions(source, masks=True)


def test_a_truth_cut_anywhere_is_an_input_error(tmp_path):
    text = json.dumps(TRUTH)
    for length in range(0, len(text) - 1, 7):
        with pytest.raises(InputError):
            cf.read_regions(write(tmp_path / "x.json", text[:length]))


VOC = """<annotation><size><width>100</width><height>80</height></size>
<object><name>dog</name><difficult>{difficult}</difficult>
<bndbox><xmin>{xmin}</xmin><ymin>5</ymin><xmax>40</xmax><ymax>50</ymax></bndbox></object>
</annotation>"""


def test_a_folder_of_voc(tmp_path):
    (tmp_path / "Annotations").mkdir()
    write(tmp_path / "Annotations" / "b.xml", VOC.format(difficult=1, xmin=10))
    write(tmp_path / "Annotations" / "a.xml", "<annotation></annotation>")
    truth = cf.read_regions(tmp_path)
    assert (truth.items, truth.concepts) == (("a", "b"), ("dog",))
    assert truth.boxes.tolist() == [[10, 5, 30, 45]]
    assert truth.flags.tolist() == [2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (VOC.format(difficult=0, xmin=50), r"object\[0\] \(dog\): .*negative width"),
        (VOC.format(difficult=0, xmin="ten"), r"object\[0\] \(dog\)"),
        (VOC.replace("<name>dog</name>", "").format(difficult=0, xmin=1), "has no name"),
        ("<annotation>\n<object>", r"b\.xml:2: not valid XML"),
        ("<!DOCTYPE x [<!ENTITY a 'b'>]><annotation/>", "DOCTYPE"),
    ],
)
def test_faults_of_voc_name_the_file(tmp_path, text, message):
    write(tmp_path / "b.xml", text)
    with pytest.raises(InputError, match=message):
        cf.read_regions(tmp_path)


def test_an_empty_folder(tmp_path):
    with pytest.raises(InputError, match=r"holds neither \.xml files"):
        cf.read_regions(tmp_path)


def test_csv_with_sides_or_ends(tmp_path):
    sides = write(
        tmp_path / "a.csv", "item,concept,x,y,width,height,confidence\n2,cat,1,2,3,4,0.5\n"
    )
    ends = write(tmp_path / "b.tsv", "image\tlabel\txmin\tymin\txmax\tymax\n10\tcat\t1\t2\t4\t6\n")
    run, truth = cf.read_regions(sides), cf.read_regions(ends)
    assert run.boxes.tolist() == truth.boxes.tolist() == [[1, 2, 3, 4]]
    assert run.confidences.tolist() == [0.5]
    assert truth.confidences is None


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("item,concept,x,y\n", r"x\.csv:1: the header lacks columns"),
        ("item,concept,x,y,width,height\na,b,1,2,3\n", r"x\.csv:2: 5 columns, expected 6"),
        ("item,concept,x,y,width,height\na,b,1,2,3,4\na,b,1,2,nan,4\n", r"x\.csv:3: width is not"),
        ("item,concept,x,y,width,height\na,b,1,2,-3,4\n", r"x\.csv:2: .*negative"),
        ("", "the header lacks columns"),
    ],
)
def test_faults_of_csv_have_a_line(tmp_path, text, message):
    with pytest.raises(InputError, match=message):
        cf.read_regions(write(tmp_path / "x.csv", text))


def test_runs_that_do_not_fit_the_truth(tmp_path):
    truth = write(tmp_path / "truth.json", TRUTH)
    stranger = write(tmp_path / "run.json", [RESULTS[0] | {"image_id": 11}])
    with pytest.raises(InputError, match=r"run\.json: the truth has no item '11'"):
        cf.evaluate_regions(truth, [stranger])
    with pytest.raises(UsageError, match="has no confidences: is it a truth"):
        cf.evaluate_regions(truth, [truth])
    with pytest.raises(UsageError, match="has confidences: is it a run"):
        cf.evaluate_regions(write(tmp_path / "r.json", RESULTS), [truth])


def test_what_is_odd_is_noted(tmp_path):
    truth = write(tmp_path / "truth.json", TRUTH)
    odd = [RESULTS[0] | {"category_id": 99}, RESULTS[0] | {"bbox": [200, 0, 5, 5]}]
    scores = cf.evaluate_regions(truth, [write(tmp_path / "run.json", odd)])
    assert "run: 1 boxes are of concepts that the truth does not have (99)" in scores.notes
    assert "run: 1 boxes lie outside of their pictures" in scores.notes


def test_files_of_three_kinds_have_the_same_scores(tmp_path):
    """A truth of COCO with runs of JSON and of CSV, whose items are the names of pictures."""
    truth = write(tmp_path / "truth.json", changed("annotations", bbox=[1, 2, 30, 40]))
    results = [
        {"image_id": 10, "category_id": 1, "bbox": [2, 2, 30, 40], "score": 0.9},
        {"image_id": 9, "category_id": 1, "bbox": [2, 2, 30, 40], "score": 0.95},
    ]
    text = "file_name,concept,x,y,w,h,score\nb.jpg,cat,2,2,30,40,0.9\na.jpg,cat,2,2,30,40,0.95\n"
    runs = [write(tmp_path / "one.json", results), write(tmp_path / "two.csv", text)]
    means = cf.evaluate_regions(truth, runs, "coco LRP.region").mean()
    assert means["one"].keys() == means["two"].keys()
    assert np.array_equal(list(means["one"].values()), list(means["two"].values()), equal_nan=True)
    assert means["one"]["AP.region(iou=0.5)"] == 0.5


@pytest.mark.parametrize("name", ["x" * 5000, "", "no-such.json"])
def test_names_of_no_file(name):
    with pytest.raises(InputError):
        cf.read_regions(name)


def test_bytes_and_inputs(tmp_path):
    plain = cf.read_regions(write(tmp_path / "x.json", TRUTH))
    uploaded = cf.Input("x.json", json.dumps(TRUTH).encode())
    assert columns(cf.read_regions(uploaded)) == columns(plain)


def test_a_truth_of_open_images(tmp_path):
    header = "ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,IsOccluded,IsGroupOf\n"
    rows = "a,xclick,/m/01,1,0.25,0.5,0.125,0.5,0,0\nb,xclick,/m/01,1,0,1,0,1,-1,1\n"
    truth = cf.read_regions(write(tmp_path / "boxes.csv", header + rows))
    assert truth.confidences is None
    assert truth.boxes.tolist() == [[0.25, 0.125, 0.25, 0.375], [0, 0, 1, 1]]
    assert truth.flags.tolist() == [0, 1]
    assert "shares of the pictures" in truth.notes[0]
