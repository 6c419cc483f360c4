"""SHREC 2006, Performance measures used: the whole example."""

from __future__ import annotations

import pytest

import cranfield as cf

GAINS = [2, 2, 1, 2, 2, 1, 0, 1, 0, 1, 2, 0, 0, 0]
SIZE = 1814  # models in the collection
CH, CR = 6, 11  # highly relevant models, and relevant ones
CG = [2, 4, 5, 7, 9, 10, 10, 11, 11, 12, 14, 14, 14, 14]
DCG = [
    2.0,
    4.0,
    4.63093,
    5.63093,
    6.492283,
    6.8791356,
    6.8791356,
    7.212469,
    7.212469,
    7.5134993,
    8.091629,
    8.091629,
    8.091629,
    8.091629,
]
NCG = [
    1.0,
    1.0,
    0.8333333,
    0.875,
    0.9,
    0.8333333,
    0.7692308,
    0.78571427,
    0.73333335,
    0.75,
    0.8235294,
    0.8235294,
    0.8235294,
    0.8235294,
]
NDCG = [
    1.0,
    1.0,
    0.8800938,
    0.89924246,
    0.9114262,
    0.87111646,
    0.83351886,
    0.83998185,
    0.8102147,
    0.81642264,
    0.8524667,
    0.8524667,
    0.8524667,
    0.8524667,
]


@pytest.fixture(scope="module")
def example() -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    judgements = {f"m{i}": g for i, g in enumerate(GAINS)}
    judgements |= {"missed2": 2, "missed1": 1}
    assert sum(g == 2 for g in judgements.values()) == CH
    assert sum(g >= 1 for g in judgements.values()) == CR
    return {"q": judgements}, {"q": {f"m{i}": float(-i) for i in range(len(GAINS))}}


def test_counts_tiers_precision_recall_highly_relevant(example: tuple) -> None:
    names = [
        "TP",
        "FP",
        "TN",
        "FN",
        "FirstTier",
        "SecondTier",
        "SetP",
        "SetR",
        "ShrecAP",
    ]
    measures = " ".join(f"{n}(rel=2)" for n in names)
    got = cf.evaluate(*example, measures, collection_size=SIZE).mean()["run"]
    values = [got[f"{n}(rel=2)"] for n in names]
    assert values[:4] == [5, 9, 1799, 1]
    assert values[4:] == pytest.approx([0.66667, 0.41667, 0.35714, 0.83333, 0.80090], abs=1e-5)


def test_counts_tiers_precision_recall_relevant(example: tuple) -> None:
    """Second tier looks at 14 models, all that were retrieved: the page's Ch for Cr would
    make that 12."""
    names = "TP FP TN FN FirstTier SecondTier SetP SetR ShrecAP"
    got = list(cf.evaluate(*example, names, collection_size=SIZE).mean()["run"].values())
    assert got[:4] == [9, 5, 1798, 2]
    assert got[4:] == pytest.approx([0.81818, 0.64285, 0.6428, 0.8181, 0.94368], abs=1e-4)
    assert got[8] == pytest.approx(0.94368, abs=1e-5)


def test_average_dynamic_recall_row_by_row(example: tuple) -> None:
    found = [1, 2, 2, 3, 4, 4, 6, 7, 7, 8, 9]
    printed = [1, 1, 0.667, 0.75, 0.80, 0.667, 0.857, 0.875, 0.777, 0.8, 0.818]
    rows = [n / i for i, n in enumerate(found, start=1)]
    assert rows == pytest.approx(printed, abs=1e-3)
    # Row i: highly relevant models found while i <= Ch, relevant ones after that.
    judgements, run = example
    for i, wanted in enumerate(found, start=1):
        level = 2 if i <= CH else 1
        name = f"TP@{i}(rel={level})" if level == 2 else f"TP@{i}"
        assert cf.evaluate(judgements, run, name).mean()["run"][name] == wanted
    got = cf.evaluate(judgements, run, "ADR").mean()["run"]["ADR"]
    assert got == pytest.approx(sum(rows) / 11)
    assert got == pytest.approx(0.819, abs=1e-3)


