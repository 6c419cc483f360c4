"""Runs the cells of the example notebook and writes it anew, with the page that shows it.

    python docs/notebook.py

The notebook is docs/notebooks/digits.ipynb; the page is docs/how-to/notebook.md. A test holds
both to what the cells give.
"""

from __future__ import annotations

import ast
import json
import os
import tempfile
from pathlib import Path
from typing import Any

DOCS = Path(__file__).parent
NOTEBOOK, PAGE = DOCS / "notebooks" / "digits.ipynb", DOCS / "how-to" / "notebook.md"
WANTED = ("text/plain", "text/html", "image/svg+xml")


def shown(code: str, names: dict[str, Any]) -> dict[str, str]:
    """Run a cell as a notebook does: the value of its last expression is shown."""
    body = ast.parse(code).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    exec(compile(ast.Module(body, []), "cell", "exec"), names)
    value = (
        None if last is None else eval(compile(ast.Expression(last.value), "cell", "eval"), names)
    )
    if value is None:
        return {}
    made = getattr(value, "_repr_mimebundle_", None)
    bundle = {"text/plain": repr(value)} if made is None else made()
    return {kind: bundle[kind] for kind in WANTED if kind in bundle}


def run(cells: list[dict[str, Any]]) -> list[dict[str, str]]:
    """What every cell shows, in a folder of its own."""
    names: dict[str, Any] = {}
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            return [
                shown("".join(c["source"]), names) if c["cell_type"] == "code" else {}
                for c in cells
            ]
        finally:
            os.chdir(before)


def page(cells: list[dict[str, Any]], outputs: list[dict[str, str]]) -> str:
    """The notebook as a page: texts, code, and what was shown."""
    parts = []
    for cell, found in zip(cells, outputs, strict=True):
        text = "".join(cell["source"])
        if cell["cell_type"] == "markdown":
            parts.append(text)
            continue
        parts.append(f"```python\n{text}\n```")
        if "image/svg+xml" in found and "text/html" not in found:
            parts.append(found["image/svg+xml"])
        elif "text/html" in found:
            parts.append(found["text/html"])
        elif found:
            parts.append(f"```text\n{found['text/plain']}\n```")
    return "\n\n".join(parts) + "\n"


def main() -> None:
    notebook = json.loads(NOTEBOOK.read_text())
    outputs = run(notebook["cells"])
    for cell, found in zip(notebook["cells"], outputs, strict=True):
        if cell["cell_type"] == "code":
            data = {kind: text.splitlines(keepends=True) for kind, text in found.items()}
            output = {"output_type": "execute_result", "execution_count": None, "metadata": {}}
            cell["outputs"] = [output | {"data": data}] if found else []
    NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n")
    PAGE.write_text(page(notebook["cells"], outputs))


if __name__ == "__main__":
    main()
