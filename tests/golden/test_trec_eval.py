"""`cranfield trec_eval` prints byte for byte what trec_eval 10.0 printed for its own test files.

The files in `trec_eval/` come from the folder test/ of usnistgov/trec_eval, tag v10.0 (see
NOTICE there). Expected outputs are unchanged; the two files of the comment test are stored as
.gz, which the command reads. Each expected output was made with the options listed here.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from cranfield.cli import main

FILES = Path(__file__).parent / "trec_eval"
MEASURES_WITH_PARAMETERS = (
    "-q -miprec_at_recall..10,.20,.25,.75,.50 -m P.5,7,3 -m recall.20,2000 "
    "-m Rprec_mult.5.0,0.2,0.35 -mutility.2,-1,0,0 -m 11pt_avg..25,.5,.75 -mndcg.1=3,2=9,4=4.5 "
    "-mndcg_cut.10,20,23.4 -msuccess.2,5,20"
)
CASES = [
    ("out.test", "", "qrels.test", "results.test"),
    ("out.test", "-m official", "qrels.test", "results.test"),
    ("out.comment.test", "", "qrels.comment.test.gz", "results.comment.test.gz"),
    ("out.test.a", "-m all_trec", "qrels.test", "results.test"),
    ("out.test.aq", "-m all_trec -q", "qrels.test", "results.test"),
    ("out.test.aq", "-q --measure all_trec", "qrels.test", "results.test"),
    ("out.test.aqc", "-m all_trec -q -c", "qrels.test", "results.trunc"),
    ("out.test.aqcM", "-m all_trec -q -c -M100", "qrels.test", "results.trunc"),
    ("out.test.aql", "-m all_trec -mrelstring.20 -q -l2", "qrels.rel_level", "results.test"),
    ("out.test.meas_params", MEASURES_WITH_PARAMETERS, "qrels.test", "results.test"),
    ("out.test.aqZ", "-q -m all_trec -Z zscores_file", "qrels.test", "results.test"),
]


@pytest.mark.parametrize(
    ("expected", "options", "qrels", "run"), CASES, ids=[f"{c[0]} {c[1][:20]}" for c in CASES]
)
def test_same_bytes(
    expected: str,
    options: str,
    qrels: str,
    run: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(FILES)
    assert main(["trec_eval", *options.split(), qrels, run]) == 0
    out, err = capsys.readouterr()
    assert out.encode() == (FILES / expected).read_bytes()
    assert err == ""


@pytest.mark.parametrize(
    ("options", "qrels", "run"),
    [
        ("-m all_prefs -q -R prefs", "prefs.test", "prefs.results.test"),
        ("-m all_prefs -q -R qrels_prefs", "qrels.test", "results.test"),
        ("-m qrels_jg -q -R qrels_jg", "qrels.123", "results.test"),
        ("-m all_prefs", "qrels.test", "results.test"),
        ("-m map_avgjg", "qrels.test", "results.test"),
    ],
)
def test_preferences_and_several_judges_are_not_supported(
    options: str,
    qrels: str,
    run: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(FILES)
    assert main(["trec_eval", *options.split(), qrels, run]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert "not supported" in err


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("-m mapp", "Did you mean 'map'?"),
        ("-m P.", "no parameters after the dot"),
        ("-m P.x", "is not a list of numbers"),
        ("-m P.0", "cutoffs must be positive"),
        ("-m ndcg.1", "is not made of name=number"),
        ("-l x", "-l 'x' is not a whole number"),
        ("-R nonsense", "no judgement format 'nonsense'"),
        ("-T nonsense", "no result format 'nonsense'"),
        ("-x", "option -x not recognized"),
        ("-Z missing", "missing: no such file"),
        ("extra", "expected judgements and a run"),
    ],
)
def test_bad_arguments_are_explained(
    options: str,
    says: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(FILES)
    assert main(["trec_eval", *options.split(), "qrels.test", "results.test"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert says in err


def test_a_missing_topic_stops_as_in_trec_eval_unless_c_is_given(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(FILES)
    assert main(["trec_eval", "-q", "-m", "map", "qrels.test", "results.trunc"]) == 2
    assert "use -c" in capsys.readouterr().err
