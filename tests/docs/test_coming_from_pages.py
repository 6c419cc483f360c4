"""The tables of names for people who come from other tools, and the cheat sheet."""

import argparse
import re
import shlex
from pathlib import Path

import numpy as np
import pytest

import cranfield as cf
from cranfield.cli import find_command, parser_of

DOCS = Path(__file__).parents[2] / "docs" / "how-to"
TEXT = (DOCS / "coming-from.md").read_text()
SHEET = (DOCS / "cheat-sheet.md").read_text()


def rows(head):
    """The rows of the table with this first column: what stands in code in both columns."""
    body = TEXT.split(f"| {head} | here |\n|---|---|\n")[1].split("\n\n")[0]
    return re.findall(r"^\| `(.+?)` \| `(.+?)` \|$", body, flags=re.MULTILINE)


NAMES = [
    (head, *row) for head in ("trec_eval's measure", "ranx's metric", "BEIR") for row in rows(head)
]


@pytest.mark.parametrize("head, theirs, ours", NAMES, ids=[f"{h} {t}" for h, t, _ in NAMES])
def test_their_name_means_what_the_table_says(head, theirs, ours):
    assert str(cf.measure(ours)) == ours
    judgements = {"a": {"x": 1, "y": 2, "z": 0}, "b": {"x": 1}}
    run = {"a": {"z": 3.0, "y": 2.0, "x": 1.0}, "b": {"y": 2.0, "x": 1.0}}
    scores = cf.evaluate(judgements, run, [theirs])
    assert scores.mean() == cf.evaluate(judgements, run, [ours]).mean()


def test_the_tables_are_long_enough():
    assert len(rows("trec_eval's measure")) >= 20
    assert len(rows("ranx's metric")) >= 10
    assert len(rows("scikit-learn")) >= 14


def both(theirs, truth, predicted, sure):
    from sklearn import metrics

    name, _, given = theirs.partition("(")
    options = dict(re.findall(r"(\w+)='(\w+)'", given))
    ranked = name in (
        "roc_auc_score",
        "average_precision_score",
        "label_ranking_loss",
        "label_ranking_average_precision_score",
    )
    if name in ("precision_score", "recall_score", "f1_score", "jaccard_score"):
        options["zero_division"] = 0
    return getattr(metrics, name)(truth, sure if ranked else predicted, **options)


@pytest.mark.parametrize("theirs, ours", rows("scikit-learn"))
def test_scikit_learn_gives_the_same_value(theirs, ours):
    rng = np.random.default_rng(4)
    truth = rng.random((40, 6)) < 0.4
    truth[:, 0], truth[0] = True, [True, False, True, False, False, True]
    truth[1:3, 0] = False
    truth[~truth.any(axis=1), 1] = True
    sure = np.clip(0.35 * truth + 0.6 * rng.random((40, 6)), 0, 1)
    run = cf.LabelMatrix.of(sure).with_threshold(0.5)
    found = cf.evaluate_labels(cf.LabelMatrix.of(truth), {"run": run}, [ours]).mean()["run"][ours]
    assert found == pytest.approx(both(theirs, truth, np.asarray(run.labels), sure), abs=1e-9)


def test_what_the_cheat_sheet_names_is_there():
    commands = re.findall(r"`cranfield (.*?)`", SHEET)
    assert [c for c in commands if not find_command(shlex.split(c))[0]] == []
    for name in re.findall(r"cf\.(\w+)", SHEET):
        assert hasattr(cf, name), name
    for name in re.findall(r"cf\.lab\.(\w+)", SHEET):
        assert hasattr(cf.lab, name), name
    for name in re.findall(r"`scores\.(\w+)", SHEET):
        assert hasattr(cf.Scores, name), name


def test_options_of_the_cheat_sheet_are_known():
    for line in re.findall(r"`cranfield (.*?)`", SHEET):
        command, words = find_command(shlex.split(line))
        parser = parser_of(command)
        shown = parser.format_help() + "".join(
            sub.format_help()
            for action in parser._actions
            if isinstance(action, argparse._SubParsersAction)
            for sub in action.choices.values()
        )
        for word in words:
            if word.startswith("-"):
                assert word in shown, (line, word)
