"""Names of files that hold wherever a worker was started."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def full_path(source: Any) -> Any:
    """The absolute path of a file, also behind a name as in NAME=FILE; other things as they are."""
    if isinstance(source, tuple | list):
        return type(source)(full_path(s) for s in source)
    if isinstance(source, dict):
        return {name: full_path(s) for name, s in source.items()}
    if isinstance(source, Path):
        return source.absolute()
    if not isinstance(source, str):
        return source
    name, equals, file = source.rpartition("=")
    if not Path(source).is_file() and equals and Path(file).is_file():
        return f"{name}={Path(file).absolute()}"
    return str(Path(source).absolute()) if Path(source).is_file() else source
