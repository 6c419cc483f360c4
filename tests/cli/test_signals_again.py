"""A signal whose exception Python swallowed in a finaliser ends the command all the same."""

import signal
import subprocess
import sys
import threading

import pytest

from cranfield._process import cancel_on_signal
from cranfield.cli._common import show_progress

PROGRAM = """
import signal, sys
from cranfield._process import prepare_process, run_interruptible

class Swallows:
    def __del__(self):
        signal.raise_signal(signal.{name})

def work():
    one = Swallows()
    del one
    while True:
        signal.pause()

prepare_process()
try:
    run_interruptible(work)
except KeyboardInterrupt:
    sys.exit(130)
"""


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGINT", 130)])
def test_signal_swallowed_by_a_finaliser_comes_again(name, code):
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM.format(name=name)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (ended.returncode, ended.stderr) == (code, "")


def test_work_is_cancelled_by_the_signal_itself():
    cancelled = threading.Event()
    before = signal.signal(signal.SIGUSR1, lambda *_: None)
    try:
        with cancel_on_signal(cancelled.set):
            signal.raise_signal(signal.SIGUSR1)
            assert cancelled.wait(60)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert signal.set_wakeup_fd(-1) == -1  # as it was before


def test_work_is_done_where_the_caller_is():
    with show_progress("work", quiet=True) as progress:
        progress(0.5)
        assert threading.current_thread() is threading.main_thread()
        assert progress.done == 0.5
    assert not progress.cancelled
