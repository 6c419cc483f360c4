"""A collection that has people's votes and lists and no judgements is reported and published."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import cranfield as cf
from cranfield.errors import NeedsError
from cranfield.io.samples import SAMPLE

RUNS = ("network", "random")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("people") / "digits"
    (target / "runs").mkdir(parents=True)
    for name in ("votes.csv.gz", "categories.csv", "rankings.csv", "topics.csv"):
        shutil.copy(SAMPLE / name, target)
    for run in RUNS:
        shutil.copy(SAMPLE / "runs" / f"{run}.run.gz", target / "runs")
    (target / "collection.toml").write_text(
        'name = "digits"\nversion = "1"\nsize = 1120\ntopics = "topics.csv"\n'
        'subject_categories = "votes.csv.gz"\ncategory_parents = "categories.csv"\n'
        'subject_rankings = "rankings.csv"\n'
        f"runs = {[f'runs/{run}.run.gz' for run in RUNS]}\n"
    )
    return target


def test_the_site_has_the_figures_of_the_commands(folder: Path, tmp_path: Path) -> None:
    cf.publish(folder, tmp_path / "site")
    page = json.loads((tmp_path / "site" / "people" / "index.json").read_text())
    tables = {table["name"]: table for table in page["tables"]} if "tables" in page else page
    text = (tmp_path / "site" / "people" / "index.html").read_text()
    lists = cf.evaluate_displacement(
        cf.read_subject_rankings(folder / "rankings.csv"),
        [folder / "runs" / f"{run}.run.gz" for run in RUNS],
        collection_size=1120,
    )
    for value in lists.mean(lists.measures[0]):
        assert f"{value:,.4f}" in text or f"{value:.4f}" in text
    assert tables
    assert text.count("<svg") == 2
    assert "network has the highest expected precision" in text
    assert "sealed" not in text
    assert "Without judgements" in (tmp_path / "site" / "index.html").read_text()
    # People are not named.
    subject = (folder / "rankings.csv").read_text().splitlines()[1].split(",")[0]
    assert f">{subject}<" not in text


def test_the_report_is_a_page(folder: Path) -> None:
    from cranfield.report.collection import collection_report

    page = collection_report(folder)
    assert "How far rankings are from people's lists" in page
    assert "nearest to the lists of 5 people" in page


def test_without_people_either_it_is_refused(folder: Path, tmp_path: Path) -> None:
    bare = tmp_path / "bare"
    shutil.copytree(folder, bare)
    lines = (bare / "collection.toml").read_text().splitlines()
    kept = [line for line in lines if not line.startswith(("subject", "category"))]
    (bare / "collection.toml").write_text("\n".join(kept))
    with pytest.raises(NeedsError, match="no runs with a truth"):
        cf.publish(bare, tmp_path / "site")
