"""What was computed, in words that can go into a paper, and what to cite for it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cranfield._version import __version__
from cranfield.comparison.answer import Comparison
from cranfield.data.labels import LabelMatrix
from cranfield.data.ontology import Knowledge
from cranfield.evaluation.scores import Scores
from cranfield.measures import Measure
from cranfield.options import DEFAULT_THRESHOLD
from cranfield.references import REFERENCES


def methods(
    scores: Scores, comparison: Comparison | None, settings: Sequence[str] = ()
) -> list[str]:
    """Paragraphs: the measures, the settings, the comparison."""
    unit = f"{scores.main_unit}s"
    count = max(scores.evaluated, default=0)
    measures = "; ".join(_describe_measure(m) for m in scores.measures)
    paragraphs = [
        f"Evaluated with Cranfield {__version__}: {len(scores.runs)} "
        f"{'run' if len(scores.runs) == 1 else 'runs'} on {count} {unit}. Measures: {measures}.",
        *settings,
    ]
    if comparison is not None:
        marks, tests, ends = comparison.footnotes()
        paragraphs.append(f"{tests} {marks} {ends}")
        if comparison.baseline is None:
            paragraphs.append(
                "All pairs were tested, as cranfield compare does for the same files."
            )
        places = (
            "The place of a run is its position by the mean; its rank is 1 plus the number of runs "
            "that are significantly better."
        )
        if any(standing.group for standing in comparison.standings):
            places += " Two runs share no letter exactly when they differ significantly."
        paragraphs.append(places)
    elif scores.values:
        paragraphs.append("95 % intervals of means: Wilson's, within the range of the measure.")
    return paragraphs


def ranked_settings(options: Mapping[str, Any]) -> list[str]:
    """What the options of `evaluate` mean for the numbers, in a sentence."""
    if options.get("topics") == "run":
        clauses = ["Each mean is over the topics that the run has"]
    else:
        clauses = ["Each mean is over all judged topics; one that a run misses is an empty ranking"]
    ties = {
        "id": "items with one score stand by id, the larger first",
        "file": "items with one score stand as in the file",
        "average": "items with one score give the expected value over all their orders",
    }
    clauses.append(ties[options.get("ties", "id")])
    if options.get("judged_only"):
        clauses.append("unjudged items were taken out of the rankings")
    if options.get("max_items"):
        clauses.append(f"only the first {options['max_items']} items of each ranking count")
    if options.get("min_score") is not None:
        clauses.append(f"only items that score at least {options['min_score']} count")
    if options.get("ignore_self"):
        clauses.append("items with the id of their topic were taken out of the rankings")
    if options.get("collection_size"):
        clauses.append(f"the collection has {options['collection_size']} items")
    return ["; ".join(clauses) + "."]


def label_settings(
    truth: LabelMatrix, knowledge: Knowledge, thresholds: Sequence[str] = ()
) -> list[str]:
    """How labels were decided and what is known of the concepts, in a sentence."""
    clauses = [
        f"The truth has {truth.cardinality:.2f} of {len(truth.concepts)} concepts per item",
        f"a concept counts as predicted from a confidence of {', '.join(thresholds)} on"
        if thresholds
        else f"a concept counts as predicted from a confidence of {DEFAULT_THRESHOLD} on, or "
        "where the 0/1 rows of the run itself say so",
    ]
    if knowledge.ontology is not None:
        clauses.append(f"hierarchy and rules: {Path(knowledge.ontology.name).name}")
    maps = [name or "the one given" for name in knowledge.costmaps]
    if maps:
        clauses.append(f"cost maps: {', '.join(maps)}")
    if knowledge.agreement is not None:
        clauses.append("costs are weighted by the agreement of annotators")
    return ["; ".join(clauses) + "."]


def _describe_measure(measure: Measure) -> str:
    text = f"{measure} ({measure.title}"
    if measure.higher_is_better is False:
        text += ", lower is better"
    return text + ")"


def citations(measures: Sequence[Measure], *, compared: bool) -> list[dict[str, str]]:
    """The texts that define the measures, each once, with BibTeX."""
    keys = dict.fromkeys(m.source.key for m in measures)
    entries = [
        {
            "measures": ", ".join(str(m) for m in measures if m.source.key == key),
            "text": str(REFERENCES[key]),
            "bibtex": REFERENCES[key].bibtex(key),
        }
        for key in keys
        if key in REFERENCES
    ]
    return entries + ([dict(PIEPHO)] if compared else [])


PIEPHO = {
    "measures": "groups of runs",
    "text": "Piepho, Hans-Peter (2004). An algorithm for a letter-based representation of "
    "all-pairwise comparisons. Journal of Computational and Graphical Statistics 13(2).",
    "bibtex": "@article{piepho-letters,\n  author = {Piepho, Hans-Peter},\n"
    "  title = {{An algorithm for a letter-based representation of all-pairwise comparisons}},\n"
    "  journal = {Journal of Computational and Graphical Statistics 13(2)},\n  year = {2004}\n}",
}
