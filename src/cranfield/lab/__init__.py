"""Evaluating the measures themselves: studies of correlation, stability and fairness.

>>> import cranfield as cf
>>> cf.lab.curves("AP", size=4).at("AP", 2)
0.5
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cranfield.campaign.next_judgements import NextJudgements, next_judgements
    from cranfield.campaign.next_opinions import NextOpinions, next_opinions
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
    from cranfield.lab.growing_collections import Generality, generality, simulated_generality
    from cranfield.lab.measure_correlation import (
        Correlations,
        cluster_measures,
        correlate,
        correlate_scores,
    )
    from cranfield.lab.measure_requirements import Requirements, requirements
    from cranfield.lab.planning import CampaignPlan, plan_campaign
    from cranfield.lab.rank_curves import Curves, curves
    from cranfield.lab.ranking_stability import Comparability, Stability, comparable, stability
    from cranfield.lab.replay import OverlapStudy, Replay, replay_designs, replay_overlap
    from cranfield.lab.reusability import Reusability, leave_one_out
    from cranfield.lab.study_input import StudyInput
    from cranfield.lab.synthetic_runs import (
        RandomStudy,
        SimulatedRuns,
        graded_labels,
        graded_rankings,
        random_study,
        simulate_runs,
    )
    from cranfield.lab.unjudged import UnjudgedStudy, rank_unjudged
    from cranfield.work.executors import Plan

# Where the public names live; each is loaded when it is first used.
_HOMES: dict[str, tuple[str, ...]] = {
    "cranfield.campaign.next_judgements": ("NextJudgements", "next_judgements"),
    "cranfield.campaign.next_opinions": ("NextOpinions", "next_opinions"),
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
    "cranfield.lab.growing_collections": ("Generality", "generality", "simulated_generality"),
    "cranfield.lab.measure_correlation": (
        "Correlations",
        "cluster_measures",
        "correlate",
        "correlate_scores",
    ),
    "cranfield.lab.measure_requirements": ("Requirements", "requirements"),
    "cranfield.lab.planning": ("CampaignPlan", "plan_campaign"),
    "cranfield.lab.rank_curves": ("Curves", "curves"),
    "cranfield.lab.ranking_stability": ("Comparability", "Stability", "comparable", "stability"),
    "cranfield.lab.replay": ("OverlapStudy", "Replay", "replay_designs", "replay_overlap"),
    "cranfield.lab.reusability": ("Reusability", "leave_one_out"),
    "cranfield.lab.study_input": ("StudyInput",),
    "cranfield.lab.synthetic_runs": (
        "RandomStudy",
        "SimulatedRuns",
        "graded_labels",
        "graded_rankings",
        "random_study",
        "simulate_runs",
    ),
    "cranfield.lab.unjudged": ("UnjudgedStudy", "rank_unjudged"),
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
    "NextOpinions",
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
    "UnjudgedStudy",
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
    "next_opinions",
    "plan_campaign",
    "random_study",
    "rank_unjudged",
    "replay_designs",
    "replay_overlap",
    "requirements",
    "simulate_runs",
    "simulated_generality",
    "stability",
    "tally",
]


def __getattr__(name: str) -> object:
    if name in _HOME:
        return getattr(import_module(_HOME[name]), name)
    raise AttributeError(f"module 'cranfield.lab' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
