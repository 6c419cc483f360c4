"""A server that is killed again and again while teams submit; part of `make slow`."""

import os
import signal
import subprocess
import sys
import time

import httpx
from sqlalchemy import update

from cranfield.server import operate
from cranfield.server.rehearsal.process import free_port
from cranfield.server.services import campaigns
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
    assert operate.verify_site(unserved.settings.folder).holds


def stopped(process):
    """End a server as people do, and not for ever."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(30)


def started(folder, *options, limit=None, program=(sys.executable, "-m", "cranfield")):
    """A server as people start it; gives the process and its address."""
    port = free_port()
    process = subprocess.Popen(
        [*program, "serve", str(folder), "--port", str(port), *options],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=os.environ,
        preexec_fn=limit,
    )
    address = f"http://127.0.0.1:{port}"
    until = time.monotonic() + 60
    # Loopback needs no certificates, whose reading costs more than the asking.
    with httpx.Client(verify=False) as client:
        while time.monotonic() < until:
            try:
                if client.get(f"{address}/healthz").status_code == 200:
                    return process, address
            except httpx.TransportError:
                time.sleep(0.05)
    process.kill()
    process.wait(30)
    raise AssertionError("the server did not come up")
