"""Reads TOML documents."""

from __future__ import annotations

import re
import tomllib
from typing import Any

from cranfield.errors import InputError


def parse_toml(text: str, source_name: str) -> dict[str, Any]:
    """Parse a TOML document; an InputError names the line of a fault."""
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise InputError.single(source_name, "not valid TOML: nested too deep") from None
    except tomllib.TOMLDecodeError as error:
        at = re.search(r"\(at line (\d+)", str(error))
        # An error at the end of the document names no line: it is the last one.
        line = int(at[1]) if at else len(text.splitlines())
        message = re.sub(r" \(at .*", "", str(error))
        raise InputError.single(source_name, f"not valid TOML: {message}", line) from None
