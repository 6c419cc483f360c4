"""The correlations with people that the page on relatedness shows are what its commands print."""

import json
import re
from pathlib import Path

import pytest

from cranfield.cli import main

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "explanation" / "relatedness.md").read_text()
TABLES = ROOT.parent / "shared" / "data" / "published"


def shown(label: str) -> dict[str, str]:
    """The cells of the row that begins with `label`, by the heading of their table."""
    before, row = PAGE.split(f"| {label} | ")
    heading = re.findall(r"^\| \| (.*) \|$", before, flags=re.MULTILINE)[-1]
    return dict(zip(heading.split(" | "), row.partition(" |\n")[0].split(" | "), strict=True))


@pytest.mark.wordnet
@pytest.mark.skipif(not TABLES.is_dir(), reason="the word pairs of Table 8.3 are not here")
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
