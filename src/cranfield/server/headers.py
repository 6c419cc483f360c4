"""What every answer of the site carries: a policy that lets nothing in from elsewhere."""

from __future__ import annotations

import hashlib
import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

API = "/api/v1/"
MINUTE = 60.0
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; font-src 'self'; "
    "connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
)
# Style and script are the same for all users.
SHARED = "public, max-age=3600"
ALWAYS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class SecurityHeaders:
    """Adds the headers to every answer; what is not said to be kept is not kept."""

    def __init__(self, app: ASGIApp, *, secure: bool) -> None:
        self.app, self.secure = app, secure

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in ALWAYS.items():
                    headers[name] = value
                shared = scope["path"].startswith("/static/")
                headers.setdefault("Cache-Control", SHARED if shared else "no-store")
                if self.secure:
                    headers["Strict-Transport-Security"] = "max-age=31536000"
            await send(message)

        await self.app(scope, receive, sending)


class RateLimit:
    """Counts requests to the interface by token, or by address, in windows of a minute.

    What comes with a token that is none counts for its address: tokens that are made up, another
    one each time, help nobody. Every answer says in its headers how many are allowed, how many are
    left, and in how many seconds the next window begins; too many are answered with 429.
    """

    def __init__(self, app: ASGIApp, *, per_minute: int) -> None:
        self.app, self.per_minute = app, per_minute
        self._window, self._counts = 0, dict[str, int]()
        self._failures = dict[str, int]()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(API):
            await self.app(scope, receive, send)
            return
        now = time.monotonic()
        window = int(now // MINUTE)
        if window != self._window:
            self._window, self._counts, self._failures = window, {}, {}
        key, address = _keys(scope)
        count = self._counts[key] = self._counts.get(key, 0) + 1
        if key != address:
            count = max(count, self._failures.get(address, 0) + 1)
        limits = {
            "RateLimit-Limit": str(self.per_minute),
            "RateLimit-Remaining": str(max(0, self.per_minute - count)),
            "RateLimit-Reset": str(int((window + 1) * MINUTE - now) + 1),
        }

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(limits)
                if message["status"] == 401 and key != address:
                    self._failures[address] = self._failures.get(address, 0) + 1
                    self._counts.pop(key, None)
            await send(message)

        if count > self.per_minute:
            content = '{"title": "Too many requests", "status": 429, "detail": "too many requests"}'
            refusal = Response(
                content,
                429,
                {"Retry-After": limits["RateLimit-Reset"]},
                "application/problem+json",
            )
            await refusal(scope, receive, sending)
            return
        await self.app(scope, receive, sending)


def _keys(scope: Scope) -> tuple[str, str]:
    """Under what a request is counted, and its address: the same for one without a token."""
    token = Headers(scope=scope).get("authorization", "")
    address = (scope.get("client") or ("",))[0]
    hashes = [hashlib.sha256(text.encode()).hexdigest() for text in (token or address, address)]
    return hashes[0], hashes[1]
