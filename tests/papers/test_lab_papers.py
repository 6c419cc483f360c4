"""The studies of the sources: their published figures."""

import csv
import math
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from cranfield.campaign.surveys.votes import count_choices, count_preferences
from cranfield.evaluation.precision_recall import behaviour_curves
from cranfield.lab.growing_collections import deviation_percent
from cranfield.lab.measure_correlation import correlate_scores
from cranfield.lab.rank_curves import curves

PUBLISHED = Path(__file__).parent / "published"
TABLE_4 = {
    "AP": [5, 8, 20, 8, 8, 10, 7, 6, 14, 4],
    "NMRR": [9, 10, 6, 20, 10, 4, 10, 9, 14, 17],
    "MNRO": [13, 12, 20, 20, 10, 14, 11, 13, 14, 8],
    "OTHER": [3, 0, 4, 2, 2, 2, 2, 2, 2, 1],
}


def test_thesis_table_7_2_kendall_between_eer_and_os():
    with (PUBLISHED / "table-7.2-eer-os.csv").open() as stream:
        rows = [r for r in csv.DictReader(stream) if r["rank_eer"] != "-"]
    assert len(rows) == 19
    scores = np.array([[float(r["eer"]), float(r["os"])] for r in rows])
    found = correlate_scores(
        ("EER", "OS"), tuple(r["system"] for r in rows), scores, np.array([-1.0, 1.0])
    ).pair("EER", "OS")
    # Counted by hand from eq. 4.3: concordant and discordant pairs, EER being an error rate.
    pairs = [(a, b) for a in range(19) for b in range(a)]
    good = sum((scores[b, 0] - scores[a, 0]) * (scores[a, 1] - scores[b, 1]) > 0 for a, b in pairs)
    bad = sum((scores[b, 0] - scores[a, 0]) * (scores[a, 1] - scores[b, 1]) < 0 for a, b in pairs)
    ranks = stats.kendalltau([int(r["rank_eer"]) for r in rows], [int(r["rank_os"]) for r in rows])
    assert found.kendall == pytest.approx(stats.kendalltau(-scores[:, 0], scores[:, 1]).statistic)
    assert found.kendall_name == "tau"
    assert found.kendall == pytest.approx((good - bad) / (good + bad))
    # The printed ranks among all 73 runs order the systems as their scores do.
    assert found.kendall == pytest.approx(ranks.statistic)
    assert found.kendall == pytest.approx(31 / 171)
    assert found.spearman == pytest.approx(stats.spearmanr(-scores[:, 0], scores[:, 1]).statistic)


def test_chatzichristofis_table_4_totals_and_percentages():
    found = count_choices(TABLE_4)
    assert [c.votes for c in found.choices] == [90, 109, 135, 20]
    shares = [round(100 * c.share, 2) for c in found.choices]
    assert shares == [25.42, 30.79, 38.14, 5.65]
    # "first place in participants selection in 90% of the sets", "AP in only 2 sets ... tied"
    assert found.of("MNRO").first == 9
    assert (found.of("AP").first, found.of("AP").tied) == (2, 2)
    # "NMRR exceeds AP in votes, in 7 of the 10 sets"
    duel = next(d for d in found.duels if (d.a, d.b) == ("AP", "NMRR"))
    assert (duel.b_wins, duel.p) == (7, pytest.approx(stats.binomtest(2, 9).pvalue))


def test_chatzichristofis_table_4_participants_choice():
    """The last column of the table, ties and all."""
    printed = (
        "MNRO",
        "MNRO",
        "MNRO-AP",
        "MNRO-NMRR",
        "MNRO-NMRR",
        "MNRO",
        "MNRO",
        "MNRO",
        "MNRO-AP-NMRR",
        "NMRR",
    )
    found = count_choices(TABLE_4, names=[f"Set {n}" for n in range(1, 11)])
    assert [set(row.choice) for row in found.rows] == [set(text.split("-")) for text in printed]
    assert [row.question for row in found.rows][:2] == ["Set 1", "Set 2"]
    assert [row.votes for row in found.rows] == list(zip(*TABLE_4.values(), strict=True))


def test_thesis_table_9_5_agreement_with_turkers():
    srp = [
        (0.694, 0.638),
        (0.922, 0.893),
        (0.803, 0.843),
        (0.807, 0.775),
        (0.911, 0.877),
        (0.713, 0.753),
        (0.797, 0.810),
        (0.657, 0.690),
        (0.708, 0.752),
        (0.758, 0.730),
    ]
    votes = [
        (16, 2, 2),
        (12, 6, 2),
        (8, 9, 3),
        (17, 3, 0),
        (14, 4, 2),
        (3, 12, 5),
        (7, 11, 2),
        (7, 10, 3),
        (7, 12, 1),
        (0, 5, 4),
    ]
    found = count_preferences(votes, {"SRP": srp}).of("SRP")
    assert (found.agreed, found.decided) == (9, 10)  # "in 90% in line"
    rows = count_preferences(votes, {"SRP": srp}, systems=("system 1", "system 2")).rows
    # The bold numbers of votes: the second system wins all of the last five questions.
    first = [row.choice == ("system 1",) for row in rows]
    assert first == [True, True, False, True, True, *[False] * 5]


