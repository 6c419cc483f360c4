"""Requests that are sent twice at the same moment, and runs that come just before the deadline."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from cranfield.server.context import as_time
from cranfield.server.services.idempotency import KeyedRequest
from tests.server.conftest import ABOUT
from tests.server.world import DAY, run_text

AT_ONCE = 4


def program(site):
    return site.program(site.add_token(*site.add_team("ann", "ONE")))


def put(client, tag, text=None, key=""):
    return client.put(
        f"/tasks/ranked/runs/{tag}",
        params=ABOUT,
        content=(text or run_text()).encode(),
        headers={"Idempotency-Key": key} if key else {},
    )


def organiser(site):
    from cranfield.server.services.site import FIRST_LOGIN
    from cranfield.server.store.tables import person

    with site.context.store.read() as connection:
        who = connection.execute(person.select().where(person.c.login == FIRST_LOGIN)).one().id
    return site.program(site.add_token(who, None, "all"))


def move(client, to, key, reason=""):
    said = {"to": to, "reason": reason}
    return client.post("/campaigns/tiny/state", json=said, headers={"Idempotency-Key": key})


def test_the_same_key_at_the_same_moment_answers_as_once(both, monkeypatch):
    # All have looked the key up before any of them has written.
    monkeypatch.setattr(KeyedRequest, "early_answer", lambda *_: None)
    client = program(both)
    first = put(client, "r1", key="once")
    assert first.status_code == 201, first.text
    again = put(client, "r1", key="once")
    assert (again.status_code, again.json()) == (201, first.json())
    other = put(client, "r2", key="once")
    assert other.status_code == 409
    assert "used for another request" in other.json()["detail"]
    with ThreadPoolExecutor(AT_ONCE) as threads:
        answers = list(threads.map(lambda _: put(client, "r3", key="more"), range(AT_ONCE)))
    assert {answer.status_code for answer in answers} == {201}
    assert len({answer.text for answer in answers}) == 1
    assert len(client.get("/tasks/ranked/runs").json()["runs"]) == 2


def test_a_campaign_is_moved_once_under_a_key(both):
    client = organiser(both)
    with ThreadPoolExecutor(AT_ONCE) as threads:
        answers = list(threads.map(lambda _: move(client, "closed", "first"), range(AT_ONCE)))
    assert {(answer.status_code, answer.text) for answer in answers} == {
        (200, '{"state": "closed"}')
    }
    assert move(client, "open", "back", "too early").status_code == 200
    assert move(client, "open", "another", "too early").status_code == 409
    assert move(client, "open", "back", "too early").status_code == 200
    # Sent again late, it answers as before and closes nothing.
    assert move(client, "closed", "first").json() == {"state": "closed"}
    assert client.get("/campaigns/tiny").json()["state"] == "open"
    assert move(client, "closed", "back").status_code == 409


def slow_check(site, monkeypatch, act):
    """Something happens while a run is checked."""
    check = site.app.state.checks.check

    def checking(*arguments):
        checked = check(*arguments)
        act()
        return checked

    monkeypatch.setattr(site.app.state.checks, "check", checking)


def test_a_run_that_came_before_the_deadline_counts_as_arrived_then(both, monkeypatch):
    client, closes = program(both), 30 * DAY + both.now

    def pass_the_deadline():
        both.time = closes / 1000 + 5

    slow_check(both, monkeypatch, pass_the_deadline)
    both.time = closes / 1000 - 1
    answer = put(client, "r1")
    assert answer.status_code == 201, answer.text
    assert answer.json()["at"] == as_time(closes - 1000)
    assert client.get("/campaigns/tiny").json()["state"] == "closed"
    late = put(client, "r2")
    assert late.status_code == 409
    assert "it is closed" in late.json()["detail"]


def test_a_run_sent_by_the_page_before_the_deadline_counts_too(both, monkeypatch):
    program(both)
    closes = 30 * DAY + both.now

    def pass_the_deadline():
        both.time = closes / 1000 + 5

    slow_check(both, monkeypatch, pass_the_deadline)
    both.time = closes / 1000 - 1
    page = both.browser("ann")
    said = {"task": "ranked", "tag": "r3", "configuration": "V", "description": "x"}
    files = {"file": ("r3.txt", run_text())}
    answer = page.fill("/tiny/submit", said, files=files)
    assert answer.status_code == 303, answer.text
    assert answer.headers["location"].startswith("/tiny/runs/")
    late = page.fill("/tiny/submit", said | {"tag": "r4"}, files=files)
    assert late.status_code == 409


@pytest.mark.parametrize("before", [True, False])
def test_a_campaign_closed_by_hand_takes_what_came_before(both, monkeypatch, before):
    client = program(both)

    def close():
        both.time += 5
        both.move("closed")

    if before:
        slow_check(both, monkeypatch, close)
    else:
        close()
        both.time += 5
    assert put(client, "r1").status_code == (201 if before else 409)
