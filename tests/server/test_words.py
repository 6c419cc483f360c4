"""Counts, names and times on the pages are right, and refusals say why."""

import re

from tests.server.conftest import put
from tests.server.world import run_text

BOARD = "/tiny/organise"


def organiser_of(site):
    return site.browser("organiser", site.password)


def fact(page, label):
    return re.search(rf"<dt>{label}</dt><dd>(.*?)</dd>", page)[1]


def test_only_teams_of_people_have_registered(site):
    page = organiser_of(site).get(BOARD).text
    assert fact(page, "Registered").startswith("2 teams ")
    assert fact(page, "Sent runs").startswith("0 ")


def test_scores_that_are_there_are_not_called_none(site):
    page = organiser_of(site).get(BOARD).text
    assert "1 of 1 runs scored" in page
    assert "none yet" not in page


def test_the_audit_names_people_teams_and_runs(site):
    receipt = put(site.program(site.add_token(site.ann, site.one)), "r1", run_text())
    organiser = organiser_of(site)
    for page in (organiser.get(BOARD).text, organiser.get("/admin/audit").text):
        assert "ONE.r1" in page
        assert receipt["id"] not in page.partition("What happened last")[2]
        assert site.ann not in page.partition("What happened last")[2]
    assert "<td>ONE.r1</td><td>ann</td>" in organiser.get("/admin/audit").text


def test_a_campaign_that_cannot_open_says_what_is_lacking(unserved):
    unserved.set_state("draft")
    unserved.time += 40 * 24 * 3600
    with unserved.serving():
        organiser = organiser_of(unserved)
        sent = organiser.fill(f"{BOARD}/state", {"to": "open"}, page=BOARD)
        assert sent.status_code == 409
        assert "Cannot become open yet: no closing date is still to come." in sent.text


def test_dates_that_are_not_set_are_told_as_such():
    from cranfield.campaign.workflow import Facts, guards

    lacking = {g.name: g.refusal for g in guards("open", Facts()) if not g.holds}
    assert lacking["dates"] == "the opening and closing dates are not set"
    assert lacking["tasks"] == "there is no task"
    assert lacking["licence"] == "there is no licence to sign"


def test_a_released_campaign_does_not_close_next_month(unserved):
    unserved.set_state("released")
    with unserved.serving():
        page = unserved.browser().get("/tiny").text
    assert ">Closes<" not in page
    assert "Closed<small>before its date" in page


def test_who_may_not_is_told_whom_a_page_is_for(site):
    refused = site.browser("ann").get(BOARD)
    assert refused.status_code == 403
    assert "This page is for: organiser. You are logged in as ann." in refused.text
    early = site.browser("ann").get("/tiny/results")
    assert early.status_code == 403
    assert "once the campaign is released or archived; it is open." in early.text


def test_the_names_of_exports_have_a_date_that_people_read(site):
    organiser = organiser_of(site)
    assert organiser.fill(f"{BOARD}/export", page=BOARD).status_code == 303
    site.work()
    (file,) = (site.settings.folder / "exports").iterdir()
    assert re.fullmatch(r"tiny-2027-01-15-080000-[a-z0-9]{4}\.tar\.gz", file.name)


def test_titles_do_not_say_the_same_twice(site):
    browser = site.browser()
    assert "<title>Campaigns</title>" in browser.get("/").text
    assert "<title>Log in · Campaigns</title>" in browser.get("/login").text


def trail(page):
    found = re.search(r'<nav class="trail" aria-label="You are here">(.*?)</nav>', page, re.S)[1]
    links = re.findall(r'<a href="([^"]*)">([^<]*)</a>', found)
    return links, re.search(r'<span aria-current="page">([^<]*)</span>', found)[1]


def test_every_page_of_a_campaign_says_where_it_is(released):
    campaigns, tiny = ("/", "Campaigns"), ("/tiny", "A tiny campaign")
    organise = ("/tiny/organise", "Organise")
    board = ("/tiny/results/ranked", "Retrieval")
    ways = {
        "/tiny": ([campaigns], "A tiny campaign"),
        "/tiny/runs": ([campaigns, tiny], "Runs"),
        "/tiny/organise": ([campaigns, tiny], "Organise"),
        "/tiny/organise/settings": ([campaigns, tiny, organise], "Settings"),
        "/tiny/results": ([campaigns, tiny], "Results"),
        "/tiny/results/ranked": ([campaigns, tiny], "Retrieval by MAP"),
        "/tiny/results/ranked/method": ([campaigns, tiny, board], "Method"),
        "/tiny/results/ranked/run/ONE.r1": ([campaigns, tiny, board], "ONE.r1"),
    }
    organiser = organiser_of(released)
    for path, way in ways.items():
        page = organiser.get(path)
        assert page.status_code == 200, path
        assert trail(page.text) == way
        for address, _ in way[0]:
            assert organiser.get(address).status_code == 200


