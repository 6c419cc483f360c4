"""The states of a campaign, which moves there are between them, and what each move needs.

Rules only: the server that keeps a campaign collects the facts and asks here.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias, get_args

from cranfield.errors import UsageError

State: TypeAlias = Literal[
    "draft", "open", "closed", "pooling", "assessment", "scoring", "released", "archived"
]
STATES: tuple[State, ...] = get_args(State)
# In these states the results are public; in all others only the organiser sees them.
PUBLISHED: frozenset[State] = frozenset({"released", "archived"})


@dataclass(frozen=True, slots=True)
class Move:
    """A way from one state to another; a way back is taken with a written reason."""

    start: State
    end: State
    back: bool = False


MOVES: tuple[Move, ...] = (
    Move("draft", "open"),
    Move("open", "closed"),
    Move("closed", "pooling"),
    Move("closed", "scoring"),
    Move("pooling", "assessment"),
    Move("assessment", "scoring"),
    Move("scoring", "released"),
    Move("released", "archived"),
    Move("closed", "open", back=True),
    Move("assessment", "pooling", back=True),
    Move("released", "scoring", back=True),
)


@dataclass(frozen=True)
class Facts:
    """What the guards look at; `unmerged` names batches that are neither merged nor skipped."""

    tasks: int = 0
    tasks_without_public_set: tuple[str, ...] = ()
    licence: bool = False
    opens: int | None = None
    closes: int | None = None
    now: int = 0
    pooled: bool = False
    tasks_without_truth: tuple[str, ...] = ()
    tasks_without_baseline: tuple[str, ...] = ()
    runs: int = 0
    unmerged: tuple[str, ...] = ()
    failed_jobs: int = 0
    unscored: tuple[str, ...] = ()
    audit_broken: str = ""


@dataclass(frozen=True, slots=True)
class Guard:
    """One thing that a move needs, and whether it is there."""

    name: str
    holds: bool
    text: str
    # What to say where it does not hold.
    lacks: str = ""

    @property
    def refusal(self) -> str:
        return self.lacks or self.text


def moves_from(state: State) -> tuple[Move, ...]:
    """The moves that a state has.

    >>> [move.end for move in moves_from("closed")]
    ['pooling', 'scoring', 'open']
    """
    return tuple(move for move in MOVES if move.start == state)


def guards(end: State, facts: Facts) -> tuple[Guard, ...]:
    """What a move to a state needs, each with whether it holds.

    >>> [guard.name for guard in guards("pooling", Facts()) if not guard.holds]
    ['runs']
    """
    return _GUARDS[end](facts) if end in _GUARDS else ()


def check_move(start: State, end: State, facts: Facts, reason: str = "") -> Move:
    """The move from one state to another, or a UsageError that says what it lacks."""
    move = next((m for m in MOVES if (m.start, m.end) == (start, end)), None)
    if move is None:
        ends = ", ".join(m.end for m in moves_from(start)) or "nowhere"
        raise UsageError(f"a campaign that is {start} cannot become {end}; it can go to: {ends}")
    if move.back and not reason.strip():
        raise UsageError(f"the way back from {start} to {end} needs a written reason")
    if end == "pooling" and not facts.pooled:
        raise UsageError("this campaign judges no pool; it goes from closed to scoring")
    lacking = [guard.refusal for guard in guards(end, facts) if not guard.holds]
    if lacking and not (move.back and end != "open"):
        raise UsageError(f"cannot become {end} yet: {'; '.join(lacking)}")
    return move


def _named(names: tuple[str, ...]) -> str:
    text = ", ".join(names[:5])
    return text if len(names) <= 5 else f"{text} and {len(names) - 5} more"


def _open(facts: Facts) -> tuple[Guard, ...]:
    dated = facts.opens is not None and facts.closes is not None
    truthless = () if facts.pooled else facts.tasks_without_truth
    return (
        Guard("tasks", facts.tasks > 0, "there is a task", "there is no task"),
        Guard(
            "public set",
            not facts.tasks_without_public_set,
            f"every task has its public set {_lacks(facts.tasks_without_public_set)}".strip(),
            f"no public set for {_named(facts.tasks_without_public_set)}",
        ),
        Guard(
            "licence", facts.licence, "there is a licence to sign", "there is no licence to sign"
        ),
        Guard(
            "dates",
            dated,
            "the opening and closing dates are set",
            "the opening and closing dates are not set",
        ),
        Guard(
            "closing",
            facts.closes is not None and facts.now < facts.closes,
            "the closing date is still to come",
            "no closing date is still to come",
        ),
        Guard(
            "truth",
            not truthless,
            f"every task has a truth, or runs are pooled {_lacks(truthless)}".strip(),
            f"no truth for {_named(truthless)}, and runs are not pooled",
        ),
        Guard(
            "baseline",
            not facts.tasks_without_baseline,
            "every task has a baseline that is accepted and scored "
            f"{_lacks(facts.tasks_without_baseline)}".strip(),
            f"no baseline that is accepted and scored for {_named(facts.tasks_without_baseline)}",
        ),
    )


def _lacks(names: tuple[str, ...]) -> str:
    return f"(not: {_named(names)})" if names else ""


def _pooling(facts: Facts) -> tuple[Guard, ...]:
    return (Guard("runs", facts.runs > 0, "there is a run to pool", "there is no run to pool"),)


def _scoring(facts: Facts) -> tuple[Guard, ...]:
    return (
        Guard("runs", facts.runs > 0, "there is a run to score", "there is no run to score"),
        Guard(
            "batches",
            not facts.unmerged,
            f"every batch is merged, or skipped by name {_lacks(facts.unmerged)}".strip(),
            f"neither merged nor skipped: {_named(facts.unmerged)}",
        ),
        Guard(
            "truth",
            not facts.tasks_without_truth,
            f"every task has a truth {_lacks(facts.tasks_without_truth)}".strip(),
            f"no truth for {_named(facts.tasks_without_truth)}",
        ),
    )


def _released(facts: Facts) -> tuple[Guard, ...]:
    return (
        Guard(
            "jobs",
            not facts.failed_jobs,
            f"no job has failed ({facts.failed_jobs} have)"
            if facts.failed_jobs
            else "no job has failed",
            f"jobs have failed: {facts.failed_jobs}",
        ),
        Guard(
            "scores",
            not facts.unscored,
            f"every accepted run has a score {_lacks(facts.unscored)}".strip(),
            f"no score yet for {_named(facts.unscored)}",
        ),
        Guard("audit", not facts.audit_broken, facts.audit_broken or "the audit is whole"),
    )


_GUARDS = {"open": _open, "pooling": _pooling, "scoring": _scoring, "released": _released}
