"""Blind questionnaires: which measure orders ranked lists as people would?

After Chatzichristofis et al., section 5.3. Every question shows some ranked lists, given as the
ranks of their relevant items, and how each measure orders them. The measures are called Method
1, 2, ... in an order that is shuffled anew for each question; the key stays with the makers.
"""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from cranfield.errors import InputError, UsageError
from cranfield.io.files import describe, read_text, write_whole
from cranfield.lab.curves import ranking
from cranfield.lab.material import generator
from cranfield.lab.votes import Choices, Preferences, count_choices
from cranfield.measures import parse_measures

NONE = "none"
OTHER = "OTHER"
_STREAM = 41


@dataclass(frozen=True, eq=False)
class Questionnaire:
    """`questions` is what people see, `key` which measure hides behind which method."""

    questions: dict[str, Any]
    key: dict[str, Any]

    def write(self, folder: str | Path) -> tuple[Path, Path, Path]:
        """questions.json, questions.html (a page that saves the answers to a file), key.json."""
        target = Path(folder)
        try:
            target.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise UsageError(f"{target}: cannot be made: {error.strerror}") from None
        files = target / "questions.json", target / "questions.html", target / "key.json"
        texts = (
            json.dumps(self.questions, indent=1),
            page(self.questions),
            json.dumps(self.key, indent=1),
        )
        for file, text in zip(files, texts, strict=True):
            write_whole(file, text.encode() + b"\n")
        return files


def make_questionnaire(
    measures: str = "AP NMRR MNRO",
    *,
    questions: int = 10,
    lists: int = 5,
    relevant: int = 5,
    size: int = 100,
    rng: int = 0,
) -> Questionnaire:
    """Random ranked lists of `relevant` items in a collection of `size`, the same for everyone."""
    from cranfield.evaluation.ranked import evaluate

    wanted = parse_measures(measures)
    if len(wanted) < 2:
        raise UsageError("a questionnaire compares two measures or more")
    if not 1 <= relevant < size or not 2 <= lists <= 26 or questions < 1:
        raise UsageError(
            "a questionnaire has questions from 1 on, 2 to 26 lists, and fewer relevant items "
            "than the collection"
        )
    asked, key = [], {}
    for q in range(1, questions + 1):
        draw = generator(rng, _STREAM, q)
        ranks = [
            sorted(int(r) for r in 1 + draw.choice(size, relevant, replace=False))
            for _ in range(lists)
        ]
        judged = {"t": {f"r{k}": 1 for k in range(relevant)}}
        runs = {chr(65 + n): {"t": ranking(places, size)} for n, places in enumerate(ranks)}
        # As in the survey of the paper, NMRR looks at the first 4 NG items.
        scores = evaluate(
            judged, runs, list(wanted), collection_size=size, gmt=2 * relevant, jobs=1
        )
        order = [int(m) for m in draw.permutation(len(wanted))]
        methods = {}
        for number, m in enumerate(order, 1):
            measure = wanted[m]
            values = scores.overall[measure]
            signed = -values if measure.higher_is_better is False else values
            methods[f"Method {number}"] = {
                name: int(1 + np.count_nonzero(signed > signed[i] + 1e-12))
                for i, name in enumerate(runs)
            }
        asked.append(
            {"question": q, "lists": dict(zip(runs, ranks, strict=True)), "places": methods}
        )
        key[str(q)] = {f"Method {n}": str(wanted[m]) for n, m in enumerate(order, 1)}
    return Questionnaire(
        {"size": size, "relevant": relevant, "questions": asked},
        {"measures": [str(m) for m in wanted], "key": key, "seed": rng},
    )


def page(questions: Mapping[str, Any]) -> str:
    """A static page that asks the questions and saves the answers as a file."""
    from cranfield.lab.concept_survey import set_table

    blocks = []
    of_sets = "sets" in questions["questions"][0]
    for entry in questions["questions"]:
        options = entry["sets"] if of_sets else entry["places"]
        table = set_table(entry) if of_sets else _place_table(entry)
        boxes = "".join(
            f'<label><input type="checkbox" name="{entry["question"]}" value="{html.escape(m)}"> '
            f"{html.escape(m)}</label> "
            for m in [*options, NONE]
        )
        blocks.append(
            f"<section><h2>Question {entry['question']}</h2>{table}<p>{boxes}</p></section>"
        )
    title, task = _SETS if of_sets else _ORDERS
    return (
        _PAGE.replace("@title@", title)
        .replace("@task@", task)
        .replace("@questions@", "\n".join(blocks))
    )


