"""The command `cranfield`: one file per command, loaded only when it is asked for."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Sequence

from cranfield._process import prepare_process, run_interruptible
from cranfield.cli._defence import BAD_INPUT, DONE, run_guarded
from cranfield.errors import UsageError, suggest

# command -> (module of cranfield.cli, what it does)
COMMANDS: dict[str, tuple[str, str]] = {
    "eval": ("eval", "evaluate ranked runs against judgements"),
    "compare": ("compare", "is the difference between runs real: intervals, tests, ranks"),
    "errors": ("errors", "where runs fail, disagree, gain and lose, and what they confuse"),
    "label": ("label", "evaluate runs that annotate items with concepts"),
    "chart": ("chart", "draw runs: leaderboard, heat map, curves, and more"),
    "ontology": ("ontology", "check an ontology of concepts, show it, compare two"),
    "tags": ("tags", "a tag corpus in figures, and which tags could become concepts"),
    "uncertain": ("uncertain", "precision and recall when people disagree about categories"),
    "displacement": ("displacement", "rankings of systems against rankings of people"),
    "index-quality": ("index_quality", "what an index of vectors could reach at best"),
    "measures": ("measures", "the catalogue of measures, or all about one of them"),
    "convert": ("convert", "judgements, runs or labels from one format to another"),
    "trec_eval": ("trec_eval", "take trec_eval's arguments, print trec_eval's bytes"),
    "agreement": ("agreement", "how far annotators agree, and who should not count"),
    "judges": ("judges", "programs or people who judged, beside the gold"),
    "aggregate": ("aggregate", "many opinions to one truth"),
    "form": ("form", "forms for people who annotate, and what they filled in"),
    "survey": ("survey", "ask people: measures, concept sets, words, categories, neighbours"),
    "groups": ("groups", "how people group and tag items: clusters, kinds, agreement"),
    "weaklabel": ("weaklabel", "keep the items whose features fit their tag"),
    "describe": ("describe", "pictures to vectors: colours, textures, edges, tags"),
    "descriptors": ("descriptors", "the catalogue of descriptors, or all about one of them"),
    "search": ("search", "vectors to runs: the nearest items of each query"),
    "annotate": ("annotate", "baselines: vectors and a truth to confidences of concepts"),
    "fuse": ("fuse", "several runs to one, by scores or ranks, with weights that may be tuned"),
    "query": ("query", "logical queries over concepts: annotations to a ranked run"),
    "relatedness": ("relatedness", "how close two concepts are: pairs of words, cost maps"),
    "costmap": ("costmap", "show a cost map, or compare two"),
    "lab": ("lab", "evaluate the measures: correlation, stability, random runs, votes, ..."),
    "pool": ("pool", "the items to judge: the first ones of every run"),
    "collection": ("collection", "a folder of files that belong together: draft it, check it"),
    "check": ("check", "what is wrong with submissions to a collection, its truth unopened"),
    "campaign": ("campaign", "the result tables of a campaign, and the folder of its site"),
    "publish": ("publish", "the results of a collection as a site of plain files"),
    "report": ("report", "the results of a collection as one page"),
    "serve": ("serve", "the campaign site: registration, submissions, results"),
    "judge": ("judge", "a program as an annotator of a campaign"),
    "submit": ("submit", "a run to the site of a campaign"),
    "demo": ("demo", "evaluate the collection that ships with the package"),
    "completion": ("completion", "what a shell needs to complete commands, options and measures"),
}
# What people want to do, and the commands for it in that order.
GROUPS = {
    "begin": "demo measures completion",
    "evaluate runs": "eval label compare errors chart uncertain displacement trec_eval",
    "work with a collection": "collection check report publish convert",
    "run a campaign": "campaign serve submit",
    "make a truth with people": "pool form judge survey agreement aggregate judges weaklabel",
    "make runs": "describe descriptors search annotate fuse query index-quality",
    "know the concepts": "ontology tags groups relatedness costmap",
    "evaluate the measures": "lab",
}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and give its exit code.

    0: done; 1: ran, but an asked-for check failed; 2: bad input or usage; 3: a fault of ours;
    130: interrupted. `--debug` shows the traceback of a fault of ours.
    """
    args = list(sys.argv[1:] if argv is None else argv)
    options = args[: args.index("--")] if "--" in args else args
    debug = "--debug" in options
    if debug:
        args.remove("--debug")
    if argv is not None:
        return run_guarded(lambda: _run(args), debug=debug)
    prepare_process()
    return run_guarded(lambda: run_interruptible(lambda: _run(args)), debug=debug)


def _run(args: Sequence[str]) -> int:
    if args[:1] == ["help"] and len(args) > 1:
        args = [*args[1:], "--help"]
    if not args or args[0] in ("-h", "--help", "help"):
        sys.stdout.write(_overview())
        return DONE if args else BAD_INPUT
    if args[0] in ("-V", "--version"):
        from cranfield._version import __version__

        sys.stdout.write(f"cranfield {__version__}\n")
        return DONE
    if args[0] not in COMMANDS:
        raise UsageError(
            f"cranfield: no command {args[0]!r}.{suggest(args[0], COMMANDS)} "
            "List them with: cranfield --help"
        )
    from cranfield.io.limits import set_caps_from_environment

    set_caps_from_environment()
    module = importlib.import_module(f"cranfield.cli.{COMMANDS[args[0]][0]}")
    code: int = module.main(args[1:])
    return code


def _overview() -> str:
    width = max(map(len, COMMANDS))
    lines = ["usage: cranfield COMMAND ...", "", "Evaluation of retrieval and annotation.", ""]
    grouped = {name for names in GROUPS.values() for name in names.split()}
    remaining = {"more": " ".join(name for name in COMMANDS if name not in grouped)}
    for purpose, names in (GROUPS | (remaining if remaining["more"] else {})).items():
        lines += [f"{purpose}:", *(f"  {n:<{width}}  {COMMANDS[n][1]}" for n in names.split()), ""]
    lines += ["cranfield help COMMAND tells more. --debug shows the traceback of a fault.", ""]
    return "\n".join(lines)
