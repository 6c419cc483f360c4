"""`python -m cranfield`, and where the command `cranfield` begins."""

from __future__ import annotations

import atexit
import gc
import os
import sys

try:
    import signal
except KeyboardInterrupt:  # it loads others, which takes a moment
    os._exit(130)

# Interrupted, and told to end.
_STOPPED = (130, 143)


def start() -> int:
    """Run the command line; an interrupt before or behind its work ends quietly, too."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    _open_streams()
    gc.set_threshold(20_000)  # loading makes many objects, and hardly any that are garbage
    from cranfield.cli import main
    from cranfield.io import limits  # noqa: F401  (the compiled core, which loses an interrupt)

    code = main()
    if sys.getprofile() or sys.gettrace():
        return code  # somebody watches, who has something to say behind it
    if code not in _STOPPED:
        _put_away()
    # Python would take all modules apart, object by object: a tenth of a small command's time.
    # Nor may that survive a library that was interrupted while it was being loaded.
    os._exit(code)


def _put_away() -> None:
    """What Python does at its end for others: threads and what was registered, streams."""
    from contextlib import suppress

    if threading := sys.modules.get("threading"):
        threading._shutdown()
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):  # nobody is there to be told
            stream.flush()


def _open_streams() -> None:
    """Nothing that is opened later may be taken for a standard stream that was closed."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


if __name__ == "__main__":
    sys.exit(start())
