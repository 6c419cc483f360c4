"""`cranfield trec_eval`: trec_eval's arguments in, trec_eval's bytes out."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from cranfield._version import __version__
from cranfield.compat.trec_eval import USAGE, read_arguments, usage

__all__ = ["USAGE", "main"]


def main(argv: Sequence[str]) -> int:
    request = read_arguments(argv)
    if request == "help":
        sys.stdout.write(usage())
    elif request == "version":
        sys.stderr.write(f"trec_eval version 10.0 (as cranfield {__version__} prints it)\n")
    else:
        from cranfield.compat.trec_eval import lines

        for line in lines(*request):
            sys.stdout.write(line)
    return 0
