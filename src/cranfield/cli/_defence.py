"""The last lines of defence: what the command line says when something goes wrong around it."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable

from cranfield._process import stopped_with
from cranfield.cli._words import in_options
from cranfield.errors import CranfieldError, os_message, visible

DONE, CHECK_FAILED, BAD_INPUT, FAULT, INTERRUPTED = 0, 1, 2, 3, 130
TRACEBACK = "CRANFIELD_TRACEBACK"


def run_guarded(work: Callable[[], int], *, debug: bool = False) -> int:
    """The exit code of a command, whatever happens: a sentence instead of a traceback.

    With `debug` the traceback of a fault of ours is shown, too.
    """
    try:
        code = int(work())
        sys.stdout.flush()
        return code
    except CranfieldError as error:
        return _say(in_options(str(error)), BAD_INPUT)
    except KeyboardInterrupt:
        return _say("stopped", INTERRUPTED)
    except SystemExit as leaving:
        return _flush_output(_exit_code(leaving))
    except BrokenPipeError:
        # The reader of our output went away (`| head`): not an error, and nothing left to flush.
        _drop_output()
        return DONE
    except MemoryError:
        return _say("cranfield: not enough memory for this", BAD_INPUT)
    except ImportError as error:
        # A library that is there but does not fit into what memory is left.
        scarce = any(word in str(error) for word in ("map segment", "allocate", "memory"))
        return (
            _say("cranfield: not enough memory for this", BAD_INPUT)
            if scarce
            else _fault(error, debug)
        )
    except OSError as error:
        _drop_output()
        file_name = error.filename if isinstance(error.filename, str) else "standard output"
        return _say(f"{file_name}: {os_message(error)}", BAD_INPUT)
    except Exception as error:
        return _fault(error, debug)


def _exit_code(leaving: SystemExit) -> int:
    return (
        leaving.code if isinstance(leaving.code, int) else DONE if not leaving.code else BAD_INPUT
    )


def _flush_output(code: int) -> int:
    try:
        sys.stdout.flush()
    except OSError as error:
        _drop_output()
        return DONE if isinstance(error, BrokenPipeError) else _say(os_message(error), BAD_INPUT)
    return code


def _fault(error: Exception, debug: bool) -> int:
    if stopped_with:
        return stopped_with[-1]
    reason: BaseException | None = error
    while reason := reason and (reason.__cause__ or reason.__context__):
        # A signal that came while a class or a library was being made is hidden in its error.
        if isinstance(reason, KeyboardInterrupt | SystemExit):
            return INTERRUPTED if isinstance(reason, KeyboardInterrupt) else _exit_code(reason)
    if debug or os.environ.get(TRACEBACK):
        import traceback

        traceback.print_exception(error)
    message = " ".join(f"{type(error).__name__}: {error}".split())
    return _say(
        f"cranfield: a fault of Cranfield itself ({message[:300]}). Please report it with the "
        "command and its files; --debug shows where it happened",
        FAULT,
    )


def _say(text: str, code: int) -> int:
    """A message on standard error, with nothing in it that a terminal would obey."""
    try:
        sys.stderr.write(f"{visible(text)}\n")
        sys.stderr.flush()
    except (OSError, ValueError):
        pass  # no reader is left
    return code


def _drop_output() -> None:
    """Leave nothing to be flushed at the end, where it would fail once more."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError, AttributeError):
        sys.stdout = io.TextIOWrapper(io.BytesIO())
