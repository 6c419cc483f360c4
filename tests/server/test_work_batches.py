"""Batches from their making to a truth: pools, gold, surveys, disputes, exports."""

from __future__ import annotations

import csv
import io
import json
import re

import pytest

from cranfield.campaign.surveys.rated import relatedness_survey
from cranfield.server.services import batch_results, batches
from cranfield.server.services.campaigns import by_slug
from tests.server.people import GOOD, add, batch, crowd_browser, next_page, save
from tests.server.world import CONCEPTS, ITEMS


def test_a_pool_is_judged_blind_and_becomes_the_truth_of_its_task(site):
    add(site, "relevance", "pool", depth=2)
    browser = crowd_browser(site, "pool")
    texts = []
    while (found := next_page(browser, "pool"))[0] is not None:
        where, page = found
        texts.append(page)
        assert save(browser, where, page, {"grade": "2"}).status_code == 303
    assert len(texts) == 6
    for page in texts:
        for word in ("HOUSE", "base", "rank", "best_rank", "weight"):
            assert word not in page
        assert "About t" in page
    organiser = site.browser("organiser", site.password)
    here = "/tiny/organise/batches/pool"
    sure = {"method": "majority", "sure": "replace", "password_again": site.password}
    for end in ("closed", "merged"):
        sent = organiser.fill(f"{here}/state", {"to": end} | sure, page=here)
        assert sent.status_code == 303, sent.text
    with site.context.store.read() as connection:
        from sqlalchemy import select

        from cranfield.server.store.tables import truth_version

        row = connection.execute(
            select(truth_version).where(truth_version.c.source == "batch pool")
        ).one()
    text = (site.settings.sealed / row.file).read_text()
    assert text.count("\n") == 6
    assert text.startswith("t1 0 d")


def test_disputes_are_decided_without_names_and_stand_above_votes(site):
    add(site, overlap=2)
    for answers in ({"Sky": ["Sky"]}, {"Sky": ["Sea"]}):
        browser = crowd_browser(site)
        while (found := next_page(browser))[0] is not None:
            save(browser, *found, answers)
    judge = site.add_person("judy")
    site.grant(judge, "J")
    browser = site.browser("judy")
    page = browser.get("/tiny/adjudicate/one").text
    assert re.search(r"\(\d said so; probability \d+ %\)", page)
    assert "16 units are disputed" in page
    assert "crowd-0" not in page
    names = re.findall(r'name="(d:[^"]*)" value="1"', page)
    from html import unescape

    given = {unescape(name): "1" for name in names[:4]}
    sent = browser.fill("/tiny/adjudicate/one", given | {"reason": "seen"})
    assert sent.status_code == 303
    assert "12 units are disputed" in browser.get("/tiny/adjudicate/one").text
    bad = browser.fill("/tiny/adjudicate/one", {next(iter(given)): "7", "reason": "x"})
    assert bad.status_code == 400
    screen = browser.get("/tiny/screen/one?concept=Dog&shown=0")
    assert "8 said" in screen.text
    item = re.search(r'name="wrong" value="(\w+)"', screen.text)[1]
    form = {"concept": "Dog", "shown": "0", "wrong": item}
    assert browser.fill("/tiny/screen/one", form).status_code == 303
    assert "7 said" in browser.get("/tiny/screen/one?concept=Dog&shown=0").text


