"""Pictures of items as the site shows them: small, and without metadata."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cranfield.errors import MissingExtraError

if TYPE_CHECKING:
    from cranfield.data.collection import ImageSheet, Texts

LONGEST_SIDE = 320
# Tiny tiles are shown larger, their pixels as squares.
LEAST_SIDE = 64


@dataclass(frozen=True, slots=True)
class DrawnPicture:
    """A picture: its bytes, always PNG, and how large it is shown."""

    data: bytes
    width: int
    height: int


class Pictures:
    """The pictures of a collection, drawn on demand."""

    def __init__(self, texts: Texts) -> None:
        self.texts = texts
        self._sheet: Any = None

    def __contains__(self, item: str) -> bool:
        sheet = self.texts.sheet
        return item in self.texts.pictures or (sheet is not None and item in sheet)

    def size(self, item: str) -> tuple[int, int] | None:
        """How large the picture of an item is shown, where that is known without opening it."""
        sheet = self.texts.sheet
        if item in self.texts.pictures or sheet is None or item not in sheet:
            return None
        return _display_size(sheet.width, sheet.height)

    def draw(self, item: str) -> DrawnPicture | None:
        """The picture of an item without any metadata; None where there is none to be read."""
        if item not in self:
            return None
        from cranfield.features.pictures import BadPictureError, read_picture

        image_module = _pillow()
        path = self.texts.pictures.get(item)
        if path is not None:
            try:
                # Only the pixels: comments, places and texts inside the file stay behind.
                image = image_module.fromarray(read_picture(path).pixels)
            except BadPictureError:
                return None
            image.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
        else:
            image = self._tile(image_module, item)
        packed = io.BytesIO()
        image.save(packed, "PNG", optimize=True)
        return DrawnPicture(packed.getvalue(), *_display_size(*image.size))

    def _tile(self, image_module: Any, item: str) -> Any:
        sheet: ImageSheet = self.texts.sheet  # type: ignore[assignment]
        if self._sheet is None:
            with image_module.open(sheet.path) as opened:
                pixels = opened.convert("RGB" if opened.mode not in ("L", "RGB") else opened.mode)
            self._sheet = pixels
        x, y = sheet.tile(item)
        tile = self._sheet.crop((x, y, x + sheet.width, y + sheet.height))
        clean = image_module.new(tile.mode, tile.size)
        clean.paste(tile)
        return clean


def _display_size(width: int, height: int) -> tuple[int, int]:
    times = max(1, -(-LEAST_SIDE // max(width, height, 1)))
    return width * times, height * times


def _pillow() -> Any:
    try:
        from PIL import Image
    except ModuleNotFoundError:
        raise MissingExtraError("pillow", "images", "A page with pictures of items") from None
    return Image
