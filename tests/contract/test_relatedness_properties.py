"""Properties of relatedness by counts, links and labels, and of the cost maps made from it."""

import contextlib
import http.server
import math
import pickle
import threading
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cranfield.data.costmap import CostMap
from cranfield.data.counts import Snapshot, TaggedItem, normalise_term
from cranfield.errors import InputError, MeasureError, NeedsError, UsageError
from cranfield.io.counts import ProviderSettings
from cranfield.references import REFERENCES
from cranfield.relatedness import METHODS, methods, parse_methods
from cranfield.relatedness import api as python
from cranfield.relatedness.api import correlation_with_people as agreement
from cranfield.relatedness.concept_sources import RateLimited, RememberedCounts, UrlProvider
from cranfield.relatedness.cost_maps import compare_cost_maps as compare_maps
from cranfield.relatedness.cost_maps import cost_maps
from cranfield.relatedness.counts import cooccurrence, count_tags, nwd, relatedness
from cranfield.relatedness.links import collect_links
from cranfield.relatedness.scoring import Resources, score_pairs

TERMS = ("sea", "sky", "car", "still life")
CORPUS = st.lists(st.frozensets(st.sampled_from(TERMS)), min_size=1, max_size=30)


def counted(corpus):
    items = [TaggedItem(str(i), tags) for i, tags in enumerate(corpus)]
    return count_tags(items, TERMS, text=False)


def provider(fetch, **settings):
    known = {"name": "x", "url": "{query}", "count": "n", "total": 100} | settings
    return UrlProvider(ProviderSettings(**known), fetch=fetch)


def test_every_method_is_declared():
    for name, method in METHODS.items():
        assert name == method.name == name.upper()
        assert method.title
        assert method.summary.endswith(".")
        assert method.formula
        assert method.source.key in REFERENCES
        assert method.needs
        low, high = method.range
        assert low == 0 < high
        assert method.family in ("wordnet", "counts", "links", "ontology")
    assert len(methods("wordnet")) == 9


def test_names_of_methods():
    assert [m.name for m in parse_methods("wup, jcn")] == ["WUP", "JCN"]
    assert [m.name for m in parse_methods("wordnet WUP")] == [m.name for m in methods("wordnet")]
    with pytest.raises(MeasureError, match="Did you mean 'LESK'"):
        parse_methods("LESC")
    with pytest.raises(MeasureError, match="Did you mean 'wordnet'"):
        parse_methods("wordnt")
    with pytest.raises(MeasureError, match="has no parameter 'depth'"):
        parse_methods("WUP(depth=3)")
    assert pickle.loads(pickle.dumps(METHODS["WUP"])) == METHODS["WUP"]
    with pytest.raises(MeasureError, match="no relatedness method was asked for"):
        parse_methods(" ")


@settings(deadline=None)
@given(CORPUS)
def test_relatedness_by_counts_is_symmetric_and_in_its_range(corpus):
    counts = counted(corpus)
    for function in (relatedness, cooccurrence):
        for a, b in combinations(TERMS, 2):
            value = function(counts, a, b)
            assert 0.0 <= value <= 1.0
            assert value == function(counts, b, a)
            if counts.hits(a, b) == 0:
                assert value == 0.0
            if counts.hits(a) == counts.hits(b) == counts.hits(a, b) > 0:
                assert value == 1.0
        for a in TERMS:
            assert function(counts, a, a.upper()) == 1.0


@settings(deadline=None)
@given(st.integers(1, 10**9), st.integers(1, 10**9), st.integers(1, 10**9), st.integers(0, 10**10))
def test_nwd_grows_as_words_meet_less(first, second, both, more):
    both = min(both, first, second)
    total = max(first, second) + more
    distance = nwd(first, second, both, total)
    assert distance >= 0
    assert nwd(first, second, 0, total) == math.inf
    if both > 1:
        assert nwd(first, second, both - 1, total) >= distance


def test_nwd_refuses_counts_that_cannot_be():
    for counts in ((1, 2, 3, 10), (11, 2, 1, 10), (1, 1, -1, 10)):
        with pytest.raises(UsageError, match="cannot be"):
            nwd(*counts)


