"""The rehearsal as a whole."""

from __future__ import annotations

import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

from cranfield.answers import Answer
from cranfield.notes import Progress, Watcher
from cranfield.server.rehearsal import (
    experts,
    judging,
    publishing,
    submitting,
    surveying,
    working,
)
from cranfield.server.rehearsal.experts import ExpertOutcome
from cranfield.server.rehearsal.judging import PoolOutcome
from cranfield.server.rehearsal.publishing import PublicationOutcome
from cranfield.server.rehearsal.stage import Stage
from cranfield.server.rehearsal.submitting import Submissions
from cranfield.server.rehearsal.working import CrowdOutcome
from cranfield.server.rehearsal.world import Scale, World


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
    submitted = submitting.play(stage)
    progress(0.3)
    worked = working.play(stage)
    progress(0.35)
    annotated = experts.play(stage)
    progress(0.4)
    judged = judging.play(stage)
    progress(0.43)
    surveyed = surveying.play(stage)
    progress(0.45)
    publishing.release(stage)
    progress(0.5)
    first, last = PublicationOutcome(), PublicationOutcome()
    publishing.check_tables(stage, publishing.export(stage, work / "first"), work / "site-1", first)
    progress(0.65)
    publishing.erratum(stage)
    progress(0.75)
    exported = publishing.export(stage, work / "export")
    publishing.check_tables(stage, exported, work / "site-2", last)
    publishing.check_runs(stage, submitted, last)
    progress(0.9)
    checks = (
        _r1(first, last),
        _r2(stage, submitted, [worked, annotated, judged], last),
        _r3(worked, [annotated.summary(), judged.summary(), *surveyed.summary()]),
        _r4(stage, submitted),
        joined(
            "R5",
            [
                publishing.comes_back(stage, exported, work),
                publishing.script_holds(exported),
                publishing.links_hold(work / "site-2"),
                (True, "browser not run"),
            ],
        ),
        Check("R6", True, f"export {publishing.folder_hash(exported)[:16]}"),
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
