"""Pictures as pixels: decoding by Pillow, with a decision for everything that is not plain RGB.

What a camera turned is turned back (EXIF); transparent pixels lie over white; CMYK, palettes and
other colour spaces become RGB without colour profiles; 16 bits become 8 by leaving out the lower
ones; of an animation the first picture counts. A file that cannot be read whole is bad.
"""

from __future__ import annotations

import importlib
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cranfield.errors import MissingExtraError, os_message

if TYPE_CHECKING:
    from PIL import Image

# Formats that are decoded by the library itself: others, such as EPS, start programs.
_FORMATS = "AVIF BMP GIF ICO JPEG JPEG2000 PCX PNG PPM TGA TIFF WEBP"
_ENDINGS = (
    "avif bmp dib gif ico j2k jfif jp2 jpe jpeg jpg mpo pcx pbm pgm png pnm ppm tga tif tiff webp"
)
ENDINGS = frozenset(f".{ending}" for ending in re.split(" ", _ENDINGS))
# As Pillow's own alarm: three bytes of each are a quarter of a gigabyte.
MOST_PIXELS = 89_478_485
_WHITE = (255, 255, 255, 255)


class BadPictureError(Exception):
    """A picture that cannot be described, and why."""


@dataclass(frozen=True)
class DecodedPicture:
    """The pixels of a picture, and what its file says about how it was taken."""

    pixels: NDArray[np.uint8]
    exif: dict[int, Any]


def _pillow() -> Any:
    try:
        return importlib.import_module("PIL.Image")
    except ModuleNotFoundError:
        raise MissingExtraError("pillow", "images", "Reading pictures") from None


@cache
def _formats() -> tuple[str, ...]:
    """The formats that this Pillow was built with."""
    pillow = _pillow()
    pillow.init()
    return tuple(name for name in re.split(" ", _FORMATS) if name in pillow.OPEN)


def read_picture(path: Path, *, most_pixels: int = MOST_PIXELS) -> DecodedPicture:
    """The picture in a file; a BadPictureError says what is wrong with it."""
    pillow = _pillow()
    try:
        if path.stat().st_size == 0:
            raise BadPictureError("is empty (0 bytes)")
        with pillow.open(path, formats=_formats()) as image:
            width, height = image.size
            if width * height > most_pixels:
                raise BadPictureError(_too_large(width, height, most_pixels))
            return _decoded(image)
    except BadPictureError:
        raise
    except pillow.UnidentifiedImageError:
        raise BadPictureError("is not a picture of a known format") from None
    except (pillow.DecompressionBombError, pillow.DecompressionBombWarning):
        raise BadPictureError(_too_large(0, 0, most_pixels)) from None
    except MemoryError:
        raise BadPictureError("does not fit into the memory of this machine") from None
    except OSError as error:
        raise BadPictureError(_reason(error)) from None
    except Exception as error:
        # Decoders fail on damaged files with errors of any kind.
        raise BadPictureError(f"cannot be decoded ({error})") from None


def small_picture(path: Path, side: int) -> Image.Image:
    """The picture in a file, no side longer than `side`; a BadPictureError says why not."""
    small: Image.Image = _pillow().fromarray(read_picture(path).pixels)
    small.thumbnail((side, side))
    return small


def resized(pixels: NDArray[np.uint8], height: int, width: int) -> NDArray[np.uint8]:
    """The picture in another size: its middle, as large as fits the new shape."""
    from PIL import ImageOps

    image = _pillow().fromarray(pixels)
    fitted = ImageOps.fit(image, (width, height), method=_pillow().Resampling.BILINEAR)
    return np.asarray(fitted)


def _too_large(width: int, height: int, limit: int) -> str:
    size = f"{width * height / 1e6:.0f} megapixels" if width else "a size"
    return f"has {size} above the {limit / 1e6:.0f} megapixels that are read (max_pixels=)"


def _reason(error: OSError) -> str:
    if error.errno is not None:
        return os_message(error)
    text = " ".join(str(error).split())
    return f"is damaged ({text})" if text else "is damaged"


def _decoded(image: Image.Image) -> DecodedPicture:
    from PIL import ImageOps

    if getattr(image, "is_animated", False):
        image.seek(0)
    image.load()
    exif = dict(image.getexif()) | dict(image.getexif().get_ifd(0x8769))
    upright = ImageOps.exif_transpose(image)
    pixels = np.ascontiguousarray(_rgb(upright), dtype=np.uint8)
    return DecodedPicture(pixels, exif)


def _rgb(image: Image.Image) -> NDArray[np.uint8]:
    if image.mode in ("I", "F") or image.mode.startswith("I;16"):
        return _eight_bits(image)
    if image.mode in ("RGBA", "LA", "PA", "La", "RGBa") or "transparency" in image.info:
        pillow = _pillow()
        above = image.convert("RGBA")
        return np.asarray(
            pillow.alpha_composite(pillow.new("RGBA", image.size, _WHITE), above).convert("RGB")
        )
    return np.asarray(image.convert("RGB"))


def _eight_bits(image: Image.Image) -> NDArray[np.uint8]:
    """Greys of more than 8 bits: the upper 8 of 16."""
    values = np.asarray(image)
    if image.mode == "F" or values.min() < 0 or values.max() > 65535:
        raise BadPictureError("has pixels of 32 bits, whose black and white are not known")
    # A picture of 8 bits may come in a wider mode.
    deep = image.mode != "I" or values.max() > 255
    grey = (values >> 8 if deep else values).astype(np.uint8)
    return np.repeat(grey[:, :, None], 3, axis=2)
