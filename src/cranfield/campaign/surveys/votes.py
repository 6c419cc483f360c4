"""The answers of people to a questionnaire, counted with its key."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import combinations
from pathlib import Path
from typing import ClassVar

from cranfield.answers import Answer
from cranfield.campaign.annotation_task import Response, read_response
from cranfield.campaign.forms import NONE
from cranfield.campaign.surveys.survey import Respondents
from cranfield.errors import InputError, Problem, UsageError, first_duplicate, plural
from cranfield.io.files import csv_rows, describe, open_text, read_json_text
from cranfield.notes import Notes
from cranfield.types import Json, JsonObject
from cranfield.validation import LONGEST_TEXT, Real, describe_value, validate_params
from cranfield.work.serialisation import floats

FIXED = ("votes_a", "votes_b", "votes_both")
CONFIDENCE = 0.95
# Every option is held against every other.
MOST_COLUMNS = 1000


@dataclass(frozen=True, slots=True)
class Choice:
    """An option over all questions; the interval of its share is Wilson's.

    `first` counts the questions in which no option had more votes, `tied` those of them in
    which another one had as many.
    """

    option: str
    votes: int
    share: float
    interval: tuple[float, float]
    first: int
    tied: int


@dataclass(frozen=True, slots=True)
class Duel:
    """Two options: questions in which one has more votes, and the p-value of the sign test."""

    a: str
    b: str
    a_wins: int
    b_wins: int
    ties: int
    p: float


@dataclass(frozen=True, slots=True)
class QuestionVotes:
    """The votes of one question, in the order of the options, and what most people chose.

    `choice` has several options where they have as many votes, and none without a vote.
    """

    question: str
    votes: tuple[float, ...]
    choice: tuple[str, ...]

    def to_dict(self, options: Sequence[str]) -> dict[str, Json]:
        votes = dict(zip(options, self.votes, strict=True))
        return {"question": self.question, "votes": votes, "choice": list(self.choice)}


@dataclass(frozen=True, slots=True)
class OwnOrders:
    """How far people's own orders agree with those of a measure: tau-b, with its interval."""

    measure: str
    tau: float
    interval: tuple[float, float]
    people: int
    orders: int


@dataclass(frozen=True, repr=False, eq=False)
class Choices(Answer):
    """The count of a survey in which people chose between measures, as in Ch Table 4."""

    command: ClassVar[str] = "lab votes"
    table_maker: ClassVar[str] = "cranfield.report.tables.campaign:choices_document"

    questions: int
    choices: tuple[Choice, ...]
    duels: tuple[Duel, ...]
    rows: tuple[QuestionVotes, ...] = ()
    respondents: Respondents | None = None
    own_orders: tuple[OwnOrders, ...] = ()

    @property
    def options(self) -> tuple[str, ...]:
        return tuple(c.option for c in self.choices)

    def of(self, option: str) -> Choice:
        return next(c for c in self.choices if c.option == option)

    def headline(self) -> str:
        votes = ", ".join(f"{c.option} {c.votes}" for c in self.choices)
        return f"{plural(self.questions, 'question')}; votes: {votes}"

    def payload(self, **_: object) -> dict[str, Json]:
        return {
            "study": "votes",
            "questions": self.questions,
            "choices": [
                {
                    "option": c.option,
                    "votes": c.votes,
                    "share": c.share,
                    "ci": list(c.interval),
                    "first": c.first,
                    "tied": c.tied,
                }
                for c in self.choices
            ],
            "pairs": [
                {
                    "a": d.a,
                    "b": d.b,
                    "a_wins": d.a_wins,
                    "b_wins": d.b_wins,
                    "ties": d.ties,
                    "p": d.p,
                }
                for d in self.duels
            ],
            "rows": [row.to_dict(self.options) for row in self.rows],
            **({} if self.respondents is None else {"respondents": self.respondents.to_dict()}),
            **({"own_orders": [asdict(o) for o in self.own_orders]} if self.own_orders else {}),
        }


def _same_length(name: str, lists: Iterable[Sequence[int]]) -> int:
    lengths = {len(entries) for entries in lists}
    if len(lengths) != 1:
        raise UsageError(f"{name} need at least one list, and lists of one length")
    return lengths.pop()


def _check_names(names: Sequence[str] | None, questions: int) -> None:
    if names is not None and len(names) != questions:
        raise UsageError(f"names has {len(names)} names for {questions} questions")


