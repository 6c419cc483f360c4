"""The last part of the play: scores, release, an erratum; and whether all faces say the same."""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlencode, urlsplit

from cranfield.server.rehearsal.stage import Stage, command
from cranfield.server.rehearsal.submitting import Submissions
from cranfield.server.rehearsal.world import NAME

_LINK = re.compile(r"""(?:href|src)=["']([^"']*)["']""")
_LOADED = re.compile(r"""<(?:img|script|link|iframe|source)[^>]*(?:href|src)=["'](https?:)?//""")
# Keys of answers that say when and where, not what.
_PASSING = ("cranfield", "command", "notes")


@dataclass
class PublicationOutcome:
    """What the faces said."""

    equal: int = 0
    total: int = 0
    differing: list[str] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    unscored: list[str] = field(default_factory=list)


def release(stage: Stage, *, reason: str = "") -> None:
    """From closed, or back from released with a reason, to public results."""
    if reason:
        stage.move("scoring", reason)
    else:
        stage.move("scoring")
    if stage.witness.sealed:
        for server in stage.servers:
            stage.witness.note_log(server.log.read_bytes())
    stage.witness.sealed = False
    stage.move("released")


def erratum(stage: Stage) -> None:
    """The truth of both tasks is corrected after the release; everything is scored again."""
    truth, grades = stage.world.corrected()
    stage.new_truth("labels", "truth-2.csv", stage.world.truth_text(truth).encode(), "three items")
    stage.new_truth("ranked", "qrels-2.txt", stage.world.qrels_text(grades).encode(), "some grades")
    release(stage, reason="three items and some grades were judged wrongly")


def check_runs(stage: Stage, submitted: Submissions, outcome: PublicationOutcome) -> None:
    """Every acknowledged run is there once, with the hash of its receipt, and has scores."""
    for task in ("labels", "ranked"):
        accepted: dict[tuple[str, str, str], list[dict[str, Any]]] = {}
        for acronym, token in stage.tokens.items():
            for run in stage.client(token).get(f"/api/v1/tasks/{NAME}.{task}/runs").json()["runs"]:
                if run["state"] == "accepted":
                    accepted.setdefault((task, acronym, run["tag"]), []).append(run)
        for key in (key for key in submitted.expected if key[0] == task):
            receipt = stage.acknowledged.receipts.get(key)
            copies = accepted.get(key, [])
            if receipt is None or not copies or copies[0]["sha256"] != receipt["sha256"]:
                outcome.missing.append("/".join(key))
            if len(copies) > 1:
                outcome.doubled.append("/".join(key))
        outcome.doubled += ["/".join(key) for key in accepted.keys() - submitted.expected]
        scored = _scored(stage, task)
        for key in submitted.expected:
            if key[0] == task and f"{key[1]}.{key[2]}" not in scored:
                outcome.unscored.append("/".join(key))


def _scored(stage: Stage, task: str) -> set[str]:
    reply = stage.client().get(f"/api/v1/tasks/{NAME}.{task}/scores?format=json")
    return {run["name"] for run in reply.json()["runs"]}


def export(stage: Stage, to: Path) -> Path:
    """The campaign as files, written by the command."""
    stage.run("campaign", "export", stage.server.folder, NAME, "--to", to, *stage.at_database())
    return to


def check_tables(stage: Stage, exported: Path, site: Path, outcome: PublicationOutcome) -> None:
    """Every page of the site, as data, beside the one that `publish` makes of the export."""
    stage.run("publish", exported / "collection", "-o", site, "--release-truth")
    visitor = stage.client()
    for task in ("labels", "ranked"):
        root = site / "results" / task
        for path in sorted(root.rglob("*.json")):
            address = _served(task, path.relative_to(root).with_suffix("").as_posix())
            reply = visitor.get(address)
            outcome.total += 1
            if reply.status == 200 and _same(reply.json(), json.loads(path.read_bytes())):
                outcome.equal += 1
            else:
                outcome.differing.append(f"{address} ({reply.status})")
        _check_scores(stage, exported, task, outcome)


