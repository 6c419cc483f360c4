"""No test waits without an end, and what depends on time or limits is marked `slow`.

What may wait has a limit, and threads do not keep Python alive. Tests that look at a clock, send
signals, limit memory or start a cluster run in `make slow`, where what is red is tried again.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent
STARTS = {"subprocess.run", "subprocess.check_output", "subprocess.check_call"}
WAITS = {"wait", "communicate", "join", "result"}
CLOCKS = {
    "date.today",
    "datetime.now",
    "local_cluster",
    "os.kill",
    "os.killpg",
    "resource.getrusage",
    "resource.setrlimit",
    "time.monotonic",
    "time.perf_counter",
    "time.process_time",
    "time.sleep",
    "time.time",
}
SIGNALS = {"send_signal", "terminate", "kill"}
IN_TEXT = re.compile(r"ulimit -|setrlimit|os\.kill\(")
# Sleeps that only shuffle the order in which threads end: right in any order.
IN_ANY_ORDER = {
    "test_threads.py: test_results_come_in_order",
    "test_threads.py: test_an_error_stands_in_its_place",
    "test_executors.py: test_threads_share_one_reading_of_the_truth",
}


def test_what_depends_on_time_or_limits_is_marked_slow() -> None:
    paths = [path for path in ROOT.rglob("test_*.py") if path != Path(__file__)]
    depending = {f"{path.name}: {name}" for path in paths for name in hasty(path)}
    assert depending - IN_ANY_ORDER == set()
    assert IN_ANY_ORDER - depending == set()


def test_a_clock_is_seen_behind_helpers_fixtures_and_texts(tmp_path: Path) -> None:
    text = """
SCRIPT = "ulimit -v 9"
def seconds(): return time.process_time()
@pytest.fixture
def bench(): return seconds()
def test_a(bench): pass
def test_b(): run(SCRIPT)
def test_c(): process.kill()
def test_d(): pass
@pytest.mark.slow
def test_e(bench): pass
"""
    (tmp_path / "test_x.py").write_text(text)
    assert hasty(tmp_path / "test_x.py") == ["test_a", "test_b", "test_c"]


def hasty(path: Path) -> list[str]:
    """Tests of a file that reach a clock, a signal or a limit and are not marked."""
    text = path.read_text()
    words = {name.split(".")[-1] for name in CLOCKS} | SIGNALS
    if not IN_TEXT.search(text) and not any(f"{word}(" in text for word in words):
        return []
    parts: dict[str, ast.stmt] = {}
    for part in ast.parse(text).body:
        if isinstance(part, ast.FunctionDef | ast.ClassDef):
            parts[part.name] = part
        elif isinstance(part, ast.Assign):
            parts |= {name.id: part for name in part.targets if isinstance(name, ast.Name)}
    reached = {name for name, part in parts.items() if is_hasty(part)}
    names = {name: names_in(part) for name, part in parts.items()}
    while more := {name for name in parts if names[name] & reached} - reached:
        reached |= more
    marks = ("@pytest.mark.slow", "marks=pytest.mark.slow")
    return [
        name
        for name, part in parts.items()
        if name.startswith("test_") and name in reached
        if not any(mark in ast.unparse(part) for mark in marks)
    ]


def names_in(part: ast.stmt) -> set[str]:
    nodes = [node for node in ast.walk(part) if isinstance(node, ast.Name)]
    own = {node.id for node in nodes if isinstance(node.ctx, ast.Store)}
    arguments = {node.arg for node in ast.walk(part) if isinstance(node, ast.arg)}
    return {node.id for node in nodes} - own | arguments


def is_hasty(part: ast.stmt) -> bool:
    for node in ast.walk(part):
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            if name in CLOCKS or ("." in name and name.split(".")[-1] in SIGNALS):
                return True
        if isinstance(node, ast.Constant) and IN_TEXT.search(str(node.value)):
            return True
    return False


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
