"""What the organiser and all who work do alike: batches, links, answers, logs."""

from __future__ import annotations

import csv
import html
import io
import json
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from cranfield.server.rehearsal.client import Client, Reply
from cranfield.server.rehearsal.stage import RehearsalError, Stage, words
from cranfield.server.rehearsal.world import NAME
from cranfield.server.visitors import WORKER

Answering: TypeAlias = Callable[[str], Mapping[str, Sequence[str]]]
HOME = f"/{NAME}/organise/batches"
_LINK = re.compile(r"<li><code>([^<]+)</code></li>")


def new_batch(
    stage: Stage,
    kind: str,
    slug: str,
    fields: Mapping[str, str],
    file: tuple[str, bytes] | None = None,
) -> None:
    """A draft of a batch, filled in on its page."""
    sent = None if file is None else ("file", *file)
    reply = stage.organiser.fill_in(HOME, {"kind": kind, "slug": slug, **fields}, file=sent)
    if reply.status != 303:
        raise RehearsalError(f"the batch {slug} was not made: {words(reply)}")


def to_state(stage: Stage, slug: str, state: str, **more: str) -> None:
    """Take a batch to a state; `more` has a reason or a method."""
    here = f"{HOME}/{slug}"
    reply = stage.organiser.fill_in(f"{here}/state", {"to": state, **more}, form=here, times=5)
    if reply.status != 303:
        raise RehearsalError(f"the batch {slug} does not become {state}: {words(reply)}")


def finish(stage: Stage, slug: str, why: str) -> None:
    """A batch that gives no truth."""
    to_state(stage, slug, "closed")
    to_state(stage, slug, "skipped", reason=why)


def invitations(stage: Stage, slug: str, kind: str, count: int = 1) -> list[tuple[str, str]]:
    """Pseudonyms and the secrets of their links, in the order in which they were made."""
    here = f"{HOME}/{slug}"
    page = stage.organiser.fill_in(f"{here}/people", {"kind": kind, "count": str(count)}, form=here)
    found = [html.unescape(link).rsplit("/", 1)[-1] for link in _LINK.findall(page.text)]
    if len(found) != count:
        raise RehearsalError(f"{len(found)} links to {slug} for {count} people")
    return [(stage.pseudonym(kind), secret) for secret in found]


def survey_link(stage: Stage, slug: str) -> str:
    """The address by which whoever has it answers a survey."""
    here = f"{HOME}/{slug}"
    page = stage.organiser.fill_in(f"{here}/people", {"kind": "survey"}, form=here)
    found = _LINK.search(page.text)
    if found is None:
        raise RehearsalError(f"there is no link to the survey {slug}")
    return f"/{NAME}/survey/{html.unescape(found[1]).rsplit('/', 1)[-1]}"


def respond(
    stage: Stage, link: str, about: Mapping[str, str], answer: Answering, seconds: float
) -> None:
    """One person answers all questions of a survey; `answer` gives what is said to each."""
    browser = stage.client()
    begun = browser.fill_in(link, about)
    if begun.status != 303:
        raise RehearsalError(f"the survey does not begin ({begun.status})")
    program = stage.client(browser.cookies[WORKER])
    while (given := next_work(program))["assignment"] is not None:
        place = str(given["assignment"])
        reply = put(program, place, answer(str(given["item"])), seconds, f"{place}.1")
        if reply.status != 200:
            raise RehearsalError(f"an answer to the survey was not taken ({reply.status})")


def counted(stage: Stage, slug: str) -> dict[str, Any]:
    """What the site counts, as data."""
    path, wanted = f"{HOME}/{slug}/survey", {"Accept": "application/json"}
    organiser = stage.organiser
    found: dict[str, Any] = organiser.again(
        lambda: organiser.send("GET", path, None, wanted)
    ).json()
    return found


def put(
    client: Client, assignment: str, answers: Mapping[str, Sequence[str]], seconds: float, key: str
) -> Reply:
    """Save an answer until a reply comes; under its key it counts once."""
    content = {"answers": answers, "seconds": round(seconds, 3), "key": key}
    body = json.dumps(content).encode()
    path, kind = f"/api/v1/work/{assignment}", {"Content-Type": "application/json"}
    return client.again(lambda: client.send("PUT", path, body, kind))


def next_work(client: Client) -> dict[str, Any]:
    """What somebody is given next; its assignment is None when there is nothing left."""
    given: dict[str, Any] = client.get("/api/v1/work/next").json()
    return given


def log_of(stage: Stage, slug: str) -> Counter[tuple[str, str, str]]:
    """How often the log of a batch has each annotator, item and concept."""
    text = stage.organiser.get(f"{HOME}/{slug}/log.csv").text
    rows = csv.DictReader(io.StringIO(text))
    return Counter((r["annotator"], r["item"], r["concept"]) for r in rows)


def lost_and_doubled(
    log: Counter[tuple[str, str, str]], acknowledged: set[tuple[str, str]]
) -> tuple[int, int]:
    """Acknowledged (annotator, item) that a log has not, and rows that it has too often."""
    held = {(who, item) for who, item, _ in log}
    doubled = sum(count - 1 for count in log.values()) + len(held - acknowledged)
    return len(acknowledged - held), doubled
