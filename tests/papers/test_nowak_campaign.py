"""The result tables of the thesis's campaign, from its printed figures."""

import csv
import json
from pathlib import Path

import pytest

from cranfield.campaign.results import campaign_results
from cranfield.cli import main

PUBLISHED = Path(__file__).parent / "published"


def rows(name: str) -> list[dict[str, str]]:
    with (PUBLISHED / name).open() as stream:
        return list(csv.DictReader(stream))


def year(folder: Path, name: str, columns: dict[str, str], table: str) -> Path:
    """One year of a printed table as figures of their own."""
    path = folder / f"{name}.csv"
    with path.open("w", newline="") as stream:
        writer = csv.writer(stream)
        writer.writerow(columns.values())
        writer.writerows([row[old] for old in columns] for row in rows(table))
    return path


@pytest.fixture
def years_10_11(tmp_path):
    """Table 10.11: the best of any run, ICPR 2010 and ImageCLEF 2010."""
    return [
        year(
            tmp_path,
            name,
            {"concept": "concept", f"eer_{name}": "EER", f"auc_{name}": "AUC"},
            "table-10.11-icpr-2010.csv",
        )
        for name in ("icpr", "2010")
    ]


@pytest.fixture
def years_10_4(tmp_path):
    """Table 10.4: the best of any run with its groups, ImageCLEF 2009 and ICPR 2010."""
    return [
        year(
            tmp_path,
            name,
            {
                "concept": "concept",
                f"group_{name}": "team",
                f"eer_{name}": "EER",
                f"auc_{name}": "AUC",
            },
            "table-10.4-best-per-concept.csv",
        )
        for name in ("2009", "icpr")
    ]


