"""Measures by the dimensions of No 4.3: Table 4.3, the filter, and the fourth dimension."""

import pytest

import cranfield as cf
from cranfield.cli import main
from cranfield.errors import UsageError
from cranfield.evaluation.measure_catalogue import dimensions
from cranfield.options import DIMENSIONS

# Table 4.3, but for curves and the "ranked accuracy" that the thesis defines nowhere.
TABLE_4_3 = {
    ("concept", "binary"): "P.concept R.concept F.concept Accuracy.concept",
    ("concept", "ranked"): "AUC EER iAP.concept AP.concept Rprec.concept P@10.concept",
    ("example", "binary"): "P.example R.example F.example Accuracy.example Alpha HammingLoss",
    ("example", "ranked"): "OneError Coverage RankingLoss AP.example Rprec.example P@10.example",
}


@pytest.mark.parametrize("place", TABLE_4_3)
def test_table_4_3(place):
    for name in TABLE_4_3[place].split():
        found = dimensions(cf.measure(name))
        assert (found["direction"], found["prediction"]) == place
        assert (found["relevance"], found["score"]) == ("binary", "binary")


def test_the_score_dimension_of_4_3_2():
    semantic = {m.name for m in cf.list_measures(score="semantic").measures}
    assert {"OS", "HS", "SRP", "hF", "DDMC"} <= semantic
    assert semantic.isdisjoint({"F.example", "AP", "nDCG"})
    assert dimensions(cf.measure("nDCG"))["relevance"] == "graded"


def test_every_measure_stands_somewhere_and_filters_part_them():
    everything = cf.list_measures().measures
    for name, values in DIMENSIONS.items():
        parts = [cf.list_measures(**{name: value}).measures for value in values]
        assert sum(map(len, parts)) == len(everything)
        assert {m for part in parts for m in part} == set(everything)


def test_what_there_is_not_is_told():
    with pytest.raises(UsageError, match="no dimension 'skore'"):
        cf.list_measures(skore="binary")
    with pytest.raises(UsageError, match="is not one of binary, semantic"):
        cf.list_measures(score="fuzzy")


def test_the_command_filters_and_tabulates(capsys):
    assert main(["measures", "--score", "semantic", "--prediction", "ranked"]) == 0
    out = capsys.readouterr().out
    assert "SRP" in out
    assert "OneError" not in out
    assert main(["measures", "--by-dimension", "--direction", "concept"]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 6
    assert main(["measures", "AP", "--score", "binary"]) == 2
