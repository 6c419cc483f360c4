"""The rehearsal as a whole: registration and runs, annotation, release and erratum, and the checks.

Runs are good and bad, the power fails now and then, and every face must say the same.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import subprocess
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote, unquote, urlencode, urlsplit

from cranfield.answers import Answer
from cranfield.notes import Progress, Watcher
from cranfield.rehearsal import annotation, surveys, world
from cranfield.rehearsal.annotation import CrowdOutcome, ExpertOutcome, PoolOutcome
from cranfield.rehearsal.stage import RehearsalError, Stage, command, soon
from cranfield.rehearsal.world import NAME, QUOTA, BadUpload, RunPart, Scale, TeamPart, World

KILLS = 3
_DEADLINE = 3.0


@dataclass
class Submissions:
    """What happened to the runs."""

    expected: set[tuple[str, str, str]] = field(default_factory=set)
    refused: int = 0
    bad: int = 0
    wrong: list[str] = field(default_factory=list)
    snooped: int = 0
    seen: list[str] = field(default_factory=list)
    child_kills: int = 0


def play_submissions(stage: Stage) -> Submissions:
    """Everything until the deadline has passed."""
    outcome = Submissions()
    stage.open()
    stage.settings(
        opens=soon(-60),
        closes=soon(7200),
        configurations=" ".join(world.CONFIGURATIONS),
        runs_per_team=str(QUOTA),
        call="Find the ships, and say what is in the pictures.",
    )
    stage.move("open")
    takers, onlookers = world.teams(stage.world)
    stage.together(
        [partial(stage.register, team, with_token=True) for team in takers]
        + [partial(stage.register, team, with_token=False) for team in onlookers]
    )
    _send_all(stage, outcome, takers)
    _too_many(stage, outcome, takers)
    _withdraw(stage, outcome)
    _snoop(stage, outcome, takers)
    _deadline(stage, outcome, takers)
    return outcome


def _send_all(stage: Stage, outcome: Submissions, takers: list[TeamPart]) -> None:
    """Good and bad uploads by several at once, while the power fails now and then."""
    parts = list(world.runs(stage.world, takers))
    bad = world.bad_uploads(stage.world)
    outcome.expected = {(p.task, p.team.acronym, p.tag) for p in parts}
    acts: list[Callable[[], None]] = []
    for number, part in enumerate(parts):
        team = takers[number % len(takers)]
        acts.append(partial(_good, stage, outcome, part, by_page=number % 4 == 0))
        acts += [
            partial(_bad, stage, outcome, upload, team) for upload in bad[number :: len(parts)]
        ]
    over = threading.Event()
    chaos = threading.Thread(target=_chaos, args=(stage, outcome, len(parts), over))
    chaos.start()
    try:
        stage.together(acts)
    finally:
        over.set()
        chaos.join()


def _good(stage: Stage, outcome: Submissions, part: RunPart, *, by_page: bool) -> None:
    reply = stage.submit(part, by_page=by_page)
    if reply.status not in (201, 303):
        outcome.wrong.append(f"{part.team.acronym} {part.tag}: {reply.status} {reply.text[:300]}")


def _bad(stage: Stage, outcome: Submissions, bad: BadUpload, team: TeamPart) -> None:
    """An upload that must be refused, with the line where it is wrong."""
    part = RunPart(bad.task, team, "bad", "V", bad.ending, bad.content, bad.threshold)
    reply = stage.submit(part)
    outcome.bad += 1
    if reply.status != 422:
        outcome.wrong.append(f"{bad.kind}: answered {reply.status} {reply.text[:200]}")
        return
    lines = [problem["line"] for problem in reply.json()["problems"]]
    if bad.line not in lines:
        outcome.wrong.append(f"{bad.kind}: told of lines {lines[:5]}, not {bad.line}")
    else:
        outcome.refused += 1


def _chaos(stage: Stage, outcome: Submissions, total: int, over: threading.Event) -> None:
    """Cut the power when a quarter, a half and three quarters of the runs are in."""
    servers = [total * (n + 1) // (KILLS + 1) for n in range(KILLS)]
    children = [total * (2 * n + 1) // (2 * KILLS + 2) for n in range(KILLS)]
    while servers or children:
        received = total if over.is_set() else len(stage.acknowledged.receipts)
        if children and received >= children[0] and stage.kill_child():
            children.pop(0)
            outcome.child_kills += 1
        if servers and received >= servers[0]:
            servers.pop(0)
            stage.restart()
        if over.wait(0.02) and not servers:
            break


def _too_many(stage: Stage, outcome: Submissions, takers: list[TeamPart]) -> None:
    reply = stage.submit(world.sixth_run(stage.world, takers[0]))
    if reply.status != 409:
        outcome.wrong.append(f"a sixth run was answered {reply.status}")


def _withdraw(stage: Stage, outcome: Submissions) -> None:
    """One of the runs of annotation is taken back; it is not scored."""
    task, acronym, tag = max(key for key in outcome.expected if key[0] == "labels")
    program = stage.client(stage.tokens[acronym])
    path = f"/api/v1/tasks/{NAME}.{task}/runs/{tag}"
    reply = program.again(lambda: program.send("DELETE", path))
    if reply.status != 204:
        raise RehearsalError(f"a run cannot be withdrawn: {reply.status} {reply.text[:200]}")
    outcome.expected.discard((task, acronym, tag))


def _snoop(stage: Stage, outcome: Submissions, takers: list[TeamPart]) -> None:
    """Before the release the public and the teams look for results: there are none."""
    _, acronym, tag = min(outcome.expected)
    paths = [f"/{NAME}/results"]
    for kind in ("labels", "ranked"):
        paths += [
            f"/{NAME}/results/{kind}{rest}"
            for rest in ("", "/json", "/csv", f"/run/{acronym}.{tag}", "/files", "/compare")
        ]
        paths.append(f"/api/v1/tasks/{NAME}.{kind}/scores")
    paths += [f"/{NAME}/organise", "/admin", f"/{NAME}/data/../sealed"]
    visitors = [stage.client(), stage.client(stage.tokens[acronym])]
    visitors.append(stage.client(stage.tokens[takers[-1].acronym]))
    for visitor in visitors:
        for path in paths:
            outcome.snooped += 1
            reply = visitor.again(partial(visitor.send, "GET", path))
            if reply.status == 200:
                outcome.seen.append(path)


def _deadline(stage: Stage, outcome: Submissions, takers: list[TeamPart]) -> None:
    """The campaign closes by the clock; what comes then is too late."""
    stage.settings(closes=soon(_DEADLINE))
    time.sleep(_DEADLINE + 0.2)
    reply = stage.submit(world.late_run(stage.world, takers[1]))
    if reply.status != 409:
        outcome.wrong.append(f"a late run was answered {reply.status}")
    if stage.state() != "closed":
        stage.move("closed")


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


@dataclass(frozen=True)
class Check:
    """One row: R1 to R6, as the docs of the campaign name them."""

    name: str
    holds: bool
    figure: str


@dataclass(frozen=True, repr=False, eq=False)
class Rehearsal(Answer):
    """The checks, and figures that are told but not judged: seconds and memory."""

    command: ClassVar[str] = "campaign rehearse"
    table_maker: ClassVar[str] = "cranfield.report.tables.campaign:rehearsal_document"
    seed: int
    scale: float
    database: str
    checks: tuple[Check, ...]
    figures: dict[str, Any] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        return all(check.holds for check in self.checks)

    def payload(self, **_: object) -> dict[str, Any]:
        """The checks, then the figures."""
        return {
            "seed": self.seed,
            "scale": self.scale,
            "database": self.database,
            "checks": [{"name": c.name, "holds": c.holds, "figure": c.figure} for c in self.checks],
            "figures": dict(self.figures),
        }

    def headline(self) -> str:
        holding = sum(check.holds for check in self.checks)
        return f"{holding} of {len(self.checks)} checks hold"


def joined(name: str, parts: list[tuple[bool, str]]) -> Check:
    """Several findings as one row: it holds when all of them do."""
    return Check(name, all(holds for holds, _ in parts), "; ".join(text for _, text in parts))


MEGABYTE = 1 << 20


def rehearse(
    *,
    seed: int = 7,
    scale: float = 1.0,
    database: str = "",
    folder: str | Path | None = None,
    progress: Watcher | None = None,
) -> Rehearsal:
    """Play a whole campaign against a server of its own, and tell what held.

    `database` is the URL of an empty store of PostgreSQL; without one the site has its SQLite
    file. Everything is made in `folder`, or in one that is gone afterwards.
    """
    reporter = Progress.of(progress)
    world = World.generated(Scale(scale), seed)
    with tempfile.TemporaryDirectory(prefix="cranfield-rehearsal-") as temporary:
        work = Path(folder) if folder is not None else Path(temporary)
        work.mkdir(parents=True, exist_ok=True)
        stage = Stage(work, world, database)
        try:
            return _play(stage, work, seed, scale, reporter)
        finally:
            stage.stop()


def _play(stage: Stage, work: Path, seed: int, scale: float, progress: Progress) -> Rehearsal:
    started = time.monotonic()
    submitted = play_submissions(stage)
    progress(0.3)
    worked = annotation.play_crowd(stage)
    progress(0.35)
    annotated = annotation.play_experts(stage)
    progress(0.4)
    judged = annotation.play_pool(stage)
    progress(0.43)
    surveyed = surveys.play_surveys(stage)
    progress(0.45)
    release(stage)
    progress(0.5)
    first, last = PublicationOutcome(), PublicationOutcome()
    check_tables(stage, export(stage, work / "first"), work / "site-1", first)
    progress(0.65)
    erratum(stage)
    progress(0.75)
    exported = export(stage, work / "export")
    check_tables(stage, exported, work / "site-2", last)
    check_runs(stage, submitted, last)
    progress(0.9)
    checks = (
        _r1(first, last),
        _r2(stage, submitted, [worked, annotated, judged], last),
        _r3(worked, [annotated.summary(), judged.summary(), *surveyed.summary()]),
        _r4(stage, submitted),
        joined(
            "R5",
            [
                comes_back(stage, exported, work),
                script_holds(exported),
                links_hold(work / "site-2"),
                (True, "browser not run"),
            ],
        ),
        Check("R6", True, f"export {folder_hash(exported)[:16]}"),
    )
    progress(1.0)
    return Rehearsal(
        seed=seed,
        scale=scale,
        database="PostgreSQL" if stage.database else "SQLite",
        checks=checks,
        figures={
            "seconds": round(time.monotonic() - started, 1),
            "server_megabytes": round(stage.most_memory / MEGABYTE, 1),
            "responses": stage.witness.seen,
            "cut_connections": stage.witness.cut,
            "server_processes": len(stage.servers),
            "server_kills": stage.kills,
            "child_kills": submitted.child_kills,
        },
    )


def _r1(first: PublicationOutcome, last: PublicationOutcome) -> Check:
    equal, total = first.equal + last.equal, first.total + last.total
    differing = [*first.differing, *last.differing]
    example = f" (first: {differing[0]})" if differing else ""
    return Check("R1", equal == total > 0, f"tables equal {equal}/{total}{example}")


def _r3(worked: CrowdOutcome, extra_findings: list[tuple[bool, str]]) -> Check:
    """Nuisances are found and careful people are left alone; copiers are counted apart."""
    spammers, copiers = worked.spammers, worked.copiers
    flagged_spammers, copied = spammers & worked.flagged, copiers & worked.flagged
    alarms = worked.honest & worked.flagged
    allowed = -(-len(worked.honest) // 48)
    return joined(
        "R3",
        [
            (
                len(flagged_spammers) >= int(0.8 * len(spammers)),
                f"spammers found {len(flagged_spammers)} of {len(spammers)}",
            ),
            (len(alarms) <= allowed, f"false alarms {len(alarms)} of {len(worked.honest)}"),
            (True, f"copiers found {len(copied)} of {len(copiers)}"),
            (not worked.twice, f"items seen twice by one person {worked.twice}"),
            (
                not worked.wrong,
                f"{worked.forms} accepted forms in two batches "
                f"({' and '.join(map(str, worked.accepted))}), {worked.refused} refused"
                + (f" (first: {worked.wrong[0]})" if worked.wrong else ""),
            ),
            *extra_findings,
        ],
    )


def _r2(
    stage: Stage,
    submitted: Submissions,
    work: list[CrowdOutcome | ExpertOutcome | PoolOutcome],
    last: PublicationOutcome,
) -> Check:
    missing = len(last.missing) + sum(outcome.missing for outcome in work)
    doubled = len(last.doubled) + sum(outcome.doubled for outcome in work)
    scored = len(submitted.expected) - len(last.unscored)
    faults = stage.witness.faults
    return joined(
        "R2",
        [
            (not missing, f"acknowledged writes missing {missing}"),
            (not doubled, f"doubled {doubled}"),
            (not faults, f"HTTP 5xx {len(faults)}{f' (first: {faults[0]})' if faults else ''}"),
            (
                not last.unscored,
                f"runs accepted {len(submitted.expected)} = scored {scored}",
            ),
            (
                submitted.refused == submitted.bad and not submitted.wrong,
                f"bad uploads refused {submitted.refused}/{submitted.bad} with the right line"
                + (f" (first: {submitted.wrong[0]})" if submitted.wrong else ""),
            ),
        ],
    )


def _r4(stage: Stage, submitted: Submissions) -> Check:
    leaks, seen = stage.witness.leaks, submitted.seen
    first = f" (first: {(leaks + seen)[0]})" if leaks or seen else ""
    return Check(
        "R4",
        not leaks and not seen,
        f"canaries: {len(leaks)} hits in {stage.witness.seen} responses; results seen before the "
        f"release {len(seen)} of {submitted.snooped} tries{first}",
    )
