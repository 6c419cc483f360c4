"""Uploads that mean harm: bombs, nests, cuts, odd bytes, odd ids; and a disk without room."""

import gzip
import io
import queue
import resource
import socket
import threading
import time
import zlib

import httpx
import pytest

from cranfield.server import Limits
from tests.server.world import ITEMS, TOPICS, Site, joined, run_text

ABOUT = {"conf": "V", "about": "words"}
GOOD = run_text().encode()
MEGABYTE = 1 << 20


def bomb(line, megabytes):
    """Lines that unpack to very much."""
    packer = zlib.compressobj(6, zlib.DEFLATED, 31)
    block = line * (MEGABYTE // len(line))
    return b"".join([*(packer.compress(block) for _ in range(megabytes)), packer.flush()])


ODD = {
    "gzip in gzip": gzip.compress(gzip.compress(GOOD)),
    "cut gzip": gzip.compress(GOOD)[:-20],
    "broken gzip": b"\x1f\x8b" + b"\0" * 100,
    "broken zstd": b"\x28\xb5\x2f\xfd" + b"\xff" * 100,
    "NUL": GOOD.replace(b"d3", b"d\x003", 1),
    "UTF-16": run_text().encode("utf-16"),
    "one long line": b"t1 Q0 " + b"d" * (3 * MEGABYTE) + b" 1 1 x\n",
    "nothing": b"",
    "only blanks": b"   \n\n",
    "binary": bytes(range(256)) * 40,
    "a path": GOOD.replace(b"d3", b"../../../etc/passwd", 1),
    "a script": GOOD.replace(b"d3", b"<script>alert(1)</script>", 1),
    "a formula": GOOD.replace(b"d3", b"=cmd()", 1),
    "turned around": GOOD.replace(b"d3", "d\u202e3".encode(), 1),
    "unknown topic": GOOD.replace(b"t1", b"t9"),
    "twice": GOOD + b"t1 Q0 d0 9 0 x\n",
    "no number": GOOD.replace(b" 7 x", b" nan x", 1),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_files_are_refused_with_a_sentence(site, name):
    client = site.program(site.add_token(site.ann, site.one))
    answer = client.put("/tasks/ranked/runs/r1", params=ABOUT, content=ODD[name])
    assert answer.status_code == 422, answer.text
    assert answer.json()["count"] >= 1
    assert not list(site.settings.incoming.iterdir())
    page = site.browser("ann").get("/tiny/runs")
    assert "<script>alert" not in page.text
    assert client.get("/tasks/ranked/runs").json() == {"runs": []}


@pytest.mark.slow
@pytest.mark.parametrize("line", [b"t1 Q0 d0 1 1 x\n", b"\n", b"\0", b"a "])
def test_a_bomb_is_refused_soon_and_in_little_memory(site, line):
    content = bomb(line, 60)
    client = site.program(site.add_token(site.ann, site.one))
    client.put("/tasks/ranked/runs/r1", params=ABOUT, content=b"x")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun = time.process_time()
    answer = client.put("/tasks/ranked/runs/r1", params=ABOUT, content=content)
    assert time.process_time() - begun < 30
    assert (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024 < 100
    assert answer.status_code == 422


def test_more_bytes_than_are_taken(tmp_path, open_folder):
    import shutil

    folder, known = open_folder
    shutil.copytree(folder, tmp_path / "copy")
    limits = Limits(upload_bytes=MEGABYTE, form_bytes=MEGABYTE)
    site = Site(tmp_path / "copy", password=known["password"], limits=limits)
    with site.serving():
        client = site.program(site.add_token(*known["ann"]))
        for content in (b"x" * (3 * MEGABYTE), (b"x" * MEGABYTE for _ in range(3))):
            answer = client.put("/tasks/ranked/runs/r1", params=ABOUT, content=content)
            assert answer.status_code == 413
        assert not list(site.settings.incoming.iterdir())
        ann = site.browser("ann")
        assert ann.post("/tiny/team", data={"name": "x" * (2 * MEGABYTE)}).status_code == 413


def test_ids_of_a_collection_that_mean_harm_are_shown_and_not_obeyed(tmp_path):
    """Markup in titles, topics and descriptions comes out as text."""
    site = Site(tmp_path)
    marker = "<script>document.title='obeyed'</script>"
    (site.source / "topics.csv").write_text(
        "topic,text\n" + "".join(f'{t},"{marker}"\n' for t in TOPICS)
    )
    site.add_campaign(call=marker, title=marker)
    site.move("open")
    who, team = site.add_team("ann", "ONE")
    with site.serving():
        client = site.program(site.add_token(who, team))
        sent = client.put(
            "/tasks/ranked/runs/r1", params={"conf": "V", "about": marker}, content=GOOD
        )
        assert sent.status_code == 201
        ann = site.browser("ann")
        for path in ("/", "/tiny", "/tiny/call", "/tiny/submit", f"/tiny/runs/{sent.json()['id']}"):
            text = ann.get(path).text
            assert marker not in text
        assert "&lt;script&gt;" in ann.get("/tiny/call").text


def test_a_full_disk_is_told_and_harms_nothing(site, monkeypatch):
    import errno

    from cranfield.server.services import uploads
    from cranfield.server.store import StoreFullError

    client = site.program(site.add_token(site.ann, site.one))

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(uploads.Upload, "end", full)
        answer = client.put("/tasks/ranked/runs/r1", params=ABOUT, content=GOOD)
        assert answer.status_code == 507
        assert "full" in answer.json()["detail"]

    def store_full(_):
        raise StoreFullError

    with monkeypatch.context() as patch:
        patch.setattr(site.context.store, "write", store_full)
        answer = client.put("/tasks/ranked/runs/r1", params=ABOUT, content=GOOD)
        assert answer.status_code == 507
    assert not list(site.settings.incoming.iterdir())
    assert client.put("/tasks/ranked/runs/r1", params=ABOUT, content=GOOD).status_code == 201
    assert len(ITEMS) == 8


def test_a_slow_sender_holds_nobody_up(site):
    import threading

    client, other = (site.program(site.add_token(site.ann, site.one)) for _ in range(2))
    going = threading.Event()

    def slowly():
        yield GOOD[:100]
        assert going.wait(20)
        yield GOOD[100:]

    found = []
    thread = threading.Thread(
        target=lambda: found.append(
            client.put("/tasks/ranked/runs/slow", params=ABOUT, content=slowly()).status_code
        ),
        daemon=True,
    )
    thread.start()
    assert other.put("/tasks/ranked/runs/fast", params=ABOUT, content=GOOD).status_code == 201
    going.set()
    joined([thread])
    assert found == [201]


def test_a_large_file_is_checked_by_a_child_and_told_alike(site, monkeypatch):
    """What a child finds is what would be found here: problems with their lines, and receipts."""
    from cranfield.server.services import upload_check

    client = site.program(site.add_token(site.ann, site.one))
    odd = GOOD.replace(b"t2 Q0 d3", b"t2 Q0 d9", 1)
    here = client.post("/tasks/ranked/check", content=odd)
    monkeypatch.setattr(upload_check, "SMALL_BYTES", 0)
    there = client.post("/tasks/ranked/check", content=odd)
    assert (here.status_code, there.status_code) == (422, 422)
    assert here.json() == there.json()
    good = client.put("/tasks/ranked/runs/r1", params=ABOUT, content=GOOD)
    assert good.status_code == 201, good.text
    assert good.json()["lines"] == 24


def test_a_child_that_cannot_read_a_file_refuses_it(site, monkeypatch):
    from cranfield.server.jobs.fork_server import ForkServer
    from cranfield.server.services import upload_check

    told = []

    def killed(*_):
        told.append("killed")
        return {"error": "it was killed", "again": True}

    monkeypatch.setattr(upload_check, "SMALL_BYTES", 0)
    monkeypatch.setattr(ForkServer, "run", killed)
    client = site.program(site.add_token(site.ann, site.one))
    answer = client.put("/tasks/ranked/runs/r1", params=ABOUT, content=GOOD)
    assert answer.status_code == 422
    assert answer.json()["problems"][0]["message"] == "cannot be checked: it was killed"
    assert len(told) == upload_check.ATTEMPTS


def spoken(site, pieces):
    """What the site says to bytes that are sent as they are, until it closes; None: it waits."""
    host, _, port = site.address.removeprefix("http://").partition(":")
    said = b""
    with socket.create_connection((host, int(port)), timeout=5) as line:
        try:
            for piece in pieces:
                line.sendall(piece)
            while more := line.recv(65536):
                said += more
        except TimeoutError:
            return None
        except ConnectionError:
            pass
    return said


def test_a_head_without_an_end_is_refused(site):
    start = b"GET / HTTP/1.1\r\nHost: x\r\nX-Long: "
    said = spoken(site, [start, *[b"a" * 60_000] * 40])
    # A connection that is closed while more is under way may lose the words.
    assert said == b"" or said.startswith(b"HTTP/1.1 400 ")
    said = spoken(site, [b"GET /", *[b"a" * 60_000] * 40])
    assert said == b"" or said.startswith(b"HTTP/1.1 400 ")


def test_a_long_body_is_no_head(site):
    """Bodies in pieces of any size, and a second request right behind the first."""
    body = b"x" * 300_000
    head = b"POST /login HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % len(body)
    last = b"GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    said = spoken(site, [head, body + last])
    assert b"The head of the request" not in said
    short = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    assert spoken(site, [short * 3 + last]).count(b"HTTP/1.1 200 ") == 4


def parquet_bomb(length=1 << 20, rows=3000):
    """A few KB of Parquet: one long text that all rows name."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    texts = pa.DictionaryArray.from_arrays(
        pa.array([0] * rows, pa.int32()), pa.array(["x" * length])
    )
    columns = {"topic": ["t1"] * rows, "item": texts, "score": [float(i) for i in range(rows)]}
    out = io.BytesIO()
    pq.write_table(pa.table(columns), out, compression="zstd")
    return out.getvalue()


def zstd_bomb():
    from cranfield.io.compression import compress_blocks

    blocks = (b"[" + b"[]," * 300_000 for _ in range(40))
    return b"".join(compress_blocks(blocks, ".zst"))


UNFOLDING = {
    "ranked.parquet": ("ranked", ".parquet", parquet_bomb),
    "labels.parquet": ("labels", ".parquet", parquet_bomb),
    "ranked.json.zst": ("ranked", ".json", zstd_bomb),
    "labels.json.zst": ("labels", ".json", zstd_bomb),
    "ranked.gz": ("ranked", ".txt", lambda: bomb(b"a ", 60)),
    "long.csv": (
        "labels",
        ".csv",
        lambda: b"item,concept,value\n" + b"".join(b"i%d,c%d,1\n" % (i, i) for i in range(3000)),
    ),
    "labels.npz": ("labels", ".npz", lambda: b"PK" + b"\0" * 100),
}


@pytest.mark.parametrize("name", UNFOLDING)
def test_what_can_unfold_is_never_read_in_the_server(site, monkeypatch, name):
    from cranfield.server.services import upload_check

    def read_here(*_, **__):
        raise AssertionError("read in the server")

    monkeypatch.setattr(upload_check, "check_submission", read_here)
    task, ending, content = UNFOLDING[name]
    client = site.program(site.add_token(site.ann, site.one))
    answer = client.post(f"/tasks/{task}/check", params={"ending": ending}, content=content())
    assert answer.status_code == 422, answer.text
    assert answer.json()["problems"]
    assert not list(site.settings.incoming.iterdir())


def test_the_checks_of_a_team_wait_outside_of_the_threads(site, monkeypatch):
    """More checks than there are threads: the site answers, and another team has its turn."""
    from cranfield.server.services.upload_check import UploadChecker

    going, begun, real = threading.Event(), threading.Event(), UploadChecker.check

    def slow(self, upload, given, task_row, slug):
        if given.description == "slow":
            begun.set()
            assert going.wait(60)
        return real(self, upload, given, task_row, slug)

    monkeypatch.setattr(UploadChecker, "check", slow)
    client = site.program(site.add_token(site.ann, site.one))
    other = site.program(site.add_token(site.bob, site.two))
    answers = []

    def send():
        with httpx.Client(base_url=client.base_url, headers=client.headers, timeout=60) as own:
            sent = own.post("/tasks/ranked/check", params={"about": "slow"}, content=GOOD)
            answers.append(sent.status_code)

    threads = [threading.Thread(target=send, daemon=True) for _ in range(60)]
    for thread in threads:
        thread.start()
    assert begun.wait(60)
    assert site.browser().get("/healthz").status_code == 200
    assert other.post("/tasks/ranked/check", content=GOOD).status_code == 200
    going.set()
    joined(threads)
    assert answers == [200] * 60


def test_a_team_that_sends_without_end_is_told_to_wait(open_folder, tmp_path, monkeypatch):
    import shutil

    from cranfield.server.services.upload_check import UploadChecker

    folder, known = open_folder
    shutil.copytree(folder, tmp_path / "copy")
    limits = Limits(waiting_checks=2)
    site = Site(tmp_path / "copy", password=known["password"], limits=limits)
    going, real = threading.Event(), UploadChecker.check

    def slow(self, *args):
        assert going.wait(60)
        return real(self, *args)

    monkeypatch.setattr(UploadChecker, "check", slow)
    with site.serving():
        client = site.program(site.add_token(*known["ann"]))
        answers = queue.SimpleQueue()

        def send():
            with httpx.Client(base_url=client.base_url, headers=client.headers, timeout=60) as own:
                answers.put(own.post("/tasks/ranked/check", content=GOOD).status_code)

        threads = [threading.Thread(target=send, daemon=True) for _ in range(5)]
        for thread in threads:
            thread.start()
        first = [answers.get(timeout=60) for _ in range(3)]
        going.set()
        joined(threads)
    assert first == [429] * 3
    assert [answers.get() for _ in range(2)] == [200, 200]


def test_the_files_of_accepted_runs_are_read_under_the_limit_of_unpacked_bytes(unserved):
    from cranfield.server.services.batch_factory import accepted_runs
    from cranfield.server.services.campaigns import by_slug, tasks_of

    with unserved.context.store.read() as connection:
        for task in tasks_of(connection, by_slug(connection, "tiny")["id"]):
            ((_, _, file),) = accepted_runs(connection, unserved.context, task["id"])
            assert file.caps.unpacked_bytes == unserved.settings.limits.unpacked_bytes
