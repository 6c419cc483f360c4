"""A campaign with a truth that is not sure, and with little gold and much silver, over HTTP."""

import csv
import io
import json

import pytest

from cranfield.errors import UsageError
from cranfield.server import admin
from tests.server.conftest import put
from tests.server.world import CANARY, CONCEPTS, DAY, ITEMS, TOPICS, Site, labels_text, run_text

SILVER_MARK = "0.8765"


def unsure(source, gold_items=6):
    """The tiny collection: rankings by probabilities, annotations by gold for some items."""
    settings = (source / "collection.toml").read_text()
    settings = settings.replace('"qrels.txt"', '"soft.csv"')
    settings = settings.replace(
        'truth = "truth.csv"', 'truth = "gold.csv"\nlabel_silver = "model.csv"'
    )
    (source / "collection.toml").write_text(settings)
    lines = ["topic,item,grade,probability"]
    for n, topic in enumerate(TOPICS):
        for k, item in enumerate(ITEMS):
            p = 0.9 if (k + n) % 3 == 0 else 0.2
            lines += [f"{topic},{item},1,{p}", f"{topic},{item},0,{1 - p}"]
    (source / "soft.csv").write_text("\n".join(lines) + "\n")
    truth = (source / "truth.csv").read_text().splitlines()
    (source / "gold.csv").write_text("\n".join(truth[: gold_items + 1]) + "\n")
    silver = ["item,concept,value,probability"]
    for row in csv.DictReader(truth):
        for c in CONCEPTS:
            p = float(SILVER_MARK) if row[c] == "1" else 0.1
            silver += [f"{row['item']},{c},1,{p}", f"{row['item']},{c},0,{1 - p}"]
    (source / "model.csv").write_text("\n".join(silver) + "\n")
    (source / "qrels.txt").unlink()
    (source / "truth.csv").unlink()


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    made = Site(tmp_path_factory.mktemp("unsure"))
    unsure(made.source)
    made.add_campaign()
    made.move("open")
    with made.serving():
        for name, team, best, value in (("ann", "ONE", ("d0", "d3"), 0.9), ("bob", "TWO", (), 0.4)):
            client = made.program(made.add_token(*made.add_team(name, team)))
            put(client, "r1", run_text(best))
            put(client, "l1", labels_text(value), "labels", ending=".csv")
        made.work()
        made.time += 31 * DAY / 1000
        made.move("closed", "scoring", "released")
        yield made
    made.context.store.close()


def rows_of(site, task):
    text = site.browser().get(f"/tiny/results/{task}.csv").text
    return list(csv.DictReader(io.StringIO(text)))


@pytest.mark.parametrize("task", ["ranked", "labels"])
def test_boards_have_both_parts_of_the_interval(released, task):
    rows = rows_of(released, task)
    assert len(rows) >= 2
    for row in rows:
        low, high = float(row["truth_low"]), float(row["truth_high"])
        assert low <= float(row["mean"]) <= high
        assert float(row["both_low"]) <= low + 1e-9
        assert float(row["both_high"]) >= high - 1e-9
    page = released.browser().get(f"/tiny/results/{task}").text
    assert "by the truth" in page
    assert page.count('class="truth"') == page.count('class="both"') == len(rows)


def test_means_are_estimates_from_gold_and_silver(released, tmp_path):
    """The same as the command finds in the exported collection."""
    from cranfield.campaign.estimated import score_estimated
    from cranfield.io.collection import read_collection

    out = tmp_path / "out"
    admin.export_campaign(released.settings.folder, "tiny", out)
    held = read_collection(out / "collection")
    assert held.label_silver is not None
    found = score_estimated(held, "labels").answer
    expected = {(e.run, e.measure): e for e in found.estimates}
    said = json.loads(released.browser().get("/tiny/results/labels.json").text)
    assert "means are estimates from 6 of 8 items" in json.dumps(said)
    for row in rows_of(released, "labels"):
        e = expected[row["run"], "F.example"]
        assert float(row["mean"]) == pytest.approx(e.value)
        assert (float(row["truth_low"]), float(row["truth_high"])) == pytest.approx(e.these)


def test_silver_is_sealed_with_the_truth(tmp_path):
    made = Site(tmp_path)
    unsure(made.source)
    made.add_campaign()
    made.context.store.close()
    names = [p.name for p in made.settings.public.rglob("*") if p.is_file()]
    assert "model.csv" not in names
    texts = [p.read_bytes() for p in made.settings.public.rglob("*") if p.is_file()]
    assert not any(SILVER_MARK.encode() in t or CANARY.encode() in t for t in texts)


def test_too_little_gold_for_a_campaign_is_refused(tmp_path):
    made = Site(tmp_path)
    unsure(made.source, gold_items=4)
    with pytest.raises(UsageError, match="fewer than 5"):
        made.add_campaign()
    made.context.store.close()
