"""The example notebook runs, and the docs show what it gives."""

import json
import sys
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
sys.path.insert(0, str(DOCS))
import notebook  # noqa: E402


def test_cells_give_what_the_notebook_and_the_page_show():
    held = json.loads(notebook.NOTEBOOK.read_text())
    outputs = notebook.run(held["cells"])
    for cell, found in zip(held["cells"], outputs, strict=True):
        stored = [o["data"] for o in cell.get("outputs", ())]
        told = {kind: "".join(lines) for data in stored for kind, lines in data.items()}
        assert told == found
    assert notebook.PAGE.read_text() == notebook.page(held["cells"], outputs)
    assert any("image/svg+xml" in found for found in outputs)
