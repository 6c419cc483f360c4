"""Tutorial and README as a new user types them: every command works and prints what is shown."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from cranfield.cli import demo
from cranfield.io import read_qrels
from cranfield.io.collection import read_collection
from cranfield.io.judgement_log import read_judgement_log
from cranfield.io.samples import SAMPLE

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "tutorial.md").read_text()
README = (ROOT / "README.md").read_text()


def steps(page: str) -> list[tuple[str, str]]:
    """Pairs of a command and the output that a page shows after it (nothing: not shown)."""
    found = []
    for block in re.findall(r"```console\n(.*?)```", page, flags=re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, shown = part.partition("\n")
            found.append((command, shown))
    return found


# The random run has items that the pool of the other runs has not.
WITH_RANDOM = (
    'cranfield eval digits/qrels.txt.gz digits/runs/*.run.gz -m "AP nDCG@10 RR"',
    'cranfield eval digits/qrels.txt.gz digits/runs/*.run.gz -m "AP nDCG@10 P@10"',
    "cranfield eval digits/qrels.txt.gz digits/runs/*.run.gz --per-topic --format csv "
    "-o scores.csv",
    "cranfield compare digits/qrels.txt.gz digits/runs/*.run.gz -m AP --baseline pixels "
    "--design digits/design.csv",
    'cranfield compare digits/qrels.txt.gz digits/runs/*.run.gz -m "AP nDCG@10" --show leaderboard '
    "--design digits/design.csv",
    "cranfield compare digits -m AP",
    'cranfield lab correlate digits/qrels.txt.gz digits/runs/*.run.gz -m "AP nDCG@10 RR"',
    'cranfield lab stability digits/qrels.txt.gz digits/runs/*.run.gz -m "AP RR" --repeats 2',
    "cranfield report site digits -o site",
    "cranfield report errors digits --kind ranked",
)
# What commands of the pages notice about the sample collection.
TOLD = {
    "cranfield eval digits/qrels.txt.gz digits/runs/pca.run.gz -m image --collection-size 1120": [
        "warning: pca: does not retrieve 3647 of 8960 relevant items, which --missing worst "
        "places for NAR, MNRO"
    ],
} | {
    command: ["warning: random: 87 % of the first 10 items are unjudged"] for command in WITH_RANDOM
}


@pytest.mark.parametrize("page", [PAGE, README], ids=["tutorial", "README"])
def test_every_command_prints_what_the_page_shows(tmp_path, page):
    cranfield = f'cranfield() {{ "{sys.executable}" -m cranfield "$@"; }}\n'
    assert len(steps(page)) > 8
    for command, shown in steps(page):
        done = subprocess.run(
            ["bash", "-c", cranfield + command],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=120,
        )
        told = [line for line in done.stderr.splitlines() if not line.startswith("wrote ")]
        assert (done.returncode, told) == (0, TOLD.get(command, [])), command
        if shown:
            assert done.stdout == shown, command


def test_the_python_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    demo.main(["--copy", "digits"])
    blocks = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert len(blocks) == 2
    for block in blocks:
        exec(compile(block, "README.md", "exec"), {})


def test_the_lines_of_files_are_real():
    assert read_qrels(SAMPLE / "qrels.txt.gz").to_dict()["zero-1"]["d0646"] == 2
    assert "zero-1 0 d0646 2  " in PAGE


def test_the_readme_counts_what_the_collection_has():
    held = read_collection(SAMPLE)
    annotators = len(read_judgement_log(held.judgement_log).annotators)
    words = {7: "seven", 8: "eight", 13: "thirteen"}
    assert f"{len(read_qrels(held.judgements).to_dict())} topics" in README
    assert f"{words[len(held.runs)]} retrieval systems" in README
    assert f"{words[len(held.label_runs)]} annotation runs" in README
    assert f"{words[annotators]} simulated annotators" in README
