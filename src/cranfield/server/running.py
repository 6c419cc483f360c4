"""Running the site: one process, closed to the network unless told otherwise."""

from __future__ import annotations

import logging
import sys
from typing import TextIO

from cranfield.server.app import make_app
from cranfield.server.services.site import FIRST, ensure_organiser, open_site
from cranfield.server.settings import Settings

SWITCH_SECONDS = 0.0005


def run(settings: Settings, *, demo: bool = False, out: TextIO | None = None) -> None:
    """Open the site, say how to get in, and answer requests until it is stopped."""
    import uvicorn

    from cranfield.server.protocol import BoundedHeads

    said = out or sys.stdout
    context = open_site(settings)
    password = ensure_organiser(context)
    if demo:
        from cranfield.server.services.demo import ensure_demo

        ensure_demo(context)
    if password is not None:
        said.write(f"organiser's login: {FIRST}\npassword (shown once): {password}\n")
    said.write(f"serving {settings.folder} at http://{settings.host}:{settings.port}/\n")
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
