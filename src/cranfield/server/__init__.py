"""The campaign site over HTTP: its store, jobs and routes (extra `server`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cranfield.errors import MissingExtraError
from cranfield.server.settings import Limits, Passwords, Settings

if TYPE_CHECKING:
    from fastapi import FastAPI

    from cranfield.server.context import Context

__all__ = ["Limits", "Passwords", "Settings", "create_app", "serve"]


def create_app(settings: Settings, context: Context | None = None) -> FastAPI:
    """The site of a folder as an application for any ASGI server.

    `context` is the opened site, for who has opened it already.
    """
    _need_packages()
    from cranfield.server.app import make_app

    return make_app(settings, context)


def serve(settings: Settings, **options: Any) -> None:
    """Run the site until it is stopped."""
    _need_packages()
    from cranfield.server.running import run

    run(settings, **options)


def _need_packages() -> None:
    try:
        import argon2  # noqa: F401
        import fastapi  # noqa: F401
        import jinja2  # noqa: F401
        import sqlalchemy  # noqa: F401
    except ModuleNotFoundError as error:
        raise MissingExtraError(str(error.name), "server", "The campaign site") from None