def test_estimated_joint_counts_may_exceed_single_ones():
    counts = Snapshot(100, {"a": 5, "b": 4}, {frozenset("ab"): 7})
    assert 0 < relatedness(counts, "a", "b") <= 1


def test_text_counts_for_fcs_only():
    items = [
        TaggedItem("1", frozenset({"sea"}), "A still-life, with fruit."),
        TaggedItem("2", frozenset({"sea", "still life"}), ""),
        TaggedItem("3", frozenset(), "still lifeless sea"),
    ]
    tags = count_tags(items, TERMS, text=False)
    text = count_tags(items, TERMS, text=True)
    assert (tags.hits("sea"), tags.hits("Still_Life"), tags.hits("sea", "still life")) == (2, 1, 1)
    assert (text.hits("sea"), text.hits("Still_Life"), text.hits("sea", "still life")) == (3, 2, 2)
    with pytest.raises(NeedsError, match="no count for 'boat'"):
        tags.hits("boat")


@settings(deadline=None)
@given(CORPUS)
def test_cost_maps_are_cost_maps(corpus):
    resources = Resources(counts=counted(corpus))
    for scored in cost_maps(parse_methods("FTS COOC"), TERMS, resources):
        costs = scored.costs.costs
        assert (costs == costs.T).all()
        assert (np.diag(costs) == 0).all()
        assert ((costs >= 0) & (costs <= 1)).all()
        assert scored.unknown == ()


LINKS = st.lists(st.tuples(st.sampled_from("abcdefg"), st.sampled_from("abcdefg")), max_size=60)


@settings(deadline=None)
@given(LINKS)
def test_links(pairs):
    links = collect_links(pairs, ["a", "b", "c"])
    assert links.articles == len({name for pair in pairs for name in pair})
    for x, y in combinations("abc", 2):
        into = {n: {s for s, t in pairs if t == n} for n in (x, y)}
        assert {n: len(links.sources[n]) for n in (x, y)} == {n: len(s) for n, s in into.items()}
        if links.knows(x) and links.knows(y):
            value = links.relatedness(x, y)
            assert 0 <= value <= 1
            assert value == links.relatedness(y, x)
            if not into[x] & into[y]:
                assert value == 0
            if into[x] == into[y]:
                assert value == 1


def test_links_by_hand():
    # |A| = 4, |B| = 2, |A and B| = 1, W = 16: 1 - (log 4 - log 1) / (log 16 - log 2).
    pairs = [(s, "Sea") for s in "pqrs"] + [(s, "Sky") for s in "st"]
    links = collect_links(pairs, ["sea", "sky"], articles=16)
    assert links.relatedness("Sea", "Sky") == pytest.approx(1 - math.log(4) / math.log(8))


def test_a_method_says_what_it_lacks():
    for name in ("WUP", "NWD", "WLM", "TREE", "COOC"):
        with pytest.raises(NeedsError, match=f"{name} needs"):
            score_pairs(parse_methods(name), [("a", "b")], Resources())


def test_unknown_concepts_have_no_value():
    counts = Snapshot(9, {"a": 2, "b": 2}, {frozenset("ab"): 1})
    (found,) = score_pairs(parse_methods("NWD"), [("a", "b"), ("a", "c")], Resources(counts=counts))
    assert found.unknown == ("c",)
    assert found.pairs[1].relatedness is None
    assert np.isnan(found.values()[1])


def random_map(rng, size):
    half = np.triu(rng.random((size, size)), 1)
    return CostMap.of([f"c{i}" for i in range(size)], half + half.T)


@settings(deadline=None)
@given(st.integers(0, 100))
def test_a_map_equals_itself(seed):
    costs = random_map(np.random.default_rng(seed), 6)
    found = compare_maps(costs, costs, permutations=19, seed=seed)
    assert found.pearson == pytest.approx(1)
    assert found.spearman == pytest.approx(1)
    assert found.mean_difference == 0
    again = compare_maps(costs, costs, permutations=19, seed=seed)
    assert again.p == found.p


