"""A server as people start it: a process of its own, at a port that the system chooses."""

from __future__ import annotations

import signal
import subprocess
import sys

import httpx

from cranfield.server.admin import clock_of_site

PROGRAM = (sys.executable, "-m", "cranfield")


def served(words, *, limit=None, program=PROGRAM):
    """The process of a `serve`, its address and all that it printed before it listened."""
    process = subprocess.Popen(
        [*program, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        preexec_fn=limit,
    )
    printed = []
    with process.stdout as lines:
        for line in lines:
            printed.append(line)
            if line.startswith("serving "):
                # Who asks now waits until the site is ready. Loopback needs no certificates.
                address = line.split()[-1].rstrip("/")
                assert httpx.get(f"{address}/healthz", timeout=120, verify=False).is_success
                return process, address, "".join(printed)
    process.wait(30)
    raise AssertionError("the server did not come up")


def started(folder, *options, limit=None, program=PROGRAM):
    """A server on a folder; gives the process and its address."""
    # Sites of tests have a time of their own: this machine's is accepted in its place.
    database = options[options.index("--db") + 1] if "--db" in options else None
    clock_of_site(folder, accept=True, database=database)
    words = ["serve", str(folder), "--port", "0", *options]
    return served(words, limit=limit, program=program)[:2]


def stopped(process):
    """End a server as people do, and not for ever."""
    process.send_signal(signal.SIGTERM)
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait(60)
