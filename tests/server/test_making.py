"""A campaign made in the browser: from an archive, a folder or files; nothing leads elsewhere."""

import bz2
import gzip
import io
import lzma
import re
import struct
import tarfile
import threading
import zipfile
from pathlib import Path

import pytest

from cranfield.errors import UsageError
from tests.server.world import PASSWORD, PATIENCE, at_once


def zipped(files):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return content.getvalue()


@pytest.fixture
def files(site):
    return {
        path.relative_to(site.source).as_posix(): path.read_bytes()
        for path in site.source.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def organiser(site):
    return site.browser("organiser", site.password)


def made(organiser, data, files):
    return organiser.fill("/new", data, files=files)


def test_an_archive_becomes_a_draft_with_scored_baselines(site, organiser, files):
    content = zipped({f"birds/{name}": data for name, data in files.items()})
    data = {"new_title": "Birds 2027", "like": "tiny"}
    answer = made(organiser, data, {"file": ("birds.zip", content)})
    assert answer.status_code == 303, answer.text
    assert answer.headers["location"] == "/birds-2027/organise"
    site.work()
    board = organiser.get("/birds-2027/organise").text
    assert "1 of 1 runs scored" in board
    assert "made the campaign in the browser" in board
    # The draft is the organisers', and its truth is sealed.
    assert site.browser("ann").get("/birds-2027").status_code == 404
    names = [p.name for p in (site.settings.public / "birds-2027").rglob("*")]
    assert "qrels.txt" not in names
    assert not list(site.settings.incoming.glob("collection-*"))


def test_a_folder_without_settings_is_understood_by_its_names(site, organiser, files):
    files.pop("collection.toml")
    parts = [("folder", (f"birds/{name}", data)) for name, data in files.items()]
    answer = made(organiser, {"slug": "plain"}, parts)
    assert answer.status_code == 303, answer.text
    assert organiser.get("/plain").status_code == 200


def test_what_is_wrong_is_said_and_what_was_typed_stays(site, organiser, files):
    bomb = zipped({"zeros.txt": bytes(300 << 20)})
    outside = zipped({"../../evil.txt": b"x"})
    broken = zipped(files)[:-40]
    link = io.BytesIO()
    with tarfile.open(fileobj=link, mode="w") as archive:
        entry = tarfile.TarInfo("collection.toml")
        entry.type, entry.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(entry)
    for name, content, words in (
        ("bomb.zip", bomb, "at most 256 MB"),
        ("outside.zip", outside, "leads out of the collection"),
        ("broken.zip", broken, "cannot be unpacked"),
        ("link.tar", link.getvalue(), "choose an archive"),
        ("note.txt", b"hello", "no truth and no runs"),
    ):
        answer = made(organiser, {"new_title": "Birds", "slug": "birds"}, {"file": (name, content)})
        assert answer.status_code == 400, name
        assert words in answer.text.lower() or words in answer.text, (name, answer.text)
        assert 'value="Birds"' in answer.text
    assert not list(site.settings.folder.rglob("evil.txt"))
    assert not [p for p in site.settings.incoming.iterdir() if p.is_dir()]
    taken = made(organiser, {"slug": "tiny"}, {"file": ("t.zip", zipped(files))})
    assert taken.status_code == 400
    assert "there is a campaign" in taken.text.lower()


def zip_of(*entries, method=zipfile.ZIP_DEFLATED):
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", method) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return content.getvalue()


def tar_of(*entries):
    content = io.BytesIO()
    with tarfile.open(fileobj=content, mode="w") as archive:
        for name, data in entries:
            entry = tarfile.TarInfo(name)
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return content.getvalue()


def damaged(content, at, count=20):
    return content[:at] + b"\xff" * count + content[at + count :]


def header_of(kind, size):
    """The head of a member of a tar archive that says how long what follows is."""
    entry = tarfile.TarInfo("head")
    entry.type, entry.size = kind, size
    return entry.tobuf(tarfile.GNU_FORMAT)


def zip_of_many(count):
    """A central directory in which one member of nothing stands very often."""
    head = struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, 0, 0, 0, 0, 0, 0, 1, 0) + b"a"
    fields = (20, 20, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0)
    directory = (struct.pack("<4s6H3L5H2L", b"PK\1\2", *fields) + b"a") * count
    counts = (0, 0, count & 0xFFFF, count & 0xFFFF, len(directory), len(head), 0)
    return head + directory + struct.pack("<4s4H2LH", b"PK\5\6", *counts)


CLASHES = (("a", b"x"), ("a/b", b"y"))
ODD = {
    "clash.zip": (zip_of(*CLASHES), "a file and a folder"),
    "clash.tar": (tar_of(*CLASHES), "a file and a folder"),
    "cut.tar.gz": (
        gzip.compress(tar_of(("a", bytes(range(256)) * 90)))[:-150],
        "cannot be unpacked",
    ),
    "noise.tgz": (b"\x1f\x8b\x08 noise" * 30, "cannot be unpacked"),
    "cut.tar": (lzma.compress(tar_of(("a", bytes(range(256)) * 9000)))[:-40], "cannot be unpacked"),
    "bz.tar": (bz2.compress(tar_of(("a", bytes(range(256)) * 900)))[:-90], "cannot be unpacked"),
    "lzma.zip": (damaged(zip_of(("a", b"x" * 9000), method=zipfile.ZIP_LZMA), 50), "cannot be"),
    "bz.zip": (damaged(zip_of(("a", b"x" * 9000), method=zipfile.ZIP_BZIP2), 50), "cannot be"),
    "long.zip": (zip_of(("/".join(["y" * 190] * 30), b"1")), "no name of a file"),
    "control.zip": (zip_of(("a\x1b[2J", b"1")), "no name of a file"),
    "absolute.tar": (tar_of(("/etc/../../evil.txt", b"1")), "leads out of the collection"),
    "backslash.zip": (zip_of(("..\\..\\evil.txt", b"1")), "leads out of the collection"),
}


