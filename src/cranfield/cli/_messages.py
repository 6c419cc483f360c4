"""What a command says when it fails: exit codes, and messages of the library in its options."""

from __future__ import annotations

import io
import os
import re
import sys
from collections.abc import Callable, Collection

from cranfield._process import stopped_with
from cranfield.errors import CranfieldError, os_message, suggest, visible

DONE, CHECK_FAILED, BAD_INPUT, FAULT, INTERRUPTED = 0, 1, 2, 3, 130
TRACEBACK = "CRANFIELD_TRACEBACK"

# Parameters whose option has another name.
OTHER_NAMES = {
    "rng": "seed",
    "margin": "equivalence",
    "thresholds": "threshold",
    "columns": "concepts",
    "measures": "m",
}
_NAMES = """
agreement alpha baseline collection_size concepts confidence correction costmap counts design detect
duplicates executor few_gold gmt gold ignore_self interval items jobs judged_only kind links
margin max_items long measures min_score missing ontology power provider queries questions
ranks resamples rng rules
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


# What options of other programs are called here.
OPTIONS_ELSEWHERE = {
    "--metric": "-m",
    "--metrics": "-m",
    "--measure": "-m",
    "--measures": "-m",
    "--out": "-o",
    "--correction-method": "--correction",
    "--significance": "--test",
}


def near_miss(message: str, names: Collection[str]) -> str:
    """' Did you mean ...?' after a complaint of the parser about a choice or an option.

    >>> near_miss("argument --test: invalid choice: 'tt' (choose from 'ttt', 'sign')", ())
    " Did you mean 'ttt'?"
    >>> near_miss("unrecognized arguments: --metric AP", ["-m", "--missing"])
    " Did you mean '-m'?"
    """
    if choice := re.search(r"invalid choice: '(.*?)' \(choose from (.*)\)", message):
        choices = [text.strip(" '") for text in choice[2].split(",")]
        return suggest(choice[1], choices)
    if option := re.search(r"unrecognized arguments:.*?(--?[a-z][\w-]*)", message):
        elsewhere = OPTIONS_ELSEWHERE.get(option[1])
        return f" Did you mean {elsewhere!r}?" if elsewhere in names else suggest(option[1], names)
    return ""


def run_guarded(work: Callable[[], int], *, debug: bool = False) -> int:
    """The exit code of a command, whatever happens: a sentence instead of a traceback.

    With `debug` the traceback of a fault of ours is shown, too.
    """
    try:
        code = int(work())
        sys.stdout.flush()
        return code
    except CranfieldError as error:
        if stopped_with:  # the signal ended what was compiled, which said so before its handler
            return _say("stopped", stopped_with[-1])
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
