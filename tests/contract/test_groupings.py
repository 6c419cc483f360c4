"""Groups and tags of people (No 5.3): closeness, clusters, agreement, kinds of reasons."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield as cf
from cranfield.agreement.card_sorting import adjusted_rand
from cranfield.errors import InputError, UsageError

labels = st.integers(2, 12).flatmap(
    lambda n: st.tuples(*(st.lists(st.integers(0, 3), min_size=n, max_size=n) for _ in range(2)))
)


@given(labels)
@settings(deadline=None)
def test_the_index_is_that_of_scikit_learn(pair):
    from sklearn.metrics import adjusted_rand_score

    assert adjusted_rand(*pair) == pytest.approx(adjusted_rand_score(*pair), abs=1e-12)


def write(tmp_path, text):
    path = tmp_path / "g.csv"
    path.write_text(text)
    return path


def test_paths_of_splits_count_as_far_as_they_are_the_same(tmp_path):
    rows = "s,a,people/women\ns,b,people/men\ns,c,city\nt,a,x\nt,b,x\nt,c,y\n"
    found = cf.study_groups(write(tmp_path, "subject,item,group\n" + rows))
    assert found.closeness("a", "b") == pytest.approx((1 / 2 + 1) / 2)
    assert found.closeness("a", "c") == 0
    assert found.clusters == (("a", "b"), ("c",))
    assert np.array_equal(found.together, found.together.T)
    # s has three groups and t two: together in t, apart in s.
    assert found.agreement == (("s", "t", pytest.approx(adjusted_rand("abc", "xxy"))),)


def test_people_who_saw_different_items_are_averaged_over_those_they_share(tmp_path):
    rows = "s,a,x\ns,b,x\nt,a,u\nt,b,v\nt,c,u\n"
    found = cf.study_groups(write(tmp_path, "subject,item,group\n" + rows))
    assert found.closeness("a", "b") == 0.5
    assert found.closeness("a", "c") == 1.0
    assert found.closeness("b", "c") == 0.0


def test_shares_of_kinds_as_section_5_3_prints_them(tmp_path):
    """70 % content, 13 % representation and 13 % affect, of 30 splits: a split counts once."""
    kinds = ["content"] * 21 + ["representation"] * 4 + ["affect"] * 4 + ["other"]
    rows = "".join(f"s,i{k}{n},g{k},{kind}\n" for k, kind in enumerate(kinds) for n in "ab")
    found = cf.study_groups(write(tmp_path, "subject,item,group,kind\n" + rows))
    shares = {k.kind: round(100 * k.share) for k in found.kinds}
    assert shares == {"content": 70, "representation": 13, "affect": 13, "other": 3}
    assert sum(k.count for k in found.kinds) == 30


def test_tags_are_close_by_what_they_share(tmp_path):
    rows = "s,a,sea,nature\ns,a,blue,colour\ns,b,sea,nature\nt,a,calm,affect\nt,b,calm,affect\n"
    found = cf.study_groups(write(tmp_path, "subject,item,tag,kind\n" + rows))
    assert found.what == "tags"
    assert found.closeness("a", "b") == pytest.approx((1 / 2 + 1) / 2)
    assert {k.kind: k.count for k in found.kinds} == {"nature": 2, "affect": 2, "colour": 1}
    assert found.agreement == ()


def test_what_is_wrong_is_told(tmp_path):
    with pytest.raises(InputError, match="twice"):
        cf.study_groups(write(tmp_path, "subject,item,group\ns,a,x\ns,a,y\n"))
    with pytest.raises(InputError, match="header"):
        cf.study_groups(write(tmp_path, "who,what\na,b\n"))
    with pytest.raises(UsageError, match="two items"):
        cf.study_groups(write(tmp_path, "subject,item,group\ns,a,x\n"))
