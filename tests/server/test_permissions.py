"""Every route, role and state by the table of permissions; ids of other teams; forms; headers."""

import re

import pytest

from cranfield.campaign.workflow import PUBLISHED, STATES
from cranfield.server.app import admit
from cranfield.server.auth import Identity
from cranfield.server.headers import ALWAYS
from cranfield.server.http import HANDLERS, Refusal
from cranfield.server.permissions import RESERVED, ROLES, RULES, Role
from tests.server.world import PASSWORD, Site, run_text

# The roles that somebody has who is called by the letter of the first.
HELD = {
    "P": "P",
    "N": "PN",
    "T": "PNT",
    "L": "PNTL",
    "A": "PNA",
    "C": "C",
    "J": "PNJ",
    "O": "PNO",
    "S": "PNS",
}
VALUES = {
    "c": "tiny",
    "t": "ranked",
    "id": "nothing",
    "link": "nothing",
    "tag": "r1",
    "file": "x",
    "address": "x",
    "a": "nothing",
    "b": "nothing",
}


class Asked:
    """As much of a request as the guard looks at."""

    def __init__(self, rule, site=None):
        names = re.findall(r"{(\w+)", rule.path)
        self.path_params = {name: VALUES[name] for name in names}
        self.app = site.app if site else None


@pytest.fixture(scope="module")
def quiet(tmp_path_factory):
    """A site that nobody asks anything."""
    made = Site(tmp_path_factory.mktemp("quiet"))
    yield made
    made.context.store.close()


def identity_with(letters, state):
    known = {"state": state, "id": "x", "slug": "tiny"}
    who = "someone" if "N" in letters else ""
    worker = "worker" if letters == "C" else ""
    return Identity(
        roles=frozenset(map(Role, letters)), person=who, assessor=worker, campaign=known, task=known
    )


def outcome(rule, letters, state, site):
    try:
        admit(rule, identity_with(letters, state), Asked(rule, site))
    except Refusal as refusal:
        return "confirm" if refusal.extra.get("confirm") else refusal.status
    return 200


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_route_by_role_and_state(rule, quiet):
    """What the table says is what the guard does, for every role in every state."""
    for state in STATES:
        for role, letters in HELD.items():
            found = outcome(rule, letters, state, quiet)
            may = bool(set(letters) & rule.roles) and (state in rule.when)
            if state == "draft" and role != "O" and not rule.drafts:
                may = False
            may = may or bool(set(letters) & rule.always)
            if may:
                assert found == ("confirm" if rule.confirmed else 200), (role, state)
            else:
                assert found in (401, 403, 404), (role, state)


def test_results_are_for_organisers_until_they_are_released():
    for rule in RULES:
        if rule.name.startswith(("results", "api.scores", "api.per_topic")):
            for state in STATES:
                seen = {role for role, held in HELD.items() if rule.allows(frozenset(held), state)}
                assert seen == ({"O"} if state not in PUBLISHED else set(HELD)), state


def test_every_route_has_its_rule_and_every_rule_its_route(unserved):
    routes = [route for route in unserved.app.routes if getattr(route, "methods", None)]
    # A head is asked for by the rule of its page.
    made = {(m, route.path) for route in routes for m in route.methods - {"HEAD"}}
    ruled = {(rule.method, rule.path) for rule in RULES}
    own = {("GET", "/api/v1/openapi.json")}
    assert made - own == ruled
    assert {rule.name for rule in RULES} == set(HANDLERS)
    assert all(set(rule.roles) <= set(ROLES) for rule in RULES)
    firsts = {rule.path.split("/")[1] for rule in RULES} - {"", "{c}"}
    assert firsts <= RESERVED


def test_the_description_speaks_of_files_that_are_sent(unserved):
    """Programs are made from the description: without the body they would send nothing."""
    described = unserved.app.openapi()["paths"]
    sent = [
        described[rule.path][rule.method.lower()]["requestBody"]
        for rule in RULES
        if rule.name in ("api.run.put", "api.check")
    ]
    assert len(sent) == 2
    for body in sent:
        assert body["required"]
        assert list(body["content"]) == ["application/octet-stream"]


def test_over_http(site):
    """Every route answers every role as the table says; a form without its field does nothing."""
    carl = site.add_person("carl")
    site.grant(carl, "J")
    site.grant(site.add_person("sara"), "S", None)
    site.add_person("nina")
    people = {
        "P": site.browser(),
        "N": site.browser("nina"),
        "L": site.browser("ann"),
        "J": site.browser("carl"),
        "O": site.browser("organiser", site.password),
        "S": site.browser("sara"),
    }
    held = HELD | {"O": "PNOS"}
    for rule in RULES:
        path = re.sub(r"{(\w+)(:path)?}", lambda found: VALUES[found[1]], rule.path)
        for role, browser in people.items():
            answer = browser.request(rule.method, path)
            about = rule.has_campaign or "{t}" in rule.path
            may = rule.allows(frozenset(held[role]), "open" if about else None)
            said = (rule.name, role, answer.status_code)
            assert answer.status_code < 500, said
            for name, value in ALWAYS.items():
                assert answer.headers[name] == value, (said, name)
            if not may:
                assert answer.status_code in (303, 401, 403, 404), said
                assert "expired" not in answer.text, said
            elif rule.method != "GET":
                expired = "expired" in answer.text or answer.status_code in (401, 413)
                confirm = rule.confirmed or rule.is_api
                assert expired or (confirm and answer.status_code in (303, 401, 404)), said
            else:
                assert answer.status_code in (200, 303, 404), said


