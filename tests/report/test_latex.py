"""LaTeX: booktabs, the best in bold, marks of significance, and it compiles."""

import json
import re
import shutil
import subprocess

import pytest

import cranfield as cf
from cranfield.cli import main
from cranfield.io.samples import SAMPLE

QRELS = str(SAMPLE / "qrels.txt.gz")
RUNS = [str(SAMPLE / "runs" / f"{name}.run.gz") for name in ("pca", "pixels", "projection")]
COMPARE = ["compare", QRELS, *RUNS, "-m", "AP nDCG@10 NMRR", "--collection-size", "1120"]


def printed(capsys, *args):
    capsys.readouterr()
    assert main([*args, "--quiet"]) == 0
    return capsys.readouterr().out


def cells(latex):
    """The rows of the first table, split into cells."""
    table = latex.split(r"\midrule")[1].split(r"\bottomrule")[0]
    return [row.strip().removesuffix(r"\\").split(" & ") for row in table.strip().splitlines()]


def test_the_numbers_are_those_of_the_json_and_the_best_are_bold(capsys):
    args = ["eval", QRELS, *RUNS, "-m", "AP NMRR"]
    said = json.loads(printed(capsys, *args, "--format", "json"))["runs"]
    rows = cells(printed(capsys, *args, "--format", "latex"))
    best = {"AP": max(r["mean"]["AP"] for r in said), "NMRR": min(r["mean"]["NMRR"] for r in said)}
    for row, run in zip(rows, said, strict=True):
        for text, (name, value) in zip(row[1:3], run["mean"].items(), strict=True):
            shown = f"{value:.4f}"
            assert text.strip() == (rf"\textbf{{{shown}}}" if value == best[name] else shown)


def test_stars_against_the_baseline(capsys):
    latex = printed(capsys, *COMPARE, "--baseline", "pixels", "--format", "latex")
    said = json.loads(printed(capsys, *COMPARE, "--baseline", "pixels", "--format", "json"))
    stars = {(p["a"], p["measure"]): p["stars"] + ("" if p["sure"] else "?") for p in said["pairs"]}
    for run, *values in cells(latex):
        for name, text in zip(("AP", "nDCG@10", "NMRR"), values, strict=True):
            found = re.search(r"textsuperscript\{([*?]+)\}", text)
            assert (found.group(1) if found else "") == stars.get((run.strip(), name), "")
    assert "Stars: differs significantly from pixels." in latex


def test_letters_without_a_baseline(capsys):
    latex = printed(capsys, *COMPARE, "--format", "latex", "--show", "summary")
    said = json.loads(printed(capsys, *COMPARE, "--format", "json"))
    groups = {(s["run"], s["measure"]): s["group"] for s in said["leaderboard"]}
    for run, first, *_ in cells(latex):
        assert rf"\textsuperscript{{{groups[run.strip(), 'AP']}}}" in first


def test_marks_in_other_formats(capsys):
    shown = printed(capsys, *COMPARE, "--baseline", "pixels", "--show", "summary")
    assert re.search(r"^projection +0\.3434 \*\*\*", shown, re.MULTILINE)
    assert "* best of its column" not in shown
    markdown = printed(capsys, *COMPARE, "--show", "summary", "--format", "markdown")
    assert re.search(r"\| projection \| 0\.3434 [a-c] \|", markdown)
    table = printed(capsys, *COMPARE, "--show", "summary", "--format", "csv")
    assert table.startswith("measure,run,place,mean")


@pytest.mark.parametrize("baseline", [["--baseline", "pixels"], []])
def test_it_compiles(baseline, tmp_path, capsys):
    program = shutil.which("pdflatex") or shutil.which("tectonic")
    if program is None:
        pytest.skip("neither pdflatex nor tectonic is installed")
    strange = tmp_path / r"[a]_b&c%d#e$f^g~h{i}.json"
    strange.write_text(json.dumps({"zero-1": {"d0001": 1.0}}))
    body = printed(capsys, *COMPARE, str(strange), *baseline, "--format", "latex")
    source = tmp_path / "paper.tex"
    source.write_text(
        "\\documentclass{article}\\usepackage{booktabs}\n\\begin{document}\n"
        f"{body}\\end{{document}}\n"
    )
    more = ["-interaction=nonstopmode", "-halt-on-error"] if "pdflatex" in program else []
    done = subprocess.run(
        [program, *more, source.name],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout[-2000:]
    assert (tmp_path / "paper.pdf").stat().st_size > 1000


def test_a_caption_and_a_label_of_ones_own():
    scores = cf.evaluate({"t": {"a": 1}}, {"t": {"a": 1.0}}, "AP")
    found = scores.to_latex(caption="What 5 % means", label="tab:mine")
    assert "\\caption{What 5 \\% means}\n\\label{tab:mine}\n" in found
    assert "\\caption{Results}\n\\label{tab:results}\n" in scores.to_latex()
