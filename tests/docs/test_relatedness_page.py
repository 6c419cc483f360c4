"""The correlations with people that the page on relatedness shows are what its commands print."""

import json
import re
from pathlib import Path

import pytest

from cranfield.cli import main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "explanation" / "relatedness.md").read_text()
TABLES = ROOT / "tests" / "papers" / "published"


def shown(label: str) -> dict[str, str]:
    """The cells of the row that begins with `label`, by the heading of their table."""
    before, row = PAGE.split(f"| {label} | ")
    heading = re.findall(r"^\| [a-z]* \| (.*) \|$", before, flags=re.MULTILINE)[-1]
    return dict(zip(heading.split(" | "), row.partition(" |\n")[0].split(" | "), strict=True))


@pytest.mark.wordnet
@pytest.mark.parametrize(
    ("label", "arguments"),
    [
        ("Cranfield", ["table-8.3-gracia-mena-relatedness.csv"]),
        (
            "Cranfield, our mapping, 30 pairs",
            ["table-8.3-visual-concept-relatedness.csv", "--mapping", "pto"],
        ),
        ("Cranfield, without mapping", ["table-8.3-visual-concept-relatedness.csv"]),
    ],
)
def test_the_tables_are_what_the_commands_print(label, arguments, capsys):
    file, *options = arguments
    assert main(["relatedness", "--human", str(TABLES / file), *options, "--format", "json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    spearman = {row["method"]: row["spearman"] for row in printed["methods"]}
    assert shown(label) == {name: f"{spearman[name]:.3f}" for name in shown(label)}
    assert len(shown(label)) == 9


NUS_WIDE_CONCEPTS = """
airport animal beach bear birds boats book bridge buildings cars castle cat cityscape clouds
computer coral cow dancing dog earthquake elk fire fish flags flowers food fox frost garden glacier
grass harbor horses house lake leaf map military moon mountain nighttime ocean person plane plants
police protest railroad rainbow reflection road rocks running sand sign sky snow soccer sports
statue street sun sunset surf swimmers tattoo temple tiger tower town toy train tree valley vehicle
water waterfall wedding whales window zebra
"""


def test_the_neighbours_by_tags(capsys, tmp_path, monkeypatch, outside):
    labels = outside("multilabel/hashnet_nuswide81_test5000.txt.gz", "NUS-WIDE's labels")
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nuswide.txt").write_text("\n".join(NUS_WIDE_CONCEPTS.split()))
    sources = ["--tags", str(labels), "--concepts", "nuswide.txt"]
    assert main(["relatedness", "-m", "FTS", *sources, "-o", "fts.csv", "--quiet"]) == 0
    _, table = PAGE.split("| concept | nearest 1")
    rows = table.partition("\n\n")[0].splitlines()[2:]
    assert len(rows) == 10
    named = [word for row in rows for word in ("--concept", row.split(" | ")[0].strip("| "))]
    assert main(["costmap", "show", "fts.csv", *named, "--format", "markdown"]) == 0
    assert "\n".join(rows) in capsys.readouterr().out
