"""Every result is an answer: what it says as JSON, its notes, and a file to keep it in.

An answer is a frozen dataclass below `Answer`. It is saved field by field, as JSON in a format
with a name and a version of its own; `FILE_NAMES` lists what such a file may hold, so that
reading one never makes anything else.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cranfield._json import jsonable
from cranfield._lazy import np
from cranfield._version import __version__
from cranfield.errors import CranfieldError, InputError, UsageError, suggest
from cranfield.io import frames
from cranfield.io.files import describe, read_json_text, write_atomic
from cranfield.validation import validate_params

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

    from cranfield.report.charts.model import Chart

# What a saved result may hold: the name in files, and the class. A class may be renamed or moved
# without a change to files; a name in files stays.
FILE_NAMES: dict[str, str] = {
    "aggregated-truth": "cranfield.agreement.aggregation:AggregatedTruth",
    "agreement": "cranfield.agreement.agreement:Agreement",
    "agreement-figures": "cranfield.agreement.coefficients:AgreementFigures",
    "agreement-row": "cranfield.agreement.coefficients:AgreementRow",
    "annotation": "cranfield.evaluation.baselines:Annotation",
    "annotator-pairs": "cranfield.agreement.pairwise:AnnotatorPairs",
    "annotator-quality": "cranfield.agreement.quality:AnnotatorQuality",
    "annotator-row": "cranfield.agreement.coefficients:AnnotatorRow",
    "association": "cranfield.campaign.surveys.ratings:Association",
    "band-point": "cranfield.evaluation.category_votes:BandPoint",
    "batch-facts": "cranfield.campaign.responses:BatchFacts",
    "box-agreement": "cranfield.agreement.regions:BoxAgreement",
    "broken-form": "cranfield.agreement.exclusive_labels:BrokenForm",
    "calibrated-run": "cranfield.evaluation.calibration:CalibratedRun",
    "campaign-plan": "cranfield.lab.planning:CampaignPlan",
    "category-part": "cranfield.relatedness.hierarchies:CategoryPart",
    "choice": "cranfield.campaign.surveys.votes:Choice",
    "choices": "cranfield.campaign.surveys.votes:Choices",
    "collection-check": "cranfield.campaign.collections:CollectionCheck",
    "collection-draft": "cranfield.campaign.collections:CollectionDraft",
    "comparability": "cranfield.lab.ranking_stability:Comparability",
    "comparison": "cranfield.comparison.answer:Comparison",
    "concept-costs": "cranfield.relatedness.cost_maps:ConceptCosts",
    "concept-ranking": "cranfield.evaluation.concept_queries:ConceptRanking",
    "concept-view": "cranfield.relatedness.hierarchies:ConceptView",
    "confusions": "cranfield.agreement.truth_inference:Confusions",
    "correlations": "cranfield.lab.measure_correlation:Correlations",
    "cost-map": "cranfield.data.costmap:CostMap",
    "cost-map-view": "cranfield.relatedness.cost_maps:CostMapView",
    "curves": "cranfield.lab.rank_curves:Curves",
    "derivation": "cranfield.evaluation.explanations:Derivation",
    "description": "cranfield.features.extract:Description",
    "descriptor": "cranfield.features:Descriptor",
    "descriptor-benchmark": "cranfield.comparison.descriptor_benchmark:DescriptorBenchmark",
    "descriptor-card": "cranfield.features.catalogue:DescriptorCard",
    "descriptor-catalogue": "cranfield.features.catalogue:DescriptorCatalogue",
    "design-replay": "cranfield.lab.replay:DesignReplay",
    "displacement-pair": "cranfield.evaluation.displacement:DisplacementPair",
    "displacement-scores": "cranfield.evaluation.displacement:DisplacementScores",
    "distance": "cranfield.features:Distance",
    "distribution": "cranfield.evaluation.category_votes:Distribution",
    "doubt": "cranfield.evaluation.truth_uncertainty:Doubt",
    "drawn-cell": "cranfield.campaign.next_judgements:DrawnCell",
    "duel": "cranfield.campaign.surveys.votes:Duel",
    "error-analysis": "cranfield.campaign.error_analysis:ErrorAnalysis",
    "estimate": "cranfield.comparison.ppi:Estimate",
    "explanations": "cranfield.evaluation.explanations:Explanations",
    "family": "cranfield.comparison.answer:Family",
    "favour": "cranfield.comparison.judges:Favour",
    "feedback": "cranfield.evaluation.feedback:Feedback",
    "feedback-gain": "cranfield.evaluation.feedback:FeedbackGain",
    "fold": "cranfield.evaluation.fusion:Fold",
    "form-responses": "cranfield.campaign.responses:FormResponses",
    "forms-report": "cranfield.agreement.agreement:FormsReport",
    "friedman": "cranfield.stats.anova:Friedman",
    "fusion": "cranfield.evaluation.fusion:Fusion",
    "fusion-method": "cranfield.evaluation.fusion:FusionMethod",
    "generality": "cranfield.lab.growing_collections:Generality",
    "group-agreement": "cranfield.agreement.agreement:GroupAgreement",
    "group-row": "cranfield.agreement.agreement:GroupRow",
    "grouping-study": "cranfield.agreement.card_sorting:GroupingStudy",
    "held-fact": "cranfield.campaign.collections:HeldFact",
    "human-correlation": "cranfield.relatedness.api:HumanCorrelation",
    "index-quality": "cranfield.evaluation.index_quality:IndexQuality",
    "interval-estimate": "cranfield.comparison.judges:IntervalEstimate",
    "item-agreement": "cranfield.agreement.majority:ItemAgreement",
    "item-doubt": "cranfield.evaluation.truth_uncertainty:ItemDoubt",
    "item-explanation": "cranfield.evaluation.explanations:ItemExplanation",
    "join": "cranfield.lab.measure_correlation:Join",
    "judge": "cranfield.comparison.judges:Judge",
    "judge-agreement": "cranfield.comparison.judges:JudgeAgreement",
    "judged-measure": "cranfield.comparison.judges:JudgedMeasure",
    "judgement-log": "cranfield.data.judgement_log:JudgementLog",
    "judgements": "cranfield.data:Judgements",
    "judges-report": "cranfield.comparison.judges:JudgesReport",
    "kind-share": "cranfield.agreement.card_sorting:KindShare",
    "label-matrix": "cranfield.data.labels:LabelMatrix",
    "left-out": "cranfield.lab.reusability:LeftOut",
    "lexicon-part": "cranfield.relatedness.vocabularies:LexiconPart",
    "majority-agreement": "cranfield.campaign.surveys.votes:MajorityAgreement",
    "majority-share": "cranfield.agreement.majority:MajorityShare",
    "majority-shares": "cranfield.agreement.majority:MajorityShares",
    "map-comparison": "cranfield.relatedness.cost_maps:MapComparison",
    "measure": "cranfield.measures:Measure",
    "measure-card": "cranfield.evaluation.measure_catalogue:MeasureCard",
    "measure-catalogue": "cranfield.evaluation.measure_catalogue:MeasureCatalogue",
    "measure-pair": "cranfield.lab.measure_correlation:MeasurePair",
    "measure-plan": "cranfield.lab.planning:MeasurePlan",
    "method": "cranfield.relatedness:Method",
    "method-catalogue": "cranfield.relatedness.api:MethodCatalogue",
    "method-pairs": "cranfield.relatedness.api:MethodPairs",
    "moved-concept": "cranfield.relatedness.vocabularies:MovedConcept",
    "near-concept": "cranfield.relatedness.vocabularies:NearConcept",
    "next-judgements": "cranfield.campaign.next_judgements:NextJudgements",
    "next-opinion": "cranfield.campaign.next_opinions:NextOpinion",
    "next-opinions": "cranfield.campaign.next_opinions:NextOpinions",
    "odds": "cranfield.evaluation.category_votes:Odds",
    "one-way": "cranfield.stats.anova:OneWay",
    "ontology-categories": "cranfield.relatedness.hierarchies:OntologyCategories",
    "ontology-check": "cranfield.relatedness.hierarchies:OntologyCheck",
    "ontology-facts": "cranfield.relatedness.hierarchies:OntologyFacts",
    "ontology-node": "cranfield.relatedness.hierarchies:OntologyNode",
    "ontology-view": "cranfield.relatedness.hierarchies:OntologyView",
    "overlap-point": "cranfield.lab.replay:OverlapPoint",
    "overlap-study": "cranfield.lab.replay:OverlapStudy",
    "pair-relatedness": "cranfield.relatedness.api:PairRelatedness",
    "pair-state": "cranfield.campaign.next_judgements:PairState",
    "pairs": "cranfield.comparison.answer:Pairs",
    "place-row": "cranfield.comparison.descriptor_benchmark:PlaceRow",
    "pool": "cranfield.campaign.pool:Pool",
    "pooled-item": "cranfield.campaign.pool:PooledItem",
    "order-without-truth": "cranfield.lab.unjudged:OrderWithoutTruth",
    "other units": "cranfield.lab.ranking_stability:Others",
    "power": "cranfield.lab.ranking_stability:Power",
    "power difference": "cranfield.lab.ranking_stability:PowerDifference",
    "power-point": "cranfield.lab.planning:PowerPoint",
    "powered-pair": "cranfield.comparison.ppi:PoweredPair",
    "powered-scores": "cranfield.comparison.ppi:PoweredScores",
    "preferences": "cranfield.campaign.surveys.votes:Preferences",
    "problem": "cranfield.campaign.submissions:Problem",
    "published-site": "cranfield.campaign.collections:PublishedSite",
    "quality": "cranfield.agreement.quality:Quality",
    "query-category": "cranfield.evaluation.category_votes:QueryCategory",
    "question-votes": "cranfield.campaign.surveys.votes:QuestionVotes",
    "random-study": "cranfield.lab.synthetic_runs:RandomStudy",
    "ranking-pair": "cranfield.agreement.ranking_robustness:RankingPair",
    "rankings": "cranfield.agreement.ranking_robustness:Rankings",
    "region-agreement": "cranfield.agreement.regions:RegionAgreement",
    "rehearsal": "cranfield.rehearsal.campaign:Rehearsal",
    "related-pair": "cranfield.relatedness.api:RelatedPair",
    "reliability": "cranfield.stats.anova:Reliability",
    "reliability-bin": "cranfield.evaluation.calibration:ReliabilityBin",
    "remark": "cranfield.campaign.responses:Remark",
    "replay": "cranfield.lab.replay:Replay",
    "replay-point": "cranfield.lab.replay:ReplayPoint",
    "requirement": "cranfield.lab.measure_requirements:Requirement",
    "requirements": "cranfield.lab.measure_requirements:Requirements",
    "resampling": "cranfield.agreement.coefficients:Resampling",
    "respondents": "cranfield.campaign.surveys.survey:Respondents",
    "result-column": "cranfield.campaign.results.results_data:ResultColumn",
    "result-part": "cranfield.campaign.results.results_data:ResultPart",
    "result-table": "cranfield.campaign.results.results_data:ResultTable",
    "reusability": "cranfield.lab.reusability:Reusability",
    "run": "cranfield.data:Run",
    "run-estimate": "cranfield.campaign.next_judgements:RunEstimate",
    "scores": "cranfield.evaluation.scores:Scores",
    "search": "cranfield.features.search:Search",
    "sign": "cranfield.agreement.quality:Sign",
    "simulated-runs": "cranfield.lab.synthetic_runs:SimulatedRuns",
    "site-report": "cranfield.campaign.collections:SiteReport",
    "slice-mean": "cranfield.comparison.slices:SliceMean",
    "slice-pair": "cranfield.comparison.slices:SlicePair",
    "sliced-scores": "cranfield.comparison.slices:SlicedScores",
    "splits": "cranfield.campaign.splitting:Splits",
    "stability": "cranfield.lab.ranking_stability:Stability",
    "stage": "cranfield.lab.ranking_stability:Stage",
    "standing": "cranfield.comparison.answer:Standing",
    "step": "cranfield.evaluation.explanations:Step",
    "submission": "cranfield.campaign.submissions:Submission",
    "submission-check": "cranfield.campaign.submissions:SubmissionCheck",
    "suitability": "cranfield.campaign.suitability:Suitability",
    "survey-rows": "cranfield.campaign.surveys.survey:SurveyRows",
    "swap": "cranfield.comparison.judges:Swap",
    "swaps": "cranfield.lab.ranking_stability:Swaps",
    "systems-study": "cranfield.agreement.ranking_robustness:SystemsStudy",
    "tag-class": "cranfield.relatedness.vocabularies:TagClass",
    "tag-corpus": "cranfield.relatedness.vocabularies:TagCorpus",
    "tag-count": "cranfield.relatedness.vocabularies:TagCount",
    "tag-filter": "cranfield.agreement.weak_labels:TagFilter",
    "suggestion-influence": "cranfield.campaign.responses:SuggestionInfluence",
    "tally": "cranfield.campaign.responses:Tally",
    "tested-run": "cranfield.lab.synthetic_runs:TestedRun",
    "text-search": "cranfield.features.text_search:TextSearch",
    "topic-score": "cranfield.evaluation.category_votes:TopicScore",
    "two-way": "cranfield.stats.anova:TwoWay",
    "uncertain-pair": "cranfield.evaluation.category_votes:UncertainPair",
    "uncertain-scores": "cranfield.evaluation.category_votes:UncertainScores",
    "unit-design": "cranfield.stats.design:UnitDesign",
    "unjudged-study": "cranfield.lab.unjudged:UnjudgedStudy",
    "verdict": "cranfield.lab.synthetic_runs:Verdict",
    "view": "cranfield.campaign.views:View",
    "violation": "cranfield.data.ontology:Violation",
    "vocabulary-comparison": "cranfield.relatedness.vocabularies:VocabularyComparison",
    "weak-labels": "cranfield.agreement.weak_labels:WeakLabels",
    "worked-example": "cranfield.evaluation.measure_catalogue:WorkedExample",
    "written-survey": "cranfield.campaign.surveys.survey:WrittenSurvey",
}
# Files of layout 1 hold names of classes. Most are names in files of today in capitals and
# without hyphens; these are not.
_LAYOUT_1_NAMES = {
    "Aggregated": "aggregated-truth",
    "Agreed": "judge-agreement",
    "Assessed": "agreement-figures",
    "Collected": "form-responses",
    "Estimated": "interval-estimate",
    "Published": "published-site",
    "Worked": "worked-example",
    "WrittenQuestionnaire": "written-survey",
}
FORMAT = "cranfield-result"
# A file of a later version is refused, one of an earlier version is read.
FORMAT_VERSION = 2
_LAYOUT_1_NOTE = "read from a file in the first layout of saved results; save it again to renew it"
_CLASS, _TUPLE, _MAP, _ARRAY, _FLOAT = "~", "~tuple", "~map", "~array", "~float"
_REPR_LENGTH = 900
# Names in files of the classes saved so far; finding one imports its module.
_names_of_classes: dict[type[Any], str] = {}


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

    A result sets `command`, the word under which the command line asks for it, and `table_maker`,
    the module and function that make its tables, and writes `payload` and `headline`. The tables
    are named, not imported: they are in a room above the results, and are loaded when shown.
    """

    command: ClassVar[str]
    table_maker: ClassVar[str]
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

        document = {
            "format": FORMAT,
            "version": FORMAT_VERSION,
            "cranfield": __version__,
            "command": self._word(),
            "result": encode(self),
        }
        text = json.dumps(document, ensure_ascii=False)
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

    def to_latex(
        self,
        caption: str | None = None,
        label: str | None = None,
        *,
        columns: Sequence[str] | None = None,
        **view: Any,
    ) -> str:
        """The tables of the answer as LaTeX; the first with a caption and label of one's own.

        Of named `columns` each table has those that it has, and its first one.
        """
        from cranfield.report.rendering import latex_of

        return latex_of(self, caption, label, columns, **view)

    def to_markdown(self, **view: Any) -> str:
        """The tables of the answer as Markdown."""
        from cranfield.report.rendering import render_answer

        return render_answer(self, "markdown", **view)

    def to_pandas(self) -> pd.DataFrame:
        """The table that `--format csv` prints, as a data frame of pandas."""
        return frames.to_pandas(self._columns(), f"{type(self).__name__}.to_pandas")

    def to_polars(self) -> pl.DataFrame:
        """The table that `--format csv` prints, as a data frame of polars."""
        return frames.to_polars(self._columns(), f"{type(self).__name__}.to_polars")

    def to_arrow(self) -> pa.Table:
        """The table that `--format csv` prints, as an Arrow table."""
        return frames.to_arrow(self._columns(), f"{type(self).__name__}.to_arrow")

    def to_csv(self, path: str | Path | None = None) -> str:
        """The table that `--format csv` prints, written to a file where one is named."""
        return frames.to_csv(self._columns(), path)

    def _columns(self) -> dict[str, list[str | int | float | None]]:
        """The columns of the table for machines."""
        from cranfield.report.rendering import machine_columns

        return machine_columns(self)

    def report(self, path: str | Path, **view: Any) -> None:
        """Write a page that opens from disk: the report of scores, else tables and charts."""
        from cranfield.report.rendering import page_of

        write_atomic(Path(path), page_of(self, **view).encode(errors="replace"))

    def plot(self, measure: str | None = None) -> Chart:
        """The chart of scores or of a comparison; it draws itself, and `save` writes it."""
        from cranfield.report.rendering import chart_of_answer

        return chart_of_answer(self, measure)

    def _repr_mimebundle_(self, **_: object) -> dict[str, Any]:
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
        return {_CLASS: _file_name(type(value)), "saved": encode(value.__saved__())}
    if hasattr(type(value), "__dataclass_fields__"):
        state = {f.name: encode(getattr(value, f.name)) for f in _fields(value) if f.init}
        return {_CLASS: _file_name(type(value)), **state}
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


