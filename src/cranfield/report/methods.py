"""What was computed, in words that can go into a paper, and what to cite for it."""

from __future__ import annotations

from collections.abc import Sequence

from cranfield._version import __version__
from cranfield.comparison import Comparison
from cranfield.measures import Measure
from cranfield.measures.sources import REFERENCES
from cranfield.scores import Scores


def methods(
    scores: Scores, comparison: Comparison | None, settings: Sequence[str] = ()
) -> list[str]:
    """Paragraphs: the measures, the settings, the comparison."""
    unit = "topics" if scores.command == "eval" else "items"
    count = max(scores.evaluated, default=0)
    listed = "; ".join(_described(m) for m in scores.measures)
    said = [
        f"Evaluated with Cranfield {__version__}: {len(scores.runs)} "
        f"{'run' if len(scores.runs) == 1 else 'runs'} on {count} {unit}. Measures: {listed}.",
        *settings,
    ]
    if comparison is not None:
        marks, how, ends = comparison.notes()
        said.append(f"{how} {marks} {ends}")
        said.append(
            "The rank of a run is 1 plus the number of runs that are significantly better; runs "
            "that share a letter cannot be told apart."
        )
    elif scores.values:
        said.append("95 % intervals of means: Student's t.")
    return said


def _described(measure: Measure) -> str:
    text = f"{measure} ({measure.title}"
    if measure.higher_is_better is False:
        text += ", lower is better"
    return text + ")"


def citations(measures: Sequence[Measure], *, compared: bool) -> list[dict[str, str]]:
    """The texts that define the measures, each once, with BibTeX."""
    wanted = dict.fromkeys(m.source.key for m in measures)
    found = [
        {"measures": ", ".join(str(m) for m in measures if m.source.key == key),
         "text": str(REFERENCES[key]), "bibtex": REFERENCES[key].bibtex(key)}
        for key in wanted
        if key in REFERENCES
    ]  # fmt: skip
    return found + ([dict(PIEPHO)] if compared else [])


PIEPHO = {
    "measures": "groups of runs",
    "text": "Piepho, Hans-Peter (2004). An algorithm for a letter-based representation of "
    "all-pairwise comparisons. Journal of Computational and Graphical Statistics 13(2).",
    "bibtex": "@article{piepho-letters,\n  author = {Piepho, Hans-Peter},\n"
    "  title = {{An algorithm for a letter-based representation of all-pairwise comparisons}},\n"
    "  journal = {Journal of Computational and Graphical Statistics 13(2)},\n  year = {2004}\n}",
}
