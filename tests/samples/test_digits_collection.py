"""The collection that ships with the package: complete, readable, and what it says it is."""

import csv
import gzip
import tomllib
from collections import Counter, defaultdict
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import cranfield as cf
from cranfield.io.collection import read_collection
from cranfield.io.samples import SAMPLE

LARGEST = 1_500_000  # bytes, all files together


def text_of(path: Path) -> str:
    data = path.read_bytes()
    return (gzip.decompress(data) if path.suffix == ".gz" else data).decode()


def rows_of(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(text_of(path).splitlines()))


@pytest.fixture(scope="module")
def digits():
    return read_collection(SAMPLE)


@pytest.fixture(scope="module")
def digit_of(digits) -> dict[str, int]:
    return {row["item"]: int(row["digit"]) for row in rows_of(SAMPLE / "items.csv")}


@pytest.fixture(scope="module")
def qrels(digits) -> dict[str, dict[str, float]]:
    return cf.read_qrels(digits.judgements).to_dict()


@pytest.fixture(scope="module")
def scores(digits):
    return cf.evaluate(digits.judgements, digits.runs, "AP P@100", collection_size=digits.size)


def truth_of(path: Path) -> dict[str, dict[str, float]]:
    return {
        row.pop("item"): {name: float(value) for name, value in row.items()}
        for row in rows_of(path)
    }


def test_it_is_small_and_every_file_of_the_folder_is_named(digits):
    named = {digits.folder / "collection.toml", digits.images.path, SAMPLE / "items.csv"}
    named |= {SAMPLE / "splits" / f"{name}.txt" for name in digits.splits}
    named |= {SAMPLE / "teams.csv", SAMPLE / "run-facts.csv", *digits.years.values()}
    named |= {*digits.runs, *digits.label_runs, *digits.cost_maps, *digits.extra}
    named |= {p for p in vars(digits).values() if isinstance(p, Path) and p.is_file()}
    found = {p for p in SAMPLE.rglob("*") if p.is_file()}
    assert found == named
    assert sum(p.stat().st_size for p in found) < LARGEST


def test_splits_are_disjoint_where_they_must_be(digits):
    splits = {name: set(items) for name, items in digits.splits.items()}
    parts = [splits[name] for name in ("training", "topics", "collection")]
    assert sum(map(len, parts)) == len(set().union(*parts)) == 1797 == len(digits.images.items)
    assert splits["agreement"] < splits["annotated"] < splits["collection"]
    assert len(splits["collection"]) == digits.size
    assert len(splits["agreement"]) == 99


def test_grades_follow_the_rule(digits, digit_of, qrels):
    of_digit = Counter(digit_of[item] for item in digits.splits["collection"])
    topics = rows_of(digits.topics)
    assert {row["topic"] for row in topics} == qrels.keys()
    for row in topics:
        assert digit_of[row["item"]] == int(row["digit"])
        grades = qrels[row["topic"]]
        relevant = {item for item, grade in grades.items() if grade > 0}
        assert {digit_of[item] for item in relevant} == {int(row["digit"])}
        assert len(relevant) == of_digit[int(row["digit"])]
        assert Counter(grades.values())[2] == round(0.2 * len(relevant))
        assert all(digit_of[i] != int(row["digit"]) for i, g in grades.items() if g == 0)


def test_runs_are_full_ordered_and_of_the_collection(digits, qrels):
    items = set(digits.splits["collection"])
    for path in digits.runs:
        ranking = defaultdict(list)
        for line in text_of(path).splitlines():
            topic, _, item, rank, score, name = line.split()
            ranking[topic].append((float(score), item))
            assert int(rank) == len(ranking[topic])
            assert path.name.startswith(name)
        assert ranking.keys() == qrels.keys()
        for rows in ranking.values():
            assert rows == sorted(rows, reverse=True), path.name
            assert len(rows) == 100
            assert {item for _, item in rows} <= items


