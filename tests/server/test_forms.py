"""Forms: what was typed is never lost, what is wrong stands beside its field, what cannot be undone
asks first and says what will happen, and what was done is said."""

import re
from html import unescape

import pytest
from sqlalchemy import select

from cranfield.server.store.tables import api_token, run, truth_version
from tests.server.conftest import put
from tests.server.people import add, crowd_browser, next_page, save
from tests.server.world import CONCEPTS, ITEMS, PASSWORD, run_text

BOARD = "/tiny/organise"


def organiser_of(site):
    return site.browser("organiser", site.password)


def values_of(page):
    """What the fields of a page hold, by their names."""
    found = {}
    for attributes in re.findall(r"<input ([^>]*)>", page):
        name = re.search(r'name="([^"]*)"', attributes)
        value = re.search(r'value="([^"]*)"', attributes)
        if name and "hidden" not in attributes:
            found[name[1]] = unescape(value[1]) if value else ""
    for name, value in re.findall(
        r'<textarea id="[^"]*" name="([^"]*)"[^>]*>\n?(.*?)</textarea>', page, re.S
    ):
        found[name] = unescape(value)
    return found


def error_beside(page, field):
    """The message that a screen reader reads with a field, or nothing."""
    invalid = re.search(
        rf'id="{field}"[^>]*aria-describedby="{field}-error[^>]*aria-invalid="true"', page
    )
    said = re.search(rf'id="{field}-error">([^<]*)<', page)
    return unescape(said[1]) if invalid and said else ""


def shown_once(browser, answer):
    """The page that a form led to, and the same page a second time."""
    assert answer.status_code == 303, answer.text
    where = answer.headers["location"]
    return browser.get(where).text, browser.get(where).text


SETTINGS = {
    "title": "Tiny, again",
    "opens": "2027-03-01T12:00",
    "closes": "soon",
    "release": "",
    "runs_per_team": "many",
    "configurations": "V T",
    "call": "Come all.\n\nSecond <b>paragraph</b>.",
    "guidelines": "",
    "licence": "Another licence.",
    "pooled": "yes",
}


def test_settings_come_back_as_typed_with_each_error_beside_its_field(site):
    organiser = organiser_of(site)
    answer = organiser.fill(f"{BOARD}/settings", SETTINGS)
    assert answer.status_code == 400
    typed = values_of(answer.text)
    for name, value in SETTINGS.items():
        assert typed[name] == value
    assert re.search(r'name="pooled" value="yes" checked', answer.text)
    assert error_beside(answer.text, "closes").startswith("Closes: 'soon' is not a time")
    assert "from 1 to 1000" in error_beside(answer.text, "runs_per_team")
    assert not error_beside(answer.text, "title")
    # Nothing was changed.
    assert "Tiny, again" not in organiser.get(f"{BOARD}/settings").text


def test_dates_in_the_wrong_order_are_told_beside_the_closing_date(site):
    wrong = SETTINGS | {"closes": "2027-02-01T12:00", "runs_per_team": "5"}
    answer = organiser_of(site).fill(f"{BOARD}/settings", wrong)
    assert "after the opening date" in error_beside(answer.text, "closes")
    assert values_of(answer.text)["call"] == SETTINGS["call"]


def test_saved_settings_say_so_once_without_script(site):
    organiser = organiser_of(site)
    good = SETTINGS | {"closes": "2027-05-01T12:00", "runs_per_team": "5"}
    first, second = shown_once(organiser, organiser.fill(f"{BOARD}/settings", good))
    toast = first[first.index('<div class="done toast" role="status">') :]
    assert "<span>The settings are saved.</span>" in toast.partition("</div>")[0]
    assert "The settings are saved." not in second


def test_a_new_batch_comes_back_as_typed(site):
    organiser = organiser_of(site)
    wanted = {
        "kind": "relevance",
        "slug": "pool",
        "title": "The pool",
        "guidelines": "Look.",
        "overlap": "two",
        "pay": "0.5",
        "depth": "deep",
    }
    answer = organiser.fill(f"{BOARD}/batches", wanted)
    assert answer.status_code == 400
    typed = values_of(answer.text)
    assert {name: typed[name] for name in wanted if name != "kind"} == {
        name: value for name, value in wanted.items() if name != "kind"
    }
    assert 'name="kind" value="relevance"' in answer.text
    assert error_beside(answer.text, "overlap") == "People per item: 'two' is not a number."
    assert error_beside(answer.text, "depth") == "Depth: 'deep' is not a number."


