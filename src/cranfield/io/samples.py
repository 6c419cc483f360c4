"""The collections that ship with the package: where they are, and a copy to play with."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

from cranfield.errors import InputError, UsageError, os_message, suggest

_SAMPLES = Path(__file__).resolve().parents[1] / "samples"
# Handwritten digits with rankings and annotations, photographs to make runs from, and pages with
# digits on which detectors place boxes.
NAMES = ("digits", "photos", "pages")
SAMPLE = _SAMPLES / "digits"


def sample_folder(name: str) -> Path:
    """Where a collection that ships with the package lies."""
    if name not in NAMES:
        raise UsageError(f"no collection named {name!r}.{suggest(name, NAMES)}")
    return _SAMPLES / name


def copy_sample(target: str | Path, name: str = "digits") -> Path:
    """Copy a collection to a folder that does not exist yet, whole or not at all."""
    source = sample_folder(name)
    folder = Path(target)
    if folder.exists():
        raise InputError.single(
            str(target), "is there already; give the name of a folder that is not"
        )
    try:
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=f".{folder.name}.") as draft:
            draft_folder = Path(draft) / folder.name
            draft_folder.mkdir()
            # Only the contents: an installed package may be read-only, a copy must not be.
            for path in sorted(source.rglob("*")):
                to = draft_folder / path.relative_to(source)
                if path.is_dir():
                    to.mkdir()
                else:
                    shutil.copyfile(path, to)
            draft_folder.rename(folder)
    except OSError as error:
        raise InputError.single(str(target), f"cannot be written: {os_message(error)}") from None
    return folder
