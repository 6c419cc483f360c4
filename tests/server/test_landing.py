"""What visitors meet first: cards, the overview, sample pictures, one header on every page."""

import io
import re

import pytest

from cranfield.campaign.submissions import PublicSet, check_submission
from cranfield.io.collection import read_collection
from cranfield.server.http import format_left, render_markdown
from cranfield.server.services import landing
from tests.server.world import run_text

PNG = "pictures = 'pictures'\n"


def change(site, **values):
    from sqlalchemy import update

    from cranfield.server.store.tables import campaign

    site.context.store.write(lambda c: c.execute(update(campaign).values(**values)))


@pytest.fixture
def painted(site):
    """The campaign with pictures of two items in its public data, one of them shown."""
    from PIL import Image

    folder = site.settings.public / "tiny"
    (folder / "pictures").mkdir()
    for item in ("d0", "d1"):
        exif = Image.Exif()
        exif[0x010E] = "SECRET PLACE"
        Image.new("RGB", (40, 30), "red").save(folder / f"pictures/{item}.jpg", exif=exif)
    settings = folder / "collection.toml"
    settings.write_text(PNG + settings.read_text())
    change(site, samples="d0")
    return site


def test_a_card_tells_state_time_teams_and_runs(site):
    change(site, summary="Find <things> in eight items.")
    page = site.browser().get("/").text
    assert "Find &lt;things&gt; in eight items." in page
    assert 'class="state open"' in page
    assert "30 days left" in page
    # Two teams registered in the fixture; the baselines are two runs.
    assert re.search(r"<b>2</b> teams", page)
    assert re.search(r"<b>2</b> runs", page)
    assert "leads" not in page


def test_who_leads_is_on_the_card_once_the_results_are_out(site):
    client = site.program(site.add_token(site.ann, site.one))
    about = {"conf": "V", "about": "x"}
    client.put("/tasks/ranked/runs/r1", params=about, content=run_text().encode())
    site.work()
    assert "ONE.r1" not in site.browser().get("/").text
    site.move("closed", "scoring")
    assert "ONE.r1" not in site.browser().get("/").text
    site.move("released")
    home = site.browser().get("/").text
    # Own arithmetic: the means that the data of the board have.
    board = site.browser().get("/tiny/results/ranked.json").json()
    row = next(row for row in board["parts"][0]["rows"] if "ONE.r1" in row.values())
    mean = next(value for name, value in row.items() if name in ("mean", "AP"))
    assert f"ONE.r1</b> with MAP {mean:.4f}" in home


def test_many_campaigns_can_be_searched(site):
    assert "search" not in site.browser().get("/").text
    for number in range(9):
        site.add_campaign(f"more{number}", title=f"Campaign {number}", state="closed")
    page = site.browser().get("/").text
    assert 'role="search"' in page
    assert site.browser().get("/", params={"q": "campaign 7"}).text.count('class="card ') == 1
    assert site.browser().get("/", params={"state": "closed"}).text.count('class="card ') == 9
    assert "No campaign has these words" in site.browser().get("/", params={"q": "zebra"}).text


def test_only_sample_pictures_are_public_and_they_have_no_metadata(painted):
    anybody = painted.browser()
    answer = anybody.get("/tiny/sample/d0")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("image/")
    assert b"SECRET PLACE" not in answer.content
    assert anybody.get("/tiny/sample/d1").status_code == 404
    for page in ("/", "/tiny"):
        assert 'src="/tiny/sample/d0"' in anybody.get(page).text
        assert "sample/d1" not in anybody.get(page).text
    painted.set_state("draft")
    assert anybody.get("/tiny/sample/d0").status_code == 404


def test_settings_refuse_a_sample_without_a_picture(painted):
    organiser = painted.browser("organiser", painted.password)
    form = {
        "title": "A tiny campaign",
        "runs_per_team": "5",
        "samples": "d0, d7",
        "summary": "A line",
        "contact": "desk@example.org",
    }
    refused = organiser.fill("/tiny/organise/settings", form)
    assert refused.status_code == 400
    assert "no picture of &#39;d7&#39;" in refused.text
    assert 'value="A line"' in refused.text
    taken = organiser.fill("/tiny/organise/settings", form | {"samples": "d1"})
    assert taken.status_code == 303
    assert painted.browser().get("/tiny/sample/d1").status_code == 200
    assert "desk@example.org" in painted.browser().get("/tiny").text


def test_a_sample_submission_passes_the_check(site):
    ann = site.browser("ann")
    collection = read_collection(site.settings.public / "tiny")
    for kind in ("ranked", "labels"):
        answer = ann.get(f"/tiny/example/{kind}")
        assert answer.status_code == 200
        ending = "run" if kind == "ranked" else "csv"
        assert f"sample-{kind}.{ending}" in answer.headers["content-disposition"]
        source = io.BytesIO(answer.content)
        source.name = f"x.{ending}"
        threshold = None if kind == "ranked" else 0.5
        checked = check_submission(source, PublicSet.of(collection, kind), threshold=threshold)
        assert checked.problems == ()
        assert checked.missing == ()
    # The data are for those who signed.
    assert site.browser().get("/tiny/example/ranked").status_code == 303
    shown = site.browser().get("/tiny").text
    assert "t1 Q0 d0 1 0.99 sample" in shown
    assert "<math" in shown


def test_the_scores_of_baselines_wait_for_the_release(site):
    site.move("closed", "scoring")
    assert "Baselines:" not in site.browser().get("/tiny").text
    site.move("released")
    assert "Baselines: HOUSE.base" in site.browser().get("/tiny").text


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "[x](javascript:alert(1))",
        "[x](data:text/html,alert)",
        "![x](https://elsewhere.example/x.png)",
        "<a href='javascript:alert(1)'>x</a>",
    ],
)
def test_markdown_obeys_nothing(text):
    drawn = str(render_markdown(text))
    assert "<script" not in drawn
    assert "<img" not in drawn
    assert not re.search(r'href="(javascript|data):', drawn)


