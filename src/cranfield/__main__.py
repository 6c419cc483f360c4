"""`python -m cranfield`, and where the command `cranfield` begins."""

from __future__ import annotations

import os
import sys

try:
    import signal
except KeyboardInterrupt:  # it loads others, which takes a moment
    os._exit(130)


def start() -> int:
    """Run the command line; an interrupt while it is still being loaded ends quietly, too."""
    signal.signal(signal.SIGINT, lambda *_: os._exit(130))
    from cranfield.cli import main
    from cranfield.io import limits  # noqa: F401  (the compiled core, which loses an interrupt)

    signal.signal(signal.SIGINT, signal.default_int_handler)
    return main()


if __name__ == "__main__":
    sys.exit(start())
