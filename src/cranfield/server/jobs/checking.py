"""The child that reads a large upload: it knows what is public, and where the upload lies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cranfield.server.jobs import child


def check(given: dict[str, Any]) -> dict[str, Any]:
    """What is wrong with an upload, as plain values; what was read of it stays here."""
    from cranfield.campaign.submissions import PublicSet, check_submission
    from cranfield.io.collection import read_collection
    from cranfield.io.files import Caps, Input

    public = PublicSet.of(read_collection(given["public"]), given["task"])
    source = Input(given["name"], Path(given["path"]), Caps(**given["caps"]))
    found = check_submission(source, public, threshold=given["threshold"], name=given["tag"])
    return {
        "problems": [(one.file, one.line, one.message) for one in found.problems],
        "count": found.count,
        "lines": found.lines,
        "units": found.units,
        "missing": found.missing,
        "notes": found.notes,
    }


if __name__ == "__main__":
    child.WORK["check"] = check
    child.nursery("cranfield.campaign.submissions", "cranfield.io.collection")