def test_a_survey_by_its_link_gives_the_tables_of_the_paper(site):
    add(site, "measures", "survey", questions=2)
    organiser = site.browser("organiser", site.password)
    here = "/tiny/organise/batches/survey"
    made = organiser.fill(f"{here}/people", {"kind": "survey"}, page=here)
    link = "/" + re.search(r"tiny/survey/[\w-]+", made.text)[0]
    for age in ("21", "23"):
        browser = site.browser()
        assert "search for faces" in browser.get(link).text
        assert "needs a number" in browser.fill(link, {"education": "student"}).text
        begun = browser.fill(link, {"age": age, "education": "student"})
        assert begun.headers["location"] == "/tiny/work/survey"
        while (found := next_page(browser, "survey"))[0] is not None:
            where, page = found
            assert "NMRR" not in page
            save(browser, where, page, {"methods": "Method 1"})
    counted = organiser.get(f"{here}/survey").text
    assert "Who answered" in counted
    assert "22.0000" in counted
    data = organiser.get(f"{here}/survey", headers={"Accept": "application/json"}).json()
    assert data["respondents"]["people"] == 2
    assert sum(c["votes"] for c in data["choices"]) >= 4
    assert site.browser().get("/tiny/survey/nothing").status_code == 404


def test_logs_are_downloaded_under_pseudonyms(site):
    add(site)
    browser = crowd_browser(site)
    save(browser, *next_page(browser), GOOD)
    organiser = site.browser("organiser", site.password)
    text = organiser.get("/tiny/organise/batches/one/log.csv").text
    rows = list(csv.DictReader(io.StringIO(text)))
    assert {row["annotator"] for row in rows} == {"crowd-001"}
    assert len(rows) == len(CONCEPTS)


def test_an_export_holds_the_work_and_nobody(site, tmp_path):
    from cranfield.server.services.work_export import export_work

    add(site)
    add(site, "relevance", "pool", depth=2)
    add(site, "measures", "survey", questions=1)
    for slug, answers in (
        ("one", GOOD),
        ("pool", {"grade": "1"}),
        ("survey", {"methods": "Method 1"}),
    ):
        browser = crowd_browser(site, slug)
        save(browser, *next_page(browser, slug), answers)
    folders = [tmp_path / name for name in ("a", "b")]
    for folder in folders:
        folder.mkdir()
        with site.context.store.read() as connection:
            export_work(connection, site.context, by_slug(connection, "tiny"), folder)
    names = {p.relative_to(folders[0]).as_posix() for p in folders[0].rglob("*") if p.is_file()}
    assert names == {
        "work/one/log.csv",
        "work/pool/log.csv",
        "work/pool/pool.csv",
        "work/survey/key.json",
        "work/survey/answers.json",
        "work/survey/counted.json",
    }
    for name in names:
        assert (folders[0] / name).read_bytes() == (folders[1] / name).read_bytes()
    assert "crowd-001" in (folders[0] / "work/one/log.csv").read_text()


def test_offline_answers_and_the_sites_give_the_same_log_but_for_times_and_ids(site, tmp_path):
    """The same person, the same answers: through the page of the site and through the file."""
    from cranfield.campaign.annotation_task import UnitAnswers, make_sheet, response_of
    from cranfield.campaign.responses import read_forms

    add(site)
    answers = {item: ["Sky"] if k % 2 else ["Sea", "Dog"] for k, item in enumerate(ITEMS)}
    browser = crowd_browser(site)
    while (found := next_page(browser))[0] is not None:
        item = re.search(r"<h2[^>]*>([^<]*)</h2>", found[1])[1]
        save(browser, *found, {"Sky": answers[item]})
    sheet = make_sheet(site.settings.public / "tiny")
    filled = [UnitAnswers(item, {"Sky": said}, seconds=1.0) for item, said in answers.items()]
    file = tmp_path / "answers.json"
    file.write_text(json.dumps(response_of(sheet, "crowd-001", filled).to_dict()))
    with site.context.store.read() as connection:
        served = batch_results.collect_forms(connection, batch(site)).log
    offline = read_forms([file]).log
    assert sorted(r[:4] for r in served.rows()) == sorted(r[:4] for r in offline.rows())