@validate_params
def count_choices(
    votes: Mapping[str, Sequence[int]], *, names: Sequence[str] | None = None
) -> Choices:
    """Votes of every question for every option: {option: [votes of question 1, ...]}.

    `names` are those of the questions, which otherwise are numbered.
    """
    from scipy.stats import binomtest

    questions = _same_length("votes", votes.values())
    _check_names(names, questions)
    total = sum(map(sum, votes.values()))
    highest = [max(v[q] for v in votes.values()) for q in range(questions)]
    heads = [sum(v[q] == highest[q] for v in votes.values()) for q in range(questions)]
    choices = []
    for option, counts in votes.items():
        ahead = [q for q in range(questions) if counts[q] == highest[q]]
        count = sum(counts)
        choices.append(
            Choice(
                option,
                count,
                count / total if total else math.nan,
                wilson(count, total),
                len(ahead),
                sum(heads[q] > 1 for q in ahead),
            )
        )
    duels = []
    for a, b in combinations(votes, 2):
        wins = sum(x > y for x, y in zip(votes[a], votes[b], strict=True))
        losses = sum(x < y for x, y in zip(votes[a], votes[b], strict=True))
        decided = wins + losses
        p = float(binomtest(wins, decided).pvalue) if decided else math.nan
        duels.append(Duel(a, b, wins, losses, questions - decided, p))
    rows = _rows(_numbered(names, questions), tuple(votes), list(zip(*votes.values(), strict=True)))
    return Choices(questions, tuple(choices), tuple(duels), rows)


def _numbered(names: Sequence[str] | None, count: int) -> Sequence[str]:
    return [str(number) for number in range(1, count + 1)] if names is None else names


def _rows(
    names: Sequence[str], options: Sequence[str], votes: Sequence[Sequence[float]]
) -> tuple[QuestionVotes, ...]:
    """A row per question; votes beyond the options (for both of two) choose none of them."""
    rows = []
    for name, counts in zip(names, votes, strict=True):
        highest = max(counts[: len(options)])
        leaders = (
            o for o, count in zip(options, counts, strict=False) if count == highest and highest
        )
        rows.append(QuestionVotes(name, tuple(counts), tuple(leaders)))
    return tuple(rows)


def wilson(count: int, total: int) -> tuple[float, float]:
    """Wilson's interval of a share."""
    if not total:
        return math.nan, math.nan
    from scipy.stats import norm

    z = float(norm.ppf(0.5 + CONFIDENCE / 2))
    share = count / total
    middle = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = (
        z
        * math.sqrt(share * (1 - share) / total + z * z / (4 * total * total))
        / (1 + z * z / total)
    )
    return middle - half, middle + half


@dataclass(frozen=True, slots=True)
class MajorityAgreement:
    """A measure and the majority of people.

    `decided` are the questions in which neither people nor the measure are level; `agreed`
    those of them with one winner. `vote_share` is the share of single votes for the side that
    the measure prefers, votes for both counted half.
    """

    measure: str
    questions: int
    decided: int
    agreed: int
    interval: tuple[float, float]
    p: float
    vote_share: float


@dataclass(frozen=True, repr=False, eq=False)
class Preferences(Answer):
    """Agreement of measures with people over pairs of systems.

    For the measures named in `less_is_better` the lower score was taken for the preferred one.
    `scores` are those of both systems for every question, `wrong` the concepts that each of them
    got wrong; `expectations` is what people wrote, with its class.
    """

    command: ClassVar[str] = "lab votes"
    table_maker: ClassVar[str] = "cranfield.report.tables.campaign:preferences_document"

    agreements: tuple[MajorityAgreement, ...]
    less_is_better: tuple[str, ...] = ()
    systems: tuple[str, str] = ("a", "b")
    rows: tuple[QuestionVotes, ...] = ()
    scores: Mapping[str, tuple[tuple[float, float], ...]] = field(default_factory=dict)
    wrong: tuple[int, ...] = ()
    expectations: tuple[tuple[str, str], ...] = ()
    respondents: Respondents | None = None

    @property
    def options(self) -> tuple[str, ...]:
        return (*self.systems, "both")

    def of(self, measure: str) -> MajorityAgreement:
        return next(a for a in self.agreements if a.measure == measure)

    def headline(self) -> str:
        sides = ", ".join(f"{a.measure} {a.agreed} of {a.decided}" for a in self.agreements)
        return f"with the majority of people: {sides}"

    def payload(self, **_: object) -> dict[str, Json]:
        return {
            "study": "votes",
            "less_is_better": list(self.less_is_better),
            "measures": [
                {
                    "measure": a.measure,
                    "questions": a.questions,
                    "decided": a.decided,
                    "agreed": a.agreed,
                    "ci": list(a.interval),
                    "p": a.p,
                    "vote_share": a.vote_share,
                }
                for a in self.agreements
            ],
            "rows": [self._row(k) for k in range(len(self.rows))],
            **self._beside(),
        }

    def _row(self, k: int) -> dict[str, Json]:
        record = self.rows[k].to_dict(self.options)
        if self.wrong:
            record["wrong"] = self.wrong[k]
        if self.scores:
            record["scores"] = {m: list(values[k]) for m, values in self.scores.items()}
        return record

    def _beside(self) -> dict[str, Json]:
        record: dict[str, Json] = {}
        if self.expectations:
            record["expectations"] = [{"text": t, "class": c} for t, c in self.expectations]
        if self.respondents is not None:
            record["respondents"] = self.respondents.to_dict()
        return record