def test_the_name_of_a_batch_that_is_taken_is_told_beside_it(site):
    add(site)
    answer = organiser_of(site).fill(
        f"{BOARD}/batches", {"kind": "labels", "slug": "one", "pay": "2"}
    )
    assert error_beside(answer.text, "slug") == "There is a batch 'one' already."
    assert values_of(answer.text)["pay"] == "2"


def test_log_in_keeps_the_name_and_never_the_password(site):
    answer = site.browser().fill("/login", {"login": "ann", "password": "not this one"})
    assert answer.status_code == 400
    assert values_of(answer.text)["login"] == "ann"
    assert "not this one" not in answer.text


def test_registering_says_all_that_is_wrong_at_once_and_keeps_the_rest(site):
    typed = {
        "login": "x",
        "person": "Eve",
        "password": "short",
        "acronym": "a b c",
        "name": "Team E",
        "country": "Elsewhere",
        "reference": "https://e.example",
        "signature": "Eve",
    }
    answer = site.browser().fill("/tiny/register", typed)
    assert answer.status_code == 400
    for field, words in (("login", "2 to 80"), ("password", "at least"), ("acronym", "1 to 24")):
        assert words in error_beside(answer.text, field)
    held = values_of(answer.text)
    assert {n: held[n] for n in typed if n != "password"} == {
        n: v for n, v in typed.items() if n != "password"
    }
    assert held["password"] == ""


def test_an_acronym_that_is_taken_is_told_beside_its_field(site):
    typed = {
        "login": "eve",
        "person": "Eve",
        "password": PASSWORD,
        "acronym": "ONE",
        "name": "Team E",
        "signature": "Eve",
    }
    answer = site.browser().fill("/tiny/register", typed)
    assert error_beside(answer.text, "acronym")
    assert values_of(answer.text)["person"] == "Eve"


def test_a_login_name_that_nobody_has_comes_back(site):
    answer = organiser_of(site).fill(
        f"{BOARD}/roles", {"login": "nobdy", "role": "J", "do": "give"}, page=BOARD
    )
    assert answer.status_code == 400
    assert values_of(answer.text)["login"] == "nobdy"
    assert '<option value="J" selected>' in answer.text
    assert error_beside(answer.text, "login") == "There is no account with the login name 'nobdy'."


def test_what_an_adjudicator_ticked_comes_back(site):
    add(site, overlap=2)
    for answers in ({"Sky": ["Sky"]}, {"Sky": ["Sea"]}):
        browser = crowd_browser(site)
        while (found := next_page(browser))[0] is not None:
            save(browser, *found, answers)
    organiser = organiser_of(site)
    here = "/tiny/adjudicate/one"
    name = unescape(re.search(r'name="(d:[^"]*)"', organiser.get(here).text)[1])
    answer = organiser.fill(here, {name: "1", "reason": "  "})
    assert answer.status_code == 400
    assert "Say the reason" in answer.text
    assert len(re.findall(r'value="1"[^>]* checked', answer.text)) == 1


# ---- what cannot be undone


def test_closing_asks_first_and_says_what_will_happen(site):
    organiser = organiser_of(site)
    asked = organiser.fill(f"{BOARD}/state", {"to": "closed"}, page=BOARD)
    assert asked.status_code == 200
    assert "Close the campaign?" in asked.text
    assert "No run is taken from this moment on" in asked.text
    assert ">open</span>" in organiser.get(BOARD).text
    done = organiser.fill(f"{BOARD}/state", {"to": "closed", "sure": "yes"}, page=BOARD)
    first, _ = shown_once(organiser, done)
    assert "The campaign is closed now." in first


def test_archiving_asks_first(unserved):
    unserved.set_state("released")
    with unserved.serving():
        organiser = organiser_of(unserved)
        asked = organiser.fill(f"{BOARD}/state", {"to": "archived"}, page=BOARD)
        assert "There is no way back from here" in asked.text
        assert ">released</span>" in organiser.get(BOARD).text