def test_maps_are_compared_over_the_concepts_they_share():
    rng = np.random.default_rng(3)
    large = random_map(rng, 7)
    small = CostMap.of(large.concepts[:5], large.costs[:5, :5])
    found = compare_maps(large, small)
    assert found.concepts == small.concepts
    assert found.spearman == pytest.approx(1)
    with pytest.raises(InputError, match="shares 0 concepts"):
        compare_maps(large, CostMap.of(["x", "y", "z"], 1 - np.eye(3)))
    flat = compare_maps(small, CostMap.zero_one(small.concepts))
    assert math.isnan(flat.pearson)
    assert math.isnan(flat.p)


@settings(deadline=None)
@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 4)), min_size=5, max_size=20))
def test_correlation_with_people_equals_scipy(pairs):
    from scipy import stats

    x, y = np.array(pairs).T
    if np.ptp(x) < 1e-3 or np.ptp(y) < 1e-3:
        return
    found = agreement([*x, math.nan], [*y, 1.0])
    assert (found.pairs, found.left_out) == (len(pairs), 1)
    assert found.spearman == pytest.approx(stats.spearmanr(x, y).statistic, abs=1e-9)
    assert found.pearson == pytest.approx(stats.pearsonr(x, y).statistic, abs=1e-9)
    low, high = found.pearson_interval
    if abs(found.pearson) < 0.999:
        theirs = stats.pearsonr(x, y).confidence_interval()
        assert (low, high) == pytest.approx((theirs.low, theirs.high), abs=1e-9)


def test_correlations_that_do_not_exist():
    constant = agreement([1, 1, 1, 1, 1], [1, 2, 3, 4, 5])
    assert math.isnan(constant.spearman)
    assert math.isnan(constant.pearson_interval[0])
    assert agreement([1, 2, 3, 4], [1, 2, 3, 4]).spearman_interval == (1.0, 1.0)
    assert math.isnan(agreement([1.0, 2.0, 3.0], [1.0, 3.0, 2.0]).spearman_interval[0])


def test_names_as_tags():
    assert normalise_term(" Still_Life  ") == "still life"


def test_a_live_source_is_asked_gently_and_once(tmp_path):
    asked, slept, now = [], [], [0.0]

    def fetch(url):
        asked.append(url)
        return b'{"photos": [{"total": "12"}]}'

    asked_at = "https://example.org/?q={query}"
    live = provider(fetch, name="a site", url=asked_at, count="photos.0.total", join=" AND ")
    slow = RateLimited(live, seconds=2.0, clock=lambda: now[0], sleep=slept.append)
    memory = tmp_path / "counts.csv"
    counts = RememberedCounts(slow, memory, source="a site")
    assert relatedness(counts, "Sea", "Still_Life") == 1.0
    assert counts.hits("still life", "sea") == 12
    assert asked == [
        "https://example.org/?q=sea",
        "https://example.org/?q=still%20life",
        "https://example.org/?q=sea%20AND%20still%20life",
    ]
    assert slept == [2.0, 2.0]
    counts.save()
    again = RememberedCounts(slow, memory, source="a site")
    assert relatedness(again, "sea", "still life") == 1.0
    assert len(asked) == 3


@pytest.mark.parametrize("answer", [b"<html>", b'{"photos": {}}', b'{"photos": {"total": null}}'])
def test_a_live_source_that_answers_nonsense(answer):
    live = provider(lambda _: answer, count="photos.total", total=9)
    with pytest.raises(NeedsError, match="has no number"):
        live.hits("sea")


@pytest.mark.parametrize("count", [-1, 101])
def test_a_live_source_that_cannot_be_right(tmp_path, count):
    memory = tmp_path / "counts.csv"
    fetch = [b'{"n": 5}', b'{"n": %d}' % count].pop
    live = provider(lambda _: fetch(0))
    counts = RememberedCounts(live, memory, source="x")
    counts.save()
    assert not memory.exists()
    with pytest.raises(NeedsError, match=f"x counts {count} for beach, expected 0 to 100"):
        cooccurrence(counts, "sea", "beach")
    counts.save()
    # What was learnt before can be read, and goes on where it broke off.
    assert RememberedCounts(live, memory, source="x").hits("sea") == 5
    grown = provider(lambda _: b"", total=200)
    with pytest.raises(InputError, match="counts of a corpus of 100, but x has 200 now"):
        RememberedCounts(grown, memory, source="x")


