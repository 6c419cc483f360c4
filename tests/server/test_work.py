"""Work over HTTP: saved once whatever happens, never seen twice, rejected and reissued."""

from __future__ import annotations

import csv
import io
import json
import re
import shlex
import sys

import pytest

from cranfield.campaign.surveys.rated import relatedness_survey
from cranfield.cli import main
from cranfield.server.services import assessing, batches, work
from cranfield.server.services.campaigns import by_slug
from cranfield.server.services.making_batches import new_batch
from tests.server.world import CONCEPTS, ITEMS

GOOD = {"Sky": ["Sky", "Dog"]}


def add(site, kind="labels", slug="one", *, state="running", **options):
    """A batch that runs."""

    def write(connection):
        row = by_slug(connection, "tiny")
        new_batch(connection, site.context, "test", row, kind, slug=slug, **options)
        found = batches.read_batch(connection, row["id"], slug)
        if state != "draft":
            batches.set_state(connection, site.context, "test", found.row, state)

    site.context.store.write(write)


def batch(site, slug="one"):
    with site.context.store.read() as connection:
        return batches.read_batch(connection, by_slug(connection, "tiny")["id"], slug)


def worker(site, kind="crowd"):
    """The secret of a new worker."""

    def write(connection):
        where = by_slug(connection, "tiny")["id"]
        return batches.add_assessor(connection, site.context, "test", where, kind=kind)

    return site.context.store.write(write)


def crowd_browser(site):
    made = site.browser()
    _, secret = worker(site)
    assert made.get(f"/tiny/enter/{secret}").headers["location"] == "/tiny/work"
    return made


def next_page(browser, slug="one"):
    """The address of what is to do next, and its page; None when nothing is left."""
    answer = browser.get(f"/tiny/work/{slug}")
    if answer.status_code == 200:
        return None, answer.text
    where = answer.headers["location"]
    return where, browser.get(where).text


def hidden(page, name):
    return re.search(rf'name="{name}" value="([^"]*)"', page)[1]


def save(browser, where, page, answers, **more):
    data = dict(answers)
    data |= {"csrf": hidden(page, "csrf"), "client_key": hidden(page, "client_key")}
    return browser.post(where, data=data | {"active_ms": "1500", "state": "done"} | more)


def test_a_worker_does_a_batch_by_a_link_without_script(site):
    add(site)
    browser = crowd_browser(site)
    assert (
        "Annotation" in browser.get("/tiny/work").text or "tiny" in browser.get("/tiny/work").text
    )
    seen = []
    while True:
        where, page = next_page(browser)
        if where is None:
            break
        # Asking again gives the same: a reload loses nothing.
        assert next_page(browser)[0] == where
        seen.append(re.search(r"<h2[^>]*>([^<]*)</h2>", page)[1])
        assert save(browser, where, page, GOOD).status_code == 303
    assert sorted(seen) == sorted(ITEMS)
    assert "nothing left" in page
    with site.context.store.read() as connection:
        found = assessing.collected(connection, batch(site))
    assert len(found.log) == len(ITEMS) * len(CONCEPTS)
    chosen = {r[2] for r in found.log.rows() if r[3] == "1"}
    assert chosen == {"Sky", "Dog"}
    assert {r[4] for r in found.log.rows()} == {"0.5"}


def test_what_is_sent_twice_counts_once_and_what_changes_is_a_revision(site):
    add(site)
    browser = crowd_browser(site)
    where, page = next_page(browser)
    for _ in range(3):
        assert save(browser, where, page, GOOD).status_code == 303
    again = browser.get(where).text
    assert 'value="Sky" ' in again or "checked" in again
    assert save(browser, where, again, {"Sky": ["Sea"]}).status_code == 303
    with site.context.store.read() as connection:
        (row,) = work.latest(connection, batch(site).id)
        from sqlalchemy import func, select

        from cranfield.server.store.work_tables import judgement

        count = connection.execute(select(func.count()).select_from(judgement)).scalar_one()
    assert count == 2
    assert row["said"]["answers"] == {"Sky": ["Sea"]}


def test_nobody_sees_an_item_twice_across_batches(site):
    add(site, slug="one")
    add(site, slug="two")
    browser = crowd_browser(site)
    seen = []
    for slug in ("one", "two", "one"):
        for _ in range(5):
            where, page = next_page(browser, slug)
            if where is None:
                break
            seen.append(re.search(r"<h2[^>]*>([^<]*)</h2>", page)[1])
            save(browser, where, page, GOOD)
    assert sorted(seen) == sorted(ITEMS)


