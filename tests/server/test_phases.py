"""Phases with quotas, the live board and its sealed counterpart, late runs, trials."""

import pytest

from cranfield.server.services import phases
from cranfield.server.services.campaigns import by_slug
from tests.server.conftest import put
from tests.server.world import DAY, PASSWORD, Site, labels_text, run_text

QRELS = "".join(f"t{n} 0 d{k} {int((k + n) % 3 == 0)}\n" for n in range(8) for k in range(6))
TOPICS = [f"t{n}" for n in range(8)]


def ranking(best):
    order = [*best, *(f"d{k}" for k in range(6) if f"d{k}" not in best)]
    return "".join(
        f"{topic} Q0 {item} {rank} {10 - rank} x\n"
        for topic in TOPICS
        for rank, item in enumerate(order, 1)
    )


@pytest.fixture
def phased(tmp_path):
    """A campaign whose first phase is live and whose second is sealed."""
    site = Site(tmp_path)
    settings = site.source / "collection.toml"
    text = settings.read_text()
    start, end = text.index('truth = "truth.csv"'), text.index("[[run_facts]]")
    settings.write_text(text[:start] + text[end : text.rindex("[[run_facts]]")])
    (site.source / "qrels.txt").write_text(QRELS)
    (site.source / "topics.csv").write_text("topic,text\n" + "".join(f"{t},T\n" for t in TOPICS))
    (site.source / "items.csv").write_text("item,text\n" + "".join(f"d{k},I\n" for k in range(6)))
    (site.source / "base.run").write_text(ranking(()))
    site.add_campaign()
    with site.serving():
        organiser = site.browser("organiser", site.password)
        page = "/tiny/organise/phases"
        answer = organiser.fill(f"{page}/live", {"live_part": "50%"}, page=page)
        assert answer.status_code == 303, answer.text
        site.work()
        for name, start, end, runs, daily, live in (
            ("Development", 0, 10, 3, 2, "yes"),
            ("Final", 10, 30, 1, 0, ""),
        ):
            values = {
                "name": name,
                "opens": clock_text(site.now + start * DAY),
                "closes": clock_text(site.now + end * DAY),
                "runs": str(runs),
                "runs_per_day": str(daily),
                "phase": "",
            }
            answer = organiser.fill(page, values | ({"live": live} if live else {}))
            assert answer.status_code == 303, answer.text
        site.move("open")
        site.ann, site.one = site.add_team("ann", "ONE")
        site.program_of_ann = site.program(site.add_token(site.ann, site.one))
        yield site, organiser


def clock_text(time):
    from cranfield.server.services.organiser_dashboard import format_time

    return format_time(time)


def refused(program, tag, text):
    answer = program.put(
        f"/tasks/ranked/runs/{tag}", params={"conf": "V", "about": "x"}, content=text.encode()
    )
    assert answer.status_code == 409, answer.text
    return answer.json()["detail"]


def test_each_phase_has_its_quota_and_the_last_one_makes_the_tables(phased):
    site, _ = phased
    program = site.program_of_ann
    assert put(program, "a", ranking(("d0",)))["remaining"] == 2
    put(program, "b", ranking(("d3",)))
    assert "2 runs a day" in refused(program, "c", ranking(("d1",)))
    site.time += DAY / 1000
    put(program, "c", ranking(("d1",)))
    assert "all 3 runs" in refused(program, "d", ranking(("d2",)))
    site.work()
    board = site.browser().get("/tiny/live/ranked").text
    assert "ONE" in board
    assert "not the results" in board
    overview = site.browser().get("/tiny").text
    assert "Development, " in overview
    assert "The live board" in overview
    assert "scores are sealed until" not in overview
    site.time += 10 * DAY / 1000
    put(program, "final", ranking(("d2",)))
    assert "all 1 runs" in refused(program, "more", ranking(("d4",)))
    site.time += 20 * DAY / 1000
    site.move("closed", "scoring", "released")
    page = site.browser().get("/tiny/results/ranked").text
    assert "ONE.final" in page
    assert "ONE.a" not in page


