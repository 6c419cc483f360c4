"""From runs to released results: guards, pages in three forms, exports that come back the same."""

import filecmp
import json
import re
import shutil
from pathlib import Path

import pytest

from cranfield.errors import InputError
from cranfield.server import admin
from tests.server.world import CANARY, Site


@pytest.fixture(scope="module")
def exported(released, tmp_path_factory):
    """The folder of an export of that campaign, and what was said of it."""
    out = tmp_path_factory.mktemp("export") / "out"
    return out, admin.export_campaign(released.settings.folder, "tiny", out)


def test_nothing_before_release_and_everything_after(released):
    assert set(released.before.values()) == {403}
    for task in ("ranked", "labels"):
        page = released.browser().get(f"/tiny/results/{task}")
        assert page.status_code == 200
        assert "ONE.r1" in page.text or "ONE" in page.text
        again = released.browser().get(
            f"/tiny/results/{task}", headers={"If-None-Match": page.headers["etag"]}
        )
        assert (again.status_code, again.content) == (304, b"")


def test_pages_have_their_data_beside_them(released):
    said = released.browser().get("/tiny/results/ranked.json")
    assert said.status_code == 200
    assert json.loads(said.text)["cranfield"]
    assert (
        released.browser()
        .get("/tiny/results/ranked.csv")
        .headers["content-type"]
        .startswith("text/csv")
    )


def test_scores_for_programs(released):
    api = released.program("")
    said = api.get("/tasks/ranked/scores").json()
    assert {run["name"] for run in said["runs"]} == {"HOUSE.base", "ONE.r1", "TWO.r1"}
    assert "AP\tONE.r1\t" in api.get("/tasks/ranked/scores", params={"format": "trec"}).text
    assert api.get("/tasks/ranked/scores", params={"format": "csv"}).status_code == 200
    assert api.get("/tasks/ranked/scores", params={"format": "latex"}).status_code == 200


def test_export_import_export_is_the_same_to_the_byte(released, exported, tmp_path):
    folder, first = exported
    again = tmp_path / "again"
    admin.import_campaign(folder, again)
    other = Site.at(again, released)
    other.move("open", "closed", "scoring", "released")
    other.context.store.close()
    second = admin.export_campaign(again, "tiny", tmp_path / "second")
    assert differences(folder, tmp_path / "second") == []
    assert first.facts["hash"] == second.facts["hash"]
    assert first.facts["tables"] > 8


def test_an_export_that_was_changed_is_not_imported(exported, tmp_path):
    folder, _ = exported
    copy = tmp_path / "copy"
    shutil.copytree(folder, copy)
    (copy / "collection" / "items.csv").write_text("item,text\nd0,other\n")
    with pytest.raises(InputError, match=r"collection/items\.csv is not as the manifest says"):
        admin.import_campaign(copy, tmp_path / "site")
    (copy / "manifest.json").write_text("[]")
    with pytest.raises(InputError, match="not the manifest"):
        admin.import_campaign(copy, tmp_path / "site")


def differences(a: Path, b: Path) -> list[str]:
    names = {p.relative_to(f).as_posix() for f in (a, b) for p in f.rglob("*") if p.is_file()}
    return sorted(
        name
        for name in names
        if not (a / name).is_file()
        or not (b / name).is_file()
        or not filecmp.cmp(a / name, b / name, shallow=False)
    )


def test_every_table_of_the_export_is_what_the_library_says_of_its_folder(exported):
    from cranfield.campaign.results import campaign_results
    from cranfield.report.document import document_of
    from cranfield.report.render import render

    folder, equal = exported[0], 0
    for kind in ("ranked", "labels"):
        for file in (folder / "tables" / kind).glob("*.json"):
            found = campaign_results(folder / "collection", file.stem, kind=kind)
            assert render(document_of(found), "json") == file.read_text(), file
            equal += 1
    assert equal > 10
    assert (folder / "site" / "index.html").exists()


def test_every_page_of_the_static_site_is_served_too(released, exported):
    """Pages, data and pictures: what `publish` writes has its address on the site."""
    folder = exported[0] / "site"
    browser, missing = released.browser(), []
    for path in sorted((folder / "results").rglob("*.*")):
        name = path.relative_to(folder).as_posix()
        if "--" in path.stem:
            continue  # a choice on a page, which is a query here
        address = name.removesuffix(".html").replace("/index", "")
        if browser.get(f"/tiny/{address}").status_code != 200:
            missing.append(name)
    assert missing == []


def test_an_erratum_changes_all_scores_at_once_and_the_old_set_stays(own_released):
    from sqlalchemy import select

    from cranfield.server.services import campaigns, scoring
    from cranfield.server.store.tables import score_set

    before = own_released.program("").get("/tasks/ranked/scores").json()
    truth = (own_released.source / "qrels.txt").read_text().replace(" 1\n", " 0\n", 3)
    file = "tiny/ranked-2/qrels.txt"
    target = own_released.settings.sealed / file
    target.parent.mkdir()
    target.write_text(truth)

    def add(connection):
        row = campaigns.by_slug(connection, "tiny")
        task = next(t for t in campaigns.tasks_of(connection, row["id"]) if t["slug"] == "ranked")
        scoring.add_truth(
            connection,
            own_released.context,
            "test",
            task["id"],
            sha="0" * 64,
            file=file,
            note="three",
        )
        return task["id"]

    task_id = own_released.context.store.write(add)
    page = own_released.browser().get("/tiny/results/ranked").text
    assert "new ones are being built" in page
    assert own_released.program("").get("/tasks/ranked/scores").json() == before
    own_released.work()
    after = own_released.program("").get("/tasks/ranked/scores").json()
    assert after != before
    assert "new ones are being built" not in own_released.browser().get("/tiny/results/ranked").text
    with own_released.context.store.read() as connection:
        states = list(
            connection.execute(
                select(score_set.c.state).where(score_set.c.task == task_id).order_by(score_set.c.n)
            ).scalars()
        )
    assert states == ["old", "current"]


def test_nothing_sealed_was_in_any_answer_before_release(site):
    """The truth has a number that stands nowhere else: it is in no page and no file of others."""
    seen = []
    paths = ("", "tiny", "tiny/call", "tiny/data", "tiny/runs", "tiny/results/ranked")
    for browser in (site.browser(), site.browser("ann"), site.browser("organiser", site.password)):
        seen += [browser.get(f"/{path}").text for path in paths]
    seen.append(site.browser("ann").get("/tiny/data/public.tar.gz").content.decode("latin-1"))
    assert not [text for text in seen if CANARY in text]
    for name in ("public", "incoming", "blobs"):
        for path in (site.settings.folder / name).rglob("*"):
            assert path.is_dir() or CANARY.encode() not in path.read_bytes()


def test_teams_find_their_scores_and_places_beside_their_runs(released):
    page = released.browser("ann").get("/tiny/runs").text
    assert "MAP" in page
    assert "place" in page
    address = re.search(r'href="(/tiny/results/ranked/run/ONE.r1)"', page)[1]
    assert released.browser("ann").get(address).status_code == 200
    assert "TWO" not in page
