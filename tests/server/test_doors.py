"""Guesses at the door: counted before they are looked at, by name and address, for a day."""

from concurrent.futures import ThreadPoolExecutor

import httpx
from sqlalchemy import func, select

from cranfield.server.store.tables import login_failure
from tests.server.world import PASSWORD

OTHER = "127.0.0.2"


def from_elsewhere(site):
    """A browser at another address of this machine."""
    made = site.browser()
    made._transport = httpx.HTTPTransport(local_address=OTHER)
    return made


def counted(site):
    with site.context.store.read() as connection:
        return connection.execute(select(func.count()).select_from(login_failure)).scalar_one()


def test_a_burst_of_guesses_is_looked_at_as_often_as_one_after_the_other(both, monkeypatch):
    hasher, looked_at = both.app.state.hasher, []
    matches = hasher.matches

    def counting(kept, password):
        looked_at.append(password)
        return matches(kept, password)

    monkeypatch.setattr(hasher, "matches", counting)
    browsers = [both.browser() for _ in range(27)]
    tokens = [browser.token("/login") for browser in browsers]

    def guess(k):
        said = {"csrf": tokens[k], "login": "organiser", "password": f"guess {k}"}
        return browsers[k].post("/login", data=said).status_code

    with ThreadPoolExecutor(27) as threads:
        answers = sorted(threads.map(guess, range(27)))
    assert answers == [400] * 5 + [429] * 22
    assert len(looked_at) == 5


def test_nobody_locks_the_organiser_out_by_name(both):
    stranger, organiser = from_elsewhere(both), both.browser()
    wrong = {"login": "organiser", "password": "wrong"}
    answers = [stranger.fill("/login", wrong).status_code for _ in range(8)]
    assert answers == [400] * 5 + [429] * 3
    right = {"login": "organiser", "password": both.password}
    assert stranger.fill("/login", right).status_code == 429
    assert organiser.fill("/login", right).status_code == 303


def test_old_failures_are_deleted(both):
    browser = both.browser()
    for name in ("ann", "nobody", "somebody"):
        browser.fill("/login", {"login": name, "password": "wrong"})
    assert counted(both) == 3
    both.time += 24 * 3600 + 1
    browser.fill("/login", {"login": "other", "password": PASSWORD})
    assert counted(both) == 1
