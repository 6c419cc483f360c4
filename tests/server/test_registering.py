"""Registering tells nobody's login name, and ends with the campaign."""

import pytest

from cranfield.campaign.workflow import STATES
from tests.server.world import DAY, PASSWORD

TEAM = {"acronym": "NEW", "name": "New", "country": "", "reference": "", "signature": "Eve"}


def filled(login, **more):
    return {"login": login, "person": "Eve", "password": "another password"} | TEAM | more


def seen(answer):
    """All that somebody sees of an answer, but for the time."""
    headers = {name: value for name, value in answer.headers.items() if name != "date"}
    return answer.status_code, headers, answer.text


@pytest.mark.parametrize("acronym", ["NEW", "ONE", "no acronym"])
def test_a_taken_name_is_answered_as_a_free_one(both, acronym):
    both.add_team("ann", "ONE")
    answers = [
        seen(both.browser().fill("/tiny/register", filled(login, acronym=acronym)))
        for login in ("ann", "organiser")
    ]
    free = seen(both.browser().fill("/tiny/register", filled("eve", acronym=acronym)))
    if acronym == "NEW":
        assert answers == [free, free]
        assert free[0] == 303
        assert free[1]["location"] == "/login?next=/tiny/team"
    else:
        # What was typed comes back; otherwise they are alike.
        assert {answer[0] for answer in [*answers, free]} == {400}
        assert all("is taken" not in answer[2] for answer in [*answers, free])


def test_nothing_is_changed_for_the_one_who_has_the_name(both):
    both.add_team("ann", "ONE")
    assert both.browser().fill("/tiny/register", filled("ann")).status_code == 303
    ann = both.browser("ann", PASSWORD)
    assert "ONE" in ann.get("/tiny/team").text
    wrong = both.browser().fill("/login", {"login": "ann", "password": "another password"})
    assert wrong.status_code == 400
    # The acronym is still free: nothing of the other registration was kept.
    assert both.browser().fill("/tiny/register", filled("eve")).status_code == 303
    eve = both.browser("eve", "another password")
    assert "NEW" in eve.get("/tiny/team").text


def test_joining_tells_no_names_either(both):
    both.add_team("ann", "ONE")
    ann = both.browser("ann")
    link = ann.fill("/tiny/team/invitation", page="/tiny/team").text.split("/join/")[1]
    page = f"/tiny/join/{link.split('<')[0]}"
    answers = [seen(both.browser().fill(page, filled(login))) for login in ("ann", "yan")]
    assert answers[0] == answers[1]
    assert answers[0][0] == 303
    assert both.browser("yan", "another password").get("/tiny/team").status_code == 200


def test_registration_closes_with_the_campaign(both):
    page = both.browser()
    token = page.token("/tiny/register")
    assert token
    # The date has come, and nobody has written down yet that the campaign is closed.
    both.time += 31 * DAY / 1000
    late = page.post("/tiny/register", data={"csrf": token} | filled("eve"))
    assert late.status_code == 400
    assert "Registration is closed" in late.text
    assert page.get("/tiny/register").status_code == 403


@pytest.mark.parametrize("state", [s for s in STATES if s not in ("draft", "open")])
def test_no_team_registers_in_other_states(both, state):
    page = both.browser()
    token = page.token("/tiny/register")
    both.set_state(state)
    answer = page.post("/tiny/register", data={"csrf": token} | filled("eve"))
    assert answer.status_code == 403
    assert page.get("/tiny/register").status_code == 403
