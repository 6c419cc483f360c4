"""How requests are parsed: by llhttp, with an end to what may come before the body."""

from __future__ import annotations

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MOST_HEAD = 64 * 1024
TOO_LONG = "The head of the request is too long."


class BoundedHeads(HttpToolsProtocol):
    """The parser itself would keep addresses and headers of any length in memory."""

    _open = _new = False
    _waited = 0

    def data_received(self, data: bytes) -> None:
        self._new = False
        super().data_received(data)
        # The piece in which a head begins may hold the body before it as well: it does not count.
        self._waited = self._waited + len(data) if self._open and not self._new else 0
        if self._waited > MOST_HEAD and not self.transport.is_closing():
            self.send_400_response(TOO_LONG)

    def on_message_begin(self) -> None:
        self._open = self._new = True
        super().on_message_begin()

    def on_headers_complete(self) -> None:
        self._open = False
        super().on_headers_complete()
