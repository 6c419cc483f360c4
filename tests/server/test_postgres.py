"""The same site on PostgreSQL: quota, release, backup, and the same export to the byte."""

import pytest

from cranfield.server import admin
from tests.server.postgres import new_database, running
from tests.server.world import DAY, Site, at_once, run_text

ABOUT = {"conf": "V", "about": "words"}


@pytest.fixture(scope="module")
def server():
    with running() as address:
        yield address


def put(client, tag, text=None):
    content = (text or run_text()).encode()
    return client.put(f"/tasks/ranked/runs/{tag}", params=ABOUT, content=content)


def release(site):
    """Two teams with a run each, released; the same on every database."""
    site.add_campaign()
    site.move("open")
    people = [site.add_team("ann", "ONE"), site.add_team("bob", "TWO")]
    with site.serving():
        for (who, team), best in zip(people, (("d0",), ("d5",)), strict=True):
            sent = put(site.program(site.add_token(who, team)), "r1", run_text(best))
            assert sent.status_code == 201, sent.text
        site.work()
        client = site.program(site.add_token(*people[0]))
        for n in range(3):
            assert put(client, f"s{n}").status_code == 201
        answers = []
        at_once([lambda n=n: answers.append(put(client, f"last{n}").status_code) for n in range(5)])
        assert sorted(answers) == [201, 409, 409, 409, 409]
        last = [r for r in client.get("/tasks/ranked/runs").json()["runs"] if "last" in r["tag"]]
        assert client.delete(f"/tasks/ranked/runs/{last[0]['tag']}").status_code == 204
        site.work()
        site.time += 31 * DAY / 1000
        site.move("closed", "scoring", "released")
        board = site.browser().get("/tiny/results/ranked")
        assert board.status_code == 200
    return board.text


def test_both_databases_give_the_same_pages_and_the_same_export(server, tmp_path):
    hashes, pages = [], []
    for name in ("sqlite", "postgres"):
        database = "" if name == "sqlite" else new_database(server, "both")
        site = Site(tmp_path / name, database)
        pages.append(release(site))
        folder = site.settings.folder
        made = admin.export_campaign(folder, "tiny", tmp_path / f"{name}-out", database=database)
        hashes.append(made.facts["hash"])
    assert pages[0] == pages[1]
    assert hashes[0] == hashes[1]


def test_a_backup_comes_back(server, tmp_path):
    database = new_database(server, "first")
    site = Site(tmp_path, database)
    site.add_campaign()
    site.context.store.close()
    admin.backup_site(site.settings.folder, tmp_path / "b.tar.gz", database=database)
    other = new_database(server, "second")
    found = admin.restore_site(tmp_path / "b.tar.gz", tmp_path / "back", database=other)
    assert found.holds, found.notes
    assert admin.verify_site(tmp_path / "back", database=other).facts["audit rows"] > 3


def test_two_processes_share_a_store(server, tmp_path):
    """Two servers on one database: jobs are done once, both see the same."""
    database = new_database(server, "shared")
    first = Site(tmp_path, database)
    first.add_campaign()
    first.move("open")
    who, team = first.add_team("ann", "ONE")
    token = first.add_token(who, team)
    second = Site(tmp_path, database, password=first.password)
    with first.serving(), second.serving():
        assert put(first.program(token), "r1").status_code == 201
        said = second.program(token).get("/tasks/ranked/runs").json()["runs"]
        assert [run["tag"] for run in said] == ["r1"]
        done = []
        at_once([lambda s=s: done.append(s.work_alone()) for s in (first, second)])
        assert sum(done) == 1