def test_markdown_is_drawn_below_the_headings_of_the_page():
    drawn = str(render_markdown("# One\n\n**two** [three](/tiny)"))
    assert "<h3>One</h3>" in drawn
    assert '<strong>two</strong> <a href="/tiny">three</a>' in drawn


def test_time_left_in_the_unit_that_says_most():
    hour = 3600 * 1000
    assert [format_left(n * hour) for n in (49, 47, 1)] == ["2 days", "47 hours", "60 minutes"]


def test_the_letters_of_groups_say_who_stands_alone():
    assert landing._verdict(["a", "b", "b"]) == "ahead of all other runs"
    assert landing._verdict(["ab", "a", "b", "c"]) == "2 other runs cannot be told apart from it"
    assert landing._verdict([""]) == ""


def test_result_pages_keep_the_campaign_the_log_in_and_the_way_back(site):
    client = site.program(site.add_token(site.ann, site.one))
    client.put(
        "/tasks/ranked/runs/r1",
        params={"conf": "V", "about": "x"},
        content=run_text().encode(),
    )
    site.work()
    site.move("closed", "scoring", "released")
    for address in ("", "/method", "/run/ONE.r1"):
        page = site.browser().get(f"/tiny/results/ranked{address}").text
        assert page.count("<header>") == 1
        assert 'href="/login?next=/tiny/results/ranked' in page
        assert 'href="/tiny"' in page
        assert 'href="/"' in page
        assert "<!--header-->" not in page
    ann, bob = site.browser("ann"), site.browser("bob")
    own = ann.get("/tiny/results/ranked")
    assert "Log out" in own.text
    assert own.headers.get("content-encoding") is None
    row = next(line for line in own.text.split("\n") if "/run/ONE.r1" in line)
    assert row.startswith('<tr class="own">')
    assert 'class="own"' not in bob.get("/tiny/results/ranked").text
    assert "Log out" not in site.browser().get("/tiny/results/ranked").text
    again = ann.get("/tiny/results/ranked", headers={"If-None-Match": own.headers["etag"]})
    assert again.status_code == 304


def test_the_owner_names_the_site(site):
    organiser = site.browser("organiser", site.password)
    assert organiser.fill("/admin/site", {"site_name": ""}, page="/admin").status_code == 400
    texts = {"site_name": "Evaluations of Norland", "site_text": "Run by **us**."}
    assert organiser.fill("/admin/site", texts, page="/admin").status_code == 303
    home = site.browser().get("/").text
    assert "<title>Evaluations of Norland</title>" in home
    assert "<strong>us</strong>" in home
    assert "Evaluations of Norland" in site.browser().get("/tiny").text


def test_the_board_tells_steps_days_and_what_happened_in_words(site):
    client = site.program(site.add_token(site.ann, site.one))
    about = {"conf": "V", "about": "x"}
    client.put("/tasks/ranked/runs/r1", params=about, content=run_text().encode())
    client.put("/tasks/ranked/runs/bad", params=about, content=b"t1 Q0 nothing 1 1 x\n")
    page = site.browser("organiser", site.password).get("/tiny/organise").text
    steps = re.findall(r"<li([^>]*)>(\w+)</li>", page[page.index('class="steps"') :])[:6]
    assert [name for _, name in steps] == [
        "draft",
        "open",
        "closed",
        "scoring",
        "released",
        "archived",
    ]
    assert 'class="past"' in steps[0][0]
    assert 'aria-current="step"' in steps[1][0]
    assert "ann sent ONE.r1" in page
    assert "ONE sent bad, refused: 1 problem" in page
    assert "The import brought 2 runs" in page
    assert "1 accepted, 1 refused" in page
    assert page.count('class="primary"') == 1


def test_announcements_are_on_the_overview_and_in_a_feed(site):
    from xml.etree import ElementTree

    organiser = site.browser("organiser", site.password)
    here = "/tiny/organise"
    refused = organiser.fill(f"{here}/announcements", {"news_text": "lost?"}, page=here)
    assert refused.status_code == 400
    assert "lost?" in refused.text
    form = {"news_title": "Later & <longer>", "news_text": "Until **May**."}
    assert organiser.fill(f"{here}/announcements", form, page=here).status_code == 303
    overview = site.browser().get("/tiny").text
    assert "Later &amp; &lt;longer&gt;" in overview
    assert "<strong>May</strong>" in overview
    answer = site.browser().get("/tiny/feed.xml")
    assert answer.headers["content-type"].startswith("application/atom+xml")
    atom = {"a": "http://www.w3.org/2005/Atom"}
    feed = ElementTree.fromstring(answer.content)
    entries = feed.findall("a:entry", atom)
    titles = [entry.find("a:title", atom).text for entry in entries]
    assert sorted(titles) == ["Later & <longer>", "Runs are taken"]
    assert len({entry.find("a:id", atom).text for entry in entries}) == 2
    for part in ("a:id", "a:title", "a:updated", "a:author/a:name"):
        assert feed.find(part, atom).text
    link = re.search(r"/tiny/organise/announcements/(\w+)/withdraw", organiser.get(here).text)
    assert site.browser("ann").get(here).status_code == 403
    assert organiser.fill(link[0], page=here).status_code == 303
    assert "Later" not in site.browser().get("/tiny").text
    assert organiser.fill(link[0], page=here).status_code == 404


def test_a_feed_of_a_draft_is_not_there(site):
    site.set_state("draft")
    assert site.browser().get("/tiny/feed.xml").status_code == 404