def test_final_tables_are_made_from_what_was_never_live(phased):
    site, _ = phased
    put(site.program_of_ann, "a", ranking(("d0",)))
    site.time += 11 * DAY / 1000
    put(site.program_of_ann, "z", ranking(("d0",)))
    site.work()
    with site.context.store.read() as connection:
        row = by_slug(connection, "tiny")
        (task,) = site_tasks(connection, row)
        board = phases.read_board(connection, task["id"])
    assert board["units"] == 4
    site.time += 20 * DAY / 1000
    site.move("closed", "scoring", "released")
    scores = site.browser().get("/api/v1/tasks/ranked/scores").json()
    assert {run["topics"]["evaluated"] for run in scores["runs"]} == {4}
    files = site.browser().get("/tiny/results/ranked/files.json").json()
    assert "qrels.txt" in str(files)
    published = site.browser().get("/tiny/results/ranked/files/qrels.txt").text
    assert len({line.split()[0] for line in published.splitlines()}) == 4


def site_tasks(connection, row):
    from cranfield.server.services.campaigns import tasks_of

    return tasks_of(connection, row["id"])


def test_without_a_live_part_there_is_no_board_and_no_live_phase(site):
    assert site.browser().get("/tiny/live").status_code == 404
    organiser = site.browser("organiser", site.password)
    values = {
        "name": "Live",
        "opens": clock_text(site.now),
        "closes": clock_text(site.now + DAY),
        "runs": "3",
        "live": "yes",
    }
    answer = organiser.fill("/tiny/organise/phases", values)
    assert answer.status_code == 400
    assert "Choose the live part first" in answer.text
    # What was typed is there again.
    assert 'value="Live"' in answer.text
    late = organiser.fill(
        "/tiny/organise/phases/live", {"live_part": "30%"}, page="/tiny/organise/phases"
    )
    assert late.status_code == 400


def test_phases_share_no_time_and_lie_within_the_campaign(phased):
    site, organiser = phased
    values = {"name": "Third", "runs": "1", "phase": ""}
    for start, end, words in ((5, 12, "at the same time"), (31, 40, "between the opening")):
        times = {
            "opens": clock_text(site.now + start * DAY),
            "closes": clock_text(site.now + end * DAY),
        }
        answer = organiser.fill("/tiny/organise/phases", values | times)
        assert answer.status_code == 400
        assert words in answer.text


def test_late_runs_are_taken_by_decision_only_and_say_so(site):
    program = site.program(site.add_token(site.ann, site.one))
    site.time += 31 * DAY / 1000
    assert "taken while the campaign is open" in refused(program, "r1", run_text())
    organiser = site.browser("organiser", site.password)
    page = "/tiny/organise/phases"
    until = clock_text(site.now + DAY)
    empty = organiser.fill(
        f"{page}/late", {"team": site.one, "until": until, "late_reason": ""}, page=page
    )
    assert empty.status_code == 400
    decided = {"team": site.one, "until": until, "late_reason": "The network of ONE was down"}
    assert organiser.fill(f"{page}/late", decided, page=page).status_code == 303
    put(program, "r1", run_text(("d0",)))
    put(program, "l1", labels_text(), "labels", ending=".csv")
    bob = site.program(site.add_token(site.bob, site.two))
    assert "taken while" in refused(bob, "r1", run_text())
    site.time += 2 * DAY / 1000
    assert "taken while" in refused(program, "r2", run_text(("d1",)))
    site.work()
    site.move("scoring", "released")
    assert "Late, by decision." in site.browser().get("/tiny/results/ranked/run/ONE.r1").text


def test_organisers_try_a_run_that_stands_in_no_table(site):
    organiser = site.browser("organiser", site.password)
    values = {
        "task": "ranked",
        "tag": "trial",
        "configuration": "V",
        "description": "the pipeline works",
        "do": "submit",
    }
    sent = organiser.fill(
        "/tiny/submit", values, files={"file": ("x.run", run_text(("d0",)).encode())}
    )
    assert sent.status_code == 303, sent.text
    run = sent.headers["location"].rpartition("/")[2]
    site.work()
    page = organiser.get(f"/tiny/organise/runs/{run}").text
    assert "trial" in page
    assert "<td>AP</td>" in page
    site.time += 31 * DAY / 1000
    site.move("closed", "scoring", "released")
    assert "trial" not in site.browser().get("/tiny/results/ranked").text
    assert site.browser("ann", PASSWORD).get(f"/tiny/runs/{run}").status_code == 404
