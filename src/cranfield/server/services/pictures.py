"""Pictures of items as assessors see them: from the public part of a campaign, one by one."""

from __future__ import annotations

import base64
import re
from functools import lru_cache
from pathlib import Path

from cranfield.campaign.annotation_task import SHOWN, views_of
from cranfield.errors import UsageError

_PICTURE_ADDRESS = re.compile(
    rf"data:image/({'|'.join(sorted(set(SHOWN.values())))});base64,[A-Za-z0-9+/=]+"
)


@lru_cache(maxsize=2000)
def picture_of(folder: Path, item: str) -> tuple[bytes, str] | None:
    """The bytes of an item's picture and their media type; None where there is none."""
    _, addresses = views_of([item], collection=folder)
    if item not in addresses:
        return None
    return decode_picture(addresses[item])


def decode_picture(address: str) -> tuple[bytes, str]:
    """The bytes and the media type of a picture that its address holds."""
    head, _, data = address.partition(",")
    return base64.b64decode(data), head.removeprefix("data:").removesuffix(";base64")


def checked_picture(address: str) -> str:
    """An address that holds a picture of a kind that runs no script, or ''; a UsageError else."""
    if address and not _PICTURE_ADDRESS.fullmatch(address):
        raise UsageError("a picture of a survey is PNG, JPEG, GIF or WebP, inside its file")
    return address
