"""A document in each of the formats of the command line."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

from cranfield._json import jsonable
from cranfield.errors import visible
from cranfield.io.files import csv_text
from cranfield.report.document import Cell, Column, Document, Table

BAR_WIDTH = 20
# Longer lists have a row in every line of JSON, not a value.
MOST_INDENTED = 10_000
BOLD, PLAIN = "\x1b[1m", "\x1b[0m"


def _escape(text: str, quote: bool = True) -> str:
    import html  # and with it all names of characters

    return html.escape(text, quote)


def render(
    document: Document, form: str, *, colour: bool = False, spreadsheet: bool = False
) -> str:
    """The document as text in a format of `FORMATS`; CSV perhaps made safe for spreadsheets."""
    if form == "json":
        return _json_text(document.for_json()) + "\n"
    if form == "table":
        tables = [text_table(t, colour) for t in document.tables]
        return "\n".join([*lead_text(document), *tables])
    if form == "html":
        return document.page or _html_page(document)
    if form in _DELIMITERS:
        table = document.for_machines()
        return _delimited_text(table, _DELIMITERS[form], spreadsheet=spreadsheet)
    if form == "latex":
        return "\n".join(_latex(t, label) for t, label in _with_labels(document.tables))
    parts = [_RENDERERS[form](t) for t in document.tables]
    if form == "markdown":
        lead = " ".join(_escape(line, quote=False) for line in document.lead)
        parts = [*([lead.replace("*", "\\*") + "\n"] if lead else []), *parts]
    return "\n".join(parts)


def _json_text(payload: dict[str, Any]) -> str:
    import json

    # Of large answers each row of a long list is a line: a third of the bytes are blanks else.
    lines = any(isinstance(v, list) and len(v) > MOST_INDENTED for v in payload.values())
    dump = partial(json.dumps, ensure_ascii=False, allow_nan=False)
    try:
        return _json_by_rows(payload, dump) if lines else dump(payload, indent=1)
    except ValueError:  # answers come without NaN and infinities, other payloads may have them
        return _json_text(jsonable(payload))


def _json_by_rows(payload: dict[str, Any], dump: Callable[..., str]) -> str:
    """JSON with a line for each row of the lists in it."""
    parts = []
    for name, value in payload.items():
        text = dump(value, indent=1).replace("\n", "\n ")
        if isinstance(value, list) and len(value) > MOST_INDENTED:
            text = "[\n  " + ",\n  ".join(map(dump, value)) + "\n ]"
        parts.append(f"\n {dump(name)}: {text}")
    return "{" + ",".join(parts) + "\n}"


def lead_text(document: Document) -> list[str]:
    """The sentences before the tables, as a terminal shows them; nothing where there are none."""
    return ["".join(f"{visible(line)}\n" for line in document.lead)] if document.lead else []


def text_table(table: Table, colour: bool) -> str:
    texts = [
        [_single_line(c.show(v)) for c, v in zip(table.columns, row, strict=True)]
        for row in table.rows
    ]
    if table.marks:
        texts = [_with_marks(table, i, row) for i, row in enumerate(texts)]
    best = [table.starred_rows(j) for j in range(len(table.columns))]
    cells = [
        [text + ("*" if i in best[j] else " ") if best[j] else text for j, text in enumerate(row)]
        for i, row in enumerate(texts)
    ]
    heads = [_single_line(c.label) + (" " if best[j] else "") for j, c in enumerate(table.columns)]
    widths = [max([len(h), *(len(row[j]) for row in cells)]) for j, h in enumerate(heads)]
    lines = [visible(table.title)] if table.title else []
    lines.append(
        "  ".join(_align(h, w, c) for h, w, c in zip(heads, widths, table.columns, strict=True))
    )
    lines.append("  ".join("-" * w for w in widths))
    for i, row in enumerate(cells):
        aligned = [_align(t, w, c) for t, w, c in zip(row, widths, table.columns, strict=True)]
        if colour:
            aligned = [f"{BOLD}{t}{PLAIN}" if i in best[j] else t for j, t in enumerate(aligned)]
            aligned += [_bar(table, i, j) for j, c in enumerate(table.columns) if c.bar]
        lines.append("  ".join(aligned))
    if any(best):
        lines.append("* best of its column")
    lines.extend(map(visible, table.notes))
    return "\n".join(line.rstrip() for line in lines) + "\n"


def _single_line(text: str) -> str:
    """A cell whose line ends, tabs and control characters are shown, not obeyed."""
    return visible(text).replace("\n", "\\n").replace("\t", "\\t")


def _bar(table: Table, row: int, column: int) -> str:
    """A value as a bar whose full length is the largest value of its column."""
    values = [row[column] for row in table.rows]
    numbers = [v if isinstance(v, int | float) and v > 0 else 0.0 for v in values]
    eighths = round(8 * BAR_WIDTH * numbers[row] / max(numbers)) if any(numbers) else 0
    return "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8]


def _with_marks(table: Table, row: int, cells: list[str]) -> list[str]:
    """Cells with their marks, padded so that the numbers of a column stay aligned."""
    widths = [
        max((len(mark_text(table, i, j)) for i in range(len(table.rows))), default=0)
        for j in range(len(cells))
    ]
    return [text + mark_text(table, row, j).ljust(widths[j]) for j, text in enumerate(cells)]


def mark_text(table: Table, row: int, column: int) -> str:
    """The mark of a cell after a blank, or nothing."""
    mark = table.mark(row, column)
    return f" {mark}" if mark else ""


def _align(text: str, width: int, column: Column) -> str:
    return text.rjust(width) if column.numeric else text.ljust(width)


def _full_value(value: Cell) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    # A number of NumPy is a float, too, but writes its type before it.
    return repr(float(value)) if isinstance(value, float) else str(value)


def _delimited_text(table: Table, delimiter: str, *, spreadsheet: bool) -> str:
    cell = spreadsheet_cell if spreadsheet else _full_value
    header = [cell(c.name) for c in table.columns]
    return csv_text([header, *([cell(v) for v in row] for row in table.rows)], delimiter)


def spreadsheet_cell(value: Cell) -> str:
    """A cell that a spreadsheet shows as it is: text like a formula is marked as text."""
    marked = isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r"))
    return f"'{value}" if marked else _full_value(value)


def _markdown(table: Table) -> str:
    def line(cells: list[str]) -> str:
        # Markdown lets HTML through, and names come from files that others wrote.
        safe = [_escape(c, quote=False).replace("|", "\\|") for c in cells]
        return "| " + " | ".join(safe) + " |"

    lines = [f"**{table.title}**", ""] if table.title else []
    lines.append(line([c.label for c in table.columns]))
    lines.append("|" + "|".join("---:" if c.numeric else "---" for c in table.columns) + "|")
    for i, row in enumerate(table.rows):
        texts = [c.show(v) for c, v in zip(table.columns, row, strict=True)]
        marked = [text + mark_text(table, i, j) for j, text in enumerate(texts)]
        cells = [text.replace("*", "\\*") for text in marked]
        lines.append(
            line([f"**{t}**" if i in table.best_rows(j) else t for j, t in enumerate(cells)])
        )
    if table.notes:
        lines.extend(["", *(note.replace("*", "\\*") for note in table.notes)])
    return "\n".join(lines) + "\n"


_LATEX = str.maketrans(
    {
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "|": r"\textbar{}",
        # At the start of a row it would be taken for an argument of the row before.
        "[": "{[}",
        "]": "{]}",
    }
)


def _superscript(mark: str) -> str:
    # \rlap keeps the numbers of a column aligned, whatever stands above them.
    return rf"\rlap{{\textsuperscript{{{mark.translate(_LATEX)}}}}}" if mark else ""


def _with_labels(tables: Sequence[Table]) -> Iterator[tuple[Table, str]]:
    """Tables with labels that are their own, made of their titles."""
    seen: dict[str, int] = {}
    for table in tables:
        words = re.findall(r"[a-z0-9]+", (table.title or "results").lower())
        label = "-".join(words[:6]) or "results"
        seen[label] = seen.get(label, 0) + 1
        yield table, f"tab:{label}" + (f"-{seen[label]}" if seen[label] > 1 else "")


def _latex(table: Table, label: str) -> str:
    spec = "".join("r" if c.numeric else "l" for c in table.columns)
    caption = (table.title or "Results").translate(_LATEX)
    lines = [r"\begin{table}", r"\centering", rf"\caption{{{caption}}}", rf"\label{{{label}}}"]
    lines += [r"\begin{tabular}{" + spec + "}", r"\toprule"]
    lines.append(" & ".join(c.label.translate(_LATEX) for c in table.columns) + r" \\")
    lines.append(r"\midrule")
    for i, row in enumerate(table.rows):
        cells = [c.show(v).translate(_LATEX) for c, v in zip(table.columns, row, strict=True)]
        cells = [rf"\textbf{{{t}}}" if i in table.best_rows(j) else t for j, t in enumerate(cells)]
        cells = [t + _superscript(table.mark(i, j)) for j, t in enumerate(cells)]
        lines.append(" & ".join(cells) + r" \\")
    lines.append(r"\bottomrule")
    lines.append(r"\end{tabular}")
    lines.extend(rf"\par{{\footnotesize {note.translate(_LATEX)}}}" for note in table.notes)
    lines.append(r"\end{table}")
    return "\n".join(lines) + "\n"


_STYLE = """
:root{color-scheme:light dark}
body{font:16px/1.5 system-ui,sans-serif;max-width:70rem;margin:2rem auto;padding:0 1rem;
color:var(--ink);background:var(--paper)}
table{border-collapse:collapse;margin:1rem 0;display:block;overflow-x:auto}
caption{text-align:left;font-weight:600;padding:.4rem 0}
th,td{padding:.3rem .8rem;border-bottom:1px solid var(--line);text-align:left}
.n{text-align:right;font-variant-numeric:tabular-nums}.best{font-weight:700}
.note{color:var(--quiet);font-size:.9rem}figure{margin:1.4rem 0;overflow-x:auto}
figcaption{font-weight:600;padding:.4rem 0}.chart{display:block}
"""


def _html_page(document: Document) -> str:
    command = str(document.for_json().get("command", ""))
    pictures = "".join(
        f"<figure><figcaption>{_escape(c.title)}</figcaption>{c.to_svg(standalone=False)}</figure>"
        for c in document.figures()
    )
    lead = "".join(f"<p class=lead>{_escape(line)}</p>" for line in document.lead)
    body = lead + "".join(html_table(t) for t in document.tables) + pictures
    return still_page(f"Cranfield: {command}", body)


def still_page(title: str, body: str) -> str:
    """A page in one file that runs no script: a plain title, and HTML under it."""
    from cranfield.report.page import html_file  # and with it the palette: pages alone need it

    return html_file(title, f"<main><h1>{_escape(title)}</h1>{body}</main>", style=_STYLE)


def html_table(table: Table) -> str:
    heads = "".join(
        f"<th scope=col{' class=n' if c.numeric else ''}>{_escape(c.label)}</th>"
        for c in table.columns
    )
    best_rows = [table.best_rows(j) for j in range(len(table.columns))]
    rows = []
    for i, row in enumerate(table.rows):
        cells = []
        for j, (column, value) in enumerate(zip(table.columns, row, strict=True)):
            best = i in best_rows[j]
            classes = " ".join(
                filter(None, ["n" if column.numeric else "", "best" if best else ""])
            )
            text = _escape(column.show(value) + mark_text(table, i, j))
            # Where no style sheet says what is best, such as in a notebook, it is bold, too.
            text = f"<b>{text}</b>" if best else text
            cells.append(f'<td class="{classes}">{text}</td>')
        rows.append("<tr>" + "".join(cells) + "</tr>")
    notes = "".join(f"<p class=note>{_escape(n)}</p>" for n in table.notes)
    caption = f"<caption>{_escape(table.title)}</caption>" if table.title else ""
    return (
        f"<table>{caption}<thead><tr>{heads}</tr></thead>"
        f"<tbody>{''.join(rows)}</tbody></table>{notes}"
    )


_DELIMITERS = {"csv": ",", "tsv": "\t"}
_RENDERERS: dict[str, Callable[[Table], str]] = {"markdown": _markdown}

FORMATS = ("table", "json", "csv", "tsv", "latex", "html", "markdown")
