"""Evaluating the measures themselves: studies of correlation, stability and fairness.

>>> import cranfield as cf
>>> cf.lab.curves("AP", size=4).at("AP", 2)
0.5
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cranfield.campaign.next_judgements import NextJudgements, next_judgements
    from cranfield.campaign.pool import Pool, make_pool
    from cranfield.campaign.surveys.measures import make_questionnaire
    from cranfield.campaign.surveys.preference import make_concept_survey
    from cranfield.campaign.surveys.survey import Survey
    from cranfield.campaign.surveys.votes import (
        Choices,
        Preferences,
        count_choices,
        count_preferences,
        count_votes,
        tally,
    )
    from cranfield.lab.runs import (
        SimulatedRuns,
        graded_labels,
        graded_rankings,
        simulate_runs,
    )
    from cranfield.lab.studies.calibration import Comparability, comparable
    from cranfield.lab.studies.correlate import (
        Correlations,
        cluster_measures,
        correlate,
        correlate_scores,
    )
    from cranfield.lab.studies.generality import Generality, generality, simulated_generality
    from cranfield.lab.studies.opinions import OverlapStudy, replay_overlap
    from cranfield.lab.studies.planning import CampaignPlan, plan_campaign
    from cranfield.lab.studies.random_runs import RandomStudy, random_study
    from cranfield.lab.studies.rank_curves import Curves, curves
    from cranfield.lab.studies.replay import Replay, replay_designs
    from cranfield.lab.studies.requirements import Requirements, requirements
    from cranfield.lab.studies.reusability import Reusability, leave_one_out
    from cranfield.lab.studies.stability import Stability, stability
    from cranfield.lab.study_input import StudyInput
    from cranfield.work.executors import Plan

# Where the public names live; each is loaded when it is first used.
_HOMES: dict[str, tuple[str, ...]] = {
    "cranfield.campaign.next_judgements": ("NextJudgements", "next_judgements"),
    "cranfield.campaign.pool": ("Pool", "make_pool"),
    "cranfield.campaign.surveys.measures": ("make_questionnaire",),
    "cranfield.campaign.surveys.preference": ("make_concept_survey",),
    "cranfield.campaign.surveys.survey": ("Survey",),
    "cranfield.campaign.surveys.votes": (
        "Choices",
        "Preferences",
        "count_choices",
        "count_preferences",
        "count_votes",
        "tally",
    ),
    "cranfield.lab.study_input": ("StudyInput",),
    "cranfield.lab.runs": (
        "SimulatedRuns",
        "graded_labels",
        "graded_rankings",
        "simulate_runs",
    ),
    "cranfield.lab.studies.calibration": ("Comparability", "comparable"),
    "cranfield.lab.studies.correlate": (
        "Correlations",
        "cluster_measures",
        "correlate",
        "correlate_scores",
    ),
    "cranfield.lab.studies.rank_curves": ("Curves", "curves"),
    "cranfield.lab.studies.generality": ("Generality", "generality", "simulated_generality"),
    "cranfield.lab.studies.opinions": ("OverlapStudy", "replay_overlap"),
    "cranfield.lab.studies.planning": ("CampaignPlan", "plan_campaign"),
    "cranfield.lab.studies.random_runs": ("RandomStudy", "random_study"),
    "cranfield.lab.studies.requirements": ("Requirements", "requirements"),
    "cranfield.lab.studies.replay": ("Replay", "replay_designs"),
    "cranfield.lab.studies.reusability": ("Reusability", "leave_one_out"),
    "cranfield.lab.studies.stability": ("Stability", "stability"),
    "cranfield.work.executors": ("Plan",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "CampaignPlan",
    "Choices",
    "Comparability",
    "Correlations",
    "Curves",
    "Generality",
    "NextJudgements",
    "OverlapStudy",
    "Plan",
    "Pool",
    "Preferences",
    "RandomStudy",
    "Replay",
    "Requirements",
    "Reusability",
    "SimulatedRuns",
    "Stability",
    "StudyInput",
    "Survey",
    "cluster_measures",
    "comparable",
    "correlate",
    "correlate_scores",
    "count_choices",
    "count_preferences",
    "count_votes",
    "curves",
    "generality",
    "graded_labels",
    "graded_rankings",
    "leave_one_out",
    "make_concept_survey",
    "make_pool",
    "make_questionnaire",
    "next_judgements",
    "plan_campaign",
    "random_study",
    "replay_designs",
    "replay_overlap",
    "requirements",
    "simulate_runs",
    "simulated_generality",
    "stability",
    "tally",
]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'cranfield.lab' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
