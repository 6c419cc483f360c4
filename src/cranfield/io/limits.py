"""Limits on what is read, where the environment sets them."""

from __future__ import annotations

import os

from cranfield.errors import InputError
from cranfield.io.files import Caps, set_default_caps

# What holds for every input of a command; numbers, or nothing for no limit.
CAPS = {
    "unpacked_bytes": "CRANFIELD_MAX_BYTES",
    "lines": "CRANFIELD_MAX_LINES",
    "line_bytes": "CRANFIELD_MAX_LINE_BYTES",
}


def set_caps_from_environment() -> None:
    """Limits on what is read, where the environment sets them."""
    settings = {field: os.environ.get(name, "").strip() for field, name in CAPS.items()}
    if not any(settings.values()):
        return
    numbers: dict[str, int] = {}
    for field, text in settings.items():
        if text and not (text.isascii() and text.isdecimal() and int(text[:20]) > 0):
            raise InputError.single(CAPS[field], f"{text!r} is not a whole number from 1 on")
        if text:
            numbers[field] = int(text)
    set_default_caps(Caps(**numbers))