def test_a_live_source_that_is_gone():
    def fetch(url):
        raise OSError("no route to host")

    live = provider(fetch)
    with pytest.raises(NeedsError, match="x does not answer: no route to host"):
        live.hits("sea")


def test_wrong_keywords_from_python():
    counts = counted([{"sea"}])
    with pytest.raises(UsageError, match="no keyword 'count'"):
        python.relate_pairs([("sea", "car")], "NWD", count=counts)
    with pytest.raises(UsageError, match="jobs=-1 is not a whole number from 1 on"):
        python.relate_pairs([("sea", "car")], "NWD", counts=counts, jobs=-1)


@pytest.mark.parametrize("total", [math.inf, math.nan, 10**400])
def test_nwd_of_a_corpus_without_end(total):
    if isinstance(total, int):
        assert 0 < nwd(10**399, 10**399, 10**398, total) < 2
        with pytest.raises(UsageError, match="cannot be"):
            nwd(total * 10, 1, 1, total)
    else:
        with pytest.raises(UsageError, match="cannot be"):
            nwd(3, 2, 1, total)


def test_from_python():
    counts = counted([{"sea", "sky"}, {"sea"}, {"car"}, {"sky", "sea"}])
    found = python.relate_pairs([("Sea", "Sky"), ("sea", "car")], "NWD", counts=counts)
    assert found.values()[1] == 0.0
    costs = python.cost_map(["Sea", "Sky", "Car"], "FTS", counts=counts)
    assert costs.cost("Sea", "Sky") == pytest.approx(1 - found.values()[0])
    tree = python.relate_pairs([("Sea", "Car")], "TREE", ontology=costs)
    assert tree.values() == [0.0]
    with pytest.raises(UsageError, match="made by one method"):
        python.cost_map(["Sea"], "WUP LIN")


@pytest.mark.wordnet
def test_an_irregular_plural_that_is_an_entry_also_tries_its_base_form():
    import cranfield as cf

    teeth, tooth = (cf.relate_pairs([(w, "molar")], "WUP").values()[0] for w in ("teeth", "tooth"))
    assert teeth >= tooth
    # Regular plurals that are entries mean themselves: spectacles are no drinking glass.
    glasses = cf.relate_pairs([("glasses", "tumbler")], "WUP").results[0].pairs[0]
    assert glasses.sense1.startswith("glasses#")


@pytest.mark.wordnet
def test_cutoffs_of_gloss_vectors():
    """Without a cutoff as before; every cutoff keeps a word related to itself."""
    import cranfield as cf

    pairs = [("river", "lake"), ("river", "river"), ("car", "theorem")]
    plain, none, cut = (
        cf.relate_pairs(pairs, m).values() for m in ("VEC", "VEC(rare=0)", "VEC(frequent=1000)")
    )
    assert plain.tolist() == none.tolist()
    assert cut[1] == pytest.approx(1.0)
    assert cut.tolist() != plain.tolist()
    assert cut[0] > cut[2]


def test_an_answer_without_end_is_refused_after_a_limit() -> None:
    """A server on loopback that sends much more than any answer has."""

    class Endless(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()
            with contextlib.suppress(OSError):
                for _ in range(64):
                    self.wfile.write(b" " * (1 << 20))

        def log_message(self, *_: object) -> None:
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Endless) as server:
        thread = threading.Thread(target=server.handle_request, daemon=True)
        thread.start()
        url = f"http://127.0.0.1:{server.server_port}/?q={{query}}"
        service = ProviderSettings(name="endless", url=url, count="total", total=10)
        with pytest.raises(NeedsError, match="more than 4,194,304 bytes"):
            UrlProvider(service).hits("sea")
        thread.join(timeout=60)


def test_an_answer_that_is_nested_too_deep_is_refused() -> None:
    service = ProviderSettings(name="deep", url="http://x/{query}", count="total", total=10)
    deep = b"[" * 200_000 + b"]" * 200_000
    with pytest.raises(NeedsError, match="nested too deep"):
        UrlProvider(service, fetch=lambda _: deep).hits("sea")
