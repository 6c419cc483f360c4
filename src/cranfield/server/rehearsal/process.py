"""The server as a process of its own: started, killed without warning, started again."""

from __future__ import annotations

import contextlib
import os
import random
import re
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

from cranfield.errors import CranfieldError
from cranfield.server.rehearsal.client import HOST, Client, CutError, Witness

_START = 30.0


class StartError(CranfieldError):
    """The server that is rehearsed with does not come up."""


def command(*words: str | Path) -> list[str]:
    """The command line of this very installation."""
    return [sys.executable, "-m", "cranfield", *map(str, words)]


def free_port() -> int:
    """A port that no process listens on, also after the server was killed and comes back.

    It lies below those that systems give to outgoing connections (32768 and up on Linux, 49152 and
    up elsewhere): one of these could be taken by a client while no process listens.
    """
    for port in random.SystemRandom().sample(range(15_000, 32_000), 100):
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((HOST, port))
            return port
    raise StartError(f"no free port on {HOST}")


class Server:
    """`cranfield serve` on a folder, in a process group of its own."""

    def __init__(self, folder: Path, witness: Witness, database: str = "", number: int = 1) -> None:
        self.folder, self.witness, self.database = folder, witness, database
        self.port = free_port()
        self.password = ""
        self.kills = 0
        self.most_memory = 0
        self.log = folder.parent / f"server-{number}.log"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        words: list[str | Path] = ["serve", self.folder, "--port", str(self.port)]
        words += ["--db", self.database] if self.database else []
        log_start = self.log.stat().st_size if self.log.exists() else 0
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                command(*words), stdout=log, stderr=log, start_new_session=True
            )
        self._wait(log_start)

    def _wait(self, log_start: int) -> None:
        probe, until = Client(self.port, self.witness), time.monotonic() + _START
        while True:
            if self._process is not None and self._process.poll() is not None:
                output = self.log.read_bytes()[log_start:].decode(errors="replace").strip()[-500:]
                raise StartError(f"the server ended by itself: {output}")
            with contextlib.suppress(CutError):
                if probe.send("GET", "/healthz").status == 200:
                    break
            if time.monotonic() > until:
                raise StartError(f"the server did not answer within {_START:g} s")
            time.sleep(0.05)
        match = re.search(r"password \(shown once\): (\S+)", self.log.read_text(errors="replace"))
        self.password = match[1] if match else self.password

    def kill(self) -> None:
        """As a power cut would: nothing is told, nothing is tidied."""
        if self._process is not None:
            self.measure()
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
            self.kills += 1
            self._process = None

    def kill_child(self) -> bool:
        """Kill a scoring child, if there is one at work."""
        if self._process is None:
            return False
        for child in _descendants(self._process.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(child, signal.SIGKILL)
                return True
        return False

    def measure(self) -> int:
        """The most memory that the server itself has used, in bytes."""
        if self._process is not None:
            with contextlib.suppress(OSError):
                status = Path(f"/proc/{self._process.pid}/status").read_text()
                match = re.search(r"VmHWM:\s+(\d+) kB", status)
                self.most_memory = max(self.most_memory, int(match[1]) * 1024 if match else 0)
        return self.most_memory

    def stop(self) -> None:
        if self._process is None:
            return
        self.measure()
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._process = None


def _descendants(pid: int) -> list[int]:
    descendants: list[int] = []
    with contextlib.suppress(OSError):
        for task in Path(f"/proc/{pid}/task").iterdir():
            text = (task / "children").read_text()
            for child in map(int, text.split()):
                descendants += [child, *_descendants(child)]
    return descendants
