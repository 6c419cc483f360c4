"""The library speaks of parameters, the command line of options: this is the translation."""

from __future__ import annotations

import re

from cranfield.errors import visible

# Parameters whose option has another name.
OTHER_NAMES = {
    "rng": "seed",
    "margin": "equivalence",
    "thresholds": "threshold",
    "columns": "concepts",
    "measures": "m",
}
_NAMES = """
agreement alpha baseline collection_size concepts confidence correction costmap counts detect
duplicates executor few_gold gmt gold interval items jobs judged_only kind links margin max_items
long measures min_score missing ontology power provider queries questions ranks resamples rng rules
scores shape shares silver skipped soft sort tags tail test third threshold ties topics unlisted
unvoted values width wordnet
"""
PARAMETERS = _NAMES.split()
# The options of the command that runs, from its parser.
option_names: set[str] = set()
# name=value as a whole word; what stands in brackets belongs to the name of a measure.
_SAID = rf"(?<!\w\()(?<![\w.'\"])({'|'.join(PARAMETERS)})=(\.\.\.|'[^']*'|[\w./:|-]*)"
# Any parameter that is spoken of without a value: `tags=` and not `tags='x'`.
_BARE = r"(?<![\w'\"-])([a-z][a-z_]*)=(?![\w'\"\[(.-])"


def in_options(text: str) -> str:
    """A message of the library in the words of the command that runs."""
    text = translate_message(text)
    for name in (
        set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", text)) - option_names if option_names else ()
    ):
        # Advice that is another command's: what stands in brackets, or behind a semicolon.
        text = re.sub(rf" \({name}[^()]*\)|; [^;()]*{name}(?![\w-])[^;()]*", "", text)
    return text


def translate_message(text: str) -> str:
    """A message of the library with options for parameters, and nothing a terminal obeys.

    >>> translate_message("pass collection_size=N or missing='optimist'; name them by concepts=...")
    'pass --collection-size N or --missing optimist; name them by --concepts'
    >>> translate_message("give counts= or collection_size=, not both; or measures='AP RR'")
    "give --counts or --collection-size, not both; or -m 'AP RR'"
    >>> translate_message("few_gold=True makes them nevertheless")
    '--few-gold makes them nevertheless'
    """

    def option(match: re.Match[str]) -> str:
        value = "" if match[2] in ("...", "True") else match[2].strip("'")
        value = f"'{value}'" if " " in value else value
        return f"{_option(match[1])} {value}".rstrip()

    # Compiled when something is said: most commands say nothing.
    text = re.sub(_SAID, option, text)
    return visible(re.sub(_BARE, lambda match: _option(match[1]), text))


def _option(parameter: str) -> str:
    name = OTHER_NAMES.get(parameter, parameter).replace("_", "-")
    return f"-{name}" if len(name) == 1 else f"--{name}"
