"""Cranfield: an evaluation workbench for retrieval and annotation.

>>> import cranfield as cf
>>> cf.evaluate({"t": {"a": 1}}, {"t": {"a": 0.5, "b": 0.7}}, "RR").mean()
{'run': {'RR': 0.5}}
"""

from __future__ import annotations

from cranfield._version import __version__

# As in `typing`, which is not loaded: whoever is interrupted while this is read sees a traceback.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from cranfield import lab, ontologies, stats
    from cranfield.agreement.aggregate import aggregate_judgements
    from cranfield.agreement.aggregated import Aggregated
    from cranfield.agreement.answer import Agreement
    from cranfield.agreement.assess import Resampling
    from cranfield.agreement.groupings import study_groups
    from cranfield.agreement.quality import Quality, check_quality
    from cranfield.agreement.study import (
        QualityCheck,
        SystemsCheck,
        agreement_map,
        assess_agreement,
    )
    from cranfield.agreement.systems import SystemsStudy, compare_rankings
    from cranfield.agreement.weaklabel import WeakLabels, filter_weak_labels
    from cranfield.answers import Answer, load
    from cranfield.campaign.checking import SubmissionCheck, check_submissions
    from cranfield.campaign.collected import Collected, read_forms
    from cranfield.campaign.collections import (
        CollectionCheck,
        CollectionDraft,
        check_collection,
        init_collection,
    )
    from cranfield.campaign.errors import ErrorAnalysis, analyse_errors, find_errors
    from cranfield.campaign.published import Published
    from cranfield.campaign.results import ResultTable, campaign_results
    from cranfield.campaign.sheet_maker import make_sheet
    from cranfield.comparison.answer import Comparison
    from cranfield.comparison.gate import assert_not_worse
    from cranfield.comparison.judges import assess_judges
    from cranfield.comparison.judges_answer import JudgesReport
    from cranfield.comparison.powered import evaluate_powered, powered
    from cranfield.comparison.powered_answer import PoweredScores
    from cranfield.compat.pytrec_eval import from_pytrec
    from cranfield.compat.ranx import from_ranx, to_ranx
    from cranfield.data import Judgements, Run
    from cranfield.data.collection import Collection
    from cranfield.data.costmap import AgreementMap, CostMap
    from cranfield.data.item_vectors import ItemVectors
    from cranfield.data.judgement_log import JudgementLog
    from cranfield.data.labels import LabelMatrix
    from cranfield.data.ontology import Ontology
    from cranfield.errors import (
        CancelledError,
        CranfieldError,
        InputError,
        MeasureError,
        MissingExtraError,
        NeedsError,
        UsageError,
    )
    from cranfield.evaluation.asking_more import ask_until_found
    from cranfield.evaluation.baselines.annotate import annotate
    from cranfield.evaluation.catalogue import describe_measure, list_measures
    from cranfield.evaluation.concept_queries import judge_concepts, query_concepts
    from cranfield.evaluation.displacement import DisplacementScores, evaluate_displacement
    from cranfield.evaluation.explanations import Explanations, explain_labels
    from cranfield.evaluation.fusion import fuse, fuse_labels
    from cranfield.evaluation.index_quality import IndexQuality, evaluate_index
    from cranfield.evaluation.labels import LabelTask, evaluate_labels
    from cranfield.evaluation.overlap import overlap_of_runs
    from cranfield.evaluation.pooled_labels import evaluate_pooled_labels
    from cranfield.evaluation.ranked import RankedTask, evaluate
    from cranfield.evaluation.scores import Scores
    from cranfield.evaluation.stored import read_scores
    from cranfield.evaluation.tuning import evaluate_tuned
    from cranfield.evaluation.uncertain import UncertainScores, evaluate_uncertain, poisson_binomial
    from cranfield.features import Descriptor, descriptor
    from cranfield.features.catalogue import describe_descriptor, list_descriptors
    from cranfield.features.describe import describe_pictures
    from cranfield.features.search import search
    from cranfield.io import read_qrels, read_run
    from cranfield.io.collection import read_collection
    from cranfield.io.collection_writer import write_collection
    from cranfield.io.costmap import read_agreement, read_costmap, write_costmap
    from cranfield.io.counts import read_counts
    from cranfield.io.files import Caps, Input
    from cranfield.io.judgement_log import read_judgement_log
    from cranfield.io.labels import read_labels, write_labels
    from cranfield.io.ontology import read_ontology
    from cranfield.io.ontology_write import write_ontology, write_rules
    from cranfield.io.opinions import (
        read_categories,
        read_category_votes,
        read_queries,
        read_soft_labels,
        read_subject_rankings,
    )
    from cranfield.io.vectors import read_item_vectors
    from cranfield.io.weak_labels import read_features, read_tags
    from cranfield.measures import Measure, measure
    from cranfield.notes import Notes, Progress
    from cranfield.relatedness.api import cost_map, list_methods, relate_concepts, relate_pairs
    from cranfield.relatedness.categories import count_categories
    from cranfield.relatedness.hierarchies import check_ontology, view_concept, view_ontology
    from cranfield.relatedness.maps import compare_cost_maps, view_cost_map
    from cranfield.relatedness.tag_corpus import analyse_tags
    from cranfield.relatedness.vocabularies import compare_vocabularies
    from cranfield.report import charts
    from cranfield.report.collection import collection_report
    from cranfield.site.publish import publish

