"""Links are good for what they were made for; gold cannot be told; who is paused is paused."""

import re
from dataclasses import replace

from sqlalchemy import func, select

from cranfield.campaign.surveys.ratings import relatedness_survey
from cranfield.server import Limits
from cranfield.server.services import batches
from cranfield.server.services.campaigns import by_slug
from cranfield.server.services.judgements import gold_score
from cranfield.server.store.work_tables import admission, assessor, assignment, hit, judgement
from tests.server.people import GOOD, add, batch, crowd_browser, next_page, save, worker

SURVEY = {"kind": "relatedness", "slug": "words"}
PAIRS = {"file": ("pairs.csv", b"word1,word2\ncar,bus\nsun,sea\ncat,dog\n")}


def survey_link(site):
    """The public link of a survey that runs."""
    organiser, here = site.browser("organiser", site.password), "/tiny/organise/batches/words"
    made = organiser.fill("/tiny/organise/batches", SURVEY, files=PAIRS)
    assert made.status_code == 303, made.text
    assert organiser.fill(f"{here}/state", {"to": "running"}, page=here).status_code == 303
    page = organiser.fill(f"{here}/people", {"kind": "survey"}, page=here).text
    return re.search(r"<code>[^<]*(/tiny/survey/[^<]+)</code>", page)[1]


def begin(browser, link):
    """Answer what a survey asks of people, as far as it asks anything."""
    chosen = re.findall(
        r'type="radio"[^>]*name="([^"]+)"[^>]*value="([^"]*)"', browser.get(link).text
    )
    return browser.fill(link, {"age": "30"} | dict(chosen))


def places_taken(site, slug):
    with site.context.store.read() as connection:
        return connection.execute(
            select(func.count())
            .select_from(assignment)
            .join(hit, hit.c.id == assignment.c.hit)
            .where(hit.c.batch == batch(site, slug).id)
        ).scalar_one()


def test_the_public_link_of_a_survey_opens_no_other_batch(both):
    link, visitor = survey_link(both), both.browser()
    assert begin(visitor, link).headers["location"] == "/tiny/work/words"
    assert next_page(visitor, "words")[0] is not None
    # The batch that becomes the truth runs in the same campaign.
    assert "/tiny/work/one" not in visitor.get("/tiny/work").text
    assert visitor.get("/tiny/work/one").status_code == 404
    expert = crowd_browser(both)
    where, _ = next_page(expert)
    assert visitor.get(where).status_code == 404
    token = visitor.token("/tiny/work/words") or visitor.token("/")
    refused = visitor.post(where, data=GOOD | {"csrf": token, "client_key": "x", "state": "done"})
    assert refused.status_code in (403, 404)
    assert places_taken(both, "one") == 1


def test_the_link_of_a_worker_opens_its_batch_alone_until_an_organiser_lets_it_in(both):
    add(both, slug="two")
    browser = crowd_browser(both)
    assert browser.get("/tiny/work/two").status_code == 404
    assert "/tiny/work/two" not in browser.get("/tiny/work").text
    _, token = worker(both, "model")
    program = both.program(token)
    while (given := program.get("/work/next").json())["assignment"] is not None:
        assert given["batch"] == "one"
        answer = program.put(f"/work/{given['assignment']}", json={"answers": GOOD})
        assert answer.status_code == 200
    organiser, here = both.browser("organiser", both.password), "/tiny/organise/batches/two"
    odd = organiser.fill(f"{here}/people", {"kind": "same", "from": "none"}, page=here)
    assert odd.status_code == 400
    said = {"kind": "same", "from": "one"}
    for _ in range(2):
        assert organiser.fill(f"{here}/people", said, page=here).status_code == 200
    assert browser.get("/tiny/work/two").status_code in (200, 303)
    assert "/tiny/work/two" in browser.get("/tiny/work").text


def test_respondents_of_a_survey_are_let_into_nothing_else(both):
    link, visitor = survey_link(both), both.browser()
    begin(visitor, link)
    organiser, here = both.browser("organiser", both.password), "/tiny/organise/batches/one"
    said = {"kind": "same", "from": "words"}
    assert organiser.fill(f"{here}/people", said, page=here).status_code == 200
    assert visitor.get("/tiny/work/one").status_code == 404


