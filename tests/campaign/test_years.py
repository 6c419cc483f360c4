"""Two made-up years of a series: 290 images and 333, of which 223 are in both, other concepts."""

import json

import numpy as np
import pytest

import cranfield as cf
from cranfield.campaign.results import campaign_results
from cranfield.cli import main
from cranfield.io.samples import SAMPLE

MEASURES = ("AP.concept", "F.example")
RUNS = {"2009": ("tree", "bayes", "rows"), "2010": ("logistic", "neighbours", "edges", "greys")}


@pytest.fixture(scope="module")
def years(tmp_path_factory):
    """The folders of both years; 2009 has two concepts less and labels of its own for an image."""
    folder = tmp_path_factory.mktemp("series")
    truth = cf.read_labels(SAMPLE / "truth.csv")
    order = np.random.default_rng(1).permutation(len(truth.items))
    parts = {
        "2009": (order[:290], [c for c in truth.concepts if c not in ("Zero", "Odd")]),
        "2010": (order[67:], list(truth.concepts)),
    }
    for year, (rows, concepts) in parts.items():
        place = folder / year
        (place / "labels").mkdir(parents=True)
        items = [truth.items[i] for i in rows]
        write(place / "truth.csv", truth, items, concepts)
        for run in RUNS[year]:
            labels = cf.read_labels(SAMPLE / "labels" / f"{run}.csv.gz")
            write(place / "labels" / f"{run}.csv", labels, items, concepts)
        runs = [f"labels/{run}.csv" for run in RUNS[year]]
        (place / "collection.toml").write_text(
            f'name = "y{year}"\nyear = "{year}"\ntruth = "truth.csv"\nlabel_runs = {runs}\n'
            f"label_measures = {list(MEASURES)}\n"
        )
    return folder / "2009", folder / "2010"


def write(path, labels, items, concepts):
    values = labels.labels if labels.is_binary else labels.confidences
    rows = [labels.items.index(item) for item in items]
    cells = np.asarray(values)[rows][:, [labels.concepts.index(c) for c in concepts]]
    lines = [
        ",".join([item, *(f"{v:g}" for v in row)])
        for item, row in zip(items, cells * 1.0, strict=True)
    ]
    path.write_text("\n".join([",".join(["item", *concepts]), *lines]) + "\n")


def means_on(place, year, items, concepts, tmp_path):
    """The best of each unit, scored on a truth that was cut by hand."""
    truth = cf.read_labels(place / "truth.csv")
    write(tmp_path / "cut.csv", truth, items, concepts)
    runs = {r: cf.read_labels(place / "labels" / f"{r}.csv").only(concepts) for r in RUNS[year]}
    scores = cf.evaluate_labels(tmp_path / "cut.csv", runs, " ".join(MEASURES))
    return {str(m): np.nanmax(scores.values[m], axis=0).mean() for m in scores.measures}


def test_both_years_are_scored_on_what_both_have(years, tmp_path):
    old, new = years
    table = campaign_results(new, "years", years={"2009": old})
    facts = table.facts["measures"]
    known = cf.read_labels(old / "truth.csv").items
    items = [i for i in cf.read_labels(new / "truth.csv").items if i in known]
    concepts = list(cf.read_labels(old / "truth.csv").concepts)
    assert (facts["F.example"]["shared"], facts["AP.concept"]["shared"]) == (223, 13)
    for place, year in ((old, "2009"), (new, "2010")):
        expected = means_on(place, year, items, concepts, tmp_path)
        own = campaign_results(place, "best-per-concept").facts["mean_of_best"]
        for name in MEASURES:
            assert facts[name]["means"][year] == pytest.approx(expected[name])
        assert facts["AP.concept"]["means"][year] != pytest.approx(own)
    notes = table.part("summary").notes
    assert "the 223 items that both have, of 290 in 2009 and 333 in this year" in " ".join(notes)
    assert "the 13 concepts that both have, of 13 in 2009 and 15 in this year" in " ".join(notes)