def test_every_page_has_a_title_of_its_own_and_the_icon(released):
    organiser = organiser_of(released)
    assert organiser.get("/static/icon.svg").headers["content-type"].startswith("image/svg")
    titles = {}
    for path in ("/", "/login", "/account", "/tiny", "/tiny/runs", "/tiny/results/ranked", "/none"):
        page = organiser.get(path).text
        titles[path] = re.search("<title>(.*?)</title>", page)[1]
        assert '<link rel="icon" href="/static/icon.svg">' in page
    assert titles["/"] == "Campaigns"
    assert titles["/tiny"] == "Overview · A tiny campaign"
    assert titles["/none"] == "There is no such page · Campaigns"
    assert len(set(titles.values())) == len(titles)
    for title in titles.values():
        first, _, site = title.partition(" · ")
        assert first
        assert first != site


def test_formulas_on_the_site_are_drawn_without_style_and_script(released):
    page = released.browser().get("/tiny/results/ranked/method").text
    cells = re.findall(r'<td class="formula">(<math .*?</math>)', page)
    assert len(cells) == len(re.findall("<td>(?:higher|lower|neither)", page)) > 0
    assert "<mfrac>" in cells[0]
    assert not re.search("style=|<script", "".join(cells))


def test_a_new_batch_asks_only_for_what_its_kind_takes(site):
    organiser, here = organiser_of(site), "/tiny/organise/batches"
    kinds = re.findall(rf'href="{here}\?kind=(\w+)#new"', organiser.get(here).text)
    assert len(kinds) == len(set(kinds)) == 9
    fields = {
        kind: set(re.findall(r' name="(\w+)"', organiser.get(f"{here}?kind={kind}").text))
        for kind in kinds
    }
    assert {"split", "gold", "certainty", "file"} <= fields["labels"]
    assert fields["labels"].isdisjoint({"depth", "measure", "questions"})
    assert {"depth", "measure", "budget"} <= fields["drawn"]
    assert fields["drawn"].isdisjoint({"certainty", "gold", "file"})
    assert "file" in fields["survey"]
    assert "overlap" not in fields["survey"]


def test_a_refused_batch_comes_back_as_the_form_of_its_kind(site):
    organiser, here = organiser_of(site), "/tiny/organise/batches"
    page = organiser.get(f"{here}?kind=relevance").text
    token = re.search(r'name="csrf" value="([0-9a-f]+)"', page)[1]
    sent = {"csrf": token, "kind": "relevance", "slug": "pool", "depth": "ten", "seed": "7"}
    refused = organiser.post(here, data=sent)
    assert refused.status_code == 400
    assert "A new batch: Pool of the runs" in refused.text
    assert 'value="ten"' in refused.text
    # What was typed in a part that is folded is not hidden.
    assert "<details open><summary>Pay, limits and order</summary>" in refused.text


def test_the_site_has_a_page_for_results_with_the_first_runs_of_each_task(site):
    put(site.program(site.add_token(site.ann, site.one)), "r1", run_text())
    page = organiser_of(site).get("/tiny/results").text
    assert "There are no tables yet" in page
    assert 'href="/tiny/results/' not in page


def test_links_of_the_site_itself_do_not_look_like_campaigns(site):
    """A reader of the first page that takes the first part of addresses finds campaigns alone."""
    page = site.browser().get("/").text
    assert set(re.findall(r'href="/([a-z0-9-]+)"', page)) == {"tiny"}
    assert "begin" in re.findall(r'href="/api#([a-z]+)"', page)


def test_the_names_of_rows_stay_on_a_narrow_page():
    from cranfield.report.document import Column
    from cranfield.site.tables import _column_classes

    team, best = Column("team", numeric=False), Column("best")
    assert "x1" not in _column_classes([team, best], False)
    assert "x2" in _column_classes([best, team], False)
