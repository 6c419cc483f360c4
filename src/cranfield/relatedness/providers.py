"""Hit counts from a live source: a search engine or a photo site, asked gently and only once.

A provider is anything with `total` and `hits(*terms)`. This file has one for services that answer
a web address with JSON, and two wrappers: one that waits between questions, one that remembers
the answers in a file, so that a study can be repeated when the service has changed or gone.
"""

from __future__ import annotations

import datetime
import json
import time
import urllib.parse
import urllib.request
from collections.abc import Callable
from http.client import HTTPException
from pathlib import Path
from typing import Any

from cranfield.data.counts import Snapshot, term_of
from cranfield.errors import InputError, NeedsError
from cranfield.io.counts import read_counts, write_counts
from cranfield.io.provider import ProviderSettings, read_provider
from cranfield.relatedness.counts import HitCounts

Fetch = Callable[[str], bytes]

_TIMEOUT = 30.0
# An answer with a number of hits is short, however many results it lists.
_MOST_BYTES = 4 << 20


class UrlProvider:
    """A service that answers a web address with JSON that holds the number of hits."""

    def __init__(self, settings: ProviderSettings, *, fetch: Fetch | None = None) -> None:
        self.name, self.total = settings.name, settings.total
        self._url, self._join = settings.url, settings.join
        self._count = settings.count.split(".")
        self._fetch = fetch or _download

    def hits(self, *terms: str) -> int:
        query = urllib.parse.quote(self._join.join(map(term_of, terms)), safe="")
        try:
            data = self._fetch(self._url.replace("{query}", query))
            if len(data) > _MOST_BYTES:
                raise NeedsError(
                    f"the answer of {self.name} for {' and '.join(terms)} has more than "
                    f"{_MOST_BYTES:,} bytes, the most that is read"
                )
            answer: Any = json.loads(data)
            for key in self._count:
                answer = answer[int(key)] if isinstance(answer, list) else answer[key]
            count = int(answer)
        except (OSError, HTTPException) as error:
            raise NeedsError(f"{self.name} does not answer: {error}") from None
        except RecursionError:
            raise NeedsError(
                f"the answer of {self.name} for {' and '.join(terms)} is nested too deep"
            ) from None
        except (ValueError, KeyError, IndexError, TypeError, OverflowError):
            raise NeedsError(
                f"the answer of {self.name} for {' and '.join(terms)} has no number at "
                f"{'.'.join(self._count)}"
            ) from None
        if not 0 <= count <= self.total:
            raise NeedsError(
                f"{self.name} counts {count} for {' and '.join(terms)}, expected 0 to "
                f"{self.total}, the total of its file; set total to the size of the corpus"
            )
        return count


def _download(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=_TIMEOUT) as answer:
        # One byte more tells that there is more.
        data: bytes = answer.read(_MOST_BYTES + 1)
    return data


class RateLimited:
    """A provider that is asked at most once in `seconds`."""

    def __init__(
        self,
        provider: HitCounts,
        *,
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._provider, self._seconds = provider, seconds
        self._clock, self._sleep = clock, sleep
        self._next = -float("inf")

    @property
    def total(self) -> int:
        return self._provider.total

    def hits(self, *terms: str) -> int:
        wait = self._next - self._clock()
        if wait > 0:
            self._sleep(wait)
        self._next = self._clock() + self._seconds
        return self._provider.hits(*terms)


class Remembered:
    """A provider whose answers are kept in a counts file, and asked for only once.

    `save` writes the file; it is written even when the provider fails half-way, so that the
    next attempt goes on from there.
    """

    def __init__(self, provider: HitCounts, path: str | Path, *, source: str) -> None:
        self._provider, self._path, self._source = provider, Path(path), source
        known = read_counts(path) if self._path.exists() else None
        if known and known.total != provider.total:
            raise InputError.single(
                str(path),
                f"counts of a corpus of {known.total}, but {source} has "
                f"{provider.total} now; start a new file for its counts",
            )
        self._single: dict[str, int] = dict(known.single) if known else {}
        self._joint: dict[frozenset[str], int] = dict(known.joint) if known else {}
        self._date = known.date if known else datetime.date.today().isoformat()
        self.total = provider.total

    def hits(self, *terms: str) -> int:
        names = frozenset(map(term_of, terms))
        if len(names) == 1:
            (name,) = names
            if name not in self._single:
                self._single[name] = self._provider.hits(name)
            return self._single[name]
        if names not in self._joint:
            self._joint[names] = self._provider.hits(*sorted(names))
        return self._joint[names]

    def save(self) -> None:
        if self._single:
            write_counts(
                Snapshot(self.total, self._single, self._joint, self._source, self._date),
                self._path,
            )


def remembered_provider(path: str | Path, *, remember: str | Path) -> Remembered:
    """The provider that a TOML file describes, asked gently, its answers kept in a counts file."""
    settings = read_provider(path)
    gentle = RateLimited(UrlProvider(settings), seconds=settings.seconds)
    return Remembered(gentle, remember, source=settings.name)
