"""The compiled overlap kernel equals its slow twin."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cranfield import _core
from tests.reference.overlap import overlap_score

# Few different words make long shared runs; -1 is a boundary.
TEXT = st.lists(st.integers(-1, 3), max_size=14)


def compiled(texts, left, right, jobs=1):
    starts = np.cumsum([0, *map(len, texts)])
    return _core.gloss_overlaps(
        np.array([word for text in texts for word in text], np.int32),
        starts.astype(np.int64),
        1,
        np.array(left, np.int32),
        np.array(right, np.int32),
        np.zeros(1, np.int32),
        np.zeros(1, np.int32),
        jobs,
    )


@given(TEXT, TEXT)
def test_equal_to_the_twin(first, second):
    assert compiled([first, second], [0], [1]).tolist() == [overlap_score(first, second)]


@given(st.lists(TEXT, min_size=1, max_size=6), st.integers(1, 4))
def test_any_number_of_threads_gives_the_same(texts, jobs):
    left, right = zip(*[(i, j) for i in range(len(texts)) for j in range(len(texts))], strict=True)
    expected = [overlap_score(texts[i], texts[j]) for i, j in zip(left, right, strict=True)]
    assert compiled(texts, left * 20, right * 20, jobs).tolist() == expected * 20


def test_runs_count_squared_longest_first():
    # "still water" is shared as one run of two words: 4, not 1 + 1; then "a": 1.
    assert overlap_score([7, 1, 2], [1, 2, -1, 7]) == 5
    # Each word of the second text is used once.
    assert overlap_score([1, 1, 1], [1]) == 1


def test_relations_are_summed():
    words = np.array([1, 2, 1, 2, 3], np.int32)
    starts = np.array([0, 2, 2, 5, 5], np.int64)
    both = np.array([0, 0], np.int32), np.array([0, 1], np.int32)
    ends = np.array([0], np.int32), np.array([1], np.int32)
    assert _core.gloss_overlaps(words, starts, 2, *ends, *both, 1).tolist() == [4.0]