def test_known_answers_are_counted_and_who_misses_them_gets_no_more(site):
    survey = relatedness_survey([("a", "b"), ("c", "d"), ("e", "f")], attention=3)
    same = {u: {"rating": "4"} for u, (a, b) in survey.key["pairs"].items() if a == b}

    def write(connection):
        where = by_slug(connection, "tiny")["id"]
        planned = {"overlap": 2, "gold": 0.5, "trial": 2, "qualification": 0.7}
        batches.add_batch(
            connection,
            site.context,
            "test",
            where,
            survey.sheet,
            slug="gold",
            kind="ratings",
            gold_answers=same,
            **planned,
        )
        found = batches.read_batch(connection, where, "gold")
        batches.set_state(connection, site.context, "test", found.row, "running")

    site.context.store.write(write)
    done = {}
    for rating in ("4", "0"):
        browser = crowd_browser(site, "gold")
        done[rating] = 0
        while (found := next_page(browser, "gold"))[0] is not None:
            save(browser, *found, {"rating": rating})
            done[rating] += 1
    assert done["0"] < done["4"]
    organiser = site.browser("organiser", site.password)
    board = organiser.get("/tiny/organise/batches/gold").text
    assert "0 of 2" in board


@pytest.mark.parametrize("kind", ["labels", "relevance", "measures", "nonsense"])
def test_batches_are_made_on_a_page(site, kind):
    organiser = site.browser("organiser", site.password)
    here = "/tiny/organise/batches"
    sent = organiser.fill(here, {"kind": kind, "slug": "x", "overlap": "2", "depth": "3"})
    if kind == "nonsense":
        assert "A batch is one of" in sent.text
        return
    assert sent.status_code == 303, sent.text
    assert organiser.get(f"{here}/x").status_code == 200
    again = organiser.fill(here, {"kind": kind, "slug": "x"})
    assert "already" in again.text
    assert (
        "is not a number" in organiser.fill(here, {"kind": kind, "slug": "y", "pay": "much"}).text
    )


def test_agreement_is_told_over_time_with_intervals(site):
    add(site, overlap=3)
    for ticked in (["Sky"], ["Sky", "Dog"], ["Sky"]):
        browser = crowd_browser(site)
        while (found := next_page(browser))[0] is not None:
            item = re.search(r"<h2[^>]*>([^<]+)</h2>", found[1])[1]
            save(browser, *found, {"Sky": ticked if int(item[1:]) % 2 else ["Sea"]})
            site.time += 1000
    organiser = site.browser("organiser", site.password)
    page = organiser.get("/tiny/agreement/one").text
    assert "Agreement over time" in page
    assert "<svg" in page
    rows = re.findall(
        r'<tr><td class="n">(\d+)</td><td class="n">([\d.-]+)</td><td>(.*?)</td>', page
    )
    assert [int(forms) for forms, *_ in rows][-1] == 24
    assert len(rows) > 2
    low, high = map(float, rows[-1][2].split(" to "))
    assert low <= float(rows[-1][1]) <= high


def test_a_screening_grid_goes_on_and_corrects(site, monkeypatch):
    """Thesis 10.3.1: first the items that are said to show a concept, a few at a time."""
    monkeypatch.setattr("cranfield.server.routes.annotation.GRID_SHOWN", 3)
    add(site)
    browser = crowd_browser(site)
    while (found := next_page(browser))[0] is not None:
        save(browser, *found, {"Sky": ["Sky"]})
    organiser = site.browser("organiser", site.password)
    here = "/tiny/screen/one?concept=Sky&shown=1"
    seen = []
    for after in (0, 3, 6):
        page = organiser.get(f"{here}&after={after}").text
        seen += re.findall(r'name="wrong" value="([^"]+)"', page)
        assert ("Next" in page) == (after < 6)
        assert ("Before" in page) == (after > 0)
    assert sorted(seen) == sorted(ITEMS)
    data = {"concept": "Sky", "shown": "1", "after": "3", "wrong": seen[3]}
    sent = organiser.fill("/tiny/screen/one", data, page=here)
    assert sent.headers["location"].endswith("after=3")
    assert f'value="{seen[3]}"' not in organiser.get(sent.headers["location"]).text
    assert f'value="{seen[3]}"' in organiser.get("/tiny/screen/one?concept=Sky&shown=0").text
