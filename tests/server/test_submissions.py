"""Submissions by page and by program: receipts, problems, quota, deadline, withdrawal."""

import re
from functools import partial

from sqlalchemy import select

from cranfield.server.store.tables import campaign, run
from tests.server.world import DAY, at_once, labels_text, run_text

ABOUT = {"conf": "V", "about": "words"}
CLIENTS = 50


def put(client, tag, text=None, **more):
    return client.put(
        f"/tasks/ranked/runs/{tag}", params=ABOUT | more, content=(text or run_text()).encode()
    )


def test_a_run_is_received_with_a_receipt_and_may_be_sent_again(site):
    client = site.program(site.add_token(site.ann, site.one))
    first = put(client, "r1")
    assert first.status_code == 201
    said = first.json()
    assert (said["lines"], said["topics"], said["remaining"]) == (24, 3, 4)
    assert put(client, "r1").json() == said


def test_every_problem_is_told_with_its_line_and_nothing_is_counted(site):
    client = site.program(site.add_token(site.ann, site.one))
    text = run_text().replace("t1 Q0 d3", "t1 Q0 d0", 1) + "t1 Q0\n"
    refused = put(client, "r1", text)
    assert refused.status_code == 422
    assert refused.headers["content-type"] == "application/problem+json"
    said = refused.json()
    assert said["count"] >= 1
    assert all(p["message"] for p in said["problems"])
    assert put(client, "r1").json()["remaining"] == 4


def test_checking_stores_nothing(site):
    client = site.program(site.add_token(site.ann, site.one))
    checked = client.post("/tasks/ranked/check", content=run_text().encode())
    assert checked.status_code == 200
    assert checked.json()["lines"] == 24
    assert client.get("/tasks/ranked/runs").json() == {"runs": []}
    assert not list(site.settings.incoming.iterdir())


def test_the_sixth_run_is_refused_and_a_withdrawn_one_frees_its_place(site):
    client = site.program(site.add_token(site.ann, site.one))
    for n in range(5):
        assert (
            put(client, f"r{n}", run_text(("d3", f"d{n}"[:2]) if n != 3 else ("d1",))).status_code
            == 201
        )
    assert put(client, "r6").status_code == 409
    assert client.delete("/tasks/ranked/runs/r0").status_code == 204
    assert put(client, "r6").status_code == 201


def test_late_runs_are_refused_by_the_clock_of_the_server_even_when_it_is_set_back(site):
    client = site.program(site.add_token(site.ann, site.one))
    assert put(client, "r1").status_code == 201
    before, site.time = site.time, site.time + 31 * DAY / 1000
    assert put(client, "r2").status_code == 409
    site.time = before
    assert put(client, "r3").status_code == 409
    assert site.program("").get("/campaigns/tiny").json()["state"] == "closed"


def test_the_same_key_gives_the_same_answer_and_never_a_second_run(site):
    client = site.program(site.add_token(site.ann, site.one))
    client.headers["Idempotency-Key"] = "once"
    first = put(client, "r1")
    assert put(client, "r1").json() == first.json()
    assert put(client, "r2").status_code == 409
    assert len(client.get("/tasks/ranked/runs").json()["runs"]) == 1


def test_replacing_keeps_the_tag_and_the_quota(site):
    client = site.program(site.add_token(site.ann, site.one))
    put(client, "r1")
    other = run_text(("d5", "d6"))
    assert put(client, "r1", other).status_code == 409
    assert put(client, "r1", other, replace=True).json()["remaining"] == 4
    states = [run["state"] for run in client.get("/tasks/ranked/runs").json()["runs"]]
    assert sorted(states) == ["accepted", "replaced"]


def test_annotations_come_with_a_threshold(site):
    client = site.program(site.add_token(site.ann, site.one))
    for tag, threshold in (("a", "0.4"), ("b", "Sky,0.4\nSea,0.5\nDog,0.2"), ("c", "")):
        sent = client.put(
            f"/tasks/labels/runs/{tag}",
            params=ABOUT | {"threshold": threshold, "ending": ".csv"},
            content=labels_text().encode(),
        )
        assert sent.status_code == 201, sent.text
    assert site.work() == 3
    assert [job["error"] for job in failed(site)] == []


def failed(site):
    from cranfield.server.services.jobs import jobs_of

    with site.context.store.read() as connection:
        return jobs_of(connection, None, "failed")


