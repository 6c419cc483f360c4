"""Files about concepts are read back as they were written, or not written at all."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cranfield.data.costmap import CostMap
from cranfield.data.counts import Snapshot, normalise_term
from cranfield.data.ontology import Ontology, Requirement, Rules, parse_rules
from cranfield.errors import InputError
from cranfield.io.costmap import read_costmap, write_costmap
from cranfield.io.counts import read_counts, read_tagged_items, write_counts
from cranfield.io.ontology import read_ontology, write_ontology, write_rules

NAME = st.text(st.characters(codec="utf-8"), min_size=1, max_size=8)
NAMES = st.lists(
    NAME | st.sampled_from(["#a", "a b", "=1"]), min_size=1, max_size=5, unique_by=normalise_term
)


def written(write, name):
    """The path of what was written in a folder of its own, or None when it was refused."""
    path = Path(tempfile.mkdtemp()) / name
    try:
        write(path)
    except InputError:
        assert not path.exists()
        return None
    return path


@given(NAMES, st.integers(0, 10**6))
@settings(deadline=None, max_examples=80)
def test_cost_maps(names, seed):
    costs = np.triu(np.random.default_rng(seed).random((len(names), len(names))), 1)
    given_map = CostMap.of(names, costs + costs.T)
    path = written(lambda p: write_costmap(given_map, p), "map.csv")
    if path is not None:
        again = read_costmap(path)
        assert again.concepts == tuple(names)
        assert (again.costs == given_map.costs).all()


@given(NAMES, st.integers(0, 50))
@settings(deadline=None, max_examples=80)
def test_counts(names, both):
    single = {normalise_term(name): 50 + i for i, name in enumerate(names) if normalise_term(name)}
    pair = frozenset(list(single)[:2])
    joint = {pair: both} if len(pair) == 2 else {}
    snapshot = Snapshot(100, single, joint, "a corpus\nof tags", "2011-05-01")
    path = written(lambda p: write_counts(snapshot, p), "counts.csv")
    if path is not None and single:
        again = read_counts(path)
        assert (again.total, again.single, again.joint) == (100, single, joint)
        assert (again.source, again.date) == ("a corpus of tags", "2011-05-01")


@pytest.mark.filterwarnings("ignore::DeprecationWarning:rdflib")
@pytest.mark.parametrize("ending", ["csv", "ttl", "owl", "nt", "jsonld"])
@given(NAMES)
@settings(deadline=None, max_examples=25)
def test_ontologies(ending, names):
    nodes = tuple(names)
    ontology = Ontology(
        nodes,
        ((), *((0,) for _ in nodes[1:])),
        {name: i for i, name in enumerate(names)},
        Rules(requires=tuple(Requirement(n, (names[0],)) for n in names[1:2])),
    )
    path = written(lambda p: write_ontology(ontology, p), f"out.{ending}")
    if path is not None:
        again = read_ontology(path)
        assert set(again.concepts) == set(names)
        assert all(again.ancestors(name) == ontology.ancestors(name) for name in names)
        assert ending == "csv" or again.rules == ontology.rules


@given(NAMES)
@settings(deadline=None, max_examples=40)
def test_rules(names):
    rules = Rules((tuple(names),), (tuple(names),), (Requirement(names[0], tuple(names)),))
    path = Path(tempfile.mkdtemp()) / "rules.toml"
    write_rules(rules, path)
    assert parse_rules(path.read_text("utf-8"), "rules.toml") == rules


@pytest.mark.parametrize("cell", ["-1", "1e308", "2", "1_0", "\u0661", "inf", "nan", ""])
def test_labels_of_a_corpus_are_from_0_to_1(cell, tmp_path):
    for name, text in {
        "wide.csv": f"item,sea,sky\ni1,1,{cell}\n",
        "long.csv": f"item,concept,value\ni1,sea,{cell}\n",
    }.items():
        (tmp_path / name).write_text(text, "utf-8")
        with pytest.raises(InputError, match=r"is not a number|is not in \[0, 1\]"):
            list(read_tagged_items(tmp_path / name))
