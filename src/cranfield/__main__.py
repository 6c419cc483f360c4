"""`python -m cranfield`, and where the command `cranfield` begins."""

from __future__ import annotations

import os
import signal
import sys


def start() -> int:
    """Run the command line; an interrupt while it is still being loaded ends quietly, too."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    from cranfield.cli import main

    signal.signal(signal.SIGINT, signal.default_int_handler)
    return main()


if __name__ == "__main__":
    sys.exit(start())
