"""What is said of runs whose first items nobody judged."""

from __future__ import annotations

import pytest

import cranfield as cf

JUDGEMENTS = {"t1": {"a": 1, "b": 0, "c": -1}, "t2": {"a": 2, "b": 0}}


def _run(*rankings):
    return {
        f"t{number}": {item: -float(rank) for rank, item in enumerate(ranking)}
        for number, ranking in enumerate(rankings, 1)
    }


def _unjudged(scores):
    return [note for note in scores.notes if "unjudged" in note]


def test_the_share_of_unjudged_items_at_the_largest_cutoff_is_noted():
    runs = {"old": _run("ab", "ab"), "new": _run("abxy", "axb"), "other": _run("bacx", "b")}
    scores = cf.evaluate(JUDGEMENTS, runs, "AP P@2 nDCG@3")
    assert _unjudged(scores) == [
        "new: 33 % of the first 3 items are unjudged",
        # A negative grade is an item of the pool that nobody judged.
        "other: 25 % of the first 3 items are unjudged",
    ]
    assert _unjudged(cf.evaluate(JUDGEMENTS, runs["new"], "P@2")) == [
        "run: 25 % of the first 2 items are unjudged"
    ]
    assert _unjudged(scores.compare()) == _unjudged(scores)


def test_without_a_cutoff_within_a_pool_it_is_that_of_ten():
    long = _run([*"ab", *(f"x{i}" for i in range(300))], "ab")
    for measures in ("AP", "AP R@1000"):
        assert _unjudged(cf.evaluate(JUDGEMENTS, long, measures)) == [
            "run: 67 % of the first 10 items are unjudged"
        ]


def test_a_topic_that_a_run_misses_has_no_items():
    scores = cf.evaluate(JUDGEMENTS, _run("abx"), "P@10")
    assert _unjudged(scores) == ["run: 33 % of the first 10 items are unjudged"]


@pytest.mark.parametrize(
    ("judgements", "measures", "options"),
    [
        (JUDGEMENTS, "P@2", {}),
        (JUDGEMENTS, "P@10", {"judged_only": True}),
        # These are made for judgements with gaps.
        (JUDGEMENTS, "Bpref infAP Judged@10", {}),
        # A list of the relevant items: the share of the others is 1 - P.
        ({"t1": {"a": 1}, "t2": {"a": 2}}, "P@10", {}),
    ],
)
def test_where_nothing_is_to_be_said(judgements, measures, options):
    runs = _run("abxyz", "abxyz")
    assert not _unjudged(cf.evaluate(judgements, runs, measures, **options))


def test_a_tenth_is_not_noted():
    judged = [f"d{i}" for i in range(9)]
    judgements = {"t1": dict.fromkeys(judged, 0) | {"d0": 1}}
    assert not _unjudged(cf.evaluate(judgements, _run([*judged, "x"]), "P@10"))
    assert _unjudged(cf.evaluate(judgements, _run(["x", "y", *judged]), "P@10"))


@pytest.mark.parametrize("ties", ["id", "average", "best", "worst"])
def test_the_note_goes_with_every_order_of_ties(ties):
    tied = {"t1": dict.fromkeys("abxy", 1.0)}
    scores = cf.evaluate({"t1": {"a": 1, "b": 0}}, tied, "P@4", ties=ties)
    assert _unjudged(scores) == ["run: 50 % of the first 4 items are unjudged"]


def test_one_item_of_each_topic():
    scores = cf.evaluate(JUDGEMENTS, _run("xa", "ab"), "P@1")
    assert _unjudged(scores) == ["run: 50 % of the first items are unjudged"]


def test_a_run_without_any_judged_item_has_one_note():
    scores = cf.evaluate(JUDGEMENTS, _run("xyz", "xyz"), "P@3")
    assert not _unjudged(scores)
    assert len(scores.notes) == 1
