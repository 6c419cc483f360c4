"""The round of the page on annotating is run as it stands; three people fill in the form."""

import json
import re
import shlex
import shutil
import sys
from pathlib import Path

import numpy as np

from cranfield.campaign.annotation_task import UnitAnswers, make_sheet, response_of
from cranfield.cli import main
from cranfield.data.labels import dense
from cranfield.io.labels import read_truth
from cranfield.io.samples import SAMPLE
from tests.server.process import served, stopped
from tests.server.world import Browser

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
            filled.append(UnitAnswers(unit.name, answers, seconds=seconds))
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


def organise(browser: Browser) -> list[str]:
    """What the page says in words: a batch that runs, two links for workers and a token."""
    here = "/digits/organise/batches"
    made = {"kind": "labels", "slug": "first", "split": "agreement", "first": "20", "overlap": "3"}
    assert browser.fill(here, made).status_code == 303
    browser.fill(f"{here}/first/state", {"to": "running"}, page=f"{here}/first")
    found = []
    for kind, count in (("crowd", "2"), ("model", "1")):
        given = {"kind": kind, "count": count}
        text = browser.fill(f"{here}/first/people", given, page=f"{here}/first").text
        found += re.findall(r"cw_[\w-]+", text)
    return found


def work(address: str, link: str) -> int:
    """Somebody does all forms at a link, by the page and without a script."""
    done = 0
    with Browser(address) as browser:
        browser.get(f"/digits/enter/{link}")
        while True:
            sent_on = browser.get("/digits/work/first")
            if sent_on.status_code != 303:
                return done
            where = sent_on.headers["location"]
            page = browser.get(where).text
            names = dict.fromkeys(re.findall(r'type="radio"[^>]* name="([^"]+)"', page))
            answers = {
                name: re.search(rf'name="{re.escape(name)}" value="([^"]+)"', page)[1]
                for name in names
            }
            hidden = {
                name: re.search(rf'name="{name}" value="([^"]*)"', page)[1]
                for name in ("csrf", "client_key")
            }
            assert browser.post(where, data=hidden | answers).status_code == 303
            done += 1


def test_the_round_on_the_site_runs_as_the_page_shows_it(tmp_path, monkeypatch, capsys):
    shutil.copytree(SAMPLE, tmp_path / "digits")
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text()
    part = text[text.index("### A round on the site") : text.index("## Hand it to a crowd")]
    program = re.search(r"```python\n(.*?)```", part, re.DOTALL)[1]
    (tmp_path / "my_judge.py").write_text(program)
    blocks = re.findall(r"```console\n(.*?)```", part, re.DOTALL)
    commands = [line[2:] for block in blocks for line in block.splitlines() if line[:2] == "$ "]
    start, serve, judge, curl, *after = commands
    assert main(shlex.split(start)[1:]) == 0
    words = shlex.split(serve.removeprefix("cranfield ").replace("8000", "0"))
    process, address, printed = served(words if "--port" in words else [*words, "--port", "0"])
    password = re.search(r"\(shown once\): (\S+)", printed)[1]
    try:
        with Browser(address) as browser:
            browser.log_in("organiser", password)
            *links, token = organise(browser)
            monkeypatch.setenv("CRANFIELD_TOKEN", token)
            capsys.readouterr()
            asked = judge.replace("http://127.0.0.1:8000", address)
            asked = asked.replace("python ", f"'{sys.executable}' ")
            assert main(shlex.split(asked)[1:]) == 0
            shown = blocks[1].partition("\n")[2]
            assert capsys.readouterr().out.strip() == shown.strip()
            assert [work(address, link) for link in links] == [20, 20]
            log = browser.get(curl.rpartition(":8000")[2])
            (tmp_path / curl.split("-o ")[1].split()[0]).write_bytes(log.content)
    finally:
        stopped(process)
    for command in after:
        assert main(shlex.split(command)[1:]) == 0, command
    assert (tmp_path / "truth.csv").read_text().startswith("item,concept,value")
