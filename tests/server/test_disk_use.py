"""What stays on the disk: the files of runs that count, and nothing of what was left behind."""

import os
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import delete, insert, select

from cranfield.errors import UsageError
from cranfield.server import Limits
from cranfield.server.jobs.worker import Workers
from cranfield.server.services import backup, disk, importing, scoring, uploads
from cranfield.server.settings import MEGABYTE
from cranfield.server.store.tables import blob, run
from tests.server.test_submissions import put
from tests.server.world import DAY, Site, run_text

FIRST, SECOND = run_text(("d3",)), run_text(("d5", "d6"))


def files(site) -> set[str]:
    return {path.name for path in site.settings.blobs.glob("??/*")}


def named(site) -> set[str]:
    with site.context.store.read() as connection:
        return set(connection.execute(select(blob.c.sha)).scalars())


@pytest.fixture
def client(both):
    both.house = files(both)
    return both.program(both.add_token(*both.add_team("ann", "ONE")))


def test_a_withdrawn_run_leaves_no_file(both, client):
    put(client, "r1", FIRST)
    ann = both.browser("ann")
    (own,) = client.get("/tasks/ranked/runs").json()["runs"]
    assert ann.get(f"/tiny/runs/{own['id']}/file").text == FIRST
    assert files(both) == named(both) == both.house | {own["sha256"]}
    assert client.delete("/tasks/ranked/runs/r1").status_code == 204
    assert files(both) == named(both) == both.house
    page = ann.get(f"/tiny/runs/{own['id']}")
    assert "its file was removed" in page.text
    assert "/file" not in page.text
    assert ann.get(f"/tiny/runs/{own['id']}/file").status_code == 404
    assert backup.check_files(both.context) == (len(both.house) + 2, [])


def test_a_withdrawal_by_page_leaves_no_file(both, client):
    run_id = put(client, "r1", FIRST).json()["id"]
    ann, here = both.browser("ann"), f"/tiny/runs/{run_id}"
    ann.fill(f"{here}/withdraw", {"sure": "yes"}, page=here)
    assert files(both) == named(both) == both.house


def test_a_replaced_run_leaves_no_file(both, client):
    put(client, "r1", FIRST)
    sha = put(client, "r1", SECOND, replace=True).json()["sha256"]
    assert files(both) == named(both) == both.house | {sha}


def test_a_file_that_another_run_has_too_stays(both, client):
    sha = put(client, "r1", FIRST).json()["sha256"]
    put(client, "r2", FIRST)
    client.delete("/tasks/ranked/runs/r1")
    assert files(both) == named(both) == both.house | {sha}
    client.delete("/tasks/ranked/runs/r2")
    assert files(both) == named(both) == both.house


def test_refused_uploads_leave_no_file(both, client):
    sha = put(client, "r1", FIRST).json()["sha256"]
    assert put(client, "r1", SECOND).status_code == 409  # the tag is taken
    assert put(client, "r2", FIRST.replace("d3", "nowhere")).status_code == 422
    assert put(client, "r1~", SECOND).status_code == 400
    both.time += 31 * DAY / 1000
    assert put(client, "r3", SECOND).status_code == 409  # too late
    assert files(both) == named(both) == both.house | {sha}
    assert list(both.settings.incoming.iterdir()) == []


def test_a_truth_that_is_not_taken_leaves_no_file(both, monkeypatch):
    before = sorted(both.settings.sealed.rglob("*"))

    def refuse(*_, **__):
        raise UsageError("not now")

    monkeypatch.setattr(scoring, "add_truth", refuse)
    organiser = both.browser("organiser", both.password)
    values = {"task": "ranked", "note": "better", "password_again": both.password}
    truth = (both.source / "qrels.txt").read_bytes()
    answer = organiser.fill(
        "/tiny/organise/truth", values, page="/tiny/organise", files={"file": ("q.txt", truth)}
    )
    assert answer.status_code == 400
    assert "not now" in answer.text.lower()
    assert sorted(both.settings.sealed.rglob("*")) == before


def test_the_bytes_of_a_team_have_a_limit(both, client):
    settings = replace(both.settings, limits=Limits(team_bytes=len(FIRST) + len(SECOND) - 1))
    object.__setattr__(both.context, "settings", settings)
    put(client, "r1", FIRST)
    refused = put(client, "r2", SECOND)
    assert refused.status_code == 409
    assert f"{settings.limits.team_bytes:,} bytes together" in refused.json()["detail"]
    assert len(files(both)) == len(both.house) + 1
    # What is replaced or withdrawn is not counted, nor what another team has.
    assert put(client, "r1", SECOND, replace=True).status_code == 201
    assert client.delete("/tasks/ranked/runs/r1").status_code == 204
    assert put(client, "r2", SECOND).status_code == 201
    other = both.program(both.add_token(*both.add_team("bob", "TWO")))
    assert put(other, "r1", FIRST).status_code == 201
    assert Limits().team_bytes >= 1024 * MEGABYTE


def test_serve_takes_the_limit(monkeypatch, tmp_path):
    import cranfield.server
    from cranfield.cli import site_serve

    taken = []
    monkeypatch.setattr(cranfield.server, "serve", lambda settings, **_: taken.append(settings))
    site_serve.main([str(tmp_path), "--team-megabytes", "3"])
    assert taken[0].limits == Limits(team_bytes=3 * MEGABYTE)


def orphan(site, text="left by a kill"):
    """The file of an upload whose process was killed before the store named it."""
    with uploads.Upload.begin(site.context) as upload:
        upload.add(text.encode())
        upload.end()
        upload.keep(site.settings)
    return upload.sha


