"""Ontologies that ship with the package."""

from __future__ import annotations

import csv
from contextlib import AbstractContextManager
from importlib import resources
from pathlib import Path
from typing import Literal

from cranfield.data.ontology import Ontology, parse_rules
from cranfield.errors import UsageError, suggest

YEARS = (2009, 2010, 2011)
# The nodes that the cost tree of the thesis does without: three of the four abstract categories at
# the top (No 5.5.1); the fourth, Content Element, is in no listed path. Of all ways to take top
# categories out, this one alone gives the costs 12/14 and 13/14 (8.1) and the correlation 0.713
# of Table 8.5.
LEFT_OUT = ("SceneDescription", "Representation", "Quality")

# Words that stand for the concepts of these ontologies, and concepts for words.
MAPPINGS = ("pto",)

BUILT_IN = tuple(f"pto-{year}{ending}" for year in YEARS for ending in ("", "-listed"))


def pto(year: int = 2009, *, tree: Literal["default", "listed"] = "default") -> Ontology:
    """The Photo Tagging Ontology of an ImageCLEF year: 53, 93 or 99 concepts.

    `tree="default"` hangs what is below SceneDescription, Representation and Quality on the
    root, as the published figures demand; `tree="listed"` follows the listed paths to the letter.

    >>> pto(2009).cost_map.cost("Landscape_Nature", "Trees") == 13 / 14
    True
    """
    if year not in YEARS:
        raise UsageError(f"no Photo Tagging Ontology of {year}; there are {YEARS}")
    if tree not in ("default", "listed"):
        raise UsageError(f"tree={tree!r} is not 'default' or 'listed'")
    folder = resources.files(__package__) / "data"
    name = f"pto-{year}" + ("-listed" if tree == "listed" else "")
    rows = csv.DictReader((folder / f"pto-{year}.csv").read_text("utf-8").splitlines())
    rules = parse_rules((folder / f"pto-{year}.toml").read_text("utf-8"), name)
    return Ontology.from_paths(
        ((row["concept"], row["path"]) for row in rows),
        rules=rules,
        name=name,
        without=LEFT_OUT if tree == "default" else (),
    )


def built_in(name: str) -> Ontology:
    """A shipped ontology by its name, such as `pto-2009` or `pto-2009-listed`."""
    if name not in BUILT_IN:
        raise UsageError(f"no built-in ontology {name!r}.{suggest(name, BUILT_IN)}")
    _, year, *ending = name.split("-")
    return pto(int(year), tree="listed" if ending else "default")


def mapping_file(name: str, to: Literal["words", "concepts"]) -> AbstractContextManager[Path]:
    """The file of a built-in mapping, as long as it is needed."""
    return resources.as_file(resources.files(__package__) / "data" / f"{to}-{name}.csv")


def meanings_text() -> str:
    """What the concepts of the Photo Tagging Ontology mean, for people who annotate: CSV."""
    return (resources.files(__package__) / "data" / "meanings-pto.csv").read_text("utf-8")
