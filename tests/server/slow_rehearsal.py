"""The rehearsal at a tenth of its size, on both stores: all holds, and the same comes out."""

import json
import subprocess
import sys

import pytest

from tests.server import postgres


def rehearsed(*options):
    """What the command says; its exit code tells whether all of it holds."""
    words = ["campaign", "rehearse", "--seed", "7", "--scale", "0.1", "--format", "json"]
    done = subprocess.run(
        [sys.executable, "-m", "cranfield", *words, *options],
        capture_output=True,
        text=True,
        timeout=1200,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def on_sqlite():
    return rehearsed()


def test_everything_holds(on_sqlite):
    print(json.dumps(on_sqlite["checks"], indent=1), on_sqlite["figures"])
    assert [c["name"] for c in on_sqlite["checks"]] == ["R1", "R2", "R3", "R4", "R5", "R6"]
    assert all(check["holds"] for check in on_sqlite["checks"])
    assert on_sqlite["figures"]["server_kills"] >= 3
    assert on_sqlite["figures"]["child_kills"] >= 1


def test_postgresql_gives_the_same_export(on_sqlite):
    with postgres.running() as server:
        found = rehearsed("--db", postgres.new_database(server, "rehearsal"))
    assert all(check["holds"] for check in found["checks"])
    assert found["checks"][-1] == on_sqlite["checks"][-1]
