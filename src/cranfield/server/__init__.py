"""The campaign site over HTTP: its store, jobs and routes (extra `server`)."""

from __future__ import annotations

import os
from importlib import import_module
from typing import TYPE_CHECKING, Any

from cranfield.errors import MissingExtraError, UsageError
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
    "markdown_it": "markdown-it-py",
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
    """A MissingExtraError where a package of the site is not installed; a UsageError on Windows."""
    _need_posix()
    for module in PACKAGES:
        try:
            import_module(module)
        except ModuleNotFoundError as error:
            # One of them may need another.
            package = PACKAGES.get(str(error.name))
            if package is None:
                raise
            raise MissingExtraError(package, "server", "The campaign site") from None


def _need_posix() -> None:
    """A UsageError where the system cannot confine the jobs of the site."""
    lacking = [] if hasattr(os, "fork") else ["os.fork"]
    for module in ("fcntl", "resource"):
        try:
            import_module(module)
        except ModuleNotFoundError:
            lacking.append(module)
    if lacking:
        raise UsageError(
            f"The campaign site does not run on this system: it has no {' and no '.join(lacking)}, "
            "which locks files and confines the scoring of runs. On Windows, run it in WSL or in a "
            "container; everything but `site` works as it is."
        )
