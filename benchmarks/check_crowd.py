"""Is the truth of a crowd as sure as it says, and are honest people left alone?

    [CRANFIELD_DATA=FOLDER] python benchmarks/check_crowd.py [methods ...] [--write]

Simulations with known answers, each with its bar; ends with 1 when one does not hold. With
--write the tables are put into the pages that have their markers. `methods` needs the logs of
real crowds (label.csv and truth.csv below FOLDER/crowd), which may not be shipped.
"""

from __future__ import annotations

import csv
import itertools
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from check_stats import run_checks
from cranfield.agreement.aggregation import AggregatedTruth, aggregate_judgements
from cranfield.agreement.quality import quality_of
from cranfield.agreement.weak_labels import filter_weak_labels
from cranfield.campaign.forms import ontology_form
from cranfield.data import Judgements
from cranfield.data.item_vectors import ItemVectors
from cranfield.evaluation.index_quality import evaluate_index
from cranfield.io.judgement_log import read_judgement_log
from cranfield.ontologies import built_in
from cranfield.rehearsal.crowd import Crowd, detect_spammers
from crowds import JUDGEMENTS, bad_crowds, honest_crowds, sparse_crowd

DOCS = Path(__file__).parents[1] / "docs"
PAGES = (DOCS / "explanation" / "agreement.md", DOCS / "how-to" / "index-quality.md")
MODELS = ("dawid-skene", "one-coin", "mace")
# Of items with a probability in [0.9, 1] the share right may be this much below and above it.
BELOW, ABOVE = 0.03, 0.10
PER_ANNOTATOR = (5, 6, 10, 25, 100, 250)
CALIBRATION_LOGS, QUALITY_LOGS = 20, 30
EXCLUDED, NOTICED = 0.01, 0.80
# Of the people on the hard queue at most so many are looked at.
HARD_LOOKED = 0.05
# Of 96 spammers and 16 copiers over eight seeds at least so many are named.
SPAM_SEEDS, SPAM_FOUND, COPIERS_FOUND = 8, 80, 10
# Of near-duplicate intruders so few may be kept that this share of what is kept is right.
KEPT_RIGHT = 0.9

Rows = list[list[str]]


def table(heads: Sequence[str], rows: Rows) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|---|" + "---:|" * (len(heads) - 1)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def methods() -> tuple[str, list[str]]:
    """All methods on real crowds whose truth is known; the recommended one is the best."""
    folder = Path(os.environ.get("CRANFIELD_DATA", ""), "crowd")
    paths = sorted(folder.glob("*/label.csv"))
    if not paths:
        return f"no */label.csv below {folder}: CRANFIELD_DATA names no crowds", []
    columns: list[tuple[str, float | None]] = [("majority", None), ("weighted-majority", None)]
    columns += [(model, prior) for model in MODELS for prior in (None, 0.0)]
    columns.append(("auto", None))
    rows: Rows = []
    shares = np.empty((len(paths), len(columns)))
    for i, path in enumerate(paths):
        log = read_judgement_log(path, duplicates="first")
        with (path.parent / "truth.csv").open() as stream:
            truth = {row["item"]: row["truth"] for row in csv.DictReader(stream)}
        for j, (method, prior) in enumerate(columns):
            shares[i, j] = share_right(aggregate_judgements(log, method, prior=prior), truth)
        known = sum(item in truth for item in log.items)
        facts = [path.parent.name, f"{len(log):,}", f"{len(log.annotators):,}", f"{known:,}"]
        rows.append([*facts, *(f"{share:.4f}" for share in shares[i])])
    means = shares.mean(axis=0)
    rows.append(["mean", "", "", "", *(f"{mean:.4f}" for mean in means)])
    heads = ["log", "judgements", "annotators", "items with truth"]
    heads += [method if prior is None else f"{method}, prior 0" for method, prior in columns]
    missed = [
        f"mean accuracy of auto {means[-1]:.4f}, of {head} {mean:.4f}"
        for head, mean in zip(heads[4:-1], means[:-1], strict=True)
        if mean >= means[-1]
    ]
    return table(heads, rows), missed