@validate_params
def count_preferences(
    votes: Sequence[tuple[float, float, float]],
    scores: Mapping[str, Sequence[tuple[Real, Real]]],
    *,
    less_is_better: Sequence[str] = (),
    systems: tuple[str, str] = ("a", "b"),
    names: Sequence[str] | None = None,
) -> Preferences:
    """`votes` are (a, b, both) per question; `scores` what each measure gives a and b.

    More is better, but for the measures of errors named in `less_is_better`. `systems` are the
    names of a and b, `names` those of the questions.
    """
    from scipy.stats import binomtest

    if any(len(vote) != 3 for vote in votes):
        raise UsageError("votes are three numbers for each question: (a, b, both)")
    if len(systems) != 2:
        raise UsageError(f"systems={systems!r} is not the names of two systems")
    if any(len(pairs) != len(votes) for pairs in scores.values()):
        raise UsageError(f"scores of every measure are needed for {len(votes)} questions")
    if any(len(pair) != 2 for pairs in scores.values() for pair in pairs):
        raise UsageError("scores are two numbers for each question: of a and of b")
    _check_names(names, len(votes))
    agreements = []
    for measure, pairs in scores.items():
        decided = agreed = 0
        on_side = total = 0.0
        sign = -1.0 if measure in less_is_better else 1.0
        for (a, b, ties), (first_score, second_score) in zip(votes, pairs, strict=True):
            x, y = sign * first_score, sign * second_score
            # Where a score does not exist (NaN) neither is larger: the measure prefers nothing.
            prefers_a, prefers_b = x > y, x < y
            if not (prefers_a or prefers_b):
                continue
            on_side += (a if prefers_a else b) + ties / 2
            total += a + b + ties
            if a != b:
                decided += 1
                agreed += (a > b) == prefers_a
        p = float(binomtest(agreed, decided).pvalue) if decided else math.nan
        agreements.append(
            MajorityAgreement(
                measure,
                len(votes),
                decided,
                agreed,
                wilson(agreed, decided),
                p,
                on_side / total if total else math.nan,
            )
        )
    less = tuple(m for m in scores if m in less_is_better)
    rows = _rows(_numbered(names, len(votes)), systems, votes)
    beside = {m: tuple((float(x), float(y)) for x, y in pairs) for m, pairs in scores.items()}
    return Preferences(tuple(agreements), less, systems, rows, beside)


