"""No test waits without an end: what may wait has a limit, and threads do not keep Python alive."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent
STARTS = {"subprocess.run", "subprocess.check_output", "subprocess.check_call"}
WAITS = {"wait", "communicate", "join", "result"}


def test_everything_that_waits_has_a_limit() -> None:
    found = [f"{path.name}:{at}" for path in ROOT.rglob("*.py") for at in without_limit(path)]
    assert found == []


def without_limit(path: Path) -> Iterator[str]:
    for call in ast.walk(ast.parse(path.read_text())):
        if not isinstance(call, ast.Call):
            continue
        name, given = ast.unparse(call.func), {keyword.arg for keyword in call.keywords}
        starts = name in STARTS and not given & {"timeout", None}
        waits = name.split(".")[-1] in WAITS and not call.args and not given and "." in name
        lasts = name == "threading.Thread" and "daemon" not in given
        if starts or waits or lasts:
            yield f"{call.lineno} {name}"
