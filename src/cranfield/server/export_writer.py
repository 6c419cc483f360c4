"""An export as a folder: the collection, every table, the pages, and a script that checks them.

It is made from plain values and files by a child process, which alone opens what is sealed. The
same campaign gives the same bytes.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

from cranfield.answers import load
from cranfield.campaign.live_board import write_part
from cranfield.campaign.results import TABLES, ResultsData, campaign_results
from cranfield.comparison.answer import Comparison
from cranfield.data.collection import Collection, RunFacts, Team
from cranfield.errors import CranfieldError
from cranfield.evaluation.scores import Scores
from cranfield.io.collection import read_collection, write_collection
from cranfield.report.document import document_of
from cranfield.report.render import render
from cranfield.server.thresholds import threshold_lines
from cranfield.site.publish import publish

MANIFEST = "manifest.json"
SCRIPT = "reproduce.sh"
RUN_KEYS = {"ranked": "runs", "labels": "label_runs", "regions": "box_runs"}
TRUTH_KEYS = {"ranked": "judgements", "labels": "truth", "regions": "boxes"}
SCORER_KEYS = {"ranked": "scorer", "labels": "label_scorer"}
BASELINES = {"ranked": "baseline", "labels": "label_baseline", "regions": "box_baseline"}
_HEAD = """#!/bin/sh
# Makes every table of this export again from its collection, by commands of cranfield, and
# compares each with the one that the site showed. Ends with 1 when a table differs.
set -eu
cd "$(dirname "$0")"
made=$(mktemp -d)
bad=0
again() {
    # again KIND TABLE
    mkdir -p "$made/$1"
    cranfield report table collection --kind "$1" --table "$2" --format json --quiet \\
        -o "$made/$1/$2.json"
    cmp -s "$made/$1/$2.json" "tables/$1/$2.json" || { echo "$1/$2 differs"; bad=1; }
}
"""
_TAIL = """rm -rf "$made"
[ "$bad" = 0 ] && echo "all tables are the same"
exit "$bad"
"""


def write_export(job_input: dict[str, Any]) -> dict[str, Any]:
    """Write the export to a new folder, whole or not at all; gives its hash."""
    out = Path(job_input["out"])
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=f".{out.name}.") as draft:
        stage, folder = Path(draft, "stage"), Path(draft, "made")
        folder.mkdir()
        stage_collection(job_input, stage, folder / "collection")
        collection = read_collection(folder / "collection")
        tables = [
            name
            for kind in job_input["tasks"]
            for name in _tables(job_input, kind, collection, folder)
        ]
        for extra in job_input["extras"]:
            shutil.copytree(extra, folder, dirs_exist_ok=True)
        if tables:
            publish(collection, folder / "site", release_truth=job_input["released"], jobs=1)
        script = _HEAD + "".join(f"again {name.replace('/', ' ')}\n" for name in tables) + _TAIL
        (folder / SCRIPT).write_text(script)
        (folder / SCRIPT).chmod(0o700)
        sha = _write_manifest(folder)
        folder.chmod(0o700)
        folder.replace(out)
    return {"done": len(tables), "sha": sha, "tables": len(tables)}


def stage_collection(job_input: dict[str, Any], stage: Path, target: Path) -> None:
    """Put the files of the collection together, then write it as any collection is written."""
    shutil.copytree(job_input["public"], stage)
    public = read_collection(stage)
    values: dict[str, Any] = {"title": job_input["title"], "licence": job_input["licence"]}
    values["teams"] = tuple(Team(**team) for team in job_input["teams"])
    facts: dict[str, RunFacts] = {}
    for kind, task in job_input["tasks"].items():
        values[RUN_KEYS[kind]] = tuple(_run_file(run, stage, kind) for run in task["runs"])
        facts |= {run["facts"]["run"]: _facts(run, stage) for run in task["runs"]}
        values[BASELINES[kind]] = task["baseline"]
        if task["truth"]:
            truth = _final_truth(task, kind, stage, public)
            values[TRUTH_KEYS[kind]] = _link_file(truth, stage / Path(task["truth"]).name)
    for key, file in job_input["private"].items():
        values[key] = _link_file(Path(file), stage / Path(file).name)
    field_names = {field.name for field in fields(Collection)}
    write_collection(
        replace(public, run_facts=facts, **{k: v for k, v in values.items() if k in field_names}),
        target,
    )
    for file in sorted(stage.glob("thresholds/*.csv")):
        (target / "thresholds").mkdir(exist_ok=True)
        shutil.copyfile(file, target / "thresholds" / file.name)


def _final_truth(task: dict[str, Any], kind: Any, stage: Path, public: Collection) -> Path:
    """The truth that the tables are made from: without the part of a live board."""
    if task["part"] is None:
        return Path(task["truth"])
    folder = stage / f"part-{kind}"
    folder.mkdir()
    return write_part(
        Path(task["truth"]),
        kind,
        folder,
        **task["part"],
        splits=public.splits,
        unlisted=public.unlisted,
    )


def _run_file(run: dict[str, Any], stage: Path, kind: str) -> Path:
    name = f"{run['facts']['run']}{run['ending']}"
    return _link_file(Path(run["path"]), stage / RUN_KEYS[kind] / name)


def _facts(run: dict[str, Any], stage: Path) -> RunFacts:
    facts = RunFacts(**run["facts"])
    lines = threshold_lines(facts.threshold)
    if not lines:
        return facts
    file = stage / "thresholds" / f"{facts.run}.csv"
    file.parent.mkdir(exist_ok=True)
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return replace(facts, threshold=f"thresholds/{file.name}")


def _link_file(source: Path, target: Path) -> Path:
    """A file under another name, without a copy where that is possible."""
    target.parent.mkdir(exist_ok=True)
    while target.exists():
        target = target.with_name(f"1-{target.name}")
    try:
        os.link(source, target)
    except OSError:
        shutil.copyfile(source, target)
    return target


def _tables(
    job_input: dict[str, Any], kind: str, collection: Collection, export_folder: Path
) -> list[str]:
    """Write every table that the scores of the site have something for."""
    folder = job_input["tasks"][kind]["scores"]
    if not folder or SCORER_KEYS.get(kind) in job_input["private"]:
        # What a program of the task computes is not computed again by a script.
        return []
    material = material_of(Path(folder), collection, kind)
    (export_folder / "tables" / kind).mkdir(parents=True)
    names = []
    for name, table in TABLES.items():
        if kind not in table.kinds:
            continue
        try:
            results = campaign_results(material, name)
        except CranfieldError:
            continue  # the campaign has nothing for this table
        text = render(document_of(results), "json")
        (export_folder / "tables" / kind / f"{name}.json").write_text(text, encoding="utf-8")
        names.append(f"{kind}/{name}")
    return names


def material_of(folder: Path, collection: Collection, kind: Any) -> ResultsData:
    """The material of stored scores, with the collection that they belong to."""
    scores, compared = load(folder / "scores.json"), folder / "comparison.json"
    comparison = load(compared) if compared.exists() else None
    if not isinstance(scores, Scores) or not isinstance(comparison, Comparison | None):
        raise TypeError(f"{folder} does not hold scores")
    return ResultsData.of(collection, kind, scores=scores, comparison=comparison, released=True)


def _write_manifest(folder: Path) -> str:
    """The hash of every file; the hash of that is the hash of the export."""
    files = {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }
    text = json.dumps({"files": files}, indent=1, sort_keys=True) + "\n"
    (folder / MANIFEST).write_text(text, encoding="utf-8")
    return hashlib.sha256(text.encode()).hexdigest()
