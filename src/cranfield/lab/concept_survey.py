"""Blind questionnaires on concept sets: which of two annotations of an item do people prefer?

After the thesis, 9.5 (Tables 9.4 and 9.5). Every question shows an item, its true concepts, and
what two runs make of it, as Set 1 and Set 2 in an order that is shuffled anew for each question.
Items are drawn from those on which the runs differ and at least one measure prefers a run.
"""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from cranfield.errors import UsageError
from cranfield.lab.material import Material, floats, generator, numbers
from cranfield.lab.questionnaire import Questionnaire
from cranfield.lab.votes import Preferences, count_preferences

_STREAM = 42
_SAME = 1e-12


def make_concept_survey(material: Material, *, questions: int = 10, rng: int = 0) -> Questionnaire:
    """Questions about the two runs of a material, whose measures must be of single items."""
    from cranfield.data.labels import DEFAULT_THRESHOLD, dense

    if material.kind != "labels" or len(material.runs) != 2:
        raise UsageError("a survey of concept sets compares two annotations: --between A B")
    if questions < 1:
        raise UsageError(f"questions={questions} is not a whole number from 1 on")
    truth: Any = material.read_truth()
    names = [str(m) for m in material.measures]
    runs = [material.read_run(source, name) for name, source in material.runs]
    scores = np.stack([_scores(material, run, names) for run in runs])
    sets = [dense(run.with_threshold(DEFAULT_THRESHOLD).labels) for run in runs]
    apart = (np.abs(scores[0] - scores[1]) > _SAME).any(axis=0)
    chosen = np.flatnonzero((sets[0] != sets[1]).any(axis=1) & apart)
    if chosen.size < questions:
        raise UsageError(
            f"the runs differ on {chosen.size} items in a way that a measure sees; ask at most "
            "that many --questions"
        )
    draw = generator(rng, _STREAM)
    asked, key, given = [], {}, {}
    for number, item in enumerate(draw.choice(chosen, questions, replace=False), 1):
        order = [int(k) for k in draw.permutation(2)]
        true = dense(truth.labels)[item]
        shown = {
            f"Set {s}": _parts(sets[k][item], true, truth.concepts) for s, k in enumerate(order, 1)
        }
        asked.append(
            {
                "question": number,
                "item": truth.items[item],
                "true": _named(true, truth.concepts),
                "sets": shown,
            }
        )
        key[str(number)] = {f"Set {s}": material.run_names[k] for s, k in enumerate(order, 1)}
        given[str(number)] = {m: numbers(scores[:, j, item]) for j, m in enumerate(names)}
    return Questionnaire(
        {"questions": asked},
        {
            "measures": names,
            "runs": list(material.run_names),
            "key": key,
            "scores": given,
            "less_is_better": [m for m, s in zip(names, material.signs, strict=True) if s < 0],
            "seed": rng,
        },
    )


def _scores(material: Material, run: Any, names: Sequence[str]) -> Any:
    """Measures x items."""
    scored = material.score(run)
    for name, values, unit in zip(names, scored.values, scored.units, strict=True):
        if values is None or unit != "item":
            raise UsageError(f"{name} is no mean over items; a survey needs measures of items")
    return np.stack([v for v in scored.values if v is not None])


def _named(row: Any, concepts: Sequence[str]) -> list[str]:
    return [concepts[int(k)] for k in np.flatnonzero(row)]


def _parts(row: Any, true: Any, concepts: Sequence[str]) -> dict[str, list[str]]:
    return {
        "right": _named(row & true, concepts),
        "wrong": _named(row & ~true, concepts),
        "missed": _named(true & ~row, concepts),
    }


def set_table(entry: Mapping[str, Any]) -> str:
    """A question as HTML: the true concepts, and what is right, wrong and missed in each set."""

    def words(names: Sequence[str]) -> str:
        return html.escape(", ".join(names)) or "-"

    rows = "".join(
        f"<tr><th>{html.escape(name)}</th>"
        + "".join(f"<td>{words(parts[k])}</td>" for k in ("right", "wrong", "missed"))
        + "</tr>"
        for name, parts in entry["sets"].items()
    )
    return (
        f"<p>{html.escape(str(entry['item']))}: <b>{words(entry['true'])}</b></p><table><tr>"
        f"<th></th><th>right</th><th>wrong</th><th>missed</th></tr>{rows}</table>"
    )


def is_set_key(hidden: Mapping[str, Any]) -> bool:
    """Whether a key has two runs, and their scores under every measure for every question."""
    runs, scores = hidden.get("runs"), hidden.get("scores")
    if not isinstance(runs, list) or len(runs) != 2 or not isinstance(scores, dict):
        return False
    rows = [scores.get(question) for question in hidden["key"]]
    return (
        isinstance(hidden.get("less_is_better"), list)
        and all(run in runs for sets in hidden["key"].values() for run in sets.values())
        and all(
            isinstance(row, dict) and all(_is_pair(row.get(m)) for m in hidden["measures"])
            for row in rows
        )
    )


def _is_pair(values: Any) -> bool:
    return (
        isinstance(values, list)
        and len(values) == 2
        and all(v is None or isinstance(v, int | float) for v in values)
    )


def count_sets(
    hidden: Mapping[str, Any], answers: Sequence[Mapping[str, list[str]]]
) -> Preferences:
    """The votes for either run beside the scores of the key."""
    first, second = hidden["runs"]
    votes = []
    for question, sets in hidden["key"].items():
        chosen = [{sets[s] for s in one.get(question, []) if s in sets} for one in answers]
        votes.append(
            (
                sum(c == {first} for c in chosen),
                sum(c == {second} for c in chosen),
                sum(len(c) == 2 for c in chosen),
            )
        )
    scores = {
        m: [tuple(floats(hidden["scores"][q][m]).tolist()) for q in hidden["key"]]
        for m in hidden["measures"]
    }
    return count_preferences(votes, scores, less_is_better=hidden["less_is_better"])