def test_a_rejected_form_is_reissued_to_somebody_else(site):
    add(site)
    first, second = crowd_browser(site), crowd_browser(site)
    for _ in ITEMS:
        where, page = next_page(first)
        save(first, where, page, GOOD)
    assert next_page(second)[0] is None
    organiser = site.browser("organiser", site.password)
    board = organiser.get("/tiny/organise/batches/one").text
    assert "8 of 8" in board
    who = re.search(r"/batches/one/people/([a-z0-9]+)", board)[1]
    refused = organiser.fill(
        f"/tiny/organise/batches/one/people/{who}",
        {"do": "reject", "reason": ""},
        page="/tiny/organise/batches/one",
    )
    assert refused.status_code == 400
    assert "says why" in refused.text
    done = organiser.fill(
        f"/tiny/organise/batches/one/people/{who}",
        {"do": "reject", "reason": "nothing was looked at"},
        page="/tiny/organise/batches/one",
    )
    assert done.status_code == 303
    assert next_page(first)[0] is None
    where, page = next_page(second)
    assert where is not None
    save(second, where, page, GOOD)
    assert "reissued" in organiser.get("/tiny/organise/batches/one").text
    with site.context.store.read() as connection:
        found = assessing.collected(connection, batch(site))
    assert found.reasons == {"nothing was looked at": 8}


def test_paused_people_and_paused_batches_get_nothing(site):
    add(site)
    browser = crowd_browser(site)
    organiser = site.browser("organiser", site.password)
    page = organiser.get("/tiny/organise/batches/one").text
    who = re.search(r"/batches/one/people/([a-z0-9]+)", page)[1]
    here = "/tiny/organise/batches/one"
    organiser.fill(f"{here}/people/{who}", {"do": "pause"}, page=here)
    assert browser.get("/tiny/work/one").status_code in (401, 303, 403)
    organiser.fill(f"{here}/people/{who}", {"do": "resume"}, page=here)
    where, page = next_page(browser)
    assert where is not None
    organiser.fill(f"{here}/state", {"to": "paused"}, page=here)
    assert "does not take answers now" in save(browser, where, page, GOOD).text
    organiser.fill(f"{here}/state", {"to": "running"}, page=here)
    assert save(browser, where, page, GOOD).status_code == 303


def test_somebody_can_be_forgotten_and_the_log_keeps_the_pseudonym(site):
    add(site)
    browser = crowd_browser(site)
    save(browser, *next_page(browser), GOOD)
    organiser = site.browser("organiser", site.password)
    here = "/tiny/organise/batches/one"
    who = re.search(r"/batches/one/people/([a-z0-9]+)", organiser.get(here).text)[1]
    assert organiser.fill(f"{here}/people/{who}", {"do": "forget"}, page=here).status_code == 303
    with site.context.store.read() as connection:
        (row,) = batches.assessors_of(connection, by_slug(connection, "tiny")["id"])
    assert (row["person"], row["token_hash"], row["facts"]) == (None, None, "{}")
    assert browser.get("/tiny/work/one").status_code != 200
    assert "crowd-001" in organiser.get(f"{here}/log.csv").text


def test_skip_later_cannot_tell_and_a_comment(site):
    add(site)
    browser = crowd_browser(site)
    where, page = next_page(browser)
    later = re.search(r"<h2[^>]*>([^<]*)</h2>", page)[1]
    save(browser, where, page, {}, state="later", comment="come back")
    for state in ("skipped", "cannot tell"):
        where, page = next_page(browser)
        save(browser, where, page, GOOD, state=state)
    order = []
    while (found := next_page(browser))[0] is not None:
        order.append(re.search(r"<h2[^>]*>([^<]*)</h2>", found[1])[1])
        save(browser, *found, GOOD)
    assert order[-1] == later
    with site.context.store.read() as connection:
        made = assessing.collected(connection, batch(site))
    assert made.forms == len(ITEMS) - 2
    assert [r.text for r in made.remarks] == ["come back"]


def test_places_that_lapse_are_given_again(site):
    add(site, expires=60.0)
    first, second = crowd_browser(site), crowd_browser(site)
    where, page = next_page(first)
    for _ in range(len(ITEMS) - 1):
        save(second, *next_page(second), GOOD)
    assert next_page(second)[0] is None
    site.time += 61
    assert next_page(second)[0] is not None
    assert "takes no answers any more" in save(first, where, page, GOOD).text


