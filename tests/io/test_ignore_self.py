"""Where queries are items of the collection, a query's own item can be left out."""

import random

import pytest

import cranfield as cf

JUDGED = {"q1": {"a": 1, "q2": 1, "b": 0}, "q2": {"b": 1}}
RUN = {"q1": {"q1": 9, "b": 3, "q2": 2, "a": 1}, "q2": {"q2": 9}}


def test_items_named_as_their_topic_are_left_out():
    kept = {t: {i: s for i, s in items.items() if i != t} for t, items in RUN.items()}
    for measures in ("AP nDCG@2 P@1 RR", "NumRet"):
        found = cf.evaluate(JUDGED, RUN, measures, ignore_self=True).mean()
        assert found == cf.evaluate(JUDGED, kept, measures).mean()
        assert found != cf.evaluate(JUDGED, RUN, measures).mean()


def test_only_whole_ids_count():
    draw = random.Random(3)
    ids = ["".join(draw.choices("abé", k=draw.randint(1, 4))) for _ in range(300)]
    run = {t: {i: draw.random() for i in draw.sample(sorted(set(ids)), 40)} for t in ids[:60]}
    cut = cf.Run.from_dict(run).without_self().to_dict()
    assert cut == {t: {i: s for i, s in items.items() if i != t} for t, items in run.items()}
    assert cut != run


@pytest.mark.parametrize("more", [{"ties": "average"}, {"min_score": "50%"}, {"topics": "run"}])
def test_with_other_options(more):
    kept = {"q1": {"b": 3, "q2": 2, "a": 1}, "q2": {}}
    found = cf.evaluate(JUDGED, RUN, "AP", ignore_self=True, **more)
    assert found.mean() == cf.evaluate(JUDGED, cf.Run.from_dict(kept), "AP", **more).mean()
