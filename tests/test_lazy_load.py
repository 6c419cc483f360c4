"""Importing Cranfield and asking for help load nothing heavy."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

HEAVY = {
    "IPython",
    "matplotlib",
    "pandas",
    "polars",
    "pyarrow",
    "rdflib",
    "scipy",
    "sklearn",
    "starlette",
    "statsmodels",
    "uvicorn",
    "vl_convert",
}
PROGRAMS = {
    "import": "import cranfield",
    "help": "from cranfield.cli import main; main(['--help'])",
    "version": "from cranfield.cli import main; main(['--version'])",
    "eval": "from cranfield.cli import eval; eval.make_parser().format_help()",
    "trec_eval": "from cranfield.cli import main; main(['trec_eval', '-h'])",
}


def modules_after(program: str) -> set[str]:
    report = "\nimport json, sys; print('\\n' + json.dumps(sorted(sys.modules)))"
    finished = subprocess.run(
        [sys.executable, "-c", program + report], capture_output=True, text=True, check=True
    )
    return {name.partition(".")[0] for name in json.loads(finished.stdout.splitlines()[-1])}


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_heavy_is_loaded(name: str) -> None:
    assert not modules_after(PROGRAMS[name]) & HEAVY


@pytest.mark.parametrize("name", ["import", "help", "version"])
def test_not_even_numpy(name: str) -> None:
    assert "numpy" not in modules_after(PROGRAMS[name])


def test_public_names_resolve() -> None:
    import cranfield

    for name in cranfield.__all__:
        assert getattr(cranfield, name) is not None
    assert set(cranfield.__all__) <= set(dir(cranfield))