def test_programs_judge_as_people_do(site):
    add(site)
    _, secret = worker(site, "model")
    program = site.program(secret)
    given = program.get("/work/next").json()
    assert set(given["form"]["concepts"]) == set(CONCEPTS)
    here = f"/work/{given['assignment']}"
    wrong = program.put(here, json={"answers": {"Sky": ["Moon"]}, "key": "k1"})
    assert wrong.status_code == 422
    assert wrong.json()["problems"][0]["question"] == "Sky"
    body = {"answers": GOOD, "key": "k2", "seconds": 0.5}
    assert program.put(here, json=body).json()["revision"] == 1
    assert program.put(here, json=body).json()["revision"] == 1
    assert program.post(f"{here}/comment", json={"text": "sure"}).status_code == 200
    other = program.get("/work/next").json()
    assert program.post(f"/work/{other['assignment']}/skip", json={}).json()["state"] == "skipped"
    assert program.put("/work/nowhere", json=body | {"key": "k3"}).status_code == 404
    assert site.program("").get("/work/next").status_code == 401
    with site.context.store.read() as connection:
        assert assessing.collected(connection, batch(site)).forms == 1


def test_a_program_on_standard_input_and_output_is_an_annotator(
    site, tmp_path, monkeypatch, capsys
):
    """It says what it likes; what the form does not take is skipped with the reason."""
    add(site)
    _, secret = worker(site, "model")
    program = tmp_path / "program.py"
    program.write_text(
        "import json, sys\n"
        "for number, line in enumerate(sys.stdin):\n"
        "    given = json.loads(line)\n"
        "    said = [{'answers': {'Sky': ['Sky']}}, {'skip': True}, {'state': 'cannot tell'},\n"
        "            {'answers': {'Sky': ['Moon']}}][min(number, 4) % 4]\n"
        "    print(json.dumps(said), flush=True)\n"
    )
    monkeypatch.setenv("CRANFIELD_TOKEN", secret)
    asked = [
        "judge",
        "--to",
        f"{site.address}/tiny",
        "--command",
        shlex.join([sys.executable, str(program)]),
    ]
    assert main([*asked, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["judged"], found["skipped"]) == (6, 2)
    assert "has no answer 'Moon'" in found["refused"][0]
    with site.context.store.read() as connection:
        made = assessing.collected(connection, batch(site))
    assert made.log.annotators == ("model-001",)
    assert made.forms == 5
    assert main([*asked, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["judged"] == 0
    monkeypatch.setenv("CRANFIELD_TOKEN", "cw_wrong")
    assert main(asked) == 2


def test_a_pool_is_judged_blind_and_becomes_the_truth_of_its_task(site):
    add(site, "relevance", "pool", depth=2)
    browser = crowd_browser(site)
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
    for end in ("closed", "merged"):
        sent = organiser.fill(f"{here}/state", {"to": end, "method": "majority"}, page=here)
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


def test_own_work_only(site):
    add(site)
    one, two = crowd_browser(site), crowd_browser(site)
    where, page = next_page(one)
    assert two.get(where).status_code == 404
    assert two.get(f"{where}/picture").status_code == 404
    assert site.browser().get(where).status_code in (303, 401)
    stranger = site.browser("ann")
    assert stranger.get("/tiny/work").status_code == 403
    assert two.get("/tiny/organise/batches").status_code == 403
    assert two.get("/tiny/adjudicate/one").status_code == 403
    assert save(two, where, page, GOOD).status_code in (403, 404)


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
    browser = crowd_browser(site)
    for slug, answers in (
        ("one", GOOD),
        ("pool", {"grade": "1"}),
        ("survey", {"methods": "Method 1"}),
    ):
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
    from cranfield.campaign.collected import read_forms
    from cranfield.campaign.sheet_maker import make_sheet
    from cranfield.campaign.sheets import Filled, response_of

    add(site)
    answers = {item: ["Sky"] if k % 2 else ["Sea", "Dog"] for k, item in enumerate(ITEMS)}
    browser = crowd_browser(site)
    while (found := next_page(browser))[0] is not None:
        item = re.search(r"<h2[^>]*>([^<]*)</h2>", found[1])[1]
        save(browser, *found, {"Sky": answers[item]})
    sheet = make_sheet(site.settings.public / "tiny")
    filled = [Filled(item, {"Sky": said}, seconds=1.0) for item, said in answers.items()]
    file = tmp_path / "answers.json"
    file.write_text(json.dumps(response_of(sheet, "crowd-001", filled).to_dict()))
    with site.context.store.read() as connection:
        served = assessing.collected(connection, batch(site)).log
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
            known=same,
            **planned,
        )
        found = batches.read_batch(connection, where, "gold")
        batches.set_state(connection, site.context, "test", found.row, "running")

    site.context.store.write(write)
    done = {}
    for rating in ("4", "0"):
        browser = crowd_browser(site)
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
        assert "a batch is one of" in sent.text
        return
    assert sent.status_code == 303, sent.text
    assert organiser.get(f"{here}/x").status_code == 200
    again = organiser.fill(here, {"kind": kind, "slug": "x"})
    assert "already" in again.text
    assert (
        "is not a number" in organiser.fill(here, {"kind": kind, "slug": "y", "pay": "much"}).text
    )