def test_as_many_runs_and_their_median(years):
    old, new = years
    table = campaign_results(new, "years", years={"2009": old})
    facts = table.facts["measures"]["AP.concept"]
    assert facts["runs"] == {"2009": 3, "2010": 4}
    assert facts["best_of"]["n"] == 3
    assert facts["best_of"]["means"]["2009"] == pytest.approx(facts["means"]["2009"])
    assert facts["best_of"]["means"]["2010"] < facts["means"]["2010"]
    assert facts["medians"]["2009"] < facts["means"]["2009"]
    assert table.part("summary").notes[0].startswith("AP.concept: 2009 ")
    assert "the best of 3 and of 4 runs; of 3 runs each" in table.part("summary").notes[0]


def test_items_of_another_folder(years, capsys):
    """`--items FOLDER` keeps the items that both have, under all measures."""
    old, new = years
    command = ["report", "table", str(new), "--no-compare", "--format", "json"]
    assert main([*command, "--items", str(old)]) == 0
    rows = {row["run"]: row for row in json.loads(capsys.readouterr().out)["parts"][0]["rows"]}
    ours = cf.read_labels(new / "truth.csv")
    theirs = cf.read_labels(old / "truth.csv").items
    both = [i for i in ours.items if i in theirs]
    rows_of = dict(zip(ours.items, np.asarray(ours.labels), strict=True))
    cut = {i: {c for c, v in zip(ours.concepts, rows_of[i], strict=True) if v} for i in both}
    runs = {r: cf.read_labels(new / "labels" / f"{r}.csv") for r in RUNS["2010"]}
    expected = cf.evaluate_labels(cut, runs, " ".join(MEASURES)).mean()
    for run, row in rows.items():
        assert row["AP.concept"] == pytest.approx(expected[run]["AP.concept"])
        assert row["F.example"] == pytest.approx(expected[run]["F.example"])


def test_years_that_share_no_item_say_so(years, tmp_path):
    old, new = years
    text = (old / "truth.csv").read_text().replace("\nd", "\nother-d")
    place = tmp_path / "2008"
    (place / "labels").mkdir(parents=True)
    (place / "truth.csv").write_text(text)
    for run in RUNS["2009"]:
        labels = (old / "labels" / f"{run}.csv").read_text().replace("\nd", "\nother-d")
        (place / "labels" / f"{run}.csv").write_text(labels)
    (place / "collection.toml").write_text((old / "collection.toml").read_text())
    table = campaign_results(new, "years", measures="AP.concept", years={"2008": place})
    assert any("share no item" in note for note in table.part("summary").notes)
    with pytest.raises(cf.NeedsError, match="has no item that is also here"):
        campaign_results(new, "runs", items=place, compare=False)
    with pytest.raises(cf.UsageError, match="the truth has no item 'd9'"):
        campaign_results(new, "runs", items=["d9"], compare=False)


def test_rankings_are_of_the_items_that_both_have(tmp_path):
    """Ranked items that one year lacks are taken out of its judgements and its rankings."""
    for year, items in (("1", "abcd"), ("2", "bcde")):
        place = tmp_path / year
        place.mkdir()
        (place / "items.csv").write_text("item\n" + "\n".join(items) + "\n")
        (place / "qrels.txt").write_text("".join(f"t 0 {i} {int(i in 'abde')}\n" for i in items))
        for run, order in (("x", items), ("y", items[::-1])):
            lines = (f"t Q0 {i} {n} {9 - n} {run}\n" for n, i in enumerate(order, 1))
            (place / f"{run}.run").write_text("".join(lines))
        (place / "collection.toml").write_text(
            f'name = "c{year}"\nyear = "{year}"\nitems = "items.csv"\njudgements = "qrels.txt"\n'
            'runs = ["x.run", "y.run"]\nmeasures = ["AP"]\n'
        )
    table = campaign_results(tmp_path / "2", "years", years={"1": tmp_path / "1"})
    facts = table.facts["measures"]["AP"]
    # Of b, c and d, two are relevant: b c d and d c b have an AP of (1 + 2/3) / 2.
    assert facts["means"] == {"1": pytest.approx(5 / 6), "2": pytest.approx(5 / 6)}
