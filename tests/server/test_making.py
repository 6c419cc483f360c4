"""A campaign made in the browser: from an archive, a folder or files; nothing leads elsewhere."""

import io
import tarfile
import zipfile

import pytest

from tests.server.world import PASSWORD


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
    taken = made(organiser, {"slug": "tiny"}, {"file": ("t.zip", zipped(files))})
    assert taken.status_code == 400
    assert "there is a campaign" in taken.text.lower()


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
