"""From runs to released results: guards, pages in three forms, exports that come back the same."""

import filecmp
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from cranfield.server import operate
from tests.server.world import CANARY, DAY, Site, labels_text, run_text

ABOUT = {"conf": "V", "about": "words"}


def put(client, tag, text, task="ranked", **more):
    answer = client.put(f"/tasks/{task}/runs/{tag}", params=ABOUT | more, content=text.encode())
    assert answer.status_code == 201, answer.text
    return answer.json()


@pytest.fixture(scope="module")
def released(open_folder, tmp_path_factory):
    """A campaign of four runs whose results are out."""
    folder, known = open_folder
    copy = tmp_path_factory.mktemp("released") / "copy"
    shutil.copytree(folder, copy)
    made = Site(copy, password=known["password"])
    with made.serving():
        for name, best, value in (("ann", ("d0", "d3"), 0.9), ("bob", ("d4", "d1"), 0.4)):
            client = made.program(made.add_token(*known[name]))
            put(client, "r1", run_text(best))
            put(
                client,
                "l1",
                labels_text(value),
                "labels",
                ending=".csv",
                threshold="Sky,0.3\nSea,0.4\nDog,0.5",
            )
        made.work()
        before = {
            path: made.browser().get(path).status_code
            for path in ("/tiny/results", "/tiny/results/ranked")
        }
        made.before = before
        made.time += 31 * DAY / 1000
        made.move("closed", "scoring", "released")
        yield made


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
    said = released.browser().get("/tiny/results/ranked/json")
    assert said.status_code == 200
    assert json.loads(said.text)["cranfield"]
    assert (
        released.browser()
        .get("/tiny/results/ranked/csv")
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


def test_export_import_export_is_the_same_to_the_byte(released, tmp_path):
    first = operate.export_campaign(released.settings.folder, "tiny", tmp_path / "first")
    again = tmp_path / "again"
    operate.import_campaign(tmp_path / "first" / "collection", again)
    other = Site.at(again, released)
    other.move("open", "closed", "scoring", "released")
    other.context.store.close()
    second = operate.export_campaign(again, "tiny", tmp_path / "second")
    assert differences(tmp_path / "first", tmp_path / "second") == []
    assert first.facts["hash"] == second.facts["hash"]
    assert first.facts["tables"] > 8


def differences(a: Path, b: Path) -> list[str]:
    names = {p.relative_to(f).as_posix() for f in (a, b) for p in f.rglob("*") if p.is_file()}
    return sorted(
        name
        for name in names
        if not (a / name).is_file()
        or not (b / name).is_file()
        or not filecmp.cmp(a / name, b / name, shallow=False)
    )


def test_the_script_of_the_export_makes_every_table_again(released, tmp_path):
    operate.export_campaign(released.settings.folder, "tiny", tmp_path / "out")
    program = tmp_path / "bin" / "cranfield"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\nexec {sys.executable} -m cranfield "$@"\n')
    program.chmod(0o755)
    path = f"{program.parent}:{os.environ['PATH']}"
    done = subprocess.run(
        [tmp_path / "out" / "reproduce.sh"],
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "all tables are the same" in done.stdout


def test_an_erratum_changes_all_scores_at_once_and_the_old_set_stays(released):
    from sqlalchemy import select

    from cranfield.server.services import campaigns, scoring
    from cranfield.server.store.tables import score_set

    before = released.program("").get("/tasks/ranked/scores").json()
    truth = (released.source / "qrels.txt").read_text().replace(" 1\n", " 0\n", 3)
    file = "tiny/ranked-2/qrels.txt"
    target = released.settings.sealed / file
    target.parent.mkdir()
    target.write_text(truth)

    def add(connection):
        row = campaigns.by_slug(connection, "tiny")
        task = next(t for t in campaigns.tasks_of(connection, row["id"]) if t["slug"] == "ranked")
        scoring.add_truth(
            connection, released.context, "test", task["id"], sha="0" * 64, file=file, note="three"
        )
        return task["id"]

    task_id = released.context.store.write(add)
    page = released.browser().get("/tiny/results/ranked").text
    assert "new ones are being built" in page
    assert released.program("").get("/tasks/ranked/scores").json() == before
    released.work()
    after = released.program("").get("/tasks/ranked/scores").json()
    assert after != before
    assert "new ones are being built" not in released.browser().get("/tiny/results/ranked").text
    with released.context.store.read() as connection:
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
