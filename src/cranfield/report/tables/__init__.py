"""How each kind of answer becomes tables: one module per kind, and nothing is computed here.

A module has a function per kind of answer that takes the answer and how it is looked at, and
gives a document: the JSON payload and the tables that show it.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from cranfield.answers import Answer
from cranfield.report.document import Document

# kind of answer -> module and the function in it that makes its tables
MAKERS: dict[str, str] = {
    "Aggregated": "cranfield.report.tables.agreement:aggregation_document",
    "Agreement": "cranfield.report.tables.agreement:document",
    "Annotation": "cranfield.report.tables.scores:annotation_document",
    "Association": "cranfield.report.tables.surveys:association_document",
    "Choices": "cranfield.report.tables.votes:choices_document",
    "FormResponses": "cranfield.report.tables.collected:document",
    "CollectionCheck": "cranfield.report.tables.collection:collection_check_document",
    "CollectionDraft": "cranfield.report.tables.collection:draft_document",
    "Comparability": "cranfield.report.tables.lab_comparable:calibration_document",
    "Comparison": "cranfield.report.tables.comparison:comparison_document",
    "ConceptCosts": "cranfield.report.tables.concepts:costs_document",
    "ConceptRanking": "cranfield.report.tables.scores:concept_query_document",
    "ConceptView": "cranfield.report.tables.concepts:concept_document",
    "Correlations": "cranfield.report.tables.lab_correlate:correlations_document",
    "CostMapView": "cranfield.report.tables.concepts:cost_map_document",
    "Curves": "cranfield.report.tables.lab_curves:curves_document",
    "Description": "cranfield.report.tables.features:description_document",
    "DescriptorCard": "cranfield.report.tables.features:descriptor_document",
    "DescriptorCatalogue": "cranfield.report.tables.features:catalogue_document",
    "DisplacementScores": "cranfield.report.tables.rankings_of_people:displacement_document",
    "ErrorAnalysis": "cranfield.report.tables.collection:results_document",
    "Explanations": "cranfield.report.tables.scores:explanations_document",
    "Fusion": "cranfield.report.tables.scores:fusion_document",
    "Generality": "cranfield.report.tables.lab_generality:generality_document",
    "GroupingStudy": "cranfield.report.tables.agreement:card_sorting_document",
    "IndexQuality": "cranfield.report.tables.rankings_of_people:index_quality_document",
    "JudgesReport": "cranfield.report.tables.judges:document",
    "MapComparison": "cranfield.report.tables.concepts:cost_map_comparison_document",
    "MeasureCard": "cranfield.report.tables.measures:card_document",
    "MeasureCatalogue": "cranfield.report.tables.measures:document",
    "MethodCatalogue": "cranfield.report.tables.concepts:catalogue_document",
    "OntologyCategories": "cranfield.report.tables.concepts:categories_document",
    "OntologyCheck": "cranfield.report.tables.concepts:check_document",
    "OntologyView": "cranfield.report.tables.concepts:document",
    "PairRelatedness": "cranfield.report.tables.concepts:pairs_document",
    "Pool": "cranfield.report.tables.lab_pool:pool_document",
    "PoweredScores": "cranfield.report.tables.powered:document",
    "Preferences": "cranfield.report.tables.votes:preferences_document",
    "PublishedSite": "cranfield.report.tables.collection:published_document",
    "Quality": "cranfield.report.tables.agreement:quality_document",
    "RandomStudy": "cranfield.report.tables.lab_random:random_document",
    "Rehearsal": "cranfield.report.tables.collection:rehearsal_document",
    "Requirements": "cranfield.report.tables.lab_requirements:requirements_document",
    "ResultTable": "cranfield.report.tables.collection:results_document",
    "Reusability": "cranfield.report.tables.lab_pool:reusability_document",
    "Scores": "cranfield.report.tables.scores:document",
    "Search": "cranfield.report.tables.features:search_document",
    "SimulatedRuns": "cranfield.report.tables.lab_files:simulated_runs_document",
    "SiteReport": "cranfield.report.tables.collection:results_document",
    "Stability": "cranfield.report.tables.lab_stability:stability_document",
    "SubmissionCheck": "cranfield.report.tables.collection:submissions_document",
    "SurveyRows": "cranfield.report.tables.surveys:survey_rows_document",
    "SystemsStudy": "cranfield.report.tables.agreement:systems_document",
    "TagCorpus": "cranfield.report.tables.concepts:tags_document",
    "UncertainScores": "cranfield.report.tables.rankings_of_people:category_votes_document",
    "View": "cranfield.report.tables.collection:results_document",
    "VocabularyComparison": "cranfield.report.tables.concepts:comparison_document",
    "WeakLabels": "cranfield.report.tables.agreement:weak_labels_document",
    "WrittenSurvey": "cranfield.report.tables.lab_files:questionnaire_document",
    "WrittenQuestionnaire": "cranfield.report.tables.lab_files:questionnaire_document",
}


def document_of(answer: Answer, **view: Any) -> Document:
    """The tables of an answer, and its JSON; `view` is what its maker takes."""
    return maker_of(answer)(answer, **view)


def maker_of(answer: Answer) -> Callable[..., Document]:
    """The function that makes the tables of an answer."""
    module, _, function = MAKERS[type(answer).__name__].partition(":")
    maker: Callable[..., Document] = getattr(import_module(module), function)
    return maker
