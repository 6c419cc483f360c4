"""The tables that the page on the lab shows are what its commands print."""

from pathlib import Path

import cranfield as cf
from cranfield.cli import main
from cranfield.io.samples import SAMPLE

PAGE = (Path(__file__).parents[2] / "docs" / "explanation" / "lab.md").read_text()


def test_the_table_of_a_descriptor_in_growing_collections(tmp_path, capsys):
    photos = SAMPLE.parent / "photos"
    cf.describe_pictures(photos / "pictures", "CEDD", tmp_path)
    run = tmp_path / "CEDD.run"
    run.write_bytes(cf.search(tmp_path / "CEDD.npz").to_bytes())
    arguments = ["--collection-size", "144", "-m", "AP NMRR NAR MNRO", "--quiet"]
    files = [str(photos / "qrels.txt"), str(run)]
    assert main(["lab", "generality", *files, *arguments, "--format", "markdown"]) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert len(rows) == 5
    assert "\n".join(rows) in PAGE


def test_the_table_of_random_runs(capsys):
    runs = sorted(map(str, (SAMPLE / "labels").iterdir()))
    given = ["--ontology", str(SAMPLE / "ontology.csv"), "--rules", str(SAMPLE / "rules.toml")]
    measures = "F.example OS HS AP.concept R.example"
    arguments = ["--truth", str(SAMPLE / "truth.csv"), *runs, *given, "-m", measures, "--quiet"]
    assert main(["lab", "random", *arguments, "--format", "markdown"]) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert len(rows) == 7
    assert "\n".join(rows) in PAGE
