"""Result tables from scores: held against the scores themselves, and against one another."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield as cf
from cranfield.campaign.results import TABLES, ResultsData, campaign_results, result_table
from cranfield.campaign.results.participation import read_figures
from cranfield.campaign.results.results_data import only_runs, only_units, place_runs
from cranfield.campaign.results.units import best_of_units
from cranfield.campaign.results.years import compare_years
from cranfield.cli import main
from cranfield.data.collection import RunFacts, Team
from cranfield.io.samples import SAMPLE


@pytest.fixture(scope="module")
def digits():
    return cf.read_collection(SAMPLE)


@pytest.fixture(scope="module")
def labels(digits):
    return ResultsData.of(digits, "labels", released=True).compared(resamples=500)


@pytest.fixture(scope="module")
def ranked(digits):
    return ResultsData.of(digits, "ranked")


def records(table, part=0):
    return table.parts[part].records()


def test_best_per_group_is_the_best_of_its_runs(labels):
    table = result_table("best-per-group", labels)
    means = labels.scores.mean()
    for row in records(table):
        if row["runs"] is None:
            assert row["group"] == "chance"
            assert row["AP.concept place"] is None
            assert row["AP.concept rank"] is None
            continue
        own = [r for r in means if labels.facts(r).team == row["group"]]
        assert row["runs"] == len(own)
        for measure in ("AP.concept", "F.example", "OS"):
            assert row[measure] == max(means[run][measure] for run in own)
            assert means[row[f"{measure} run"]][measure] == row[measure]
            better = sum(
                means[run][measure] > row[measure]
                for run in means
                if not labels.facts(run).baseline
            )
            assert row[f"{measure} place"] == better + 1


def test_places_and_ranks_are_told_apart(labels):
    """Equal means share a place; runs that tests cannot tell apart share a rank."""
    rows = place_runs(labels, labels.primary)
    assert rows["logistic"].place == rows["timid"].place == 2
    assert rows["eager"].place == 4
    # Over 400 items the first stands alone; the next three share a rank, though not a place.
    assert {run for run, row in rows.items() if row.rank == 1} == {"neighbours"}
    assert rows["logistic"].rank == rows["timid"].rank == rows["eager"].rank == 2
    notes = records_notes = result_table("runs", labels).parts[0].notes
    assert any(note.startswith("place: by the means") for note in notes)
    assert any(note.startswith("rank: 1 + the number") for note in records_notes)


def test_ranks_count_ranked_runs_only(labels):
    """A baseline that beats everybody moves nobody's rank."""
    facts = dict(labels.run_facts)
    facts["neighbours"] = replace(facts["neighbours"], baseline=True)
    without = replace(labels, run_facts=facts)
    assert place_runs(without, labels.measure("F.example"))["logistic"].rank == 1
    assert place_runs(labels, labels.measure("F.example"))["logistic"].rank == 2


def test_configurations_have_places_of_their_own(labels):
    table = result_table("per-configuration", labels)
    assert [part.name for part in table.parts] == ["V", "M", "T"]
    for part in table.parts:
        assert min(part.column("AP.concept place")) == 1
        assert set(part.column("AP.concept configuration")) == {part.name}
        assert "among all ranked runs of the configuration" in part.notes[0]


def test_best_per_concept_counts(labels):
    table = result_table("best-per-concept", labels)
    values = labels.scores.values[labels.primary][list(labels.ranked_runs)]
    assert table.parts[0].column("AP.concept") == pytest.approx(values.max(axis=0))
    assert table.facts["mean_of_best"] == pytest.approx(values.max(axis=0).mean())
    one = next(row for row in records(table) if row["concept"] == "One")
    assert (one["team"], one["configuration"], one["run"]) == ("QUARTZ", "T", "edges")
    assert table.facts["by_configuration"] == {"V": 14, "T": 1}


def test_worst_items_with_pictures(labels):
    table = result_table("best-per-item", labels, measure="OS", count=7)
    rows = records(table)
    assert len(rows) == 7
    m = labels.measure("OS")
    best = labels.scores.values[m][list(labels.ranked_runs)].max(axis=0)
    assert [row["OS"] for row in rows] == pytest.approx(np.sort(best)[:7])
    assert table.facts["mean_of_best"] == pytest.approx(best.mean())
    assert all(row["picture"].startswith("images.png#") for row in rows)
    assert all(row["text"] for row in rows)


def test_frequency_and_occurrence(labels):
    table = result_table("frequency", labels)
    assert {row["concept"]: row["items"] for row in records(table)}["Prime"] == 160
    assert table.facts["spearman"] is not None
    rows = {row["concept"]: row for row in records(result_table("occurrence", labels))}
    assert rows["Even"]["annotated"] == 50
    sealed = replace(labels, truth=None)
    for name in ("frequency", "occurrence"):
        with pytest.raises(cf.NeedsError, match="truth, which is sealed"):
            result_table(name, sealed)


