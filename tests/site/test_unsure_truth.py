"""A truth that is not sure, or gold for some topics only: both parts of the interval in the row."""

import csv
import gzip
import json
import random
import re
import shutil
from dataclasses import replace

import pytest

pytest.importorskip("jinja2")

import cranfield as cf
from cranfield.answers import load
from cranfield.campaign.collections import check_collection
from cranfield.campaign.estimated import with_truths
from cranfield.campaign.results import ResultsData, result_table
from cranfield.cli import main
from cranfield.errors import NeedsError, UsageError
from cranfield.io.collection import read_collection
from cranfield.io.samples import SAMPLE, copy_sample
from cranfield.report.charts.leaderboard import leaderboard as chart
from cranfield.report.collection import collection_report
from cranfield.site.publish import publish

FEW = {"resamples": 400, "kinds": ("ranked",)}
RUNS = 8


def judged():
    with gzip.open(SAMPLE / "qrels.txt.gz", "rt") as lines:
        return [line.split() for line in lines]


def changed(folder, **keys):
    """A copy of the sample whose collection.toml has other values."""
    copy_sample(folder)
    text = (folder / "collection.toml").read_text()
    for key, value in keys.items():
        line = f'{key} = "{value}"\n'
        text, found = re.subn(rf"(?m)^{key} = .*\n", line, text)
        text = text if found else line + text
    # Topics one by one here; tests of designs are elsewhere.
    text = re.sub(r"(?m)^design = .*\n", "", text)
    (folder / "collection.toml").write_text(text)
    return folder


@pytest.fixture(scope="module")
def little(tmp_path_factory):
    """Gold for 20 of the 80 topics, silver that is wrong in a tenth of the pairs."""
    folder = tmp_path_factory.mktemp("little") / "digits"
    changed(folder, judgements="gold.qrels", silver="silver.qrels")
    rng, rows = random.Random(3), judged()
    topics = sorted({row[0] for row in rows})
    gold = set(rng.sample(topics, 20))
    people = [" ".join(row) for row in rows if row[0] in gold]
    (folder / "gold.qrels").write_text("\n".join(people) + "\n")
    silver = [
        f"{t} 0 {i} {int(g) if rng.random() < 0.9 else 1 - min(int(g), 1)}" for t, _, i, g in rows
    ]
    (folder / "silver.qrels").write_text("\n".join(silver) + "\n")
    return folder


@pytest.fixture(scope="module")
def soft(tmp_path_factory):
    folder = tmp_path_factory.mktemp("soft") / "digits"
    changed(folder, judgements="soft.csv")
    lines = ["topic,item,grade,probability"]
    for topic, _, item, grade in judged():
        lines += [f"{topic},{item},{grade},0.85", f"{topic},{item},{1 - min(int(grade), 1)},0.15"]
    (folder / "soft.csv").write_text("\n".join(lines) + "\n")
    return folder


def asked(capsys, *argv):
    code = main([*map(str, argv)])
    out = capsys.readouterr()
    assert code == 0, out.err
    return out.out


def test_a_folder_names_gold_and_silver_for_every_command(little, capsys, tmp_path):
    runs = sorted((little / "runs").iterdir())
    files = ["--gold", little / "gold.qrels", "--silver", little / "silver.qrels"]
    named = asked(capsys, "eval", *files, *runs, "-m", "AP", "--collection-size", 1120)
    assert "Gold for 20 of 80 topics" in named
    by_folder = json.loads(asked(capsys, "eval", little, "-m", "AP", "--format", "json"))
    by_files = json.loads(asked(capsys, "eval", *files, *runs, "-m", "AP", "--format", "json"))
    own = {e["run"]: e for e in by_folder["estimates"]}
    assert own == {e["run"]: e for e in by_files["estimates"]}
    compared = json.loads(asked(capsys, "compare", little, "-m", "AP", "--format", "json"))
    assert compared["baseline"] == "pixels"
    assert len(compared["pairs"]) == RUNS - 1
    # What is given beside a folder replaces the folder's.
    other = tmp_path / "more.qrels"
    other.write_text("\n".join(" ".join(row) for row in judged()[:40_000]) + "\n")
    more = json.loads(
        asked(capsys, "eval", little, "--gold", other, "-m", "AP", "--format", "json")
    )
    assert more["gold_units"] > 20
    plain = asked(capsys, "eval", SAMPLE, "--silver", little / "silver.qrels", "-m", "AP")
    assert "Gold for 80 of 80 topics" in plain


