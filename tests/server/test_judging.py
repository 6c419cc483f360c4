"""A program as an annotator: what it answered counts, and one that never answers is ended."""

import os
import shlex
import subprocess
import sys

import pytest

from cranfield.errors import UsageError
from cranfield.server import model_annotator

PLACE = "http://127.0.0.1:1/tiny"


def _one_unit(_place, _secret, method, _path, _body=None):
    return (
        200,
        {"assignment": "one", "item": "d0", "text": "x" * 100_000} if method == "GET" else {},
    )


def test_the_answer_of_a_program_that_did_not_read_the_question_counts(monkeypatch):
    monkeypatch.setattr(model_annotator, "_send_request", _one_unit)
    started = subprocess.Popen

    def ended(*given, **options):
        # The program has ended before the first question is written.
        program = started(*given, **options)
        program.wait(timeout=60)
        return program

    monkeypatch.setattr(model_annotator.subprocess, "Popen", ended)
    report = model_annotator.judge(
        to=PLACE, command="echo '{\"skip\": true}'", token="cw_x", most=1
    )
    assert "0 judged, 1 skipped" in str(report)


@pytest.mark.parametrize("reads", ["", "sys.stdin.readline(); "], ids=["deaf", "silent"])
def test_a_program_that_never_answers_is_ended_with_what_it_started(reads, monkeypatch, tmp_path):
    monkeypatch.setattr(model_annotator, "_send_request", _one_unit)
    pipe = tmp_path / "alive"
    os.mkfifo(pipe)
    # Nobody ever writes to the pipe that the program's own child reads from.
    code = f"import subprocess, sys; {reads}subprocess.run(['cat', {str(pipe)!r}], timeout=600)"
    command = shlex.join([sys.executable, "-c", code])
    with pytest.raises(UsageError, match="has not answered within 1 s and was ended"):
        model_annotator.judge(to=PLACE, command=command, token="cw_x", answer_within=1)
    with pytest.raises(UsageError, match="answer_within=0"):
        model_annotator.judge(to=PLACE, command=command, token="cw_x", answer_within=0)
