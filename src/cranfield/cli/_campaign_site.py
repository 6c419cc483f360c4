"""The steps of `cranfield campaign` that act on a site's folder."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cranfield.cli._common import Parser, add, outputs

DONE, CHECK_FAILED = 0, 1
STORE = "address of the store if it is not the SQLite file in the folder"


def site_steps(step: Callable[..., Parser]) -> None:
    """Add import, export, backup, restore, verify, clock, rescore and passwd."""
    taken = step("import", "a collection's folder becomes a draft campaign of a site")
    add(taken, "collection COLLECTION", "the folder of a collection, or of an export")
    add(taken, "--to DIR", "the folder of the site", required=True)
    add(taken, "--name NAME", "its name in addresses (default: the collection's)")
    add(taken, "--no-score", "leave the scoring of its runs to the site", bool)
    given = step("export", "a campaign as a folder: collection, runs, logs, pages, a script")
    add(given, "folder DIR", "the folder of the site")
    add(given, "campaign CAMPAIGN", "its name in addresses")
    add(given, "--to OUT", "a folder that is not there yet", required=True)
    kept = step("backup", "the whole site in one file, also while it is served")
    add(kept, "folder DIR", "the folder of the site")
    add(kept, "--to FILE", "a file that is not there yet", required=True)
    back = step("restore", "a backup becomes a site in an empty folder, verified")
    add(back, "backup FILE", "what backup has written")
    add(back, "--to DIR", "an empty folder", required=True)
    looked = step("verify", "recompute the audit's chain and all hashes; exit 1 on a difference")
    add(looked, "folder DIR", "the folder of the site")
    timed = step("clock", "hold the machine's clock against the site's time; exit 1 if in doubt")
    add(timed, "folder DIR", "the folder of the site")
    add(timed, "--accept", "the machine's clock is right: go by it, and write that down", bool)
    again = step("rescore", "score what has no scores under the newest truth")
    add(again, "folder DIR", "the folder of the site")
    add(again, "campaign CAMPAIGN", "its name in addresses")
    changed = step("passwd", "a new password for somebody of a site, shown once")
    add(changed, "folder DIR", "the folder of the site")
    add(changed, "name NAME", "the login name")
    played = step("rehearse", "a whole campaign against a server of its own: what must hold")
    add(played, "--seed N", "seed of everything that is made up (default: 7)", int, 7)
    add(played, "--scale X", "a share of the whole campaign (default: 1)", float, 1.0)
    add(played, "--folder DIR", "keep all that is made there")
    for one in (taken, given, kept, back, looked, timed, again, changed, played):
        add(one, "--db URL", STORE)
        outputs(one)


def act(action: str, given: dict[str, Any], output: Any) -> int:
    """Do a step and show what it says; 1 when a check failed."""
    from cranfield.server import need_packages

    need_packages()
    from cranfield.server import admin

    given["database"] = given.pop("db")
    if action == "import":
        given["score"] = not given.pop("no_score")
    does: dict[str, Callable[..., Any]] = {
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
            answer = rehearse(progress=progress, **given)
    else:
        answer = does[action](**given)
    output.show(answer)
    return DONE if answer.holds else CHECK_FAILED