@validate_params
def count_votes(path: str | Path) -> Choices | Preferences:
    """A CSV of either kind: `question,AP,NMRR,...`, or `question,votes_a,votes_b,votes_both,
    M_a,M_b,...` with the two scores of each measure M."""
    source = describe(path)
    with open_text(path) as stream:
        rows = [(line, row) for line, row in csv_rows(stream, source) if row]
    if not rows or rows[0][1][0].strip() != "question" or len(rows[0][1]) < 3:
        raise InputError.single(
            source,
            "expected a header: question,MEASURE,MEASURE,... or "
            "question,votes_a,votes_b,votes_both,MEASURE_a,MEASURE_b,...",
            1,
        )
    header = [name.strip() for name in rows[0][1]]
    if len(header) > MOST_COLUMNS:
        raise InputError.single(source, f"{len(header):,} columns, more than {MOST_COLUMNS:,}", 1)
    twice = first_duplicate(header)
    if twice is not None:
        raise InputError.single(source, f"column {twice!r} stands in the header twice", 1)
    unusable = next((name for name in header if "\0" in name or len(name) > LONGEST_TEXT), None)
    if unusable is not None:
        raise InputError.single(source, f"column {describe_value(unusable)} is no name", 1)
    if len(rows) < 2:
        raise InputError.single(source, "has no questions below its header")
    pairs = set(FIXED) <= set(header)
    columns = _columns(source, header, rows[1:], integers=not pairs)
    questions = [row[0].strip() for _, row in rows[1:]]
    if not pairs:
        return count_choices({n: [int(v) for v in c] for n, c in columns.items()}, names=questions)
    names = [n[:-2] for n in header if n.endswith("_a") and n not in FIXED]
    lacking = [n for n in names if f"{n}_b" not in header]
    if lacking or not names:
        raise InputError.single(
            source,
            f"expected columns {lacking[0] if lacking else 'MEASURE'}_a and "
            f"{lacking[0] if lacking else 'MEASURE'}_b",
            1,
        )
    votes = list(zip(*(columns[n] for n in FIXED), strict=True))
    scores = {n: list(zip(columns[f"{n}_a"], columns[f"{n}_b"], strict=True)) for n in names}
    less = [n for n in names if _less_is_better(n)]
    return count_preferences(votes, scores, less_is_better=less, names=questions)


def _less_is_better(name: str) -> bool:
    """What the declaration of a measure says; more is better for a name that is none."""
    from cranfield.errors import MeasureError
    from cranfield.measures import measure

    try:
        return measure(name).higher_is_better is False
    except MeasureError:
        return False


def _columns(
    source: str, header: list[str], rows: list[tuple[int, list[str]]], *, integers: bool
) -> dict[str, list[float]]:
    problems = []
    columns: dict[str, list[float]] = {name: [] for name in header[1:]}
    for line, row in rows:
        if len(row) != len(header):
            problems.append(Problem(line, f"{len(row)} fields, expected {len(header)}"))
            continue
        for name, text in zip(header[1:], row[1:], strict=True):
            votes = integers or name in FIXED
            try:
                value = float(text)
                good = math.isfinite(value) and (not votes or (value >= 0 and value == int(value)))
            except ValueError:
                value, good = 0.0, False
            if not good:
                expected = "a whole number from 0 on" if votes else "a number"
                problems.append(Problem(line, f"{name} {text!r} is not {expected}"))
            columns[name].append(value)
    if problems:
        raise InputError(source, problems)
    return columns


OTHER = "OTHER"
# The answer that both sets are equally good.
BOTH = "both"


@validate_params
def tally(key: str | Path, answers: Sequence[str | Path]) -> Choices | Preferences:
    """The answers of people, counted; `key` is the key.json of the questionnaire.

    Answers about ranked lists are counted by measure, those about concept sets by whether the
    measures prefer the same run.
    """
    hidden = _json(key, "key")
    of_sets = "scores" in hidden
    names, methods = hidden.get("measures"), hidden["key"].values()
    well_formed = (
        isinstance(names, list)
        and all(isinstance(name, str) for name in names)
        and all(isinstance(options, dict) for options in methods)
        and (
            _is_set_key(hidden)
            if of_sets
            else all(name in names for options in methods for name in options.values())
            and _is_grouping(hidden.get("alike", {}), names)
        )
    )
    if not well_formed:
        raise InputError.single(
            describe(key),
            "is not the key.json of a questionnaire; give the one that was written with the "
            "questions, as it was",
        )
    responses = [_answers(path, hidden["key"]) for path in answers]
    noticed = _noticed([describe(path) for path in answers], responses, tuple(hidden["key"]))
    counted = count_sets(hidden, responses) if of_sets else count_orders(hidden, responses)
    return replace(counted, notes=noticed)


def _noticed(
    files: Sequence[str], responses: Sequence[Mapping[str, list[str]]], questions: Sequence[str]
) -> tuple[str, ...]:
    """Answers that are there twice, and questions that a person did not answer."""
    notes = Notes()
    first: dict[str, str] = {}
    for file, answers in zip(files, responses, strict=True):
        same = first.setdefault(json.dumps(answers, sort_keys=True), file)
        if same != file or files.count(file) > 1:
            notes.add(f"the same answers as in {same}; all of them are counted", about=file)
        open_questions = [question for question in questions if not answers.get(question)]
        if open_questions:
            notes.add(f"no answer to question {', '.join(open_questions)}", about=file)
    return notes.lines("file")