def test_what_is_learned_beats_chance_beyond_doubt(scores):
    (ap,) = (m for m in scores.measures if str(m) == "AP")
    by_run = dict(zip(scores.runs, scores.values[ap], strict=True))
    for learned in ("network", "discriminant"):
        assert stats.wilcoxon(by_run[learned], by_run["random"]).pvalue < 1e-10
        assert stats.wilcoxon(by_run[learned], by_run["pixels"]).pvalue < 1e-3


def test_the_random_run_is_as_good_as_chance(scores, qrels, digits):
    share = np.array(
        [sum(g > 0 for g in grades.values()) / digits.size for grades in qrels.values()]
    )
    drawn = 100
    # Drawing without replacement: the variance of a hypergeometric share.
    spread = share * (1 - share) / drawn * (digits.size - drawn) / (digits.size - 1)
    error = np.sqrt(spread.sum()) / len(share)
    assert abs(scores.mean()["random"]["P@100"] - share.mean()) < 3 * error


def test_truth_obeys_the_hierarchy_and_the_rules(digits, digit_of):
    truth = truth_of(digits.truth)
    assert set(truth) == set(digits.splits["annotated"])
    paths = {row["concept"]: row["path"].split(".") for row in rows_of(digits.ontology)}
    assert all(path[-1] == concept for concept, path in paths.items())
    rules = tomllib.loads(text_of(digits.rules))
    for item, row in truth.items():
        has = {concept for concept, value in row.items() if value == 1}
        assert set(row) == set(paths)
        assert list(paths)[digit_of[item]] in has
        assert all(set(paths[concept]) & set(paths) <= has for concept in has)
        assert all(len(has & set(rule["concepts"])) == 1 for rule in rules["exactly_one"])
        assert all(len(has & set(rule["concepts"])) <= 1 for rule in rules["disjoint"])
        for rule in rules["requires"]:
            assert rule["concept"] not in has or has & set(rule["any_of"])


def test_label_runs_err_as_they_are_named(digits):
    truth = truth_of(digits.truth)
    items, concepts = list(truth), list(next(iter(truth.values())))
    true = np.array([[truth[i][c] for c in concepts] for i in items])
    chosen = {}
    for path in digits.label_runs:
        if path.name.startswith("timid"):
            lines = [line.split() for line in text_of(path).splitlines()]
            assert [line[0] for line in lines] == items * 2
            values = np.array([line[1:] for line in lines], dtype=float)
            confidences, decided = values[: len(items)], values[len(items) :] == 1
            logistic = truth_of(SAMPLE / "labels" / "logistic.csv.gz")
            assert [list(logistic[i].values()) for i in items] == confidences.tolist()
        else:
            run = truth_of(path)
            assert list(run) == items
            confidences = np.array([[run[i][c] for c in concepts] for i in items])
            decided = confidences >= 0.5
        assert confidences.min() >= 0
        assert confidences.max() <= 1
        chosen[path.name.split(".")[0]] = decided.mean()
    assert chosen["timid"] < 0.5 * true.mean()
    assert chosen["eager"] > 1.4 * true.mean()
    assert abs(chosen["logistic"] - true.mean()) < 0.02
    assert abs(chosen["chance"] - 0.5) < 0.02
    for name in ("quarters", "edges", "greys", "amount", "rows", "columns"):
        assert chosen[name] < 0.5 * true.mean()


def test_the_cost_map_is_one(digits):
    (path,) = digits.cost_maps
    rows = list(csv.reader(text_of(path).splitlines()))
    costs = np.array([row[1:] for row in rows[1:]], dtype=float)
    assert (
        [row[0] for row in rows[1:]]
        == rows[0][1:]
        == list(next(iter(truth_of(digits.truth).values())))
    )
    assert (costs == costs.T).all()
    assert (np.diag(costs) == 0).all()
    assert costs.max() == 1


