"""The child that unpacks and reads a collection that came through a browser."""

from __future__ import annotations

from cranfield.server.jobs import sandbox
from cranfield.server.services.collection_upload import receive

if __name__ == "__main__":
    sandbox.JOB_KINDS["receive"] = receive
    sandbox.fork_children("cranfield.campaign.submissions", "cranfield.io.collection")