def nmrr(*ranks):
    """Eq. 5 to 9 with K = 4 NG, by hand."""
    count = len(ranks)
    depth = 4 * count
    average = sum(r if r <= depth else 1.25 * depth for r in ranks) / count
    return (average - (1 + count) / 2) / (1.25 * depth - (1 + count) / 2)


def test_chatzichristofis_figure_1_and_5_one_relevant_item_of_20():
    found = curves("AP NMRR MNRO", size=20)
    for rank in range(1, 21):
        assert 1 - found.at("AP", rank) == pytest.approx(1 - 1 / rank)
        assert found.at("NMRR", rank) == pytest.approx(nmrr(rank))
    # Section 3: linear to K, from K to K + 1 (the gradients are equal only for K = 4 NG), then 1.
    steps = [found.at("NMRR", rank + 1) - found.at("NMRR", rank) for rank in range(1, 20)]
    assert steps == pytest.approx([0.25] * 4 + [0.0] * 15)
    # "In the first K positions 1 - AP appears stricter than NMRR", afterwards NMRR.
    assert all(1 - found.at("AP", rank) > found.at("NMRR", rank) for rank in (2, 3))
    assert all(1 - found.at("AP", rank) < found.at("NMRR", rank) for rank in range(5, 21))
    # Section 4: K = 4 NG, 0 at rank 1, 0.95 at rank K, close to 1 but below it afterwards.
    assert found.at("MNRO", 1) == 0
    assert found.at("MNRO", 4) == pytest.approx(0.95, abs=1e-4)
    # Eq. 16 and 17 at rank 2, K = 4.
    assert found.at("MNRO", 2) == pytest.approx(math.exp(-9.3668 * math.exp(-5.2074 / 3)))
    assert 0.95 < found.at("MNRO", 5) < found.at("MNRO", 6) < 1
    # Eq. 12: beyond K + 1 the NMRR is 1.
    assert all(found.at("NMRR", rank) == 1 for rank in range(6, 21))
    # "In the first results the gradient of the NRO is smaller".
    assert found.at("MNRO", 2) < found.at("NMRR", 2) < 1 - found.at("AP", 2)


def test_the_depth_of_nmrr_follows_the_largest_topic_that_is_given():
    """Eq. 6: K = min(4 NG, 2 GMT), which is 2 for one relevant item and GMT = 1."""
    assert curves("NMRR", size=20, gmt=1).at("NMRR", 2) == pytest.approx(1 / 1.5)
    assert behaviour_curves("NMRR", size=20)[0].points == tuple(
        (float(r), pytest.approx(nmrr(r))) for r in range(1, 21)
    )


@pytest.mark.parametrize("size", [1_000, 10_000, 100_000, 1_000_000])
def test_chatzichristofis_figure_6_mnro_keeps_its_shape_in_any_collection(size):
    k = 0.04 * size
    ranks = [1, round(k / 2), round(k)]
    found = curves("MNRO", size=size, ranks=ranks)
    assert found.at("MNRO", 1) == 0
    # Half-way to K it is 0.5, at K 0.95 (assumptions 1 and 2 of section 4).
    assert found.at("MNRO", ranks[1]) == pytest.approx(0.5, abs=0.04)
    assert found.at("MNRO", ranks[2]) == pytest.approx(0.95, abs=1e-3)


def test_chatzichristofis_figures_2_to_4_and_7_two_relevant_items_of_20():
    found = curves("AP NMRR MNRO", size=20, relevant=2)
    assert len(found.ranks) == 190
    for rank, low, high in found.envelope("AP"):
        # Lower curve of 1 - AP: the other item at rank 1; upper: right before.
        assert high == pytest.approx((1 + 2 / rank) / 2)
        assert low == pytest.approx((1 / (rank - 1) + 2 / rank) / 2)
    for pair in found.ranks:
        assert found.at("NMRR", *pair) == pytest.approx(nmrr(*pair))
    # Figure 4 (b): the upper curve has the other item right before, the lower one at rank 1.
    for rank, low, high in found.envelope("NMRR"):
        assert (low, high) == pytest.approx((nmrr(1, rank), nmrr(rank - 1, rank)))
    assert found.at("MNRO", 1, 2) == found.at("NMRR", 1, 2) == 0
    assert max(v[2] for v in found.envelope("MNRO")) <= 1


@pytest.mark.parametrize(
    "base, value, printed",
    [
        (0.0375, 0.0237, 36.8),
        (0.0375, 0.0184, 50.9),
        (0.9202, 0.9457, 2.77),
        (0.9202, 0.9574, 4.04),
        (0.2843, 0.2859, 0.56),
        (0.2843, 0.2873, 1.05),
        (0.8356, 0.8368, 0.14),
        (0.8356, 0.8360, 0.05),
    ],
)
def test_chatzichristofis_table_2_deviations(base, value, printed):
    tolerance = 0.06 if printed > 9 else 0.02  # the scores are printed with four digits
    assert deviation_percent(base, value) == pytest.approx(printed, abs=tolerance)
