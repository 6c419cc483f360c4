"""A task's own scorer: its values get intervals, tests and pages; it is confined like all jobs."""

import fcntl
import socket
import threading
import time

import pytest

from cranfield.server.jobs.fork_server import ForkServer
from cranfield.server.jobs.worker import work_once
from cranfield.server.services import jobs
from cranfield.server.services.campaigns import by_slug
from tests.server.conftest import put
from tests.server.world import DAY, PATIENCE, Site, joined, run_text

SCORER = """
import csv, sys
truth, run, public = sys.argv[1:]
relevant = {}
for line in open(truth):
    topic, _, item, grade = line.split()
    relevant.setdefault(topic, set()).update([item] if int(grade) else [])
first = {}
for line in open(run):
    topic, _, item, rank, *_ = line.split()
    if rank == "1":
        first[topic] = item
print("topic,First,Length")
for topic in sorted(relevant):
    print(f"{topic},{int(first.get(topic) in relevant[topic])},{len(relevant[topic])}")
"""
MEASURES = """["Own(name='First')", "Own(name='Length', high=100)", "AP"]"""


def own_site(tmp_path, scorer, measures=MEASURES):
    site = Site(tmp_path)
    settings = site.source / "collection.toml"
    text = settings.read_text()
    start, end = text.index('truth = "truth.csv"'), text.index("[[run_facts]]")
    text = text[:start] + text[end : text.rindex("[[run_facts]]")]
    text = text.replace('measures = ["AP", "P@5"]', f'measures = {measures}\nscorer = "scorer.py"')
    settings.write_text(text)
    (site.source / "scorer.py").write_text(scorer)
    site.add_campaign()
    return site


def test_own_values_have_intervals_tests_and_pages(tmp_path):
    site = own_site(tmp_path, SCORER)
    site.move("open")
    ann = site.add_team("ann", "ONE")
    with site.serving():
        put(site.program(site.add_token(*ann)), "r1", run_text(("d0",)))
        site.work()
        site.time += 31 * DAY / 1000
        site.move("closed", "scoring", "released")
        board = site.browser().get("/tiny/results/ranked")
        assert board.status_code == 200
        assert "First" in board.text
        assert "95 %" in board.text
        for page in ("run/ONE.r1", "topic/t1", "method", "compare", "team/ONE"):
            assert site.browser().get(f"/tiny/results/ranked/{page}").status_code == 200, page
        scores = site.browser().get("/api/v1/tasks/ranked/scores").json()
        means = {run["name"]: run["mean"] for run in scores["runs"]}
        # Of the topics t1, t2, t3 the item d0 is relevant for the first.
        assert means["ONE.r1"]["Own(name='First')"] == pytest.approx(1 / 3)
        assert means["ONE.r1"]["AP"] > 0
        # The program is sealed with the truth, and the public data do not have it.
        assert not list((site.settings.public / "tiny").rglob("scorer*"))


@pytest.mark.parametrize(
    "scorer, words",
    [
        ("import sys; sys.exit('no good run')", "the scorer ended with 1: no good run"),
        ("print('topic,First,Length'); print('t1,2,1')", "outside of [0, 1]"),
        ("print('item,First'); print('d1,1')", "a column 'topic'"),
        ("print('topic,First,Length'); print('t1,x,1')", "no number"),
        ("print('topic,Other'); print('t1,1')", "no column 'First'"),
        ("x = bytearray(1 << 40)", "the scorer ended with 1: MemoryError"),
    ],
)
def test_what_goes_wrong_in_a_scorer_is_told_to_organisers(tmp_path, scorer, words):
    site = own_site(tmp_path, scorer)
    from cranfield.server.services import jobs
    from cranfield.server.services.campaigns import by_slug

    with site.context.store.read() as connection:
        row = by_slug(connection, "tiny")
        errors = [job["error"] for job in jobs.jobs_of(connection, row["id"], "failed")]
    assert any(words in error for error in errors), errors
    site.context.store.close()


def test_a_scorer_reaches_no_network(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        scorer = f"""
import socket
try:
    socket.create_connection(("127.0.0.1", {port}), 2)
    reached = 1
except OSError:
    reached = 0
print("topic,First,Length")
for topic in ("t1", "t2", "t3"):
    print(f"{{topic}},{{reached}},1")
"""
        site = own_site(tmp_path, scorer)
    from cranfield.answers import load

    (path,) = [p for p in (site.settings.scores / "runs").glob("*.json") if p.suffixes == [".json"]]
    scores = load(path)
    assert scores.mean()["HOUSE.base"]["Own(name='First')"] == 0
    site.context.store.close()


# Leaves the session of the program, takes a lock, and stays.
STAYS = """
import fcntl, os, time
reading, writing = os.pipe()
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        lock = open({lock!r}, "r+")
        fcntl.flock(lock, fcntl.LOCK_EX)
        os.write(writing, b"x")
        time.sleep(600)
    os._exit(0)
os.read(reading, 1)
"""
VALUES = """
print("topic,First,Length")
for topic in ("t1", "t2", "t3"):
    print(f"{topic},1,1")
"""


def is_locked(path):
    with path.open("r+") as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_what_a_scorer_started_ends_with_it(tmp_path):
    lock = tmp_path / "lock"
    lock.touch()
    site = own_site(tmp_path, STAYS.format(lock=str(lock)) + VALUES)
    assert len(list((site.settings.scores / "runs").glob("*.json"))) == 1
    assert not is_locked(lock)
    site.context.store.close()


def test_what_a_scorer_puts_in_place_of_its_output_is_not_read(tmp_path):
    scorer = """
import os
for name in os.listdir("."):
    os.unlink(name)
for name in (".out", ".errors"):
    os.symlink("/etc/passwd", name)
"""
    site = own_site(tmp_path, scorer + VALUES)
    assert len(list((site.settings.scores / "runs").glob("*.json"))) == 1
    site.context.store.close()


@pytest.mark.slow
def test_a_scorer_ends_with_its_child(tmp_path):
    """The site stops while a program works: nothing goes on."""
    lock = tmp_path / "lock"
    lock.touch()
    site = own_site(tmp_path, "raise SystemExit(1)")
    with site.context.store.read() as connection:
        (failed,) = jobs.jobs_of(connection, by_slug(connection, "tiny")["id"], "failed")
    (sealed,) = site.settings.sealed.rglob("scorer.py")
    sealed.write_text(STAYS.format(lock=str(lock)) + "time.sleep(600)")
    site.context.store.write(lambda c: jobs.reset(c, failed["id"]))
    stopping, nursery = threading.Event(), ForkServer(site.settings)
    working = threading.Thread(
        target=lambda: work_once(site.context, nursery, "here", stopping), daemon=True
    )
    working.start()
    until = time.monotonic() + PATIENCE
    while not is_locked(lock) and time.monotonic() < until:
        time.sleep(0.05)
    assert is_locked(lock)
    stopping.set()
    joined([working])
    while is_locked(lock) and time.monotonic() < until:
        time.sleep(0.05)
    assert not is_locked(lock)
    site.context.store.close()