def test_annotators_differ_as_the_error_model_says(digits):
    truth = truth_of(digits.truth)
    right, seconds = defaultdict(list), defaultdict(list)
    for row in rows_of(digits.judgement_log):
        right[row["annotator"]].append(truth[row["item"]][row["concept"]] == float(row["value"]))
        seconds[row["annotator"]].append(float(row["seconds"]))
    assert {len(answers) for answers in right.values()} == {99 * 15}
    accuracy = {name: np.mean(answers) for name, answers in right.items()}
    careful = [accuracy[name] for name in ("ada", "ben", "cleo", "dora", "emil")]
    assert min(careful) > 0.92 > accuracy["hurried"] > 0.8 > accuracy["spammer"] > 0.5
    pace = {name: np.median(times) for name, times in seconds.items()}
    assert pace["spammer"] < 0.6 < pace["hurried"] < 1.5 < min(pace[n] for n in ("ada", "dora"))


def test_the_agreement_map_is_what_the_log_shows(digits):
    answers = defaultdict(list)
    for row in rows_of(digits.judgement_log):
        answers[row["concept"], row["item"]].append(row["value"])
    agreeing = defaultdict(list)
    for (concept, _), values in answers.items():
        pairs = [(a, b) for i, a in enumerate(values) for b in values[:i]]
        agreeing[concept].append(np.mean([a == b for a, b in pairs]))
    for row in rows_of(digits.agreement_map):
        assert float(row["agreement"]) == pytest.approx(np.mean(agreeing[row["concept"]]), abs=6e-5)


def test_what_is_public_does_not_say_the_digit(digits, digit_of):
    """A caption is as common with one digit as chance and looks make it: none names a digit."""
    captions = rows_of(digits.items)
    assert {row["item"] for row in captions} == set(digit_of)
    by_caption = defaultdict(set)
    for row in captions:
        by_caption[row["text"]].add(digit_of[row["item"]])
    assert all(len(seen) > 1 for seen in by_caption.values())
    examples = " ".join(row["examples"] for row in rows_of(digits.concepts)).split()
    assert set(examples) <= set(digits.splits["training"])


def test_every_run_has_facts_and_every_team_runs(digits):
    names = {path.name.split(".")[0] for path in (*digits.runs, *digits.label_runs)}
    assert set(digits.run_facts) == names
    teams = {facts.team for facts in digits.run_facts.values() if not facts.baseline}
    assert teams == {team.acronym for team in digits.teams}
    assert {digits.run_facts[run].configuration for run in names} == {"", "V", "T", "M"}


def test_santinis_two_techniques_can_be_tried(digits):
    """Without a truth, people's rankings and votes order the systems much as the truth does."""
    subjects = cf.read_subject_rankings(digits.subject_rankings)
    found = cf.evaluate_displacement(subjects, digits.runs, collection_size=digits.size)
    quality = {row["name"]: row["mean"]["DisplacementQuality"] for row in found.to_dict()["runs"]}
    assert max(quality, key=quality.get) == "pixels"
    assert min(quality, key=quality.get) == "random"
    graph = cf.read_categories(digits.category_parents)
    votes = cf.read_category_votes(digits.subject_categories, graph)
    queries = {row["topic"]: row["item"] for row in rows_of(digits.topics)}
    runs = {n: cf.read_run(SAMPLE / "runs" / f"{n}.run.gz") for n in ("random", "projection")}
    uncertain = cf.evaluate_uncertain(votes, runs, k=10, queries=queries)
    mean = {n: np.mean([t.precision.mean for t in rows]) for n, rows in uncertain.runs.items()}
    assert mean["projection"] > 2 * mean["random"]


def test_the_year_before_is_compared_on_all_concepts(digits):
    """Its runs learned from a tenth of the images: this year's best are better throughout."""
    table = cf.campaign_results(digits, "years", kind="labels")
    found = table.facts["measures"]["AP.concept"]
    assert found["shared"] == 15
    assert found["wins"]["2026"] >= 14
    assert found["anova_p"] < 0.05
    taking_part = cf.campaign_results(digits, "participation", kind="labels").parts[0]
    assert taking_part.column("year") == ["2025", "2026"]
    assert taking_part.column("participated") == [3, 5]
