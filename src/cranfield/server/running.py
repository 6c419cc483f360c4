"""Running the site: one process, closed to the network unless told otherwise."""

from __future__ import annotations

import ipaddress
import logging
import os
import socket
import sys
from typing import Any, TextIO
from urllib.parse import urlsplit

from cranfield.errors import UsageError, os_message
from cranfield.server.app import make_app
from cranfield.server.services.site import FIRST, ensure_organiser, open_site
from cranfield.server.settings import OTHERS, Settings

SWITCH_SECONDS = 0.0005
LAST_PORT = 65535


def run(settings: Settings, *, demo: bool = False, out: TextIO | None = None) -> None:
    """Open the site, say how to get in, and answer requests until it is stopped."""
    import uvicorn

    from cranfield.server.protocol import BoundedHeads

    said = out or sys.stdout
    # Before anything is made: a password that is shown once belongs to a site that is served.
    _check_place(settings)
    os.umask(OTHERS)
    context = open_site(settings)
    password = ensure_organiser(context)
    if demo:
        from cranfield.server.services.demo import ensure_demo

        ensure_demo(context)
    if password is not None:
        said.write(f"organiser's login: {FIRST}\npassword (shown once): {password}\n")
    said.write(f"serving {settings.folder} at http://{settings.host}:{settings.port}/\n")
    if settings.address:
        said.write(f"links begin with {settings.public_address}/\n")
    said.flush()
    # The thread that writes gives way at every statement; it waits this long to go on.
    sys.setswitchinterval(SWITCH_SECONDS)
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(name)s %(message)s")
    uvicorn.run(
        make_app(settings, context),
        http=BoundedHeads,
        host=settings.host,
        port=settings.port,
        proxy_headers=settings.proxy is not None,
        forwarded_allow_ips=settings.proxy or "",
        log_level="warning",
        server_header=False,
        timeout_keep_alive=10,
        # Who sends slowly does not keep the site from stopping.
        timeout_graceful_shutdown=10,
    )


def _check_place(settings: Settings) -> None:
    """A UsageError where nothing can listen, or where the proxy to trust is no single address."""
    if not 0 <= settings.port <= LAST_PORT:
        raise UsageError(f"port={settings.port} is not from 1 to {LAST_PORT}")
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
    try:
        for family, place in _places(settings.host, settings.port):
            with socket.socket(family, socket.SOCK_STREAM) as trial:
                trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                trial.bind(place)
    except OSError as error:
        raise UsageError(f"{settings.host}:{settings.port}: {os_message(error)}") from None


def _places(host: str, port: int) -> list[tuple[socket.AddressFamily, tuple[Any, ...]]]:
    """Where to listen; only a name is looked up, of which others may hear."""
    try:
        six = ipaddress.ip_address(host).version == 6
    except ValueError:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        return [(family, place) for family, _, _, _, place in found]
    return [(socket.AF_INET6 if six else socket.AF_INET, (host, port))]