def _file_name(kind: type[Any]) -> str:
    """The name of a class in files."""
    if kind in _names_of_classes:
        return _names_of_classes[kind]
    for name, location in FILE_NAMES.items():
        if location.endswith(f":{kind.__name__}") and _saved_class(name) is kind:
            return _names_of_classes.setdefault(kind, name)
    raise UsageError(f"an answer with a {kind.__name__} cannot be saved")


def _saved_class(name: str) -> type[Any]:
    """The class that a name in files stands for."""
    module, _, class_name = FILE_NAMES[name].partition(":")
    kind: type[Any] = getattr(import_module(module), class_name)
    return kind


def _renew(value: Any) -> Any:
    """What a file of layout 1 holds, with names of files for the names of classes."""
    if isinstance(value, list):
        return [_renew(entry) for entry in value]
    if not isinstance(value, dict):
        return value
    entries = {key: _renew(entry) for key, entry in value.items()}
    if _CLASS in value:
        entries[_CLASS] = _layout_1_name(value[_CLASS])
    return entries


def _layout_1_name(class_name: str) -> str:
    words = "".join(f"-{letter.lower()}" if letter.isupper() else letter for letter in class_name)
    return _LAYOUT_1_NAMES.get(class_name, words.removeprefix("-"))


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
    kind = _saved_class(value[_CLASS])
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
    if document.get("format") == FORMAT:
        if document["version"] > FORMAT_VERSION:
            message = f"was saved by a later Cranfield ({document['cranfield']})"
            raise InputError.single(source, message)
        answer = decode(document["result"])
    elif "layout" in document:
        answer = _from_layout_1(document, source)
    else:
        answer = _from_printed(document, source)
    if isinstance(answer, Answer) and not all(isinstance(n, str) for n in answer.notes):
        raise InputError.single(source, "has notes that are no text")
    str(answer)  # fails where parts do not fit together
    return answer


def _from_layout_1(document: dict[str, Any], source: str) -> Any:
    """The result in a file as versions up to 0.2 saved it, with a note that says so."""
    if document["layout"] > 1:
        raise InputError.single(source, f"was saved by a later Cranfield ({document['cranfield']})")
    answer = decode(_renew(document["answer"]))
    if isinstance(answer, Answer):
        from dataclasses import replace

        return replace(answer, notes=(*answer.notes, _LAYOUT_1_NOTE))
    return answer


def _from_printed(document: dict[str, Any], source: str) -> Answer:
    """Scores that a command printed as JSON; other printed answers cannot be made again."""
    if document.get("command") not in ("eval", "label"):
        raise InputError.single(
            source,
            f"is the printed answer of {document.get('command')!r}; only scores can be read from "
            "what was printed (save an answer to load it again)",
        )
    answer: Answer = _saved_class("scores").from_dict(document, name=source)
    return answer
