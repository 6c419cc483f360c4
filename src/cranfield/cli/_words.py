"""What the library says of its parameters, in the words of the command line."""

from __future__ import annotations

import re

# A parameter that is spoken of, not one with a value: `tags=` and not `tags='x'`.
_PARAMETER = re.compile(r"(?<![\w'\"-])([a-z][a-z_]*)=(?![\w'\"\[(.-])")


def in_options(text: str) -> str:
    """A message of the library with options for parameters.

    >>> in_options("give counts= or collection_size=, not both")
    'give --counts or --collection-size, not both'
    """
    return _PARAMETER.sub(lambda found: f"--{found[1].replace('_', '-')}", text)
