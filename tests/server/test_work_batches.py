"""Batches from their making to a truth: pools, gold, surveys, disputes, exports."""

from __future__ import annotations

import csv
import io
import json
import re
from html import unescape

import pytest

import cranfield as cf
from cranfield.campaign.surveys.ratings import relatedness_survey
from cranfield.errors import UsageError
from cranfield.server.services import batch_factory, batch_results, batches
from cranfield.server.services.campaigns import by_slug
from tests.server.conftest import put
from tests.server.people import GOOD, add, batch, crowd_browser, next_page, save
from tests.server.world import CONCEPTS, ITEMS, labels_text


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
    assert 'href="/tiny/adjudicate/one?concept=Sky"' in page
    # One decision at a time: all of one item, then those of the next.
    decided = []
    for left in (15, 14, 13, 12):
        (name,) = set(re.findall(r'name="(d:[^"]*)" value="1"', page))
        decided.append(json.loads(unescape(name)[2:]))
        sent = browser.fill("/tiny/adjudicate/one", {unescape(name): "1", "reason": "seen"})
        assert sent.status_code == 303
        page = browser.get("/tiny/adjudicate/one").text
        assert f"{left} units are disputed" in page
    items = [item for item, _ in decided]
    assert items[0] == items[1] != items[2] == items[3]
    of_concept = browser.get("/tiny/adjudicate/one?concept=Sea&after=1").text
    (name,) = set(re.findall(r'name="(d:[^"]*)" value="1"', of_concept))
    assert json.loads(unescape(name)[2:])[1] == "Sea"
    bad = browser.fill("/tiny/adjudicate/one", {unescape(name): "7", "reason": "x"})
    assert bad.status_code == 400
    screen = browser.get("/tiny/screen/one?concept=Dog&shown=0")
    assert "8 said" in screen.text
    item = re.search(r'name="wrong" value="(\w+)"', screen.text)[1]
    form = {"concept": "Dog", "shown": "0", "wrong": item}
    assert browser.fill("/tiny/screen/one", form).status_code == 303
    assert "7 said" in browser.get("/tiny/screen/one?concept=Dog&shown=0").text


def test_a_sample_of_the_work_of_one_person_is_reviewed(site):
    """Eight forms of which half are drawn: one is confirmed, one corrected in two answers."""
    add(site, overlap=1)
    worker = crowd_browser(site)
    while (found := next_page(worker))[0] is not None:
        save(worker, *found, {"Sky": ["Sky"]})
    site.grant(site.add_person("judy"), "J")
    browser = site.browser("judy")
    assert 'href="/tiny/review/one"' in browser.get("/tiny/work").text
    (who,) = re.findall(r"<option>([^<]+)</option>", browser.get("/tiny/review/one").text)
    here = f"/tiny/review/one?who={who}&share=50"
    page = browser.get(here).text
    assert f"0 of 4 forms of {who}" in page
    hit = re.search(r'name="hit" value="(\w+)"', page)[1]
    assert browser.fill(here, {"hit": hit, "Sky": ["Sky"]}).status_code == 303
    page = browser.get(here).text
    assert f"1 of 4 forms of {who}; 0 of 3 answers corrected" in page
    hit = re.search(r'name="hit" value="(\w+)"', page)[1]
    assert browser.fill(here, {"hit": hit, "Sky": ["Sea"]}).status_code == 303
    assert f"2 of 4 forms of {who}; 2 of 6 answers corrected" in browser.get(here).text
    assert browser.fill(here, {"hit": "none", "Sky": ["Sea"]}).status_code == 400
    assert browser.get("/tiny/review/one?who=nobody").status_code == 400
    assert worker.get("/tiny/review/one").status_code == 403


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


