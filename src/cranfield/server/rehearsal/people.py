"""What the organiser and all who work do alike: batches, links, answers, logs.

Simulated annotators: careful ones, and twelve kinds of nuisance.

For rehearsals and for measuring what quality checks find. A crowd knows the truth and each of its
members a way to depart from it; who is asked about what, and in which order, is up to the caller.
"""

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

import numpy as np
from numpy.typing import NDArray

from cranfield.agreement.quality import quality_of
from cranfield.campaign.batches import Plan, Worker, next_unit
from cranfield.campaign.forms import Answers, Form
from cranfield.campaign.responses import collect_responses
from cranfield.data.judgement_log import FilledForm
from cranfield.errors import UsageError
from cranfield.server.rehearsal.client import Client, Reply, encoded
from cranfield.server.rehearsal.stage import RehearsalError, Stage, words
from cranfield.server.rehearsal.world import NAME
from cranfield.work.seeds import generator

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


_STREAM = 46
# What spammers do: guess, one form for all items, a cycle of forms, half of it at a tenth of the
# time, careful at first and then guessing, the form of another.
SPAM = ("random", "constant", "pattern", "fast", "tired", "copier")
# Mean seconds of a careful form.
SECONDS = 150.0


@dataclass(frozen=True, slots=True)
class Persona:
    """One member of a crowd; `kind` is '' for a careful one, who errs by `slips`."""

    name: str
    kind: str
    slips: float


@dataclass(frozen=True, slots=True)
class PersonAnswers:
    """A form that was handed in."""

    who: str
    answers: Answers


class Crowd:
    """A truth about some items, and people who see it more or less.

    Each question has an answer per item, drawn from a frequency of its own, and a difficulty that
    all share. The answers depend on the seed, the person, the item and what was handed in
    before, on nothing else.
    """

    def __init__(
        self,
        form: Form,
        items: Sequence[str],
        *,
        people: int = 60,
        spammers: int = 12,
        seed: int = 0,
    ) -> None:
        if not 0 <= spammers <= people:
            raise UsageError(f"spammers={spammers} is not from 0 to the {people} people")
        self.form, self.items, self._seed = form, tuple(items), seed
        self._position = {item: k for k, item in enumerate(self.items)}
        draw = generator(seed, _STREAM)
        self._choices = [q for q in form.questions() if q.kind in ("one", "any")]
        self._frequent = [
            self._drawn_frequencies(len(q.options), q.kind, draw) for q in self._choices
        ]
        self._hard = [draw.uniform(0.5, 2.0, len(q.options)) for q in self._choices]
        self.truth = {item: self._drawn(draw) for item in self.items}
        kinds = [SPAM[k % len(SPAM)] for k in range(spammers)] + [""] * (people - spammers)
        order = draw.permutation(people).tolist()
        width = len(str(people))
        self.people = tuple(
            Persona(f"w{n:0{width}d}", kinds[k], float(draw.uniform(0.04, 0.12)))
            for n, k in enumerate(order, 1)
        )
        self._persona = {p.name: p for p in self.people}

    @staticmethod
    def _drawn_frequencies(
        options: int, kind: str, draw: np.random.Generator
    ) -> NDArray[np.float64]:
        if kind == "one":
            return np.asarray(draw.dirichlet(np.ones(options)))
        return np.asarray(draw.beta(0.8, 4.0, options))

    def _drawn(self, draw: np.random.Generator) -> dict[str, list[str]]:
        """Answers by the frequencies alone."""
        found = {}
        for question, often in zip(self._choices, self._frequent, strict=True):
            if question.kind == "one":
                found[question.name] = [question.values[int(draw.choice(len(often), p=often))]]
            else:
                shown = draw.random(len(often)) < often
                found[question.name] = [v for v, s in zip(question.values, shown, strict=True) if s]
        return found

    def says(
        self, who: str, item: str, before: Sequence[PersonAnswers] = (), done: int = 0
    ) -> tuple[dict[str, list[str]], float]:
        """The answers of a person about an item, and how many seconds they take.

        `before` are the forms on the item that were handed in earlier, `done` how many forms the
        person has filled in.
        """
        person = self._persona[who]
        draw = generator(self._seed, _STREAM, 1, self._position[item], *who.encode())
        seconds = float(SECONDS * draw.lognormal(0.0, 0.35))
        number = int(who.lstrip("w"))
        if person.kind == "copier":
            copied = self._copied(person, before, draw)
            if copied is not None:
                return copied, seconds * 0.8
            return self._drawn(draw), seconds * 0.8
        if person.kind == "constant":
            return self._drawn(generator(self._seed, _STREAM, 2, number)), seconds * 0.8
        if person.kind == "pattern":
            return self._drawn(generator(self._seed, _STREAM, 3, number, done % 3)), seconds * 0.8
        if person.kind == "random" or (person.kind == "tired" and done >= 5):
            return self._drawn(draw), seconds
        if person.kind == "fast":
            half = self._slipped(item, person.slips, draw)
            guess = self._drawn(draw)
            mixed = {q: (half if draw.random() < 0.5 else guess)[q] for q in half}
            return mixed, seconds / 10
        return self._slipped(item, person.slips, draw), seconds

    def _copied(
        self, person: Persona, before: Sequence[PersonAnswers], draw: np.random.Generator
    ) -> dict[str, list[str]] | None:
        """Another form with a few slips; always the same victim's where there is one."""
        if not before:
            return None
        number = int(person.name.lstrip("w"))
        victims = generator(self._seed, _STREAM, 4, number).permutation(len(self.people)).tolist()
        rank = {self.people[k].name: place for place, k in enumerate(victims)}
        source = min(before, key=lambda said: rank.get(said.who, len(rank))).answers
        taken = {q.name: list(source.get(q.name, ())) for q in self._choices}
        for question in self._choices:
            if draw.random() < 0.04:
                taken[question.name] = self._moved(question.name, taken[question.name], draw)
        return taken

    def _moved(self, name: str, given: list[str], draw: np.random.Generator) -> list[str]:
        question = self.form.question(name)
        value = question.values[int(draw.integers(len(question.values)))]
        if question.kind == "one":
            return [value]
        return [v for v in question.values if (v in given) != (v == value)]

    def _slipped(self, item: str, slips: float, draw: np.random.Generator) -> dict[str, list[str]]:
        """The truth as a careful person sees it."""
        found = {}
        for question, hard, often in zip(self._choices, self._hard, self._frequent, strict=True):
            true = self.truth[item][question.name]
            if question.kind == "one":
                chance = min(0.6, 2.0 * slips * float(hard.mean()))
                wrong = draw.random() < chance
                other = question.values[int(draw.choice(len(often), p=often))]
                found[question.name] = [other] if wrong else list(true)
                continue
            kept = []
            for value, own in zip(question.values, hard.tolist(), strict=True):
                present = value in true
                # What is there is overlooked more often than something is seen that is not.
                chance = min(0.5, slips * own * (2.0 if present else 0.35))
                if present != (draw.random() < chance):
                    kept.append(value)
            found[question.name] = kept
        return self._with_parents(found)

    def _with_parents(self, answers: dict[str, list[str]]) -> dict[str, list[str]]:
        """Every concept with those above it, as the page ticks them."""
        for question in self._choices:
            given = set(answers[question.name])
            above = {a for c in given for a in self.form.implied.get(c, ())}
            full = given | (above & set(question.values))
            answers[question.name] = [v for v in question.values if v in full]
        return answers


