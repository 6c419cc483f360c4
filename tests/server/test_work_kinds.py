"""Every kind of batch on the organiser's page: surveys of all kinds, gold, gates, growing pools."""

from __future__ import annotations

import base64
import json
import re

import numpy as np
import pytest
from sqlalchemy import select

import cranfield as cf
from cranfield.campaign.next_judgements import read_ledger
from cranfield.campaign.surveys.preference import LAST
from cranfield.campaign.surveys.ratings import association_survey
from cranfield.data.item_vectors import ItemVectors
from cranfield.io.files import Input
from cranfield.io.samples import sample_folder
from cranfield.server.services import batch_factory
from cranfield.server.services.importing import import_collection
from cranfield.server.store.tables import audit as audit_table
from cranfield.site.work_pages import sheet_page
from tests.campaign.test_people_surveys import concept_sets
from tests.server.people import batch, crowd_browser, next_page, save
from tests.server.world import DAY, ITEMS, TOPICS, run_text

HERE = "/tiny/organise/batches"
PICTURE = "data:image/png;base64," + base64.b64encode(b"\x89PNG not really").decode()
PAIRS = b"word1,word2\nsea,ship\nsea,desert\nship,anchor\n"
CATEGORIES = b"category,parent\nanything,\nsailing,anything\nrowing,anything\n"


def added(site, kind, files=None, **fields):
    """A batch made on the page, started; gives the organiser's browser."""
    organiser = site.browser("organiser", site.password)
    sent = organiser.fill(HERE, {"kind": kind, "slug": "one", **fields}, files=files)
    assert sent.status_code == 303, sent.text
    moved = organiser.fill(f"{HERE}/one/state", {"to": "running"}, page=f"{HERE}/one")
    assert moved.status_code == 303, moved.text
    return organiser


def answered(site, organiser, answer, people=2):
    """What the site counts after some people have answered a survey by its link."""
    page = organiser.fill(f"{HERE}/one/people", {"kind": "survey"}, page=f"{HERE}/one").text
    link = re.search(r"(/tiny/survey/[A-Za-z0-9_-]+)", page)[1]
    found = batch(site)
    for person in range(people):
        browser = site.browser()
        begun = browser.fill(link, {"age": "30", "education": "student"} if found.about else {})
        assert begun.status_code == 303
        while (step := next_page(browser))[0] is not None:
            unit = re.search(r'data-unit="([^"]+)"', step[1])[1]
            name = str(found.hits[unit]["item"])
            assert save(browser, *step, answer(person, name)).status_code == 303
    headers = {"Accept": "application/json"}
    return organiser.get(f"{HERE}/one/survey", headers=headers).json()


def test_words_are_rated_and_a_word_is_related_to_itself(site):
    organiser = added(site, "relatedness", {"file": ("pairs.csv", PAIRS)})
    same = {u for u, (a, b) in batch(site).key["pairs"].items() if a == b}
    counted = answered(
        site, organiser, lambda person, u: {"rating": "4" if u in same else str(person)}
    )
    means = {(r["word1"], r["word2"]): r["human"] for r in counted["rows"]}
    assert means["sea", "ship"] == means["sea", "desert"] == 0.5
    assert counted["respondents"]["people"] == 2


def test_items_are_put_into_categories(site):
    organiser = added(site, "categories", {"file": ("c.csv", CATEGORIES)})
    counted = answered(site, organiser, lambda *_: {"category": "sailing"})
    assert {r["item"] for r in counted["rows"]} == set(ITEMS)
    assert {r["category"] for r in counted["rows"]} == {"sailing"}


def test_lists_of_the_runs_are_rated(site):
    program = site.program(site.add_token(site.ann, site.one))
    about = {"conf": "V", "about": "words"}
    put = program.put("/tasks/ranked/runs/r", params=about, content=run_text().encode())
    assert put.status_code == 201
    organiser = added(site, "rankings", depth="2")
    counted = answered(site, organiser, lambda *_: {"rating": "2"}, people=1)
    assert len(counted["rows"]) == 6
    assert {r["significance"] for r in counted["rows"]} == {0.5}


def test_a_survey_of_concept_sets_that_was_made_elsewhere(site):
    from cranfield.campaign.surveys.preference import make_concept_survey

    truth, runs, costs = concept_sets()
    survey = make_concept_survey(
        truth, runs, "SRP", alike="Rprec.example", costmap=costs, questions=3, rng=4
    )
    content = json.dumps(survey.to_dict()).encode()
    organiser = added(site, "survey", {"file": ("key.json", content)})
    assert batch(site).kind == "preference"

    def answer(_, unit):
        if unit == LAST:
            return {"words": "all of it"}
        shown = {system: s for s, system in survey.key["key"][unit].items()}
        return {"better": shown["one"]}

    counted = answered(site, organiser, answer)
    assert [list(row["votes"].values()) for row in counted["rows"]] == [[2, 0, 0]] * 3
    page = organiser.get(f"{HERE}/one/survey").text
    assert "all of it" in page or "correct matches" in page


