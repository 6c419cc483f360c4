"""Running the site: one process, closed to the network unless told otherwise."""

from __future__ import annotations

import ipaddress
import logging
import os
import socket
import sys
from contextlib import suppress
from dataclasses import replace
from typing import Any, TextIO
from urllib.parse import urlsplit

from cranfield._process import show_logs_plainly
from cranfield.errors import UsageError, os_message
from cranfield.server.app import make_app
from cranfield.server.services.site import FIRST_LOGIN, ensure_organiser, open_site
from cranfield.server.settings import OTHERS, Settings

SWITCH_SECONDS = 0.0005
LAST_PORT = 65535
# As uvicorn has them: how many connections may wait, and the exit code of a failed start.
BACKLOG = 2048
STARTUP_FAILURE = 3


def run(settings: Settings, *, demo: bool = False, out: TextIO | None = None) -> None:
    """Open the site, say how to get in, and answer requests until it is stopped."""
    if settings.smtp:
        from cranfield.server.services.mail import check_smtp, checked_email

        check_smtp(settings.smtp)
        checked_email(settings.mail_from)
        if not settings.address and settings.proxy is not None:
            raise UsageError("links in mail need address=, such as https://campaign.example.org")
    # Before anything is made: a password that is shown once belongs to a site that is served.
    listening = _open_sockets(settings)
    # Where the system was to choose a port, links begin with the one that it chose.
    settings = replace(settings, port=listening[0].getsockname()[1])
    try:
        _run(settings, listening, demo=demo, out=out or sys.stdout)
    finally:
        for opened in listening:
            opened.close()


def _run(settings: Settings, listening: list[socket.socket], *, demo: bool, out: TextIO) -> None:
    import uvicorn

    from cranfield.server.protocol import BoundedHeads

    os.umask(OTHERS)
    context = open_site(settings)
    password = ensure_organiser(context)
    if demo:
        from cranfield.server.services.demo import ensure_demo

        ensure_demo(context, lambda line: print(line, file=out, flush=True))
    if password is not None:
        out.write(f"organiser's login: {FIRST_LOGIN}\npassword (shown once): {password}\n")
    # Early connections wait until the server is ready: its sockets listen already.
    out.write(f"serving {settings.folder} at http://{settings.host}:{settings.port}/\n")
    if settings.address:
        out.write(f"links begin with {settings.public_address}/\n")
    out.flush()
    # The thread that writes gives way at every statement; it waits this long to go on.
    sys.setswitchinterval(SWITCH_SECONDS)
    show_logs_plainly()
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    config = uvicorn.Config(
        make_app(settings, context),
        http=BoundedHeads,
        proxy_headers=settings.proxy is not None,
        forwarded_allow_ips=settings.proxy or "",
        log_level="warning",
        server_header=False,
        timeout_keep_alive=10,
        # A slow client does not keep the site from stopping.
        timeout_graceful_shutdown=10,
    )
    server = uvicorn.Server(config)
    # As uvicorn.run does, which takes no sockets that listen already.
    with suppress(KeyboardInterrupt):
        server.run(sockets=listening)
    if not server.started:
        sys.exit(STARTUP_FAILURE)


def _open_sockets(settings: Settings) -> list[socket.socket]:
    """The sockets of the site's address.

    A UsageError where nothing can listen, or where the proxy to trust is no single address.
    """
    if not 0 <= settings.port <= LAST_PORT:
        raise UsageError(f"port={settings.port} is not from 0 to {LAST_PORT}")
    parts = urlsplit(settings.address)
    is_plain = not (parts.query or parts.fragment or parts.path.strip("/") or parts.username)
    if settings.address and not (parts.scheme in ("http", "https") and parts.hostname and is_plain):
        raise UsageError(
            f"address={settings.address!r} is not the beginning of links, such as "
            "https://campaign.example.org"
        )
    if settings.proxy is not None:
        try:
            ipaddress.ip_address(settings.proxy)
        except ValueError:
            raise UsageError(
                f"behind_proxy={settings.proxy!r} is not one address, such as 127.0.0.1"
            ) from None
    listening: list[socket.socket] = []
    try:
        for family, address in _socket_addresses(settings.host, settings.port):
            # All addresses of a name have the port that the first of them was given.
            port = listening[0].getsockname()[1] if listening else settings.port
            listening.append(
                socket.create_server(
                    (address[0], port, *address[2:]), family=family, backlog=BACKLOG
                )
            )
    except OSError as error:
        for opened in listening:
            opened.close()
        raise UsageError(f"{settings.host}:{settings.port}: {os_message(error)}") from None
    return listening


def _socket_addresses(host: str, port: int) -> list[tuple[socket.AddressFamily, tuple[Any, ...]]]:
    """Where to listen; only a name is looked up, of which others may hear."""
    try:
        six = ipaddress.ip_address(host).version == 6
    except ValueError:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return [(family, address) for family, _, _, _, address in addresses]
    return [(socket.AF_INET6 if six else socket.AF_INET, (host, port))]