@pytest.mark.parametrize(
    ("name", "vector"),
    [("CG", CG), ("DCG", DCG), ("nCG", NCG), ("nDCG", NDCG)],
)
def test_gain_vectors(example: tuple, name: str, vector: list[float]) -> None:
    """The decimals of the page; its fractions 11/13, 11/14 and 12/15 are misprints."""
    discount = "(discount='jk')" if name.endswith("DCG") else ""
    names = [f"{name}@{k}{discount}" for k in range(1, 15)]
    got = cf.evaluate(*example, " ".join(names)).mean()["run"]
    assert list(got.values()) == pytest.approx(vector, abs=1e-6)


def test_set_prints_what_the_page_prints(example: tuple) -> None:
    scores = cf.evaluate(*example, "shrec")
    assert str(scores.measures[0]) == "ADR"
    names = {str(m) for m in scores.measures}
    for level in ("", "(rel=2)"):
        for name in ("FirstTier", "SecondTier", "ShrecAP"):
            assert name + level in names
    for level in ("", "rel=2, "):
        for name in ("TP", "FP", "FN", "SetP", "SetR"):
            assert f"{name}({level}empty='out')" in names
    gains = ("CG@5(", "nCG@100(", "DCG@10(discount='jk', ", "nDCG@25(discount='jk', ")
    assert {"ADR", *(f"{gain}empty='out')" for gain in gains)} <= names


def test_true_negatives_are_in_the_set_when_the_collection_is_known(example: tuple) -> None:
    without = cf.evaluate(*example, "shrec")
    assert not [m for m in without.measures if m.name == "TN"]
    assert any("left out" in note and "TN(empty='out')" in note for note in without.notes)
    scores = cf.evaluate(*example, "shrec", collection_size=100)
    found = next(iter(scores.mean().values()))
    total = sum(found[f"{cell}(empty='out')"] for cell in ("TP", "FP", "FN", "TN"))
    assert total == 100


def test_means_of_the_set_are_over_the_same_topics(example: tuple) -> None:
    """A topic with relevant and without highly relevant items: R and Miss add up to 1 again."""
    judgements = {"a": {"x": 2, "y": 1}, "b": {"x": 1, "y": 0}, "c": {"x": 0}}
    run = {"a": {"y": 2.0, "x": 1.0}, "b": {"y": 2.0, "x": 1.0}, "c": {"x": 1.0}}
    scores = cf.evaluate(judgements, run, "shrec", collection_size=9)
    left = {str(m): scores.left_out(m)[0] for m in scores.measures}
    assert {n for name, n in left.items() if "rel=2" in name} == {2}
    assert {n for name, n in left.items() if "rel=2" not in name} == {1}
    recall, miss = (
        cf.evaluate(judgements, run, [name]).mean()["run"][name]
        for name in ("R@1(rel=2, empty='out')", "Miss@1(rel=2)")
    )
    assert recall + miss == 1
    assert cf.evaluate(judgements, run, "R@1(rel=2)").left_out(cf.measure("R@1(rel=2)")) == [0]


def test_the_names_of_the_page_head_a_table(tmp_path, capsys):
    from cranfield.cli import main
    from cranfield.measures import measure
    from cranfield.measures.ranked.shrec import shrec_name

    named = {text: shrec_name(measure(text)) for text in ("ShrecAP(rel=2)", "nDCG@5", "ADR", "AP")}
    assert named == {
        "ShrecAP(rel=2)": "Mean Average Precision(highly relevant)",
        "nDCG@5": "Mean Normalized Cumulated Discounted Gain @ 5",
        "ADR": "Mean Average Dynamic Recall",
        "AP": "",
    }
    lines = [f"{t} 0 d{k} {2 - k % 3}\n" for t in "ab" for k in range(8)]
    (tmp_path / "qrels.txt").write_text("".join(lines))
    for run in "xy":
        ranked = [f"{t} Q0 d{k} 0 {8 - k} {run}\n" for t in "ab" for k in range(8)]
        (tmp_path / f"{run}.run").write_text("".join(ranked))
    (tmp_path / "collection.toml").write_text(
        'judgements = "qrels.txt"\nruns = ["x.run", "y.run"]\n'
    )
    command = ["report", "table", str(tmp_path), "--as", "shrec", "--no-compare"]
    assert main(command) == 0
    head = capsys.readouterr().out
    assert "Mean First Tier(highly relevant)" in head
    assert "Mean Cumulated Gain @ 25" in head
    assert main([*command, "-m", "ADR AP"]) == 0
    head = capsys.readouterr().out
    assert "Mean Average Dynamic Recall" in head
    assert "MAP" in head
