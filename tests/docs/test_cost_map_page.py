"""Commands and Python of the how-to on cost maps run on small files of the kinds it names."""

import gzip
import re
import shlex
from pathlib import Path

import pytest

from cranfield.cli import main

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "cost-maps.md").read_text()
FILES = {
    "concepts.csv": "concept\nSea\nLake\nPartylife\n",
    "tags.csv": "item,tags\n1,sea lake\n2,sea beach\n3,lake partylife\n4,sea lake beach\n",
    "pairs.csv": "word1,word2,human\nriver,sea,3\nriver,car,0.2\nlake,sea,3.2\ncar,bus,2.9\n",
    "truth.csv": "item,Sea,Lake,Partylife\na,1,0,0\nb,0,1,1\n",
    "run.csv": "item,Sea,Lake,Partylife\na,0.1,0.9,0\nb,0,1,1\n",
    "counts.csv": "# total: 9\nterm,with,count\nsea,,3\nbeach,,2\nsea,beach,1\n",
}


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        Path(name).write_text(text)
    with gzip.open("links.tsv.gz", "wt") as links:
        links.write("source\ttarget\nA\tSea\nB\tSea\nB\tLake\nC\tLake\nC\tPartylife\n")


def blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, flags=re.DOTALL)


@pytest.mark.wordnet
def test_every_command_of_the_page_works(capsys):
    commands = [
        shlex.split(line.removeprefix("$ cranfield "), posix=True)
        for block in blocks("console")
        for line in block.replace("\\\n", " ").splitlines()
        if line.startswith("$ cranfield ") and "--provider" not in line
    ]
    assert len(commands) == 12
    for argv in commands:
        assert main(argv) == 0, argv
        told = capsys.readouterr().err
        assert not told or told.startswith("wrote "), argv


@pytest.mark.wordnet
def test_the_python_of_the_page_runs():
    (block,) = blocks("python")
    exec(compile(block, "cost-maps.md", "exec"), {})
    assert Path("jcn.csv").read_text().startswith("concept,Sea,Lake,Partylife\n")