def board_of(folder):
    site = folder / "results" / "ranked"
    with (site / "index.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    return rows, (site / "index.html").read_text()


def check_board(rows, page):
    for row in rows:
        mean, low, high = (float(row[k]) for k in ("mean", "ci_low", "ci_high"))
        truth = [float(row[k]) for k in ("truth_low", "truth_high")]
        both = [float(row[k]) for k in ("both_low", "both_high")]
        assert truth[0] <= mean <= truth[1]
        # Distances to the ends add up as independent errors do.
        assert (mean - both[0]) ** 2 == pytest.approx((mean - low) ** 2 + (mean - truth[0]) ** 2)
        assert (both[1] - mean) ** 2 == pytest.approx((high - mean) ** 2 + (truth[1] - mean) ** 2)
        assert f"{truth[0]:.4f} to {truth[1]:.4f}" in page
        assert f"{low:.4f} to {high:.4f}" in page
    assert page.count('class="truth"') == page.count('class="both"') == len(rows)
    assert "by the truth" in page
    assert "had other topics been asked" in page


def test_the_site_shows_estimates_from_gold_and_silver(little, tmp_path):
    publish(little, tmp_path / "site", **FEW)
    rows, page = board_of(tmp_path / "site")
    assert len(rows) == RUNS
    check_board(rows, page)
    assert "had people judged all 80 topics, not 20 (these units" in page
    found = cf.evaluate_powered(
        little / "gold.qrels", little / "silver.qrels", read_collection(little).runs, "AP"
    )
    for row in rows:
        assert float(row["mean"]) == pytest.approx(found.estimate(row["run"], "AP").value)
    run = (tmp_path / "site" / "results" / "ranked" / "run" / "pca.html").read_text()
    assert "by the truth" in run


def test_the_site_shows_what_a_soft_truth_leaves_open(soft, tmp_path):
    publish(soft, tmp_path / "site", **FEW)
    rows, page = board_of(tmp_path / "site")
    check_board(rows, page)
    assert "another one that its probabilities allow" in page


def test_options_of_report_and_publish_name_gold_and_silver(little, tmp_path, capsys):
    truths = ["--gold", little / "gold.qrels", "--silver", little / "silver.qrels"]
    kind = ["--kind", "ranked"]
    asked(capsys, "publish", SAMPLE, *kind, *truths, "--resamples", 200, "-o", tmp_path / "s")
    check_board(*board_of(tmp_path / "s"))
    asked(capsys, "report", SAMPLE, *kind, *truths, "-o", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "had people judged all 80 topics" in page
    assert "How much more gold?" in page
    assert main(["report", str(SAMPLE), "--gold", "x", "-o", str(tmp_path / "n.html")]) == 2
    assert "--kind ranked or --kind labels" in capsys.readouterr().err


def test_a_report_and_a_chart_have_three_lines_in_a_row(little):
    page = collection_report(little, kinds=("ranked",))
    data = json.loads(re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page)[1])
    section = data["sections"][0]
    assert all(len(ends) == 4 for ends in section["doubts"]["AP"])
    material = ResultsData.of(read_collection(little), "ranked", measures="AP")
    drawing = chart(material.comparison, "AP").to_svg()
    assert drawing.count(", truth: ") >= RUNS
    assert drawing.count(", both: ") >= RUNS
    table = result_table("runs", material).parts[0]
    names = [c.name for c in table.columns]
    assert {"AP truth low", "AP truth high", "AP both low", "AP both high"} <= set(names)


def test_scores_of_a_server_keep_what_the_truth_leaves_open(soft, tmp_path):
    """Runs are scored one by one, saved, joined and compared, as the site's jobs do it."""
    held = read_collection(soft)
    parts = []
    for i, run in enumerate(held.runs[:3]):
        cf.evaluate(held.judgements, [run], "AP P@10", draws=50).save(tmp_path / f"{i}.json")
        parts.append(load(tmp_path / f"{i}.json"))
    scores = cf.Scores.concat(parts)
    together = cf.evaluate(held.judgements, held.runs[:3], "AP P@10", draws=50)
    compared, whole = (s.compare(resamples=200) for s in (scores, together))
    compared.save(tmp_path / "c.json")
    kept = load(tmp_path / "c.json")
    assert [s.truth_ci for s in kept.standings] == [s.truth_ci for s in whole.standings]
    material = ResultsData.of(held, "ranked", scores=scores, comparison=kept)
    assert material.is_unsure


def test_gold_and_silver_of_a_folder_need_to_be_there():
    held = read_collection(SAMPLE)
    with pytest.raises(UsageError, match="rankings and annotations"):
        with_truths(held, None, "gold.qrels", None)
    assert with_truths(held, None, None, None) is held
    with pytest.raises(NeedsError, match="no judgements"):
        with_truths(replace(held, judgements=None), "ranked", "gold.qrels", None)


def test_a_check_of_the_collection_holds_gold_against_silver(little, tmp_path):
    found = check_collection(little)
    assert found.payload()["has"]["silver (ranked)"] == "80 topics, 20 with gold"
    copy = tmp_path / "less"
    shutil.copytree(little, copy)
    gold = {line.split()[0] for line in (copy / "gold.qrels").read_text().splitlines()}
    lines = (copy / "silver.qrels").read_text().splitlines()
    kept = [line for line in lines if line.split()[0] not in sorted(gold)[:2]]
    (copy / "silver.qrels").write_text("\n".join(kept) + "\n")
    found = check_collection(copy)
    assert any("2 topics with gold have no silver" in p.message for p in found.problems)


@pytest.fixture(scope="module", params=["soft", "little"])
def annotated(request, tmp_path_factory):
    """The annotations of the sample by probabilities, or by gold for 60 of the 400 items."""
    folder = tmp_path_factory.mktemp("annotated") / "digits"
    chances = ["item,concept,value,probability"]
    with (SAMPLE / "truth.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    concepts = [name for name in rows[0] if name != "item"]
    for row in rows:
        for c in concepts:
            p = 0.9 if row[c] == "1" else 0.05
            chances += [f"{row['item']},{c},1,{p}", f"{row['item']},{c},0,{1 - p:.4g}"]
    if request.param == "soft":
        changed(folder, truth="soft.csv")
    else:
        changed(folder, truth="gold.csv", label_silver="soft.csv")
        chosen = random.Random(4).sample(rows, 60)
        gold = [",".join(["item", *concepts]), *(",".join(r.values()) for r in chosen)]
        (folder / "gold.csv").write_text("\n".join(gold) + "\n")
    (folder / "soft.csv").write_text("\n".join(chances) + "\n")
    return request.param, folder


def test_annotations_of_a_folder_by_either_truth(annotated, capsys, tmp_path):
    kind, folder = annotated
    said = json.loads(asked(capsys, "label", folder, "-m", "F.example", "--format", "json"))
    if kind == "soft":
        assert [row["run"] for row in said["doubt"]["runs"]] == [r["name"] for r in said["runs"]]
        assert any("put too low" in note for note in said["notes"])
    else:
        assert said["gold_units"] == 60
        assert all(e["these"][0] <= e["value"] <= e["these"][1] for e in said["estimates"])
        assert not any("put too low" in note for note in said["notes"])
    held = read_collection(folder)
    few = replace(held, label_runs=held.label_runs[:2], label_measures=("F.example",))
    few = replace(few, label_primary="F.example", label_baseline="")
    page = collection_report(few, kinds=("labels",))
    data = json.loads(re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page)[1])
    assert all(len(ends) == 4 for ends in data["sections"][0]["doubts"]["F.example"])
    publish(few, tmp_path / "site", resamples=400, kinds=("labels",), release_truth=True)
    with (tmp_path / "site" / "results" / "labels" / "index.csv").open() as lines:
        for row in csv.DictReader(lines):
            assert float(row["truth_low"]) <= float(row["mean"]) <= float(row["truth_high"])
