"""How fast relatedness is: all nine WordNet measures, and WUP against nltk.

    python benchmarks/relatedness.py

Needs WordNet's database; nltk (`pip install nltk`) is timed where it is installed, on the same
files. Ends with 1 when a bar is missed: the first load in 3 s, nine measures for the 4,851 pairs of
the 99 concepts of the Photo Tagging Ontology in 20 s, WUP ten times as fast as nltk.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from cranfield.errors import CranfieldError
from cranfield.io.concepts import read_mapping
from cranfield.ontologies import pto
from cranfield.relatedness import methods, parse_methods
from cranfield.relatedness.cost_maps import cost_maps
from cranfield.relatedness.scoring import Lexicon, Resources, score_pairs
from cranfield.relatedness.wordnet_database import WordNet, open_wordnet
from cranfield.relatedness.wordnet_files import find_database

LOAD_SECONDS, NINE_SECONDS, TIMES_NLTK = 3.0, 20.0, 10.0
JOBS, OUR_PAIRS, NLTK_PAIRS, LEX_FILES = 2, 20_000, 300, 45


def timed(work: Callable[[], object]) -> float:
    started = time.perf_counter()
    work()
    return time.perf_counter() - started


def load_seconds(cache: str) -> tuple[float, float]:
    """A start that reads the database files, and one that finds the cache, each in a process."""
    code = (
        "import time, cranfield.relatedness.wordnet_database as w; t = time.perf_counter(); "
        "w.open_wordnet(); print(time.perf_counter() - t)"
    )
    environment = {**os.environ, "CRANFIELD_CACHE": cache}
    seconds = [
        float(
            subprocess.run(
                [sys.executable, "-c", code],
                env=environment,
                check=True,
                capture_output=True,
                text=True,
            ).stdout
        )
        for _ in range(2)
    ]
    return seconds[0], seconds[1]


def nine_measures(wordnet: WordNet) -> list[tuple[str, float]]:
    """Seconds for each cost map over the 99 concepts of 2011, all senses of all parts."""
    concepts = pto(2011).concepts
    lexicon = Lexicon(wordnet, "nvar", read_mapping("pto"))
    resources = Resources(lexicon=lexicon, jobs=JOBS)
    return [
        (method.name, timed(lambda m=method: cost_maps([m], concepts, resources)))
        for method in methods("wordnet")
    ]


def noun_pairs(wordnet: WordNet, count: int) -> list[tuple[str, str]]:
    """Random pairs of nouns that occur in running text."""
    start, end = wordnet.part_range("n")
    tagged = [s for s in range(start, end) if wordnet.tag_counts[s] > 0]
    words = sorted({wordnet.words(synset)[0].lower() for synset in tagged})
    rng = random.Random(1)
    return [(rng.choice(words), rng.choice(words)) for _ in range(count)]


def nltk_reader(folder: Path) -> Any:
    """nltk on the same files, with the names of the lexicographer files that Debian leaves out."""
    import nltk
    from nltk.corpus import wordnet

    # It reads copies in folders that it knows, and nothing else.
    nltk.data.path.insert(0, str(folder))
    home = folder / "corpora" / "wordnet"
    home.mkdir(parents=True)
    for file in find_database().root.iterdir():
        if file.is_file():
            shutil.copy(file, home)
    if not (home / "lexnames").exists():
        names = "".join(f"{number:02d}\tfile{number}\t1\n" for number in range(LEX_FILES))
        (home / "lexnames").write_text(names)
    return wordnet


def nltk_wup(reader: Any, pairs: list[tuple[str, str]]) -> None:
    for first, second in pairs:
        one, other = reader.synsets(first, "n"), reader.synsets(second, "n")
        max((a.wup_similarity(b) for a in one for b in other), default=None)


def against_nltk(wordnet: WordNet) -> tuple[float, float] | None:
    """Microseconds a pair of words, all senses: ours and nltk's."""
    pairs = noun_pairs(wordnet, OUR_PAIRS)
    resources = Resources(lexicon=Lexicon(wordnet, "n"))
    ours = timed(lambda: score_pairs(parse_methods("WUP"), pairs, resources))
    with tempfile.TemporaryDirectory() as folder:
        try:
            reader = nltk_reader(Path(folder))
        except ImportError:
            return None
        few = pairs[:NLTK_PAIRS]
        nltk_wup(reader, few[:5])  # loads its index
        theirs = timed(lambda: nltk_wup(reader, few))
    return 1e6 * ours / OUR_PAIRS, 1e6 * theirs / NLTK_PAIRS


def main() -> str:
    """Relatedness: nine WordNet measures for 99 concepts, and WUP beside nltk."""
    return report()[0]


def report() -> tuple[str, bool]:
    """The table, and whether every bar was met."""
    try:
        find_database()
    except CranfieldError as error:
        return f"Skipped. {error}\n", True
    with tempfile.TemporaryDirectory() as cache:
        first, second = load_seconds(cache)
        os.environ["CRANFIELD_CACHE"] = cache
        wordnet = open_wordnet()
        measures = nine_measures(wordnet)
        compared = against_nltk(wordnet)
    total = sum(seconds for _, seconds in measures)
    met = first <= LOAD_SECONDS and total <= NINE_SECONDS
    rows = [("first load", f"{first:.2f} s", f"{LOAD_SECONDS:g} s")]
    rows.append(("load from the cache", f"{1000 * second:.1f} ms", ""))
    rows += [(f"{name}, 4,851 pairs", f"{seconds:.2f} s", "") for name, seconds in measures]
    rows.append(("all nine", f"{total:.2f} s", f"{NINE_SECONDS:g} s"))
    if compared is not None:
        ours, theirs = compared
        times = theirs / ours
        met = met and times >= TIMES_NLTK
        rows.append(("WUP, a pair of words, all senses", f"{ours:.0f} us", ""))
        rows.append(("the same by nltk", f"{theirs:.0f} us", ""))
        rows.append(("nltk / ours", f"{times:.0f}", f"at least {TIMES_NLTK:g}"))
    lines = ["| what | measured | bar |", "|---|--:|--:|"]
    lines += [f"| {what} | {value} | {bar} |" for what, value, bar in rows]
    if compared is None:
        lines.append("\nnltk is not installed and was not compared.")
    return "\n".join(lines) + "\n", met


if __name__ == "__main__":
    text, met = report()
    print(text)
    sys.exit(0 if met else 1)