def test_secrets_of_workers_and_respondents_are_no_tokens_of_the_interface(both):
    link, visitor = survey_link(both), both.browser()
    begin(visitor, link)
    _, secret = worker(both)
    for token in (visitor.cookies["cranfield_worker"], secret):
        program = both.program(token)
        assert program.get("/work/next").status_code == 401
        given = program.put("/work/nothing", json={"answers": GOOD})
        assert given.status_code == 401
    assert places_taken(both, "one") == 0


def test_a_link_brings_so_many_people_in_an_hour(both):
    limits = replace(both.settings.limits, respondents_per_hour=2)
    object.__setattr__(both.context.settings, "limits", limits)
    assert Limits().respondents_per_hour >= 100
    link = survey_link(both)
    assert [begin(both.browser(), link).status_code for _ in range(4)] == [303, 303, 429, 429]
    with both.context.store.read() as connection:
        people = connection.execute(
            select(func.count())
            .select_from(assessor)
            .join(admission, admission.c.assessor == assessor.c.id)
            .where(admission.c.batch == batch(both, "words").id)
        ).scalar_one()
    assert people == 2
    both.time += 3601
    assert begin(both.browser(), link).status_code == 303


def add_gold(site):
    """A batch in which half of what everybody gets has a known answer, with a trial of two."""
    survey = relatedness_survey([(f"w{n}", f"v{n}") for n in range(8)])
    units = [unit.name for unit in survey.sheet.units]
    known = {name: {"rating": "4"} for name in units[:4]}

    def write(connection):
        where = by_slug(connection, "tiny")["id"]
        planned = {"overlap": 3, "gold": 0.5, "trial": 2, "qualification": 0.7}
        arguments = (connection, site.context, "test", where, survey.sheet)
        batches.add_batch(*arguments, slug="gold", kind="ratings", gold_answers=known, **planned)
        found = batches.read_batch(connection, where, "gold")
        batches.set_state(connection, site.context, "test", found.row, "running")

    site.context.store.write(write)


def figures(browser, path):
    """What a page says, without what every form makes anew."""
    text = re.sub(r'value="[0-9a-z]{16,}"', "", browser.get(path).text)
    return re.sub(r"\d+ done by you|<td class=\"n\">\d+</td>", "", text)


def assessing_browser(site, login="eva"):
    site.grant(site.add_person(login), "A")
    return site.browser(login)


def test_no_counter_and_no_page_of_agreement_tells_gold(both):
    add_gold(both)
    eva, bob = assessing_browser(both), crowd_browser(both, "gold")
    for browser, pages in ((eva, ("/tiny/work", "/tiny/agreement/gold")), (bob, ("/tiny/work",))):
        seen = []
        for _ in range(5):
            where, page = next_page(browser, "gold")
            save(browser, where, page, {"rating": "4"})
            seen.append({path: figures(browser, path) for path in pages})
        assert all(shown == seen[0] for shown in seen)
    shown = eva.get("/tiny/agreement/gold").text
    assert "Gold" not in shown
    assert " of " not in re.sub(r"<[^>]+>", "", shown.partition("<main")[2].partition("</main")[0])
    organiser = both.browser("organiser", both.password)
    assert "Gold" in organiser.get("/tiny/agreement/gold").text


def test_the_first_answer_to_gold_counts(both):
    add_gold(both)
    browser = crowd_browser(both, "gold")
    places = []
    while (found := next_page(browser, "gold"))[0] is not None:
        places.append(found[0])
        save(browser, *found, {"rating": "0"})
    with both.context.store.read() as connection:
        who = connection.execute(select(assessor.c.id)).scalar_one()
        before = gold_score(connection, batch(both, "gold"), who)
    assert before == (0, 2)
    for where in places:
        assert save(browser, where, browser.get(where).text, {"rating": "4"}).status_code == 303
        # Who was sent away is not let in again by revising: that would tell which was gold.
        assert next_page(browser, "gold")[0] is None
    with both.context.store.read() as connection:
        assert gold_score(connection, batch(both, "gold"), who) == before


