"""`cranfield.client`: checks, submissions, their state and released scores; limits in headers."""

import pytest

from cranfield.client import Client
from cranfield.errors import InputError, UsageError
from cranfield.server import Limits
from cranfield.server.headers import RateLimit
from tests.server.world import DAY, labels_text, run_text

ABOUT = {"conf": "V", "about": "words"}


def test_a_program_submits_and_reads_scores_as_the_library_has_them(site, tmp_path):
    token = site.add_token(site.ann, site.one)
    client = Client(f"{site.address}/tiny", token)
    assert client.campaign()["state"] == "open"
    run = tmp_path / "mine.run"
    run.write_text(run_text(("d3", "d0")))
    client.check(run, "ranked", **ABOUT)
    assert client.status("ranked") == []
    client.submit(run, "ranked", **ABOUT)
    labels = tmp_path / "mine.csv"
    labels.write_text(labels_text())
    client.submit(labels, "labels", **ABOUT)
    run.write_text(run_text(("d1",)))
    client.submit(run, "ranked", tag="worse", **ABOUT)
    assert {one["tag"] for one in client.status("ranked")} == {"worse", "mine"}
    client.withdraw("ranked", "worse")
    assert [one["state"] for one in client.status("ranked") if one["tag"] == "worse"] == [
        "withdrawn"
    ]
    run.write_text("t1 Q0 nothing 1 1 x\n")
    with pytest.raises(InputError, match="nothing"):
        client.submit(run, "ranked", tag="bad", **ABOUT)
    with pytest.raises(UsageError, match="403"):
        client.scores("ranked")
    site.work()
    site.time += 31 * DAY / 1000
    site.move("closed", "scoring", "released")
    scores = Client(f"{site.address}/tiny").scores("ranked")
    assert set(scores.runs) == {"HOUSE.base", "ONE.mine"}
    assert scores.per_topic()
    assert scores.compare(baseline="HOUSE.base").pairs


def test_limits_stand_in_headers_and_hold(site):
    program = site.program(site.add_token(site.ann, site.one))
    first = program.get("/tasks/ranked/runs").headers
    second = program.get("/tasks/ranked/runs").headers
    assert int(first["ratelimit-limit"]) == Limits().api_per_minute
    assert 0 < int(first["ratelimit-reset"]) <= 61
    if int(second["ratelimit-reset"]) <= int(first["ratelimit-reset"]):
        assert int(second["ratelimit-remaining"]) == int(first["ratelimit-remaining"]) - 1
    assert "ratelimit-limit" not in site.browser().get("/").headers


def test_too_many_requests_are_refused_until_the_next_minute(monkeypatch):
    import asyncio

    from starlette.responses import PlainTextResponse

    monkeypatch.setattr("cranfield.server.headers.time.monotonic", lambda: 100.0)
    limited = RateLimit(PlainTextResponse("fine"), per_minute=2)
    statuses = []

    async def ask(token):
        async def send(message):
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        headers = [(b"authorization", token)]
        scope = {"type": "http", "path": "/api/v1/x", "headers": headers, "method": "GET"}
        await limited(scope, None, send)

    for token in (b"a", b"a", b"a", b"b"):
        asyncio.run(ask(token))
    assert statuses == [200, 200, 429, 200]
    monkeypatch.setattr("cranfield.server.headers.time.monotonic", lambda: 161.0)
    asyncio.run(ask(b"a"))
    assert statuses[-1] == 200


def test_made_up_tokens_count_for_their_address(monkeypatch):
    """Another token with each request is no way around the limit, and takes no memory."""
    import asyncio

    from starlette.responses import PlainTextResponse

    monkeypatch.setattr("cranfield.server.headers.time.monotonic", lambda: 100.0)

    async def app(scope, receive, send):
        known = (b"authorization", b"Bearer good") in scope["headers"]
        await PlainTextResponse("", 200 if known else 401)(scope, receive, send)

    limited = RateLimit(app, per_minute=5)
    statuses = []

    async def ask(token, address="10.0.0.1"):
        async def send(message):
            if message["type"] == "http.response.start":
                statuses.append(message["status"])

        scope = {"type": "http", "path": "/api/v1/x", "method": "GET", "client": (address, 1)}
        await limited(scope | {"headers": [(b"authorization", token)]}, None, send)

    for number in range(8):
        asyncio.run(ask(b"Bearer %d" % number))
    assert statuses == [401] * 5 + [429] * 3
    asyncio.run(ask(b"Bearer good", "10.0.0.2"))
    assert statuses[-1] == 200, "others go on"
    assert len(limited._counts) <= 4


def test_the_page_for_programs_names_every_address(site):
    from cranfield.server.permissions import RULES

    page = site.browser().get("/api").text
    for rule in RULES:
        if rule.is_api:
            assert f"{rule.method} {rule.path}" in page
    assert "cranfield.client" in page