def test_participation_counts_who_only_registered(labels):
    more = replace(labels, teams=(*labels.teams, Team("IDLE", "Idle Institute")))
    table = result_table("participation", more)
    assert records(table)[0] == {"year": "2026", "registered": 6, "participated": 5, "runs": 12}
    idle = next(row for row in records(table, 1) if row["team"] == "IDLE")
    assert idle["runs"] == 0


def test_rank_changes(labels):
    table = result_table("rank-changes", labels, measures=["AP.concept", "OS"])
    assert records(table)[0]["run"] == "timid"
    assert records(table)[0]["change"] == -10
    once = result_table("rank-changes", labels, measures=["AP.concept", "OS"], per_group=True)
    teams = [row["team"] for row in records(once)]
    assert sorted(teams) == sorted(set(teams))
    assert len(teams) == 5


def test_sets_of_concepts_side_by_side(labels):
    from cranfield.stats import cronbach_alpha

    names = labels.scores.units["concept"]
    table = result_table("side-by-side", labels, sets={"digits": names[:10], "traits": names[10:]})
    values = labels.scores.values[labels.primary][list(labels.ranked_runs)]
    rows = records(table)
    assert [row["units"] for row in rows] == [10, 5]
    assert rows[0]["alpha"] == pytest.approx(cronbach_alpha(values[:, :10]))
    assert rows[1]["best"] == pytest.approx(values[:, 10:].max(axis=0).mean())


def test_a_table_on_some_concepts_is_that_of_an_evaluation_on_them(digits, labels):
    """Cut from the scores, or scored on these concepts alone: the same numbers."""
    names = ["Zero", "One", "Even"]
    cut = labels.only(concepts=names)
    anew = ResultsData.of(digits, "labels", concepts=names, measures="AP.concept")
    assert cut.scores.mean() == {
        run: {"AP.concept": pytest.approx(row["AP.concept"])}
        for run, row in anew.scores.mean().items()
    }
    assert any("OS: left out" in note for note in cut.scores.notes)
    through = campaign_results(digits, "best-per-concept", concepts=names)
    assert through.parts[0].column("concept") == names


def test_two_years_on_what_they_share(labels):
    names = labels.scores.units["concept"]
    earlier = labels.only(concepts=names[:9], configurations=["T"])
    table = compare_years(earlier, labels, names=("old", "new"), measures=["AP.concept"])
    found = table.facts["measures"]["AP.concept"]
    assert found["shared"] == 9
    assert sum(found["wins"].values()) + found["ties"] == 9
    old = {best.unit: best.value for best in best_of_units(earlier, labels.primary)}
    assert found["means"]["old"] == pytest.approx(np.mean(list(old.values())))
    rows = {row["concept"]: row for row in table.part("concepts").records()}
    assert set(rows) == set(names[:9])
    # The one concept that a textual run does best: neither year is better.
    assert rows["One"]["AP.concept better"] == ""


def test_items_present_in_both_years(labels):
    items = labels.scores.units["item"]
    earlier = labels.only(items=items[:50])
    table = compare_years(earlier, labels, names=("old", "new"), measures=["OS"], worst=3)
    (part,) = [p for p in table.parts if p.name.startswith("items")]
    assert part.column("worst in") == ["old"] * 3 + ["new"] * 3
    assert set(part.column("item")) <= set(items[:50])
    with pytest.raises(cf.NeedsError, match="share no item"):
        compare_years(earlier, labels.only(items=items[50:]), measures=["OS"])


def test_every_table_of_either_kind_or_why_not(labels, ranked):
    for material in (labels, ranked):
        for name, declared in TABLES.items():
            if name == "years":
                continue
            if material.task in declared.kinds:
                table = result_table(name, material)
                assert table.parts[0].rows, name
                assert str(table)
                assert all(len(row) == len(p.columns) for p in table.parts for row in p.rows)
            else:
                with pytest.raises(cf.UsageError, match="is for"):
                    result_table(name, material)
    with pytest.raises(cf.UsageError, match="Did you mean 'best-per-group'"):
        result_table("best-per-groop", labels)
    with pytest.raises(cf.UsageError, match="takes no depth="):
        result_table("runs", labels, depth=3)


