"""A questionnaire as a page without a server: it asks, and saves the answers to a file."""

from __future__ import annotations

import html
from collections.abc import Mapping, Sequence
from typing import Any

from cranfield.io.html_page import html_page

NONE = "none"


def page(questions: Mapping[str, Any]) -> str:
    """A static page that asks the questions and saves the answers as a file."""
    blocks = []
    of_sets = "sets" in questions["questions"][0]
    for entry in questions["questions"]:
        options = entry["sets"] if of_sets else entry["places"]
        table = _set_table(entry) if of_sets else _place_table(entry)
        boxes = "".join(
            f'<label><input type="checkbox" name="{entry["question"]}" value="{html.escape(m)}"> '
            f"{html.escape(m)}</label> "
            for m in [*options, NONE]
        )
        blocks.append(
            f"<section><h2>Question {entry['question']}</h2>{table}<p>{boxes}</p></section>"
        )
    title, task = _SETS if of_sets else _ORDERS
    body = (
        f"<h1>{html.escape(title)}</h1>\n<p>{task}</p>\n"
        '<p><label>Your name or number: <input id="who"></label></p>\n'
        + "\n".join(blocks)
        + '\n<p><button id="save">Save the answers</button> '
        + '<span id="note" role="status"></span></p>\n'
    )
    return html_page(title, body, style=_STYLE, script=_SCRIPT)


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


def _set_table(entry: Mapping[str, Any]) -> str:
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
_STYLE = """:root{color-scheme:light dark}
body{font:16px/1.5 sans-serif;max-width:50em;margin:2em auto;padding:0 1em}
table{border-collapse:collapse}th,td{border:1px solid #999;padding:.2em .6em;text-align:left}
label{margin-right:1em}"""
_SCRIPT = """
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
"""
