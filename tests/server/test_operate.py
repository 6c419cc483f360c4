"""Commands on the folder of a site: what is not there is told, and nothing is made by asking."""

import hashlib
import io
import json
import os
import socket
import tarfile
import tempfile
from pathlib import Path

import httpx
import pytest

from cranfield.cli import main
from cranfield.errors import InputError, UsageError
from cranfield.server import Settings, admin, model_annotator, serve
from cranfield.server.services.site import open_site
from tests.server.postgres import new_database, running
from tests.server.process import served, started, stopped
from tests.server.world import Site, run_text, write_collection

PLACE = "http://127.0.0.1:1/tiny"


@pytest.mark.parametrize(
    "command",
    ["verify {}", "backup {} --to {}.tar.gz", "export {} tiny --to {}-out", "rescore {} tiny"],
)
def test_a_folder_that_is_no_site_is_not_made_one(command, tmp_path, capsys):
    there = tmp_path / "typo"
    assert main(["campaign", *command.format(there, there).split()]) == 2
    assert "is not the folder of a site" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_is_not_there_is_told(unserved):
    folder = unserved.settings.folder
    with pytest.raises(UsageError, match="there is no such store"):
        admin.verify_site(folder, database=f"sqlite:///{folder}/other.sqlite")
    with running() as server, pytest.raises(UsageError, match="it is empty"):
        admin.verify_site(folder, database=new_database(server, "nothing"))
    assert admin.verify_site(folder).holds


def test_a_site_that_cannot_listen_is_not_begun(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match="in use"):
            serve(Settings(tmp_path / "site", port=port))
    with pytest.raises(UsageError, match="port=99999"):
        serve(Settings(tmp_path / "site", port=99999))
    for proxy in ("*", "a.proxy", "10.0.0.0/8"):
        with pytest.raises(UsageError, match="is not one address"):
            serve(Settings(tmp_path / "site", port=8000, proxy=proxy))
    assert list(tmp_path.iterdir()) == []


def test_a_program_that_judges_is_named_and_ends_where_nothing_can_be_stored(monkeypatch):
    with pytest.raises(UsageError, match="command="):
        model_annotator.judge(to=PLACE, command=" ", token="cw_x")
    asked = []

    def answered(_place, _secret, method, path, _body=None):
        asked.append(path)
        if method == "GET":
            return 200, {"assignment": "one", "item": "d0"}
        return 409, {"detail": "this batch does not take answers now"}

    monkeypatch.setattr(model_annotator, "_send_request", answered)
    with pytest.raises(UsageError, match="does not take answers now"):
        model_annotator.judge(to=PLACE, command="echo '{\"skip\": true}'", token="cw_x")
    assert len(asked) == 2


def open_to_others(folder):
    return [
        path.relative_to(folder.parent).as_posix()
        for path in (folder, *folder.rglob("*"))
        if path.lstat().st_mode & 0o077
    ]


@pytest.fixture
def generous():
    """A user whose new files everybody may read and write."""
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.mark.usefixtures("generous")
def test_the_files_of_a_site_are_for_the_one_who_runs_it(tmp_path):
    source = write_collection(tmp_path / "tiny")
    site = tmp_path / "site"
    admin.import_campaign(source, site)
    assert open_to_others(site) == []
    admin.export_campaign(site, "tiny", tmp_path / "out")
    assert open_to_others(tmp_path / "out") == []
    admin.backup_site(site, tmp_path / "backups" / "one.tar.gz")
    assert open_to_others(tmp_path / "backups") == []
    admin.restore_site(tmp_path / "backups" / "one.tar.gz", tmp_path / "again")
    assert open_to_others(tmp_path / "again") == []


def test_a_port_that_the_system_chooses_is_told_and_listened_at(unserved):
    """The place is taken before it is told: whoever asks at once is answered."""
    folder = unserved.settings.folder
    unserved.context.store.close()
    process, address, printed = served(["serve", str(folder), "--port", "0"])
    try:
        assert not address.endswith(":0")
        assert printed == f"serving {folder} at {address}/\n"
    finally:
        stopped(process)


def test_modes_are_repaired_when_a_site_starts(unserved):
    folder = unserved.settings.folder
    unserved.context.store.close()
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o777 if path.is_dir() else 0o666)
    opened = open_site(unserved.settings)
    opened.store.close()
    assert open_to_others(folder) == []


