"""What no form of ours sends: texts that no store takes, numbers without end, fields made up."""

import re
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import select

from cranfield.campaign.batches import MOST, Plan
from cranfield.errors import UsageError
from cranfield.server.store.tables import team
from tests.server.people import GOOD, crowd_browser, hidden, next_page, save, worker
from tests.server.world import PASSWORD

NUL = "a%00b"
DIGITS = "9" * 5000
HERE = "/tiny/organise/batches/one"


def test_a_nul_is_refused_wherever_it_stands(both):
    anybody, organiser = both.browser(), both.browser("organiser", both.password)
    for path in (f"/{NUL}", f"/tiny/results/{NUL}", f"/tiny/join/{NUL}", f"/api/v1/tasks/{NUL}"):
        assert anybody.get(path).status_code == 404, path
    for path in (f"/tiny/runs/{NUL}", f"/tiny/adjudicate/{NUL}", f"/tiny/organise/export/{NUL}"):
        assert organiser.get(path).status_code == 404, path
    assert anybody.get(f"/login?next={NUL}").status_code == 400
    said = {"login": "a\0b", "password": PASSWORD}
    assert anybody.fill("/login", said).status_code == 400
    said = {"title": "T", "call": "a\0b", "runs_per_team": "5"}
    assert organiser.fill("/tiny/organise/settings", said).status_code == 400
    _, secret = worker(both, "model")
    program = both.program(secret)
    given = program.get("/work/next").json()["assignment"]
    for body in ({"comment": "a\0b"}, {"key": "\0"}, {"answers": {"Sky": ["\0"]}}):
        assert program.put(f"/work/{given}", json=body).status_code == 400, body
    assert program.post(f"/work/{given}/comment", json={"text": "\0"}).status_code == 400


def test_numbers_without_end_and_fields_made_up_are_told(both):
    organiser, crowd = both.browser("organiser", both.password), crowd_browser(both)
    where, text = next_page(crowd)
    assert save(crowd, where, text, GOOD, active_ms=DIGITS).status_code == 303
    assert organiser.fill(f"{HERE}/people", {"count": DIGITS}, page=HERE).status_code == 400
    assert organiser.fill(f"{HERE}/people/x", {"do": "odd"}, page=HERE).status_code == 400
    said = {"title": "T", "runs_per_team": "0001000000"}
    assert organiser.fill("/tiny/organise/settings", said).status_code == 400
    page = "/tiny/adjudicate/one"
    for name in ("d:", "d:[1]", "d:5", 'd:["d0"]', "d:" + "[" * 100_000):
        assert organiser.fill(page, {name: "1", "reason": "x"}).status_code == 400, name[:9]
    for more in ({"seed": DIGITS}, {"seed": str(MOST + 1)}, {"seed": "-1"}, {"first": "-3"}):
        said = {"kind": "labels", "slug": "two"} | more
        odd = organiser.fill("/tiny/organise/batches", said)
        assert odd.status_code == 400, more


def test_screening_decides_what_somebody_judged(both):
    organiser, crowd = both.browser("organiser", both.password), crowd_browser(both)
    where, text = next_page(crowd)
    save(crowd, where, text, GOOD)
    page = "/tiny/screen/one"
    shown = organiser.get(f"{page}?concept=Sky&shown=1").text
    item = next(f"d{k}" for k in range(8) if f'value="d{k}"' in shown)
    for odd in ({"concept": "odd", "wrong": item}, {"concept": "Sky", "wrong": "odd"}):
        assert organiser.fill(page, odd).status_code == 400
        assert organiser.get(page).status_code == 200
    for _ in "ab":  # a second press of the button is no mistake
        said = {"concept": "Sky", "shown": "1", "wrong": item, "after": DIGITS}
        assert organiser.fill(page, said).status_code == 303
    assert f'value="{item}"' not in organiser.get(f"{page}?concept=Sky&shown=1").text


@pytest.mark.parametrize(
    "odd", [{"expires": float("inf")}, {"expires": 1e300}, {"overlap": MOST + 1}, {"seed": -1}]
)
def test_a_plan_has_numbers_that_can_be_kept(odd):
    with pytest.raises(UsageError):
        Plan(("a", "b"), **odd)
    with pytest.raises(UsageError):
        Plan(("a", "b"), most_per_person=0)


def test_many_who_begin_or_save_at_the_same_time_are_all_served(both):
    """PostgreSQL works on them side by side; none may see the others as a fault."""
    organiser = both.browser("organiser", both.password)
    said = {"kind": "measures", "slug": "asked", "questions": "2"}
    assert organiser.fill("/tiny/organise/batches", said).status_code == 303
    here = "/tiny/organise/batches/asked"
    organiser.fill(f"{here}/state", {"to": "running"}, page=here)
    shown = organiser.fill(f"{here}/people", {"kind": "survey"}, page=here).text
    link = "/tiny/survey/" + shown.partition("/tiny/survey/")[2].split("<")[0].split('"')[0]
    chosen = re.findall(
        r'type="radio"[^>]*name="([^"]+)"[^>]*value="([^"]*)"', both.browser().get(link).text
    )
    about = {"age": "30"} | dict(chosen)

    def begins(_):
        return both.browser().fill(link, about).status_code

    def registers(k):
        said = {"login": "same", "person": "S", "password": PASSWORD, "signature": "S"}
        about = {"acronym": f"S{k}", "name": "S", "country": "", "reference": ""}
        return both.browser().fill("/tiny/register", said | about).status_code

    with both.context.store.read() as connection:
        teams_before = len(connection.execute(select(team.c.id)).all())
    crowd = crowd_browser(both)
    where, text = next_page(crowd)
    data = GOOD | {"csrf": hidden(text, "csrf"), "client_key": "one", "state": "done"}
    with ThreadPoolExecutor(16) as threads:
        assert set(threads.map(begins, range(16))) == {303}
        # All are answered alike, and one of them has the name and a team.
        assert set(threads.map(registers, range(8))) == {303}
        assert set(threads.map(lambda _: crowd.post(where, data=data).status_code, "a" * 8)) == {
            303
        }
    with both.context.store.read() as connection:
        assert len(connection.execute(select(team.c.id)).all()) == teams_before + 1