def test_what_belongs_to_one_team_is_not_there_for_others(site):
    token = site.add_token(site.ann, site.one)
    sent = site.program(token).put(
        "/tasks/ranked/runs/r1", params={"conf": "V", "about": "x"}, content=run_text().encode()
    )
    run = sent.json()["id"]
    site.work()
    bob, program = site.browser("bob"), site.program(site.add_token(site.bob, site.two))
    for path in (f"/tiny/runs/{run}", f"/tiny/runs/{run}/file", f"/tiny/organise/runs/{run}"):
        assert bob.get(path).status_code in (403, 404)
        assert site.browser().get(path).status_code in (303, 404)
    assert bob.get(f"/tiny/runs/{run}").status_code == 404
    assert bob.fill(f"/tiny/runs/{run}/withdraw", page="/tiny/runs").status_code == 404
    assert program.delete("/tasks/ranked/runs/r1").status_code == 404
    assert program.get("/tasks/ranked/runs").json() == {"runs": []}
    assert program.get(f"/runs/{run}/per-topic").status_code == 404
    assert bob.fill(f"/tiny/team/members/{site.ann}/remove", page="/tiny/team").status_code == 400
    assert site.browser("ann").get(f"/tiny/runs/{run}").status_code == 200


def test_a_token_of_a_team_speaks_for_nothing_else(site):
    program = site.program(site.add_token(site.ann, site.one))
    assert program.post("/campaigns/tiny/state", json={"to": "closed"}).status_code == 403
    all_mine = site.program(site.add_token(site.ann, None, "all"))
    assert all_mine.post("/campaigns/tiny/state", json={"to": "closed"}).status_code == 403
    assert site.program("cf_wrong").get("/tasks/ranked/runs").status_code == 401


def test_a_form_from_elsewhere_is_refused(site):
    ann = site.browser("ann")
    token = ann.token("/tiny/team")
    assert ann.post("/tiny/team", data={"name": "X", "csrf": "0" * 64}).status_code == 403
    assert ann.post("/tiny/team", data={"name": "X"}).status_code == 403
    other = {"Sec-Fetch-Site": "cross-site"}
    assert (
        ann.post("/tiny/team", data={"name": "X", "csrf": token}, headers=other).status_code == 403
    )
    bob = site.browser("bob")
    assert bob.post("/tiny/team", data={"name": "X", "csrf": token}).status_code == 403
    good = {"name": "New name", "country": "", "reference": "", "csrf": token}
    assert ann.post("/tiny/team", data=good).status_code == 303
    assert "New name" in ann.get("/tiny/team").text


def test_pages_are_not_kept_by_browsers_but_style_and_script_are(site):
    for path, said in (("/tiny", "no-store"), ("/static/icon.svg", "public, max-age=3600")):
        assert site.browser().get(path).headers["cache-control"] == said


def test_cookies_are_out_of_reach_of_scripts(site):
    answer = site.browser().fill("/login", {"login": "ann", "password": "a long password"})
    cookie = next(v for v in answer.headers.get_list("set-cookie") if "session" in v).lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert "secure" not in cookie


def test_who_judges_by_a_link_is_still_one_of_the_public(site):
    """A survey that was answered closes no page of the site: not its results, not the login."""
    from tests.server.people import add, crowd_browser

    add(site)
    site.add_campaign("other", title="NOT-YET-CALLED")
    worker = crowd_browser(site)
    for path in ("/", "/healthz", "/login", "/tiny", "/tiny/call", "/api/v1/campaigns/tiny"):
        assert worker.get(path).status_code == 200, path
    assert worker.get("/tiny/register").status_code == 403
    # A draft of others is not there, not even by its name.
    for path in ("/other", "/other/work", "/other/results"):
        answer = worker.get(path)
        assert answer.status_code == 404, path
        assert "NOT-YET-CALLED" not in answer.text
    assert worker.log_in("ann", PASSWORD).status_code == 303
    assert worker.get("/tiny/team").status_code == 200


def test_heads_are_answered_and_other_methods_told(site):
    anybody = site.browser()
    for path in ("/healthz", "/", "/tiny", "/login"):
        answer = anybody.head(path)
        assert (answer.status_code, answer.content) == (200, b""), path
    assert anybody.head("/tiny/results/ranked").status_code == 403
    refused = anybody.put("/healthz")
    assert refused.status_code == 405
    assert set(refused.headers["allow"].split(", ")) == {"GET", "HEAD"}
