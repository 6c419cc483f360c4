"""A result answers to the name that was asked for, and to every other name of its measure."""

import copy
import csv
import inspect
import io
import json
import pickle

import pytest

import cranfield as cf

QRELS = {"1": {"a": 1, "b": 0, "c": 2}, "2": {"a": 1, "d": 1}, "3": {"e": 1}}
BM25 = {"1": {"a": 3.0, "b": 2.0}, "2": {"d": 1.0, "x": 2.0}, "3": {"y": 2.0, "e": 1.0}}
DENSE = {"1": {"c": 3.0, "b": 2.0}, "2": {"d": 3.0, "x": 2.0}, "3": {"y": 0.2, "e": 1.0}}
SPELLINGS = {
    "RR@10": ("MRR@10", "mrr@10", "mrr_at_10", "recip_rank@10"),
    "nDCG@10": ("NDCG@10", "ndcg_cut_10", "ndcg_at_10"),
    "AP": ("MAP", "map", "average_precision"),
    "P@5": ("P_5", "Precision@5", "precision@5"),
}
NAMES = [(canonical, name) for canonical, names in SPELLINGS.items() for name in names]


@pytest.fixture(scope="module")
def scores():
    return cf.evaluate(QRELS, {"bm25": BM25, "dense": DENSE}, "MRR@10 ndcg_cut_10 MAP P_5")


@pytest.mark.parametrize(("canonical", "name"), NAMES)
def test_means_rows_columns_and_pairs_have_every_name(scores, canonical, name):
    mean = scores.mean()["bm25"]
    assert mean[name] == mean[canonical] == mean.get(name)
    assert name in mean
    row = scores.per_topic()[0]
    assert row[name] == row[canonical]
    assert scores.select(name).mean()["bm25"] == {canonical: mean[canonical]}
    assert scores.to_pandas(measures=name)[name].tolist() == [
        row[canonical] for row in scores.per_topic()
    ]
    assert scores.below({name: 2.0})[0].startswith(f"bm25: {name} is")
    comparison = scores.compare(measures=name, test="t")
    assert comparison.pair("bm25", "dense", name).measure == canonical
    assert scores.plot(name).to_svg() == scores.plot(canonical).to_svg()
    assert len(repr(scores.plot(name))) < 100


def test_a_mean_is_a_plain_dict_to_everything_else(scores):
    mean = scores.mean()["bm25"]
    assert list(mean) == ["RR@10", "nDCG@10", "AP", "P@5"]
    assert json.loads(json.dumps(mean)) == mean == dict(mean)
    assert pickle.loads(pickle.dumps(mean))["MAP"] == mean["AP"] == copy.copy(mean)["MAP"]


def test_names_of_annotation_are_those_of_annotation():
    scores = cf.evaluate_labels({"i": {"Sky"}, "j": {"Sea"}}, [{"i": {"Sky"}, "j": {"Sky"}}], "F1")
    assert [mean["F1"] for mean in scores.mean().values()] == [0.5]


@pytest.mark.parametrize("name", ["foo", "AP@3", "RR"])
def test_an_unknown_name_is_a_measure_error_with_a_list(scores, name):
    for ask in (
        lambda: scores.mean()["bm25"][name],
        lambda: scores.select([name]),
        lambda: scores.plot(name),
        lambda: scores.below({name: 0.1}),
        lambda: scores.compare(measures=[name]),
        lambda: scores.to_pandas(measures=[name]),
    ):
        with pytest.raises(cf.MeasureError) as error:
            ask()
        assert "RR@10, nDCG@10, AP, P@5" in str(error.value)
    assert name not in scores.mean()["bm25"]
    assert scores.mean()["bm25"].get(name, -1.0) == -1.0


def test_flat_has_keys_that_trackers_take(scores):
    one = cf.evaluate(QRELS, BM25, "nDCG@10 MAP")
    assert one.flat() == {"ndcg_at_10": one.mean()["run"]["nDCG@10"], "ap": one.mean()["run"]["AP"]}
    assert list(one.flat("MAP NDCG@10")) == ["map", "ndcg_at_10"]
    assert list(scores.flat("MAP")) == ["bm25/map", "dense/map"]
    assert scores.flat("MAP")["dense/map"] == scores.mean()["dense"]["MAP"]
    odd = cf.evaluate(QRELS, {"a b@1": BM25, "ü": DENSE}, "iP@0.5 AP(mean='geometric')")
    assert list(odd.flat())[:2] == ["a_b_1/ip_at_0_5", "a_b_1/ap_mean_geometric"]


