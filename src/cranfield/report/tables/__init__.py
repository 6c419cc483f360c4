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

# kind of answer -> module of this package and its function
MAKERS: dict[str, str] = {
    "Aggregated": "aggregate:document",
    "Agreement": "agreement:document",
    "Annotation": "annotation:document",
    "Association": "surveys:association",
    "Choices": "votes:choices",
    "Collected": "collected:document",
    "CollectionCheck": "check:collection",
    "CollectionDraft": "check:draft",
    "Comparability": "lab_comparable:document",
    "Comparison": "comparison:comparison_document",
    "ConceptCosts": "relatedness:costs_document",
    "ConceptRanking": "concept_queries:document",
    "ConceptView": "ontology:concept_document",
    "Correlations": "lab_correlate:document",
    "CostMapView": "costmap:document",
    "Curves": "lab_curves:document",
    "Description": "features:description_document",
    "DescriptorCard": "features:card_document",
    "DescriptorCatalogue": "features:catalogue_document",
    "DisplacementScores": "displacement:document",
    "ErrorAnalysis": "results:document",
    "Explanations": "explanations:document",
    "Fusion": "fusion:document",
    "Generality": "lab_generality:document",
    "GroupingStudy": "groupings:document",
    "IndexQuality": "index_quality:document",
    "JudgesReport": "judges:document",
    "MapComparison": "costmap:comparison_document",
    "MeasureCard": "measures:card_document",
    "MeasureCatalogue": "measures:document",
    "MethodCatalogue": "relatedness:catalogue_document",
    "OntologyCategories": "ontology:categories_document",
    "OntologyCheck": "ontology:check_document",
    "OntologyView": "ontology:document",
    "PairRelatedness": "relatedness:pairs_document",
    "Pool": "lab_pool:document",
    "PoweredScores": "powered:document",
    "Preferences": "votes:preferences",
    "Published": "published:document",
    "Quality": "agreement:quality_document",
    "RandomStudy": "lab_random:document",
    "Rehearsal": "rehearsal:document",
    "Requirements": "lab_requirements:document",
    "ResultTable": "results:document",
    "Reusability": "lab_pool:left_out",
    "Scores": "scores:document",
    "Search": "features:search_document",
    "SimulatedRuns": "lab_files:simulated",
    "SiteReport": "results:document",
    "Stability": "lab_stability:document",
    "SubmissionCheck": "check:submissions",
    "SurveyRows": "surveys:rows",
    "SystemsStudy": "agreement:systems_document",
    "TagCorpus": "tags:document",
    "UncertainScores": "uncertain:document",
    "View": "results:document",
    "VocabularyComparison": "ontology:comparison_document",
    "WeakLabels": "weaklabel:document",
    "WrittenSurvey": "lab_files:questionnaire",
    "WrittenQuestionnaire": "lab_files:questionnaire",
}


def document_of(answer: Answer, **view: Any) -> Document:
    """The tables of an answer, and its JSON; `view` is what its maker takes."""
    return maker_of(answer)(answer, **view)


def maker_of(answer: Answer) -> Callable[..., Document]:
    """The function that makes the tables of an answer."""
    module, _, function = MAKERS[type(answer).__name__].partition(":")
    maker: Callable[..., Document] = getattr(import_module(f"{__name__}.{module}"), function)
    return maker
