"""Every public function with values that it cannot use.

A value is either used or refused with a CranfieldError; what a function of the caller raises
(`progress=`, `ask=`) is the caller's own.
"""

from __future__ import annotations

import contextlib
import inspect
import os
import signal
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import GeneratorType
from typing import Any

import numpy as np

import cranfield as cf
from benchmarks.fuzz.sound_calls import CALLS, CHARTS, LAB, STATS, write_files

NASTY: dict[str, Any] = {
    "nothing": None,
    "an object": object(),
    "NaN": float("nan"),
    "infinity": float("inf"),
    "ragged lists": [[1.0, 2.0], [3.0]],
    "complex": 1j,
    "an array of complex": np.array([1j, 2]),
    "negative": -1,
    "zero": 0,
    "huge": 10**400,
    "beyond 64 bits": 2**70,
    "a half": 0.5,
    "a zero byte": "a\0b",
    "no text": "",
    "a long text": "x" * 5000,
    "no list": [],
    "no dict": {},
    "no tuple": (),
    "bytes": b"x",
    "true": True,
    "several NaN": [float("nan")] * 3,
    "an array of no dimension": np.array(3.0),
    "text and nothing": ["a", None],
    "dicts of text": {"a": {"b": "c"}},
    "numbers": [1, 2, 3],
    "an array of numbers": np.array([0.5, 1.0]),
    "an array of text": np.array(["a", "b"]),
    "a cube": np.zeros((2, 2, 2)),
    "dates": np.array(["2020-01-01"], dtype="datetime64[D]"),
    "half a character": "\ud800",
    "a set": {1},
    "a type": int,
    "a function": len,
}
CALLED = ("progress", "ask")
SECONDS = 20


def functions() -> dict[str, tuple[Callable[..., Any], Callable[[], dict[str, Any]]]]:
    """Public functions by name, and the arguments of a sound call, where there is one."""
    found = {}
    rooms = (("", cf, CALLS), ("lab.", cf.lab, LAB), ("stats.", cf.stats, STATS))
    for prefix, room, calls in (*rooms, ("charts.", cf.charts, CHARTS)):
        for name in room.__all__:
            function = getattr(room, name)
            if callable(function) and not inspect.isclass(function):
                found[prefix + name] = function, calls.get(name, dict)
    return found


def walk(share: int = 1, first: int = 0) -> Iterator[tuple[str, str]]:
    """Every call that is tried, and what is wrong with its end, or nothing.

    One of `share` values for each parameter: which, moves on from one to the next.
    """
    turn, here = first, Path.cwd()
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            os.chdir(folder)
            write_files(Path(folder))
            for name, (function, make) in functions().items():
                for parameter in inspect.signature(function).parameters.values():
                    turn += 1
                    for label in list(NASTY)[turn % share :: share]:
                        if parameter.name in CALLED and callable(NASTY[label]):
                            continue
                        asked = f"{name}({parameter.name}={label})"
                        yield asked, _tried(function, make, parameter, NASTY[label])
        finally:
            os.chdir(here)


def _tried(
    function: Callable[..., Any],
    make: Callable[[], dict[str, Any]],
    parameter: inspect.Parameter,
    value: Any,
) -> str:
    given = dict(make())
    if not given:  # no sound call is known: everything that must be given is this
        needed = inspect.signature(function).parameters.values()
        given = {p.name: value for p in needed if p.default is p.empty and p.kind != p.VAR_KEYWORD}
    named = "not_there" if parameter.kind is parameter.VAR_KEYWORD else parameter.name
    given[named] = value
    before = signal.signal(signal.SIGALRM, _too_long)
    signal.alarm(SECONDS)
    try:
        answer = function(**given)
        if isinstance(answer, GeneratorType):
            for _ in zip(answer, range(100), strict=False):
                pass
    except cf.CranfieldError as error:
        return "" if str(error).strip() else "refused without a word"
    except TypeError as error:
        unknown = named == "not_there" and named in str(error)
        return "" if unknown else _said(error)
    except Exception as error:
        return _said(error)
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
    return ""


def _too_long(*_: object) -> None:
    raise TimeoutError(f"over {SECONDS} s")


def _said(error: Exception) -> str:
    with contextlib.suppress(Exception):
        return f"{type(error).__name__}: {str(error)[:200]}"
    return type(error).__name__
