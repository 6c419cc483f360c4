"""The process that forks the children of jobs: it is there while there is work."""

from __future__ import annotations

import json
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from cranfield.errors import CranfieldError
from cranfield.server.settings import OTHERS, Settings

Row = dict[str, Any]
IDLE_SECONDS = 20.0
# Each signal that ends a child without a word of its own, and what it means.
_SIGNALS = {
    signal.SIGXCPU: "it took too long",
    signal.SIGXFSZ: "it wrote too large a file",
    signal.SIGKILL: "it was killed",
}


class StoppedError(CranfieldError):
    """The server stops while a child works: the job goes back by its lease."""


# What chooses the instructions that sums are made with, and so their last bit: numbers of the site
# are those of the library in the same environment.
ARITHMETIC = ("OPENBLAS_CORETYPE", "OPENBLAS_L2_SIZE", "NPY_DISABLE_CPU_FEATURES")


class ForkServer:
    """One process that forks a child for one job at a time."""

    def __init__(
        self,
        settings: Settings,
        module: str = "cranfield.server.jobs.sandbox",
        folder: Path | None = None,
        *,
        memory: int | None = None,
        seconds: int | None = None,
    ) -> None:
        self.settings, self.module, self.folder = settings, module, folder
        self._memory = memory or settings.limits.child_memory
        self._seconds = seconds or settings.limits.child_seconds
        self._process: subprocess.Popen[bytes] | None = None
        self._used = 0.0

    def __enter__(self) -> ForkServer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(
        self,
        job_input: Row,
        is_lost: Callable[[], bool] = lambda: False,
        stopping: threading.Event | None = None,
    ) -> Row:
        """What the child says that did a job; how it ended, if it says nothing."""
        job_input = job_input | {
            "limits": {
                "memory": self._memory,
                "seconds": self._seconds,
                "file_bytes": self.settings.limits.child_file_bytes,
            },
        }
        process = self._started()
        pipes = process.stdin, process.stdout
        if pipes[0] is None or pipes[1] is None:
            raise RuntimeError("the nursery has no pipes")
        try:
            pipes[0].write(json.dumps(job_input).encode() + b"\n")
            pipes[0].flush()
        except BrokenPipeError:
            self.close()
            return {"error": "the scoring process failed: it was killed", "again": True}
        line = self._heard(pipes[1], self._seconds, is_lost, stopping)
        if line is None:
            self.close()
            return {"error": f"it took longer than {self._seconds} s"}
        if not line.endswith(b"\n"):  # it ended in the middle of a word, or before it
            self.close()
            return {"error": "the scoring process failed: it was killed", "again": True}
        words = json.loads(line)
        return _outcome(words["code"], words["said"])

    def rest(self) -> None:
        """End the process if it has had nothing to do for a while."""
        if self._process is not None and time.monotonic() - self._used > IDLE_SECONDS:
            self.close()

    def close(self) -> None:
        if self._process is not None:
            # The child that may still work is in the same group.
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            # Output that may still come is not read: another process could hold the pipe open.
            for pipe in (self._process.stdin, self._process.stdout):
                with suppress(OSError):
                    if pipe is not None:
                        pipe.close()
            self._process.wait()
            self._process = None

    def _started(self) -> subprocess.Popen[bytes]:
        self._used = time.monotonic()
        if self._process is None or self._process.poll() is not None:
            self.close()
            package = str(Path(__file__).parents[3])
            self._process = subprocess.Popen(
                [sys.executable, "-m", self.module],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={
                    "PATH": os.environ.get("PATH", ""),
                    "PYTHONPATH": package,
                    "LANG": "C.UTF-8",
                    "OPENBLAS_NUM_THREADS": "1",
                    "OMP_NUM_THREADS": "1",
                    **{name: os.environ[name] for name in ARITHMETIC if name in os.environ},
                },
                cwd=self.folder,
                start_new_session=True,
                umask=OTHERS,
            )
        return self._process

    def _heard(
        self,
        stream: Any,
        seconds: float,
        is_lost: Callable[[], bool],
        stopping: threading.Event | None,
    ) -> bytes | None:
        """The line that tells how the child ended; None when it took too long."""
        until = time.monotonic() + seconds
        with selectors.DefaultSelector() as selector:
            selector.register(stream, selectors.EVENT_READ)
            while not selector.select(timeout=0.2):
                if stopping is not None and stopping.is_set():
                    self.close()
                    raise StoppedError("the server stops")
                if time.monotonic() > until or is_lost():
                    return None
        self._used = time.monotonic()
        return bytes(stream.readline())


def _outcome(code: int, text: str) -> Row:
    try:
        reply: Any = json.loads(text)
        if isinstance(reply, dict):
            return reply
    except ValueError:
        pass
    if code < 0:
        why = _SIGNALS.get(signal.Signals(-code), f"it was ended by signal {-code}")
        # A child that was killed from outside is tried again; one above its limits is not.
        retry = code == -signal.SIGKILL
        return {"error": f"the scoring process failed: {why}", "again": retry}
    return {"error": f"the scoring process ended with code {code} and without a word"}