def test_an_item_closes_when_its_answers_are_sure_enough(site):
    add(site, overlap=4, certainty=0.8, least=2, pay=0.5)

    def judge(differently=()):
        browser, items = crowd_browser(site), []
        while (found := next_page(browser))[0] is not None:
            item = re.search(r'<h2 tabindex="-1">([^<]*)</h2>', found[1])[1]
            items.append(item)
            save(browser, *found, {"Sky": ["Sea"]} if item in differently else GOOD)
        return items

    assert sorted(judge()) == sorted(ITEMS)
    board = site.browser("organiser", site.password).get("/tiny/organise/batches/one").text
    wanted = f"{2 * len(ITEMS)} to {4 * len(ITEMS)} forms"
    assert wanted in board
    assert f"({1.0 * len(ITEMS):.2f} to {2.0 * len(ITEMS):.2f})" in board
    # Two of two are 2.5/3 sure under the votes, one of two is not: only that item goes on.
    other = ITEMS[0]
    assert sorted(judge({other})) == sorted(ITEMS)
    assert judge() == [other]
    # Two of three are 2.5/4: a fourth person is asked, and four are the most.
    assert judge() == [other]
    assert judge() == []
    board = site.browser("organiser", site.password).get("/tiny/organise/batches/one").text
    assert f"{2 * len(ITEMS) + 2}, as the closed items went" in board


def test_boxes_are_judgements_and_are_downloaded_with_the_answers(site, tmp_path):
    add(site, marks="boxes", overlap=2)
    for box in ("1,2,6,4", "1,2,6,6"):
        browser = crowd_browser(site)
        where, page = next_page(browser)
        assert "data-marks=" in page
        beyond = save(browser, where, page, {"shown": ["Sky=1,2,30,4@10x10"]})
        assert beyond.status_code == 422
        assert "mark 1 is not within the picture" in unescape(beyond.text)
        where, page = next_page(browser)
        assert save(browser, where, page, {"shown": [f"Sky={box}@10x10"]}).status_code == 303
        while (found := next_page(browser))[0] is not None:
            assert save(browser, *found, {"shown": ["none"]}).status_code == 303
    organiser = site.browser("organiser", site.password)
    sent = organiser.get("/tiny/organise/batches/one/log.csv?as=answers")
    file = tmp_path / "answers.json"
    file.write_text(sent.text)
    drawn = cf.read_drawn_regions(file)
    boxes = sorted(r.boxes.tolist() for r in drawn.values())
    assert boxes == [[[1, 2, 6, 4]], [[1, 2, 6, 6]]]
    assert all(sorted(r.items) == sorted(ITEMS) for r in drawn.values())
    rows = list(
        csv.DictReader(io.StringIO(organiser.get("/tiny/organise/batches/one/log.csv").text))
    )
    assert sum(row["value"] == "1" for row in rows) == 2
    assert {row["concept"] for row in rows} == set(CONCEPTS)


def test_suggestions_are_seen_on_a_share_of_the_items_and_their_influence_is_shown(site):
    client = site.program(site.add_token(site.ann, site.one))
    put(client, "l1", labels_text(0.9), "labels", ending=".csv", threshold="0.5")
    with site.context.store.read() as connection:
        task = batch_factory._task_of_kind(connection, by_slug(connection, "tiny"), "labels")
        (name, _, _), *_ = batch_factory.accepted_runs(connection, site.context, task["id"])
    add(site, suggestions=name, suggestions_shown=0.5)
    browser, seen = crowd_browser(site), []
    while (found := next_page(browser))[0] is not None:
        suggested = re.search(r"data-suggested='([^']*)'", found[1])[1]
        seen.append(bool(json.loads(unescape(suggested))))
        save(browser, *found, GOOD)
    made = batch(site)
    assert sum(made.suggested(unit).shown for unit in made.hits.values()) == len(ITEMS) // 2
    # Of what the run is not sure of nothing is seen.
    assert 0 < sum(seen) <= len(ITEMS) // 2
    board = site.browser("organiser", site.password).get("/tiny/organise/batches/one").text
    assert "How often answers are what was suggested" in board
    with pytest.raises(UsageError, match=r"no accepted run 'NONE\.x'"):
        add(site, slug="two", suggestions="NONE.x")
