"""A server that is killed again and again while teams submit; part of `make slow`."""

import signal

import httpx
from sqlalchemy import update

from cranfield.server import admin
from cranfield.server.services import campaigns
from tests.server.process import started, stopped
from tests.server.world import run_text

ABOUT = {"conf": "V", "about": "words"}
KILLS = 20


def test_killed_at_any_moment_nothing_that_was_acknowledged_is_lost(unserved):
    """A server of its own process is killed while teams submit, and comes up again."""
    token = unserved.add_token(unserved.ann, unserved.one)
    unserved.context.store.write(
        lambda c: c.execute(update(campaigns.campaign).values(runs_per_team=1000, closes=2**52))
    )
    unserved.context.store.close()
    kept = []
    for _ in range(KILLS):
        process, address = started(unserved.settings.folder)
        client = httpx.Client(base_url=address, headers={"Authorization": f"Bearer {token}"})
        try:
            for _ in range(3):
                tag = f"r{len(kept)}"
                sent = client.put(
                    f"/api/v1/tasks/ranked/runs/{tag}", params=ABOUT, content=run_text().encode()
                )
                assert sent.status_code == 201, sent.text
                kept.append(sent.json()["id"])
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait(30)
            client.close()
    process, address = started(unserved.settings.folder)
    try:
        with httpx.Client(base_url=address, headers={"Authorization": f"Bearer {token}"}) as client:
            runs = client.get("/api/v1/tasks/ranked/runs").json()["runs"]
        assert sorted(run["id"] for run in runs) == sorted(kept)
    finally:
        stopped(process)
    assert admin.verify_site(unserved.settings.folder).holds
