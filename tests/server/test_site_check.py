"""The check on the site says what `cranfield check` says, in sentences, and keeps the form."""

import io
import shutil
import zipfile

from cranfield import check_submissions
from cranfield.server.settings import MEGABYTE, Limits
from tests.server.conftest import ABOUT
from tests.server.world import ITEMS, Site, labels_text, run_text

FIELDS = {"task": "labels", "tag": "l1", "configuration": "V", "description": "some words"}
FEW = "item,Sky\n" + "".join(f"{item},0.5\n" for item in ITEMS)


def sent(site, text, name="l1.csv", **fields):
    ann = site.browser("ann")
    return ann, ann.fill("/tiny/submit", FIELDS | fields, files={"file": (name, text)})


def test_a_run_that_names_few_concepts_is_warned_of_in_page_receipt_and_interface(site, tmp_path):
    (tmp_path / "l1.csv").write_text(FEW)
    (row,) = check_submissions(site.source, tmp_path / "l1.csv", kind="labels").submissions
    assert row.notes
    note = row.notes[0].replace("'", "&#39;")
    _, checked = sent(site, FEW, do="check")
    assert checked.status_code == 200
    assert note in checked.text
    ann, done = sent(site, FEW, do="submit")
    assert done.status_code == 303
    for _ in range(2):
        # The receipt keeps what the check warned of.
        assert note in ann.get(done.headers["location"]).text
    client = site.program(site.add_token(site.ann, site.one))
    answer = client.put("/tasks/labels/runs/l2", params=ABOUT | {"ending": ".csv"}, content=FEW)
    assert tuple(answer.json()["notes"]) == row.notes
    receipts = client.get("/tasks/labels/runs").json()["runs"]
    assert all(tuple(receipt["notes"]) == row.notes for receipt in receipts)
    answer = client.post("/tasks/labels/check", params=ABOUT | {"ending": ".csv"}, content=FEW)
    assert tuple(answer.json()["notes"]) == row.notes


def test_the_limits_stand_beside_the_file(site):
    page = site.browser("ann").get("/tiny/submit").text
    assert "At most 67.1 MB" in page
    assert f'data-most="{site.settings.limits.upload_bytes}"' in page


def test_a_zip_is_refused_with_a_sentence_and_the_form_is_kept(site):
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("l1.csv", FEW)
    for name in ("l1.zip", "l1.csv"):
        _, answer = sent(site, held.getvalue(), name, do="submit")
        assert answer.status_code == 400
        assert "A .zip archive is not taken" in answer.text
        assert 'value="l1"' in answer.text
        assert "some words</textarea>" in answer.text


def test_a_file_for_another_task_is_told_as_such(site):
    _, answer = sent(site, run_text(), "r.run", do="submit")
    assert answer.status_code == 422
    assert "this looks like rankings of items; choose the task" in answer.text
    _, answer = sent(site, labels_text(), task="ranked", do="submit")
    assert "this looks like annotations of items" in answer.text


def test_a_value_that_is_no_number_is_told_with_its_line(site):
    _, answer = sent(site, labels_text().replace("0.2", "nan", 1), do="submit")
    assert answer.status_code == 422
    assert "line 2" in answer.text


def test_a_receipt_tells_the_time_in_whole_seconds(site):
    client = site.program(site.add_token(site.ann, site.one))
    site.time = 1_800_000_000.789
    answer = client.put("/tasks/ranked/runs/r1", params=ABOUT, content=run_text())
    assert answer.json()["at"] == "2027-01-15T08:00:00Z"


def test_a_file_too_large_to_be_read_gets_the_form_with_what_was_typed(tmp_path, open_folder):
    folder, known = open_folder
    shutil.copytree(folder, tmp_path / "copy")
    limits = Limits(upload_bytes=MEGABYTE, form_bytes=MEGABYTE)
    site = Site(tmp_path / "copy", password=known["password"], limits=limits)
    with site.serving():
        _, answer = sent(site, b"x" * (3 * MEGABYTE), do="submit")
        assert answer.status_code == 413
        assert "The file has more than 1,048,576 bytes, the most that is taken." in answer.text
        assert 'value="l1"' in answer.text
        assert "some words</textarea>" in answer.text
        organiser = site.browser("organiser", site.password)
        files = {"file": ("truth.txt", b"x" * (3 * MEGABYTE))}
        fields = {"task": "ranked", "note": "a better one"}
        board = "/tiny/organise"
        answer = organiser.fill(f"{board}/truth", fields, page=board, files=files)
        assert answer.status_code == 400
        assert "The file has more than 1,048,576 bytes" in answer.text
        assert 'value="a better one"' in answer.text
        batches = f"{board}/batches"
        fields = {"kind": "labels", "slug": "two", "pay": "3"}
        answer = organiser.fill(batches, fields, files=files)
        assert "The file has more than 1,048,576 bytes" in answer.text
        assert 'value="3"' in answer.text
        assert not list(site.settings.incoming.iterdir())
        client = site.program(site.add_token(*known["ann"]))
        answer = client.put("/tasks/ranked/runs/r1", params=ABOUT, content=b"x" * (3 * MEGABYTE))
        assert answer.status_code == 413
        assert answer.headers["content-type"] == "application/problem+json"
