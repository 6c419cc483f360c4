"""Figures of S. Nowak's thesis (2011) on relatedness: equations 4.1, 4.2, 7.2, Table 8.4."""

import csv
import math
from pathlib import Path

import pytest

from cranfield.data.ontology import Ontology
from cranfield.relatedness import parse_methods
from cranfield.relatedness.concepts import Lexicon
from cranfield.relatedness.counts import nwd
from cranfield.relatedness.human import correlation_with_people as agreement
from cranfield.relatedness.ontology_tree import Tree
from cranfield.relatedness.scoring import Resources, score_pairs
from cranfield.relatedness.wordnet import open_wordnet

TABLE = (
    Path(__file__).parents[2].parent / "shared/data/published/table-8.3-gracia-mena-relatedness.csv"
)


def test_equations_4_1_and_4_2():
    # h(x) = 1000, h(y) = 100, h(x, y) = 10, N = 100000: (3 - 1) / (5 - 2) in powers of ten.
    assert nwd(1000, 100, 10, 100_000) == pytest.approx(2 / 3)
    assert math.exp(-2 * nwd(1000, 100, 10, 100_000)) == pytest.approx(math.exp(-4 / 3))


def test_equation_7_2_by_the_tree():
    # Section 7.3: Landscape_Nature to Outdoor 0.86 (12/14), to Trees 0.93 (13/14).
    paths = [
        ("Landscape_Nature", "AbstractCategories.LandscapeNature"),
        ("Outdoor", "Place.Outdoor"),
        ("Indoor", "Place.Indoor"),
        ("Trees", "LandscapeElements.Plants.Trees"),
        ("Plants", "LandscapeElements.Plants"),
    ]
    tree = Ontology.from_paths(paths).cost_map
    pairs = [("Landscape_Nature", other) for other in ("Outdoor", "Indoor", "Trees")]
    (found,) = score_pairs(parse_methods("TREE"), pairs, Resources(tree=Tree(tree)))
    assert found.values() == pytest.approx([2 / 14, 2 / 14, 1 / 14])


# Table 8.4, columns "WordNet Measure" and "Value".
PRINTED = {"RES": 0.56, "WUP": 0.47, "HSO": 0.46, "LIN": 0.46, "LCH": 0.41, "PATH": 0.41,
           "JCN": 0.40}  # fmt: skip


@pytest.mark.wordnet
@pytest.mark.skipif(not TABLE.is_file(), reason="the word pairs of Table 8.3 are not here")
def test_table_8_4_wordnet_column():
    with TABLE.open() as stream:
        rows = list(csv.DictReader(stream))
    assert len(rows) == 30
    words = [(row["word1"], row["word2"]) for row in rows]
    human = [float(row["human"]) for row in rows]
    lexicon = Lexicon(open_wordnet())
    chosen = parse_methods(" ".join(PRINTED))
    for found in score_pairs(chosen, words, Resources(lexicon=lexicon)):
        rho = agreement(found.values(), human).spearman
        assert f"{rho:.2f}" == f"{PRINTED[found.method.name]:.2f}"
    # LESK's 0.56 needs a stop list, which the reference does not have by default; which one it was
    # is not said.
    plain, stopped = (
        score_pairs(parse_methods("LESK"), words, Resources(lexicon=lexicon, stop_words=stop))[0]
        for stop in (False, True)
    )
    assert agreement(plain.values(), human).spearman < 0.4
    assert agreement(stopped.values(), human).spearman == pytest.approx(0.56, abs=0.01)
