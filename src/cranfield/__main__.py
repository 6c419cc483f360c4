"""`python -m cranfield`, and where the command `cranfield` begins."""

from __future__ import annotations

import os
import sys

INTERRUPTED = 130
try:
    import signal
    from types import FrameType
except KeyboardInterrupt:  # nothing has begun yet
    sys.exit(INTERRUPTED)
# A library that is being loaded may make another error of an interrupt.
_interrupts: list[int] = []


def start() -> int:
    """Run the command line; an interrupt before or behind its work ends quietly, too."""
    signal.signal(signal.SIGINT, _interrupt)
    _open_streams()
    try:
        from cranfield.cli import main
        from cranfield.io import files  # noqa: F401  (the compiled core)

        return main()
    except Exception:
        if _interrupts:
            return INTERRUPTED
        raise
    finally:
        # Nothing is left to be stopped.
        signal.signal(signal.SIGINT, signal.SIG_IGN)


def _interrupt(number: int, _: FrameType | None) -> None:
    _interrupts.append(number)
    raise SystemExit(INTERRUPTED)


def _open_streams() -> None:
    """Nothing that is opened later may be taken for a standard stream that was closed."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


if __name__ == "__main__":
    sys.exit(start())
