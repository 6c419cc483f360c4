"""A collection as a static site: every page as HTML, JSON and CSV, written whole or not at all."""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cranfield._version import __version__
from cranfield.campaign.collections import PublishedSite
from cranfield.campaign.estimated import with_truths
from cranfield.campaign.people import People, asked_people, people_results
from cranfield.campaign.results import result_table, years_on_shared
from cranfield.campaign.results.results_data import ResultsData
from cranfield.campaign.results_bundle import ResultsBundle, gather_results
from cranfield.campaign.scoring import public_truths
from cranfield.data.collection import Collection, Kind
from cranfield.errors import InputError, NeedsError, UsageError, os_message
from cranfield.io.collection import read_collection
from cranfield.io.files import run_name
from cranfield.io.labels import write_labels
from cranfield.notes import Progress, with_progress
from cranfield.report.methods import ranked_settings
from cranfield.report.page import icon
from cranfield.site.extras import Extras, FileFact
from cranfield.site.home import home_page, people_page
from cranfield.site.links import Address, StaticLinks, slug
from cranfield.site.render import environment, font_files, style_sheet
from cranfield.site.results import Frame, Page, Results
from cranfield.validation import validate_params

if TYPE_CHECKING:
    from cranfield.notes import Watcher

MANIFEST = "site.json"
STYLE, ICON = "site.css", "icon.svg"
SEALED = (
    "The truth is sealed: grades and true labels of single items that runs are evaluated on are in "
    "none of these files."
)
CHANGES = ("CHANGES.md", "CHANGES.txt")


@validate_params
@with_progress
def publish(
    collection: Collection | str | Path,
    target: str | Path,
    *,
    release_truth: bool = False,
    with_runs: bool = False,
    kinds: Sequence[Kind] | None = None,
    gold: str | Path | None = None,
    silver: str | Path | None = None,
    jobs: int | None = None,
    progress: Watcher | None = None,
    **compare: Any,
) -> PublishedSite:
    """Write the site of a collection into a folder, which appears complete or not at all.

    A site that is there already is replaced; another folder is not touched. The truth stays
    sealed unless it is released: then judgements, relevant items and true labels are shown.
    `gold` and `silver` replace the collection's: means are estimated then from little gold.
    `with_runs` copies the files of the runs. `compare` are options of a comparison. The same
    collection gives the same bytes.
    """
    environment()  # without the extra nothing is loaded
    loaded = collection if isinstance(collection, Collection) else read_collection(collection)
    kinds = None if kinds is None else tuple(kinds)
    loaded = with_truths(loaded, kinds[0] if kinds else None, gold, silver)
    tasks = tuple(
        kinds or (k for k in loaded.kinds if loaded.part(k).runs and loaded.part(k).truth)
    )
    with_people = kinds is None and asked_people(loaded)
    if not tasks and not with_people:
        raise NeedsError(f"{loaded.folder} has no runs with a truth to score them by")
    tracker = Progress.of(progress)
    folder = Path(target)
    _check_target(folder)
    share = 0.7 / max(len(tasks), 1)
    gathered = {
        kind: gather_results(
            loaded,
            kind,
            released=release_truth,
            jobs=jobs,
            progress=tracker.part(i * share, (i + 1) * share),
            **compare,
        )
        for i, kind in enumerate(tasks)
    }
    people = people_results(loaded, jobs=jobs) if with_people else None
    with _Draft(folder) as draft:
        site = _Site(draft, loaded, gathered, release_truth, with_runs, people)
        site.write(tracker.part(0.7, 1.0))
    tracker(1.0)
    return site.published(str(target), tasks)


