"""The answers to requests, a module for each part of the site."""

from __future__ import annotations

from importlib import import_module

MODULES = (
    "site",
    "registration",
    "submission",
    "results",
    "organiser",
    "phases",
    "planning",
    "making",
    "people",
    "admin",
    "api",
    "annotation",
    "batches",
)


def load_handlers() -> None:
    """Import every module of handlers; each names its functions in `http.HANDLERS`."""
    for name in MODULES:
        import_module(f"cranfield.server.routes.{name}")
