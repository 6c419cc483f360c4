"""`python -m cranfield`, and where the command `cranfield` begins."""

from __future__ import annotations

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
    from cranfield.cli import main
    from cranfield.io import limits  # noqa: F401  (the compiled core, which loses an interrupt)

    code = main()
    if code in _STOPPED:
        # A library that was interrupted while it was being loaded may not survive Python's own end.
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
