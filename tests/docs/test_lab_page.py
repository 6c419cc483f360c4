"""The study of random runs that the page on the lab shows is what its command prints."""

from pathlib import Path

from cranfield.cli import main
from cranfield.io.samples import SAMPLE

PAGE = (Path(__file__).parents[2] / "docs" / "explanation" / "lab.md").read_text()


def test_the_table_of_random_runs(capsys):
    runs = sorted(map(str, (SAMPLE / "labels").iterdir()))
    given = ["--ontology", str(SAMPLE / "ontology.csv"), "--rules", str(SAMPLE / "rules.toml")]
    measures = "F.example OS HS AP.concept R.example"
    arguments = ["--truth", str(SAMPLE / "truth.csv"), *runs, *given, "-m", measures, "--quiet"]
    assert main(["lab", "random", *arguments, "--format", "markdown"]) == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if line.startswith("|")]
    assert len(rows) == 7
    assert "\n".join(rows) in PAGE
