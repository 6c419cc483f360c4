"""Jobs: children that misbehave, leases, fences, a truth that changes while runs are scored."""

import os
import sys
import threading
from pathlib import Path

import pytest
from sqlalchemy import select

from cranfield.server import Limits, admin
from cranfield.server.jobs.fork_server import ForkServer
from cranfield.server.jobs.worker import work_once
from cranfield.server.services import campaigns, jobs, scoring
from cranfield.server.settings import Settings
from cranfield.server.store.tables import job, score, score_set
from tests.server.world import joined, run_text

ABOUT = {"conf": "V", "about": "words"}
MEGABYTE = 1 << 20
# A child that does what it is told to do wrong.
BAD = """
import os, time
from cranfield.server.jobs import sandbox

def misbehave(given):
    if given["how"] == "eats":
        held = bytearray(8 << 30)
    if given["how"] == "hangs":
        time.sleep(60)
    if given["how"] == "exits":
        os._exit(7)
    if given["how"] == "killed":
        os.kill(os.getpid(), 9)
    if given["how"] == "connects":
        import urllib.request
        urllib.request.urlopen("http://127.0.0.1:9/")
    if given["how"] == "writes":
        open(given["out"], "wb").write(b"x" * (3 << 20))
    if given["how"] == "turns":
        while True:
            pass

sandbox.JOB_KINDS["bad"] = misbehave
sandbox.fork_children()
"""
# One that leaves somebody behind who has its pipe, too.
HELD = """
import json, subprocess, sys
left = subprocess.Popen(["cat", "fifo"], start_new_session=True)
said = json.dumps({"left": left.pid})
print(json.dumps({"code": 0, "said": said}), flush=True)
sys.stdin.read()
"""
SAYS = {
    "eats": "memory",
    "hangs": "took longer than",
    "exits": "code 7",
    "killed": "it was killed",
    "connects": "opens no connection",
    "writes": "too large",
    "turns": "it took",
}


@pytest.fixture(scope="module")
def nursery(tmp_path_factory):
    folder = tmp_path_factory.mktemp("bad")
    (folder / "bad_child.py").write_text(BAD)
    limits = Limits(child_seconds=2, child_memory=2048 * MEGABYTE, child_file_bytes=MEGABYTE)
    made = ForkServer(Settings(folder, limits=limits), "bad_child", folder)
    with made:
        yield made


@pytest.mark.slow
@pytest.mark.parametrize("how", SAYS)
def test_a_child_that_misbehaves_is_told_of_in_a_sentence(nursery, how, tmp_path):
    said = nursery.run({"kind": "bad", "how": how, "out": str(tmp_path / "large")})
    assert SAYS[how] in said["error"]
    assert bool(said.get("again")) == (how == "killed")


def failed(site):
    with site.context.store.read() as connection:
        return jobs.jobs_of(connection, None, "failed")


def send(site, tag="r1", text=None):
    client = site.program(site.add_token(site.ann, site.one))
    content = (text or run_text()).encode()
    return client.put(f"/tasks/ranked/runs/{tag}", params=ABOUT, content=content).json()


def test_a_failure_is_told_where_people_look_and_costs_no_quota(site):
    said = send(site)
    sealed = next((site.settings.sealed / "tiny").glob("judgements-*/*"))
    kept = sealed.read_bytes()
    sealed.write_bytes(b"no truth at all")
    site.work()
    assert len(failed(site)) == 1
    assert "could not be scored" in site.browser("ann").get(f"/tiny/runs/{said['id']}").text
    organiser = site.browser("organiser", site.password)
    assert "Failed jobs" in organiser.get("/tiny/organise").text
    assert said["remaining"] == 4
    sealed.write_bytes(kept)
    retry = f"/tiny/organise/jobs/{failed(site)[0]['id']}/retry"
    assert organiser.fill(retry, page="/tiny/organise").status_code == 303
    site.work()
    assert failed(site) == []