def test_neighbours_in_an_index_with_their_pictures(site):
    draw = np.random.default_rng(1)
    index = ItemVectors.of(list(ITEMS), draw.normal(size=(8, 4)))
    survey = association_survey(index, pairs=4, near=2, pictures=dict.fromkeys(ITEMS, PICTURE))
    content = json.dumps(survey.to_dict()).encode()
    organiser = added(site, "survey", {"file": ("key.json", content)})
    near = {u for u, row in survey.key["pairs"].items() if row[2] == "near"}
    counted = answered(site, organiser, lambda _, u: {"rating": "4" if u in near else "0"})
    assert counted["told"] == 1.0
    browser = crowd_browser(site)
    _, page = next_page(browser)
    shown = re.findall(r'<img src="([^"]+)"', page)
    shown = [address for address in shown if "/picture" in address]
    assert [s.rsplit("/", 1)[1] for s in shown] == ["picture", "picture?which=second"]
    for address in shown:
        got = browser.get(address)
        assert got.headers["content-type"] == "image/png"
        assert got.content == b"\x89PNG not really"
    # The key never leaves the organiser's pages.
    assert "near" not in page
    assert sheet_page(survey.sheet)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"not json", "not JSON"),
        (b"[]", "is not the key.json"),
        (b'{"survey": "measures"}', "is not the key.json"),
    ],
)
def test_a_file_that_is_no_survey_is_refused(site, content, said):
    organiser = site.browser("organiser", site.password)
    sent = organiser.fill(
        HERE, {"kind": "survey", "slug": "x"}, files={"file": ("key.json", content)}
    )
    assert (sent.status_code, said in sent.text) == (400, True)
    sent = organiser.fill(HERE, {"kind": "survey", "slug": "x"})
    assert "Send the key.json" in sent.text


def test_a_picture_that_could_run_a_script_is_refused(site):
    index = ItemVectors.of(list(ITEMS), np.eye(8))
    shown = dict.fromkeys(ITEMS, "data:image/svg+xml;base64,PHN2Zz4=")
    survey = association_survey(index, pairs=2, near=1, pictures=shown)
    content = json.dumps(survey.to_dict()).encode()
    organiser = site.browser("organiser", site.password)
    sent = organiser.fill(
        HERE, {"kind": "survey", "slug": "x"}, files={"file": ("key.json", content)}
    )
    assert "PNG, JPEG, GIF or WebP" in sent.text


def test_gold_and_qualification_from_the_page(site):
    """Whoever has too few of the known labels right is given nothing more."""
    answers = {item: [k % 2, 0, int(k > 3)] for k, item in enumerate(ITEMS)}
    rows = "".join(f"{i},{','.join(map(str, row))}\n" for i, row in list(answers.items())[:3])
    known = {"file": ("known.csv", f"item,Sky,Sea,Dog\n{rows}".encode())}
    plan = {"overlap": "3", "gold": "0.5", "trial": "3", "qualification": "0.9"}
    organiser = added(site, "labels", known, **plan)
    done = {}
    for careful in (True, False):
        browser, count = crowd_browser(site), 0
        while (step := next_page(browser))[0] is not None:
            item = re.search(r"<h2[^>]*>([^<]+)</h2>", step[1])[1]
            shown = zip(("Sky", "Sea", "Dog"), answers[item], strict=True)
            ticked = [concept for concept, on in shown if bool(on) is careful]
            save(browser, *step, {"Sky": ticked})
            count += 1
        done[careful] = count
    assert done[True] > done[False]
    board = organiser.get(f"{HERE}/one").text
    assert re.search(r"<td>0 of \d+</td>", board)
    assert re.search(r"(\d+) of \1\b", board)
    fields = {"kind": "labels", "slug": "y", "gold": "0.2"}
    assert "needs a file of labels" in organiser.fill(HERE, fields).text
    unsure = {"file": ("known.csv", b"item,Sky,Sea,Dog\nd0,0.5,0.1,0.3\n")}
    assert "0 and 1, not confidences" in organiser.fill(HERE, fields, files=unsure).text


def test_a_form_below_a_concept_that_items_are_known_to_have(site):
    """Thesis 10.3.2: at least one, another in words, or none shown."""
    dates = {"opens": site.now, "closes": site.now + DAY}
    import_collection(site.context, sample_folder("digits"), name="digits", **dates)
    organiser = site.browser("organiser", site.password)
    here = "/digits/organise/batches"
    items = (sample_folder("digits") / "splits" / "agreement.txt").read_text().split()[:4]
    labels = "item,Even,Odd\n" + "".join(f"{i},{k % 2},{1 - k % 2}\n" for k, i in enumerate(items))
    sent = organiser.fill(
        here,
        {"kind": "labels", "slug": "even", "split": "agreement", "below": "Even"},
        files={"file": ("known.csv", labels.encode())},
    )
    assert sent.status_code == 303, sent.text
    with site.context.store.read() as connection:
        from cranfield.server.services import batches
        from cranfield.server.services.campaigns import by_slug

        found = batches.read_batch(connection, by_slug(connection, "digits")["id"], "even")
    assert sorted(str(u["item"]) for u in found.hits.values()) == sorted(items[1::2])
    form = next(iter(found.forms.values()))
    assert set(form.concepts) == {"Zero", "Two", "Four", "Six", "Eight"}
    assert form.check({}) != ()
    assert "known to have Even" in organiser.get(f"{here}/even").text
    missing = organiser.fill(here, {"kind": "labels", "slug": "y", "below": "Even"})
    assert "labels that are known" in missing.text


