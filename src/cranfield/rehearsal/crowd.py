"""Simulated annotators: careful ones, and twelve kinds of nuisance.

For rehearsals and for measuring what quality checks find. A crowd knows the truth and each of its
members a way to depart from it; who is asked about what, and in which order, is up to the caller.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cranfield.agreement.quality import quality_of
from cranfield.campaign.batches import Plan, Worker, next_unit
from cranfield.campaign.forms import Answers, Form
from cranfield.campaign.responses import collect_responses
from cranfield.data.judgement_log import FilledForm
from cranfield.errors import UsageError
from cranfield.work.seeds import generator

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