def count_orders(hidden: JsonObject, responses: Sequence[Mapping[str, list[str]]]) -> Choices:
    """The votes for each measure; those that order the lists of a question alike share them."""
    votes = {name: [0] * len(hidden["key"]) for name in (*hidden["measures"], OTHER)}
    for position, (question, methods) in enumerate(hidden["key"].items()):
        groups = [set(group) for group in hidden.get("alike", {}).get(question, [])]
        for response in responses:
            ticked = {methods[m] for m in response.get(question, []) if m != NONE}
            credited = ticked.union(*(group for group in groups if group & ticked))
            if NONE in response.get(question, []):
                credited.add(OTHER)
            for name in credited:
                votes[name][position] += 1
    return count_choices(votes, names=list(hidden["key"]))


def _answers(path: str | Path, key: Mapping[str, Mapping[str, str]]) -> dict[str, list[str]]:
    """The answers of one person, each option at most once."""
    record = _json(path)
    if "cranfield-response" in record:
        return chosen_on(read_response(path), key)
    answers = record.get("answers")
    if not isinstance(answers, dict):
        raise InputError.single(describe(path), "expected a JSON object with 'answers'")
    for question, ticked in answers.items():
        if question not in key:
            raise InputError.single(describe(path), f"no question {question!r} was asked")
        if not isinstance(ticked, list):
            raise InputError.single(
                describe(path), f"question {question}: expected a list of answers, found {ticked!r}"
            )
        for option in ticked:
            if not isinstance(option, str) or (option != NONE and option not in key[question]):
                raise InputError.single(
                    describe(path), f"question {question}: no {option!r} was asked about"
                )
    return {question: list(dict.fromkeys(ticked)) for question, ticked in answers.items()}


def chosen_on(response: Response, key: Mapping[str, Mapping[str, str]]) -> dict[str, list[str]]:
    """What a person chose on the page of a survey, the options of each question of the key."""
    choices = {}
    for filled in response.done():
        if filled.unit in key:
            values = [v for name in ("methods", "better") for v in filled.answers.get(name, ())]
            choices[filled.unit] = list(key[filled.unit]) if values == [BOTH] else values
    return choices


def _json(path: str | Path, field: str = "") -> JsonObject:
    try:
        record = json.loads(read_json_text(path))
    except (ValueError, RecursionError) as error:
        raise InputError.single(describe(path), f"is not JSON ({error})") from None
    if not isinstance(record, dict) or (field and not isinstance(record.get(field), dict)):
        field_name = field or "answers"
        raise InputError.single(describe(path), f"expected a JSON object with {field_name!r}")
    return record


def _is_grouping(alike: object, names: Sequence[str]) -> bool:
    """Whether this says for some questions which measures order their lists alike."""
    return isinstance(alike, dict) and all(
        isinstance(groups, list)
        and all(isinstance(g, list) and all(name in names for name in g) for g in groups)
        for groups in alike.values()
    )


def _is_set_key(hidden: JsonObject) -> bool:
    """Whether a key has two runs, and their scores under every measure for every question."""
    runs, scores = hidden.get("runs"), hidden.get("scores")
    if not isinstance(runs, list) or len(runs) != 2 or not isinstance(scores, dict):
        return False
    rows = [scores.get(question) for question in hidden["key"]]
    return (
        isinstance(hidden.get("less_is_better"), list)
        and all(run in runs for sets in hidden["key"].values() for run in sets.values())
        and all(
            isinstance(row, dict) and all(_is_pair(row.get(m)) for m in hidden["measures"])
            for row in rows
        )
    )


def _is_pair(values: object) -> bool:
    return (
        isinstance(values, list)
        and len(values) == 2
        and all(v is None or isinstance(v, int | float) for v in values)
    )


def count_sets(hidden: JsonObject, answers: Sequence[Mapping[str, list[str]]]) -> Preferences:
    """The votes for either run beside the scores of the key."""
    first, second = hidden["runs"]
    votes = []
    for question, sets in hidden["key"].items():
        choices = [
            {sets[s] for s in response.get(question, []) if s in sets} for response in answers
        ]
        votes.append(
            (
                sum(c == {first} for c in choices),
                sum(c == {second} for c in choices),
                sum(len(c) == 2 for c in choices),
            )
        )
    scores = {
        m: [tuple(floats(hidden["scores"][q][m]).tolist()) for q in hidden["key"]]
        for m in hidden["measures"]
    }
    return count_preferences(
        votes,
        scores,
        less_is_better=hidden["less_is_better"],
        systems=(first, second),
        names=list(hidden["key"]),
    )
