"""What commands do to a site without its server: each opens the folder, acts, and tells."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from cranfield.campaign.collections import SiteReport, site_report
from cranfield.errors import UsageError
from cranfield.server.context import SECOND, Context
from cranfield.server.jobs.fork_server import ForkServer
from cranfield.server.jobs.worker import work_all
from cranfield.server.services import audit, campaigns, clock, jobs
from cranfield.server.services.importing import import_collection
from cranfield.server.services.site import open_site, require_site
from cranfield.server.settings import Settings, owner_only_umask
from cranfield.server.store import readable_errors

# The actor in the audit for changes made by a command.
ACTOR = "command"


@contextmanager
def open_context(
    folder: str | Path, database: str | None = None, *, new: bool = False
) -> Iterator[Context]:
    """The site of a folder, closed at the end; a `new` one is made where there is none."""
    settings = Settings(Path(folder), database=database or "")
    if not new:
        require_site(settings)
    with owner_only_umask():
        context = open_site(settings)
        try:
            with readable_errors(context.settings.url):
                yield context
        finally:
            context.store.close()


def import_campaign(
    collection: str | Path,
    to: str | Path,
    *,
    database: str | None = None,
    name: str | None = None,
    score: bool = True,
) -> SiteReport:
    """Make a draft campaign of a collection's folder in the site of another; score its runs."""
    with open_context(to, database, new=True) as context:
        imported = import_collection(context, collection, name=name)
        jobs_done = work_all(context) if score else 0
    facts = {
        "campaign": imported.slug,
        "tasks": ", ".join(imported.tasks),
        "teams": imported.teams,
        "runs": imported.runs,
        "jobs done": jobs_done,
    }
    return site_report("import", f"{imported.slug} is a draft campaign", facts)


def verify_site(folder: str | Path, *, database: str | None = None) -> SiteReport:
    """Recompute the chain of the audit and the hashes of all files."""
    from cranfield.server.services.backup import check_files

    with open_context(folder, database) as context:
        with context.store.read() as connection:
            rows, broken = audit.verify(connection)
        files, problems = check_files(context)
    faults = [broken] if broken else []
    faults += problems
    facts = {"audit rows": rows, "files": files, "problems": len(faults)}
    title = "the audit and all files are whole" if not faults else "not all is as it was written"
    return site_report("verify", title, facts, holds=not faults, notes=tuple(faults))


def clock_of_site(
    folder: str | Path, *, accept: bool = False, database: str | None = None
) -> SiteReport:
    """Hold the clock of the machine against the last time that a site has noted; or accept it.

    A server that is running goes by what was accepted at its next look.
    """
    with open_context(folder, database) as context:
        with context.store.read() as connection:
            last = clock.last_time(connection)
        machine = context.clock.wall()
        if accept:
            clock.accept(context, ACTOR)
        doubtful = context.clock.in_doubt
    facts = {"machine": _time(machine), "site": _time(last), "accepted": accept}
    title = (
        f"the time of the site is {_time(machine)}, as the machine says"
        if not doubtful
        else f"the machine says {_time(machine)}, which is too far from the {_time(last)} that the "
        "site has noted; set the machine's clock right, or accept it"
    )
    return site_report("clock", title, facts, holds=not doubtful)


def _time(milliseconds: int) -> str:
    if not milliseconds:
        return "nothing"
    return f"{datetime.fromtimestamp(milliseconds / SECOND, UTC):%Y-%m-%d %H:%M:%S} UTC"


def new_password(folder: str | Path, name: str, *, database: str | None = None) -> SiteReport:
    """Set a generated password for an account; its sessions and tokens end."""
    from cranfield.server.services import accounts

    with open_context(folder, database) as context:
        password = context.new_secret()[:20]
        password_hash = accounts.Hasher(context.settings.passwords).hash(password)

        def write(connection: Connection) -> None:
            person_id = accounts.person_by_login(connection, name)
            accounts.set_password(connection, context, "command line", person_id, password_hash)

        context.store.write(write)
    facts = {"login": name, "password (shown once)": password}
    return site_report("passwd", "all sessions and tokens of the account have ended", facts)


def rescore(folder: str | Path, campaign: str, *, database: str | None = None) -> SiteReport:
    """Score what a campaign lacks scores for, and put new sets together."""
    with open_context(folder, database) as context:

        def want(connection: Connection) -> int:
            row = campaigns.by_slug(connection, campaign)
            tasks = campaigns.tasks_of(connection, row["id"])
            for entry in tasks:
                jobs.request_task_scores(connection, context, entry["id"])
            return len(tasks)

        tasks = context.store.write(want)
        jobs_done = work_all(context)
        with context.store.read() as connection:
            row = campaigns.by_slug(connection, campaign)
            failed = [entry["error"] for entry in jobs.jobs_of(connection, row["id"], "failed")]
    facts = {"campaign": campaign, "tasks": tasks, "jobs done": jobs_done, "failed": len(failed)}
    title = f"{campaign}: {jobs_done} jobs done"
    return site_report("rescore", title, facts, holds=not failed, notes=tuple(failed))


def export_campaign(
    folder: str | Path, campaign: str, to: str | Path, *, database: str | None = None
) -> SiteReport:
    """Write a campaign as a folder: its collection, tables, pages, logs and a script."""
    with open_context(folder, database) as context:
        export = export_to(context, campaign, Path(to))
    facts = {"folder": str(to), "tables": export["tables"], "hash": export["sha"]}
    return site_report("export", f"wrote {to}", facts)


def export_to(context: Context, campaign: str, out: Path) -> dict[str, Any]:
    """Have a child write the export of a campaign to a new folder."""
    from cranfield.server.services import export

    if out.exists():
        raise UsageError(f"{out} is there already; an export gets a new folder")
    with tempfile.TemporaryDirectory(dir=context.settings.incoming) as work:
        with context.store.read() as connection:
            row = campaigns.by_slug(connection, campaign)
            job_input = export.export_input(connection, context, row, out, Path(work))
        with ForkServer(context.settings) as nursery:
            reply = nursery.run(job_input)
    if "error" in reply:
        raise UsageError(f"the export was not written: {reply['error']}")
    return reply


def backup_site(folder: str | Path, to: str | Path, *, database: str | None = None) -> SiteReport:
    """Write the whole site to one file."""
    from cranfield.server.services.backup import make_backup

    with open_context(folder, database) as context:
        manifest = make_backup(context, Path(to))
    facts = {"file": str(to), "files": len(manifest["files"]), "store": manifest["store"]}
    return site_report("backup", f"wrote {to}", facts)


def restore_site(backup: str | Path, to: str | Path, *, database: str | None = None) -> SiteReport:
    """Make a site of a backup in an empty folder, and verify it."""
    from cranfield.server.services.backup import restore_backup

    with owner_only_umask():
        restore_backup(Path(backup), Settings(Path(to), database=database or ""))
    report = verify_site(to, database=database)
    title = f"restored into {to}: {report.title}"
    return site_report("restore", title, report.facts, holds=report.holds, notes=report.notes)