def test_flat_loses_no_run_and_no_measure():
    """Spellings that become one key are told apart by a number."""
    runs = {"a b": BM25, "a_b": DENSE, "a_b_2": BM25}
    scores = cf.evaluate(QRELS, runs, "RR@10")
    assert scores.flat() == {
        "a_b/rr_at_10": scores.mean()["a b"]["RR@10"],
        "a_b_3/rr_at_10": scores.mean()["a_b"]["RR@10"],
        "a_b_2/rr_at_10": scores.mean()["a_b_2"]["RR@10"],
    }
    assert list(cf.evaluate(QRELS, BM25, "MRR@10 RR@10").flat("MRR@10 mrr@10")) == [
        "mrr_at_10",
        "mrr_at_10_2",
    ]


def test_a_pair_that_is_not_there_says_why(scores):
    comparison = scores.compare(test="t")
    with pytest.raises(cf.UsageError, match=r"in the other order.*pair\('bm25', 'dense', 'AP'\)"):
        comparison.pair("dense", "bm25", "MAP")
    with pytest.raises(cf.UsageError, match=r"no run named 'bm26'. Did you mean 'bm25'\?"):
        comparison.pair("bm26", "dense", "MAP")
    with pytest.raises(cf.UsageError, match=r"no table 'sumary'.*Did you mean 'summary'\?"):
        comparison.to_latex(parts=["sumary"])
    assert comparison.to_latex(parts="pairs") == comparison.to_latex(parts=["pairs"])


def test_frames_hold_the_same_in_every_form(scores):
    frame = scores.to_pandas()
    assert list(frame.columns) == ["run", "topic", "RR@10", "nDCG@10", "AP", "P@5"]
    rows = [list(row.values()) for row in scores.per_topic()]
    assert frame.to_numpy().tolist() == rows
    assert [list(row) for row in scores.to_polars().rows()] == rows
    assert [list(row.values()) for row in scores.to_arrow().to_pylist()] == rows
    table = list(csv.reader(io.StringIO(scores.to_csv())))
    assert table[0] == list(frame.columns)
    assert [[*row[:2], *map(float, row[2:])] for row in table[1:]] == rows


def test_csv_is_written_to_a_file(scores, tmp_path):
    text = scores.compare(test="t").to_csv(tmp_path / "pairs.csv")
    assert (tmp_path / "pairs.csv").read_text() == text
    assert scores.compare(test="t").to_arrow().num_rows == text.count("\n") - 1 == 4
    assert scores.compare(test="t").to_polars().shape[0] == 4


def test_compare_takes_judgements_and_runs(scores):
    runs = {"bm25": BM25, "dense": DENSE}
    direct = cf.compare(QRELS, runs, "MRR@10 ndcg_cut_10 MAP P_5", baseline="bm25", rng=7)
    assert (
        direct
        == scores.compare(baseline="bm25", rng=7)
        == cf.compare(scores, baseline="bm25", rng=7)
    )
    with pytest.raises(cf.UsageError, match="runs= is missing"):
        cf.compare(QRELS)
    with pytest.raises(cf.UsageError, match="have runs already"):
        cf.compare(scores, runs)


def test_every_option_of_a_comparison_stands_in_the_signature():
    public = inspect.signature(cf.compare).parameters
    method = inspect.signature(cf.Scores.compare).parameters
    assert list(method)[1:] == ["baseline", "measures", *list(public)[4:]]
    for name in list(method)[1:]:
        assert method[name].default == public[name].default, name
    for function in (cf.compare, cf.Scores.compare, cf.assert_not_worse):
        kinds = {p.kind for p in inspect.signature(function).parameters.values()}
        assert inspect.Parameter.VAR_KEYWORD not in kinds
    with pytest.raises(TypeError, match="baselin"):
        cf.compare(QRELS, BM25, baselin="bm25")