def test_five_at_once_with_one_run_left_and_exactly_one_is_accepted(site):
    client = site.program(site.add_token(site.ann, site.one))
    for n in range(4):
        put(client, f"r{n}")
    answers = []

    def send(n):
        answers.append(put(client, f"last{n}").status_code)

    at_once([partial(send, n) for n in range(5)])
    assert sorted(answers) == [201, 409, 409, 409, 409]


def test_by_page(site):
    ann = site.browser("ann")
    values = {"task": "ranked", "tag": "r1", "configuration": "V", "description": "words"}
    wrong = ann.fill("/tiny/submit", values, files={"file": ("a.run", b"t1 Q0 nowhere 1 1 x\n")})
    assert wrong.status_code == 422
    assert "Not accepted, nothing counted" in wrong.text
    assert "nowhere" in wrong.text
    only = ann.fill(
        "/tiny/submit", values | {"do": "check"}, files={"file": ("a.run", run_text().encode())}
    )
    assert "would be accepted" in only.text
    sent = ann.fill("/tiny/submit", values, files={"file": ("a.run", run_text().encode())})
    assert sent.status_code == 303
    receipt = ann.get(sent.headers["location"])
    assert "Keep this receipt" in receipt.text
    kept = ann.get(sent.headers["location"] + "/file")
    assert kept.text == run_text()
    assert kept.headers["content-disposition"].startswith("attachment")


def test_before_release_a_better_and_a_worse_run_are_answered_alike(site):
    client = site.program(site.add_token(site.ann, site.one))
    good, bad = (
        put(client, "r1", run_text(("d0", "d3", "d6"))),
        put(client, "r2", run_text(("d1",))),
    )
    site.work()
    assert good.status_code == bad.status_code
    # How many requests are left says when a request came, not how good the run is.
    passing = ("date", "ratelimit-remaining", "ratelimit-reset")
    assert [h for h in good.headers.items() if h[0] not in passing] == [
        h for h in bad.headers.items() if h[0] not in passing
    ]
    own = {"id", "sha256", "at", "tag", "remaining"}
    a, b = good.json(), bad.json()
    assert len(good.content) == len(bad.content)
    assert {k: v for k, v in a.items() if k not in own} == {
        k: v for k, v in b.items() if k not in own
    }
    ann = site.browser("ann")
    pages = [ann.get(f"/tiny/runs/{x['id']}") for x in (a, b)]
    told = []
    for answer, said in zip(pages, (a, b), strict=True):
        text = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "TIME", answer.text)
        for own_text in (said["id"], said["sha256"], said["tag"]):
            text = text.replace(own_text, "OWN")
        told.append(text)
    assert told[0] == told[1]


def test_by_command(site, tmp_path, monkeypatch, capsys):
    from cranfield.cli import main

    monkeypatch.setenv("CRANFIELD_TOKEN", site.add_token(site.ann, site.one))
    (tmp_path / "mine.run").write_text(run_text())
    (tmp_path / "odd.run").write_text(run_text() + "t9 Q0 d0 1 1 x\n")
    asked = ["--to", f"{site.address}/tiny", "--task", "ranked", "--conf", "V", "--about", "words"]
    assert main(["submit", str(tmp_path / "mine.run"), "--check", *asked]) == 0
    assert main(["submit", str(tmp_path / "mine.run"), "--format", "json", *asked]) == 0
    assert '"remaining": 4' in capsys.readouterr().out
    assert main(["submit", str(tmp_path / "odd.run"), *asked]) == 2
    assert "odd.run" in capsys.readouterr().err


def test_at_the_deadline_every_receipt_is_from_before_it(site):
    """Many send while the clock passes the closing: what was accepted, was so before."""
    closes = site.program("").get("/campaigns/tiny").json()["closes"]
    site.context.store.write(lambda c: c.execute(campaign.update().values(runs_per_team=1000)))
    clients = [site.program(site.add_token(site.ann, site.one)) for _ in range(CLIENTS)]
    # Each request moves the clock: about half of them come in time.
    site.time = closes / 1000 - 0.003 * CLIENTS
    answers = []

    def send(n):
        for k in range(2):
            answers.append(put(clients[n], f"r{n}-{k}"))
            site.time += 0.003

    at_once([partial(send, n) for n in range(CLIENTS)])
    with site.context.store.read() as connection:
        # To the millisecond, which receipts do not tell.
        created = dict(connection.execute(select(run.c.id, run.c.created)).all())
    accepted = [created[a.json()["id"]] for a in answers if a.status_code == 201]
    assert {a.status_code for a in answers} == {201, 409}
    assert max(accepted) < closes