def test_a_batch_is_drawn_round_by_round_and_stops_itself(site):
    """Its page says why; its ledger has the probabilities that the runs and the seed give again."""
    for who, team, best in ((site.ann, site.one, ("d0", "d3")), (site.bob, site.two, ("d4", "d1"))):
        program = site.program(site.add_token(who, team))
        for tag in ("r1", "r2"):
            about = {"conf": "V", "about": "words"}
            text = run_text(best if tag == "r1" else ("d7", "d6"))
            put = program.put(f"/tasks/ranked/runs/{tag}", params=about, content=text.encode())
            assert put.status_code == 201
    for wrong, words in (({"measure": "AP"}, "P@k and RBP"), ({"pilot": "2"}, "no pilot")):
        organiser = site.browser("organiser", site.password)
        sent = organiser.fill(HERE, {"kind": "drawn", "slug": "two", **wrong})
        assert sent.status_code == 400
        assert words in sent.text
    fields = {"measure": "P@2", "round": "4", "depth": "4", "seed": "3"}
    organiser = added(site, "drawn", **fields)
    assert len(batch(site).hits) == 4
    assert "not complete yet" in organiser.get(f"{HERE}/one").text
    browser, judged = crowd_browser(site), 0
    while batch(site).row["state"] == "running":
        step = next_page(browser)
        assert "probability" not in step[1].lower()
        save(browser, *step, {"grade": "1" if judged % 3 else "0"})
        judged += 1
    drawn = batch(site)
    assert drawn.row["state"] == "closed"
    assert judged == len(drawn.hits)
    assert drawn.drawing["stop"] == "every pair of runs is settled"
    page = organiser.get(f"{HERE}/one").text
    assert "Judging has stopped: every pair of runs is settled." in page
    assert "pairs are settled" in page
    # The audit: whoever has the runs and the ledger draws the same rounds.
    text = organiser.get(f"{HERE}/one/ledger.csv").text
    ledger = read_ledger(Input.of(text.encode(), "ledger.csv"))
    assert len(ledger) == judged
    assert {cell.round for cell in ledger} == set(range(1, judged // 4 + 1))
    with site.context.store.read() as connection:
        task = drawn.drawing["task"]
        files = batch_factory.pooled_runs(connection, site.context, task)[::-1]
    assert sorted(file.name for file in files) == sorted(drawn.drawing["runs"])
    again = cf.lab.next_judgements(files, "P@2", ledger=ledger, count=4, depth=4, rng=3)
    assert again.stop == drawn.drawing["stop"]
    assert not [note for note in again.notes if "other cells" in note]
    assert site.browser().get(f"{HERE}/one/ledger.csv").status_code != 200
    with site.context.store.read() as connection:
        actions = [r.action for r in connection.execute(select(audit_table)).all()]
    assert actions.count("batch.draw") == judged // 4 - 1
    assert "batch.stop" in actions


def test_a_pool_grows_where_judging_pays_most(site):
    for who, team, best in ((site.ann, site.one, ("d0", "d3")), (site.bob, site.two, ("d4", "d1"))):
        program = site.program(site.add_token(who, team))
        for tag in ("r1", "r2"):
            about = {"conf": "V", "about": "words"}
            text = run_text(best if tag == "r1" else ("d7", "d6"))
            put = program.put(f"/tasks/ranked/runs/{tag}", params=about, content=text.encode())
            assert put.status_code == 201
    organiser = added(site, "relevance", depth="1", per_team="1")
    first = {(u["topic"], u["item"]) for u in batch(site).hits.values()}
    assert {item for _, item in first} == {"d0", "d4"}
    browser = crowd_browser(site)
    save(browser, *next_page(browser), {"grade": "2"})
    grown = organiser.fill(f"{HERE}/one/grow", {"count": "4", "depth": "2"}, page=f"{HERE}/one")
    assert grown.status_code == 303, grown.text
    after = {(u["topic"], u["item"]) for u in batch(site).hits.values()}
    assert first < after
    assert len(after) == len(first) + 4
    # Two runs have d7 first and the others not at all.
    assert {(topic, "d7") for topic in TOPICS} < after - first
    judged = 1
    while (step := next_page(browser))[0] is not None:
        save(browser, *step, {"grade": "1"})
        judged += 1
    assert judged == len(after)
    for count, said in (("0", "grows by 1"), ("x", "not a number")):
        refused = organiser.fill(f"{HERE}/one/grow", {"count": count}, page=f"{HERE}/one")
        assert said in refused.text
