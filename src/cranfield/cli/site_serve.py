"""`cranfield site serve`: the campaign site."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cranfield._process import stopped_with
from cranfield.cli._common import Parser, add, positive

DESCRIPTION = """The campaign site of a folder: registration, submissions, results. A new folder
gets an organiser, whose password is printed once."""


def make_parser() -> Parser:
    parser = Parser.of("site serve", DESCRIPTION)
    add(parser, "folder DIR", "where the site lives; made if it is not there")
    add(parser, "--db URL", "postgresql://... instead of the SQLite file in the folder")
    add(parser, "--port N", "where it listens (0: where the system has a free port)", port, 8000)
    add(parser, "--host ADDRESS", "listen there, for other machines too", str, "127.0.0.1")
    add(parser, "--behind-proxy ADDRESS", "trust what a proxy at this address says of its clients")
    add(parser, "--team-megabytes N", "the most that the runs of a team take", positive, 2048)
    help_text = (
        "links begin with it, such as https://campaign.example.org (default: where it listens)"
    )
    add(parser, "--address URL", help_text, str, "")
    add(
        parser,
        "--smtp URL",
        "send mail by smtp://[user@]host[:port]; the password is in CRANFIELD_SMTP_PASSWORD",
        str,
        "",
    )
    add(parser, "--mail-from ADDRESS", "who sends the mail", str, "")
    add(
        parser,
        "--webhook-hosts NAMES",
        "machines whose programs may be told of events, as host or host:port, with commas "
        "(default: none)",
        str,
        "",
    )
    add(parser, "--demo", "with the campaign that ships with the package", bool)
    return parser


def port(text: str) -> int:
    """An argparse type: a port, or 0 for one that the system chooses."""
    return 0 if text == "0" else positive(text)


def main(argv: Sequence[str]) -> int:
    arguments, _ = make_parser().read(argv)
    from cranfield.server import Limits, Settings, serve

    settings = Settings(
        Path(arguments["folder"]),
        database=arguments["db"] or "",
        host=arguments["host"],
        port=arguments["port"],
        proxy=arguments["behind_proxy"],
        limits=Limits(team_bytes=arguments["team_megabytes"] << 20),
        address=arguments["address"],
        smtp=arguments["smtp"],
        mail_from=arguments["mail_from"],
        webhook_hosts=tuple(filter(None, arguments["webhook_hosts"].replace(",", " ").split())),
    )
    serve(settings, demo=arguments["demo"])
    # The server lets requests end and keeps to itself that it was interrupted.
    return stopped_with[-1] if stopped_with else 0
