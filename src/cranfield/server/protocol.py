"""How requests are parsed: by llhttp, with an end to heads, and to connections that say nothing."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEAD = 64 * 1024
# Seconds: how long a head may take in all, and how long a body may pause.
HEAD_SECONDS = 20.0
PAUSE_SECONDS = 60.0
TOO_LONG = "The head of the request is too long."
NO_HOST = "A request names its host once."


class BoundedHeads(HttpToolsProtocol):
    """The parser itself would keep addresses and headers of any length in memory.

    Nor does it end a connection that never asks anything, or stops in the middle of a request.
    """

    head_seconds = HEAD_SECONDS
    pause_seconds = PAUSE_SECONDS
    _open = _new = False
    _waited = 0
    _head_bytes = 0
    _fault = ""
    _timer: asyncio.TimerHandle | None = None
    _in_head = False

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._new = False
        super().data_received(data)
        # The piece in which a head begins may hold the body before it as well: it does not count.
        self._waited = self._waited + len(data) if self._open and not self._new else 0
        if self._waited > MOST_HEAD and not self.transport.is_closing():
            self.send_400_response(TOO_LONG)
        self._watch()

    def on_message_begin(self) -> None:
        self._open = self._new = True
        self._head_bytes = 0
        super().on_message_begin()

    def on_url(self, url: bytes) -> None:
        self._count(len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        self._count(len(name) + len(value))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        self._open = False
        hosts = [value for name, value in self.headers if name == b"host"]
        if len(hosts) != 1 or not hosts[0].strip():
            self._refuse(NO_HOST)
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        super().send_400_response(self._fault or msg)

    def _count(self, size: int) -> None:
        """A head may also come in one piece with what follows it."""
        self._head_bytes += size
        if self._head_bytes > MOST_HEAD:
            self._refuse(TOO_LONG)

    def _refuse(self, fault: str) -> None:
        # The parser stops at an exception, and the connection answers 400 and ends.
        self._fault = fault
        raise ValueError(fault)

    @property
    def _between_requests(self) -> bool:
        return self.cycle is None or self.cycle.response_complete

    def _watch(self) -> None:
        """Wait for the rest of a head from its beginning on, for that of a body from now on."""
        if self.transport.is_closing():
            self._stop_timer()
        elif self._open or self._between_requests:
            # Not from every piece on: a head of single letters would never end.
            if self._timer is None or not self._in_head:
                self._start_timer(self.head_seconds)
            self._in_head = True
        else:
            self._in_head = False
            self._stop_timer()
            if self.cycle.more_body:
                self._start_timer(self.pause_seconds)

    def _start_timer(self, seconds: float) -> None:
        self._stop_timer()
        self._timer = self.loop.call_later(seconds, self._nothing_came, seconds)

    def _stop_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _nothing_came(self, seconds: float) -> None:
        self._timer = None
        answering = not self._between_requests and not self.cycle.more_body
        if answering or self.flow.read_paused:
            # It is our turn, not the client's.
            self._start_timer(seconds)
        elif not self.transport.is_closing():
            self.transport.close()
