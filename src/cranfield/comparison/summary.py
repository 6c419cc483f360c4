"""What a comparison says, in a few sentences: who leads, and who cannot be told apart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from cranfield.comparison.answer import TITLES, Comparison, Pairs, Standing
from cranfield.evaluation.scores import Order, Scores, hardest, join_names
from cranfield.measures.base import Measure
from cranfield.options import FAMILY_WISE


def comparison_verdict(
    scores: Scores,
    comparison: Comparison,
    measure: Measure | None = None,
    *,
    items: bool = True,
) -> tuple[str, ...]:
    """Who leads under a measure (or the first one compared), from whom the tests can tell it,
    how runs stand to the baseline, and where every run fails."""
    compared = [m for m in scores.measures if str(m) in comparison.pairs.measures]
    ranked_by = measure or compared[0]
    name = str(ranked_by)
    standings = [s for s in comparison.standings if s.measure == name]
    order = Order.of(ranked_by, [s.run for s in standings], [s.mean for s in standings])
    sentences = [order.sentence(len(standings))]
    if order.runs and ranked_by.higher_is_better is not None:
        sentences.append(_told_apart(comparison, ranked_by, standings))
        sentences.append(_against_baseline(comparison, ranked_by))
    sentences.append(hardest(scores, ranked_by, items=items))
    return tuple(filter(None, sentences))


def _told_apart(comparison: Comparison, measure: Measure, standings: Sequence[Standing]) -> str:
    """From whom the tests can tell the first run, and from whom they cannot."""
    first, others = standings[0], standings[1:]
    same = indistinct(comparison, first)
    if same is None:
        level = [s.run for s in standings if s.rank == 1]
        if not level:
            return ""
        return f"No run is significantly better than {join_names(level)} by {measure.mean_label}."
    better = first.rank - 1
    worse = len(others) - len(same) - better
    procedure = (
        f"({measure.mean_label}: {TITLES[comparison.test]}, level {100 * comparison.alpha:g} %)"
    )
    clauses = []
    if same:
        every = len(same) == len(others)
        whom = f"any of the {len(same)} others" if every and len(same) > 2 else join_names(same)
        clauses.append(f"cannot be told apart from {whom}")
    if worse:
        rest = "every other run" if worse == len(others) else _counted(worse)
        clauses.append(f"is significantly better than {rest}")
    if better:
        are = "run with a worse mean" if better == 1 else "runs with worse means"
        clauses.append(
            f"is significantly worse than {better} {are} on the {comparison.unit}s of both"
        )
    return f"{first.run} {'; it '.join(clauses)} {procedure}." if clauses else ""


def _counted(count: int) -> str:
    return "the other one" if count == 1 else f"the other {count}"


def indistinct(comparison: Comparison, standing: Standing) -> list[str] | None:
    """The runs that the tests cannot tell from one, best first; None where they do not say."""
    measure = standing.measure
    standings = [s for s in comparison.standings if s.measure == measure and s.run != standing.run]
    if standing.group:
        letters = set(standing.group)
        return [s.run for s in standings if letters & set(s.group)]
    if comparison.baseline is not None:
        return None
    same = _unmarked(comparison.pairs.where(measure), standing.run)
    return [s.run for s in standings if s.run in same]


def _unmarked(pairs: Pairs, run: str) -> set[str]:
    """The runs with which a run was compared without a significant difference."""
    at, columns = pairs.runs.index(run), pairs.columns
    level = columns["mark"] == 0
    level_runs = [
        columns[opposite][level & (columns[side] == at)].tolist()
        for side, opposite in (("a", "b"), ("b", "a"))
    ]
    return {pairs.runs[i] for part in level_runs for i in part}


def _against_baseline(comparison: Comparison, measure: Measure) -> str:
    """How many runs differ from the baseline."""
    if comparison.baseline is None:
        return ""
    marks = comparison.pairs.where(str(measure)).columns["mark"]
    better, worse = int((marks > 0).sum()), int((marks < 0).sum())
    counts = f"{better} of {len(marks)} {'run' if len(marks) == 1 else 'runs'}"
    sentence = (
        f"Significantly better than the baseline {comparison.baseline} by {measure.mean_label}: "
        f"{counts}"
    )
    if comparison.tail == "one":
        return f"{sentence}."
    return f"{sentence}; significantly worse: {worse}."


def conclusions(comparison: Comparison) -> tuple[tuple[str, str], ...]:
    """What may be concluded, in sentences to copy: what each is about, and the sentence."""
    rows = [("sampled", _sampled(comparison)), ("tests", comparison.footnotes()[1])]
    rows.append(("corrected", _corrected(comparison)))
    rows.append(("not corrected", _uncorrected(comparison)))
    rows += [(str(m["name"]), _of_measure(comparison, m)) for m in comparison.measures]
    level = f"{100 * (1 - comparison.alpha):g} %"
    rows.append(
        (
            "intervals",
            f"Each interval holds its true value with {level}, taken alone; not all of them do at "
            "once. A difference that is not significant may be as large as its interval reaches: "
            "not told apart is not equal.",
        )
    )
    return tuple(rows)


def _sampled(comparison: Comparison) -> str:
    counts = {f"{m['units']} {m['unit']}s" for m in comparison.measures}
    sampled = " or ".join(sorted(counts))
    design = f" ({comparison.design})" if comparison.design else ""
    kinds = {str(m["unit"]) for m in comparison.measures}
    kind = kinds.pop() if len(kinds) == 1 else "unit"
    rest = "the items" if kind == "concept" else "judgements, collections or users"
    if comparison.gold_units:
        design = f", of which {comparison.gold_units} have gold"
    return (
        f"Every statement is about other {kind}s like these {sampled}{design}, not about other "
        f"{rest}."
    )


def _corrected(comparison: Comparison) -> str:
    alpha, pairs = f"{100 * comparison.alpha:g} %", len(comparison.pairs)
    measures = len(comparison.measures)
    family = f"the {pairs // max(measures, 1)} pairs of each measure"
    if comparison.measures_corrected:
        family = f"all {pairs} pairs of the {measures} measures"
    if comparison.correction == "bh":
        return f"Of the significant differences among {family} {alpha} are expected to be false."
    if comparison.correction == "none" and comparison.test not in FAMILY_WISE:
        return f"Nothing: each pair is tested at {alpha} as if it were the only one."
    return f"The chance of any false difference among {family} is at most {alpha}."


def _uncorrected(comparison: Comparison) -> str:
    sentences = []
    measures = len(comparison.measures)
    if measures > 1 and not comparison.measures_corrected:
        sentences.append(
            f"{measures} measures were compared, each at {100 * comparison.alpha:g} %: the chance "
            f"that some measure shows a false difference is up to "
            f"{100 * min(1.0, measures * comparison.alpha):g} %."
        )
    sentences.append(
        "Runs that were tried and are not shown, earlier looks at these results, and choices made "
        "after seeing them."
    )
    return " ".join(sentences)


def _of_measure(comparison: Comparison, measure: Mapping[str, Any]) -> str:
    name = str(measure["name"])
    pairs = comparison.pairs.where(name)
    differ = int((pairs.columns["mark"] != 0).sum())
    sentence = f"{differ} of {len(pairs)} pairs differ significantly"
    first = [s.run for s in comparison.standings if s.measure == name and s.rank == 1]
    if measure["higher_is_better"] is None or not first:
        return f"{sentence}."
    if len(first) == 1:
        return f"{sentence}; no run is significantly better than {first[0]}."
    if len(first) == len(comparison.runs):
        return f"{sentence}; no run is significantly better than any other."
    return f"{sentence}; the best run may be any of {join_names(first)}."
