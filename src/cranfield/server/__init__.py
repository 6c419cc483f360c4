"""The campaign site over HTTP: its store, jobs and routes (extra `server`)."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from cranfield.errors import MissingExtraError
from cranfield.server.settings import Limits, Passwords, Settings

if TYPE_CHECKING:
    from fastapi import FastAPI

    from cranfield.server.context import Context

__all__ = ["Limits", "Passwords", "Settings", "create_app", "need_packages", "serve"]

# What the extra brings, by the name under which it is imported.
PACKAGES = {
    "alembic": "alembic",
    "argon2": "argon2-cffi",
    "fastapi": "fastapi",
    "httptools": "httptools",
    "jinja2": "jinja2",
    "latex2mathml": "latex2mathml",
    "python_multipart": "python-multipart",
    "sqlalchemy": "sqlalchemy",
    "starlette": "starlette",
    "uvicorn": "uvicorn",
}


def create_app(settings: Settings, context: Context | None = None) -> FastAPI:
    """The site of a folder as an application for any ASGI server.

    `context` is the site, if it is open already.
    """
    need_packages()
    from cranfield.server.app import make_app

    return make_app(settings, context)


def serve(settings: Settings, **options: Any) -> None:
    """Run the site until it is stopped."""
    need_packages()
    from cranfield.server.runserver import run

    run(settings, **options)


def need_packages() -> None:
    """A MissingExtraError where a package of the site is not installed."""
    for module in PACKAGES:
        try:
            import_module(module)
        except ModuleNotFoundError as error:
            # One of them may need another.
            package = PACKAGES.get(str(error.name))
            if package is None:
                raise
            raise MissingExtraError(package, "server", "The campaign site") from None
