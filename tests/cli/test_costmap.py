"""The command `cranfield costmap`, as a user meets it."""

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

from cranfield.cli import main
from cranfield.data.costmap import CostMap
from cranfield.io.costmap import read_costmap, write_costmap

MAP = "concept,sea,lake,car,bus\nsea,0,0.1,0.9,1\nlake,0.1,0,1,1\ncar,0.9,1,0,0.3\nbus,1,1,0.3,0\n"


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def costmap(capsys, *argv):
    code = main(["costmap", *argv])
    out, err = capsys.readouterr()
    return code, out, err


def test_show_draws_nearest_dendrogram_and_heat_map(capsys):
    Path("map.csv").write_text(MAP)
    code, out, err = costmap(capsys, "show", "map.csv", "--nearest", "2")
    assert (code, err) == (0, "")
    assert "sea lake 0.100 car 0.900" in [" ".join(line.split()) for line in out.splitlines()]
    assert "0.10 ┬ sea" in out
    assert "Heat map (dark is near)" in out
    assert " sea ████" in out
    found = json.loads(costmap(capsys, "show", "map.csv", "--format", "json")[1])
    assert found["nearest"][0] == {
        "concept": "sea",
        "nearest": [{"concept": "lake", "cost": 0.1}, {"concept": "car", "cost": 0.9}],
    }
    assert set(found["order"]) == set(found["concepts"])


def test_show_one_concept(capsys):
    Path("map.csv").write_text(MAP)
    _, out, _ = costmap(capsys, "show", "map.csv", "--concept", "car", "--format", "csv")
    assert [row[0] for row in csv.reader(io.StringIO(out))] == ["concept", "car"]
    code, _, err = costmap(capsys, "show", "map.csv", "--concept", "caar")
    assert code == 2
    assert "no concept 'caar'. Did you mean 'car'?" in err


def test_show_as_a_page(capsys):
    Path("map.csv").write_text(MAP.replace("bus", "<b>us"))
    code, out, _ = costmap(capsys, "show", "map.csv", "--format", "html", "-o", "map.html")
    assert (code, out) == (0, "")
    page = Path("map.html").read_text()
    assert page.count("<rect") == 16 + 16  # the cells, and the steps of the scale
    assert page.count('class="k-accent"') == 3  # three joins
    assert "<b>" not in page
    assert "<script" not in page
    assert page.count("<tr>") == 5
    costmap(capsys, "show", "map.csv", "--format", "html", "-o", "map.html", "--concept", "car")
    assert Path("map.html").read_text().count("<tr>") == 2


def test_long_names_are_cut_on_the_page_and_said_in_full(capsys):
    long = "a very long name of a concept that nobody would ever want to type"
    Path("map.csv").write_text(MAP.replace("sea", long))
    page = costmap(capsys, "show", "map.csv", "--format", "html")[1]
    assert page.count(f"<title>{long}</title>") == 2
    assert page.count("a very long name of a c") > 2


def test_a_tree_that_is_one_chain_is_drawn(capsys):
    many = 1050
    names = [f"c{i}" for i in range(many)]
    rows = [[0 if i == j else max(i, j) / many for j in range(many)] for i in range(many)]
    lines = [",".join(["concept", *names])]
    lines += [",".join([name, *map(str, row)]) for name, row in zip(names, rows, strict=True)]
    Path("map.csv").write_text("\n".join(lines))
    code, out, _ = costmap(capsys, "show", "map.csv", "--format", "json")
    assert code == 0
    assert sorted(json.loads(out)["order"]) == sorted(names)
    assert costmap(capsys, "show", "map.csv")[0] == 0


def test_compare(capsys):
    Path("a.csv").write_text(MAP)
    Path("b.csv").write_text(MAP.replace("0.3", "0.2").replace("bus", "tram"))
    code, out, err = costmap(capsys, "compare", "a.csv", "a.csv")
    assert (code, err) == (0, "")
    assert "1.0000" in out
    assert "differ most" not in out
    code, out, err = costmap(capsys, "compare", "a.csv", "b.csv", "--format", "json", "--seed", "4")
    assert code == 0
    assert err == "warning: 2 concepts are in one map only and left out\n"
    assert json.loads(out)["concepts"] == 3


@pytest.mark.parametrize(
    "old, new, message",
    [
        ("car,0.9,1,0,0.3", "car,0.9,1,0,0.4", "'bus' to 'car' is 0.3, but 0.4"),
        ("sea,0,0.1", "sea,0,1.1", "the cost of 'sea' to 'lake' is 1.1, expected a number in"),
        ("sea,0,0.1", "sea,0.5,0.1", "the cost of 'sea' to itself is 0.5, expected 0"),
        ("bus,1,1,0.3,0\n", "", "column 'bus' has no row"),
    ],
)
def test_a_map_that_is_none_is_refused_with_the_cell(capsys, old, new, message):
    assert old in MAP
    Path("map.csv").write_text(MAP.replace(old, new))
    for task in (["show", "map.csv"], ["compare", "map.csv", "map.csv"]):
        code, out, err = costmap(capsys, *task)
        assert (code, out) == (2, "")
        assert message in err


def test_costmap_needs_a_task(capsys):
    code, _, err = costmap(capsys)
    assert code == 2
    assert "TASK" in err


def test_a_map_made_in_python_is_written_for_the_commands(capsys):
    third = np.array([[0.0, 1 / 3], [1 / 3, 0.0]])
    write_costmap(CostMap(("sea, lake", "car"), third), "made.csv")
    again = read_costmap("made.csv")
    assert again.concepts == ("sea, lake", "car")
    assert again.costs.tolist() == third.tolist()
    assert costmap(capsys, "show", "made.csv")[0] == 0
