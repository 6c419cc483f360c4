"""The recipe for continuous integration: red when a run is made worse, green when not."""

import gzip
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from cranfield.io.samples import SAMPLE

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "how-to" / "continuous-integration.md").read_text()
SHELL = re.findall(r"```sh\n(.*?)```", PAGE, flags=re.DOTALL)
PYTHON = re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)
WORSE = "projection"


@pytest.fixture
def project(tmp_path):
    """A project whose run is about to change."""
    unpacked = {"qrels.txt": "qrels.txt.gz", "main.run": "runs/pca.run.gz"}
    for name, packed in unpacked.items():
        (tmp_path / name).write_bytes(gzip.decompress((SAMPLE / packed).read_bytes()))
    assert shell(tmp_path, SHELL[0]).returncode == 0
    return tmp_path


def change(project, run):
    packed = (SAMPLE / f"runs/{run}.run.gz").read_bytes()
    (project / "change.run").write_bytes(gzip.decompress(packed))


def shell(project, text):
    command = f'cranfield() {{ "{sys.executable}" -m cranfield "$@"; }}\n{text}'
    return subprocess.run(
        ["bash", "-c", command], cwd=project, capture_output=True, text=True, timeout=120
    )


@pytest.mark.skipif(shutil.which("bash") is None, reason="the recipe speaks to bash")
@pytest.mark.parametrize("run, code", [("pca", 0), (WORSE, 1)])
def test_the_gate(project, run, code):
    change(project, run)
    done = shell(project, SHELL[1])
    assert done.returncode == code, done.stderr
    suite = ElementTree.parse(project / "gate.xml").getroot()
    cases = suite.findall("./testsuite/testcase")
    assert [case.get("name") for case in cases] == ["AP", "nDCG@10"]
    failures = suite.findall(".//failure")
    assert int(suite.get("failures")) == len(failures) == done.stderr.count("failed: change: ")
    assert bool(failures) is bool(code)
    summary = (project / "gate.md").read_text()
    assert ("checks failed" in summary) is bool(code)
    assert "| change | AP |" in summary


@pytest.mark.parametrize("run, code", [("pca", 0), (WORSE, 1)])
def test_the_plugin(project, run, code):
    change(project, run)
    (project / "test_gate.py").write_text(PYTHON[0])
    plugin = ["-p", "cranfield.compat.pytest_plugin", "-p", "no:cacheprovider", "-q"]
    path = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *plugin, "test_gate.py"],
        cwd=project,
        capture_output=True,
        text=True,
        env=os.environ | {"PYTHONPATH": path, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        timeout=120,
    )
    assert done.returncode == code, done.stdout
    if code:
        assert "worse than the baseline" in done.stdout
        assert "change: AP is 0.3434, baseline has 0.5450" in done.stdout


def test_the_plugin_is_declared():
    assert 'cranfield = "cranfield.compat.pytest_plugin"' in (ROOT / "pyproject.toml").read_text()
