"""What the studies of `cranfield lab` share: options, and what they say."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cranfield.cli._common import (
    add_executor_option,
    add_jobs_option,
    add_output_options,
    add_seed_option,
    positive,
)
from cranfield.cli._label_inputs import add_label_options, named_maps
from cranfield.errors import UsageError

if TYPE_CHECKING:
    from cranfield.lab import Material, Plan

RANKED = "AP nDCG@10 RR P@10 Rprec"
LABELS = "F.example F.concept AP.concept HammingLoss"
_OF_LABELS = ("ontology", "rules", "costmap", "agreement", "concepts", "threshold")


def add_study(studies: Any, name: str, what: str, act: Callable[[Any], None]) -> Any:
    parser = studies.add_parser(name, help=what, description=what[0].upper() + what[1:] + ".")
    parser.set_defaults(act=act)
    return parser


def add_number(parser: argparse.ArgumentParser, name: str, default: int, what: str) -> None:
    """An option that takes a whole number from 1 on."""
    what = f"{what} (default: {default})"
    parser.add_argument(name, type=positive, default=default, metavar="N", help=what)


def add_shares(
    parser: argparse.ArgumentParser, name: str, default: tuple[float, ...], what: str, words: str
) -> None:
    """An option that takes percentages; `words` name the usual ones."""
    what = f"{what} (default: {words})"
    parser.add_argument(name, type=shares, default=default, metavar="PERCENTS", help=what)


def add_runs(
    parser: argparse.ArgumentParser,
    *,
    as_rankings: bool = False,
    measures: str = RANKED,
    none: str = "",
) -> None:
    """Files, measures and options; `as_rankings` reads annotations as rankings by concept."""
    parser.add_argument(
        "paths",
        nargs="*" if none else "+",
        metavar="FILE",
        help=f"judgements, then runs; with --truth: runs{none}",
    )
    default = measures if as_rankings else f"{measures}; with --truth: {LABELS}"
    parser.add_argument(
        "-m",
        "--measures",
        default=measures if as_rankings else None,
        metavar="NAMES",
        help=f"measures or sets of them (default: {default})",
    )
    parser.add_argument(
        "--collection-size", type=positive, metavar="N", help="number of items in the collection"
    )
    truth = parser.add_argument(
        "--truth", metavar="FILE", help="the true concepts of items: the runs are annotations"
    )
    if not as_rankings:
        add_label_options(parser)
        return
    truth.help = f"{truth.help}, read as rankings of the items for each concept"
    parser.add_argument("--concepts", metavar="FILE", help="with --truth: names of the concepts")


def add_work(parser: argparse.ArgumentParser, *, seed: bool = True) -> None:
    group = parser.add_argument_group("how the work is done")
    add_executor_option(group, "the numbers are the same")
    group.add_argument(
        "--folder",
        metavar="DIR",
        help="keep finished pieces here; a study that was stopped goes on when it is given again",
    )
    add_jobs_option(parser)
    if seed:
        add_seed_option(parser)
    add_output_options(parser)


def plan_of(args: argparse.Namespace) -> Plan:
    """What the options of `add_work` say."""
    from cranfield.lab import Plan

    return Plan(args.executor, args.jobs, args.folder)


@dataclass(frozen=True, slots=True)
class Files:
    """The truth and runs of a study, and what its measures need beside them."""

    paths: tuple[str, ...]
    truth: str | None
    measures: str | None
    collection_size: int | None
    known: dict[str, Any]

    @classmethod
    def of(cls, args: argparse.Namespace) -> Files:
        """What the options of `add_runs` say."""
        known = {name: getattr(args, name, None) for name in _OF_LABELS}
        asked = getattr(args, "collection_size", None)
        return cls(tuple(args.paths), args.truth, args.measures, asked, known)

    def label_options(self) -> dict[str, Any]:
        """What the library takes for annotations."""
        limits = self.known["threshold"] or []
        if len(limits) > 1 or any("=" in limit for limit in limits):
            raise UsageError("a study takes one --threshold for all runs")
        maps = named_maps(self.known["costmap"] or [])
        return self.known | {"costmap": maps or None, "threshold": limits[0] if limits else None}

    def refuse_label_options(self) -> None:
        for option, value in self.known.items():
            if value:
                raise UsageError(f"--{option} is for annotation; name the truth with --truth")

    def material(self, study: str, *, as_rankings: bool = False) -> Material:
        from cranfield.lab import Material

        if self.truth is None:
            self.refuse_label_options()
            if len(self.paths) < 2:
                raise UsageError(
                    f"give judgements and runs: cranfield lab {study} QRELS RUN RUN ..."
                )
            judged, *runs = self.paths
            size = self.collection_size
            return Material.ranked(judged, runs, self.measures or RANKED, collection_size=size)
        if self.collection_size:
            raise UsageError("--collection-size is for ranked runs, not for annotation")
        if as_rankings:
            names = {"concepts": self.known["concepts"]}
            return Material.concepts(self.truth, self.paths, self.measures or RANKED, **names)
        wanted = self.measures or LABELS
        return Material.labels(self.truth, self.paths, wanted, **self.label_options())


def shares(text: str) -> tuple[float, ...]:
    """An argparse type: percentages such as 1,2,5,10."""
    try:
        found = tuple(float(part) / 100 for part in text.split(","))
    except ValueError:
        found = ()
    if not found or not all(0 < s <= 1 for s in found):
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of percentages such as 1,2,5,10")
    return found


def whole_numbers(text: str) -> tuple[int, ...]:
    """An argparse type: whole numbers such as 1,10,100."""
    try:
        return tuple(int(part) for part in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of whole numbers") from None