def share_right(found: AggregatedTruth, truth: dict[str, str]) -> float:
    """The share of items that come out right; a tie counts by its expected value."""
    shares = []
    for item, row in zip(found.item.tolist(), found.probability, strict=True):
        true = truth.get(found.items[item])
        if true is not None:
            leading = [v for v, p in zip(found.values, row, strict=True) if p >= row.max() - 1e-9]
            shares.append((true in leading) / len(leading))
    return sum(shares) / len(shares)


def calibration() -> tuple[str, list[str]]:
    """Of items that a model is sure of, as many are right as it says."""
    heads = ["judgements per annotator", "majority", *(f"{m}: right, said, share" for m in MODELS)]
    rows: Rows = []
    missed = []
    for shown, answers, tables in (
        ("2 answers", 2, False),
        ("4 answers", 4, False),
        ("4 answers, tables", 4, True),
    ):
        for per in PER_ANNOTATOR:
            row = [f"{shown}, {per}"]
            items = 100 if per < 100 else 300
            logs = [
                sparse_crowd(items, per, 5, answers, tables, np.random.default_rng([seed, per]))
                for seed in range(CALIBRATION_LOGS if per < 100 else CALIBRATION_LOGS // 2)
            ]
            votes = [aggregate_judgements(made.log) for made in logs]
            hits = [
                _expected(v.probability, m.truth[v.item]) for v, m in zip(votes, logs, strict=True)
            ]
            row.append(f"{np.mean(hits):.3f}")
            for model in MODELS:
                right, said, sure, every = _sure(model, logs)
                row.append(f"{right:.3f} of {said:.3f} ({sure:.0%}); {every:.3f}")
                if tables and model != "dawid-skene":
                    # A model that is not that of the crowd has no bar; its figures are shown.
                    continue
                if not said - BELOW <= right <= said + ABOVE:
                    missed.append(f"calibration of {model}, {row[0]}: {right:.3f} of {said:.3f}")
            rows.append(row)
    return table(heads, rows), missed


def _expected(probability: np.ndarray, truth: np.ndarray) -> float:
    """The share right when ties are counted by their expected value."""
    leading = probability >= probability.max(axis=1, keepdims=True) - 1e-9
    return float((leading[np.arange(truth.size), truth] / leading.sum(axis=1)).mean())


def _sure(model: str, logs: Sequence) -> tuple[float, float, float, float]:
    right, said, every = [], [], []
    units = 0
    for made in logs:
        found = aggregate_judgements(made.log, model)
        top = found.probability.max(axis=1)
        hit = found.probability.argmax(axis=1) == made.truth[found.item]
        sure = top >= 0.9
        right += hit[sure].tolist()
        said += top[sure].tolist()
        every.append(_expected(found.probability, made.truth[found.item]))
        units += top.size
    return float(np.mean(right)), float(np.mean(said)), len(said) / units, float(np.mean(every))


def curves() -> tuple[str, list[str]]:
    """The share right by what a model says, at 5 and at 25 judgements per annotator."""
    edges = (0.3, 0.5, 0.7, 0.9, 0.99, 1.0)
    rows: Rows = []
    made = {
        per: [
            sparse_crowd(100, per, 5, 4, False, np.random.default_rng([seed, per, 7]))
            for seed in range(CALIBRATION_LOGS)
        ]
        for per in (5, 25)
    }
    found: dict[tuple[str, int], tuple[np.ndarray, np.ndarray]] = {}
    for model in MODELS:
        for per, logs in made.items():
            answers = [aggregate_judgements(m.log, model) for m in logs]
            said = np.concatenate([a.probability.max(axis=1) for a in answers])
            hit = np.concatenate(
                [
                    a.probability.argmax(axis=1) == m.truth[a.item]
                    for a, m in zip(answers, logs, strict=True)
                ]
            )
            found[model, per] = said, hit
    for low, high in itertools.pairwise(edges):
        row = [f"{low:g} to {high:g}"]
        for said, hit in found.values():
            inside = (said >= low) & ((said < high) | (high == 1.0))
            shown = f"{hit[inside].mean():.2f} ({inside.sum()})" if inside.any() else "-"
            row.append(shown)
        rows.append(row)
    return table(["probability", *(f"{m}, {per}" for m, per in found)], rows), []


def honest() -> tuple[str, list[str]]:
    """How many honest people are to be excluded or looked at, by kind of crowd."""
    seen: dict[str, list[list[str]]] = {}
    odd: dict[str, list[str]] = {}
    for seed in range(QUALITY_LOGS):
        for crowd in honest_crowds(np.random.default_rng(seed)):
            verdicts = [p.verdict for p in quality_of(crowd.log)]
            seen.setdefault(crowd.name, []).append(verdicts)
            odd.setdefault(crowd.name, []).extend(verdicts[a] for a in crowd.odd)
    rows: Rows = []
    missed = []
    for name, logs in seen.items():
        every = [v for verdicts in logs for v in verdicts]
        excluded = every.count("exclude") / len(every)
        looked = every.count("look at") / len(every)
        named = odd[name]
        if "queue" in name and named.count("look at") > HARD_LOOKED * len(named):
            missed.append(f"looked at, {name}: {named.count('look at')} of {len(named)}")
        unlike = f"{named.count('exclude') / len(named):.2%}" if named else "-"
        looked_odd = f"{named.count('look at') / len(named):.2%}" if named else "-"
        row = [name, f"{len(every):,}", f"{excluded:.2%}", unlike, f"{looked:.2%}", looked_odd]
        rows.append(row)
        share = max(excluded, named.count("exclude") / len(named) if named else 0.0)
        if share > EXCLUDED:
            missed.append(f"honest people excluded, {name}: {share:.2%}")
    named_after = "of those it is named after"
    heads = ["crowd", "people", "excluded", named_after, "looked at", named_after]
    return table(heads, rows), missed


def bad() -> tuple[str, list[str]]:
    """How many of each kind of bad annotator are noticed."""
    seen: dict[str, list[str]] = {}
    for seed in range(QUALITY_LOGS):
        for crowd in bad_crowds(np.random.default_rng(1000 + seed)):
            verdicts = [p.verdict for p in quality_of(crowd.log)]
            seen.setdefault(crowd.name, []).append(verdicts[crowd.odd[0]])
    rows: Rows = []
    missed = []
    for name, verdicts in seen.items():
        noticed = 1 - verdicts.count("keep") / len(verdicts)
        rows.append([name, f"{noticed:.0%}", f"{verdicts.count('exclude') / len(verdicts):.0%}"])
        if noticed < NOTICED:
            missed.append(f"noticed, {name}: {noticed:.0%}")
    return table([f"one with {JUDGEMENTS} judgements", "noticed", "excluded"], rows), missed


def weak_labels() -> tuple[str, list[str]]:
    """What the two methods keep of a tag with 70 right items and 30 intruders."""
    cases: dict[str, tuple[Callable[[np.random.Generator], np.ndarray], float | None]] = {
        "intruders scattered": (
            lambda r: np.vstack([r.normal(0, 1, (70, 8)), r.normal(0, 4, (30, 8))]),
            None,
        ),
        "intruders near-duplicates of one": (_near_duplicates, None),
        "items on a ring around the intruders (gamma 8)": (_ring, 8.0),
    }
    items = [f"i{k}" for k in range(100)]
    rows: Rows = []
    missed = []
    for name, (made, gamma) in cases.items():
        means = {}
        for method in ("svm", "median"):
            found = [
                filter_weak_labels(
                    items,
                    made(np.random.default_rng(seed)),
                    {"tag": items},
                    truth={"tag": items[:70]},
                    method=method,
                    gamma=gamma if method == "svm" else None,
                )
                for seed in range(10)
            ]
            means[method] = float(np.mean([answer.tags[0].precision for answer in found]))
        rows.append([name, "0.700", f"{means['svm']:.3f}", f"{means['median']:.3f}"])
        if made is _near_duplicates and means["median"] < KEPT_RIGHT:
            missed.append(f"weak labels, {name}: {means['median']:.3f}")
    return table(["tag", "before", "svm", "median"], rows), missed


def _near_duplicates(rng: np.random.Generator) -> np.ndarray:
    place = rng.normal(0, 1, 8)
    wrong = rng.normal(0, 0.02, (30, 8)) + 10 * place / np.linalg.norm(place)
    return np.vstack([rng.normal(0, 1, (70, 8)), wrong])


def _ring(rng: np.random.Generator) -> np.ndarray:
    turn = rng.uniform(0, 2 * np.pi, 70)
    good = rng.normal(0, 0.3, (70, 2)) + 6 * np.column_stack([np.cos(turn), np.sin(turn)])
    return np.vstack([good, rng.normal(0, 3, (30, 2))])


def best_queries() -> tuple[str, list[str]]:
    """What Rocchio's optimal query reaches where another vector ranks perfectly."""
    rng = np.random.default_rng(3)
    items, dimensions, topics = 400, 20, 10
    vectors = rng.normal(0, 1, (items, dimensions))
    vectors[:, 0] *= 0.3
    grades = {}
    for t in range(topics):
        axis = rng.normal(0, 1, dimensions)
        axis[1:] *= 0.15
        unit = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        order = np.argsort(-(unit @ axis))
        grades[f"t{t}"] = {f"i{i}": 1 for i in order[:20]}
    quality = evaluate_index(
        ItemVectors.of([f"i{i}" for i in range(items)], vectors),
        Judgements.from_dict(grades),
        measures="AP",
        best=True,
    )
    means = {run: values["AP"] for run, values in quality.scores.mean().items()}
    rows = [[run, f"{value:.3f}"] for run, value in means.items()]
    short = means["best vector query"] < 0.99
    return table(["query", "MAP"], rows), ["best vector query below 0.99"] if short else []


def spammers() -> tuple[str, list[str]]:
    """Sixty workers of whom twelve spam, two of these by copying: who is named, by seed."""
    form = ontology_form(built_in("pto-2009-listed"))
    items = [f"i{k:02d}" for k in range(99)]
    told = [detect_spammers(Crowd(form, items, seed=seed), seed=seed) for seed in range(SPAM_SEEDS)]
    rows = [
        [
            str(seed),
            str(t.forms),
            f"{t.found} of {t.spammers}",
            f"{t.copiers_found} of {t.copiers}",
            f"{t.false_alarms} of {t.honest}",
        ]
        for seed, t in enumerate(told)
    ]
    found, copied = sum(t.found for t in told), sum(t.copiers_found for t in told)
    every, copiers = sum(t.spammers for t in told), sum(t.copiers for t in told)
    alarms, honest = sum(t.false_alarms for t in told), sum(t.honest for t in told)
    whole = [f"{found} of {every}", f"{copied} of {copiers}", f"{alarms} of {honest}"]
    rows.append(["all", str(sum(t.forms for t in told)), *whole])
    bars = {
        f"{found} of {every} spammers are found": found >= SPAM_FOUND,
        "fewer than 9 of 12 spammers are found in a seed": min(t.found for t in told) >= 9,
        "more than one false alarm in 48": max(t.false_alarms for t in told) <= 1,
        f"{copied} of {copiers} copiers are found": copied >= COPIERS_FOUND,
    }
    heads = ["seed", "forms", "spammers found", "copiers among them", "false alarms"]
    return table(heads, rows), [text for text, holds in bars.items() if not holds]


CHECKS = {
    "methods": methods,
    "calibration": calibration,
    "curves": curves,
    "honest": honest,
    "bad": bad,
    "spammers": spammers,
    "weak-labels": weak_labels,
    "best-queries": best_queries,
}


QUICK = ("honest", "bad")


def main(argv: Sequence[str] | None = None) -> int:
    return run_checks(CHECKS, PAGES, argv, QUICK)


if __name__ == "__main__":
    sys.exit(main())
