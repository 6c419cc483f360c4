"""The plan of a campaign: what its scores so far can show, and what more would cost."""

import re

import pytest

import cranfield as cf
from tests.server.test_phases import QRELS, ranking
from tests.server.world import Site

PAGE = "/tiny/organise/plan"


@pytest.fixture
def planned(tmp_path):
    """A campaign that takes runs, with two baselines; no table is made yet."""
    site = Site(tmp_path)
    settings = site.source / "collection.toml"
    text = settings.read_text()
    start, end = text.index('truth = "truth.csv"'), text.index("[[run_facts]]")
    settings.write_text(text[:start] + text[end : text.rindex("[[run_facts]]")])
    topics = [f"t{n}" for n in range(8)]
    (site.source / "qrels.txt").write_text(QRELS)
    (site.source / "topics.csv").write_text("topic,text\n" + "".join(f"{t},T\n" for t in topics))
    (site.source / "items.csv").write_text("item,text\n" + "".join(f"d{k},I\n" for k in range(6)))
    (site.source / "base.run").write_text(ranking(()))
    site.add_campaign()
    with site.serving():
        site.move("open")
        yield site


def test_a_plan_needs_two_runs_and_then_says_what_they_show(planned):
    organiser = planned.browser("organiser", planned.password)
    assert "the scores of two runs or more" in organiser.get(PAGE).text
    ann, one = planned.add_team("ann", "ONE")
    best = ranking(("d4", "d1"))
    program = planned.program(planned.add_token(ann, one))
    sent = program.put(
        "/tasks/ranked/runs/r1", params={"conf": "V", "about": "w"}, content=best.encode()
    )
    assert sent.status_code == 201, sent.text
    planned.work()
    shown = organiser.get(PAGE, params={"difference": "0.2", "measure": "AP"})
    assert shown.status_code == 200
    # The same plan by the library, on the same runs.
    truth = [line.split() for line in QRELS.splitlines()]
    judged = {t: {i: int(g) for u, _, i, g in truth if u == t} for t, *_ in truth}
    runs = {
        name: {
            t: {i: float(s) for u, _, i, _, s, _ in map(str.split, text.splitlines()) if u == t}
            for t in judged
        }
        for name, text in (("HOUSE.base", ranking(())), ("ONE.r1", best))
    }
    plan = cf.lab.plan_campaign(
        cf.evaluate(judged, runs, "AP"), difference=0.2, test="t", simulations=100
    ).plans[0]
    assert f"needs {plan.needed} of them" in re.sub(r"\s+", " ", shown.text)
    assert f"show a difference of {plan.detectable:.3f} in AP" in shown.text
    assert "<svg" in shown.text
    wrong = organiser.get(PAGE, params={"difference": "-1"})
    assert wrong.status_code == 400
    assert "greater than 0" in wrong.text
    assert "takes a number" in organiser.get(PAGE, params={"difference": "much"}).text
    assert planned.browser().get(PAGE).status_code != 200
