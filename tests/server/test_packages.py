"""Without the packages of the site, whoever asks for it is told the extra that brings them."""

import sys
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

from cranfield.cli import main
from cranfield.server import PACKAGES

ASKED = {
    "serve": ("serve", "site"),
    "import": ("campaign", "import", "collection", "--to", "site"),
    "export": ("campaign", "export", "site", "name", "--to", "out"),
    "backup": ("campaign", "backup", "site", "--to", "file"),
    "restore": ("campaign", "restore", "file", "--to", "site"),
    "verify": ("campaign", "verify", "site"),
    "rescore": ("campaign", "rescore", "site", "name"),
    "rehearse": ("campaign", "rehearse", "--scale", "0.01"),
}


@pytest.mark.parametrize("module", ["sqlalchemy", "argon2", "uvicorn"])
@pytest.mark.parametrize("step", ASKED)
def test_the_extra_is_named(step, module, monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, module, None)
    assert main(ASKED[step]) == 2
    said = capsys.readouterr().err
    assert f"needs the package '{PACKAGES[module]}'" in said
    assert "pip install 'cranfield[server]'" in said
    assert list(tmp_path.iterdir()) == []


def test_every_package_of_the_extra_is_looked_for():
    declared = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    extras = declared["optional-dependencies"]
    named = {Requirement(line).name for line in (*extras["server"], *extras["site"])}
    assert set(PACKAGES.values()) == named - {"cranfield"}
