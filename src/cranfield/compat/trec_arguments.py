"""The arguments of trec_eval, read as it reads them."""

from __future__ import annotations

import getopt
from collections.abc import Sequence
from typing import Literal

from cranfield.compat._trec_measures import ENTRIES, NICKNAMES, Request
from cranfield.errors import UsageError

USAGE = """\
usage: cranfield trec_eval [-q] [-m measure[.params]]... [-c] [-n] [-l N] [-M N] [-N N] [-J]
                           [-Z file] qrels run

Takes the arguments of trec_eval 10 and prints the same bytes.

  -q        values of each topic, before the summary
  -m NAME   a measure or nickname, with parameters after a dot: -m P.5,10 (may be repeated)
  -c        average over all judged topics; missing ones count as empty rankings
  -n        no summary
  -l N      the grade from which an item is relevant (default 1)
  -M N      look at the first N items of each topic
  -N N      number of items in the collection
  -J        take unjudged items out first
  -Z FILE   print deviations from the means in FILE, in standard deviations
  -R, -T    file formats: qrels and trec_results only
  -v        the version

nicknames: {nicknames}
measures: {measures}
"""

_LONG = [
    "help",
    "version",
    "query_eval_wanted",
    "measure=",
    "complete_rel_info_wanted",
    "level_for_rel=",
    "nosummary",
    "Debug_level=",
    "Judged_docs_only",
    "Number_docs_in_coll=",
    "Max_retrieved_per_topic=",
    "Rel_info_format=",
    "Results_format=",
    "Output_old_results_format",
    "Zscore=",
]
_SHORT_OF = {
    "--help": "-h",
    "--version": "-v",
    "--query_eval_wanted": "-q",
    "--measure": "-m",
    "--complete_rel_info_wanted": "-c",
    "--level_for_rel": "-l",
    "--nosummary": "-n",
    "--Debug_level": "-D",
    "--Judged_docs_only": "-J",
    "--Number_docs_in_coll": "-N",
    "--Max_retrieved_per_topic": "-M",
    "--Rel_info_format": "-R",
    "--Results_format": "-T",
    "--Output_old_results_format": "-o",
    "--Zscore": "-Z",
}


# What is printed instead of an evaluation.
Instead = Literal["help", "version"]


def read_arguments(argv: Sequence[str]) -> tuple[str, str, Request] | Instead:
    """The judgements, the run and what is asked of them; or what else is asked for."""
    try:
        options, files = getopt.gnu_getopt(list(argv), "hvqm:cl:nD:JN:M:R:T:oZ:", _LONG)
    except getopt.GetoptError as error:
        raise UsageError(f"trec_eval: {error}. See: cranfield trec_eval -h") from None
    chosen = [(_SHORT_OF.get(name, name), value) for name, value in options]
    flags = {name for name, _ in chosen}
    values = dict(chosen)
    if flags & {"-h", "-v"}:
        return "help" if "-h" in flags else "version"
    if flags & {"-D", "-o"}:
        raise UsageError("trec_eval: debugging output (-D) and old formats (-o) are not supported")
    if len(files) != 2:
        raise UsageError("trec_eval: expected judgements and a run. See: cranfield trec_eval -h")
    if files.count("-") > 1:
        raise UsageError("standard input ('-') can be only one of the files")
    from cranfield.compat.trec_eval import check_formats

    check_formats(values.get("-R", "qrels"), values.get("-T", "trec_results"))
    request = Request(
        measures=[value for name, value in chosen if name == "-m"] or ("official",),
        per_topic="-q" in flags,
        complete="-c" in flags,
        summary="-n" not in flags,
        level=_number(values.get("-l", "1"), "-l"),
        judged_only="-J" in flags,
        max_items=_number(values.get("-M", "0"), "-M"),
        collection_size=_number(values.get("-N", "0"), "-N"),
        zscores=values.get("-Z"),
    )
    return files[0], files[1], request


def usage() -> str:
    """The help, with all names of measures."""
    return USAGE.format(nicknames=", ".join(NICKNAMES), measures=", ".join(ENTRIES))


def _number(text: str, option: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise UsageError(f"trec_eval: {option} {text!r} is not a whole number") from None
