"""The collection that ships with the package: where it is, and a copy to play with."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from cranfield.errors import InputError, os_message

SAMPLE = Path(__file__).resolve().parents[1] / "samples" / "digits"


def copy_sample(target: str | Path) -> Path:
    """Copy the collection to a folder that does not exist yet, whole or not at all."""
    folder = Path(target)
    if folder.exists():
        raise InputError.single(
            str(target), "is there already; give the name of a folder that is not"
        )
    try:
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as draft:
            made = Path(draft) / folder.name
            made.mkdir()
            # Only the contents: an installed package may be read-only, a copy must not be.
            for path in sorted(SAMPLE.rglob("*")):
                to = made / path.relative_to(SAMPLE)
                if path.is_dir():
                    to.mkdir()
                else:
                    shutil.copyfile(path, to)
            made.rename(folder)
    except OSError as error:
        raise InputError.single(str(target), f"cannot be written: {os_message(error)}") from None
    return folder