def test_stored_scores_give_the_same_tables(labels, ranked, tmp_path, capsys):
    """`cf.load` of saved scores, and JSON that was printed, say what the scores in memory say."""
    kept = tmp_path / "kept.json"
    labels.scores.save(kept)
    printed = tmp_path / "printed.json"
    printed.write_text(json.dumps(labels.scores.to_dict(per=("item", "concept"))))
    for path in (kept, printed):
        for name in ("best-per-concept", "best-per-item", "rank-changes"):
            again = campaign_results(path, name)
            direct = result_table(name, ResultsData.of_scores(labels.scores))
            # Without facts of runs chance is a run as others are, in both.
            assert [p.rows for p in again.parts] == [p.rows for p in direct.parts], name
    assert main(["campaign", "results", str(kept), "--table", "runs", "--no-compare"]) == 0
    assert "neighbours" in capsys.readouterr().out


def test_means_alone_give_the_tables_of_means(tmp_path):
    """Figures as No Table 10.6 prints them: no values per concept, so nothing that needs them."""
    path = tmp_path / "figures.csv"
    path.write_text(
        "run,team,configuration,MiAP,F.example,baseline\n"
        "r1,XRCE,M,0.46,0.66,\nr2,XRCE,V,0.39,0.64,\nr3,ISIS,V,0.41,0.68,\nrandom,,,0.09,,yes\n"
    )
    table = campaign_results(path, "best-per-group")
    rows = {row["group"]: row for row in records(table)}
    assert list(rows) == ["XRCE", "ISIS", "random"]
    assert rows["XRCE"]["runs"] == 2
    assert (rows["ISIS"]["iAP.concept place"], rows["ISIS"]["F.example place"]) == (2, 1)
    assert rows["random"]["iAP.concept place"] is None
    assert rows["random"]["F.example"] is None
    with pytest.raises(cf.NeedsError, match="no measure has values per concept"):
        campaign_results(path, "best-per-concept")


@pytest.mark.parametrize(
    "text, said",
    [
        ("run,AP,topic\na,high,1\n", "figures.csv:2: AP 'high' is not a number"),
        ("run,AP\na\n", "figures.csv:2: 1 values, expected 2: run,AP"),
        ("run,AP\na,0.1\na,0.2\n", "figures.csv:3: 'a' has 'figures' twice"),
        ("run,topic\na,1\n", "figures.csv:1: no column is a measure"),
        ("run,topic,item,AP\na,1,2,0.5\n", "figures.csv:1: figures are per item or per topic"),
        ("run,QQ\na,0.5\n", "figures.csv:1: No measure named 'QQ'"),
        ("run,AP\n", "figures.csv: has no rows below its header"),
    ],
)
def test_figures_that_cannot_be_read(tmp_path, text, said):
    path = tmp_path / "figures.csv"
    path.write_text(text)
    with pytest.raises(cf.InputError) as caught:
        read_figures(path)
    assert said in str(caught.value)


values = st.lists(
    st.lists(st.one_of(st.just(math.nan), st.floats(0, 1)), min_size=4, max_size=4),
    min_size=2,
    max_size=5,
)


@settings(max_examples=60, deadline=None)
@given(values, st.permutations(range(4)))
def test_parts_of_scores_are_scores_of_parts(rows, order):
    """Figures with gaps: a part has the means over its own units, whatever their order."""
    scores = figures_of(rows)
    names = [f"c{j}" for j in order][:3]
    part = only_units(scores, "concept", names)
    for i, run in enumerate(scores.runs):
        kept = [rows[i][int(n[1:])] for n in names if not math.isnan(rows[i][int(n[1:])])]
        mean = part.mean()[run]["AUC"]
        assert (math.isnan(mean) and not kept) or mean == pytest.approx(np.mean(kept))
    one = only_runs(scores, {scores.runs[0]})
    assert one.runs == scores.runs[:1]
    assert one.mean()[one.runs[0]] == pytest.approx(scores.mean()[one.runs[0]], nan_ok=True)


@settings(max_examples=60, deadline=None)
@given(values)
def test_the_best_of_a_unit_is_reached_and_not_surpassed(rows):
    material = ResultsData.of_scores(
        figures_of(rows), run_facts={"r0": RunFacts("r0", baseline=True)}
    )
    for best in best_of_units(material, material.primary):
        column = [row[int(best.unit[1:])] for row in rows[1:]]
        known = [v for v in column if not math.isnan(v)]
        assert best.value == max(known)
        assert len(best.runs) == known.count(best.value)
        assert "r0" not in best.runs


def figures_of(rows):
    m = cf.measure("AUC")
    array = np.array(rows)
    runs = tuple(f"r{i}" for i in range(len(rows)))
    with np.errstate(invalid="ignore"):
        means = np.array([np.nan if np.isnan(r).all() else np.nanmean(r) for r in array])
    return cf.Scores(
        task="labels",
        runs=runs,
        measures=(m,),
        units={"concept": tuple(f"c{j}" for j in range(array.shape[1]))},
        unit_of={m: "concept"},
        values={m: array},
        overall={m: means},
        missing=(0,) * len(runs),
        evaluated=(0,) * len(runs),
    )
