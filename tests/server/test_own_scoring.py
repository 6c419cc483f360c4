"""A task's own scorer: its values get intervals, tests and pages; it is confined like all jobs."""

import socket

import pytest

from tests.server.conftest import put
from tests.server.world import DAY, Site, run_text

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
