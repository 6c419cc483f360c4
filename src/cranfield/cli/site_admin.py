"""`cranfield site import`, `export`, `backup` and others that act on the folder of a site."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from cranfield.cli._commands import commands_of
from cranfield.cli._common import Arguments, Output, Parser, add, outputs

DONE, CHECK_FAILED = 0, 1
STORE = "address of the store if it is not the SQLite file in the folder"


def make_parser(action: str) -> Parser:
    summary = commands_of("site")[action].summary
    parser = Parser.of(f"site {action}", f"{summary[0].upper()}{summary[1:]}.")
    if action == "import":
        add(parser, "collection COLLECTION", "the folder of a collection, or of an export")
        add(parser, "--to DIR", "the folder of the site", required=True)
        add(parser, "--name NAME", "its name in addresses (default: the collection's)")
        add(parser, "--no-score", "leave the scoring of its runs to the site", bool)
    elif action == "restore":
        add(parser, "backup FILE", "what backup has written")
        add(parser, "--to DIR", "an empty folder", required=True)
    elif action == "rehearse":
        add(parser, "--seed N", "seed of everything that is made up (default: 7)", int, 7)
        add(parser, "--scale X", "a share of the whole campaign (default: 1)", float, 1.0)
        add(parser, "--folder DIR", "keep all that is made there")
    else:
        add(parser, "folder DIR", "the folder of the site")
    if action in ("export", "rescore"):
        add(parser, "campaign CAMPAIGN", "its name in addresses")
    if action == "export":
        add(parser, "--to OUT", "a folder that is not there yet", required=True)
    elif action == "backup":
        add(parser, "--to FILE", "a file that is not there yet", required=True)
    elif action == "clock":
        help_text = "the machine's clock is right: go by it, and write that down"
        add(parser, "--accept", help_text, bool)
    elif action == "passwd":
        add(parser, "name NAME", "the login name")
    add(parser, "--db URL", STORE)
    outputs(parser)
    return parser


def run(action: str, arguments: Arguments, output: Output) -> int:
    """Do what the command says and show its answer; 1 when a check failed."""
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
        from cranfield.rehearsal.campaign import rehearse

        with output.working("rehearsing") as progress:
            answer = rehearse(progress=progress, **arguments)
    else:
        answer = actions[action](**arguments)
    output.show(answer)
    return DONE if answer.holds else CHECK_FAILED


ACTIONS = (
    "import",
    "export",
    "backup",
    "restore",
    "verify",
    "clock",
    "rescore",
    "passwd",
    "rehearse",
)
COMMANDS = {action: (partial(make_parser, action), partial(run, action)) for action in ACTIONS}
