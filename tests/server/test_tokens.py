"""Tokens: good for what their page says, for so many days, and for no page."""

import re

import pytest

from cranfield.server.permissions import RULES, SCOPES
from tests.server.conftest import ABOUT
from tests.server.world import DAY, PASSWORD, run_text

PAGES = (
    "/",
    "/account",
    "/tiny",
    "/tiny/team",
    "/tiny/runs",
    "/tiny/data",
    "/tiny/organise",
    "/admin",
)


def made(browser, page, **said):
    """The secret of a token made by a page, and that page."""
    answer = browser.fill(f"{page}/tokens", {"label": "mine"} | said, page=page)
    found = re.search(r"<code>(cf_[^<]+)</code>", answer.text)
    return (found[1] if found else ""), answer


def organiser_of(site):
    return site.browser("organiser", site.password)


def submits(client):
    return client.put(
        "/tasks/ranked/runs/r1", params=ABOUT, content=run_text().encode()
    ).status_code


def test_a_token_opens_no_page(both):
    who, team = both.add_team("ann", "ONE")
    both.grant(who, "O", name=None)
    both.grant(who, "S", name=None)
    tokens = [both.add_token(who, team), both.add_token(who, None, "all")]
    for token in tokens:
        client = both.browser()
        client.headers["Authorization"] = f"Bearer {token}"
        for path in PAGES:
            answer = client.get(path)
            assert answer.status_code == 403, path
            assert "A token is for programs" in answer.text
        assert client.get("/api/v1/campaigns/tiny").status_code == 200


def test_a_token_does_what_it_was_made_for_and_nothing_else(both):
    both.add_team("ann", "ONE")
    ann = both.browser("ann")
    reads, _ = made(ann, "/tiny/team", scope="read")
    sends, page = made(ann, "/tiny/team", scope="submit", days="7")
    assert SCOPES["submit"] in page.text
    reader, sender = both.program(reads), both.program(sends)
    assert submits(reader) == 403
    assert submits(sender) == 201
    for client in (reader, sender):
        assert len(client.get("/tasks/ranked/runs").json()["runs"]) == 1
        assert client.get("/tasks/ranked/public.tar.gz").status_code == 200
        assert client.post("/campaigns/tiny/state", json={"to": "closed"}).status_code == 403
    assert reader.post("/tasks/ranked/check", content=b"").status_code == 403
    assert reader.delete("/tasks/ranked/runs/r1").status_code == 403
    assert sender.delete("/tasks/ranked/runs/r1").status_code == 204
    for odd in ({"scope": "all"}, {"scope": "odd"}, {"days": "0"}, {"days": "366"}, {"days": "x"}):
        secret, answer = made(ann, "/tiny/team", **odd)
        assert (secret, answer.status_code) == ("", 400), odd


def test_tokens_of_an_organiser_have_scopes_too(both):
    organiser = organiser_of(both)
    closes = {"json": {"to": "closed"}}
    for scope, reads, moves in (("read", 200, 403), ("submit", 403, 403), ("all", 200, 200)):
        secret, page = made(organiser, "/account", scope=scope)
        assert SCOPES[scope] in page.text
        client = both.program(secret)
        assert client.get("/tasks/ranked/runs").status_code == reads, scope
        assert client.post("/campaigns/tiny/state", **closes).status_code == moves, scope


def test_a_token_ends(both):
    both.add_team("ann", "ONE")
    ann = both.browser("ann")
    secrets = {days: made(ann, "/tiny/team", days=str(days))[0] for days in (1, 7, 180)}
    default, _ = made(ann, "/tiny/team")
    for passed, still in ((0, (1, 7, 180)), (1, (7, 180)), (7, (180,)), (179, (180,)), (180, ())):
        both.time = 1_800_000_000 + passed * DAY / 1000
        for days, secret in secrets.items():
            status = both.program(secret).get("/tasks/ranked/runs").status_code
            assert status == (200 if days in still else 401), (passed, days)
        status = both.program(default).get("/tasks/ranked/runs").status_code
        assert status == (200 if passed < 180 else 401)
    again = both.browser("ann", PASSWORD)
    assert "ended 20" in again.get("/tiny/team").text


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_every_scope_of_every_route(rule):
    """What only reads takes a token to read; what writes does not."""
    if not rule.is_api:
        assert rule.scopes == frozenset()
    elif rule.method != "GET":
        assert "read" not in rule.scopes
    assert ("all" in rule.scopes) == rule.is_api
