"""The round of the page on annotating is run as it stands; three people fill in the form."""

import json
import re
import shlex
import shutil
from pathlib import Path

import numpy as np

from cranfield.campaign.sheet_maker import make_sheet
from cranfield.campaign.sheets import Filled, response_of
from cranfield.cli import main
from cranfield.data.labels import dense
from cranfield.io.annotations import read_truth
from cranfield.io.samples import SAMPLE

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "annotate.md"


def fill_in(folder: Path) -> None:
    """Three people who know the digits and overlook something now and then."""
    sheet = make_sheet(folder / "digits", split="agreement", first=20, title="Digits")
    truth = read_truth(folder / "digits" / "truth.csv")
    labels = dense(truth.labels).astype(bool)
    form = sheet.forms["form"]
    for number, name in enumerate(("ada", "ben", "cem")):
        draw = np.random.default_rng(number)
        filled = []
        for unit in sheet.units:
            row = labels[truth.items.index(unit.name)]
            true = {c for c, there in zip(truth.concepts, row, strict=True) if there}
            answers = {}
            for question in form.questions():
                own = [v for v in question.values if v in true]
                if question.kind == "any" and draw.random() < 0.15:
                    own = []
                if own:
                    answers[question.name] = own
                elif question.none:
                    answers[question.name] = ["none"]
            if draw.random() < 0.2 and not form.check({**answers, "HasLoop": ["none"]}):
                answers["HasLoop"] = ["none"]
            seconds = float(np.round(draw.uniform(4, 12), 1))
            filled.append(Filled(unit.name, answers, seconds=seconds))
        said = response_of(sheet, name, filled).to_dict()
        (folder / f"answers-{name}.json").write_text(json.dumps(said))


def test_the_round_prints_what_the_page_shows(tmp_path, monkeypatch, capsys):
    shutil.copytree(SAMPLE, tmp_path / "digits")
    monkeypatch.chdir(tmp_path)
    fill_in(tmp_path)
    text = PAGE.read_text()
    part = text[text.index("## A whole round") : text.index("## On the site")]
    blocks = re.findall(r"```console\n\$ cranfield (.*?)\n(.*?)```", part, re.DOTALL)
    assert len(blocks) == 5
    for command, shown in blocks:
        capsys.readouterr()
        assert main(shlex.split(command)) == 0, command
        if shown:
            assert capsys.readouterr().out.strip() == shown.strip(), command
    assert (tmp_path / "form.html").stat().st_size > 10_000
