"""The first half of the play: registration, runs good and bad, the deadline, and power cuts."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from cranfield.server.rehearsal import cast
from cranfield.server.rehearsal.cast import BadUpload, RunPart, TeamPart
from cranfield.server.rehearsal.stage import RehearsalError, Stage, soon
from cranfield.server.rehearsal.world import NAME, QUOTA

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


def play(stage: Stage) -> Submissions:
    """Everything until the deadline has passed."""
    outcome = Submissions()
    stage.open()
    stage.settings(
        opens=soon(-60),
        closes=soon(7200),
        configurations=" ".join(cast.CONFIGURATIONS),
        runs_per_team=str(QUOTA),
        call="Find the ships, and say what is in the pictures.",
    )
    stage.move("open")
    takers, onlookers = cast.teams(stage.world)
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
    parts = list(cast.runs(stage.world, takers))
    bad = cast.bad_uploads(stage.world)
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
    reply = stage.submit(cast.sixth_run(stage.world, takers[0]))
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
    reply = stage.submit(cast.late_run(stage.world, takers[1]))
    if reply.status != 409:
        outcome.wrong.append(f"a late run was answered {reply.status}")
    if stage.state() != "closed":
        stage.move("closed")
