"""A whole collection: drafted from a folder, and checked with all that belongs to it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from cranfield.answers import Answer
from cranfield.campaign.item_texts import public_items, read_texts
from cranfield.campaign.results.asked import open_material
from cranfield.campaign.results.results_data import ResultColumn, ResultPart, ResultTable
from cranfield.campaign.scoring import TRUTH, run_thresholds
from cranfield.campaign.submissions import ROWS, Problem, PublicSet, check_submission
from cranfield.campaign.suitability import Suitability, suitability
from cranfield.data.collection import Collection, Kind
from cranfield.errors import CranfieldError, InputError, plural, suggest
from cranfield.io.collection import (
    FILE,
    Draft,
    draft_collection,
    read_collection,
    read_items,
    write_draft,
)
from cranfield.io.files import describe, run_name
from cranfield.notes import with_progress
from cranfield.validation import validate_params

if TYPE_CHECKING:
    from cranfield.notes import Watcher

NAMED = 3


@dataclass(frozen=True, repr=False, eq=False)
class CollectionDraft(Answer):
    """What was found in a folder, and the `collection.toml` that was written from it."""

    command: ClassVar[str] = "collection init"
    table_maker: ClassVar[str] = "cranfield.report.tables.campaign:draft_document"

    written: str
    found: tuple[tuple[str, str], ...]
    unknown: tuple[str, ...]

    def payload(self, **_: object) -> dict[str, Any]:
        """The files as they were taken, and those of which nothing is known."""
        return {
            "written": self.written,
            "found": [{"file": file, "key": key} for file, key in self.found],
            "unknown": list(self.unknown),
        }

    def headline(self) -> str:
        """Where it was written, and from how many files."""
        return f"{self.written}: {plural(len(self.found), 'file')} named"


@validate_params
def init_collection(folder: str | Path) -> CollectionDraft:
    """Write a commented `collection.toml` from what is found in a folder."""
    draft = draft_collection(folder)
    _name_splits(draft)
    path = write_draft(draft)
    named_files = [(file, key) for key, files in draft.found.items() for file in files]
    named_files += [(file, f"splits.{name}") for name, file in draft.splits.items()]
    notes = []
    if not any(key in draft.found for key in ("judgements", "truth", "boxes")):
        notes.append("no judgements and no truth were found: name them before runs are scored")
    return CollectionDraft(
        str(path), tuple(sorted(named_files)), tuple(draft.unknown), notes=tuple(notes)
    )


def _name_splits(draft: Draft) -> None:
    """Say which split runs are about: the one with the items of the truth, else of the first
    annotation run, and the smallest one with all that were judged."""
    splits = {n: set(read_items(draft.folder / file)) for n, file in draft.splits.items()}
    order = sorted(splits, key=lambda name: len(splits[name]))
    for key, truth in (("retrieved", "judgements"), ("annotated", "truth")):
        files = draft.found.get(truth, [])
        if not files or not splits:
            continue
        # Where the truth has all splits, runs say which one they were asked for.
        places = files[:1] + (draft.found.get("label_runs", [])[:1] if key == "annotated" else [])
        for place in places:
            try:
                items = _items_of(draft.folder / place, truth)
            except CranfieldError:
                continue  # it will be told when the collection is checked
            fits = (
                n for n in order if items == splits[n] or (key == "retrieved" and items < splits[n])
            )
            name = next(fits, None)
            if name is not None:
                draft.texts[key] = name
                break


def _items_of(path: Path, key: str) -> set[str]:
    """The items that a truth speaks of."""
    from cranfield.io import read_qrels
    from cranfield.io.labels import read_labels

    if key == "truth":
        return set(read_labels(path).items)
    return set().union(*read_qrels(path).to_dict().values())


@dataclass(frozen=True, slots=True)
class HeldFact:
    """Something that a collection has, in a figure."""

    what: str
    figure: str


@dataclass(frozen=True, repr=False, eq=False)
class CollectionCheck(Answer):
    """What a collection has, and what is wrong with it."""

    command: ClassVar[str] = "collection check"
    table_maker: ClassVar[str] = "cranfield.report.tables.campaign:collection_check_document"

    name: str
    facts: tuple[HeldFact, ...]
    problems: tuple[Problem, ...]
    count: int
    requirements: tuple[Suitability, ...] = ()

    def payload(self, **_: object) -> dict[str, Any]:
        """The facts by name, a row per problem, and one per requirement on collections."""
        return {
            "collection": self.name,
            "requirements": [
                {
                    "number": r.number,
                    "requirement": r.requirement,
                    "state": r.state,
                    "figure": r.figure,
                }
                for r in self.requirements
            ],
            "has": {fact.what: fact.figure for fact in self.facts},
            "problems": [
                {"file": p.file, "line": p.line or None, "message": p.message}
                for p in self.problems
            ],
            "count": self.count,
        }

    def headline(self) -> str:
        """Whether anything is wrong."""
        return f"{self.name}: {plural(self.count, 'problem')}"


@validate_params
@with_progress
def check_collection(folder: str | Path, *, progress: Watcher | None = None) -> CollectionCheck:
    """Read all that a collection names, and hold its files against one another.

    The truth is read too; submissions of others are checked without it (`check_submissions`).
    The requirements on test collections that Nowak lists (3.2.1) are met, open, or for people to
    say; an open one is no problem.
    """
    from cranfield.notes import Progress

    try:
        collection = read_collection(folder)
    except InputError as error:
        problems = tuple(Problem(error.where, p.line, p.message) for p in error.problems)
        return CollectionCheck(str(folder), (), problems, error.count)
    check = _Check(collection)
    steps = check.steps()
    reporter = Progress.of(progress)
    for i, step in enumerate(steps, 1):
        check.attempt(step)
        reporter(i / len(steps))
    return CollectionCheck(
        collection.name,
        tuple(check.facts),
        tuple(check.problems),
        check.count,
        tuple(suitability(collection)),
        notes=tuple(check.notes),
    )


class _Check:
    """Gathers facts and problems, file by file."""

    def __init__(self, collection: Collection) -> None:
        self.c, self.toml = collection, str(collection.folder / FILE)
        self.facts: list[HeldFact] = []
        self.problems: list[Problem] = []
        self.notes: list[str] = []
        self.count = 0
        self.publics: dict[Kind, PublicSet] = {}

    def steps(self) -> list[Callable[[], None]]:
        """What is looked at, in turn; a later step uses what earlier ones found."""
        steps: list[Callable[[], None]] = [self._texts, self._measures, self._people]
        for kind in self.c.kinds:
            steps += [lambda k=kind: self._public(k), lambda k=kind: self._truth(k)]  # type: ignore[misc]
            steps += [lambda k=kind, p=p: self._run(k, p) for p in self.c.part(kind).runs]  # type: ignore[misc]
        return [*steps, self._knowledge, self._opinions, self._years]

    def attempt(self, step: Callable[[], None]) -> None:
        """Take a step; what a reader refuses is a problem of its file."""
        try:
            step()
        except InputError as error:
            for problem in error.problems:
                self._complain(problem.message, error.where, problem.line)
            self.count += error.count - len(error.problems)
        except CranfieldError as error:
            self._complain(str(error))

    def _complain(self, message: str, file: str = "", line: int = 0) -> None:
        self.count += 1
        self.problems.append(Problem(file or self.toml, line, message))

    def _has(self, name: str, figure: object) -> None:
        self.facts.append(HeldFact(name, str(figure)))

    def _texts(self) -> None:
        texts = read_texts(self.c)
        for group in ("topics", "items", "concepts", "pictures"):
            if getattr(texts, group):
                self._has(
                    f"texts of {group}" if group != "pictures" else group,
                    len(getattr(texts, group)),
                )
        for item, path in texts.pictures.items():
            if not path.is_file():
                self._complain(f"the picture of item {item!r} is not there: {path.name}")
        for name, items in self.c.splits.items():
            self._has(f"split {name}", f"{len(items)} items")

    def _measures(self) -> None:
        from cranfield.measures import parse_measures
        from cranfield.measures.labels.registry import parse_label_measures
        from cranfield.measures.regions import parse_region_measures

        parsers: dict[Kind, tuple[str, Callable[..., Any]]] = {
            "ranked": ("", parse_measures),
            "labels": ("label_", parse_label_measures),
            "regions": ("box_", parse_region_measures),
        }
        for kind, (prefix, parse) in parsers.items():
            part = self.c.part(kind)
            measures = [str(m) for name in part.measures for m in parse(name)]
            runs = [run_name(path) for path in part.runs]
            if part.primary:
                primary = str(parse(part.primary)[0])
                if measures and primary not in measures:
                    self._complain(f"{prefix}primary {primary!r} is not among {prefix}measures")
            if part.baseline and part.baseline not in runs:
                hint = suggest(part.baseline, runs)
                self._complain(f"{prefix}baseline {part.baseline!r} is not a run.{hint}")

    def _people(self) -> None:
        runs = {run_name(path) for kind in self.c.kinds for path in self.c.part(kind).runs}
        teams = {team.acronym for team in self.c.teams}
        for name, facts in self.c.run_facts.items():
            if name not in runs:
                self._complain(
                    f"run_facts are of {name!r}, which is not a run.{suggest(name, runs)}"
                )
            if facts.team and teams and facts.team not in teams:
                hint = suggest(facts.team, teams)
                self._complain(f"the team {facts.team!r} of run {name!r} is not among teams.{hint}")
        if teams:
            self._has("teams", len(teams))
        if self.c.run_facts:
            self._has("facts of runs", len(self.c.run_facts))

    def _public(self, kind: Kind) -> None:
        public = PublicSet.of(self.c, kind)
        self.publics[kind] = public
        for name in ("topics", "items", "concepts"):
            ids = getattr(public, name)
            if ids is not None:
                self._has(f"public {name} ({kind})", len(ids))
        for name in public.unknown:
            self.notes.append(f"nothing tells the {name} of {kind} runs without the truth")

    def _truth(self, kind: Kind) -> None:
        from cranfield.io import read_qrels
        from cranfield.io.labels import MOST_LISTED, read_labels, resolve_unlisted
        from cranfield.io.regions import read_regions

        path, public = self.c.part(kind).truth, self.publics.get(kind)
        if path is None:
            self.notes.append(f"there is no truth for {kind} runs: they cannot be scored")
            return
        if kind == "ranked":
            judged = read_qrels(path)
            self._has("judgements", f"{len(judged)} of {plural(len(judged.topics), 'topic')}")
            truth_ids = {"topics": set(judged.topics), "items": _items_of(path, TRUTH[kind])}
            largest = max(map(len, judged.to_dict().values()), default=0)
            if self.c.size is not None and self.c.size < largest:
                self._complain(
                    f"size is {self.c.size}, but {largest} items are judged for one topic"
                )
        elif kind == "regions":
            boxes = read_regions(path)
            self._has("boxes", f"{len(boxes)} of {plural(len(boxes.concepts), 'concept')}")
            self._has("items with boxes", f"{len(set(boxes.item.tolist()))} of {len(boxes.items)}")
            truth_ids = {"items": set(boxes.items)}
            if public is not None and public.items is not None:
                # Files of COCO have numbers, and names of files beside them. The truth may have
                # items of no split.
                every = public_items(replace(self.c, located=""), kind) or ()
                names = {*public.items, *every}
                truth_ids["items"] -= names
                other = {n for alias, n in boxes.item_aliases.items() if alias in names}
                truth_ids["items"] -= other
        else:
            truth = read_labels(path, unjudged=True)
            if truth.listed > MOST_LISTED or self.c.unlisted:
                truth = resolve_unlisted(truth, self.c.unlisted or None)
            else:
                self._complain(
                    f"lists {truth.listed:.0%} of its cells, and some of them as absent: say with "
                    'unlisted = "absent" or unlisted = "unjudged" in collection.toml what the '
                    "others are",
                    describe(path),
                )
            if truth.judged is not None:
                self._has("judged cells", f"{truth.judged.mean():.0%}")
            size = f"{plural(len(truth.items), 'item')}, {plural(len(truth.concepts), 'concept')}"
            self._has("truth", size)
            truth_ids = {"items": set(truth.items)}
            if truth.named:
                truth_ids["concepts"] = set(truth.concepts)
        if self.c.part(kind).silver is not None:
            self._silver(kind, truth_ids["topics" if kind == "ranked" else "items"])
        for name, ids in truth_ids.items():
            public_ids = None if public is None else getattr(public, name)
            if public_ids is not None:
                # A truth may have all splits, of which runs annotate one.
                others = self.c.splits.values() if kind != "ranked" and name == "items" else ()
                self._strangers(name, ids, [*public_ids, *chain(*others)], describe(path))

    def _silver(self, kind: Kind, gold: set[str]) -> None:
        """The gold must be part of what the silver has."""
        from cranfield.io import read_qrels
        from cranfield.io.labels import read_labels

        path = self.c.part(kind).silver
        if path is None:
            return
        every = read_qrels(path).topics if kind == "ranked" else read_labels(path).items
        name = "topics" if kind == "ranked" else "items"
        self._has(f"silver ({kind})", f"{len(every)} {name}, {len(gold)} with gold")
        others = sorted(gold - set(every))
        if others:
            ellipsis = ", ..." if len(others) > NAMED else ""
            self._complain(
                f"{len(others)} {name} with gold have no silver: "
                f"{', '.join(map(repr, others[:NAMED]))}{ellipsis}",
                describe(path),
            )

    def _strangers(self, name: str, ids: set[str], public_ids: Sequence[str], file: str) -> None:
        others = sorted(ids - set(public_ids))
        if others:
            examples = ", ".join(map(repr, others[:NAMED]))
            ellipsis = ", ..." if len(others) > NAMED else ""
            self._complain(f"{len(others)} {name} are not public: {examples}{ellipsis}", file)

    def _run(self, kind: Kind, path: Path) -> None:
        public = self.publics.get(kind) or PublicSet(kind)
        facts = self.c.run_facts.get(run_name(path))
        threshold: Any = run_thresholds(self.c).get(run_name(path), self.c.threshold)
        if facts is not None and facts.threshold == ROWS:
            threshold = ROWS
        submission = check_submission(path, public, threshold=threshold)
        self.problems += submission.problems
        self.count += submission.count
        self.notes += [f"{submission.name}: {note}" for note in submission.notes]
        if submission.is_good:
            self._has(f"run {submission.name} ({kind})", f"{submission.lines} rows")

    def _knowledge(self) -> None:
        from cranfield.io.costmap import read_agreement, read_costmap
        from cranfield.io.counts import read_counts
        from cranfield.io.ontology import read_ontology

        if self.c.ontology is not None:
            ontology = read_ontology(self.c.ontology, rules=self.c.rules)
            self._has("ontology", f"{len(ontology.concepts)} concepts")
        for path in self.c.cost_maps:
            self._has(f"cost map {run_name(path)}", f"{len(read_costmap(path).concepts)} concepts")
        for path in self.c.counts:
            self._has(f"counts {run_name(path)}", read_counts(path).date or "undated")
        if self.c.agreement_map is not None:
            read_agreement(self.c.agreement_map)
            self._has("agreement map", self.c.agreement_map.name)

    def _opinions(self) -> None:
        from cranfield.io.judgement_log import read_judgement_log
        from cranfield.io.votes import (
            read_categories,
            read_category_votes,
            read_subject_rankings,
        )

        if self.c.judgement_log is not None:
            read_judgement_log(self.c.judgement_log)
            self._has("judgement log", self.c.judgement_log.name)
        if self.c.subject_rankings is not None:
            read_subject_rankings(self.c.subject_rankings)
            self._has("rankings of subjects", self.c.subject_rankings.name)
        if self.c.category_parents is not None:
            graph = read_categories(self.c.category_parents)
            self._has("categories", len(graph.categories))
            if self.c.subject_categories is not None:
                read_category_votes(self.c.subject_categories, graph)
                self._has("votes for categories", self.c.subject_categories.name)

    def _years(self) -> None:
        for name, place in self.c.years.items():
            if place.is_dir():
                read_collection(place)
            else:
                open_material(place, self.c.kinds[-1] if self.c.kinds else None)
            self._has(f"year {name}", place.name)


@dataclass(frozen=True, repr=False, eq=False)
class PublishedSite(Answer):
    """What was written: the folder, its pages and files, and how large they are."""

    command: ClassVar[str] = "publish"
    table_maker: ClassVar[str] = "cranfield.report.tables.campaign:published_document"

    folder: str
    tasks: tuple[str, ...]
    pages: int
    pictures: int
    files: int
    bytes: int
    released: bool
    verdicts: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def headline(self) -> str:
        return f"{self.pages} pages in {self.folder}"

    def payload(self, **_: object) -> dict[str, Any]:
        """Counts, and the verdict on each task."""
        return {
            "folder": self.folder,
            "tasks": list(self.tasks),
            "pages": self.pages,
            "pictures": self.pictures,
            "files": self.files,
            "bytes": self.bytes,
            "released": self.released,
            "verdicts": {task: list(sentences) for task, sentences in self.verdicts.items()},
        }


@dataclass(frozen=True, repr=False, eq=False)
class SiteReport(ResultTable):
    """What a command did to a site, or found out about it; `holds` is False for a failed check."""

    command: ClassVar[str] = "campaign"
    table_maker: ClassVar[str] = "cranfield.report.tables.campaign:results_document"

    holds: bool = True

    def payload(self, **_: object) -> dict[str, Any]:
        """The facts by name."""
        return {"done": self.name, "holds": self.holds, **self.facts}

    def headline(self) -> str:
        return self.title


def site_report(
    action: str,
    title: str,
    facts: Mapping[str, Any],
    *,
    holds: bool = True,
    notes: tuple[str, ...] = (),
) -> SiteReport:
    """A report of facts, each a row."""
    columns = (ResultColumn("what", numeric=False), ResultColumn("is", numeric=False))
    rows = tuple((name, _shown(value)) for name, value in facts.items())
    part = ResultPart("facts", title, columns, rows)
    return SiteReport(action, title, "", (part,), dict(facts), holds=holds, notes=notes)


def _shown(value: Any) -> str:
    """A fact as people read it; of several things each is named."""
    return ", ".join(map(str, value)) or "none" if isinstance(value, list) else str(value)