def _served(task: str, file: str) -> str:
    """The address on the site of what a file of the static one shows.

    >>> _served("ranked", "index--best-group--measure-nDCG~4010")
    '/harbour/results/ranked/json?best=group&measure=nDCG%4010'
    """
    name, *options = file.split("--")
    query = urlencode(
        {k: unquote(v.replace("~", "%")) for k, _, v in (part.partition("-") for part in options)}
    )
    page = f"{quote(name)}.json" if name != "index" else "json"
    return f"/{NAME}/results/{task}/{page}" + (f"?{query}" if query else "")


def _check_scores(stage: Stage, exported: Path, task: str, outcome: PublicationOutcome) -> None:
    """The scores themselves, by `eval` or `label` on the exported folder."""
    verb = {"labels": "label", "ranked": "eval"}[task]
    evaluation = json.loads(stage.run(verb, exported / "collection", "--format", "json"))
    local_means = {run["name"]: run["mean"] for run in evaluation["runs"]}
    reply = stage.client().get(f"/api/v1/tasks/{NAME}.{task}/scores?format=json")
    site_means = {run["name"]: run["mean"] for run in reply.json()["runs"]}
    outcome.total += 1
    if local_means == site_means:
        outcome.equal += 1
    else:
        outcome.differing.append(f"scores of {task}")


def _same(a: Any, b: Any) -> bool:
    """Equal to the last bit, but for the keys that say when and where."""
    if isinstance(a, dict) and isinstance(b, dict):
        keys = (a.keys() | b.keys()) - set(_PASSING)
        return all(k in a and k in b and _same(a[k], b[k]) for k in keys)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(_same(x, y) for x, y in zip(a, b, strict=True))
    return bool(a == b)


def folder_hash(folder: Path) -> str:
    """One hash of all files of a folder, by their names and content."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digest.update(f"{path.relative_to(folder).as_posix()}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def comes_back(stage: Stage, exported: Path, work: Path) -> tuple[bool, str]:
    """Export, import elsewhere, export again: the same bytes."""
    stage.run("campaign", "import", exported, "--to", work / "again")
    stage.run("campaign", "export", work / "again", NAME, "--to", work / "second")
    differing = _differing(exported / "collection", work / "second" / "collection")
    if not differing:
        return True, "export, import, export: equal bytes"
    return False, f"export, import, export differ in {', '.join(differing[:5])}"


def _differing(a: Path, b: Path) -> list[str]:
    names = {p.relative_to(f).as_posix() for f in (a, b) for p in f.rglob("*") if p.is_file()}
    return sorted(
        n
        for n in names
        if not (a / n).is_file()
        or not (b / n).is_file()
        or (a / n).read_bytes() != (b / n).read_bytes()
    )


def script_holds(exported: Path) -> tuple[bool, str]:
    """The script of the export makes its tables anew, and they are the same."""
    tables = sum(1 for path in (exported / "tables").rglob("*.json"))
    python, *rest = command()
    runner = exported.parent / "bin"
    runner.mkdir(exist_ok=True)
    (runner / "cranfield").write_text(f'#!/bin/sh\nexec "{python}" {" ".join(rest)} "$@"\n')
    (runner / "cranfield").chmod(0o755)
    result = subprocess.run(
        ["sh", str(exported / "reproduce.sh")],
        env={**os.environ, "PATH": f"{runner}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
    )
    holds = result.returncode == 0 and tables > 0
    output = "" if holds else f" ({(result.stdout + result.stderr).strip()[-200:]})"
    return holds, f"the script of the export reproduces {tables} tables{output}"


def links_hold(site: Path) -> tuple[bool, str]:
    """Links inside the static site that lead nowhere, and what it would load from elsewhere."""
    broken, outside, pages = [], 0, 0
    for page in sorted(site.rglob("*.html")):
        pages += 1
        text = page.read_text(encoding="utf-8")
        outside += len(_LOADED.findall(text))
        for link in _LINK.findall(text):
            parts = urlsplit(link)
            if parts.scheme or parts.netloc or not parts.path:
                continue
            if not (page.parent / unquote(parts.path)).resolve().exists():
                broken.append(f"{page.relative_to(site)} -> {link}")
    holds = pages > 0 and not broken and not outside
    first = f" (first: {broken[0]})" if broken else ""
    return (
        holds,
        f"{pages} static pages, {len(broken)} broken links{first}, {outside} outside requests",
    )