def test_a_lost_worker_gives_its_job_back_and_what_it_writes_late_does_not_count(site):
    send(site)
    store, context = site.context.store, site.context
    first = store.write(lambda c: jobs.claim(c, context, "first"))
    assert store.write(lambda c: jobs.claim(c, context, "second")) is None
    assert store.write(lambda c: jobs.heartbeat(c, context, first))
    site.time += 61
    second = store.write(lambda c: jobs.claim(c, context, "second"))
    assert second["id"] == first["id"]
    assert not store.write(lambda c: jobs.heartbeat(c, context, first))
    assert not store.write(lambda c: jobs.finish(c, context, first))
    store.write(lambda c: jobs.fail(c, context, first, "too late"))
    assert store.write(lambda c: jobs.finish(c, context, second))


def test_three_lost_workers_and_the_job_has_failed(site):
    send(site)
    for n in range(3):
        assert site.context.store.write(lambda c, n=n: jobs.claim(c, site.context, f"w{n}"))
        site.time += 61
    assert site.context.store.write(lambda c: jobs.claim(c, site.context, "w")) is None
    assert "given up after 3 attempts" in failed(site)[0]["error"]


def test_only_the_child_opens_what_is_sealed(unserved):
    """The server's own process reads no file below sealed/ while a run is scored."""
    seen, sealed = [], str(unserved.settings.sealed)

    def hook(event, arguments):
        if event == "open" and watching and str(arguments[0]).startswith(sealed):
            seen.append(arguments[0])

    watching = True
    sys.addaudithook(hook)
    unserved.move("closed", "scoring", "released")
    watching = False
    assert seen == []


def test_a_truth_replaced_while_runs_are_scored_never_mixes(site):
    for n in range(3):
        send(site, f"r{n}", run_text((f"d{n}", "d6")))
    site.move("closed", "scoring")
    task_id = add_truth(site)
    from tests.server.world import NURSERY

    assert work_once(site.context, NURSERY)
    with site.context.store.read() as connection:
        current = scoring.current_set(connection, task_id)
        kept = connection.execute(
            select(score.c.run).where(score.c.score_set == current["id"])
        ).all()
    assert current["n"] == 1
    assert len({row.run for row in kept}) == 4
    second = add_truth(site, 2)
    assert second == task_id
    site.work()
    with site.context.store.read() as connection:
        current = scoring.current_set(connection, task_id)
        others = connection.execute(
            select(score_set.c.state).where(
                score_set.c.task == task_id, score_set.c.id != current["id"]
            )
        ).scalars()
        assert current["key"] == jobs.set_key(connection, task_id)
        assert set(others) <= {"old"}


def add_truth(site, changed=1):
    """Another truth for the rankings, with some judgements turned."""
    lines = (site.source / "qrels.txt").read_text().splitlines()
    lines[:changed] = [line[:-1] + str(1 - int(line[-1])) for line in lines[:changed]]
    file = f"tiny/ranked-x{changed}/qrels.txt"
    target = site.settings.sealed / file
    target.parent.mkdir()
    target.write_text("\n".join(lines) + "\n")

    def write(connection):
        row = campaigns.by_slug(connection, "tiny")
        task = next(t for t in campaigns.tasks_of(connection, row["id"]) if t["slug"] == "ranked")
        facts = {"sha": f"{changed}" * 64, "file": file, "note": "turned"}
        scoring.add_truth(connection, site.context, "test", task["id"], **facts)
        return task["id"]

    return site.context.store.write(write)


def test_a_backup_during_writes_comes_back_whole(site, tmp_path):
    going = threading.Event()

    def write():
        n = 0
        while not going.is_set():
            site.add_person(f"person{n}")
            n += 1

    thread = threading.Thread(target=write, daemon=True)
    thread.start()
    try:
        admin.backup_site(site.settings.folder, tmp_path / "b.tar.gz")
    finally:
        going.set()
        joined([thread])
    found = admin.restore_site(tmp_path / "b.tar.gz", tmp_path / "back")
    assert found.holds, found.notes
    assert found.facts["audit rows"] > 5
    with pytest.raises(Exception, match="not empty"):
        admin.restore_site(tmp_path / "b.tar.gz", tmp_path / "back")


