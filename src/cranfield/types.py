"""Types that every room may use in its annotations; nothing is computed here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

# What can be written as JSON, for payloads that are only built and written.
Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

# An object as `json.loads` returns it; its values are checked where they are read.
JsonObject: TypeAlias = dict[str, Any]
