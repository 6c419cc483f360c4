"""The page that explains the truth: tables that programs write into it are there."""

import re
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "truth.md"
BLOCKS = {
    "truth:crowds",
    "truth:reasons",
    "check:silver",
    "check:differences",
    "dl19:small-gold",
    "dl19:some-pairs",
    "dl19:judges",
}


def test_every_table_is_filled():
    found = dict(re.findall(r"<!-- (\S+:\S+) -->\n(.*?)<!-- /\1 -->", PAGE.read_text(), re.DOTALL))
    assert set(found) == BLOCKS
    for name, table in found.items():
        assert table.count("\n| ") >= 2, name
