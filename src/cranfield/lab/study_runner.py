"""Studies by name, asked of files: which of them needs runs, and how they are read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from cranfield.answers import Answer
from cranfield.campaign.surveys.measures import make_questionnaire
from cranfield.campaign.surveys.preference import make_concept_survey
from cranfield.campaign.surveys.survey import Survey
from cranfield.errors import UsageError
from cranfield.evaluation.inputs import LABEL_OPTIONS, EvaluationInput
from cranfield.lab.growing_collections import generality, simulated_generality
from cranfield.lab.measure_correlation import both_ways, correlate
from cranfield.lab.ranking_stability import comparable, stability
from cranfield.lab.reusability import leave_one_out
from cranfield.lab.study_input import LabelMaterial, StudyInput
from cranfield.lab.synthetic_runs import random_study
from cranfield.lab.unjudged import rank_unjudged
from cranfield.notes import Watcher
from cranfield.options import LAB_COMPARABLE, LAB_GENERALITY, LAB_LABELS, LAB_RANKED
from cranfield.work.executors import Plan

# Studies of runs: the call, and whether annotations are read as rankings of items by concept.
STUDIES: dict[str, tuple[Any, bool]] = {
    "correlate": (correlate, False),
    "stability": (stability, False),
    "comparable": (comparable, False),
    "random": (random_study, False),
    "generality": (generality, True),
    "pool": (leave_one_out, True),
    "unjudged": (rank_unjudged, True),
}


def material_of(
    files: Sequence[Any],
    truth: Any = None,
    measures: str | None = None,
    *,
    as_rankings: bool = False,
    **options: Any,
) -> StudyInput:
    """The runs of files under some measures, or the usual ones; see `EvaluationInput.of`."""
    if options.pop("thresholds", None):
        raise UsageError("a study takes one threshold= for all runs")
    subject = EvaluationInput.of(files, truth, **options)
    if subject.kind == "regions":
        raise UsageError("a study is of rankings or annotations with labels, not of boxes")
    settings = dict(subject.options)
    runs = settings.pop("runs", None)
    if runs is None:
        raise UsageError("a study reads runs, not scores that were saved")
    if truth is None:
        return StudyInput.ranked(
            settings.pop("judgements"), runs, measures or LAB_RANKED, **settings
        )
    settings.pop("truth")
    if as_rankings:
        return StudyInput.concepts(
            truth, runs, measures or LAB_RANKED, concepts=settings.get("concepts")
        )
    return StudyInput.labels(truth, runs, measures or LAB_LABELS, **settings)


def run_study(
    name: str,
    files: Sequence[Any],
    truth: Any = None,
    measures: str | None = None,
    *,
    simulate: tuple[int, ...] | None = None,
    both: bool = False,
    ranked_only: bool = False,
    plan: Plan | None = None,
    progress: Watcher | None = None,
    **options: Any,
) -> Answer:
    """A study of `STUDIES` on the runs of files.

    `options` are those of the study and of `material_of`. With `simulate` the study of
    generality makes up its runs, in collections of these sizes. `both` takes every cost map in
    a complete measure and by itself, beside the measures named; `ranked_only` leaves
    annotations out that have no confidences (No 9.4).
    """
    call, as_rankings = STUDIES[name]
    settings = {n: options.pop(n) for n in ("collection_size", *LABEL_OPTIONS) if n in options}
    execution: dict[str, Any] = {"plan": plan, "progress": progress}
    if simulate is not None:
        if files or truth is not None:
            raise UsageError("simulate= takes no files: its runs are made up")
        names = measures or LAB_GENERALITY
        return simulated_generality(names, sizes=simulate, rng=options["rng"], **execution)
    if name == "comparable":
        measures = measures or LAB_COMPARABLE
    if both:
        ways = both_ways(settings.get("costmap"), settings.get("ontology"))
        measures = f"{measures} {ways}" if measures else ways
    material = material_of(files, truth, measures, as_rankings=as_rankings, **settings)
    left_out: tuple[str, ...] = ()
    if ranked_only:
        if not isinstance(material, LabelMaterial):
            raise UsageError("ranked_only= is for annotation; name the truth with truth=")
        material, left_out = material.with_confidences()
    answer: Answer = call(material, **options, **execution)
    if not left_out:
        return answer
    note = f"left out, without confidences: {', '.join(left_out)}"
    return replace(answer, notes=(*answer.notes, note))


def ask_people(
    truth: Any = None,
    between: Sequence[Any] = (),
    measures: str | None = None,
    *,
    questions: int = 10,
    alike: str = "",
    lists: int | None = None,
    relevant: int | None = None,
    size: int | None = None,
    rng: int = 0,
    **label_options: Any,
) -> Survey:
    """A questionnaire on made-up ranked lists, or with a truth on concept sets of two runs."""
    of_lists = {"lists": lists, "relevant": relevant, "size": size}
    if truth is None:
        if between or alike:
            raise UsageError("between= and alike= are for concept sets: name the truth=")
        refused = [name for name in LABEL_OPTIONS if label_options.get(name)]
        if refused:
            raise UsageError(f"{refused[0]}= is for annotation; name the truth with truth=")
        list_options: dict[str, Any] = {"measures": measures, **of_lists}
        list_options = {name: value for name, value in list_options.items() if value is not None}
        return make_questionnaire(questions=questions, rng=rng, **list_options)
    if any(of_lists.values()):
        raise UsageError("lists=, relevant= and size= are for ranked lists, not for truth=")
    if label_options.pop("thresholds", None):
        raise UsageError("a study takes one threshold= for all runs")
    return make_concept_survey(
        truth, between, measures, alike=alike, questions=questions, rng=rng, **label_options
    )
