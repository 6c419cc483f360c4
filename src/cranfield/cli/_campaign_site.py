"""The steps of `cranfield campaign` that act on a site's folder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cranfield.cli._common import Parser, add, outputs

DONE, CHECK_FAILED = 0, 1
STORE = "address of the store if it is not the SQLite file in the folder"


def site_steps(step: Callable[..., Parser]) -> None:
    """Add import, export, backup, restore, verify, clock, rescore and passwd."""
    import_step = step("import", "a collection's folder becomes a draft campaign of a site")
    add(import_step, "collection COLLECTION", "the folder of a collection, or of an export")
    add(import_step, "--to DIR", "the folder of the site", required=True)
    add(import_step, "--name NAME", "its name in addresses (default: the collection's)")
    add(import_step, "--no-score", "leave the scoring of its runs to the site", bool)
    export_step = step("export", "a campaign as a folder: collection, runs, logs, pages, a script")
    add(export_step, "folder DIR", "the folder of the site")
    add(export_step, "campaign CAMPAIGN", "its name in addresses")
    add(export_step, "--to OUT", "a folder that is not there yet", required=True)
    backup_step = step("backup", "the whole site in one file, also while it is served")
    add(backup_step, "folder DIR", "the folder of the site")
    add(backup_step, "--to FILE", "a file that is not there yet", required=True)
    restore_step = step("restore", "a backup becomes a site in an empty folder, verified")
    add(restore_step, "backup FILE", "what backup has written")
    add(restore_step, "--to DIR", "an empty folder", required=True)
    verify_step = step(
        "verify", "recompute the audit's chain and all hashes; exit 1 on a difference"
    )
    add(verify_step, "folder DIR", "the folder of the site")
    clock_step = step(
        "clock", "hold the machine's clock against the site's time; exit 1 if in doubt"
    )
    add(clock_step, "folder DIR", "the folder of the site")
    add(clock_step, "--accept", "the machine's clock is right: go by it, and write that down", bool)
    rescore_step = step("rescore", "score what has no scores under the newest truth")
    add(rescore_step, "folder DIR", "the folder of the site")
    add(rescore_step, "campaign CAMPAIGN", "its name in addresses")
    passwd_step = step("passwd", "a new password for a user of a site, shown once")
    add(passwd_step, "folder DIR", "the folder of the site")
    add(passwd_step, "name NAME", "the login name")
    rehearse_step = step("rehearse", "a whole campaign against a server of its own: what must hold")
    add(rehearse_step, "--seed N", "seed of everything that is made up (default: 7)", int, 7)
    add(rehearse_step, "--scale X", "a share of the whole campaign (default: 1)", float, 1.0)
    add(rehearse_step, "--folder DIR", "keep all that is made there")
    for subparser in (
        import_step,
        export_step,
        backup_step,
        restore_step,
        verify_step,
        clock_step,
        rescore_step,
        passwd_step,
        rehearse_step,
    ):
        add(subparser, "--db URL", STORE)
        outputs(subparser)


def run_site_step(action: str, arguments: dict[str, Any], output: Any) -> int:
    """Do a step and show what it says; 1 when a check failed."""
    from cranfield.server import need_packages

    need_packages()
    from cranfield.server import admin

    arguments["database"] = arguments.pop("db")
    if action == "import":
        arguments["score"] = not arguments.pop("no_score")
    actions: dict[str, Callable[..., Any]] = {
        "import": admin.import_campaign,
        "export": admin.export_campaign,
        "backup": admin.backup_site,
        "restore": admin.restore_site,
        "verify": admin.verify_site,
        "clock": admin.clock_of_site,
        "rescore": admin.rescore,
        "passwd": admin.new_password,
    }
    if action == "rehearse":
        from cranfield.server.rehearsal.play import rehearse

        with output.working("rehearsing") as progress:
            answer = rehearse(progress=progress, **arguments)
    else:
        answer = actions[action](**arguments)
    output.show(answer)
    return DONE if answer.holds else CHECK_FAILED
