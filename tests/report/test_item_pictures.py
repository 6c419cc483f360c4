"""Reports show pictures of a folder as they show those of a sheet."""

import base64
import io
import json
import shutil

import pytest

from cranfield.cli import main
from cranfield.io.samples import sample_folder
from cranfield.report import gallery

PHOTOS = sample_folder("photos")


def held(path):
    return json.loads(path.read_text().split('id="data">')[1].split("</script>")[0])


@pytest.fixture
def folder(tmp_path):
    """A collection whose pictures are files, with two runs; one picture is damaged."""
    copy = tmp_path / "photos"
    shutil.copytree(PHOTOS, copy)
    (copy / "pictures" / "brick_00.jpg").write_bytes(b"\xff\xd8 no picture")
    items = sorted(path.stem for path in (copy / "pictures").iterdir())
    topics = items[:30:3]
    (copy / "runs").mkdir()
    for name, order in (("a", items), ("b", items[::-1])):
        lines = [f"{t} Q0 {i} {r} {-r} {name}\n" for t in topics for r, i in enumerate(order[:20])]
        (copy / "runs" / f"{name}.run").write_text("".join(lines))
    toml = copy / "collection.toml"
    toml.write_text(toml.read_text() + 'runs = ["runs/a.run", "runs/b.run"]\nmeasures = ["AP"]\n')
    return copy


def files_of(folder):
    return [str(folder / "qrels.txt"), *(str(folder / "runs" / f"{n}.run") for n in "ab")]


def check_pictures(found, folder):
    from PIL import Image

    images, [section] = found["images"], found["sections"][:1]
    shown = set(section["rankings"]["items"])
    assert shown - set(images["items"]) == {"brick_00"}
    # A topic is itself an item here: its picture is what it asks with.
    assert images["topics"]["astronaut_00"] == "astronaut_00"
    sheet = Image.open(io.BytesIO(base64.b64decode(images["source"].partition(",")[2])))
    assert list(sheet.size) == images["sheet"]
    place = images["items"].index("camera_22") if "camera_22" in images["items"] else 0
    row, column = divmod(place, images["columns"])
    side = images["width"]
    tile = sheet.crop((column * side, row * side, (column + 1) * side, (row + 1) * side))
    original = Image.open(folder / "pictures" / f"{images['items'][place]}.jpg").convert("RGB")
    original.thumbnail((side, side))
    near = [abs(a - b) for a, b in zip(_small(tile), _small(original), strict=True)]
    assert max(near) < 30


def _small(picture):
    return picture.resize((4, 4)).tobytes()


def test_a_report_of_files_with_pictures(folder, tmp_path):
    page = tmp_path / "page.html"
    asked = ["eval", *files_of(folder), "-m", "AP", "--format", "html", "--quiet"]
    assert main([*asked, "--pictures", str(folder / "pictures"), "-o", str(page)]) == 0
    check_pictures(held(page), folder)
    assert main([*asked, "-o", str(page)]) == 0
    assert held(page)["images"] is None


def test_a_report_of_a_collection_whose_pictures_are_files(folder, tmp_path):
    page = tmp_path / "page.html"
    assert main(["report", str(folder), "-o", str(page), "--quiet"]) == 0
    check_pictures(held(page), folder)


def test_a_public_report_has_none(folder, tmp_path):
    page = tmp_path / "page.html"
    assert main(["report", str(folder), "--public", "-o", str(page), "--quiet"]) == 0
    assert held(page)["images"] is None
    asked = ["compare", *files_of(folder), "-m", "AP", "--format", "html", "--quiet", "--public"]
    assert main([*asked, "--pictures", str(folder / "pictures"), "-o", str(page)]) == 0
    assert held(page)["images"] is None


def test_what_does_not_fit_is_told(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(gallery, "MOST_PICTURES", 5)
    page = tmp_path / "page.html"
    assert main(["report", str(folder), "-o", str(page), "--quiet"]) == 0
    found = held(page)
    assert len(found["images"]["items"]) <= 5
    assert "Pictures are shown of the first 5 of" in json.dumps(found["sections"][0])


def test_a_sheet_is_enlarged_and_a_folder_is_not(folder, tmp_path):
    page = tmp_path / "page.html"
    assert main(["report", str(folder), "-o", str(page), "--quiet"]) == 0
    assert (held(page)["images"]["width"], held(page)["images"]["scale"]) == (64, 1)
    assert main(["report", str(sample_folder("digits")), "--kind", "ranked", "-o", str(page)]) == 0
    assert (held(page)["images"]["width"], held(page)["images"]["scale"]) == (8, 4)
