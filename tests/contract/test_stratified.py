"""xinfAP: average precision from a pool whose strata were sampled at different rates."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield as cf
from cranfield.cli import main
from tests.reference import rank_families as slow

ITEMS = [f"i{n}" for n in range(12)]
POOL = st.dictionaries(
    st.sampled_from(ITEMS), st.tuples(st.integers(-1, 2), st.integers(0, 2)), min_size=1
)


def write(path: Path, pool: dict[str, tuple[int, int]]) -> Path:
    path.write_text(
        "# topic iteration item stratum grade\n"
        + "".join(f"t 0 {i} {s} {g}\n" for i, (g, s) in pool.items())
    )
    return path


def infer(path: Path, order: list[str], names: str = "xinfAP") -> dict[str, float]:
    run = {"t": {item: float(-n) for n, item in enumerate(order)}, "none": {"x": 1.0}}
    return cf.evaluate(cf.read_qrels(path), run, names, jobs=1).mean()["run"]


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("strata") / "qrels"


@given(pool=POOL, order=st.lists(st.sampled_from(ITEMS), unique=True, min_size=1))
@settings(max_examples=120, deadline=None)
def test_kernel_equals_its_twin(
    file: Path, pool: dict[str, tuple[int, int]], order: list[str]
) -> None:
    got = infer(write(file, pool), order, "xinfAP xinfAP(rel=2)")
    ranking = [pool.get(item) for item in order]
    for rel, name in ((1, "xinfAP"), (2, "xinfAP(rel=2)")):
        wanted = slow.extended_inferred_ap(ranking, list(pool.values()), rel)
        assert got[name] == pytest.approx(wanted, rel=1e-12)


@given(pool=POOL, order=st.lists(st.sampled_from(ITEMS), unique=True, min_size=1))
@settings(max_examples=120, deadline=None)
def test_one_stratum_is_inferred_ap_of_trec_eval(
    file: Path, pool: dict[str, tuple[int, int]], order: list[str]
) -> None:
    one = {item: (grade, 7) for item, (grade, _) in pool.items()}
    got = infer(write(file, one), order, "xinfAP infAP")
    assert got["xinfAP"] == pytest.approx(got["infAP"], rel=1e-9)


@given(pool=POOL, order=st.lists(st.sampled_from(ITEMS), unique=True, min_size=1))
@settings(max_examples=120, deadline=None)
def test_whole_judgements_give_average_precision(
    file: Path, pool: dict[str, tuple[int, int]], order: list[str]
) -> None:
    whole = {item: (abs(grade), stratum) for item, (grade, stratum) in pool.items()}
    got = infer(write(file, whole), order, "xinfAP AP")
    assert got["xinfAP"] == pytest.approx(got["AP"], abs=1e-3)


def test_samples_estimate_average_precision(file: Path) -> None:
    """Over many samples of 100 % of a first stratum and 30 % of a second, the mean is near AP."""
    rng = random.Random(3)
    truth = {f"d{n}": int(rng.random() < (0.5 if n < 20 else 0.25)) for n in range(100)}
    order = list(truth)
    run = {"t": {item: float(-n) for n, item in enumerate(order)}}
    wanted = cf.evaluate({"t": truth}, run, "AP").mean()["run"]["AP"]
    total = 0.0
    for _ in range(300):
        sample = set(rng.sample(order[20:], 24))
        pool = {
            item: (truth[item] if n < 20 or item in sample else -1, int(n >= 20))
            for n, item in enumerate(order)
        }
        total += infer(write(file, pool), order)["xinfAP"]
    assert total / 300 == pytest.approx(wanted, abs=0.02)


def test_command_and_other_measures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    qrels = write(tmp_path / "five.qrels", {"a": (1, 0), "b": (-1, 1), "c": (1, 1)})
    (tmp_path / "r.run").write_text("t Q0 a 1 2 x\nt Q0 b 2 1 x\n")
    args = ["eval", str(qrels), str(tmp_path / "r.run"), "-m", "xinfAP AP NumRel"]
    assert main([*args, "--format", "csv"]) == 0
    run, inferred, ap, relevant, _ = capsys.readouterr().out.splitlines()[1].split(",")
    assert (run, float(ap), float(relevant)) == ("r", 0.5, 2.0)
    # c stands for two relevant items, so three are relevant in all.
    assert float(inferred) == pytest.approx(1 / 3)
    assert main([*args, "--judged-only"]) == 2
    assert "xinfAP infers from unjudged items" in capsys.readouterr().err


FAULTS = {
    "t 0 a 0 1\nt 0 b x 1\n": "five.qrels:2: stratum 'x' is not a whole number from 0 on",
    "t 0 a 0 1\nt 0 b 0 1.5\n": "five.qrels:2: grade '1.5' is not a whole number",
    "t 0 a 0 1\nt 0 b 0\nt 0 c 0 1\n": "five.qrels:2: 4 fields (expected: topic",
    "t 0 a 0 1\nt 0 a 1 1\n": "five.qrels:2: item 'a' of topic 't' is judged on line 1 too",
    "t 0 a 0 1\nt 0 b 0\nt 0 c 0\n": "five.qrels:1:",
    "t 0 a 1\n": "xinfAP needs judgements of a stratified sample: lines of five fields",
}


@pytest.mark.parametrize("text", FAULTS)
def test_faults(tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str) -> None:
    (tmp_path / "five.qrels").write_text(text)
    (tmp_path / "r.run").write_text("t Q0 a 1 2 x\n")
    args = [str(tmp_path / "five.qrels"), str(tmp_path / "r.run")]
    assert main(["eval", *args, "-m", "xinfAP"]) == 2
    assert FAULTS[text] in capsys.readouterr().err


def test_topics_without_a_relevant_item_in_the_sample_are_counted_in_a_note() -> None:
    """They count 0 and pull the mean down; over the others it is so many times as high."""
    judged = {"a": {"x": 1, "y": 0}, "b": {"x": 0}, "c": {"y": 0, "z": 0}, "d": {"z": 1}}
    run = {topic: {"x": 3.0, "y": 2.0, "z": 1.0} for topic in judged}
    scores = cf.evaluate(judged, run, "infAP AP")
    said = [note for note in scores.notes if note.startswith("infAP")]
    assert said == [
        "infAP: the sample of 2 topics of 4 holds no relevant item, and counts 0; over the others "
        "the mean of a run is 2 times as high (empty='out' takes that mean)"
    ]
    some = cf.evaluate({t: judged[t] for t in "ad"}, run, "infAP")
    assert some.mean()["run"]["infAP"] == pytest.approx(2 * scores.mean()["run"]["infAP"])


def test_topics_whose_sample_holds_nothing_relevant_can_be_left_out(tmp_path: Path) -> None:
    """They count 0 and pull the mean down; left out, they are counted."""
    (tmp_path / "q").write_text("1 0 a 0 1\n1 0 b 1 -1\n1 0 c 1 0\n2 0 a 0 0\n2 0 b 1 -1\n")
    run = {topic: {"a": 2.0, "b": 1.0} for topic in "12"}
    scores = cf.evaluate(tmp_path / "q", run, "xinfAP xinfAP(empty='out') infAP infAP(empty='out')")
    assert list(scores.mean()["run"].values()) == [0.5, 1.0, 0.5, 1.0]
    left = scores.to_dict()["runs"][0]["topics"]["left_out"]
    assert left == {"xinfAP": 0, "xinfAP(empty='out')": 1, "infAP": 0, "infAP(empty='out')": 1}
    assert [note.split(":")[0] for note in scores.notes] == ["xinfAP", "infAP"]
