"""A browser and a program as the site sees them: plain HTTP to this machine alone."""

from __future__ import annotations

import gzip
import html
import http.client
import io
import json
import re
import tarfile
import threading
import time
import urllib.parse
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

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
