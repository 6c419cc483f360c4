"""The map of the rooms is complete, and says the same as the contract on imports."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "contributing" / "architecture.md").read_text()
ROOMS = re.findall(r"^\| `(\w+)` \|", PAGE, flags=re.MULTILINE)
PACKAGE = ROOT / "src" / "cranfield"
# Not rooms: the doors of the package, and helpers of a few lines.
SMALL = {"__init__", "__main__", "_json", "_lazy", "_process", "_system", "_version"}


def layers():
    contract = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]
    return contract["contracts"][0]["layers"]


def test_every_package_and_module_has_its_row():
    found = {p.stem for p in PACKAGE.glob("*.py")} - SMALL
    # A folder with nothing but __pycache__ is what a checkout leaves of a package that has moved.
    folders = [path for path in PACKAGE.iterdir() if path.is_dir() and path.name != "__pycache__"]
    found |= {path.name for path in folders if {p.name for p in path.iterdir()} - {"__pycache__"}}
    assert set(ROOMS) == found


def test_rooms_stand_in_the_order_of_the_layers():
    listed = [room for layer in layers() for room in re.split(r"\s*\|\s*", layer)]
    order = [room for room in ROOMS if room in listed]
    assert len(order) == len(listed)
    place = {room: i for i, layer in enumerate(layers()) for room in re.split(r"\s*\|\s*", layer)}
    assert [place[room] for room in order] == sorted(place[room] for room in order)


def test_where_rooms_are_tested_is_there():
    for path in re.findall(r"`(tests/[\w/.]+)`", PAGE):
        assert (ROOT / path).exists(), path


def test_decisions_are_linked():
    decisions = {p.name for p in (ROOT / "docs" / "decisions").glob("*.md")}
    assert decisions == set(re.findall(r"decisions/([\w-]+\.md)", PAGE))
