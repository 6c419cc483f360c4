"""A task of boxes on the site: runs are checked and scored, and results published and exported."""

import json
import shutil
from pathlib import Path

import pytest

from cranfield.campaign.live_board import write_part
from cranfield.errors import UsageError
from cranfield.io.regions import read_regions
from cranfield.server import admin
from cranfield.server.services import importing
from tests.server.conftest import ABOUT, put
from tests.server.world import DAY, Site

ITEMS = [f"page{k:02}" for k in range(12)]
CONCEPTS = ("Cat", "Dog")
COLLECTION = """name = "tiny"
title = "A tiny campaign of boxes"
licence = "For research only."
size = 12
seed = 5
items = "items.csv"
concepts = "concepts.csv"
boxes = "boxes.json"
box_runs = ["base.csv"]
box_measures = ["AP.region(iou=0.5)", "AR.region@10", "LRP.region"]
box_baseline = "base"

[[run_facts]]
run = "base"
team = "HOUSE"
tag = "base"
configuration = "V"
description = "the middle of each page"
baseline = true
"""


def boxes_text(shift=0.0, *, header="item,concept,x,y,width,height,confidence"):
    """Boxes of a run that lie so many pixels beside those of the truth."""
    rows = [
        f"{item},{CONCEPTS[k % 2]},{10 + k + shift},{20 + shift},40,30,0.{9 - k % 5}"
        for k, item in enumerate(ITEMS)
    ]
    return "\n".join([header, *rows]) + "\n"


def write_collection(folder: Path) -> Path:
    folder.mkdir(parents=True)
    truth = {
        "images": [
            {"id": k + 1, "file_name": f"{item}.jpg", "width": 100, "height": 80}
            for k, item in enumerate(ITEMS)
        ],
        "categories": [{"id": k + 1, "name": name} for k, name in enumerate(CONCEPTS)],
        "annotations": [
            {"id": k + 1, "image_id": k + 1, "category_id": 1 + k % 2, "bbox": [10 + k, 20, 40, 30]}
            for k in range(len(ITEMS))
        ],
    }
    (folder / "collection.toml").write_text(COLLECTION)
    (folder / "items.csv").write_text("item\n" + "".join(f"{item}\n" for item in ITEMS))
    concepts = "".join(f"{concept},a {concept}\n" for concept in CONCEPTS)
    (folder / "concepts.csv").write_text(f"concept,definition\n{concepts}")
    (folder / "boxes.json").write_text(json.dumps(truth))
    (folder / "base.csv").write_text(boxes_text(12))
    return folder


@pytest.fixture(scope="module")
def open_boxes(tmp_path_factory):
    """The folder of a site with an open campaign of boxes and a team."""
    folder = tmp_path_factory.mktemp("boxes")
    write_collection(folder / "tiny")
    made = Site(folder)
    made.add_campaign()
    made.move("open")
    known = (made.add_team("ann", "ONE"), made.password)
    made.context.store.close()
    return folder, known


@pytest.fixture
def site(open_boxes, tmp_path):
    folder, (ann, password) = open_boxes
    shutil.copytree(folder, tmp_path / "copy")
    made = Site(tmp_path / "copy", password=password)
    made.ann = ann
    with made.serving():
        yield made


def test_runs_are_checked_by_the_line(site):
    client = site.program(site.add_token(*site.ann))
    checked = client.post("/tasks/regions/check", params={"ending": ".csv"}, content=boxes_text())
    assert checked.status_code == 200, checked.text
    assert checked.json()["lines"] == 12
    bad = boxes_text().replace("page03,Dog", "nopage,Dog").replace("page05,Dog", "page05,Dgo")
    bad += "page07,Dog,1,2,-3,4,0.5\n"
    for text, message, line in (
        (bad, "negative width or height", 14),
        (bad.replace("-3", "3"), "'nopage'", 5),
        (boxes_text(header="item,concept,x,y,width,height,size"), "no confidences", 0),
    ):
        refused = client.put(
            "/tasks/regions/runs/r1", params=ABOUT | {"ending": ".csv"}, content=text
        )
        assert refused.status_code == 422
        problems = refused.json()["problems"]
        assert any(message in p["message"] and p["line"] == line for p in problems), problems
    page = site.browser("ann").get("/tiny/submit").text
    assert "Regions" in page


def test_results_of_boxes_are_published_and_exported(site, tmp_path):
    client = site.program(site.add_token(*site.ann))
    assert put(client, "near", boxes_text(1), "regions", ending=".csv")["lines"] == 12
    assert put(client, "far", boxes_text(9), "regions", ending=".csv")["remaining"] == 3
    site.work()
    overview = site.browser().get("/tiny").text
    assert "Place boxes around what each item shows" in overview
    assert "Average precision of regions" in overview
    assert site.browser().get("/tiny/results/regions").status_code == 403
    site.time += 31 * DAY / 1000
    site.move("closed", "scoring", "released")
    scores = site.program("").get("/tasks/regions/scores").json()
    means = {run["name"]: run["mean"] for run in scores["runs"]}
    assert set(means) == {"HOUSE.base", "ONE.near", "ONE.far"}
    assert means["ONE.near"]["AP.region(iou=0.5)"] == pytest.approx(1)
    assert means["HOUSE.base"]["AP.region(iou=0.5)"] == pytest.approx(0)
    browser = site.browser()
    board = browser.get("/tiny/results/regions")
    assert "ONE.near" in board.text
    for page in ("compare", "run/ONE.near", "concept/Cat", "errors", "files"):
        assert browser.get(f"/tiny/results/regions/{page}").status_code == 200, page
    sample = site.browser("ann").get("/tiny/example/regions")
    checked = client.post("/tasks/regions/check", params={"ending": ".csv"}, content=sample.content)
    assert checked.json().get("lines") == 12, checked.text
    answer = admin.export_campaign(site.settings.folder, "tiny", tmp_path / "out")
    assert answer.facts["tables"] > 3
    again = Site(tmp_path / "again")
    importing.import_collection(again.context, tmp_path / "out", name="tiny")
    again.context.store.close()


def test_a_live_part_has_boxes_of_some_items(tmp_path):
    folder = write_collection(tmp_path / "tiny")
    options = {"part": "live", "salt": "x", "splits": {"first": ITEMS[:6]}}
    for name in ("50%", "first"):
        target = tmp_path / name
        target.mkdir()
        file = write_part(folder / "boxes.json", "regions", target, live_part=name, **options)
        part = read_regions(file)
        assert (len(part.items), len(part)) == (6, 6)
    assert part.items == tuple(str(k) for k in range(1, 7))
    sealed = tmp_path / "sealed"
    sealed.mkdir()
    options |= {"part": "sealed", "live_part": "first"}
    rest = read_regions(write_part(folder / "boxes.json", "regions", sealed, **options))
    assert rest.items == tuple(str(k) for k in range(7, 13))


def test_a_folder_of_boxes_is_refused(tmp_path):
    folder = write_collection(tmp_path / "tiny")
    (folder / "voc").mkdir()
    shutil.move(folder / "boxes.json", folder / "voc" / "x.xml")
    toml = (folder / "collection.toml").read_text().replace('"boxes.json"', '"voc"')
    (folder / "collection.toml").write_text(toml)
    with pytest.raises(UsageError, match="is a folder; the site takes boxes of one file"):
        importing.survey_collection(folder, may_run=False)
