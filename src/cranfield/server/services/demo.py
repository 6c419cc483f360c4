"""The sample campaign: the collection that ships with the package, open to be clicked through."""

from __future__ import annotations

from sqlalchemy import Connection, select

from cranfield.io.samples import sample_folder
from cranfield.server.context import SECOND, Context
from cranfield.server.jobs.worker import work_all
from cranfield.server.services import campaigns, organiser_dashboard
from cranfield.server.services.importing import import_collection
from cranfield.server.store.tables import campaign

DAY = 24 * 3600 * SECOND
CALL = """Which of these handwritten digits show what the query shows, and which concepts does an \
image have? Two tasks on one small collection of real images.

This campaign ships with Cranfield: register a team, download the data, submit a run, and look at \
the organiser's board."""


def ensure_demo(context: Context, *, name: str = "digits") -> None:
    """Two campaigns of the sample: one that takes runs, one whose results are out."""
    with context.store.read() as connection:
        if connection.execute(select(campaign.c.id).where(campaign.c.slug == name)).first():
            return
    now = context.clock.now()
    values = {"opens": now, "closes": now + 30 * DAY, "call": CALL}
    source = sample_folder("digits")
    for slug, moves in (
        (name, ("open",)),
        (f"{name}-results", ("open", "closed", "scoring", "released")),
    ):
        import_collection(context, source, name=slug, **values)
        for end in moves:
            work_all(context)
            context.store.write(lambda c, s=slug, e=end: _move(c, context, s, e))  # type: ignore[misc]
    work_all(context)


def _move(connection: Connection, context: Context, slug: str, end: str) -> None:
    row = campaigns.by_slug(connection, slug)
    campaigns.move(connection, context, "demo", row["id"], end)
    organiser_dashboard.start_jobs_of_state(connection, context, row, end)  # type: ignore[arg-type]
