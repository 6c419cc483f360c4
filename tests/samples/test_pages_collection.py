"""The pages with digits: a collection with boxes, checked, scored, compared and published."""

import json
import re
import shutil

import pytest

import cranfield as cf
from cranfield.cli import main
from cranfield.io.samples import sample_folder
from scripts.pages import make

FOLDER = sample_folder("pages")


def test_files_are_what_the_script_makes():
    pictures, texts = make.pages()
    for name, text in texts.items():
        assert (FOLDER / name).read_text() == text, name
    assert {path.name for path in (FOLDER / "pictures").iterdir()} == {
        name.rpartition("/")[2] for name in pictures
    }


def test_it_is_a_collection_of_boxes(tmp_path):
    collection = cf.read_collection(FOLDER)
    assert collection.kinds == ("regions",)
    check = cf.check_collection(FOLDER)
    assert check.problems == ()
    assert not check.notes
    cf.write_collection(collection, tmp_path / "copy")
    assert cf.read_collection(tmp_path / "copy").kinds == ("regions",)


def test_commands_take_the_folder(capsys):
    assert main(["eval", "regions", str(FOLDER), "--format", "json"]) == 0
    scored = json.loads(capsys.readouterr().out)
    assert [m["name"] for m in scored["measures"]][:2] == ["AP.region", "AP.region(iou=0.5)"]
    assert main(["compare", str(FOLDER), "-m", "AP.region", "--format", "json"]) == 0
    compared = json.loads(capsys.readouterr().out)
    assert [row["run"] for row in compared["leaderboard"]] == ["ink", "faint", "loose", "random"]
    assert {pair["b"] for pair in compared["pairs"]} == {"random"}
    for table in ("runs", "best-per-concept", "rank-changes"):
        assert main(["report", "table", str(FOLDER), "--table", table]) == 0
    assert main(["report", "errors", str(FOLDER)]) == 0


def test_a_split_of_the_items_is_scored(tmp_path):
    shutil.copytree(FOLDER, tmp_path / "pages")
    toml = tmp_path / "pages" / "collection.toml"
    half = [f"page-{n:02}" for n in range(1, 31)]
    (tmp_path / "pages" / "half.txt").write_text("\n".join(half))
    head, _, tables = toml.read_text().partition("[[")
    toml.write_text(f'{head}located = "half"\n[splits]\nhalf = "half.txt"\n[[{tables}')
    for name in ("ink", "loose", "faint", "random"):
        run = tmp_path / "pages" / "runs" / f"{name}.csv"
        lines = run.read_text().splitlines()
        kept = [line for line in lines[1:] if line.partition(",")[0] in half]
        run.write_text("\n".join([lines[0], *kept]))
    assert cf.check_collection(tmp_path / "pages").problems == ()
    assert main(["eval", "regions", str(tmp_path / "pages"), "--format", "json", "-o",
                 str(tmp_path / "s.json")]) == 0  # fmt: skip
    scored = json.loads((tmp_path / "s.json").read_text())
    assert scored["runs"][0]["items"]["evaluated"] == 30


@pytest.mark.parametrize(
    "rows, problem",
    [
        ("page-1,Zero,1,2,3,4,0.5", "unknown item 'page-1'. Did you mean 'page-01'?"),
        ("page-01,Zer,1,2,3,4,0.5", "unknown concept 'Zer'. Did you mean 'Zero'?"),
        ("page-01,Zero,1,2,-3,4,0.5", "negative width or height"),
        ("page-01,Zero,1,2,3,nan,0.5", "height is not a number"),
    ],
)
def test_submissions_are_checked(rows, problem, tmp_path):
    file = tmp_path / "run.csv"
    file.write_text(f"item,concept,x,y,width,height,confidence\n{rows}\n")
    check = cf.check_submissions(FOLDER, [file])
    assert problem in check.problems[0].message
    assert check.problems[0].line == 2
    file.write_text("item,concept,x,y,width,height,confidence\npage-01,Zero,1,2,3,4,0.5\n")
    assert cf.check_submissions(FOLDER, [file]).bad == ()
    truth = cf.check_submissions(FOLDER, [FOLDER / "boxes.json"])
    assert "no confidences" in truth.problems[0].message


def test_the_report_draws_boxes_on_pages(tmp_path):
    page = cf.collection_report(FOLDER)
    data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S)[1])
    drawn = data["sections"][0]["drawn"]
    assert len(drawn["items"]) == 48
    assert all(entry["picture"].startswith("data:image/jpeg") for entry in drawn["items"])
    truth = cf.read_regions(FOLDER / "boxes.json")
    entry = drawn["items"][0]
    at = truth.items.index(entry["item"])
    assert len(entry["truth"]) == (truth.item == at).sum()
    kinds = {
        drawn["kinds"][box[-1]] for one in drawn["items"] for r in one["runs"] for box in r["boxes"]
    }
    assert {"right", "misplaced", "wrong concept", "nothing there"} <= kinds
    assert any(run["missed"] for one in drawn["items"] for run in one["runs"])
    public = cf.collection_report(FOLDER, public=True)
    assert '"drawn"' not in public
    site = cf.publish(FOLDER, tmp_path / "site")
    assert site.tasks == ("regions",)
    assert "ink is significantly better" in (tmp_path / "site" / "index.html").read_text()
    # Tests are over pictures, but the values of the pairs are of the ten concepts.
    pairs = (tmp_path / "site" / "results" / "regions" / "compare.html").read_text()
    assert "a better, level, b better: counts of concepts" in pairs


def test_the_demo_has_it(tmp_path, capsys):
    assert main(["demo", "--collection", "pages", "-o", str(tmp_path / "p.html")]) == 0
    assert "What became of the boxes" in capsys.readouterr().out
    assert (tmp_path / "p.html").stat().st_size > 100_000
