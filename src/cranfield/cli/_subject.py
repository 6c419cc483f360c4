"""What commands on scores of either kind work on: ranked runs, annotation, or saved scores."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cranfield.cli._common import check_standard_input
from cranfield.cli._label_inputs import add_label_options, take_label_options
from cranfield.cli._ranked_options import DEFAULTS, add_ranked_options, take_ranked_options
from cranfield.errors import UsageError
from cranfield.evaluation.stored import is_saved, read_scores

if TYPE_CHECKING:
    from cranfield.evaluation.scores import Scores
    from cranfield.notes import Progress
    from cranfield.report.cases import Compared


def add_subject_options(parser: argparse.ArgumentParser, nargs: str = "+") -> None:
    """The files, and what is known about either kind of them."""
    parser.add_argument(
        "paths",
        nargs=nargs,
        metavar="FILE",
        help="the judgements, then the runs; with --truth: runs only; or saved scores",
    )
    parser.add_argument("--truth", metavar="TRUTH", help="annotation: the true concepts of items")
    add_ranked_options(parser)
    add_label_options(parser)


@dataclass(frozen=True)
class Subject:
    """Runs and what they are scored against, as the library takes them."""

    kind: str
    options: dict[str, Any]

    def scores(self, measures: str | None, jobs: int, progress: Progress | None = None) -> Scores:
        """The scores under some measures, or the usual ones."""
        if self.kind == "saved":
            return read_scores(self.options["paths"])
        if self.kind == "ranked":
            from cranfield.evaluation.ranked import DEFAULT_MEASURES, evaluate

            wanted = DEFAULT_MEASURES if measures is None else measures
            return evaluate(measures=wanted, jobs=jobs, progress=progress, **self.options)
        from cranfield.evaluation.labels import evaluate_labels

        return evaluate_labels(measures=measures, jobs=jobs, progress=progress, **self.options)

    def case(
        self, measures: str | None, compare: dict[str, Any], jobs: int, progress: Progress
    ) -> Compared:
        """All that a page shows, of inputs that are read once."""
        from cranfield.report.cases import Compared, compared, label_case, ranked_case

        if self.kind == "saved":
            scores = self.scores(measures, jobs)
            return Compared(scores, compared(scores, compare, jobs, progress)[0])
        asked: dict[str, Any] = {"compare": compare, "jobs": jobs, "progress": progress}
        if self.kind == "ranked":
            from cranfield.evaluation.ranked import DEFAULT_MEASURES

            wanted = DEFAULT_MEASURES if measures is None else measures
            return ranked_case(measures=wanted, **asked, **self.options)
        return label_case(measures=measures, **asked, **self.options)


def take_subject(given: dict[str, Any], *, least: int, command: str) -> Subject:
    """Takes the options of `add_subject_options` out of what was given."""
    check_standard_input(given)
    paths, truth = given.pop("paths"), given.pop("truth")
    ranked, labels = take_ranked_options(given), take_label_options(given)
    if truth is not None:
        foreign = [name for name, usual in DEFAULTS.items() if ranked[name] != usual]
        if foreign:
            raise UsageError(f"{_flag(foreign[0])} is for ranked runs, not for annotation")
        if len(paths) < least:
            raise UsageError(
                f"{command} needs {_runs(least)}: cranfield {command} --truth TRUTH"
                + " RUN" * least
            )
        return Subject("labels", {"truth": truth, "runs": paths, **labels})
    for name, value in labels.items():
        if value:
            flag = _flag(name.removesuffix("s") if name == "thresholds" else name)
            raise UsageError(f"{flag} is for annotation; name the truth with --truth")
    if paths and all(map(is_saved, paths)):
        return Subject("saved", {"paths": paths})
    if len(paths) < least + 1:
        raise UsageError(
            f"{command} needs judgements and {_runs(least)}: cranfield {command} QRELS"
            + " RUN" * least
        )
    return Subject("ranked", {"judgements": paths[0], "runs": paths[1:], **ranked})


def _runs(least: int) -> str:
    return "two runs or more" if least == 2 else "a run or more"


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
