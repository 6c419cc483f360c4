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
    "Aggregated": "cranfield.report.tables.aggregate:document",
    "Agreement": "cranfield.report.tables.agreement:document",
    "Annotation": "cranfield.report.tables.annotation:document",
    "Association": "cranfield.report.tables.surveys:association",
    "Choices": "cranfield.report.tables.votes:choices",
    "Collected": "cranfield.report.tables.collected:document",
    "CollectionCheck": "cranfield.report.tables.check:collection",
    "CollectionDraft": "cranfield.report.tables.check:draft",
    "Comparability": "cranfield.report.tables.lab_comparable:document",
    "Comparison": "cranfield.report.tables.comparison:comparison_document",
    "ConceptCosts": "cranfield.report.tables.relatedness:costs_document",
    "ConceptRanking": "cranfield.report.tables.concept_queries:document",
    "ConceptView": "cranfield.report.tables.ontology:concept_document",
    "Correlations": "cranfield.report.tables.lab_correlate:document",
    "CostMapView": "cranfield.report.tables.costmap:document",
    "Curves": "cranfield.report.tables.lab_curves:document",
    "Description": "cranfield.report.tables.features:description_document",
    "DescriptorCard": "cranfield.report.tables.features:card_document",
    "DescriptorCatalogue": "cranfield.report.tables.features:catalogue_document",
    "DisplacementScores": "cranfield.report.tables.displacement:document",
    "ErrorAnalysis": "cranfield.report.tables.results:document",
    "Explanations": "cranfield.report.tables.explanations:document",
    "Fusion": "cranfield.report.tables.fusion:document",
    "Generality": "cranfield.report.tables.lab_generality:document",
    "GroupingStudy": "cranfield.report.tables.groupings:document",
    "IndexQuality": "cranfield.report.tables.index_quality:document",
    "JudgesReport": "cranfield.report.tables.judges:document",
    "MapComparison": "cranfield.report.tables.costmap:comparison_document",
    "MeasureCard": "cranfield.report.tables.measures:card_document",
    "MeasureCatalogue": "cranfield.report.tables.measures:document",
    "MethodCatalogue": "cranfield.report.tables.relatedness:catalogue_document",
    "OntologyCategories": "cranfield.report.tables.ontology:categories_document",
    "OntologyCheck": "cranfield.report.tables.ontology:check_document",
    "OntologyView": "cranfield.report.tables.ontology:document",
    "PairRelatedness": "cranfield.report.tables.relatedness:pairs_document",
    "Pool": "cranfield.report.tables.lab_pool:document",
    "PoweredScores": "cranfield.report.tables.powered:document",
    "Preferences": "cranfield.report.tables.votes:preferences",
    "Published": "cranfield.report.tables.published:document",
    "Quality": "cranfield.report.tables.agreement:quality_document",
    "RandomStudy": "cranfield.report.tables.lab_random:document",
    "Rehearsal": "cranfield.report.tables.rehearsal:document",
    "Requirements": "cranfield.report.tables.lab_requirements:document",
    "ResultTable": "cranfield.report.tables.results:document",
    "Reusability": "cranfield.report.tables.lab_pool:left_out",
    "Scores": "cranfield.report.tables.scores:document",
    "Search": "cranfield.report.tables.features:search_document",
    "SimulatedRuns": "cranfield.report.tables.lab_files:simulated",
    "SiteReport": "cranfield.report.tables.results:document",
    "Stability": "cranfield.report.tables.lab_stability:document",
    "SubmissionCheck": "cranfield.report.tables.check:submissions",
    "SurveyRows": "cranfield.report.tables.surveys:rows",
    "SystemsStudy": "cranfield.report.tables.agreement:systems_document",
    "TagCorpus": "cranfield.report.tables.tags:document",
    "UncertainScores": "cranfield.report.tables.uncertain:document",
    "View": "cranfield.report.tables.results:document",
    "VocabularyComparison": "cranfield.report.tables.ontology:comparison_document",
    "WeakLabels": "cranfield.report.tables.weaklabel:document",
    "WrittenSurvey": "cranfield.report.tables.lab_files:questionnaire",
    "WrittenQuestionnaire": "cranfield.report.tables.lab_files:questionnaire",
}


def document_of(answer: Answer, **view: Any) -> Document:
    """The tables of an answer, and its JSON; `view` is what its maker takes."""
    return maker_of(answer)(answer, **view)


def maker_of(answer: Answer) -> Callable[..., Document]:
    """The function that makes the tables of an answer."""
    module, _, function = MAKERS[type(answer).__name__].partition(":")
    maker: Callable[..., Document] = getattr(import_module(module), function)
    return maker
