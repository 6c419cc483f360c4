"""`python -m cranfield`, and where the command `cranfield` begins."""

from __future__ import annotations

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
    if code in _STOPPED:
        # All that was begun is put away. What Python does at its end may not survive a library
        # that was interrupted while it was being loaded.
        os._exit(code)
    return code


def _open_streams() -> None:
    """Nothing that is opened later may be taken for a standard stream that was closed."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


if __name__ == "__main__":
    sys.exit(start())
