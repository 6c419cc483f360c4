"""Options may stand before, after and between the files of every command."""

from itertools import chain

import pytest

from cranfield.cli import main
from cranfield.io.samples import SAMPLE

QRELS = str(SAMPLE / "qrels.txt.gz")
RUNS = [str(SAMPLE / "runs" / f"{name}.run.gz") for name in ("bits", "pca", "pixels")]
TRUTH = str(SAMPLE / "truth.csv")
LABELS = [str(SAMPLE / "labels" / f"{name}.csv.gz") for name in ("bayes", "tree")]


@pytest.mark.parametrize(
    "command, files, options",
    [
        (["eval"], [QRELS, *RUNS], [["-m", "AP"], ["--per-topic"], ["--quiet"]]),
        (["label"], [TRUTH, *LABELS], [["-m", "F.example"], ["--quiet"]]),
        (["compare"], [QRELS, *RUNS], [["-m", "AP"], ["--test", "t"], ["--baseline", "pca"]]),
        (["pool"], RUNS, [["--depth", "3"], ["--judged", QRELS]]),
        (["lab", "correlate"], [QRELS, *RUNS], [["-m", "AP RR"], ["--resamples", "5"]]),
        (["ontology", "show"], ["pto-2009", "Lake"], [["--format", "json"]]),
    ],
    ids=["eval", "label", "compare", "pool", "lab", "ontology"],
)
def test_the_place_of_an_option_does_not_matter(capsys, command, files, options):
    told = list(chain.from_iterable(options))
    between = [part for k, file in enumerate(files) for part in (file, *chain(*options[k : k + 1]))]
    outputs = []
    for argv in (told + files, files + told, between):
        assert main([*command, *argv]) == 0, argv
        outputs.append(capsys.readouterr().out)
    assert outputs[0]
    assert outputs[0] == outputs[1] == outputs[2]


def test_what_is_missing_or_unknown_is_told(capsys):
    assert main(["eval", "--per-topic", QRELS]) == 2
    assert "cranfield eval: the following arguments are required: RUN" in capsys.readouterr().err
    assert main(["ontology", "show", "pto-2009", "Lake", "--quiet", "Sky"]) == 2
    assert "unrecognized arguments: Sky" in capsys.readouterr().err