@pytest.mark.usefixtures("generous")
def test_a_served_site_takes_uploads_for_its_owner_only(tmp_path):
    """The real process, started where everything new is open to everybody."""
    made = Site(tmp_path)
    made.add_campaign(opens=1, closes=2**52)
    made.move("open")
    token = made.add_token(*made.add_team("ann", "ONE"))
    folder = made.settings.folder
    made.context.store.close()
    process, address = started(folder)
    try:
        answer = httpx.put(
            f"{address}/api/v1/tasks/ranked/runs/r1",
            params={"conf": "V", "about": "words"},
            content=run_text().encode(),
            headers={"Authorization": f"Bearer {token}"},
            timeout=60,
        )
        assert answer.status_code == 201, answer.text
        assert open_to_others(folder) == []
    finally:
        stopped(process)


def repacked(source, target, change):
    """A backup whose unpacked folder was changed by somebody."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(source) as archive:
            # Python before 3.11.4 has no filters, and needs none here.
            archive.extraction_filter = getattr(tarfile, "data_filter", None)
            archive.extractall(folder)
        change(Path(folder))
        with tarfile.open(target, "w:gz") as archive:
            for path in sorted(Path(folder).rglob("*")):
                archive.add(path, path.relative_to(folder).as_posix(), recursive=False)
    return target


def listed_too(folder, name, content):
    """A file with an entry in the manifest."""
    (folder / name).write_bytes(content)
    manifest = json.loads((folder / "manifest.json").read_text())
    manifest["files"][name] = hashlib.sha256(content).hexdigest()
    (folder / "manifest.json").write_text(json.dumps(manifest))


CHANGED_BACKUPS = {
    "an extra file": (
        lambda folder: (folder / "public" / "more.txt").write_text("x"),
        "public/more.txt is not in the manifest",
    ),
    "a link": (lambda folder: (folder / "public" / "link").symlink_to("x"), "is no plain file"),
    "a file beside": (lambda folder: listed_too(folder, "x.sh", b"x"), "x.sh is no part of a site"),
    "no store": (
        lambda folder: [
            listed_too(folder, "campaign.sqlite", b"x"),
            (folder / "campaign.sqlite").unlink(),
        ],
        "campaign.sqlite is not as the manifest says",
    ),
}


@pytest.mark.parametrize("name", CHANGED_BACKUPS)
def test_a_backup_has_what_its_manifest_says_and_nothing_else(unserved, tmp_path, name):
    change, message = CHANGED_BACKUPS[name]
    admin.backup_site(unserved.settings.folder, tmp_path / "good.tar.gz")
    bad = repacked(tmp_path / "good.tar.gz", tmp_path / "bad.tar.gz", change)
    with pytest.raises(InputError, match=message):
        admin.restore_site(bad, tmp_path / "again")
    assert not (tmp_path / "again").exists()


@pytest.mark.parametrize("name", ["../beside", "/tmp/beside", "public/../../beside"])
def test_no_file_of_a_backup_leaves_its_folder(unserved, tmp_path, name):
    bad = tmp_path / "bad.tar.gz"
    with tarfile.open(bad, "w:gz") as archive:
        entry = tarfile.TarInfo(name)
        entry.size = 1
        archive.addfile(entry, io.BytesIO(b"x"))
    with pytest.raises(InputError, match="lies outside of the backup"):
        admin.restore_site(bad, tmp_path / "site" / "again")
    assert not list(tmp_path.rglob("beside"))


def test_a_backup_is_restored_without_the_filters_of_tarfile(unserved, tmp_path, monkeypatch):
    """Python 3.11.2, which Debian 12 has, does not know them."""

    def extractall(self, path=".", members=None, *, numeric_owner=False):
        raise AssertionError("unpacks whatever an archive holds")

    admin.backup_site(unserved.settings.folder, tmp_path / "good.tar.gz")
    monkeypatch.setattr(tarfile.TarFile, "extractall", extractall)
    assert admin.restore_site(tmp_path / "good.tar.gz", tmp_path / "again").holds


def test_a_backup_of_postgresql_is_read_and_not_run(tmp_path):
    """A script for psql in the place of the dump, with a command for the shell."""
    marker = tmp_path / "marker"
    script = f"\\! touch {marker}\n".encode()

    def change(folder):
        listed_too(folder, "campaign.dump", script)

    with running() as server:
        database = new_database(server, "dumped")
        site = Site(tmp_path, database)
        site.add_campaign()
        site.context.store.close()
        good = tmp_path / "good.tar.gz"
        admin.backup_site(site.settings.folder, good, database=database)
        bad = repacked(good, tmp_path / "bad.tar.gz", change)
        with pytest.raises(UsageError, match="pg_restore"):
            admin.restore_site(bad, tmp_path / "b", database=new_database(server, "bad"))
        again = admin.restore_site(good, tmp_path / "a", database=new_database(server, "again"))
    assert again.holds
    assert not marker.exists()
