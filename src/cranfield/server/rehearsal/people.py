"""What the organiser and all who work do alike: batches, links, answers, logs."""

from __future__ import annotations

import csv
import html
import io
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias

from cranfield.server.rehearsal.client import Client, Reply, encoded
from cranfield.server.rehearsal.stage import RehearsalError, Stage, words
from cranfield.server.rehearsal.world import NAME

Answering: TypeAlias = Callable[[str], Mapping[str, Sequence[str]]]
HOME = f"/{NAME}/organise/batches"
_LINK = re.compile(r"<li><code>([^<]+)</code></li>")
_FORM = re.compile(r'<form method="post" action="([^"]+)" data-form=')
_ITEM = re.compile(r'<h2 tabindex="-1">([^<]+)</h2>')
_TOPIC = re.compile(r'<p class="topic">([^<]+)</p>')
_HIDDEN = re.compile(r'<input type="hidden" name="(csrf|client_key)" value="([^"]+)"')


@dataclass(frozen=True)
class WorkPage:
    """A form on its page: where it goes, what it asks about, and its hidden fields."""

    address: str
    item: str
    topic: str
    hidden: Mapping[str, str]


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


def to_state(stage: Stage, slug: str, state: str, **extra_fields: str) -> None:
    """Take a batch to a state; `extra_fields` has a reason or a method."""
    batch_page = f"{HOME}/{slug}"
    reply = stage.organiser.fill_in(
        f"{batch_page}/state", {"to": state, **extra_fields}, form=batch_page, times=5
    )
    if reply.status != 303:
        raise RehearsalError(f"the batch {slug} does not become {state}: {words(reply)}")


def finish(stage: Stage, slug: str, why: str) -> None:
    """A batch that gives no truth."""
    to_state(stage, slug, "closed")
    to_state(stage, slug, "skipped", reason=why)


def invitations(stage: Stage, slug: str, kind: str, count: int = 1) -> list[tuple[str, str]]:
    """Pseudonyms and the secrets of their links, in the order in which they were made."""
    batch_page = f"{HOME}/{slug}"
    page = stage.organiser.fill_in(
        f"{batch_page}/people", {"kind": kind, "count": str(count)}, form=batch_page
    )
    secrets = [html.unescape(link).rsplit("/", 1)[-1] for link in _LINK.findall(page.text)]
    if len(secrets) != count:
        raise RehearsalError(f"{len(secrets)} links to {slug} for {count} people")
    return [(stage.pseudonym(kind), secret) for secret in secrets]


def survey_link(stage: Stage, slug: str) -> str:
    """The public address to answer a survey."""
    batch_page = f"{HOME}/{slug}"
    page = stage.organiser.fill_in(f"{batch_page}/people", {"kind": "survey"}, form=batch_page)
    match = _LINK.search(page.text)
    if match is None:
        raise RehearsalError(f"there is no link to the survey {slug}")
    return f"/{NAME}/survey/{html.unescape(match[1]).rsplit('/', 1)[-1]}"


def respond(
    stage: Stage,
    slug: str,
    link: str,
    about: Mapping[str, str],
    answer: Answering,
    seconds: float,
) -> None:
    """One person answers all questions of a survey; `answer` gives what is said to each."""
    browser = stage.client()
    start = browser.fill_in(link, about)
    if start.status != 303:
        raise RehearsalError(f"the survey does not begin ({start.status})")
    while (page := next_work(browser, slug)) is not None:
        question = page.item.removeprefix("Question ")
        reply = put(browser, page, answer(question), seconds)
        if reply.status != 303:
            raise RehearsalError(f"an answer to the survey was not taken ({reply.status})")


def counted(stage: Stage, slug: str) -> dict[str, Any]:
    """What the site counts, as data."""
    path, headers = f"{HOME}/{slug}/survey", {"Accept": "application/json"}
    organiser = stage.organiser
    counts: dict[str, Any] = organiser.again(
        lambda: organiser.send("GET", path, None, headers)
    ).json()
    return counts


def enter(stage: Stage, link: str) -> Client:
    """The browser of a worker who has opened a link."""
    browser = stage.client()
    if browser.get(f"/{NAME}/enter/{link}").status != 200:
        raise RehearsalError("a link does not lead to work")
    return browser


def let_in(stage: Stage, slug: str, other_slug: str) -> None:
    """Those who work on another batch by their links work on this one, too."""
    batch_page = f"{HOME}/{slug}"
    reply = stage.organiser.fill_in(
        f"{batch_page}/people", {"kind": "same", "from": other_slug}, form=batch_page
    )
    if reply.status != 200:
        raise RehearsalError(f"no worker is let into {slug}: {words(reply)}")


def put(
    browser: Client,
    page: WorkPage,
    answers: Mapping[str, Sequence[str]],
    seconds: float,
    key: str = "",
) -> Reply:
    """Save an answer until a reply comes; under its key (or the page's) it counts once."""
    fields: dict[str, str | Sequence[str]] = {**answers, **page.hidden}
    fields |= {"active_ms": str(round(1000 * seconds)), "state": "done"}
    if key:
        fields["client_key"] = key
    body, kind = encoded(fields, None)
    send = partial(browser.send, "POST", page.address, body, {"Content-Type": kind})
    return browser.again(send)


def next_work(browser: Client, slug: str) -> WorkPage | None:
    """The page of the next assignment; None when there is nothing left."""
    page = browser.get(f"/{NAME}/work/{slug}").text
    form, item, topic = _FORM.search(page), _ITEM.search(page), _TOPIC.search(page)
    if form is None or item is None:
        return None
    hidden = {key: html.unescape(value) for key, value in _HIDDEN.findall(page)}
    topic_text = html.unescape(topic[1]) if topic else ""
    return WorkPage(form[1], html.unescape(item[1]), topic_text, hidden)


def log_of(stage: Stage, slug: str) -> Counter[tuple[str, str, str]]:
    """How often the log of a batch has each annotator, item and concept."""
    text = stage.organiser.get(f"{HOME}/{slug}/log.csv").text
    rows = csv.DictReader(io.StringIO(text))
    return Counter((r["annotator"], r["item"], r["concept"]) for r in rows)


def lost_and_doubled(
    log: Counter[tuple[str, str, str]], acknowledged: set[tuple[str, str]]
) -> tuple[int, int]:
    """Acknowledged (annotator, item) that a log has not, and rows that it has too often."""
    logged = {(annotator, item) for annotator, item, _ in log}
    doubled = sum(count - 1 for count in log.values()) + len(logged - acknowledged)
    return len(acknowledged - logged), doubled