def test_withdrawing_asks_first(site):
    receipt = put(site.program(site.add_token(site.ann, site.one)), "r1", run_text())
    ann = site.browser("ann")
    here = f"/tiny/runs/{receipt['id']}"
    asked = ann.fill(f"{here}/withdraw", page=here)
    assert "Withdraw r1?" in asked.text
    with site.context.store.read() as connection:
        assert (
            connection.execute(select(run.c.state).where(run.c.id == receipt["id"])).scalar()
            == "accepted"
        )
    first, _ = shown_once(ann, ann.fill(f"{here}/withdraw", {"sure": "yes"}, page=here))
    assert "The run r1 is withdrawn." in first


def test_revoking_a_token_asks_first(site):
    site.add_token(site.ann, site.one)
    ann = site.browser("ann")
    with site.context.store.read() as connection:
        token = connection.execute(select(api_token.c.id)).scalar()
    asked = ann.fill(f"/tiny/team/tokens/{token}/revoke", page="/tiny/team")
    assert "Revoke the token “test”?" in asked.text
    assert "Revoke test" in ann.get("/tiny/team").text
    done = ann.fill(f"/tiny/team/tokens/{token}/revoke", {"sure": "yes"}, page="/tiny/team")
    assert "The token is revoked." in shown_once(ann, done)[0]


def test_forgetting_a_person_and_closing_an_account_ask_first(site):
    add(site)
    crowd_browser(site)
    organiser = organiser_of(site)
    here = f"{BOARD}/batches/one"
    who = re.search(r"/batches/one/people/([a-z0-9]+)", organiser.get(here).text)[1]
    asked = organiser.fill(f"{here}/people/{who}", {"do": "forget"}, page=here)
    assert "this cannot be undone" in asked.text
    assert "<td>active</td>" in organiser.get(here).text
    asked = organiser.fill(f"/admin/people/{site.ann}/disable", page="/admin")
    assert "Close the account ann?" in asked.text
    site.browser("ann")


def judged(site, count):
    """A closed batch whose first items were judged."""
    add(site, first=count)
    browser = crowd_browser(site)
    while (found := next_page(browser))[0] is not None:
        save(browser, *found, {"Sky": ["Sea"]})
    organiser = organiser_of(site)
    here = f"{BOARD}/batches/one"
    assert organiser.fill(f"{here}/state", {"to": "closed"}, page=here).status_code == 303
    # The password of the log-in counts for a while.
    site.time += 3600
    return organiser, here


def newest_truth(site):
    with site.context.store.read() as connection:
        row = connection.execute(
            select(truth_version).where(truth_version.c.source == "batch one")
        ).one_or_none()
    return None if row is None else (site.settings.sealed / row.file).read_text()


def test_making_the_truth_says_what_is_lost_and_asks_for_the_password(site):
    organiser, here = judged(site, 2)
    wanted = {"to": "merged", "method": "majority"}
    asked = organiser.fill(f"{here}/state", wanted, page=here)
    assert asked.status_code == 200
    assert "replaces 8 items by 2; 6 lose their truth" in asked.text
    assert "Merge into the truth there is" in asked.text
    assert 'name="password_again"' in asked.text
    wrong = wanted | {"sure": "replace", "password_again": "wrong"}
    refused = organiser.fill(f"{here}/state", wrong, page=here)
    assert refused.status_code == 400
    assert "The password is not right." in refused.text
    assert newest_truth(site) is None


@pytest.mark.parametrize("answer", ["merge", "replace"])
def test_a_batch_is_merged_into_the_truth_or_replaces_it(site, answer):
    organiser, here = judged(site, 2)
    sure = {"to": "merged", "method": "majority", "sure": answer, "password_again": site.password}
    sent = organiser.fill(f"{here}/state", sure, page=here)
    assert "The truth is made" in shown_once(organiser, sent)[0]
    rows = [line.split(",") for line in newest_truth(site).split()[1:]]
    cells = {(item, concept): value for item, concept, value in rows}
    assert {item for item, _ in cells} == set(ITEMS if answer == "merge" else ITEMS[:2])
    assert [cells["d0", concept] for concept in CONCEPTS] == ["0", "1", "0"]
    if answer == "merge":
        # As it was before.
        assert [cells["d3", concept] for concept in CONCEPTS] == ["1", "1", "0"]
    site.work()


