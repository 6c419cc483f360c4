"""Workers: threads that take jobs from the table and have a child process do each of them."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import socket
import threading
import time

from cranfield.server.context import Context
from cranfield.server.jobs.fork_server import ForkServer, StoppedError
from cranfield.server.services import backup as _backup  # noqa: F401 - adds its kinds of jobs
from cranfield.server.services import jobs, scoring
from cranfield.server.services import mail as _mail  # noqa: F401 - adds its kind of jobs
from cranfield.server.services import webhooks as _webhooks  # noqa: F401 - adds its kind of jobs
from cranfield.server.services.campaigns import close_due
from cranfield.server.services.disk import sweep
from cranfield.server.services.jobs import Row

LOG = logging.getLogger("cranfield.server.jobs")
STOPPING_SECONDS = 10.0


class Workers:
    """The threads of one server process."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._stopping = threading.Event()
        self._host = socket.gethostname().replace(":", ".")
        name = f"{self._host}:{os.getpid()}-{context.new_id()[:6]}"
        self._threads = [
            threading.Thread(target=self._run, args=(f"{name}-{i}",), daemon=True)
            for i in range(context.settings.workers)
        ]

    def start(self) -> None:
        self.context.store.write(lambda c: jobs.reclaim(c, self._host, _is_alive))
        sweep(self.context)
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """Tell all to end; a worker in the middle of a backup is left to its lease."""
        self._stopping.set()
        self.context.wake.set()
        until = time.monotonic() + STOPPING_SECONDS
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))

    def _run(self, worker: str) -> None:
        with ForkServer(self.context.settings) as nursery:
            while not self._stopping.is_set():
                self._step(worker, nursery)

    def _step(self, worker: str, nursery: ForkServer) -> None:
        try:
            close_due(self.context)
            if self.context.untidy.is_set():
                sweep(self.context)
            if not work_once(self.context, nursery, worker, self._stopping):
                nursery.rest()
                self.context.wake.wait(self.context.settings.poll_seconds)
                self.context.wake.clear()
        except Exception:
            # A store that is away for a moment must not end the worker.
            LOG.exception("worker %s", worker)
            self._stopping.wait(self.context.settings.poll_seconds)


def work_once(
    context: Context,
    nursery: ForkServer,
    worker: str = "here",
    stopping: threading.Event | None = None,
) -> bool:
    """Do one job, if there is one."""
    with context.store.read() as connection:
        if not jobs.has_claimable_job(connection, context):
            return False
    job = context.store.write(lambda c: jobs.claim(c, context, worker))
    if job is None:
        return False
    with _Heartbeat(context, job) as heart:
        try:
            result = _run_job(context, job, heart, stopping or threading.Event(), nursery)
        except StoppedError:
            return False
    if heart.lost:
        return True
    if "error" in result:
        message, retry = str(result["error"]), bool(result.get("again"))
        context.store.write(lambda c: jobs.fail(c, context, job, message, retry=retry))
    else:
        context.store.write(lambda c: scoring.finish(c, context, job, result))
    return True


def work_all(context: Context, nursery: ForkServer | None = None) -> int:
    """Do jobs until there are none; for commands and tests, which have no workers."""
    count = 0
    with contextlib.nullcontext(nursery) if nursery else ForkServer(context.settings) as active:
        while work_once(context, active):
            count += 1
    return count


def _is_alive(process: int) -> bool:
    """Whether a process of this machine is there; one that is not ours to ask about is."""
    if process == os.getpid():  # the number of one that is gone, given to us
        return False
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


class _Heartbeat:
    """Tells the store every few seconds that a job is being done."""

    def __init__(self, context: Context, job: Row) -> None:
        self._context, self._job = context, job
        self._over = threading.Event()
        self.lost = False
        self._thread = threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> _Heartbeat:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _beat(self) -> None:
        while not self._over.wait(self._context.settings.heartbeat_seconds):
            with contextlib.suppress(Exception):
                is_own = self._context.store.write(
                    lambda c: jobs.heartbeat(c, self._context, self._job)
                )
                if not is_own:
                    self.lost = True
                    return


def _run_job(
    context: Context, job: Row, heart: _Heartbeat, stopping: threading.Event, nursery: ForkServer
) -> Row:
    if job["kind"] in scoring.IN_PROCESS_JOBS:
        try:
            return scoring.IN_PROCESS_JOBS[job["kind"]](context, json.loads(job["input"]))
        except Exception as error:
            LOG.exception("job %s", job["id"])
            return {"error": f"{type(error).__name__}: {error}"[:500], "again": True}
    with context.store.read() as connection:
        job_input = scoring.job_arguments(connection, context, job)
    if job_input is None:
        return {"error": "what it was to score is gone"}
    return nursery.run(job_input, lambda: heart.lost, stopping)
