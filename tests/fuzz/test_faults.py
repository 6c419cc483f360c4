"""A fault inside keeps its type: KeyError("bug") below public functions comes out as it is."""

from __future__ import annotations

import gc
import inspect
import os
import shutil
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FrameType, GeneratorType
from typing import Any

import pytest

import cranfield as cf
from benchmarks.fuzz.public_functions import functions
from benchmarks.fuzz.sound_calls import write_files
from cranfield.cli import main

SOURCES = str(Path(cf.__file__).parent) + os.sep
# Their sound calls need packages or files that are not there.
NOT_CALLED = {"from_ranx", "to_ranx", "search_texts", "read_forms", "lab.tally"}
NOT_CALLED |= {"charts.density", "charts.roc"}
# Here the content of a file decides what fails, and any failure means that the file is damaged.
DECODERS = {
    ("answers.py", "_decode_saved"),
    ("io/arrays.py", "_read_safely"),
    ("features/extract.py", "known"),
}
# A module that fails while it is loaded stays half loaded; KeyError is what a mapping raises for
# an absent key.
NOT_FAULTS = {"<module>", "__del__", "__getitem__"}
# So many functions are tried below each public one: below those that make pages are hundreds.
PLACES = 8


class Tracer:
    """Collects the functions that are called below `entry`, or raises in one of them."""

    def __init__(self, entry: CodeType, target: CodeType | None = None) -> None:
        self.entry, self.target = entry, target
        self.entered = False
        self.called: dict[CodeType, None] = {}
        self.fault: KeyError | None = None

    def __call__(self, frame: FrameType, _: str, __: Any) -> None:
        code = frame.f_code
        if not self.entered:
            self.entered = code is self.entry
        elif _is_inner(code):
            self.called[code] = None
            if code is self.target and self.fault is None and not _is_decoding(frame):
                self.fault = KeyError("bug")
                raise self.fault


def _is_inner(code: CodeType) -> bool:
    inside = code.co_filename.startswith(SOURCES) and code.co_name not in NOT_FAULTS
    return inside and code.co_filename != f"{SOURCES}validation.py"


def _is_decoding(frame: FrameType | None) -> bool:
    while frame is not None:
        if (frame.f_code.co_filename.removeprefix(SOURCES), frame.f_code.co_name) in DECODERS:
            return True
        frame = frame.f_back
    return False


@contextmanager
def tracing(tracer: Tracer) -> Iterator[list[BaseException | None]]:
    """Trace this thread; yields the exceptions that Python cannot pass on to a caller."""
    lost: list[BaseException | None] = []
    before, hook = sys.gettrace(), sys.unraisablehook
    sys.unraisablehook = lambda unraisable: lost.append(unraisable.exc_value)
    sys.settrace(tracer)
    try:
        yield lost
    finally:
        sys.settrace(before)
        sys.unraisablehook = hook


def call(function: Callable[..., Any], arguments: dict[str, Any]) -> None:
    result = function(**arguments)
    if isinstance(result, GeneratorType):
        list(result)


def prepare(folder: Path, make: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """The arguments of a sound call; what an earlier call has written is removed."""
    shutil.rmtree(folder / "written", ignore_errors=True)
    (folder / "pictures" / "collection.toml").unlink(missing_ok=True)
    return make()


def body(function: Any) -> CodeType:
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    code: CodeType = function.__code__
    return code


def sound_calls() -> dict[str, tuple[Callable[..., Any], Callable[[], dict[str, Any]]]]:
    """Public functions of which a sound call is known, or that need no arguments."""
    return {
        name: (function, make)
        for name, (function, make) in functions().items()
        if name not in NOT_CALLED and (make is not dict or not _needs_arguments(function))
    }


def _needs_arguments(function: Callable[..., Any]) -> bool:
    parameters = inspect.signature(function).parameters.values()
    variable = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    return any(p.default is p.empty and p.kind not in variable for p in parameters)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    place = tmp_path_factory.mktemp("faults")
    write_files(place)
    before = Path.cwd()
    os.chdir(place)
    yield place
    os.chdir(before)


@pytest.mark.parametrize("name", sorted(sound_calls()))
def test_a_fault_below_a_public_function_comes_out(folder: Path, name: str) -> None:
    function, make = sound_calls()[name]
    call(function, prepare(folder, make))  # what is loaded or computed once is there now
    arguments, recorder = prepare(folder, make), Tracer(body(function))
    with tracing(recorder):
        call(function, arguments)
    places = list(recorder.called)
    for code in places[:: max(1, len(places) // PLACES)]:
        arguments, injector = prepare(folder, make), Tracer(body(function), code)
        raised: BaseException | None = None
        with tracing(injector) as lost:
            try:
                call(function, arguments)
            except Exception as error:
                raised = error
        if injector.fault not in lost:
            assert raised is injector.fault, f"{code.co_filename}:{code.co_firstlineno}"
    if any(folder.rglob(".cranfield-*")):
        # What a fault kept from being closed is closed here, not while another test runs.
        raised = injector = None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            gc.collect()


def test_a_fault_below_a_command_is_shown_under_debug(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from cranfield.evaluation import ranked

    def broken(*_: Any, **__: Any) -> None:
        raise KeyError("bug")

    (folder / "truth.qrels").write_text("t 0 a 1\n")
    (folder / "ranked.run").write_text("t Q0 a 1 0.5 x\n")
    command = ["eval", "truth.qrels", "ranked.run"]
    assert main(command) == 0
    capsys.readouterr()
    monkeypatch.setattr(ranked, "RankedEvaluator", broken)
    assert main(command) == 3
    message = capsys.readouterr().err
    assert "a fault of Cranfield itself (KeyError: 'bug')" in message
    assert "Traceback" not in message
    for arguments in (["--debug", *command], [*command, "--debug"]):
        assert main(arguments) == 3
        message = capsys.readouterr().err
        assert "Traceback (most recent call last)" in message
        assert "in broken" in message
        assert "KeyError: 'bug'" in message
