"""The site that is rehearsed with: browsers and programs as it sees them, and its processes.

A process is started, killed without warning and started again. The stage holds the site, its
organiser, the teams, and all that was acknowledged.
"""

from __future__ import annotations

import contextlib
import gzip
import html
import http.client
import io
import itertools
import json
import os
import random
import re
import signal
import socket
import subprocess
import sys
import tarfile
import threading
import time
import urllib.parse
import zipfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

from cranfield.errors import CranfieldError
from cranfield.rehearsal.world import NAME, RunPart, TeamPart, World
from cranfield.server.context import Memory

HOST = "127.0.0.1"
_TOKEN = re.compile(r'name="csrf" value="([^"]+)"')
_PATIENCE = 60.0


class CutError(Exception):
    """The connection ended before an answer came."""


@dataclass(frozen=True)
class Reply:
    """What came back."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode("utf-8", "replace")

    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Witness:
    """Sees all replies: faults of the server, and marks that must not leave it."""

    marks: tuple[bytes, ...]
    sealed: bool = True
    seen: int = 0
    cut: int = 0
    faults: list[str] = field(default_factory=list)
    leaks: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, request: str, reply: Reply) -> None:
        leaked = self.sealed and any(
            mark in part for part in unpacked(reply.body) for mark in self.marks
        )
        headers = str(dict(reply.headers)).encode()
        with self._lock:
            self.seen += 1
            if reply.status >= 500 and reply.status != 507:
                self.faults.append(f"{reply.status} {request}")
            if leaked or (self.sealed and any(mark in headers for mark in self.marks)):
                self.leaks.append(request)

    def note_log(self, content: bytes) -> None:
        """What the server wrote about itself must not have them either."""
        if any(mark in content for mark in self.marks):
            self.leaks.append("the log of the server")

    def note_cut(self) -> None:
        with self._lock:
            self.cut += 1


def unpacked(body: bytes) -> list[bytes]:
    """A body, and what is inside it if it is an archive or a packed file."""
    parts = [body]
    if body[:2] == b"\x1f\x8b":
        try:
            inner = gzip.decompress(body)
        except (OSError, EOFError):
            return parts
        parts += unpacked(inner)
    elif body[:4] == b"PK\x03\x04":
        with zipfile.ZipFile(io.BytesIO(body)) as archive:
            parts += [part for n in archive.namelist() for part in unpacked(archive.read(n))]
    elif body[257:262] == b"ustar":
        with tarfile.open(fileobj=io.BytesIO(body)) as archive:
            for member in archive.getmembers():
                file = archive.extractfile(member) if member.isfile() else None
                parts.append(member.name.encode())
                if file is not None:
                    parts += unpacked(file.read())
    return parts


class Client:
    """Sends requests; while the server is down it waits, and sends again what may be sent again."""

    def __init__(self, port: int, witness: Witness, *, token: str = "") -> None:
        self.port, self.witness, self.token = port, witness, token
        self.cookies: dict[str, str] = {}

    def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> Reply:
        """One request, once; a CutError when no whole answer came."""
        request_headers = {"Connection": "close", **(headers or {})}
        if self.token:
            request_headers["Authorization"] = f"Bearer {self.token}"
        if self.cookies:
            request_headers["Cookie"] = "; ".join(f"{k}={v}" for k, v in self.cookies.items())
        connection = http.client.HTTPConnection(HOST, self.port, timeout=_PATIENCE)
        try:
            connection.request(method, path, body, request_headers)
            answer = connection.getresponse()
            reply = Reply(answer.status, dict(answer.getheaders()), answer.read())
            self._keep(answer.headers.get_all("Set-Cookie") or ())
        except (OSError, http.client.HTTPException) as error:
            self.witness.note_cut()
            raise CutError(f"{method} {path}: {error!r}") from None
        finally:
            connection.close()
        self.witness.note(f"{method} {path}", reply)
        return reply

    def _keep(self, lines: Sequence[str]) -> None:
        for line in lines:
            name, _, value = line.partition(";")[0].partition("=")
            if value:
                self.cookies[name.strip()] = value
            else:
                self.cookies.pop(name.strip(), None)

    def again(self, act: Callable[[], Reply]) -> Reply:
        """Do something until an answer comes: for what may be done twice without harm."""
        until = time.monotonic() + _PATIENCE
        while True:
            try:
                return act()
            except CutError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)

    def get(self, path: str) -> Reply:
        reply = self.again(lambda: self.send("GET", path))
        hops = 0
        while reply.status in (302, 303, 307) and hops < 5:
            hops += 1
            reply = self.again(partial(self.send, "GET", reply.headers["location"]))
        return reply

    def fill_in(
        self,
        path: str,
        fields: Mapping[str, str],
        *,
        form: str | None = None,
        file: tuple[str, str, bytes] | None = None,
        times: int = 1,
    ) -> Reply:
        """Load the page of a form, fill it in and send it; a redirect is not followed.

        With `times` above 1 it is sent again after a cut connection, with a token of a fresh
        page: only for what the site recognises as the same.
        """
        for turn in range(times):
            page = self.get(form or path)
            token = _TOKEN.search(page.text)
            filled = {**fields, "csrf": html.unescape(token[1]) if token else ""}
            body, kind = encoded(filled, file)
            try:
                return self.send("POST", path, body, {"Content-Type": kind})
            except CutError:
                if turn + 1 == times:
                    raise
        raise CutError(path)


def encoded(
    fields: Mapping[str, str | Sequence[str]], file: tuple[str, str, bytes] | None
) -> tuple[bytes, str]:
    """A filled-in form as a browser sends it; `file` is its field, name and content."""
    if file is None:
        return urllib.parse.urlencode(
            fields, doseq=True
        ).encode(), "application/x-www-form-urlencoded"
    border = "cranfield-rehearsal-border"
    parts = [
        f'--{border}\r\nContent-Disposition: form-data; name="{k}"\r\n\r\n{v}\r\n'.encode()
        for k, v in fields.items()
    ]
    name, called, content = file
    head = f'--{border}\r\nContent-Disposition: form-data; name="{name}"; filename="{called}"\r\n'
    parts.append(head.encode() + b"Content-Type: application/octet-stream\r\n\r\n" + content)
    parts.append(f"\r\n--{border}--\r\n".encode())
    return b"".join(parts), f"multipart/form-data; boundary={border}"


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
    """`cranfield site serve` on a folder, in a process group of its own."""

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


_SECRET = re.compile(r"<code>(cf_[A-Za-z0-9_-]+)</code>")
_WAIT, _COMMAND = 300.0, 1800.0


class RehearsalError(CranfieldError):
    """Something that the rehearsal needs did not happen."""


@dataclass
class ReceiptLog:
    """What the site said it has: receipts of runs by task, team and tag."""

    receipts: dict[tuple[str, str, str], dict[str, Any]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, part: RunPart, receipt: dict[str, Any]) -> None:
        with self.lock:
            self.receipts[part.task, part.team.acronym, part.tag] = receipt


class Stage:
    """A site with one campaign, and the people who act on it."""

    def __init__(self, folder: Path, world: World, database: str = "") -> None:
        self.folder, self.world, self.database = folder, world, database
        self.witness = Witness(tuple(c.encode() for c in world.canaries))
        # On PostgreSQL two processes share the store: clients get one or the other in turn.
        self.servers = [
            Server(folder / "site", self.witness, database, number)
            for number in range(1, 3 if database else 2)
        ]
        self._ports = itertools.cycle([server.port for server in self.servers])
        self.acknowledged = ReceiptLog()
        self.tokens: dict[str, str] = {}
        self.organiser = Client(self.server.port, self.witness)
        self.programs = 4
        self._assessors = 0
        self._chaos = threading.Lock()

    # ---- the site

    @property
    def server(self) -> Server:
        """The process that the organiser speaks with."""
        return self.servers[0]

    @property
    def kills(self) -> int:
        """How often a process of the site was killed."""
        return sum(server.kills for server in self.servers)

    @property
    def most_memory(self) -> int:
        """The most that one of its processes has used, in bytes."""
        return max(server.measure() for server in self.servers)

    def open(self) -> None:
        """Make the collection, import it, start the site and let the organiser in."""
        collection = self.world.write(self.folder / "collection")
        self.run("campaign", "import", collection, "--to", self.server.folder, *self.at_database())
        for server in self.servers:
            server.start()
        self.organiser.fill_in(
            "/login", {"login": "organiser", "password": self.server.password}, times=5
        )
        if self.organiser.get(f"/{NAME}/organise").status != 200:
            raise RehearsalError("the organiser cannot log in")

    def at_database(self) -> list[str]:
        return ["--db", self.database] if self.database else []

    def run(self, *words: str | Path) -> str:
        """A command of Cranfield's; an error ends the rehearsal."""
        result = subprocess.run(
            command(*words), capture_output=True, text=True, check=False, timeout=_COMMAND
        )
        if result.returncode:
            output = (result.stderr or result.stdout).strip()[-500:]
            raise RehearsalError(f"cranfield {' '.join(map(str, words))}: {output}")
        return result.stdout

    def restart(self) -> None:
        """A power cut in the middle of everything."""
        with self._chaos:
            server = self.servers[self.kills % len(self.servers)]
            server.kill()
            server.start()

    def kill_child(self) -> bool:
        """Kill a scoring child, if there is one at work."""
        return any(server.kill_child() for server in self.servers)

    def stop(self) -> None:
        for server in self.servers:
            server.stop()

    def client(self, token: str = "") -> Client:
        return Client(next(self._ports), self.witness, token=token)

    def settle(self) -> None:
        """Wait until every process sees what one has changed: facts are kept for a moment."""
        if len(self.servers) > 1:
            time.sleep(1.1 * Memory.SECONDS)

    # ---- the organiser

    def settings(self, **changes: str) -> None:
        page = self.organiser.get(f"/{NAME}/organise/settings").text
        fields = _filled(page) | changes
        reply = self.organiser.fill_in(f"/{NAME}/organise/settings", fields, times=5)
        if reply.status != 303:
            raise RehearsalError(f"the settings were not taken: {words(reply)}")
        self.settle()

    def move(self, state: str, reason: str = "", *, patience: float = _WAIT) -> None:
        """Take the campaign to a state, waiting for what its guards want."""
        until = time.monotonic() + patience
        while True:
            reply = self.organiser.fill_in(
                f"/{NAME}/organise/state",
                {"to": state, "reason": reason, "sure": "yes"},
                form=f"/{NAME}/organise",
                times=5,
            )
            if self.state() == state:
                self.settle()
                return
            self._try_again()
            if time.monotonic() > until:
                raise RehearsalError(f"the campaign does not become {state}: {words(reply)}")
            time.sleep(0.3)

    def _try_again(self) -> None:
        """What an organiser does with jobs that were given up, once the reason is gone."""
        board = f"/{NAME}/organise"
        for path in re.findall(
            rf'action="({board}/jobs/[^"]+/retry)"', self.organiser.get(board).text
        ):
            self.organiser.fill_in(path, {}, form=board, times=5)

    def state(self) -> str:
        return str(self.organiser.get(f"/api/v1/campaigns/{NAME}").json()["state"])

    def confirm(self) -> None:
        self.organiser.fill_in("/confirm", {"password": self.server.password}, times=5)

    def new_truth(self, task: str, name: str, content: bytes, note: str) -> None:
        self.confirm()
        reply = self.organiser.fill_in(
            f"/{NAME}/organise/truth",
            {"task": task, "note": note},
            form=f"/{NAME}/organise",
            file=("file", name, content),
            times=5,
        )
        if reply.status != 303:
            raise RehearsalError(f"the new truth was not taken: {words(reply)}")

    def pseudonym(self, kind: str) -> str:
        """What the site calls the next assessor: all are numbered as they come."""
        self._assessors += 1
        return f"{kind}-{self._assessors:03d}"

    # ---- teams

    def register(self, team: TeamPart, *, with_token: bool) -> None:
        browser = self.client()
        fields = {
            "login": team.login,
            "person": f"Lead of {team.name}",
            "password": team.password,
            "acronym": team.acronym,
            "name": team.name,
            "country": team.country,
            "reference": "",
            "signature": f"Lead of {team.name}",
        }
        reply = browser.fill_in(f"/{NAME}/register", fields)
        if reply.status != 303:
            raise RehearsalError(f"{team.acronym} cannot register: {words(reply)}")
        browser.fill_in("/login", {"login": team.login, "password": team.password}, times=5)
        if with_token:
            page = browser.fill_in(
                f"/{NAME}/team/tokens", {"label": "rehearsal"}, form=f"/{NAME}/team"
            )
            match = _SECRET.search(page.text)
            if match is None:
                raise RehearsalError(f"{team.acronym} gets no token: {words(page)}")
            self.tokens[team.acronym] = html.unescape(match[1])

    def submit(self, part: RunPart, *, by_page: bool = False) -> Reply:
        """Send a run until an answer comes; sent twice it is the same run."""
        if by_page:
            return self._submit_by_page(part)
        program = self.client(self.tokens[part.team.acronym])
        query = _query(
            conf=part.configuration,
            about=part.description,
            threshold=part.threshold,
            ending=part.ending.removesuffix(".gz"),
        )
        path = f"/api/v1/tasks/{NAME}.{part.task}/runs/{part.tag}?{query}"
        key = {"Idempotency-Key": f"{part.team.acronym}-{part.task}-{part.tag}"}
        reply = program.again(lambda: program.send("PUT", path, part.content, key))
        if reply.status == 201:
            self.acknowledged.run(part, reply.json())
        return reply

    def _submit_by_page(self, part: RunPart) -> Reply:
        browser = self.client()
        browser.fill_in(
            "/login", {"login": part.team.login, "password": part.team.password}, times=5
        )
        fields = {
            "task": part.task,
            "tag": part.tag,
            "configuration": part.configuration,
            "description": part.description,
            "features": "",
            "classifier": "",
            "threshold": part.threshold,
            "do": "submit",
        }
        file = ("file", f"{part.tag}{part.ending}", part.content)
        reply = browser.fill_in(f"/{NAME}/submit", fields, file=file, times=5)
        if reply.status == 303:
            run = reply.headers["location"].rsplit("/", 1)[1]
            own_runs = self.client(self.tokens[part.team.acronym]).get(
                f"/api/v1/tasks/{NAME}.{part.task}/runs"
            )
            receipt: dict[str, Any] = next(
                (r for r in own_runs.json()["runs"] if r["id"] == run), {}
            )
            self.acknowledged.run(part, receipt)
        return reply

    def together(self, acts: Sequence[Callable[[], Any]]) -> list[Any]:
        """Several at once, as people do."""
        with ThreadPoolExecutor(self.programs) as pool:
            return [future.result() for future in [pool.submit(act) for act in acts]]


def soon(seconds: float) -> str:
    """A time from now on, as the form of the settings takes it."""
    return (datetime.now(UTC) + timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%S")


def _query(**values: str) -> str:
    from urllib.parse import urlencode

    return urlencode({k: v for k, v in values.items() if v})


def _filled(page: str) -> dict[str, str]:
    """What a form already says: inputs and text areas."""
    fields = {
        html.unescape(name): html.unescape(value)
        for name, value in re.findall(r'<input[^>]*name="([^"]+)"[^>]*value="([^"]*)"', page)
    }
    for name, value in re.findall(
        r'<textarea[^>]*name="([^"]+)"[^>]*>(.*?)</textarea>', page, flags=re.DOTALL
    ):
        fields[html.unescape(name)] = html.unescape(value.removeprefix("\n"))
    return fields


def words(reply: Reply) -> str:
    """What a page complains of, without its tags."""
    alerts = re.findall(r'role="alert"[^>]*>(.*?)</', reply.text, flags=re.DOTALL) or [reply.text]
    text = " ".join(re.sub(r"<[^>]+>", " ", part) for part in alerts)
    return f"{reply.status} {' '.join(html.unescape(text).split())[-400:]}"