def test_a_changed_file_is_named_by_verify(site):
    said = send(site)
    blob = next(p for p in site.settings.blobs.rglob(said["sha256"]))
    blob.chmod(0o600)
    blob.write_text("other")
    found = admin.verify_site(site.settings.folder)
    assert not found.holds
    assert "was changed" in found.notes[0]


def test_a_job_has_one_row_however_often_it_is_asked_for(site):
    send(site)

    def want(connection):
        row = campaigns.by_slug(connection, "tiny")
        for one in campaigns.tasks_of(connection, row["id"]):
            jobs.request_task_scores(connection, site.context, one["id"])
        return connection.execute(select(job.c.key)).scalars().all()

    assert len(site.context.store.write(want)) == len(set(site.context.store.write(want)))


def test_a_nursery_whose_pipe_somebody_else_holds_open_is_closed_all_the_same(tmp_path):
    """A process that left the group still has the pipe: nobody waits for its end."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "held.py").write_text(HELD.replace("fifo", str(tmp_path / "fifo")))
    nursery = ForkServer(Settings(tmp_path / "site"), "held", tmp_path)
    left = nursery.run({})["left"]
    nursery.close()
    assert Path(f"/proc/{left}").exists()
    # Whoever reads a pipe ends with its writer.
    (tmp_path / "fifo").open("wb").close()


def new_truth(site, content, name="qrels.txt"):
    """Seal another truth of the rankings by the organiser's page."""
    organiser = site.browser("organiser", site.password)
    said = {"task": "ranked", "note": "another one"}
    files = {"file": (name, content)}
    sent = organiser.fill("/tiny/organise/truth", said, page="/tiny/organise", files=files)
    assert sent.status_code == 303, sent.text
    site.work()


def test_a_truth_that_cannot_be_read_is_replaced_and_the_campaign_goes_on(site):
    said = send(site)
    site.move("closed", "scoring")
    good = (site.source / "qrels.txt").read_bytes()
    new_truth(site, b"t1 0 SECRET-ITEM\n")
    assert len(failed(site)) == 2
    for who, seen in (("ann", False), ("organiser", True)):
        browser = site.browser(who, site.password) if seen else site.browser(who)
        page = browser.get(f"/tiny/runs/{said['id']}").text
        assert "could not be scored" in page
        # What is sealed is quoted to the organiser alone.
        assert ("SECRET-ITEM" in page) is seen
        assert ("sealed" in page) is seen
    # The truth of before comes back: its scores are there, and what failed does not count.
    new_truth(site, good)
    assert failed(site) == []
    site.move("released")
    site.work()
    assert "qrels.txt" in site.browser().get("/tiny/results/ranked/files.json").text


def test_a_truth_under_another_name_is_read_anew(site):
    send(site)
    site.move("closed", "scoring")
    lines = (site.source / "qrels.txt").read_text().split()
    rows = zip(lines[::4], lines[2::4], lines[3::4], strict=True)
    text = "topic,item,grade\n" + "".join(f"{t},{i},{1 - int(g)}\n" for t, i, g in rows)
    new_truth(site, text.encode(), "qrels.json")
    assert failed(site)
    new_truth(site, text.encode(), "qrels.csv")
    assert failed(site) == []
    site.move("released")


def test_pages_that_were_asked_for_before_the_truth_was_copied_are_made_anew(site):
    send(site)
    site.move("closed", "scoring")
    site.set_state("released")
    address = "/tiny/results/ranked/files.json"
    assert "qrels.txt" not in site.browser().get(address).text
    with site.context.store.read() as connection:
        task = next(
            t
            for t in campaigns.tasks_of(connection, campaigns.by_slug(connection, "tiny")["id"])
            if t["slug"] == "ranked"
        )
    site.context.store.write(lambda c: scoring.request_publication(c, site.context, task["id"]))
    site.work()
    assert "qrels.txt" in site.browser().get(address).text
