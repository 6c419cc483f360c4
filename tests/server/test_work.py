"""Work over HTTP: saved once whatever happens, never seen twice, rejected and reissued."""

from __future__ import annotations

import json
import re
import shlex
import sys

from cranfield.cli import main
from cranfield.server.services import assessors, batch_results, judgements
from cranfield.server.services.campaigns import by_slug
from tests.server.people import GOOD, add, batch, crowd_browser, next_page, save, worker
from tests.server.world import CONCEPTS, ITEMS


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
        found = batch_results.collect_forms(connection, batch(site))
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
        (row,) = judgements.latest_revisions(connection, batch(site).id)
        from sqlalchemy import func, select

        from cranfield.server.store.work_tables import judgement

        count = connection.execute(select(func.count()).select_from(judgement)).scalar_one()
    assert count == 2
    assert row["said"]["answers"] == {"Sky": ["Sea"]}


def test_nobody_sees_an_item_twice_across_batches(site):
    add(site, slug="one")
    add(site, slug="two")
    browser = crowd_browser(site)
    organiser, here = site.browser("organiser", site.password), "/tiny/organise/batches/two"
    said = {"kind": "same", "from": "one"}
    assert organiser.fill(f"{here}/people", said, page=here).status_code == 200
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
    assert "needs a reason" in refused.text
    done = organiser.fill(
        f"/tiny/organise/batches/one/people/{who}",
        {"do": "reject", "reason": "nothing was looked at", "sure": "yes"},
        page="/tiny/organise/batches/one",
    )
    assert done.status_code == 303
    assert next_page(first)[0] is None
    where, page = next_page(second)
    assert where is not None
    save(second, where, page, GOOD)
    assert "reissued" in organiser.get("/tiny/organise/batches/one").text
    with site.context.store.read() as connection:
        found = batch_results.collect_forms(connection, batch(site))
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
    assert (
        organiser.fill(
            f"{here}/people/{who}", {"do": "forget", "sure": "yes"}, page=here
        ).status_code
        == 303
    )
    with site.context.store.read() as connection:
        (row,) = assessors.assessors_of(connection, by_slug(connection, "tiny")["id"])
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
        made = batch_results.collect_forms(connection, batch(site))
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
        assert batch_results.collect_forms(connection, batch(site)).forms == 1


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
        made = batch_results.collect_forms(connection, batch(site))
    assert made.log.annotators == ("model-001",)
    assert made.forms == 5
    assert main([*asked, "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["judged"] == 0
    monkeypatch.setenv("CRANFIELD_TOKEN", "cw_wrong")
    assert main(asked) == 2


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


def test_a_save_asks_the_store_few_questions_and_looks_at_all_places_once_a_second(site):
    """What a step costs must not creep up: a statement costs as much as a tenth of a save."""
    from sqlalchemy import event

    add(site)
    client = site.program(worker(site, "model")[1])
    asked = []
    engines = (site.context.store.engine, site.context.store._writer)

    def note(_connection, _cursor, statement, *_):
        asked.append(statement)

    for engine in engines:
        event.listen(engine, "before_cursor_execute", note)
    given = client.get("/work/next").json()
    body = {"answers": {"Sky": ["Sky"]}, "key": "k"}
    assert client.put(f"/work/{given['assignment']}", json=body).status_code == 200
    assert sum("expires <=" in statement for statement in asked) == 1
    asked.clear()
    client.get("/work/next")
    own = [s for s in asked if not s.startswith(("BEGIN", "SAVEPOINT", "RELEASE"))]
    # Who asks; batches that run; what was seen; places; the assignment.
    assert len(own) <= 5, own
    for engine in engines:
        event.remove(engine, "before_cursor_execute", note)


def test_truth_is_made_before_the_call_and_a_draft_stays_unseen(site):
    """A batch lives its own life: annotators work in a draft, and nobody else learns of it."""
    add(site)
    browser = crowd_browser(site)
    site.set_state("draft")
    where, page = next_page(browser)
    assert save(browser, where, page, GOOD).status_code == 303
    assert 'href="/tiny/work"' in page
    assert not {'href="/tiny"', 'href="/tiny/call"'} & set(re.findall(r'href="[^"]*"', page))
    stranger = site.browser()
    unknown = stranger.get("/nowhere/enter/cw_x")
    for path in ("/tiny", "/tiny/call", "/tiny/enter/cw_x", "/tiny/survey/x"):
        answer = stranger.get(path)
        assert answer.status_code == 404
        assert "A tiny campaign" not in answer.text
        assert answer.text.replace(path, "") == unknown.text.replace("/nowhere/enter/cw_x", "")
