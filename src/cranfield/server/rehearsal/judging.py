"""The pool: people and a program judge what the runs found, and that becomes the truth."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from cranfield.client import TOKEN
from cranfield.server.rehearsal import people
from cranfield.server.rehearsal.client import HOST
from cranfield.server.rehearsal.stage import RehearsalError, Stage, command
from cranfield.server.rehearsal.world import NAME, World

SLUG = "pool"
# Of so many judgements one is a grade beside the truth.
_SLIPS = 20
# A program that knows grades from a file, as `cranfield site judge` speaks with one.
_PROGRAM = """\
import json, sys
grades = json.load(open(sys.argv[1]))
for line in sys.stdin:
    asked = json.loads(line)
    grade = grades[asked["topic"] + " " + asked["item"]]
    print(json.dumps({"answers": {"grade": [str(grade)]}, "seconds": 1}), flush=True)
"""


@dataclass
class PoolOutcome:
    """What became of the pool."""

    people: int = 0
    units: int = 0
    by_program: int = 0
    grown: int = 0
    missing: int = 0
    doubled: int = 0
    acknowledged: set[tuple[str, str]] = field(default_factory=set)

    def summary(self) -> tuple[bool, str]:
        """Whether all of the pool was judged, in words."""
        judged_count = len(self.acknowledged) + self.by_program
        return (
            judged_count == self.units > 0 and not self.missing and not self.doubled,
            f"pool judged {judged_count} of {self.units} by {self.people} people and a program "
            f"({self.by_program}), {self.grown} units added by value",
        )


def play(stage: Stage) -> PoolOutcome:
    """Pool, judge, and make the truth of the rankings from it."""
    scale, outcome = stage.world.scale, PoolOutcome(people=stage.world.scale.judges)
    stage.move("pooling")
    fields = {"depth": str(scale.pool_depth), "per_team": "1", "seed": str(stage.world.seed)}
    people.new_batch(stage, "relevance", SLUG, fields)
    stage.move("assessment")
    people.to_state(stage, SLUG, "running")
    before = _units(stage)
    outcome.grown = _grow(stage, 2 * scale.pool_depth, before)
    outcome.units = before + outcome.grown
    links = people.invitations(stage, SLUG, "crowd", outcome.people)
    ((_, program),) = people.invitations(stage, SLUG, "model")
    grades = _grades(stage.world)
    outcome.by_program = _program(stage, program, grades, outcome.units // (outcome.people + 1))
    _people(stage, links, grades, outcome)
    log = people.log_of(stage, SLUG)
    judged = {(annotator, item) for annotator, item, _ in log if not annotator.startswith("model")}
    outcome.missing = len(outcome.acknowledged - judged) + outcome.units - len(log)
    outcome.doubled = log.total() - len(log) + len(judged - outcome.acknowledged)
    people.to_state(stage, SLUG, "closed")
    stage.confirm()
    people.to_state(stage, SLUG, "merged", method="majority", sure="replace")
    return outcome


def _units(stage: Stage) -> int:
    """How many units the batch has, from its list."""
    reply = stage.organiser.get(f"/api/v1/campaigns/{NAME}/batches/{SLUG}/agreement")
    return int(reply.json()["wanted"])


def _grow(stage: Stage, depth: int, before: int) -> int:
    """The pool goes deeper where judging pays most; gives how many units that adds."""
    batch_page = f"{people.HOME}/{SLUG}"
    fields = {"count": str(depth), "depth": str(depth)}
    if stage.organiser.fill_in(f"{batch_page}/grow", fields, form=batch_page).status != 303:
        raise RehearsalError("the pool does not grow")
    return _units(stage) - before


def _grades(world: World) -> dict[str, int]:
    """The answer about each pair, the same for every judge: mostly the truth."""
    true = np.maximum(world.grades, 0)
    draw = world.draw(9)
    slips = draw.integers(_SLIPS, size=true.shape) == 0
    grades = np.where(slips, draw.integers(0, 4, size=true.shape), true)
    return {
        f"{topic} {item}": int(grades[t, i])
        for t, topic in enumerate(world.topics)
        for i, item in enumerate(world.items)
    }


def _program(stage: Stage, token: str, grades: dict[str, int], limit: int) -> int:
    """`cranfield site judge` with a program of ours; gives how many units it judged."""
    folder = Path(stage.folder)
    (folder / "judge.py").write_text(_PROGRAM, encoding="utf-8")
    (folder / "grades.json").write_text(json.dumps(grades), encoding="utf-8")
    judge_command = f"'{sys.executable}' '{folder / 'judge.py'}' '{folder / 'grades.json'}'"
    words = [
        "judge",
        "--to",
        f"http://{HOST}:{stage.server.port}/{NAME}",
        "--command",
        judge_command,
    ]
    result = subprocess.run(
        command(*words, "--most", str(limit), "--format", "json"),
        env={**os.environ, TOKEN: token},
        capture_output=True,
        text=True,
        check=False,
    )
    if result.returncode:
        raise RehearsalError(f"the program does not judge: {result.stderr.strip()[-300:]}")
    return int(json.loads(result.stdout)["judged"])


def _people(
    stage: Stage, links: list[tuple[str, str]], grades: dict[str, int], outcome: PoolOutcome
) -> None:
    """Turn by turn, so that the same people judge the same units whenever it is played again."""
    clients = [(annotator, people.enter(stage, link)) for annotator, link in links]
    half = (outcome.units - outcome.by_program) // 2
    while clients:
        for annotator, client in list(clients):
            page = people.next_work(client, SLUG)
            if page is None:
                clients.remove((annotator, client))
                continue
            # The text of a topic ends in its number.
            unit = f"{page.topic.rsplit(' ', 1)[-1]} {page.item}"
            key = f"{annotator}-{unit}"
            answers = {"grade": [str(grades[unit])]}
            reply = people.put(client, page, answers, 5.0, key)
            if reply.status != 303:
                raise RehearsalError(f"a judgement was not taken: {reply.status}")
            outcome.acknowledged.add((annotator, unit))
            if len(outcome.acknowledged) == half:
                stage.restart()
