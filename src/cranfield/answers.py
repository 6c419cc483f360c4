"""Every result is an answer: what it says as JSON, its notes, and a file to keep it in.

An answer is a frozen dataclass below `Answer`. It is saved field by field, as JSON that names
the classes; `HOMES` lists the classes that such a file may name, so that reading one never
makes anything else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cranfield._json import jsonable
from cranfield._records import dataclass, field
from cranfield._version import __version__
from cranfield.errors import CranfieldError, InputError, UsageError, suggest
from cranfield.io.files import describe, read_json_text, write_atomic
from cranfield.validation import validate_params

if TYPE_CHECKING:
    import numpy as np
else:
    from cranfield._lazy import np

# The classes that a saved answer may hold, and where they live.
HOMES: dict[str, str] = {
    "Aggregated": "cranfield.agreement.aggregation",
    "Agreed": "cranfield.comparison.judges",
    "Agreement": "cranfield.agreement.answer",
    "AgreementRow": "cranfield.agreement.assess",
    "Annotation": "cranfield.evaluation.baselines",
    "AnnotatorPairs": "cranfield.agreement.pairwise",
    "AnnotatorQuality": "cranfield.agreement.quality",
    "AnnotatorRow": "cranfield.agreement.assess",
    "Assessed": "cranfield.agreement.assess",
    "Association": "cranfield.campaign.surveys.rated",
    "BandPoint": "cranfield.evaluation.category_votes.answer",
    "BatchFacts": "cranfield.campaign.responses",
    "BrokenForm": "cranfield.agreement.exclusive_labels",
    "CategoryPart": "cranfield.relatedness.hierarchies",
    "Choice": "cranfield.campaign.surveys.votes",
    "Choices": "cranfield.campaign.surveys.votes",
    "CollectionCheck": "cranfield.campaign.collections",
    "CollectionDraft": "cranfield.campaign.collections",
    "Comparability": "cranfield.lab.studies.calibration",
    "Comparison": "cranfield.comparison.answer",
    "ConceptCosts": "cranfield.relatedness.results",
    "ConceptRanking": "cranfield.evaluation.concept_queries",
    "ConceptView": "cranfield.relatedness.hierarchies",
    "Confusions": "cranfield.agreement.truth_inference",
    "Correlations": "cranfield.lab.studies.correlate",
    "CostMap": "cranfield.data.costmap",
    "CostMapView": "cranfield.relatedness.cost_maps",
    "Curves": "cranfield.lab.studies.rank_curves",
    "Derivation": "cranfield.evaluation.explanations",
    "Description": "cranfield.features.extract",
    "Descriptor": "cranfield.features",
    "DescriptorCard": "cranfield.features.catalogue",
    "DescriptorCatalogue": "cranfield.features.catalogue",
    "DisplacementPair": "cranfield.evaluation.displacement",
    "DisplacementScores": "cranfield.evaluation.displacement",
    "Distance": "cranfield.features",
    "Distribution": "cranfield.evaluation.category_votes.answer",
    "Doubt": "cranfield.evaluation.truth_uncertainty",
    "Duel": "cranfield.campaign.surveys.votes",
    "ErrorAnalysis": "cranfield.campaign.error_analysis",
    "Estimate": "cranfield.comparison.ppi",
    "Estimated": "cranfield.comparison.judges",
    "Favour": "cranfield.comparison.judges",
    "FormResponses": "cranfield.campaign.responses",
    "GroupingStudy": "cranfield.agreement.card_sorting",
    "ItemDoubt": "cranfield.evaluation.truth_uncertainty",
    "Explanations": "cranfield.evaluation.explanations",
    "Family": "cranfield.comparison.answer",
    "Fold": "cranfield.evaluation.fusion",
    "FormsReport": "cranfield.agreement.answer",
    "Friedman": "cranfield.stats.anova",
    "Fusion": "cranfield.evaluation.fusion",
    "FusionMethod": "cranfield.evaluation.fusion",
    "Generality": "cranfield.lab.studies.generality",
    "GroupAgreement": "cranfield.agreement.annotator_groups",
    "GroupRow": "cranfield.agreement.annotator_groups",
    "HeldFact": "cranfield.campaign.collections",
    "HumanCorrelation": "cranfield.relatedness.human_judgements",
    "IndexQuality": "cranfield.evaluation.index_quality",
    "ItemAgreement": "cranfield.agreement.majority",
    "ItemExplanation": "cranfield.evaluation.explanations",
    "Join": "cranfield.lab.studies.correlate",
    "Judge": "cranfield.comparison.judges",
    "JudgedMeasure": "cranfield.comparison.judges",
    "JudgementLog": "cranfield.data.judgement_log",
    "JudgesReport": "cranfield.comparison.judges",
    "KindShare": "cranfield.agreement.card_sorting",
    "LabelMatrix": "cranfield.data.labels",
    "LeftOut": "cranfield.lab.studies.reusability",
    "LexiconPart": "cranfield.relatedness.tag_corpus",
    "MajorityAgreement": "cranfield.campaign.surveys.votes",
    "MajorityShare": "cranfield.agreement.majority",
    "MajorityShares": "cranfield.agreement.majority",
    "MapComparison": "cranfield.relatedness.cost_maps",
    "Measure": "cranfield.measures",
    "MeasureCard": "cranfield.evaluation.measure_catalogue",
    "MeasureCatalogue": "cranfield.evaluation.measure_catalogue",
    "MeasurePair": "cranfield.lab.studies.correlate",
    "Method": "cranfield.relatedness",
    "MethodCatalogue": "cranfield.relatedness.results",
    "MethodPairs": "cranfield.relatedness.results",
    "MovedConcept": "cranfield.relatedness.vocabularies",
    "NearConcept": "cranfield.relatedness.vocabularies",
    "Odds": "cranfield.evaluation.category_votes.answer",
    "OneWay": "cranfield.stats.anova",
    "OntologyCategories": "cranfield.relatedness.hierarchies",
    "OntologyCheck": "cranfield.relatedness.hierarchies",
    "OntologyFacts": "cranfield.relatedness.hierarchies",
    "OntologyNode": "cranfield.relatedness.hierarchies",
    "OntologyView": "cranfield.relatedness.hierarchies",
    "PairRelatedness": "cranfield.relatedness.results",
    "Pairs": "cranfield.comparison.answer",
    "Pool": "cranfield.campaign.pool",
    "PooledItem": "cranfield.campaign.pool",
    "Power": "cranfield.lab.studies.stability",
    "PoweredPair": "cranfield.comparison.ppi",
    "PoweredScores": "cranfield.comparison.ppi",
    "Preferences": "cranfield.campaign.surveys.votes",
    "Problem": "cranfield.campaign.submissions",
    "PublishedSite": "cranfield.campaign.collections",
    "Quality": "cranfield.agreement.quality",
    "QueryCategory": "cranfield.evaluation.category_votes.answer",
    "QuestionVotes": "cranfield.campaign.surveys.votes",
    "RandomStudy": "cranfield.lab.studies.random_runs",
    "RankingPair": "cranfield.agreement.ranking_robustness",
    "Rankings": "cranfield.agreement.ranking_robustness",
    "RelatedPair": "cranfield.relatedness.results",
    "Reliability": "cranfield.stats.cronbach",
    "Remark": "cranfield.campaign.responses",
    "Requirement": "cranfield.lab.studies.requirements",
    "Requirements": "cranfield.lab.studies.requirements",
    "Resampling": "cranfield.agreement.assess",
    "ResultColumn": "cranfield.campaign.results.results_data",
    "ResultPart": "cranfield.campaign.results.results_data",
    "ResultTable": "cranfield.campaign.results.results_data",
    "Respondents": "cranfield.campaign.surveys.survey",
    "Rehearsal": "cranfield.server.rehearsal.checks",
    "Reusability": "cranfield.lab.studies.reusability",
    "Run": "cranfield.data",
    "Scores": "cranfield.evaluation.scores",
    "Search": "cranfield.features.search",
    "Sign": "cranfield.agreement.quality",
    "SimulatedRuns": "cranfield.lab.runs",
    "Stability": "cranfield.lab.studies.stability",
    "Stage": "cranfield.lab.studies.stability",
    "SiteReport": "cranfield.campaign.collections",
    "Standing": "cranfield.comparison.answer",
    "Step": "cranfield.evaluation.explanations",
    "Submission": "cranfield.campaign.checking",
    "SubmissionCheck": "cranfield.campaign.checking",
    "SurveyRows": "cranfield.campaign.surveys.survey",
    "Swap": "cranfield.comparison.judges",
    "Swaps": "cranfield.lab.studies.stability",
    "SystemsStudy": "cranfield.agreement.ranking_robustness",
    "TagClass": "cranfield.relatedness.tag_corpus",
    "TagCorpus": "cranfield.relatedness.tag_corpus",
    "TagCount": "cranfield.relatedness.tag_corpus",
    "TagFilter": "cranfield.agreement.weak_labels",
    "Tally": "cranfield.campaign.responses",
    "TestedRun": "cranfield.lab.studies.random_runs",
    "TopicScore": "cranfield.evaluation.category_votes.answer",
    "TwoWay": "cranfield.stats.anova",
    "UncertainPair": "cranfield.evaluation.category_votes.answer",
    "UncertainScores": "cranfield.evaluation.category_votes.answer",
    "Verdict": "cranfield.lab.studies.random_runs",
    "View": "cranfield.campaign.views.answer",
    "Violation": "cranfield.data.ontology",
    "VocabularyComparison": "cranfield.relatedness.vocabularies",
    "WeakLabels": "cranfield.agreement.weak_labels",
    "Worked": "cranfield.evaluation.worked_example",
    "WrittenSurvey": "cranfield.campaign.surveys.survey",
    "WrittenQuestionnaire": "cranfield.campaign.surveys.questionnaire",
}

# Files that an earlier version saved hold the names that these classes had then.
FORMER_NAMES = {"Collected": "FormResponses", "Published": "PublishedSite"}
# How the layout of saved answers is numbered; a later one is refused, an earlier one is read.
LAYOUT = 1
_CLASS, _TUPLE, _MAP, _ARRAY, _FLOAT = "~", "~tuple", "~map", "~array", "~float"
_REPR_LENGTH = 900


def envelope(command: str, payload: Mapping[str, Any], notes: tuple[str, ...]) -> dict[str, Any]:
    """What a program reads of any answer: who says it, what it says, what to know about it."""
    document: dict[str, Any] = jsonable(
        {"cranfield": __version__, "command": command, **payload, "notes": list(notes)}
    )
    return document


def check_view(view: Mapping[str, Any], *takers: Callable[..., Any]) -> None:
    """A UsageError for an argument that none of these functions has by name."""
    if not view:
        return
    accepted = dict.fromkeys(name for taker in takers for name in _keywords(taker))
    for name in view:
        if name not in accepted:
            those = f"it takes {', '.join(accepted)}" if accepted else "it takes none"
            raise UsageError(f"no argument {name!r} here; {those}.{suggest(name, accepted)}")


def _keywords(taker: Callable[..., Any]) -> tuple[str, ...]:
    """The parameters of a function that only have names."""
    code = getattr(taker, "__code__", None)
    if code is None or hasattr(taker, "__wrapped__"):
        import inspect  # takes longer to load than a small evaluation takes

        parameters = inspect.signature(taker).parameters.values()
        return tuple(
            parameter.name for parameter in parameters if parameter.kind is parameter.KEYWORD_ONLY
        )
    names: tuple[str, ...] = code.co_varnames
    return names[code.co_argcount : code.co_argcount + code.co_kwonlyargcount]


@dataclass(frozen=True, repr=False, eq=False)
class Answer:
    """What every result has: `to_dict`, `notes`, `save`, a table as `str`, a line as `repr`.

    A result sets `command`, the word under which the command line asks for it, and writes
    `payload` and `headline`; its tables are in `cranfield.report.tables`.
    """

    command: ClassVar[str]
    notes: tuple[str, ...] = field(default=(), kw_only=True)

    def payload(self, **view: Any) -> dict[str, Any]:
        """What the answer says as JSON, without what all answers have."""
        raise NotImplementedError

    def headline(self) -> str:
        """The answer in a line."""
        return self.command

    def to_dict(self, **view: Any) -> dict[str, Any]:
        """The JSON shape of the command line; a value that does not exist is None."""
        check_view(view, self.payload)
        return envelope(self._word(), self.payload(**view), self.notes)

    def _word(self) -> str:
        return self.command

    def save(self, path: str | Path) -> None:
        """Write the whole answer to a file, which `cranfield.load` reads."""
        import json

        document = {"cranfield": __version__, "command": self._word(), "layout": LAYOUT}
        text = json.dumps(document | {"answer": encode(self)}, ensure_ascii=False)
        write_atomic(Path(path), (text + "\n").encode())

    def __eq__(self, other: object) -> bool:
        """Whether the other says the same, bit by bit; what is missing equals itself."""
        return type(self) is type(other) and encode(self) == encode(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        line = f"<{type(self).__name__}: {self.headline()}>"
        return line if len(line) <= _REPR_LENGTH else f"{line[:_REPR_LENGTH]} ...>"

    def __str__(self) -> str:
        from cranfield.report.rendering import as_text

        return as_text(self)

    def to_latex(self, caption: str | None = None, label: str | None = None, **view: Any) -> str:
        """The tables of the answer as LaTeX; the first with a caption and label of one's own."""
        from cranfield.report.rendering import latex_of

        return latex_of(self, caption, label, **view)

    def to_markdown(self, **view: Any) -> str:
        """The tables of the answer as Markdown."""
        from cranfield.report.rendering import render_answer

        return render_answer(self, "markdown", **view)

    def report(self, path: str | Path, **view: Any) -> None:
        """Write a page that opens from disk: the report of scores, else tables and charts."""
        from cranfield.report.rendering import page_of

        write_atomic(Path(path), page_of(self, **view).encode(errors="replace"))

    def plot(self, measure: str | None = None) -> Any:
        """The chart of scores or of a comparison; it draws itself, and `save` writes it."""
        from cranfield.report.rendering import chart_of_answer

        return chart_of_answer(self, measure)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """What a notebook shows."""
        from cranfield.report.rendering import notebook_bundle

        return notebook_bundle(self)