@pytest.mark.parametrize("name", ODD)
def test_an_odd_archive_is_refused_with_a_sentence(site, organiser, name):
    content, words = ODD[name]
    answer = made(organiser, {"slug": "birds"}, {"file": (name, content)})
    assert answer.status_code == 400, answer.text
    assert words in answer.text.lower(), answer.text
    assert str(site.settings.folder) not in answer.text
    assert not list(site.settings.folder.rglob("evil.txt"))


def test_files_outside_of_what_was_sent_are_named_by_no_setting(site, organiser, files):
    """An organiser of one campaign does not get the truth of another by naming its file."""
    (truth,) = site.settings.sealed.rglob("qrels.txt")
    folder = site.settings.incoming / "collection-x"
    relative = "/".join([".."] * 2 + list(truth.relative_to(site.settings.folder).parts))
    assert (folder / relative).resolve() == truth.resolve()
    for place in (relative, str(truth), "/etc/passwd"):
        settings = files["collection.toml"].replace(b'"items.csv"', b'"items.csv"', 1)
        settings = b'extra = ["%s"]\n' % place.encode() + settings
        sent = zipped(files | {"collection.toml": settings})
        answer = made(organiser, {"slug": "stolen"}, {"file": ("c.zip", sent)})
        assert answer.status_code == 400, place
        assert "lies outside" in answer.text, answer.text
    pictures = b"item,picture\n" + b"".join(b"d%d,%s\n" % (i, relative.encode()) for i in range(8))
    answer = made(
        organiser, {"slug": "stolen"}, {"file": ("c.zip", zipped(files | {"items.csv": pictures}))}
    )
    assert answer.status_code == 400, answer.text
    assert not (site.settings.public / "stolen").exists()


def resident():
    """Bytes of this process, in which the server of the test runs, at their most so far."""
    status = Path("/proc/self/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) << 10


@pytest.mark.slow
def test_what_unfolds_in_an_archive_unfolds_in_the_child(site, organiser, files):
    """Heads of tar archives that say that they are long, and a directory of a million names."""
    zeros = gzip.compress(bytes(16 << 20))
    long_head = [
        gzip.compress(header_of(kind, 64 << 30)) + zeros * 64
        for kind in (tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME)
    ]
    parquet = dict(files)
    bombs = {
        "pax.tar.gz": long_head[0],
        "name.tar.gz": long_head[1],
        "many.zip": zip_of_many(400_000),
    }
    made(organiser, {"slug": "first"}, {"file": ("c.zip", zipped(parquet))})
    before = resident()
    for name, content in bombs.items():
        answer = made(organiser, {"slug": "birds"}, {"file": (name, content)})
        assert answer.status_code == 400, name
    assert resident() - before < 50 << 20


def test_two_who_make_one_name_at_once_mix_nothing(both, monkeypatch):
    """The public data and the truth of a campaign are those of the one that the store took."""
    from cranfield.server.services import importing

    sources = []
    for number in range(2):
        source = both.settings.folder.parent / f"source-{number}"
        source.mkdir()
        for path in both.source.iterdir():
            (source / path.name).write_bytes(path.read_bytes())
        topics = (source / "topics.csv").read_text().replace("About", f"Text {number} about")
        (source / "topics.csv").write_text(topics)
        sources.append(source)
    meeting, outcomes = threading.Barrier(2, timeout=PATIENCE), []
    write_collection = importing.write_collection

    def meet(*arguments):
        # Both have seen that the name is free.
        meeting.wait(PATIENCE)
        return write_collection(*arguments)

    monkeypatch.setattr(importing, "write_collection", meet)

    def make(number):
        try:
            importing.import_collection(both.context, sources[number], name="same")
            outcomes.append(number)
        except UsageError:
            pass

    at_once([lambda number=number: make(number) for number in range(2)])
    (winner,) = outcomes
    assert f"Text {winner} about" in (both.settings.public / "same/topics.csv").read_text()
    assert "Such as: “Text" in both.browser("organiser", both.password).get("/same").text


def test_only_organisers_of_the_site_make_campaigns(site, files):
    for browser in (site.browser(), site.browser("ann", PASSWORD)):
        assert browser.get("/new").status_code in (303, 403)
        answer = browser.fill("/new", {"slug": "x"}, page="/login", files={"file": ("a.zip", b"")})
        assert answer.status_code in (303, 401, 403)


def test_a_campaign_is_previewed_as_each_role_in_each_state(site, organiser):
    page = organiser.get("/tiny/organise/preview?role=P&state=open").text
    assert "Register a team" in page
    assert "Back to organising" in page
    assert "Submit a run" in organiser.get("/tiny/organise/preview?role=T&state=open").text
    assert "Read the results" in organiser.get("/tiny/organise/preview?role=P&state=released").text
    assert site.browser("ann").get("/tiny/organise/preview").status_code == 403
