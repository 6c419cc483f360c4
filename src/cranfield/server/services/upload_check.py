"""Checks of uploads inside their requests, against what is public and nothing else.

A short plain ranking is read here. Whatever is longer, or can unfold, is read by a child within
limits, so that the memory of the site does not grow with what comes in, no file can take it
along, and no team waits for the file of another.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from cranfield.campaign.submissions import CheckedSubmission, Problem, PublicSet, check_submission
from cranfield.errors import CranfieldError
from cranfield.io.files import Caps, Input
from cranfield.server.context import Context
from cranfield.server.jobs.fork_server import ForkServer
from cranfield.server.services.submissions import Submission
from cranfield.server.services.uploads import Upload
from cranfield.server.settings import Limits
from cranfield.server.thresholds import threshold_of

# Headers and blank lines, and how many bytes a line has at most on the average.
SPARE_LINES, WIDEST_LINE = 1000, 512
MIN_READ_BYTES = 8 << 20
# Bytes of a ranking that is read here, and endings of files that are lines of text.
SMALL_BYTES = 1 << 16
TEXT_ENDINGS = (".txt", ".run", ".csv", ".tsv")
CHILD, ATTEMPTS = "cranfield.server.jobs.checking", 3


class BusyError(CranfieldError):
    """A team has as much waiting to be read as it may."""

    def __init__(self) -> None:
        super().__init__("many files of yours wait to be read; send the next one after them")


class _TeamQueue:
    """The uploads of one team that are read or wait for it, one after the other."""

    def __init__(self) -> None:
        self.free = asyncio.Semaphore(1)
        self.count = self.bytes = 0


class CheckQueue:
    """Uploads that wait for a check, outside of the threads that answer, in a queue per team.

    The file of one team is read at a time, so that no team waits for all files of another.
    """

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._free = asyncio.Semaphore(limits.checks_at_once)
        self._lines: dict[str, _TeamQueue] = {}

    @asynccontextmanager
    async def turn(self, team: str, size: int) -> AsyncIterator[None]:
        """Comes when there is a place; a BusyError when too much of the team waits already."""
        line = self._lines.setdefault(team, _TeamQueue())
        many = line.count >= self._limits.waiting_checks
        if many or (line.count and line.bytes + size > self._limits.waiting_bytes):
            raise BusyError
        line.count, line.bytes = line.count + 1, line.bytes + size
        try:
            async with line.free, self._free:
                yield
        finally:
            line.count, line.bytes = line.count - 1, line.bytes - size
            if not line.count:
                del self._lines[team]


class UploadChecker:
    """Reads uploads, a few at a time; the public sets of tasks are read once."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self.turns = CheckQueue(context.settings.limits)
        self._nurseries: list[ForkServer] = []
        self._public: dict[str, PublicSet] = {}
        self._lock = threading.Lock()

    def public(self, task_row: Mapping[str, Any], slug: str) -> PublicSet:
        """What is public of a task, from the folder that teams download."""
        from cranfield.io.collection import read_collection

        with self._lock:
            if task_row["id"] not in self._public:
                collection = read_collection(self.context.settings.public / slug)
                self._public[task_row["id"]] = PublicSet.of(collection, task_row["kind"])
            return self._public[task_row["id"]]

    def forget(self) -> None:
        with self._lock:
            self._public.clear()

    def check(
        self, upload: Upload, submission: Submission, task_row: Mapping[str, Any], slug: str
    ) -> CheckedSubmission:
        """What is wrong with an upload, and how much is in it."""
        public = self.public(task_row, slug)
        if is_small(upload) and submission.ending in TEXT_ENDINGS and public.kind == "ranked":
            source, threshold = (
                self._source(upload, submission, public),
                threshold_of(submission.threshold),
            )
            return check_submission(source, public, threshold=threshold, name=submission.tag)
        return self.check_apart(upload, submission, task_row, slug)

    def check_apart(
        self, upload: Upload, submission: Submission, task_row: Mapping[str, Any], slug: str
    ) -> CheckedSubmission:
        """The same by a child with limits, whatever the upload is."""
        public = self.public(task_row, slug)
        source, threshold = (
            self._source(upload, submission, public),
            threshold_of(submission.threshold),
        )
        return self._by_child(source, submission.tag, threshold, public, slug)

    def _source(self, upload: Upload, submission: Submission, public: PublicSet) -> Input:
        caps = read_caps(public, self.context.settings.limits.unpacked_bytes)
        name = f"{submission.tag}{submission.ending}{upload.packing}"
        return Input(name, upload.path.absolute(), caps)

    def close(self) -> None:
        """End the processes that wait for more to read."""
        with self._lock:
            while self._nurseries:
                self._nurseries.pop().close()

    def _nursery(self) -> ForkServer:
        """One that has nothing to do; its process stays for the next check."""
        with self._lock:
            if self._nurseries:
                return self._nurseries.pop()
        limits = self.context.settings.limits
        return ForkServer(
            self.context.settings, CHILD, memory=limits.check_memory, seconds=limits.check_seconds
        )

    def _by_child(
        self, source: Input, tag: str, threshold: Any, public: PublicSet, slug: str
    ) -> CheckedSubmission:
        name = source.name
        settings = self.context.settings
        job_input = {
            "kind": "check",
            "name": name,
            "path": str(source.path),
            "caps": source.caps._asdict(),
            "public": str((settings.public / slug).absolute()),
            "task": public.kind,
            "threshold": threshold,
            "tag": tag,
        }
        nursery = self._nursery()
        try:
            for _ in range(ATTEMPTS):
                reply = nursery.run(job_input)
                if not reply.get("again"):  # it was not killed
                    break
        finally:
            with self._lock:
                self._nurseries.append(nursery)
        if "error" in reply:
            problem = Problem(name, 0, f"cannot be checked: {reply['error']}")
            return CheckedSubmission(name, tag, public.kind, (problem,), 1)
        return CheckedSubmission(
            name,
            tag,
            public.kind,
            problems=tuple(Problem(*fields) for fields in reply["problems"]),
            count=reply["count"],
            lines=reply["lines"],
            units=reply["units"],
            missing=tuple(reply["missing"]),
            notes=tuple(reply["notes"]),
        )


def is_small(upload: Upload) -> bool:
    """Whether a file is read in a moment."""
    return upload.size <= SMALL_BYTES and not upload.packing


def read_caps(public: PublicSet, byte_limit: int) -> Caps:
    """The most that is read of a submission: no more than the public ids can fill.

    A file that is small when packed and huge when unpacked is given up early.
    """
    if public.kind == "regions":  # an item may have any number of boxes
        return Caps(unpacked_bytes=byte_limit)
    units = (
        (public.topics, public.items)
        if public.kind == "ranked"
        else (public.items, public.concepts)
    )
    if units[0] is None or units[1] is None:
        return Caps(unpacked_bytes=byte_limit)
    lines = len(units[0]) * max(2, len(units[1])) + SPARE_LINES
    widest = max(MIN_READ_BYTES, lines * WIDEST_LINE)
    return Caps(unpacked_bytes=min(byte_limit, widest), lines=lines)
