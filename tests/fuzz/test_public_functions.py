"""Public functions with values that they cannot use: used, or refused with a message of ours."""

from __future__ import annotations

import os
import pickle
from pathlib import Path

import pytest

import cranfield as cf
from benchmarks.fuzz.public_functions import functions, walk
from benchmarks.fuzz.sound_calls import CALLS, LAB, STATS, write_files

# One of so many values for each parameter; `make fuzz` tries all.
SHARE = 10
OTHERS_PACKAGES = {"from_ranx", "to_ranx", "search_texts"}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)
    return tmp_path


def test_every_public_function_has_a_sound_call() -> None:
    named = {*CALLS, *(f"lab.{n}" for n in LAB), *(f"stats.{n}" for n in STATS)}
    assert {name for name in functions() if not name.startswith("charts.")} == named


def test_sound_calls_are_sound(folder: Path) -> None:
    quick = {*CALLS} - OTHERS_PACKAGES - {"publish", "collection_report", "read_forms"}
    for name in sorted(quick):
        getattr(cf, name)(**CALLS[name]())
    for room, calls in ((cf.lab, LAB), (cf.stats, STATS)):
        for name in sorted(calls.keys() - {"tally"}):
            getattr(room, name)(**calls[name]())


def test_what_cannot_be_used_is_refused() -> None:
    here = Path.cwd()
    tried = list(walk(SHARE))
    assert [(call, wrong) for call, wrong in tried if wrong] == []
    assert len(tried) > 1000
    assert Path.cwd() == here


def test_the_argument_is_named(folder: Path) -> None:
    log = cf.read_judgement_log("log.csv")
    with pytest.raises(cf.UsageError, match=r"^assess_agreement: log=3 is not a valid value"):
        cf.assess_agreement(3)
    with pytest.raises(cf.UsageError, match="aggregate_judgements: prior holds complex numbers"):
        cf.aggregate_judgements(log, "dawid-skene", prior=1j)


def test_faults_of_a_callback_stay_its_own(folder: Path) -> None:
    def stumbling(_: float) -> None:
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        cf.lab.curves("AP", size=5, progress=stumbling)


def test_too_many_arguments_are_told_by_python() -> None:
    with pytest.raises(TypeError, match="takes 1 positional argument"):
        cf.measure("AP", "RR")


def test_public_functions_can_be_pickled(folder: Path) -> None:
    assert pickle.loads(pickle.dumps(cf.read_run)) is cf.read_run
    assert os.fspath(folder)
