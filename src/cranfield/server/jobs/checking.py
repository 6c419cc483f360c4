"""The child that reads a large upload: it knows what is public, and where the upload lies."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from cranfield.server.jobs import sandbox


def check(job_input: dict[str, Any]) -> dict[str, Any]:
    """What is wrong with an upload, as plain values; what was read of it stays here."""
    from cranfield.campaign.submissions import PublicSet, check_submission
    from cranfield.io.collection import read_collection
    from cranfield.io.files import Caps, Input

    public = PublicSet.of(read_collection(job_input["public"]), job_input["task"])
    source = Input(job_input["name"], Path(job_input["path"]), Caps(**job_input["caps"]))
    checked = check_submission(
        source, public, threshold=job_input["threshold"], name=job_input["tag"]
    )
    return {
        "problems": [(problem.file, problem.line, problem.message) for problem in checked.problems],
        "count": checked.count,
        "lines": checked.lines,
        "units": checked.units,
        "missing": checked.missing,
        "notes": checked.notes,
    }


if __name__ == "__main__":
    sandbox.JOB_KINDS["check"] = check
    sandbox.fork_children("cranfield.campaign.submissions", "cranfield.io.collection")