def fill_batches(
    crowd: Crowd, overlaps: Sequence[int], *, seed: int = 0, labels: bool = True
) -> list[FilledForm]:
    """Batches of a crowd's work, one after the other, in the order of handing in.

    People come in a random order, some more often than others; no person gets an item twice.
    """
    draw = generator(seed, _STREAM, 5)
    eager = draw.lognormal(0.0, 0.5, len(crowd.people))
    seen: dict[str, set[str]] = {p.name: set() for p in crowd.people}
    before: dict[str, list[PersonAnswers]] = {item: [] for item in crowd.items}
    made: list[FilledForm] = []
    clock = 0.0
    for number, overlap in enumerate(overlaps, 1):
        plan = Plan(tuple(crowd.items), overlap=overlap, seed=seed)
        load: dict[str, int] = {}
        idle: set[int] = set()
        while len(idle) < len(crowd.people):
            chance = np.where([k in idle for k in range(len(eager))], 0.0, eager)
            k = int(draw.choice(len(eager), p=chance / chance.sum()))
            who = crowd.people[k].name
            item = next_unit(plan, "running", Worker(who, seen[who]), load)
            if item is None:
                idle.add(k)
                continue
            answers, seconds = crowd.says(who, item, before[item], len(seen[who]))
            seen[who].add(item)
            load[item] = load.get(item, 0) + 1
            before[item].append(PersonAnswers(who, answers))
            clock += seconds / 10
            made.append(_handed_in(crowd.form, who, item, answers, number, seconds, clock, labels))
    return made


@dataclass(frozen=True, slots=True)
class SpamDetection:
    """How many spammers of a simulated crowd the spam signals name; copiers are spammers."""

    forms: int
    spammers: int
    found: int
    copiers: int
    copiers_found: int
    honest: int
    false_alarms: int


def detect_spammers(
    crowd: Crowd, overlaps: Sequence[int] = (5, 4), *, seed: int = 0
) -> SpamDetection:
    """Fill batches by a crowd, look at all that was handed in, and count who is named."""
    forms = fill_batches(crowd, overlaps, seed=seed)
    kinds = {person.name: person.kind for person in crowd.people}
    people = quality_of(collect_responses(forms).log)
    named = [kinds[p.annotator] for p in people if p.verdict != "keep"]
    every = list(kinds.values())
    return SpamDetection(
        len(forms),
        sum(map(bool, every)),
        sum(map(bool, named)),
        every.count("copier"),
        named.count("copier"),
        every.count(""),
        named.count(""),
    )


def _handed_in(
    form: Form,
    who: str,
    item: str,
    answers: Mapping[str, Sequence[str]],
    batch: int,
    seconds: float,
    clock: float,
    labels: bool,
) -> FilledForm:
    values = form.labels(answers) if labels else {}
    said = {c: str(v) for c, v in values.items()}
    return FilledForm(who, item, said, str(batch), "", seconds, clock - seconds, clock)
