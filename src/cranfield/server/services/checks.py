"""Checks of uploads inside their requests, against what is public and nothing else.

A small file is read here. One that may be large is read by a child within limits, so that the
memory of the site does not grow with what comes in, and no file can take it along.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from cranfield.campaign.submissions import Checked, Problem, PublicSet, check_submission
from cranfield.io.files import Caps, Input
from cranfield.server.context import Context
from cranfield.server.jobs.nursery import Nursery
from cranfield.server.services.submissions import Submission
from cranfield.server.services.uploads import Upload
from cranfield.server.thresholds import threshold_of

# Headers and blank lines, and how many bytes a line has at most on the average.
SPARE_LINES, WIDEST_LINE = 1000, 512
ALWAYS_READ = 8 << 20
# What is read here, plain and packed.
SMALL, SMALL_PACKED = 1 << 20, 1 << 16
CHILD, ATTEMPTS = "cranfield.server.jobs.checking", 3


class Checks:
    """Reads uploads, a few at a time; the public sets of tasks are read once."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._turns = threading.Semaphore(context.settings.limits.checks_at_once)
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
        self, upload: Upload, given: Submission, task_row: Mapping[str, Any], slug: str
    ) -> Checked:
        """What is wrong with an upload, and how much is in it."""
        name = f"{given.tag}{given.ending}{upload.packing}"
        public = self.public(task_row, slug)
        caps = caps_of(public, self.context.settings.limits.unpacked_bytes)
        threshold = threshold_of(given.threshold)
        source = Input(name, upload.path.absolute(), caps)
        with self._turns:
            if upload.size <= (SMALL_PACKED if upload.packing else SMALL):
                return check_submission(source, public, threshold=threshold, name=given.tag)
            return self._by_child(source, given.tag, threshold, public, slug)

    def _by_child(
        self, source: Input, tag: str, threshold: Any, public: PublicSet, slug: str
    ) -> Checked:
        name = source.name
        settings = self.context.settings
        wanted = {
            "kind": "check",
            "name": name,
            "path": str(source.path),
            "caps": asdict(source.caps),
            "public": str((settings.public / slug).absolute()),
            "task": public.kind,
            "threshold": threshold,
            "tag": tag,
        }
        for _ in range(ATTEMPTS):
            with Nursery(settings, CHILD) as nursery:
                said = nursery.run(wanted)
            if not said.get("again"):  # nobody killed it
                break
        if "error" in said:
            problem = Problem(name, 0, f"cannot be checked: {said['error']}")
            return Checked(name, tag, public.kind, (problem,), 1)
        return Checked(
            name,
            tag,
            public.kind,
            problems=tuple(Problem(*one) for one in said["problems"]),
            count=said["count"],
            lines=said["lines"],
            units=said["units"],
            missing=tuple(said["missing"]),
            notes=tuple(said["notes"]),
        )


def caps_of(public: PublicSet, most: int) -> Caps:
    """The most that is read of a submission: no more than the public ids can fill.

    A file that is small when packed and huge when unpacked is given up early.
    """
    units = (
        (public.topics, public.items)
        if public.kind == "ranked"
        else (public.items, public.concepts)
    )
    if units[0] is None or units[1] is None:
        return Caps(unpacked_bytes=most)
    lines = len(units[0]) * max(2, len(units[1])) + SPARE_LINES
    widest = max(ALWAYS_READ, lines * WIDEST_LINE)
    return Caps(unpacked_bytes=min(most, widest), lines=lines)
