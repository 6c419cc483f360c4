"""A collection becomes a campaign: what is public, what is sealed, its teams and its runs."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert, select

from cranfield.campaign.estimated import check_estimable
from cranfield.campaign.item_texts import read_texts
from cranfield.campaign.scoring import TRUTH, check_listed, public_truths
from cranfield.campaign.submissions import CheckedSubmission, PublicSet, check_submission
from cranfield.data.collection import Collection, Kind, RunFacts, Team
from cranfield.errors import InputError, UsageError
from cranfield.io.collection import read_collection, write_collection
from cranfield.io.files import atomic_file, inner_suffix, run_name
from cranfield.io.labels import write_labels
from cranfield.server.context import Context, hash_of
from cranfield.server.services import audit, scoring
from cranfield.server.services.campaigns import add_campaign, checked_slug
from cranfield.server.services.disk import files_stay
from cranfield.server.services.submissions import Submission, store_run
from cranfield.server.services.uploads import Upload, file_hash, sync_folders
from cranfield.server.store.tables import campaign, public_set, setting, task, team

# Keys of a collection that are sealed with the truth until the release.
PRIVATE_KEYS = (
    "silver",
    "label_silver",
    "design",
    "label_design",
    "scorer",
    "label_scorer",
    "judgement_log",
    "subject_rankings",
    "subject_categories",
    "category_parents",
)
TITLES: dict[Kind, str] = {"ranked": "Retrieval", "labels": "Annotation", "regions": "Regions"}
ACTOR = "import"
MANIFEST, SETTINGS = "manifest.json", "collection.toml"


@dataclass(frozen=True)
class ImportSummary:
    """What an import made."""

    slug: str
    tasks: tuple[str, ...]
    runs: int
    teams: int


def import_collection(
    context: Context,
    path: str | Path,
    *,
    name: str | None = None,
    may_run: bool = True,
    **values: Any,
) -> ImportSummary:
    """Make a draft campaign of a collection's folder, or of an export that has one in it.

    `values` are columns of the campaign. A scorer is refused unless it `may_run`.
    """
    collection = _importable(path, may_run=may_run)
    slug = checked_slug(name or collection.name)
    with context.store.read() as connection:
        if connection.execute(select(campaign.c.id).where(campaign.c.slug == slug)).first():
            raise UsageError(f"there is a campaign {slug!r} already")
    # Two may make campaigns of one name at the same moment: what each of them prepares gets its
    # place with the row of the one that the store takes.
    own = context.new_id()
    public, draft = context.settings.public / slug, context.settings.incoming / f"public-{own}"
    write_collection(public_part(collection), draft)
    for file_name, truth in public_truths(collection).items():
        write_labels(truth, draft / file_name)
    sealed = {
        key: _seal(context, f"{slug}/{key}-{own}", getattr(collection, key))
        for key in _sealed_keys(collection)
    }

    def write(connection: Connection) -> ImportSummary:
        summary = _write_campaign(connection, context, collection, slug, sealed, prepared, values)
        if draft.exists():  # PostgreSQL may try a transaction again
            shutil.rmtree(public, ignore_errors=True)
            draft.rename(public)
        return summary

    # Files of runs that no run names yet are not swept meanwhile.
    try:
        with files_stay(context.settings):
            prepared = [_prepare_task(context, collection, kind) for kind in collection.kinds]
            imported = context.store.write(write)
    finally:
        shutil.rmtree(draft, ignore_errors=True)
    context.wake.set()
    return imported


def _importable(path: str | Path, *, may_run: bool) -> Collection:
    """A collection that the site has tasks for, or an error that says why not."""
    collection = read_collection(collection_in(path))
    if not collection.kinds:
        raise UsageError(f"{collection.folder} names no truth and no runs: there is no task")
    if (collection.scorer or collection.label_scorer) and not may_run:
        raise UsageError(
            "this collection brings a scorer, a program that the site would run: an administrator "
            "of the site makes such a campaign"
        )
    for kind in collection.kinds:
        check_estimable(collection, kind)
    if collection.truth is not None and collection.truth.is_dir():
        raise UsageError(
            f"{collection.truth} is a folder; the site takes a truth of one file: "
            f"cranfield convert {collection.truth} truth.csv makes it"
        )
    if collection.boxes is not None and collection.boxes.is_dir():
        raise UsageError(
            f"{collection.boxes} is a folder; the site takes boxes of one file: "
            f"cranfield convert --kind regions {collection.boxes} boxes.json makes it"
        )
    check_listed(collection)
    return collection


def survey_collection(path: str | Path, *, may_run: bool) -> None:
    """Read all that an import reads, and write nothing; whatever it would refuse is an error."""
    collection = _importable(path, may_run=may_run)
    public_truths(collection)
    read_texts(collection)
    for kind in collection.kinds:
        public = PublicSet.of(collection, kind)
        for run_path in collection.part(kind).runs:
            _checked_run(collection, public, run_path)


def collection_in(path: str | Path) -> str | Path:
    """The collection of an export, whose files are as its manifest says; any other path itself."""
    folder = Path(path)
    if not (folder / MANIFEST).is_file() or (folder / SETTINGS).exists():
        return path
    try:
        manifest_files = json.loads((folder / MANIFEST).read_bytes())["files"]
        hashes = {str(name): str(sha) for name, sha in manifest_files.items()}
    except (ValueError, KeyError, TypeError, AttributeError):
        raise InputError.single(
            str(folder / MANIFEST), "is not the manifest of an export"
        ) from None
    for name, sha in hashes.items():
        file = folder / name
        if name.startswith("collection/") and (not file.is_file() or file_hash(file) != sha):
            raise InputError.single(str(folder), f"{name} is not as the manifest says")
    return folder / "collection"


def public_part(collection: Collection) -> Collection:
    """What every signed team may have: all but the truth, the runs and the judgement log."""
    hidden: dict[str, Any] = dict.fromkeys((*PRIVATE_KEYS, *TRUTH.values()))
    return replace(
        collection,
        **hidden,
        runs=(),
        label_runs=(),
        box_runs=(),
        run_facts={},
        teams=(),
        baseline="",
        label_baseline="",
        box_baseline="",
    )


def _sealed_keys(collection: Collection) -> list[str]:
    return [
        key
        for key in (*TRUTH.values(), *PRIVATE_KEYS)
        if getattr(collection, key, None) is not None
    ]


def _seal(context: Context, folder: str, path: Path) -> str:
    """Copy a file to where only the scoring child reads; gives its name there."""
    name = f"{folder}/{path.name}"
    seal_file(context, path, name)
    return name


def seal_file(context: Context, path: Path, name: str) -> None:
    target = context.settings.sealed / name
    new = [folder for folder in target.parents if not folder.exists()]
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    with path.open("rb") as stream, atomic_file(target) as copy:
        shutil.copyfileobj(stream, copy)
    target.chmod(0o600)
    sync_folders(*(folder.parent for folder in new))


@dataclass(frozen=True)
class _Run:
    """A run of the collection, checked and copied."""

    facts: RunFacts
    checked: CheckedSubmission
    sha: str
    size: int
    ending: str
    threshold: str


@dataclass(frozen=True)
class _Task:
    kind: Kind
    public: PublicSet
    runs: tuple[_Run, ...]
    baseline: str


def _prepare_task(context: Context, collection: Collection, kind: Kind) -> _Task:
    """Check the runs of a kind and copy their files, before anything is written down."""
    public, part = PublicSet.of(collection, kind), collection.part(kind)
    runs, names = [], {}
    for path in part.runs:
        facts, threshold, checked = _checked_run(collection, public, path)
        with Upload.begin(context) as upload, path.open("rb") as stream:
            upload.most = max(upload.most, path.stat().st_size)
            while block := stream.read(1 << 20):
                upload.add(block)
            upload.end()
            upload.keep(context.settings)
            runs.append(
                _Run(facts, checked, upload.sha, upload.size, inner_suffix(path), threshold)
            )
        names[run_name(path)] = scoring.name_of(facts.team, facts.tag)
    return _Task(kind, public, tuple(runs), names.get(part.baseline, ""))


def _checked_run(
    collection: Collection, public: PublicSet, path: Path
) -> tuple[RunFacts, str, CheckedSubmission]:
    """What is known of a run, its threshold as the store has it, and what the check says."""
    facts = _facts(collection, run_name(path))
    threshold = _threshold_text(collection, facts.threshold)
    checked = check_submission(
        path, public, threshold=_parse_threshold(collection, facts.threshold)
    )
    if not checked.is_good:
        first = checked.problems[0]
        raise InputError.single(str(path), first.message, first.line)
    return facts, threshold, checked


def _facts(collection: Collection, name: str) -> RunFacts:
    facts = collection.run_facts.get(name, RunFacts(name))
    return replace(facts, tag=facts.tag or name)


def _parse_threshold(collection: Collection, threshold: str) -> Any:
    """A threshold as the check takes it."""
    if not threshold or threshold == "rows":
        return threshold or None
    try:
        return float(threshold)
    except ValueError:
        return collection.folder / threshold


def _threshold_text(collection: Collection, threshold: str) -> str:
    """A threshold as the store has it: the lines of a file of thresholds, too."""
    parsed = _parse_threshold(collection, threshold)
    return parsed.read_text(encoding="utf-8").strip() if isinstance(parsed, Path) else threshold


def _write_campaign(
    connection: Connection,
    context: Context,
    collection: Collection,
    slug: str,
    sealed: dict[str, str],
    prepared: list[_Task],
    values: dict[str, Any],
) -> ImportSummary:
    columns = {
        "slug": slug,
        "title": collection.title or collection.name,
        "series": collection.series,
        "year": int(collection.year) if collection.year.isdecimal() else None,
        "licence": collection.licence,
        "measures": " ".join(collection.measures),
        "label_measures": " ".join(collection.label_measures),
        "box_measures": " ".join(collection.box_measures),
        "seed": collection.seed,
        # A task without a truth gets one from people who judge a pool.
        "pooled": int(any(TRUTH[prepared_task.kind] not in sealed for prepared_task in prepared)),
    } | values
    campaign_id = add_campaign(connection, context, ACTOR, columns)
    _remember_private(connection, slug, sealed)
    teams = _add_teams(connection, context, campaign_id, collection.teams, prepared)
    for prepared_task in prepared:
        row = _add_task(connection, context, campaign_id, collection, prepared_task)
        if TRUTH[prepared_task.kind] in sealed:
            file = sealed[TRUTH[prepared_task.kind]]
            sha = file_hash(getattr(collection, TRUTH[prepared_task.kind]))
            scoring.add_truth(
                connection, context, ACTOR, row["id"], sha=sha, file=file, source="import"
            )
        for run in prepared_task.runs:
            _add_run(connection, context, row, teams[run.facts.team], run)
    runs = sum(len(prepared_task.runs) for prepared_task in prepared)
    return ImportSummary(
        slug, tuple(prepared_task.kind for prepared_task in prepared), runs, len(collection.teams)
    )


def _remember_private(connection: Connection, slug: str, sealed: dict[str, str]) -> None:
    private = {key: file for key, file in sealed.items() if key in PRIVATE_KEYS}
    if private:
        value = json.dumps(private, sort_keys=True)
        connection.execute(insert(setting).values(name=f"private:{slug}", value=value))


def _add_teams(
    connection: Connection,
    context: Context,
    campaign_id: str,
    declared: Iterable[Team],
    prepared: list[_Task],
) -> dict[str, str]:
    """The teams of a collection, and those that only its runs name; ids by acronym."""
    teams = {entry.acronym: entry for entry in declared}
    for run in (run for entry in prepared for run in entry.runs):
        teams.setdefault(run.facts.team, Team(run.facts.team))
    ids, now = {}, context.clock.now()
    for acronym, entry in teams.items():
        ids[acronym] = context.new_id()
        connection.execute(
            insert(team).values(
                id=ids[acronym],
                campaign=campaign_id,
                acronym=acronym,
                name=entry.name,
                country=entry.country,
                reference=entry.reference,
                invitation=hash_of(context.new_secret()),
                created=now,
            )
        )
        audit.append(connection, now, ACTOR, "team.add", ids[acronym], {"acronym": acronym})
    return ids


def _add_task(
    connection: Connection,
    context: Context,
    campaign_id: str,
    collection: Collection,
    prepared_task: _Task,
) -> dict[str, Any]:
    row = {
        "id": context.new_id(),
        "campaign": campaign_id,
        "slug": prepared_task.kind,
        "title": TITLES[prepared_task.kind],
        "kind": prepared_task.kind,
        "split": collection.part(prepared_task.kind).split,
        "baseline": prepared_task.baseline,
    }
    connection.execute(insert(task).values(**row))
    texts = read_texts(collection)
    text_by_kind = {
        "topic": texts.topics,
        "item": texts.items,
        "concept": {name: text.definition for name, text in texts.concepts.items()},
    }
    rows = [
        {
            "task": row["id"],
            "kind": kind,
            "name": name,
            "position": position,
            "text": text_by_kind[kind].get(name, ""),
            "media": "picture" if kind == "item" and name in texts.pictures else "",
        }
        for kind, names in (
            ("topic", prepared_task.public.topics),
            ("item", prepared_task.public.items),
            ("concept", prepared_task.public.concepts),
        )
        for position, name in enumerate(names or ())
    ]
    if rows:
        connection.execute(insert(public_set), rows)
    return row


def _add_run(
    connection: Connection, context: Context, row: dict[str, Any], team_id: str, run: _Run
) -> None:
    submission = Submission(
        tag=run.facts.tag,
        configuration=run.facts.configuration,
        description=run.facts.description,
        features=run.facts.features,
        classifier=run.facts.classifier,
        threshold=run.threshold,
        ending=run.ending,
        via="import",
    )
    store_run(
        connection,
        context,
        actor="",
        team_id=team_id,
        task_row=row,
        submission=submission,
        checked=run.checked,
        sha=run.sha,
        size=run.size,
        baseline=run.facts.baseline,
        imported=True,
    )
