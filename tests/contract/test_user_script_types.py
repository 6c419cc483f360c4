"""mypy and pyright on a script as a user writes it: a slip is an error, and results have types."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

# What follows `# ->` is the type that a checker must see; it must not accept a line with `# wrong`.
SCRIPT = """
import cranfield as cf

qrels, run = cf.read_qrels("qrels.txt"), cf.read_run("bm25.run.gz")
scores = cf.evaluate(qrels, [run], "AP nDCG@10")
reveal_type(scores)  # -> Scores
reveal_type(scores.mean()["bm25"]["MRR@10"])  # -> float
reveal_type(scores.flat())  # -> dict[str, float]
reveal_type(scores.per_topic()[0]["AP"])  # -> str | float | None
reveal_type(scores.select("AP"))  # -> Scores
reveal_type(scores.verdict())  # -> tuple[str, ...]
reveal_type(scores.plot())  # -> Chart
reveal_type(scores.to_latex(caption="Results", label="tab:mine", columns=["AP"]))  # -> str
reveal_type(scores.by({"1": "short"}).mean())  # -> dict[str, dict[str, dict[str, float]]]
comparison = cf.compare(qrels, [run], "AP", baseline="bm25", test="t", units="items")
reveal_type(comparison)  # -> Comparison
reveal_type(scores.compare(baseline="bm25", rng=7))  # -> Comparison
reveal_type(comparison.verdict)  # -> tuple[str, ...]
reveal_type(comparison.pairs[0])  # -> Pair
reveal_type(comparison.pairs[0].p)  # -> float
reveal_type(comparison.pair("a", "b", "MAP").ci)  # -> tuple[float, float]
reveal_type(comparison.to_latex(parts=["summary", "pairs"]))  # -> str
reveal_type(cf.assert_not_worse(scores, "old.json", 0.01))  # -> Comparison
reveal_type(cf.RankedTask(qrels, "AP").evaluate([run]))  # -> Scores
reveal_type(cf.evaluate_labels("truth.csv", ["run.csv"], "F.example"))  # -> Scores
reveal_type(cf.aggregate_judgements("log.csv", "dawid-skene"))  # -> AggregatedTruth
reveal_type(cf.assess_agreement("export.json"))  # -> Agreement
reveal_type(cf.evaluate_powered("few.txt", "many.txt", [run], pairs=True))  # -> PoweredScores
reveal_type(cf.search("vectors.npz").run())  # -> Run
reveal_type(cf.measure("AP").higher_is_better)  # -> bool | None
for measure in cf.list_measures():
    reveal_type(measure.name)  # -> str

cf.compare(qrels, [run], basline="bm25")  # wrong
cf.compare(qrels, [run], test="bootstap")  # wrong
scores.compare(correction="holms")  # wrong
scores.compare(tail="upper")  # wrong
scores.compare(interval="bootstrap")  # wrong
scores.compare(units="topics")  # wrong
scores.to_latex(captoin="Results")  # wrong
scores.to_dict(pr=["topic"])  # wrong
scores.report("page.html", tite="Mine")  # wrong
comparison.to_latex(part=["pairs"])  # wrong
cf.assert_not_worse(scores, "bm25", by="tets")  # wrong
cf.evaluate(qrels, [run], tis="average")  # wrong
cf.evaluate(qrels, [run], ties="avarage")  # wrong
cf.evaluate_labels("truth.csv", ["run.csv"], ontolgy="pto-2009")  # wrong
cf.aggregate_judgements("log.csv", "majorty")  # wrong
cf.evaluate_powered("few.txt", "many.txt", [run], intervall="t")  # wrong
cf.evaluate_powered("few.txt", "many.txt", [run], tis="average")  # wrong
cf.assess_judges("gold.txt", ["judge.txt"], threshhold=0.5)  # wrong
"""
LINES = SCRIPT.splitlines()
WRONG = {n for n, line in enumerate(LINES, 1) if line.endswith("# wrong")}
TYPES = {n: line.split("# -> ")[1] for n, line in enumerate(LINES, 1) if "# -> " in line}
SOURCE = str(Path(__file__).parents[2] / "src")


def short(type_name: str) -> str:
    return re.sub(r"\b(?:\w+\.)+(?=\w)", "", type_name)


def check(errors: set[int], types: dict[int, str]) -> None:
    assert errors == WRONG
    assert {n: short(t) for n, t in types.items()} == TYPES


# Reads the whole package once: half a minute without a cache.
@pytest.mark.slow
def test_mypy_sees_slips_and_types(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "mypy", "--strict", "--config-file=", "--no-error-summary"),
            *(f"--cache-dir={tmp_path}", str(script)),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=os.environ | {"MYPYPATH": SOURCE},
        timeout=900,
    )
    rows = re.findall(r"script\.py:(\d+): (error|note): (.*)", done.stdout)
    errors = {int(n) for n, kind, _ in rows if kind == "error"}
    pattern = re.compile(r'Revealed type is "(.*)"')
    types = {int(n): match[1] for n, _, text in rows if (match := pattern.match(text))}
    check(errors, types)


@pytest.mark.slow
def test_pyright_sees_slips_and_types(tmp_path: Path) -> None:
    program = shutil.which("pyright") or shutil.which("basedpyright")
    if program is None:
        pytest.skip("neither pyright nor basedpyright is installed")
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    settings = {"typeCheckingMode": "strict", "extraPaths": [SOURCE], "include": [str(script)]}
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings))
    done = subprocess.run(
        [program, "--outputjson", "--pythonpath", sys.executable, "-p", str(tmp_path)],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    rows = [
        (row["range"]["start"]["line"] + 1, row["severity"], row["message"])
        for row in json.loads(done.stdout)["generalDiagnostics"]
    ]
    pattern = re.compile(r'Type of ".*" is "(.*)"$', re.DOTALL)
    types = {n: match[1] for n, _, text in rows if (match := pattern.match(text))}
    check({n for n, severity, _ in rows if severity == "error"}, types)
