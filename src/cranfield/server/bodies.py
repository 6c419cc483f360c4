"""The limit for bodies of requests; a longer body gets an answer that a browser shows."""

from __future__ import annotations

from starlette.datastructures import FormData, Headers
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from cranfield.server.http import Refusal

FIELDS = 2000


class BodyTooLargeError(Refusal):
    """A request that has more bytes than the site reads."""

    def __init__(self, max_bytes: int) -> None:
        super().__init__(413, f"At most {max_bytes:,} bytes are taken at once.")
        # The fields of a form that came before the limit.
        self.form = FormData()


class BodyLimit:
    """Raises a BodyTooLargeError in the application that reads more than `max_bytes` bytes.

    Of a body that says that it is too long, only as much is read as the fields of a form have.
    A browser shows an answer once it has sent everything, so the rest of a body that is refused
    is read and thrown away, up to `max_bytes` bytes.
    """

    def __init__(self, app: ASGIApp, *, max_bytes: int, fields: int) -> None:
        self.app, self.max_bytes, self.fields = app, max_bytes, fields

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        length = headers.get("content-length", "")
        is_long = length.isdecimal() and int(length) > self.max_bytes
        # A client that asks before sending is answered at once.
        asks = headers.get("expect", "").lower() == "100-continue"
        limit = self.fields if is_long else self.max_bytes
        size, ended = 0, False

        async def read() -> Message:
            nonlocal size, ended
            message = await receive()
            size += len(message.get("body", b""))
            ended = message["type"] != "http.request" or not message.get("more_body", False)
            return message

        async def limited() -> Message:
            if is_long and asks:
                raise BodyTooLargeError(self.max_bytes)
            message = await read()
            if size > limit:
                raise BodyTooLargeError(self.max_bytes)
            return message

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] == 413 and not asks:
                while not ended and size <= 2 * self.max_bytes:
                    await read()
            await send(message)

        await self.app(scope, limited, sending)


async def read_form(request: Request, most_files: int = 1) -> FormData:
    """The fields and the files of a form; a BodyTooLargeError has the fields that came first."""
    if not request.headers.get("content-type", "").startswith("multipart/form-data"):
        return await request.form(max_files=most_files, max_fields=FIELDS)
    stream = request.stream()
    parser = MultiPartParser(request.headers, stream, max_files=most_files, max_fields=FIELDS)
    try:
        return await parser.parse()
    except MultiPartException as error:
        raise HTTPException(400, error.message) from None
    except BodyTooLargeError as error:
        error.form = FormData([pair for pair in parser.items if isinstance(pair[1], str)])
        raise
