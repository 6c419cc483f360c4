"""The commands of `cranfield`: one row for each, and the names that they had before."""

from __future__ import annotations

from typing import NamedTuple


class Command(NamedTuple):
    """A command: its module in `cranfield.cli` and what it does.

    The module has `main(argv)`, which gives the exit code, and `make_parser()`. Where several
    commands share a module, its `COMMANDS` has a parser and a function for each `variant`.
    """

    module: str
    summary: str
    variant: str = ""


# The words of a command -> its row. The first word of several is a group: see `GROUPS`.
COMMANDS: dict[str, Command] = {
    "demo": Command("demo", "evaluate the collection that ships with the package"),
    "measures": Command("measures", "the catalogue of measures, or all about one of them"),
    "eval ranked": Command(
        "eval", "ranked runs against judgements; the word can be left out", "ranked"
    ),
    "eval labels": Command("eval_labels", "runs that annotate items with concepts", "labels"),
    "eval votes": Command(
        "eval", "precision and recall when people disagree about categories", "votes"
    ),
    "eval displacement": Command(
        "eval", "rankings of systems against rankings of people", "displacement"
    ),
    "eval index": Command("eval", "what an index of vectors could reach at best", "index"),
    "eval regions": Command("eval_labels", "runs that place boxes around objects", "regions"),
    "compare": Command("compare", "is the difference between runs real: intervals, tests, ranks"),
    "report page": Command("report", "the results of a collection as one page", "page"),
    "report site": Command(
        "report", "the results of a collection as a site of plain files", "site"
    ),
    "report chart": Command("report_chart", "draw runs: leaderboard, heat map, curves, and more"),
    "report errors": Command(
        "report", "where runs fail, disagree, gain and lose, and what they confuse", "errors"
    ),
    "report table": Command(
        "report", "a result table of a collection, of scores or of printed figures", "table"
    ),
    "convert": Command(
        "convert", "judgements, runs or labels from one format to another", "convert"
    ),
    "import": Command(
        "convert",
        "exports of annotation tools, topics and predictions as files to work with",
        "import",
    ),
    "trec_eval": Command("trec_eval", "take trec_eval's arguments, print trec_eval's bytes"),
    "collection init": Command("collection", "write the collection.toml of a folder", "init"),
    "collection check": Command(
        "collection", "read all of a collection; exit 1 when something is wrong", "check"
    ),
    "collection submissions": Command(
        "collection", "what is wrong with submissions, the truth unopened", "submissions"
    ),
    "collection split": Command(
        "collection", "items in parts: random, concepts in proportion, by group", "split"
    ),
    "truth pool": Command("truth_pool", "the items to judge: the first ones of every run"),
    "truth next": Command("truth_next", "whose opinion is worth most next, and about which item"),
    "truth form": Command("truth_form", "forms for people who annotate, and what they filled in"),
    "truth survey": Command(
        "truth_survey", "ask people: measures, concept sets, words, categories, neighbours"
    ),
    "truth agreement": Command(
        "truth_agreement", "how far annotators agree, and who should not count", "agreement"
    ),
    "truth regions": Command("truth_agreement", "how far people agree who drew boxes", "regions"),
    "truth aggregate": Command("truth_aggregate", "many opinions to one truth", "aggregate"),
    "truth judges": Command(
        "truth_agreement", "programs or people who judged, beside the gold", "judges"
    ),
    "truth weak-labels": Command(
        "truth_aggregate", "keep the items whose features fit their tag", "weak-labels"
    ),
    "runs extract": Command(
        "runs_descriptors", "pictures to vectors: colours, textures, edges, tags", "extract"
    ),
    "runs search": Command(
        "runs_search", "vectors to runs: the nearest items of each query", "search"
    ),
    "runs classify": Command(
        "runs_labels", "baselines: vectors and a truth to confidences of concepts", "classify"
    ),
    "runs benchmark": Command(
        "runs_descriptors", "descriptors against each other on a folder of pictures", "benchmark"
    ),
    "runs calibrate": Command(
        "runs_labels", "confidences of concepts to probabilities", "calibrate"
    ),
    "runs fuse": Command("runs_search", "several runs to one, by scores or ranks", "fuse"),
    "runs text": Command(
        "runs_search", "captions and other texts to runs: BM25 for each query", "text"
    ),
    "runs feedback": Command(
        "runs_search",
        "relevance feedback: better queries from what was relevant at the top",
        "feedback",
    ),
    "runs query": Command(
        "runs_labels", "logical queries over concepts: annotations to a ranked run", "query"
    ),
    "runs descriptors": Command(
        "runs_descriptors", "the catalogue of descriptors, or all about one of them", "descriptors"
    ),
    "concepts ontology": Command(
        "concepts", "check an ontology of concepts, show it, compare two", "ontology"
    ),
    "concepts tags": Command(
        "concepts", "a tag corpus in figures, and which tags could become concepts", "tags"
    ),
    "concepts card-sort": Command(
        "concepts", "how people group and tag items: clusters, kinds, agreement", "card-sort"
    ),
    "concepts relatedness": Command(
        "concepts", "how close two concepts are: pairs of words, cost maps", "relatedness"
    ),
    "concepts costmap": Command("concepts", "show a cost map, or compare two", "costmap"),
    "site serve": Command("site_serve", "the campaign site: registration, submissions, results"),
    "site import": Command(
        "site_admin", "a collection's folder becomes a draft campaign of a site", "import"
    ),
    "site export": Command(
        "site_admin", "a campaign as a folder: collection, runs, logs, pages, a script", "export"
    ),
    "site backup": Command(
        "site_admin", "the whole site in one file, also while it is served", "backup"
    ),
    "site restore": Command(
        "site_admin", "a backup becomes a site in an empty folder, verified", "restore"
    ),
    "site verify": Command(
        "site_admin", "recompute the audit's chain and all hashes; exit 1 on a difference", "verify"
    ),
    "site clock": Command(
        "site_admin",
        "hold the machine's clock against the site's time; exit 1 if in doubt",
        "clock",
    ),
    "site rescore": Command(
        "site_admin", "score what has no scores under the newest truth", "rescore"
    ),
    "site submit": Command("site_client", "send a run to the site of a campaign", "submit"),
    "site judge": Command("site_client", "a program as an annotator of a campaign", "judge"),
    "site passwd": Command(
        "site_admin", "a new password for a user of a site, shown once", "passwd"
    ),
    "site rehearse": Command(
        "site_admin", "a whole campaign against a server of its own: what must hold", "rehearse"
    ),
    "lab": Command("lab", "evaluate the measures: correlation, stability, random runs, votes, ..."),
}
# The first word of several commands -> what they have in common.
GROUPS = {
    "eval": "runs against a truth",
    "report": "results to read",
    "collection": "a folder of files that belong together",
    "truth": "a truth made with people",
    "runs": "make runs",
    "concepts": "know the concepts",
    "site": "run a campaign, or take part in one",
}
# The sections of the overview, and the first words of the commands in each of them.
SECTIONS = {
    "begin": "demo measures",
    "evaluate": "eval compare report",
    "work with files": "collection convert import trec_eval",
    "make truths and runs": "truth runs concepts",
    "run a campaign": "site",
    "evaluate the measures": "lab",
}
# Other names of commands: they work everywhere and are shown nowhere.
ALIASES = {
    "eval": "eval ranked",
    "report": "report page",
    "label": "eval labels",
    "uncertain": "eval votes",
    "displacement": "eval displacement",
    "index-quality": "eval index",
    "publish": "report site",
    "chart": "report chart",
    "errors": "report errors",
    "campaign results": "report table",
    "check": "collection submissions",
    "pool": "truth pool",
    "form": "truth form",
    "survey": "truth survey",
    "agreement": "truth agreement",
    "aggregate": "truth aggregate",
    "judges": "truth judges",
    "weaklabel": "truth weak-labels",
    "describe": "runs extract",
    "search": "runs search",
    "annotate": "runs classify",
    "calibrate": "runs calibrate",
    "fuse": "runs fuse",
    "query": "runs query",
    "descriptors": "runs descriptors",
    "ontology": "concepts ontology",
    "tags": "concepts tags",
    "groups": "concepts card-sort",
    "relatedness": "concepts relatedness",
    "costmap": "concepts costmap",
    "serve": "site serve",
    "submit": "site submit",
    "judge": "site judge",
    "campaign": "site",
    "completion": "--completion",
}