def _fields(value: Any) -> Any:
    from dataclasses import fields

    return fields(value)


def encode(value: Any) -> Any:
    """A value as JSON from which `decode` makes it again, to the last bit."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, float):  # also numpy's double
        return float(value) if math.isfinite(value) else {_FLOAT: repr(float(value))}
    if isinstance(value, int):
        return value
    if isinstance(value, list):
        return [encode(v) for v in value]
    if isinstance(value, tuple | frozenset | set):
        return {_TUPLE: [encode(v) for v in value]}
    if hasattr(value, "__saved__"):
        return {_CLASS: _class_name(value), "saved": encode(value.__saved__())}
    if hasattr(type(value), "__dataclass_fields__"):
        state = {f.name: encode(getattr(value, f.name)) for f in _fields(value) if f.init}
        return {_CLASS: _class_name(value), **state}
    if isinstance(value, Mapping):
        if all(isinstance(k, str) and not k.startswith(_CLASS) for k in value):
            return {k: encode(v) for k, v in value.items()}
        return {_MAP: [[encode(k), encode(v)] for k, v in value.items()]}
    if isinstance(value, np.generic):
        return encode(value.item())
    if isinstance(value, np.ndarray):
        cells = [encode(v) for v in value.ravel().tolist()]
        return {_ARRAY: value.dtype.str, "shape": list(value.shape), "cells": cells}
    raise UsageError(f"an answer with a {type(value).__name__} cannot be saved")


def _class_name(value: Any) -> str:
    name = type(value).__name__
    if name not in HOMES:
        raise UsageError(f"an answer with a {name} cannot be saved")
    return name


def decode(value: Any) -> Any:
    """The value that `encode` has turned into JSON."""
    if isinstance(value, list):
        return [decode(v) for v in value]
    if not isinstance(value, dict):
        return value
    if _FLOAT in value:
        return float(value[_FLOAT])
    if _TUPLE in value:
        return tuple(decode(v) for v in value[_TUPLE])
    if _MAP in value:
        return {decode(k): decode(v) for k, v in value[_MAP]}
    if _ARRAY in value:
        dtype = np.dtype(value[_ARRAY])
        if dtype.kind not in "biufU":
            raise ValueError(f"an array of {dtype}")
        return np.array([decode(v) for v in value["cells"]], dtype=dtype).reshape(value["shape"])
    if _CLASS in value:
        return _rebuild(value)
    return {k: decode(v) for k, v in value.items()}


def _rebuild(value: dict[str, Any]) -> Any:
    name = FORMER_NAMES.get(value[_CLASS], value[_CLASS])
    kind = getattr(import_module(HOMES[name]), name)
    if "saved" in value:
        return kind.__restored__(decode(value["saved"]))
    field_names = {f.name for f in _fields(kind) if f.init}
    return kind(**{k: decode(v) for k, v in value.items() if k in field_names})


@validate_params
def load(path: str | Path) -> Answer:
    """The answer that `save` has written, or the scores that `--format json` has printed.

    >>> import cranfield as cf, tempfile, os
    >>> scores = cf.evaluate({"t": {"a": 1}}, {"t": {"a": 0.5, "b": 0.7}}, "RR")
    >>> kept = os.path.join(tempfile.mkdtemp(), "scores.json")
    >>> scores.save(kept)
    >>> cf.load(kept).mean()
    {'run': {'RR': 0.5}}
    """
    source = describe(path)
    text = read_json_text(path)
    try:
        answer = _decode_saved(text, source)
    except InputError:
        raise
    except CranfieldError as error:
        raise InputError.single(source, f"is not an answer of Cranfield ({error})") from None
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise InputError.single(source, f"is not an answer of Cranfield ({error})") from None
    if not isinstance(answer, Answer):
        raise InputError.single(source, "is not an answer of Cranfield")
    return answer


def _decode_saved(text: str, source: str) -> Any:
    """The object that a saved text describes; a damaged text may fail in any way."""
    import json

    document = json.loads(text)
    if not isinstance(document, dict) or "cranfield" not in document:
        raise InputError.single(source, "is not an answer of Cranfield, as save() writes it")
    if "layout" not in document:
        answer = _from_printed(document, source)
    elif document["layout"] > LAYOUT:
        raise InputError.single(source, f"was saved by a later Cranfield ({document['cranfield']})")
    else:
        answer = decode(document["answer"])
    if isinstance(answer, Answer) and not all(isinstance(n, str) for n in answer.notes):
        raise InputError.single(source, "has notes that are no text")
    str(answer)  # fails where parts do not fit together
    return answer


def _from_printed(document: dict[str, Any], source: str) -> Answer:
    """Scores that a command printed as JSON; other printed answers cannot be made again."""
    if document.get("command") not in ("eval", "label"):
        raise InputError.single(
            source,
            f"is the printed answer of {document.get('command')!r}; only scores can be read from "
            "what was printed (save an answer to load it again)",
        )
    kind = import_module(HOMES["Scores"]).Scores
    answer: Answer = kind.from_dict(document, name=source)
    return answer
