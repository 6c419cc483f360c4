"""Every key of `collection.toml`: of what kind its value is and what it says.

The reader, the writer, `collection init` and the reference page are made from this.
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from cranfield.data.collection import RunFacts, Team

FILE = "collection.toml"


@dataclass(frozen=True, slots=True)
class Key:
    """A key: its kind (a way to read it), what it says, and a value as it may be written."""

    name: str
    kind: str
    about: str
    example: str


def _key(name: str, kind: str, example: str, about: str) -> Key:
    return Key(name, kind, about, example)


# In the order in which they are written.
DECLARED: tuple[Key, ...] = (
    _key("name", "text", '"digits"', "a short name; the folder's, if it is not given"),
    _key("title", "text", '"Handwritten digits"', "what pages and reports are headed with"),
    _key("version", "text", '"1"', "the version of the collection"),
    _key("licence", "text", '"CC-BY-4.0"', "under what terms it may be used"),
    _key("series", "text", '"Photo annotation"', "the series of campaigns that it belongs to"),
    _key("year", "text", '"2010"', "which year of the series this is"),
    _key("layout", "layout", "2", "the layout of this file; a later one than is known is refused"),
    _key("size", "count", "1120", "how many items can be retrieved; else as many as are public"),
    _key("seed", "whole", "7", "the seed of everything that is drawn; 0 if it is not given"),
    _key("sources", "file", '"SOURCES.md"', "where the files come from"),
    _key(
        "items",
        "file",
        '"items.csv"',
        "the public ids of the items: CSV with a column `item`, if wanted with `text` and "
        "`picture` (a file), or one id per line",
    ),
    _key(
        "pictures",
        "folder",
        '"pictures"',
        "a folder with a picture per item, named by the item's id",
    ),
    _key(
        "topics",
        "file",
        '"topics.csv"',
        "CSV with a column `topic`, if wanted with `text` and `item` (the item asked with)",
    ),
    _key(
        "concepts",
        "file",
        '"concepts.csv"',
        "CSV with a column `concept`, if wanted with `title`, `question`, `definition`, `example` "
        "(words) and `examples` (items, separated by spaces)",
    ),
    _key(
        "judgements",
        "file",
        '"qrels.txt"',
        "which items are relevant to which topic, also as probabilities; with `silver` the gold: "
        "some topics, or sampled pairs of all",
    ),
    _key(
        "silver",
        "file",
        '"model.qrels"',
        "what a program or a crowd judged: all topics, for estimates from little gold",
    ),
    _key("runs", "files", '["runs/a.run"]', "rankings of items for the topics"),
    _key("measures", "texts", '["AP", "nDCG@10"]', "measures of the rankings"),
    _key("primary", "text", '"AP"', "the measure that rankings are sorted by; else the first"),
    _key("baseline", "text", '"bm25"', "the run that other rankings are compared with"),
    _key("retrieved", "text", '"collection"', "the split whose items can be retrieved; else all"),
    _key(
        "truth",
        "labels",
        '"truth.csv"',
        "which concepts each item has, also as probabilities; with `label_silver` the gold: some "
        "items",
    ),
    _key(
        "label_silver",
        "file",
        '"model.csv"',
        "what a program or a crowd said of all items, for estimates from little gold",
    ),
    _key("label_runs", "files", '["labels/a.csv"]', "annotations of items with concepts"),
    _key("label_measures", "texts", '["AP.concept"]', "measures of the annotations"),
    _key("label_primary", "text", '"AP.concept"', "the measure annotations are sorted by"),
    _key("label_baseline", "text", '"chance"', "the run that annotations are compared with"),
    _key(
        "annotated",
        "text",
        '"test"',
        "the split whose items are to be annotated, and runs scored on; else all",
    ),
    _key("threshold", "threshold", "0.5", "from which confidence on a label is given, or a file"),
    _key("ontology", "ontology", '"pto-2011"', "a built-in name, or a file"),
    _key("rules", "file", '"rules.toml"', "rules that hold between concepts"),
    _key("cost_maps", "files", '["costs.csv"]', "how much it costs to take a concept for another"),
    _key("counts", "files", '["tags.csv"]', "on how many pages terms occur"),
    _key("agreement_map", "file", '"agreement.csv"', "how far annotators agree on each concept"),
    _key("judgement_log", "file", '"log.csv"', "who judged what, and how long it took"),
    _key("subject_rankings", "file", '"rankings.csv"', "rankings by people, per topic"),
    _key("subject_categories", "file", '"votes.csv"', "votes of people for categories, per item"),
    _key("category_parents", "file", '"categories.csv"', "which category lies in which"),
    _key("splits", "splits", '{ train = "train.txt" }', "a file of item ids for each split"),
    _key(
        "images",
        "images",
        '{ file = "sheet.png", items = "items.csv", width = 8, height = 8, columns = 43 }',
        "small pictures of many items in one PNG, as tiles",
    ),
    _key(
        "teams",
        "teams",
        '[{ acronym = "FERN", name = "Fernwood Institute", country = "Norland" }]',
        "who takes part, as tables or as a CSV file with these columns",
    ),
    _key(
        "run_facts",
        "run_facts",
        '[{ run = "a", team = "FERN", tag = "r1", configuration = "V" }]',
        "what is known of each run, as tables or as a CSV file with these columns",
    ),
    _key(
        "years",
        "years",
        '{ 2009 = "earlier/2009" }',
        "earlier years: folders of collections, saved scores, or CSV of printed figures",
    ),
)
# What is taken for each kind of value.
KINDS: dict[str, str] = {
    "text": "text in quotes",
    "texts": "a list of texts, or one text of names with blanks between them",
    "count": "a whole number from 1 on",
    "whole": "a whole number from 0 on",
    "layout": "a whole number from 1 on, at most that of this version",
    "file": "the name of a file, relative to the folder and inside it",
    "files": "a list of names of files",
    "labels": "the name of a file, or of a folder with a file per concept as PASCAL VOC has it",
    "folder": "the name of a folder inside the collection's",
    "threshold": "a number in [0, 1], or a file with one per concept",
    "ontology": "a built-in name such as pto-2011, or a file",
    "splits": "a table: for each split a file of item ids, one per line or in a column `item`",
    "images": "a table; tiles of one size go from left to right, top to bottom",
    "teams": "tables or a CSV file; an acronym stands once",
    "run_facts": "tables or a CSV file; a run stands once, under its file's name without endings",
    "years": "a table: for each year a file or folder inside the collection's",
}
KEYS = tuple(key.name for key in DECLARED)
IMAGE_KEYS = ("file", "items", "width", "height", "columns")
TEAM_KEYS = tuple(f.name for f in fields(Team))
RUN_KEYS = tuple(f.name for f in fields(RunFacts))


def of_kind(*kinds: str) -> tuple[str, ...]:
    """The names of the keys of some kinds, as declared."""
    return tuple(key.name for key in DECLARED if key.kind in kinds)