def printed(capsys, *argv: object) -> dict:
    assert main(["campaign", "results", *map(str, argv), "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_table_10_2_participation(capsys):
    path = PUBLISHED / "table-10.2-participation.csv"
    (part,) = printed(capsys, path, "--table", "participation")["parts"]
    assert [tuple(row.values()) for row in part["rows"]] == [
        ("2009", 34, 19, 73),
        ("ICPR 2010", 17, 12, 44),
        ("2010", 41, 17, 63),
    ]


def test_table_10_10_counts_by_configuration(capsys):
    """61 concepts are best found by a multi-modal run, 30 by a visual, two by a textual one."""
    path = PUBLISHED / "table-10.10-best-per-concept.csv"
    found = printed(capsys, path, "--table", "best-per-concept")
    assert found["facts"]["by_configuration"] == {"M": 61, "V": 30, "T": 2}
    assert list(found["facts"]["by_team"])[:3] == ["XRCE", "ISIS", "LEAR"]
    # "The concepts could be detected with an iAP of 48 %."
    assert round(found["facts"]["mean_of_best"], 2) == 0.48
    concepts = found["parts"][0]["rows"]
    assert len(concepts) == 93
    best = {
        row["concept"]: (row["iAP.concept"], row["team"], row["configuration"]) for row in concepts
    }
    assert best["skateboard"] == (0.455, "DCU", "T")
    assert best["Neutral_Illumination"] == (0.982, "XRCE", "M")


def test_52_expert_concepts_beside_41_of_the_crowd(tmp_path):
    """10.7.4: the old concepts have an average iAP of 57 %, the new ones of 37 %."""
    names = [row["concept"] for row in rows("table-10.10-best-per-concept.csv")]
    sets = {"experts": names[:52], "crowd": names[52:]}
    path = PUBLISHED / "table-10.10-best-per-concept.csv"
    part = campaign_results(path, "side-by-side", sets=sets).part("parts")
    assert part.column("part") == ["experts", "crowd"]
    assert part.column("units") == [52, 41]
    assert [round(value, 2) for value in part.column("best")] == [0.57, 0.37]
    # One value per concept says nothing of runs: there is no alpha.
    assert part.column("alpha") == [None, None]


def test_table_10_4_years(capsys, years_10_4):
    """Better or equal in 2010 but for one concept (an erratum), and not significant."""
    old, new = years_10_4
    found = printed(capsys, new, "--table", "years", "--year", f"2009={old}")
    measures = found["facts"]["measures"]
    for name in ("EER", "AUC"):
        assert measures[name]["shared"] == 53
        assert measures[name]["anova_p"] > 0.05
    table = rows("table-10.4-best-per-concept.csv")
    better = sum(float(row["auc_icpr"]) > float(row["auc_2009"]) for row in table)
    assert measures["AUC"]["wins"] == {"2009": 0, "this": better}
    better = sum(float(row["eer_icpr"]) < float(row["eer_2009"]) for row in table)
    assert measures["EER"]["wins"] == {"2009": 1, "this": better}
    # Printed with two digits: 23 % and 84 %, then 20.8 % and 86.5 %.
    assert measures["EER"]["means"]["2009"] == pytest.approx(0.23, abs=0.005)
    assert measures["EER"]["means"]["this"] == pytest.approx(0.208, abs=0.005)
    assert measures["AUC"]["means"]["this"] == pytest.approx(0.865, abs=0.005)


def test_table_10_4_best_groups(capsys, years_10_4):
    """The majority of the concepts was classified best by ISIS; in 2010 by CVSSPRet."""
    for path, leader in zip(years_10_4, ("ISIS", "CVSSPRet"), strict=True):
        found = printed(capsys, path, "--table", "best-per-concept", "-m", "AUC")
        assert next(iter(found["facts"]["by_team"])) == leader
        assert len(found["parts"][0]["rows"]) == 53


def test_table_10_11_years(capsys, years_10_11):
    """32/16 and 32/17 wins; means 0.208, 0.199, 0.866, 0.873; not significant."""
    old, new = years_10_11
    found = printed(capsys, new, "--table", "years", "--year", f"ICPR={old}")
    eer, auc = (found["facts"]["measures"][name] for name in ("EER", "AUC"))
    assert eer["wins"] == {"ICPR": 16, "this": 32}
    assert auc["wins"] == {"ICPR": 17, "this": 32}
    assert [round(v, 3) for v in eer["means"].values()] == [0.208, 0.199]
    assert [round(v, 3) for v in auc["means"].values()] == [0.866, 0.873]
    assert eer["anova_p"] > 0.05
    assert auc["anova_p"] > 0.05
    concepts = next(part for part in found["parts"] if part["name"] == "concepts")
    assert len(concepts["rows"]) == 52
    assert concepts["rows"][0]["EER better"] == "ICPR"
    summary = next(part for part in found["parts"] if part["name"] == "summary")
    assert summary["notes"][0].endswith("the difference is not significant")


def test_table_7_2_changes_of_rank(tmp_path):
    """The printed systems among themselves: who gains and who loses from EER to OS."""
    path = tmp_path / "figures.csv"
    table = rows("table-7.2-eer-os.csv")
    lines = [
        f"{row['system']},{row['eer']},{row['os']},{'yes' if row['rank_eer'] == '-' else 'no'}"
        for row in table
    ]
    path.write_text("\n".join(["run,EER,OS,baseline", *lines]) + "\n")
    found = campaign_results(path, "rank-changes", kind="labels", measures=["EER", "OS"])
    part = found.part("runs")
    change = dict(zip(part.column("run"), part.column("change"), strict=True))
    systems = [row for row in table if row["rank_eer"] != "-"]
    assert change.keys() == {row["system"] for row in systems}
    place = {}
    for measure in ("eer", "os"):
        order = sorted(systems, key=lambda row: int(row[f"rank_{measure}"]))
        for at, row in enumerate(order, 1):
            place[measure, row["system"]] = at
    for run, moved in change.items():
        # Figures of three digits can tie where the places of the thesis do not.
        assert moved == pytest.approx(place["eer", run] - place["os", run], abs=1)
    assert abs(part.column("change")[0]) == max(map(abs, change.values()))
