"""What travels between a study and its workers, and what says that it is the same study."""

from __future__ import annotations

import hashlib
import math
import pickle
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache, wraps
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from cranfield._lazy import np
from cranfield.errors import UsageError

if TYPE_CHECKING:
    from numpy.typing import NDArray

P = ParamSpec("P")
T = TypeVar("T")


def numbers(values: Iterable[float]) -> list[float | None]:
    """Plain numbers for JSON, None for NaN."""
    return [None if math.isnan(v) else float(v) for v in values]


def floats(values: Any) -> NDArray[np.float64]:
    """The way back: None becomes NaN at any depth."""
    return np.array(values, dtype=np.float64)


def cache_answers(size: int) -> Callable[[Callable[P, T]], Callable[P, T]]:
    """A cache of `size` answers that makes threads wait for one of them, not all make it."""

    def around(make: Callable[P, T]) -> Callable[P, T]:
        cached, turn = lru_cache(maxsize=size)(make), RLock()

        @wraps(make)
        def answer(*args: P.args, **kwargs: P.kwargs) -> T:
            with turn:
                return cached(*args, **kwargs)  # type: ignore[arg-type]

        return answer

    return around


def stamp(source: Any) -> Any:
    """A file with its size and time of change, or what an object holds."""
    if isinstance(source, str | Path):
        path = Path(source)
        if is_existing_file(path):
            facts = path.stat()
            return [str(path.resolve()), facts.st_size, facts.st_mtime_ns]
        return str(source)
    if source is None or isinstance(source, int | float | bool):
        return source
    if isinstance(source, tuple):
        return [stamp(s) for s in source]
    return _Content(source)


@dataclass(frozen=True, slots=True)
class _Content:
    """Says what an object holds, when it is asked: only a study with a folder needs to know."""

    source: Any

    def __str__(self) -> str:
        try:
            data = pickle.dumps(self.source)
        except Exception:
            raise UsageError(
                f"a study with a folder cannot describe this {type(self.source).__name__}; "
                "give files, or leave the folder out"
            ) from None
        return f"{type(self.source).__name__} {hashlib.sha256(data).hexdigest()}"


def is_existing_file(name: str | Path) -> bool:
    """Whether there is a file of this name; a text too long for a name is none."""
    try:
        return Path(name).is_file()
    except OSError:
        return False


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
    if not is_existing_file(source) and equals and is_existing_file(file):
        return f"{name}={Path(file).absolute()}"
    return str(Path(source).absolute()) if is_existing_file(source) else source
