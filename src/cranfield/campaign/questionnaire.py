"""Blind questionnaires: which measure orders ranked lists as people would?

After Chatzichristofis et al., section 5.3. Every question shows some ranked lists, given as the
ranks of their relevant items, and how each measure orders them. The measures are called Method
1, 2, ... in an order that is shuffled anew for each question; the key stays with the makers.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from cranfield.answers import Answer
from cranfield.campaign.surveys.kinds import OF_RANKINGS
from cranfield.errors import UsageError, check_at_most
from cranfield.evaluation.placements import ranking
from cranfield.evaluation.ranked import evaluate
from cranfield.io.written import made_folder, write_whole
from cranfield.measures import Measure, parse_measures
from cranfield.validation import Seed, validate_params
from cranfield.work.seeds import generator

FILES = {
    "questions.json": "the questions as data",
    "questions.html": "the page for people",
    "key.json": "the key: keep it to yourself",
}
MOST_QUESTIONS = 10_000
MOST_ITEMS = 100_000
_STREAM = 41
_SAME = 1e-12


@dataclass(frozen=True, repr=False, eq=False)
class WrittenQuestionnaire(Answer):
    """The files of a questionnaire, each with what it is for."""

    command: ClassVar[str] = "lab votes"

    files: tuple[str, ...]
    purposes: tuple[str, ...]

    def headline(self) -> str:
        return f"a questionnaire in {Path(self.files[0]).parent}"

    def payload(self, **_: Any) -> dict[str, Any]:
        return {"files": list(self.files)}


@dataclass(frozen=True, eq=False)
class Questionnaire:
    """`questions` is what people see, `key` which measure hides behind which method."""

    questions: dict[str, Any]
    key: dict[str, Any]
    notes: tuple[str, ...] = ()

    def write(
        self, folder: str | Path, page: str = "", key: Mapping[str, Any] | None = None
    ) -> WrittenQuestionnaire:
        """questions.json, key.json (or a longer one), and questions.html where there is a page."""
        target = made_folder(folder)
        texts = {
            "questions.json": json.dumps(self.questions, indent=1) + "\n",
            "questions.html": page,
            "key.json": json.dumps(key or self.key, indent=1) + "\n",
        }
        made = {name: target / name for name, text in texts.items() if text}
        for name, file in made.items():
            write_whole(file, texts[name].encode())
        purposes = tuple(FILES[name] for name in made)
        return WrittenQuestionnaire(tuple(map(str, made.values())), purposes, notes=self.notes)


@validate_params
def make_questionnaire(
    measures: str | Sequence[str | Measure] = OF_RANKINGS,
    *,
    questions: int = 10,
    lists: int = 5,
    relevant: int = 5,
    size: int = 100,
    rng: Seed = 0,
) -> Questionnaire:
    """Random ranked lists of `relevant` items in a collection of `size`, the same for everyone."""
    wanted = parse_measures(measures)
    if len(wanted) < 2:
        raise UsageError("a questionnaire compares two measures or more")
    if not 1 <= relevant < size or not 2 <= lists <= 26 or questions < 1:
        raise UsageError(
            "a questionnaire has questions from 1 on, 2 to 26 lists, and fewer relevant items "
            "than the collection"
        )
    check_at_most(MOST_QUESTIONS, questions=questions)
    check_at_most(MOST_ITEMS, size=size)
    asked, key, alike = [], {}, {}
    for q in range(1, questions + 1):
        draw = generator(rng, _STREAM, q)
        ranks = {
            chr(65 + n): sorted(int(r) for r in 1 + draw.choice(size, relevant, replace=False))
            for n in range(lists)
        }
        values = _values(wanted, ranks, size)
        places = _places(values)
        order = [wanted[int(m)] for m in draw.permutation(len(wanted))]
        hidden = {f"Method {n}": m for n, m in enumerate(order, 1)}
        shown = {method: places[m] for method, m in hidden.items()}
        beside = {method: values[m] for method, m in hidden.items()}
        asked.append({"question": q, "lists": ranks, "places": shown, "values": beside})
        key[str(q)] = {method: str(m) for method, m in hidden.items()}
        groups = _same_orders(places)
        if groups:
            alike[str(q)] = groups
    return Questionnaire(
        {"size": size, "relevant": relevant, "questions": asked},
        {"measures": [str(m) for m in wanted], "key": key, "alike": alike, "seed": rng},
    )


def _same_orders(places: Mapping[Measure, Mapping[str, int]]) -> list[list[str]]:
    """The measures that give all lists the same places: who votes for one votes for all."""
    groups: dict[tuple[int, ...], list[str]] = {}
    for measure, own in places.items():
        groups.setdefault(tuple(own.values()), []).append(str(measure))
    return [group for group in groups.values() if len(group) > 1]


def _values(
    measures: Sequence[Measure], ranks: Mapping[str, Sequence[int]], size: int
) -> dict[Measure, dict[str, float]]:
    """The value that each measure gives each list; less is better in all that is shown.

    As in the survey of the paper, AP and its like are shown as 1 - AP.
    """
    relevant = len(next(iter(ranks.values())))
    judged = {"t": {f"r{k}": 1 for k in range(relevant)}}
    runs = {name: {"t": ranking(places, size)} for name, places in ranks.items()}
    # As in the survey of the paper, NMRR looks at the first 4 NG items.
    scores = evaluate(judged, runs, list(measures), collection_size=size, gmt=2 * relevant, jobs=1)
    found = {}
    for m in scores.measures:
        plain = scores.overall[m]
        shown = plain if m.higher_is_better is False else 1 - plain
        found[m] = dict(zip(runs, map(float, shown), strict=True))
    return found


def _places(values: Mapping[Measure, Mapping[str, float]]) -> dict[Measure, dict[str, int]]:
    """The place that each measure gives each list: 1 and how many are better."""
    return {
        m: {name: 1 + sum(v < own[name] - _SAME for v in own.values()) for name in own}
        for m, own in values.items()
    }