# Where the public names live; each is loaded when it is first used.
_HOMES: dict[str, tuple[str, ...]] = {
    "cranfield.features.search": ("search",),
    "cranfield.features.describe": ("describe_pictures",),
    "cranfield.features.catalogue": (
        "describe_descriptor",
        "list_descriptors",
    ),
    "cranfield.io.weak_labels": (
        "read_features",
        "read_tags",
    ),
    "cranfield.io.vectors": ("read_item_vectors",),
    "cranfield.io.collection_writer": ("write_collection",),
    "cranfield.evaluation.stored": ("read_scores",),
    "cranfield.evaluation.explanations": (
        "Explanations",
        "explain_labels",
    ),
    "cranfield.agreement.aggregate": ("aggregate_judgements",),
    "cranfield.agreement.aggregated": ("Aggregated",),
    "cranfield.agreement.answer": ("Agreement",),
    "cranfield.agreement.assess": ("Resampling",),
    "cranfield.agreement.quality": (
        "Quality",
        "check_quality",
    ),
    "cranfield.agreement.study": (
        "QualityCheck",
        "SystemsCheck",
        "agreement_map",
        "assess_agreement",
    ),
    "cranfield.agreement.systems": (
        "SystemsStudy",
        "compare_rankings",
    ),
    "cranfield.agreement.weaklabel": (
        "WeakLabels",
        "filter_weak_labels",
    ),
    "cranfield.answers": (
        "Answer",
        "load",
    ),
    "cranfield.campaign.checking": (
        "SubmissionCheck",
        "check_submissions",
    ),
    "cranfield.campaign.collected": (
        "Collected",
        "read_forms",
    ),
    "cranfield.campaign.collections": (
        "CollectionCheck",
        "CollectionDraft",
        "check_collection",
        "init_collection",
    ),
    "cranfield.campaign.errors": (
        "ErrorAnalysis",
        "analyse_errors",
        "find_errors",
    ),
    "cranfield.campaign.published": ("Published",),
    "cranfield.report.collection": ("collection_report",),
    "cranfield.site.publish": ("publish",),
    "cranfield.campaign.results": (
        "ResultTable",
        "campaign_results",
    ),
    "cranfield.campaign.sheet_maker": ("make_sheet",),
    "cranfield.comparison.answer": ("Comparison",),
    "cranfield.comparison.gate": ("assert_not_worse",),
    "cranfield.comparison.judges": ("assess_judges",),
    "cranfield.comparison.judges_answer": ("JudgesReport",),
    "cranfield.comparison.powered": (
        "evaluate_powered",
        "powered",
    ),
    "cranfield.comparison.powered_answer": ("PoweredScores",),
    "cranfield.compat.pytrec_eval": ("from_pytrec",),
    "cranfield.compat.ranx": (
        "from_ranx",
        "to_ranx",
    ),
    "cranfield.data": (
        "Judgements",
        "Run",
    ),
    "cranfield.data.collection": ("Collection",),
    "cranfield.data.costmap": (
        "AgreementMap",
        "CostMap",
    ),
    "cranfield.data.item_vectors": ("ItemVectors",),
    "cranfield.data.judgement_log": ("JudgementLog",),
    "cranfield.data.labels": ("LabelMatrix",),
    "cranfield.data.ontology": ("Ontology",),
    "cranfield.evaluation.displacement": (
        "DisplacementScores",
        "evaluate_displacement",
    ),
    "cranfield.errors": (
        "CancelledError",
        "CranfieldError",
        "InputError",
        "MeasureError",
        "MissingExtraError",
        "NeedsError",
        "UsageError",
    ),
    "cranfield.evaluation.baselines.annotate": ("annotate",),
    "cranfield.evaluation.fusion": (
        "fuse",
        "fuse_labels",
    ),
    "cranfield.features": (
        "Descriptor",
        "descriptor",
    ),
    "cranfield.evaluation.labels": (
        "LabelTask",
        "evaluate_labels",
    ),
    "cranfield.evaluation.tuning": ("evaluate_tuned",),
    "cranfield.evaluation.ranked": (
        "RankedTask",
        "evaluate",
    ),
    "cranfield.evaluation.overlap": ("overlap_of_runs",),
    "cranfield.evaluation.index_quality": (
        "IndexQuality",
        "evaluate_index",
    ),
    "cranfield.io": (
        "read_qrels",
        "read_run",
    ),
    "cranfield.io.collection": ("read_collection",),
    "cranfield.io.costmap": (
        "read_agreement",
        "read_costmap",
        "write_costmap",
    ),
    "cranfield.io.counts": ("read_counts",),
    "cranfield.io.files": (
        "Caps",
        "Input",
    ),
    "cranfield.io.judgement_log": ("read_judgement_log",),
    "cranfield.io.labels": (
        "read_labels",
        "write_labels",
    ),
    "cranfield.io.ontology": ("read_ontology",),
    "cranfield.io.opinions": (
        "read_categories",
        "read_category_votes",
        "read_queries",
        "read_soft_labels",
        "read_subject_rankings",
    ),
    "cranfield.measures": (
        "Measure",
        "measure",
    ),
    "cranfield.notes": (
        "Notes",
        "Progress",
    ),
    "cranfield.relatedness.api": (
        "cost_map",
        "list_methods",
        "relate_concepts",
        "relate_pairs",
    ),
    "cranfield.evaluation.scores": ("Scores",),
    "cranfield.evaluation.asking_more": ("ask_until_found",),
    "cranfield.evaluation.concept_queries": (
        "judge_concepts",
        "query_concepts",
    ),
    "cranfield.evaluation.uncertain": (
        "UncertainScores",
        "evaluate_uncertain",
        "poisson_binomial",
    ),
    "cranfield.agreement.groupings": ("study_groups",),
    "cranfield.evaluation.pooled_labels": ("evaluate_pooled_labels",),
    "cranfield.relatedness.categories": ("count_categories",),
    "cranfield.relatedness.tag_corpus": ("analyse_tags",),
    "cranfield.relatedness.vocabularies": ("compare_vocabularies",),
    "cranfield.relatedness.maps": (
        "compare_cost_maps",
        "view_cost_map",
    ),
    "cranfield.relatedness.hierarchies": (
        "check_ontology",
        "view_concept",
        "view_ontology",
    ),
    "cranfield.evaluation.catalogue": (
        "describe_measure",
        "list_measures",
    ),
    "cranfield.io.ontology_write": (
        "write_ontology",
        "write_rules",
    ),
}
_MODULES = {
    "charts": "cranfield.report.charts",
    "lab": "cranfield.lab",
    "ontologies": "cranfield.ontologies",
    "stats": "cranfield.stats",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "Aggregated",
    "Agreement",
    "AgreementMap",
    "Answer",
    "CancelledError",
    "Caps",
    "Collected",
    "Collection",
    "CollectionCheck",
    "CollectionDraft",
    "Comparison",
    "CostMap",
    "CranfieldError",
    "Descriptor",
    "DisplacementScores",
    "ErrorAnalysis",
    "Explanations",
    "IndexQuality",
    "Input",
    "InputError",
    "ItemVectors",
    "JudgementLog",
    "Judgements",
    "JudgesReport",
    "LabelMatrix",
    "LabelTask",
    "Measure",
    "MeasureError",
    "MissingExtraError",
    "NeedsError",
    "Notes",
    "Ontology",
    "PoweredScores",
    "Progress",
    "Published",
    "Quality",
    "QualityCheck",
    "RankedTask",
    "Resampling",
    "ResultTable",
    "Run",
    "Scores",
    "SubmissionCheck",
    "SystemsCheck",
    "SystemsStudy",
    "UncertainScores",
    "UsageError",
    "WeakLabels",
    "__version__",
    "aggregate_judgements",
    "agreement_map",
    "analyse_errors",
    "analyse_tags",
    "annotate",
    "ask_until_found",
    "assert_not_worse",
    "assess_agreement",
    "assess_judges",
    "campaign_results",
    "charts",
    "check_collection",
    "check_ontology",
    "check_quality",
    "check_submissions",
    "collection_report",
    "compare_cost_maps",
    "compare_rankings",
    "compare_vocabularies",
    "cost_map",
    "count_categories",
    "describe_descriptor",
    "describe_measure",
    "describe_pictures",
    "descriptor",
    "evaluate",
    "evaluate_displacement",
    "evaluate_index",
    "evaluate_labels",
    "evaluate_pooled_labels",
    "evaluate_powered",
    "evaluate_tuned",
    "evaluate_uncertain",
    "explain_labels",
    "filter_weak_labels",
    "find_errors",
    "from_pytrec",
    "from_ranx",
    "fuse",
    "fuse_labels",
    "init_collection",
    "judge_concepts",
    "lab",
    "list_descriptors",
    "list_measures",
    "list_methods",
    "load",
    "make_sheet",
    "measure",
    "ontologies",
    "overlap_of_runs",
    "poisson_binomial",
    "powered",
    "publish",
    "query_concepts",
    "read_agreement",
    "read_categories",
    "read_category_votes",
    "read_collection",
    "read_costmap",
    "read_counts",
    "read_features",
    "read_forms",
    "read_item_vectors",
    "read_judgement_log",
    "read_labels",
    "read_ontology",
    "read_qrels",
    "read_queries",
    "read_run",
    "read_scores",
    "read_soft_labels",
    "read_subject_rankings",
    "read_tags",
    "relate_concepts",
    "relate_pairs",
    "search",
    "stats",
    "study_groups",
    "to_ranx",
    "view_concept",
    "view_cost_map",
    "view_ontology",
    "write_collection",
    "write_costmap",
    "write_labels",
    "write_ontology",
    "write_rules",
]


def __getattr__(name: str) -> Any:
    import importlib

    if name in _HOME:
        return getattr(importlib.import_module(_HOME[name]), name)
    if name in _MODULES:
        return importlib.import_module(_MODULES[name])
    raise AttributeError(f"module 'cranfield' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
