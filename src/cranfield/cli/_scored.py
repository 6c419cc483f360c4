"""Scores for a table, or with the page that `--format html` asks for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from cranfield.cli._common import Output
from cranfield.evaluation.scores import Scores
from cranfield.work.interruptible import in_background


def scores_and_page(
    output: Output,
    arguments: dict[str, Any],
    ask: Callable[..., Scores],
    case_name: str,
    per: Sequence[str],
) -> tuple[Scores, str | None, Sequence[str]]:
    """Scores, their page if there is one, and the units whose values are still to be shown.

    `case_name` names what gathers all that a page shows; there is no page of scores without one.
    """
    public = arguments.pop("public")
    with output.working("evaluating") as progress:
        if output.form != "html" or not case_name:
            return (
                in_background(lambda: ask(progress=progress, **arguments), progress.cancel),
                None,
                per,
            )
        from cranfield.report import cases
        from cranfield.report.html_report import scores_page

        gather = getattr(cases, case_name)
        report_case = in_background(lambda: gather(progress=progress, **arguments), progress.cancel)
        page = scores_page(report_case, per=per, public=public, **output.head(public))
        return report_case.scores, page, ()
