"""A wrong clock: it closes nothing and ends nobody's session, and is set right again."""

import json

import pytest
from sqlalchemy import select

from cranfield.server import admin
from cranfield.server.context import SECOND, Clock
from cranfield.server.services import audit, clock
from cranfield.server.services.campaigns import close_due
from cranfield.server.services.site import open_site
from cranfield.server.settings import Settings
from cranfield.server.store.tables import session
from tests.server.test_submissions import put
from tests.server.world import DAY

START, YEARS = 1_800_000_000, 20 * 365 * 24 * 3600
JUMPS = {"20 years ahead": YEARS, "20 years back": -YEARS, "an hour ahead": 3600}


class Hands:
    """Both clocks of a machine, in the hands of a test."""

    def __init__(self, tmp_path, last=0):
        self.wall, self.steady = float(START), 5.0
        settings = Settings(tmp_path, clock=lambda: self.wall, monotonic=lambda: self.steady)
        self.clock = Clock(settings, last)

    def pass_seconds(self, seconds):
        self.wall += seconds
        self.steady += seconds


@pytest.mark.parametrize("jump", JUMPS.values(), ids=JUMPS)
def test_a_jump_moves_nothing_and_heals(tmp_path, jump):
    hands = Hands(tmp_path)
    hands.pass_seconds(100)
    hands.wall += jump
    hands.pass_seconds(10)
    assert hands.clock.in_doubt
    assert hands.clock.now() == (START + 110) * SECOND
    hands.wall -= jump
    assert not hands.clock.in_doubt
    hands.pass_seconds(5)
    assert hands.clock.now() == (START + 115) * SECOND


def test_small_steps_are_followed_and_never_back(tmp_path):
    hands = Hands(tmp_path)
    hands.clock.now()
    for step, expected in ((200, 200), (-100, 200), (250, 350)):
        hands.wall += step
        assert hands.clock.now() == (START + expected) * SECOND
        assert not hands.clock.in_doubt


@pytest.mark.parametrize(
    ("stopped", "doubt"),
    [(3600, False), (30 * DAY / 1000, False), (-200, False), (-3600, True), (YEARS, True)],
)
def test_after_a_restart_the_noted_time_is_compared(tmp_path, stopped, doubt):
    last = int((START - stopped) * SECOND)
    hands = Hands(tmp_path, last)
    assert hands.clock.in_doubt == doubt
    hands.pass_seconds(7)
    now = last + 7 * SECOND if doubt else max(last, (START + 7) * SECOND)
    assert hands.clock.now() == now
    hands.clock.accept()
    assert hands.clock.now() == (START + 7) * SECOND
    assert not hands.clock.in_doubt


def state(site):
    return site.program("").get("/campaigns/tiny").json()["state"]


def sessions(site):
    with site.context.store.read() as connection:
        return len(connection.execute(select(session.c.hash)).all())


@pytest.mark.parametrize("jump", JUMPS.values(), ids=JUMPS)
def test_a_wrong_clock_closes_no_campaign_and_ends_no_session(both, jump):
    client = both.program(both.add_token(*both.add_team("ann", "ONE")))
    ann = both.browser("ann")
    both.skew = jump
    close_due(both.context)
    assert state(both) == "open"
    refused = put(client, "r1")
    assert refused.status_code == 503
    assert "clock of the server is in doubt" in refused.json()["detail"]
    both.browser("organiser", both.password)
    assert ann.get("/tiny/runs").status_code == 200
    assert sessions(both) == 2
    board = both.browser("organiser", both.password)
    moved = board.fill(
        "/tiny/organise/state", {"to": "closed", "sure": "yes"}, page="/tiny/organise"
    )
    assert moved.status_code == 503
    both.skew = 0.0
    assert put(client, "r1").status_code == 201


def test_a_wrong_clock_is_still_in_doubt_after_a_restart(both):
    for jump in JUMPS.values():
        if abs(jump) == YEARS:
            both.skew = jump
            again = open_site(both.settings)
            assert again.clock.in_doubt
            close_due(again)
            assert state(both) == "open"
            again.store.close()


def accept(site, monkeypatch):
    """The command on the machine of the site."""
    monkeypatch.setattr(admin, "Settings", lambda *_, **__: site.settings)
    return admin.clock_of_site(site.settings.folder, accept=True)


def test_a_site_that_ran_ahead_is_set_right_by_a_command_with_a_row_in_the_audit(both, monkeypatch):
    """What earlier versions left: the last time noted is 20 years ahead, and time stood still."""
    client = both.program(both.add_token(*both.add_team("ann", "ONE")))
    ahead = both.now + YEARS * SECOND
    both.context.store.write(lambda c: audit.append(c, ahead, "clock", "campaign.state", "other"))
    monkeypatch.setattr(admin, "Settings", lambda *_, **__: both.settings)
    asked = admin.clock_of_site(both.settings.folder)
    assert not asked.holds
    assert asked.facts["site"].startswith("2047")
    report = accept(both, monkeypatch)
    assert report.holds
    assert report.facts["machine"].startswith("2027-01-15")
    again = open_site(both.settings)
    assert not again.clock.in_doubt
    assert again.clock.now() == both.now
    with again.store.read() as connection:
        row = audit.last_rows(connection, 1)[0]
        assert audit.verify(connection)[1] == ""
        assert clock.last_time(connection) == both.now
    again.store.close()
    assert (row["actor"], row["action"], row["at"]) == ("command", "clock.accept", both.now)
    assert json.loads(row["detail"]) == {"from": ahead, "to": both.now}
    assert put(client, "r1").status_code == 201


def test_a_running_server_goes_by_what_was_accepted(both, monkeypatch):
    """The machine had slept: its clock is right, and the site's time is late."""
    client = both.program(both.add_token(*both.add_team("ann", "ONE")))
    both.skew = 31 * DAY / 1000
    assert put(client, "r1").status_code == 503
    assert state(both) == "open"
    assert accept(both, monkeypatch).holds
    assert put(client, "r1").status_code == 409
    assert state(both) == "closed"
    # It was said once: the next jump waits for somebody, too, wherever it leads.
    both.time += 3600
    both.skew -= 3600
    assert put(client, "r1").status_code == 503


def test_the_time_is_noted_now_and_then(unserved):
    for _ in range(3):
        unserved.time += 3600
        close_due(unserved.context)
        with unserved.context.store.read() as connection:
            assert clock.last_time(connection) == unserved.now
    unserved.skew = YEARS
    close_due(unserved.context)
    unserved.skew = 0.0
    with unserved.context.store.read() as connection:
        assert clock.last_time(connection) == unserved.now


def test_the_command_line(unserved, monkeypatch, capsys):
    from cranfield.cli import main

    monkeypatch.setattr(admin, "Settings", lambda *_, **__: unserved.settings)
    unserved.skew = -YEARS
    folder = str(unserved.settings.folder)
    assert main(["campaign", "clock", folder]) == 1
    assert "too far from" in capsys.readouterr().out
    assert main(["campaign", "clock", folder, "--accept"]) == 0
    assert main(["campaign", "clock", folder]) == 0