def test_a_role_that_was_taken_is_taken(both):
    eva = assessing_browser(both)
    where, page = next_page(eva)
    assert save(eva, where, page, GOOD).status_code == 303
    organiser, board = both.browser("organiser", both.password), "/tiny/organise"
    taken = {"login": "eva", "role": "A", "do": "take"}
    assert organiser.fill(f"{board}/roles", taken, page=board).status_code == 303
    for path in ("/tiny/work", "/tiny/work/one", where, f"{where}/picture", "/tiny/agreement/one"):
        assert eva.get(path).status_code in (403, 404), path
    assert save(eva, where, page, GOOD, client_key="again").status_code in (403, 404)
    assert places_taken(both, "one") == 1


def test_who_is_paused_gets_no_pages_no_work_and_no_revision(both):
    eva, worked = assessing_browser(both), crowd_browser(both)
    _, token = worker(both, "model")
    program = both.program(token)
    given = program.get("/work/next").json()["assignment"]
    forms = {browser: next_page(browser) for browser in (eva, worked)}
    for browser, (where, page) in forms.items():
        assert save(browser, where, page, GOOD).status_code == 303
    organiser, here = both.browser("organiser", both.password), "/tiny/organise/batches/one"
    people = set(re.findall(r"/batches/one/people/([a-z0-9]+)", organiser.get(here).text))
    for who in people:
        paused = organiser.fill(f"{here}/people/{who}", {"do": "pause"}, page=here)
        assert paused.status_code == 303
    taken = places_taken(both, "one")
    for browser, (where, page) in forms.items():
        for path in ("/tiny/work", "/tiny/work/one", where, f"{where}/picture"):
            assert browser.get(path).status_code in (303, 401, 403, 404), path
            sent = browser.get(path).headers.get("location", "/login")
            assert sent.startswith("/login"), path
        refused = save(browser, where, page, GOOD, client_key=f"again {where}")
        assert refused.status_code in (303, 401, 403, 404)
        assert refused.headers.get("location", "/login").startswith("/login")
    assert eva.get("/tiny/agreement/one").status_code == 403
    assert program.get("/work/next").status_code == 401
    assert program.put(f"/work/{given}", json={"answers": GOOD}).status_code == 401
    assert places_taken(both, "one") == taken
    with both.context.store.read() as connection:
        assert connection.execute(select(func.max(judgement.c.revision))).scalar_one() == 1


def test_a_paused_batch_gives_no_pages_no_work_and_takes_no_revision(both):
    eva, worked = assessing_browser(both), crowd_browser(both)
    _, token = worker(both, "model")
    program = both.program(token)
    given = program.get("/work/next").json()["assignment"]
    forms = {browser: next_page(browser) for browser in (eva, worked)}
    for browser, (where, page) in forms.items():
        save(browser, where, page, GOOD)
    organiser, here = both.browser("organiser", both.password), "/tiny/organise/batches/one"
    assert organiser.fill(f"{here}/state", {"to": "paused"}, page=here).status_code == 303
    taken = places_taken(both, "one")
    for browser, (where, page) in forms.items():
        assert "/tiny/work/one" not in browser.get("/tiny/work").text
        for path in ("/tiny/work/one", where, f"{where}/picture"):
            assert browser.get(path).status_code == 409, path
        refused = save(browser, where, page, GOOD, client_key=f"again {where}")
        assert refused.status_code == 409
    assert eva.get("/tiny/agreement/one").status_code == 409
    assert program.get("/work/next").json() == {"assignment": None}
    for answer in (
        program.put(f"/work/{given}", json={"answers": GOOD}),
        program.post(f"/work/{given}/skip", json={}),
        program.post(f"/work/{given}/comment", json={"text": "x"}),
    ):
        assert answer.status_code == 409
    assert places_taken(both, "one") == taken