def test_an_erratum_survives_the_question_for_the_password(site):
    organiser = organiser_of(site)
    site.time += 3600
    text = "t1 0 d1 1\nt2 0 d2 1\nt3 0 d3 1\n"
    files = {"file": ("better.txt", text)}
    fields = {"task": "ranked", "note": "three lines"}
    asked = organiser.fill(f"{BOARD}/truth", fields, page=BOARD, files=files)
    assert asked.status_code == 200
    assert "so is the file you sent" in asked.text
    hidden = {
        unescape(n): unescape(v)
        for n, v in re.findall(r'type="hidden" name="([^"]*)" value="([^"]*)"', asked.text)
    }
    wrong = organiser.post(f"{BOARD}/truth", data=hidden | {"password_again": "wrong"})
    assert wrong.status_code == 400
    other = site.browser("organiser", site.password)
    site.time += 3600
    stolen = hidden | {"csrf": other.token(BOARD), "password_again": site.password}
    assert "Choose the file of the truth." in other.post(f"{BOARD}/truth", data=stolen).text
    done = organiser.post(f"{BOARD}/truth", data=hidden | {"password_again": site.password})
    assert "is sealed; every run is scored again." in shown_once(organiser, done)[0]
    with site.context.store.read() as connection:
        row = connection.execute(
            select(truth_version).where(truth_version.c.note == "three lines")
        ).one()
    assert (site.settings.sealed / row.file).read_text() == text
    assert row.file.endswith("/better.txt")
    assert not list(site.settings.incoming.glob("waiting-*"))


HERE = {"sec-fetch-site": "same-origin"}


def hidden_in(page):
    pairs = re.findall(r'type="hidden" name="([^"]*)" value="([^"]*)"', page)
    return {unescape(name): unescape(value) for name, value in pairs}


def without_session(site, headers):
    """What is answered to a form of somebody who is no longer logged in."""
    ann = site.browser("ann")
    token = ann.token("/tiny/team")
    ann.cookies.clear()
    typed = {"csrf": token, "name": "The <b>first</b>\nteam", "country": "Here", "reference": ""}
    return ann, ann.post("/tiny/team", data=typed, headers=headers)


def test_a_form_whose_session_ended_is_sent_after_logging_in(site):
    ann, ended = without_session(site, HERE)
    assert ended.status_code == 401
    assert "your session has ended" in ended.text
    wrong = hidden_in(ended.text) | {"login": "ann", "password": "not this one"}
    again = ann.post("/login", data=wrong)
    assert again.status_code == 400
    right = hidden_in(again.text) | {"login": "ann", "password": PASSWORD}
    shown = ann.post("/login", data=right)
    assert shown.status_code == 200
    # It is shown first: no site can have something sent by somebody who logs in.
    assert "The &lt;b&gt;first&lt;/b&gt;" in shown.text
    assert "The &lt;b&gt;first" not in ann.get("/tiny/team").text
    assert '<form method="post" action="/tiny/team">' in shown.text
    main = shown.text[shown.text.index("<main") :]
    done = ann.post("/tiny/team", data=hidden_in(main), headers=HERE)
    assert "The team is saved." in shown_once(ann, done)[0]
    assert "The &lt;b&gt;first" in ann.get("/tiny/team").text


def test_a_form_that_may_come_from_elsewhere_is_never_carried_on(site):
    for headers in ({}, {"sec-fetch-site": "cross-site"}):
        _, ended = without_session(site, headers)
        assert ended.status_code == 401
        assert "go back twice in your browser" in ended.text
        assert "first" not in ended.text
    ann, _ = without_session(site, {})
    evil = {"csrf": "0" * 64, "resume": "https://elsewhere.example/"}
    assert ann.post("/login", data=evil | {"login": "ann", "password": PASSWORD}).status_code == 403


def test_a_form_of_an_earlier_session_is_shown_and_can_be_sent(site):
    ann = site.browser("ann")
    token = ann.token("/tiny/team")
    ann.log_in("ann", PASSWORD)
    typed = {"csrf": token, "name": "Team of now", "country": "", "reference": ""}
    expired = ann.post("/tiny/team", data=typed, headers=HERE)
    assert expired.status_code == 403
    main = expired.text[expired.text.index("<main") :]
    assert hidden_in(main)["name"] == "Team of now"
    done = ann.post("/tiny/team", data=hidden_in(main), headers=HERE)
    assert "The team is saved." in shown_once(ann, done)[0]
