"""Importing Cranfield and asking for help load nothing heavy."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

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
    "eval": "from cranfield.cli import eval; eval.ranked_parser().format_help()",
    "compare": "from cranfield.cli import compare; compare.make_parser().format_help()",
    "errors": "from cranfield.cli import report; report.errors_parser().format_help()",
    "trec_eval": "from cranfield.cli import main; main(['trec_eval', '-h'])",
}


def modules_after(program: str) -> set[str]:
    report = "\nimport sys; m = sorted(sys.modules); import json; print('\\n' + json.dumps(m))"
    finished = subprocess.run(
        [sys.executable, "-c", program + report],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return {name.partition(".")[0] for name in json.loads(finished.stdout.splitlines()[-1])}


@pytest.mark.parametrize("name", PROGRAMS)
def test_nothing_heavy_is_loaded(name: str) -> None:
    assert not modules_after(PROGRAMS[name]) & HEAVY


@pytest.mark.parametrize(
    "name", ["import", "help", "version", "eval", "compare", "errors", "trec_eval"]
)
def test_not_even_numpy(name: str) -> None:
    assert "numpy" not in modules_after(PROGRAMS[name])


EVERY_HELP = """
import contextlib, io, sys
from cranfield.cli import COMMANDS, main
for asked in [name.split() for name in COMMANDS] + [["report"], ["lab", "stability"]]:
    with contextlib.redirect_stdout(io.StringIO()) as text:
        try:
            main([*asked, "--help"])
        except SystemExit:
            pass
    assert "usage:" in text.getvalue().lower(), asked
    loaded = {name.partition(".")[0] for name in sys.modules}
    assert not loaded & {"numpy", "scipy", "jinja2", "sqlalchemy", "starlette"}, asked
"""


def test_no_help_text_loads_numpy() -> None:
    """All in one process: the first command that loads it is named."""
    modules_after(EVERY_HELP)


def test_evaluating_a_trec_file_needs_no_numpy(tmp_path: Path) -> None:
    (tmp_path / "q.txt").write_text("q 0 a 1\nq 0 b 0\n")
    (tmp_path / "r.run").write_text("q Q0 a 0 2 x\nq Q0 b 0 1 x\n")
    argv = ["eval", str(tmp_path / "q.txt"), str(tmp_path / "r.run"), "-m", "map P_10 nDCG@5,10"]
    loaded = modules_after(f"from cranfield.cli import main; main({argv!r})")
    assert not loaded & {"numpy", "scipy"}


COMPARISON = """
from cranfield.cli import main
main({argv!r})
import sys
assert not {{"scipy.stats", "scipy.optimize", "scipy.special", "numpy.f2py"}} & set(sys.modules)
# The package is there, and whole, for whoever asks for it afterwards.
from cranfield.stats._special import ndtr, stdtrit
import scipy.special, scipy.stats
assert scipy.special.ndtr is ndtr and scipy.special.stdtrit is stdtrit
assert scipy.special.logsumexp([0.0]) == 0.0 and scipy.stats.norm.cdf(0.0) == 0.5
"""


def test_a_comparison_loads_no_more_of_scipy_than_its_functions(tmp_path: Path) -> None:
    topics = [f"t{i}" for i in range(5)]
    (tmp_path / "q.txt").write_text("".join(f"{t} 0 a 1\n" for t in topics))
    for name, score in (("x", 2), ("y", 0)):
        lines = [f"{t} Q0 a 0 {score} x\n{t} Q0 b 0 1 x\n" for t in topics]
        (tmp_path / f"{name}.run").write_text("".join(lines))
    files = [str(tmp_path / name) for name in ("q.txt", "x.run", "y.run")]
    modules_after(COMPARISON.format(argv=["compare", *files, "--resamples", "20"]))


def test_public_names_resolve() -> None:
    import cranfield

    for name in cranfield.__all__:
        assert getattr(cranfield, name) is not None
    assert set(cranfield.__all__) <= set(dir(cranfield))