def find_command(words: list[str]) -> tuple[str, list[str]]:
    """The command that words begin with, '' for none, and the words behind it.

    >>> find_command(["eval", "labels", "truth.csv"])
    ('eval labels', ['truth.csv'])
    >>> find_command(["label", "truth.csv"])
    ('eval labels', ['truth.csv'])
    >>> find_command(["eval", "qrels.txt", "a.run"])
    ('eval ranked', ['qrels.txt', 'a.run'])
    >>> find_command(["campaign", "backup"])
    ('site backup', [])
    """
    for length in (2, 1):
        name = " ".join(words[:length])
        if name in COMMANDS:
            return name, words[length:]
    for length in (2, 1):
        name = " ".join(words[:length])
        if name in ALIASES:
            return find_command([*ALIASES[name].split(), *words[length:]])
    return "", words


def commands_of(group: str) -> dict[str, Command]:
    """The commands of a group by their second word."""
    return {
        name.partition(" ")[2]: command
        for name, command in COMMANDS.items()
        if name.startswith(f"{group} ")
    }


def summary_of(word: str) -> str:
    """What the commands that begin with a word do, with the names of a group's commands."""
    names = ", ".join(commands_of(word))
    return f"{GROUPS[word]}: {names}" if names else COMMANDS[word].summary