class _Site:
    """Writes the pages of all tasks into a folder, and keeps their check sums."""

    def __init__(
        self,
        folder: Path,
        collection: Collection,
        gathered: dict[Kind, ResultsBundle],
        released: bool,
        with_runs: bool,
        people: People | None = None,
    ) -> None:
        self.folder, self.collection, self.gathered = folder, collection, gathered
        self.released, self.with_runs, self.people = released, with_runs, people
        self.sums: dict[str, str] = {}
        self.pages = self.pictures = self.size = 0
        self.verdicts: dict[str, tuple[str, ...]] = {}
        # What was noticed on the way, each once.
        self.notes = dict.fromkeys(
            note for bundle in gathered.values() for note in bundle.material.scores.notes
        )

    def published(self, folder: str, tasks: tuple[Kind, ...]) -> PublishedSite:
        """What was written, under the name of the folder that it has in the end."""
        return PublishedSite(
            folder=folder,
            tasks=tasks,
            pages=self.pages,
            pictures=self.pictures,
            files=len(self.sums),
            bytes=self.size,
            released=self.released,
            verdicts={task: self.verdicts[task] for task in tasks},
            notes=tuple(self.notes),
        )

    def write(self, progress: Progress) -> None:
        self.put(STYLE, style_sheet().encode())
        for name, content in font_files().items():
            self.put(name, content)
        self.put(ICON, icon())
        title = self.collection.title or self.collection.name
        frame = Frame(
            site=title,
            tasks=list(self.gathered),
            sealed="" if self.released or not self.gathered else SEALED,
            style=STYLE,
            icon=ICON,
        )
        results_by_task: dict[str, Results] = {}
        for kind, bundle in self.gathered.items():
            results_by_task[kind] = Results(
                bundle.material, StaticLinks(), frame, self._extras(kind, bundle)
            )
        addresses = {kind: results.addresses() for kind, results in results_by_task.items()}
        total = sum(map(len, addresses.values())) or 1
        for task, results in results_by_task.items():
            below = f"results/{slug(task)}"
            for address in addresses[task]:
                progress.check()
                page = results.page(address.path, address.query)
                if not address.path and not address.query:
                    self.verdicts[task] = tuple(getattr(page.answer, "verdict", ()))
                self._page(f"{below}/", address, page)
                progress(self.pages / total)
            self._pictures(below, results)
            self._items(below, results.material)
        if self.people is not None:
            progress.check()
            self._page("people/", Address(), people_page(frame, self.people))
        home = home_page(frame, self.collection, results_by_task, self.people)
        self._page("", Address(), home)
        manifest: dict[str, Any] = {"cranfield": __version__, "collection": self.collection.name}
        manifest |= {"version": self.collection.version, "released": self.released}
        document = json.dumps(manifest | {"files": self.sums}, indent=1, sort_keys=True)
        self.put(MANIFEST, f"{document}\n".encode())

    def _page(self, below: str, address: Address, page: Page) -> None:
        self.put(below + address.file("html"), page.html.encode(errors="replace"))
        for form in ("json", "csv"):
            self.put(below + address.file(form), page.data(form).encode(errors="replace"))
        self.pages += 1

    def put(self, name: str, data: bytes) -> None:
        """Write a file of the site."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        self.sums[name] = hashlib.sha256(data).hexdigest()
        self.size += len(data)

    def _pictures(self, below: str, results: Results) -> None:
        for item in results.linked_items:
            picture = results.pictures.draw(item)
            if picture is not None:
                self.put(f"{below}/picture/{slug(item)}.png", picture.data)
                self.pictures += 1

    def _items(self, below: str, material: ResultsData) -> None:
        """All items with their best value, also those without a page."""
        try:
            answer = result_table("best-per-item", material, count=None)
        except (NeedsError, UsageError):
            return  # no measure speaks of items
        self.put(f"{below}/items.csv", Page("", "", answer).data("csv").encode(errors="replace"))

    def _extras(self, kind: Kind, bundle: ResultsBundle) -> Extras:
        settings = ranked_settings({}) if kind == "ranked" else []
        return Extras(
            curve=bundle.curve,
            mistakes=bundle.mistakes,
            files=tuple(self._files(kind)),
            changes=tuple(_changes(self.collection)),
            settings=settings,
            earlier=years_on_shared(self.collection, self.collection.years, kind),
            licence=self.collection.licence,
            version=self.collection.version,
        )

    def _files(self, kind: Kind) -> Iterator[FileFact]:
        part = self.collection.part(kind)
        files: list[tuple[str, Path, str, bool]] = [
            ("run", path, run_name(path), self.with_runs) for path in part.runs
        ]
        files += [("extra", path, "", True) for path in self.collection.extra]
        if kind == "labels":
            yield from self._training_truths()
        if self.released:
            truth_paths = (("truth", part.truth), ("silver", part.silver))
            truths = [(role, path) for role, path in truth_paths if path is not None]
            files += [(role, file, "", True) for role, path in truths for file in _within(path)]
        for role, path, run, copied in files:
            digest, size = _digest(path)
            inner = f"{role}/" if path.parent in (part.truth, part.silver) else ""
            address = f"files/{slug(kind)}/{inner}{path.name}" if copied else ""
            if copied:
                target = self.folder / address
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
                self.sums[address], self.size = digest, self.size + size
            yield FileFact(role, path.name, size, digest, run, address)

    def _training_truths(self) -> Iterator[FileFact]:
        """The truth of splits that runs are not evaluated on, which is public."""
        for name, truth in public_truths(self.collection).items():
            address = f"files/labels/{name}"
            target = self.folder / address
            target.parent.mkdir(parents=True, exist_ok=True)
            write_labels(truth, target)
            digest, size = _digest(target)
            self.sums[address], self.size = digest, self.size + size
            yield FileFact("training truth", name, size, digest, "", address)


def _within(path: Path) -> list[Path]:
    """A file, or the files of a folder with one per concept."""
    return sorted(p for p in path.iterdir() if p.is_file()) if path.is_dir() else [path]


def _digest(path: Path) -> tuple[str, int]:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest(), path.stat().st_size


def _changes(collection: Collection) -> list[str]:
    """The paragraphs of the file of changes that lies in the folder, if there is one."""
    for name in CHANGES:
        path = collection.folder / name
        if path.is_file():
            parts = path.read_text("utf-8", errors="replace").split("\n\n")
            return [" ".join(p.split()) for p in parts if p.strip()]
    return []


def _check_target(folder: Path) -> None:
    """Raise an InputError when the target exists and is not a site."""
    if folder.is_dir() and ((folder / MANIFEST).is_file() or not any(folder.iterdir())):
        return
    if folder.exists():
        raise InputError.single(
            str(folder), "is there already and is not a site; give the name of a new folder"
        )
    if not folder.resolve().parent.is_dir():
        raise InputError.single(str(folder), "cannot be written: no such directory")


class _Draft:
    """A folder beside the target that takes its place when all went well."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()

    def __enter__(self) -> Path:
        try:
            temporary = tempfile.mkdtemp(dir=self.folder.parent, prefix=f".{self.folder.name}.")
        except OSError as error:
            raise InputError.single(
                str(self.folder), f"cannot be written: {os_message(error)}"
            ) from None
        self.draft = Path(temporary)
        new = self.draft / "new"
        new.mkdir()
        return new

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        try:
            if error is None:
                if self.folder.exists():
                    self.folder.rename(self.draft / "old")
                (self.draft / "new").rename(self.folder)
        except OSError as failure:
            raise InputError.single(
                str(self.folder), f"cannot be written: {os_message(failure)}"
            ) from None
        finally:
            shutil.rmtree(self.draft, ignore_errors=True)
        if isinstance(error, OSError):
            raise InputError.single(
                str(self.folder), f"cannot be written: {os_message(error)}"
            ) from None
