"""What commands on annotation share: the options on concepts, as the library takes them."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cranfield.errors import UsageError


def add_label_options(parser: argparse.ArgumentParser) -> None:
    """Everything beside truth and runs that measures of annotation may need."""
    from cranfield.data.labels import DEFAULT_THRESHOLD

    known = parser.add_argument_group("what is known of the concepts")
    known.add_argument(
        "--ontology",
        metavar="NAME|FILE",
        help="pto-2009, pto-2010, pto-2011 (with -listed: the paths to the letter), OWL, SKOS, or "
        "CSV concept,path",
    )
    known.add_argument("--rules", metavar="FILE", help="TOML with more rules")
    known.add_argument(
        "--costmap",
        metavar="[NAME=]FILE",
        action="append",
        default=[],
        help="costs of confusing concepts, square CSV; with a name for OS(cost='NAME'); repeatable",
    )
    known.add_argument("--agreement", metavar="FILE", help="CSV concept,agreement for OS and HS")
    known.add_argument(
        "--concepts",
        metavar="FILE",
        help="concepts, one per line: all of them, for columns without names and for concepts that "
        "no item has, or some of the truth's, which alone are evaluated then",
    )
    known.add_argument(
        "--threshold",
        metavar="[RUN=]X|FILE",
        action="append",
        default=[],
        help="confidence from which a concept counts as predicted: a number, or a file with one "
        f"per concept (default: {DEFAULT_THRESHOLD}; a run's own 0/1 rows come first); repeatable",
    )


def take_label_options(given: dict[str, Any]) -> dict[str, Any]:
    """Takes the options of `add_label_options` out of what was given, as the library has them."""
    options = {name: given.pop(name) for name in ("ontology", "rules", "agreement", "concepts")}
    options["costmap"] = named_maps(given.pop("costmap"))
    options["threshold"], options["thresholds"] = None, {}
    for text in given.pop("threshold"):
        name, value = _named(text)
        if name:
            options["thresholds"][name] = value
        else:
            options["threshold"] = value
    return options


def named_maps(texts: Sequence[str]) -> dict[str, str]:
    """The files behind NAME=FILE by name; one without a name has the name ''."""
    maps: dict[str, str] = {}
    for text in texts:
        name, file = _named(text)
        if name in maps:
            what = f"of the name {name!r}" if name else "without a name"
            raise UsageError(
                f"--costmap: {maps[name]} and {file} are both {what}; name them apart: NAME=FILE"
            )
        maps[name] = file
    return maps


def _named(text: str) -> tuple[str, str]:
    """NAME=VALUE as a pair; the name is '' without one, or where the whole is a file."""
    name, equals, value = text.partition("=")
    return (name, value) if equals and not Path(text).exists() else ("", text)