def _place_table(entry: Mapping[str, Any]) -> str:
    methods = list(entry["places"])
    head = "".join(f"<th>{html.escape(m)}</th>" for m in methods)
    rows = "".join(
        f"<tr><th>{name}</th><td>{', '.join(map(str, ranks))}</td>"
        + "".join(f"<td>{entry['places'][m][name]}</td>" for m in methods)
        + "</tr>"
        for name, ranks in entry["lists"].items()
    )
    return f"<table><tr><th>list</th><th>ranks of the relevant items</th>{head}</tr>{rows}</table>"


_ORDERS = (
    "Which order is yours?",
    "Every list shows at which ranks a system found the relevant items. Each method gives the "
    "lists places, 1 for the best. Tick the method that orders them as you would; several when "
    'they are equal, "none" when you would order them otherwise.',
)
_SETS = (
    "Which concepts fit better?",
    "Every question names an item and the concepts that it has. Two sets of concepts were "
    "suggested for it. Tick the set that fits better; both when they are equally good, "
    '"none" when you cannot tell.',
)
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>@title@</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<style>:root{color-scheme:light dark}
body{font:16px/1.5 sans-serif;max-width:50em;margin:2em auto;padding:0 1em}
table{border-collapse:collapse}th,td{border:1px solid #999;padding:.2em .6em;text-align:left}
label{margin-right:1em}</style></head><body>
<h1>@title@</h1>
<p>@task@</p>
<p><label>Your name or number: <input id="who"></label></p>
@questions@
<p><button id="save">Save the answers</button> <span id="note" role="status"></span></p>
<script>
document.getElementById("save").onclick = () => {
  const answers = {}, names = new Set();
  for (const box of document.querySelectorAll("input[type=checkbox]")) {
    names.add(box.name);
    if (box.checked) (answers[box.name] ||= []).push(box.value);
  }
  const open = [...names].filter(n => !answers[n]);
  const note = document.getElementById("note");
  if (open.length) { note.textContent = "Not answered: " + open.join(", "); return; }
  const who = document.getElementById("who").value || "anonymous";
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(
    [JSON.stringify({respondent: who, answers}, null, 1)], {type: "application/json"}));
  link.download = "answers-" + who.replace(/[^A-Za-z0-9]+/g, "-") + ".json";
  link.click();
  note.textContent = "Saved as " + link.download;
};
</script></body></html>"""


def tally(key: str | Path, answers: Sequence[str | Path]) -> Choices | Preferences:
    """The answers of people, counted; `key` is the key.json of the questionnaire.

    Answers about ranked lists are counted by measure, those about concept sets by whether the
    measures prefer the same run.
    """
    from cranfield.lab.concept_survey import count_sets, is_set_key

    hidden = _json(key, "key")
    of_sets = "scores" in hidden
    names, methods = hidden.get("measures"), hidden["key"].values()
    well_formed = (
        isinstance(names, list)
        and all(isinstance(name, str) for name in names)
        and all(isinstance(options, dict) for options in methods)
        and (
            is_set_key(hidden)
            if of_sets
            else all(name in names for options in methods for name in options.values())
        )
    )
    if not well_formed:
        raise InputError.single(
            describe(key),
            "is not the key.json of a questionnaire; give the one that `cranfield "
            "lab votes make` wrote, as it was",
        )
    given = [_answers(path, hidden["key"]) for path in answers]
    if of_sets:
        return count_sets(hidden, given)
    votes = {name: [0] * len(hidden["key"]) for name in (*hidden["measures"], OTHER)}
    for one in given:
        for position, (question, methods) in enumerate(hidden["key"].items()):
            for method in one.get(question, []):
                votes[OTHER if method == NONE else methods[method]][position] += 1
    return count_choices(votes)


def _answers(path: str | Path, key: Mapping[str, Mapping[str, str]]) -> dict[str, list[str]]:
    """The answers of one person, each option at most once."""
    given = _json(path, "answers")["answers"]
    for question, ticked in given.items():
        if question not in key:
            raise InputError.single(describe(path), f"no question {question!r} was asked")
        if not isinstance(ticked, list):
            raise InputError.single(
                describe(path), f"question {question}: expected a list of answers, found {ticked!r}"
            )
        for option in ticked:
            if not isinstance(option, str) or (option != NONE and option not in key[question]):
                raise InputError.single(
                    describe(path), f"question {question}: no {option!r} was asked about"
                )
    return {question: list(dict.fromkeys(ticked)) for question, ticked in given.items()}


def _json(path: str | Path, field: str) -> dict[str, Any]:
    try:
        found = json.loads(read_text(path))
    except ValueError as error:
        raise InputError.single(describe(path), f"is not JSON ({error})") from None
    if not isinstance(found, dict) or not isinstance(found.get(field), dict):
        raise InputError.single(describe(path), f"expected a JSON object with {field!r}")
    return found