def test_orphans_are_swept_when_the_server_starts(unserved):
    sha = put_run(unserved, "r1")
    orphan(unserved)
    # As earlier versions left it: withdrawn, and its file and row are there.
    gone = put_run(unserved, "r2", SECOND, state="withdrawn")
    assert len(files(unserved)) == 5
    workers = Workers(unserved.context)
    workers.start()
    workers.stop()
    assert files(unserved) == named(unserved)
    assert sha in files(unserved)
    assert gone not in files(unserved)


def put_run(site, tag, text=FIRST, state="accepted"):
    """A run in the store, without a request."""
    with uploads.Upload.begin(site.context) as upload:
        upload.add(text.encode())
        upload.end()
        upload.keep(site.settings)

    def write(connection):
        row = connection.execute(select(run).limit(1)).mappings().one()
        values = {"id": site.context.new_id(), "tag": tag, "blob": upload.sha, "state": state}
        connection.execute(insert(run).values(**dict(row) | values))
        connection.execute(
            insert(blob).values(sha=upload.sha, bytes=upload.size, created=row["created"])
        )

    site.context.store.write(write)
    return upload.sha


def test_the_files_of_another_store_are_not_swept(unserved, tmp_path):
    """A server that is started with the wrong --db must not remove anything."""
    before = files(unserved)
    other = Site(tmp_path / "other")
    other.add_campaign()
    put_run(other, "r1")
    for store in (other.context.store, Site(tmp_path / "empty").context.store):
        wrong = replace(unserved.context, store=store)
        disk.sweep(wrong)
        assert files(unserved) == before
        store.close()


def test_nothing_is_removed_while_a_file_is_put_in_place_or_a_backup_written(unserved):
    context = unserved.context
    with disk.files_stay(unserved.settings):
        sha = orphan(unserved)
        disk.remove_unneeded(context, sha)
        assert sha in files(unserved)
        assert context.untidy.is_set()
    disk.sweep(context)
    assert sha not in files(unserved)
    assert not context.untidy.is_set()


def test_a_backup_has_the_file_of_a_run_that_is_withdrawn_meanwhile(
    unserved, tmp_path, monkeypatch
):
    put_run(unserved, "r1")
    dumped = backup._dump_store

    def withdraw_after(context, draft):
        path = dumped(context, draft)
        context.store.write(
            lambda c: c.execute(
                delete(run).where(run.c.tag == "r1")  # no run needs its file now
            )
        )
        disk.remove_unneeded(context)
        return path

    monkeypatch.setattr(backup, "_dump_store", withdraw_after)
    manifest = backup.make_backup(unserved.context, tmp_path / "b.tar.gz")
    assert sum(name.startswith("blobs/") for name in manifest["files"]) == 3
    disk.sweep(unserved.context)
    assert len(files(unserved)) == 2


def test_drafts_of_killed_backups_are_removed(unserved, tmp_path):
    folder = unserved.settings.folder / "backups"
    for place in (folder, tmp_path):
        (place / ".b.tar.gz.aaaaaaaaaaaaaaa2").mkdir(parents=True)
        (place / ".b.tar.gz.aaaaaaaaaaaaaaa2" / "backup.tar.gz").write_bytes(b"part")
    (tmp_path / ".other.aaaaaaaaaaaaaaa2").mkdir()
    with disk.draft_folder(unserved.context, folder / "in-use.tar.gz") as used:
        disk.sweep(unserved.context)
        assert list(folder.iterdir()) == [used]
    backup.make_backup(unserved.context, tmp_path / "b.tar.gz")
    left = {path.name for path in tmp_path.iterdir()}
    assert ".b.tar.gz.aaaaaaaaaaaaaaa2" not in left
    assert {"b.tar.gz", ".other.aaaaaaaaaaaaaaa2"} <= left


def test_what_is_stale_is_removed_and_what_is_not_stays(unserved):
    exports, incoming = unserved.settings.folder / "exports", unserved.settings.incoming
    exports.mkdir()
    old = [exports / "tiny-1", exports / ".tiny-1.abc", incoming / "half"]
    new = [exports / "tiny-2", incoming / "now"]
    for path in (*old, *new):
        path.mkdir()
    (exports / "tiny.tar.gz").write_bytes(b"an export")
    for path in (*old, exports / "tiny.tar.gz"):
        os.utime(path, (1, 1))
    disk.sweep(unserved.context)
    assert [path.exists() for path in (*old, *new)] == [False] * 3 + [True] * 2
    assert (exports / "tiny.tar.gz").exists()


def recorded(monkeypatch):
    """What is brought to the disk, file by file and folder by folder."""
    synced, sync = [], os.fsync

    def fsync(handle):
        synced.append(str(Path(f"/proc/self/fd/{handle}").readlink()))
        sync(handle)

    monkeypatch.setattr(os, "fsync", fsync)
    return synced


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs /proc")
def test_files_and_folders_are_on_the_disk_before_the_store_names_them(unserved, monkeypatch):
    synced = recorded(monkeypatch)
    sha = orphan(unserved)
    blobs = unserved.settings.blobs
    assert synced[0].startswith(str(unserved.settings.incoming))
    assert synced[1:] == [str(blobs / sha[:2]), str(blobs)]
    synced.clear()
    sealed = unserved.settings.sealed
    importing.seal_file(unserved.context, unserved.source / "qrels.txt", "new/truth-1/qrels.txt")
    assert any(str(sealed / "new" / "truth-1" / ".cranfield-") in one for one in synced)
    assert {str(sealed / "new" / "truth-1"), str(sealed / "new"), str(sealed)} <= set(synced)
