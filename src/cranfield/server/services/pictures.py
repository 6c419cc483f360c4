"""Pictures of items as assessors see them: from the public part of a campaign, one by one."""

from __future__ import annotations

import base64
from functools import lru_cache
from pathlib import Path

from cranfield.campaign.sheet_maker import views_of


@lru_cache(maxsize=2000)
def picture_of(folder: Path, item: str) -> tuple[bytes, str] | None:
    """The bytes of an item's picture and their media type; None where there is none."""
    _, shown = views_of([item], collection=folder)
    if item not in shown:
        return None
    head, _, data = shown[item].partition(",")
    media = head.removeprefix("data:").removesuffix(";base64")
    return base64.b64decode(data), media
