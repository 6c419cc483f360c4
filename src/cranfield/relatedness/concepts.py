"""From the names of concepts to senses of WordNet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

from cranfield.errors import InputError, Problem, UsageError, suggest
from cranfield.io.files import csv_rows, describe, inner_suffix, open_text
from cranfield.relatedness.wordnet import Sense, WordNet

BUILT_IN_MAPPINGS = ("pto",)
PARTS = "nvar"
# Nouns where a word has any, else whatever it is: concepts are things before anything else.
NOUNS_FIRST = "auto"
ALTERNATIVE = "|"


@dataclass(frozen=True)
class Lexicon:
    """How concepts are looked up: which parts of speech count, and what stands for what.

    `mapping` gives the word that stands for a concept which WordNet does not list; several
    words, separated by a bar, mean any of them. An empty word takes the concept out.
    """

    wordnet: WordNet
    parts: str = NOUNS_FIRST
    mapping: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.parts != NOUNS_FIRST and not (self.parts and set(self.parts) <= set(PARTS)):
            raise UsageError(
                f"no parts of speech {self.parts!r} (expected {NOUNS_FIRST!r}, or letters of "
                f"{PARTS!r})"
            )

    def senses(self, concept: str) -> list[Sense]:
        """All senses of a concept; none when WordNet does not know it."""
        found: dict[Sense, None] = {}
        for word in self.mapping.get(concept, concept).split(ALTERNATIVE):
            if word.strip():
                found.update(dict.fromkeys(_senses(self.wordnet, word, self.parts)))
        return list(found)


def _senses(wordnet: WordNet, text: str, parts: str) -> list[Sense]:
    word, *marks = text.strip().lower().split("#")
    word = "_".join(word.split())
    if len(marks) == 2 and marks[0] in tuple(PARTS):
        return [s for s in _listed(wordnet, word, marks[0]) if str(s.number) == marks[1]]
    if len(marks) == 1 and marks[0] and set(marks[0]) <= set(PARTS):
        return _listed(wordnet, word, marks[0])
    if marks or not word:
        return []
    if parts != NOUNS_FIRST:
        return _listed(wordnet, word, parts)
    return _listed(wordnet, word, "n") or _listed(wordnet, word, "var")


def _listed(wordnet: WordNet, word: str, parts: str) -> list[Sense]:
    """The senses of a word as it stands, or else of its base form in each part of speech.

    A compound that is not listed with its hyphens is looked up with blanks.
    """
    for spelling in dict.fromkeys((word, word.replace("-", "_"))):
        found = [sense for part in parts for sense in wordnet.senses(spelling, part)]
        if found:
            return found
        for part in parts:
            forms = wordnet.valid_forms(spelling, part)
            if forms:
                found += wordnet.senses(forms[0], part)
        if found:
            return found
    return []


def read_mapping(source: str | Path) -> dict[str, str]:
    """A mapping file: CSV `concept,word`, or the name of one that is built in."""
    if str(source) in BUILT_IN_MAPPINGS:
        place = resources.files("cranfield.relatedness") / "mappings" / f"{source}.csv"
        with resources.as_file(place) as path:
            return read_mapping(path)
    check_name(source, BUILT_IN_MAPPINGS, "mapping")
    mapping: dict[str, str] = {}
    problems: list[Problem] = []
    for line, row in _rows(source):
        if len(row) != 2:
            problems.append(Problem(line, f"{len(row)} columns, expected: concept,word"))
        elif row[0] in mapping:
            problems.append(Problem(line, f"concept {row[0]!r} given twice"))
        elif line > 1 or [cell.lower() for cell in row] != ["concept", "word"]:
            mapping[row[0]] = row[1]
    if problems:
        raise InputError(describe(source), problems)
    return mapping


def check_name(source: str | Path, built_in: Sequence[str], what: str) -> None:
    """An InputError for a name without ending that is neither a file nor built in."""
    if not Path(source).suffix and str(source) != "-" and not Path(source).exists():
        raise InputError.single(
            str(source),
            f"no such file, and no built-in {what} of that name.{suggest(str(source), built_in)}",
        )


def read_concepts(source: str | Path) -> tuple[str, ...]:
    """Names of concepts: the column `concept` of a CSV file, or one name per line."""
    rows = _rows(source)
    column, start = 0, 0
    header = [cell.lower() for cell in rows[0][1]] if rows else []
    if "concept" in header:
        column, start = header.index("concept"), 1
    elif any(len(row) > 1 for _, row in rows):
        raise InputError.single(
            describe(source), "several columns but none named 'concept' in the first line", 1
        )
    seen: dict[str, int] = {}
    problems: list[Problem] = []
    for line, row in rows[start:]:
        name = row[column] if column < len(row) else ""
        if not name:
            problems.append(Problem(line, "no name in the column 'concept'"))
        elif name in seen:
            problems.append(Problem(line, f"concept {name!r} is already on line {seen[name]}"))
        else:
            seen[name] = line
    if not seen and not problems:
        problems.append(Problem(0, "holds no concept"))
    if problems:
        raise InputError(describe(source), problems)
    return tuple(seen)


def _rows(source: str | Path) -> list[tuple[int, list[str]]]:
    """The rows that hold anything, with their lines; lines that start with # are remarks."""
    delimiter = "\t" if inner_suffix(source) == ".tsv" else ","
    with open_text(source) as stream:
        return [
            (line, [cell.strip() for cell in row])
            for line, row in csv_rows(stream, describe(source), delimiter)
            if any(cell.strip() for cell in row) and not row[0].startswith("# ")
        ]
