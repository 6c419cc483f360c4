"""The Python blocks of the pages on pytrec_eval and ir_measures run as they stand."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

PAGES = Path(__file__).parents[2] / "docs" / "how-to"


@pytest.mark.parametrize("page", ["from-pytrec-eval.md", "ir-measures.md"])
def test_blocks(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    text = (PAGES / page).read_text(encoding="utf-8")
    names: dict[str, object] = {}
    try:
        for block in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
            exec(block, names)
    finally:
        if "cranfield_provider" in names:
            names["cranfield_provider"].uninstall()  # type: ignore[attr-defined]
    printed = capsys.readouterr().out
    for shown in re.findall(r"```text\n(.*?)```", text, re.DOTALL):
        assert shown in printed
    assert printed
