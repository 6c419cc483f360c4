"""Results as pages: the material of the current scores, kept in memory by their version."""

from __future__ import annotations

import gzip
import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from sqlalchemy import Connection, select

from cranfield._lazy import cached_property
from cranfield.data.collection import RunFacts, Team
from cranfield.errors import UsageError
from cranfield.io.collection import read_collection
from cranfield.server.context import SECOND, Context
from cranfield.server.services import jobs, scoring
from cranfield.server.services.campaigns import Row, final_runs, tasks_of
from cranfield.server.services.site import site_texts
from cranfield.server.services.uploads import blob_path, file_hash
from cranfield.server.store.tables import run, task, team, truth_version
from cranfield.server.thresholds import threshold_lines

if TYPE_CHECKING:
    from cranfield.campaign.results import ResultsData
    from cranfield.site.extras import Extras, FileFact
    from cranfield.site.links import Address, ServedLinks
    from cranfield.site.results import Results

MAX_MATERIALS, MAX_PAGES = 4, 2000
# How a row of a table begins, and one of a run of whoever looks.
ROW, OWN_ROW = "<tr>", '<tr class="own">'
MEDIA_TYPES = {
    "html": "text/html",
    "json": "application/json",
    "csv": "text/csv",
    "png": "image/png",
}


# Stands in a page for the header, which says who looks.
HEADER = "<!--header-->"


@dataclass(frozen=True)
class CachedPage:
    """A page as it goes out, and the version of the scores that it shows.

    It is kept as nearly every browser takes it, packed; thousands of pages fit into memory so.
    """

    packed: bytes
    kind: str
    etag: str

    @property
    def body(self) -> bytes:
        return gzip.decompress(self.packed)

    def with_header(self, header: str) -> CachedPage:
        """The page with a header in its place; data and pictures have none."""
        body = self.body.replace(HEADER.encode(), header.encode(errors="replace"), 1)
        return replace(self, packed=gzip.compress(body, 6, mtime=0))

    def personal_body(self, header: str, run_addresses: Collection[str]) -> bytes:
        """The page for somebody in particular: their header, and the rows of their runs marked."""
        text = self.body.decode().replace(HEADER, header, 1)
        own_links = [f'href="{address}"' for address in run_addresses]
        lines = [
            OWN_ROW + line.removeprefix(ROW)
            if line.startswith(ROW) and any(link in line for link in own_links)
            else line
            for line in text.split("\n")
        ]
        return "\n".join(lines).encode(errors="replace")


@dataclass(frozen=True)
class CampaignLinks:
    """Addresses of result pages below a campaign; what all pages share lies elsewhere."""

    slug: str
    task_slug: str

    @cached_property
    def _served(self) -> ServedLinks:
        from cranfield.site.links import ServedLinks

        return ServedLinks(f"/{self.slug}/results", self.task_slug)

    def page(self, current: Address, target: Address, ending: str = "html") -> str:
        return self._served.page(current, target, ending)

    def task(self, current: Address, task: str) -> str:
        return self._served.task(current, task)

    def root(self, current: Address, path: str) -> str:  # noqa: ARG002
        if path == "index.html":
            return f"/{self.slug}"
        if path.endswith((".css", ".svg")):
            return f"/static/{path}"
        if path.startswith("files/"):
            task, _, name = path.removeprefix("files/").partition("/")
            return f"/{self.slug}/results/{task}/files/{quote(name)}"
        return f"/{self.slug}/results/{self.task_slug}/{path}"


class Pages:
    """Result pages of all tasks; each is made once per version of the scores."""

    def __init__(self, context: Context) -> None:
        self.context = context
        self._lock = threading.Lock()
        # The newest version of each of a few tasks.
        self._results: OrderedDict[str, tuple[str, Results]] = OrderedDict()
        self._shown: OrderedDict[tuple[Any, ...], CachedPage] = OrderedDict()

    def page(
        self,
        campaign: Row,
        task_row: Row,
        address: str,
        query: Mapping[str, str],
        make_header: Callable[[], str] | None = None,
    ) -> CachedPage | None:
        """The page at an address, whose ending chooses HTML, JSON or CSV; None without scores.

        `make_header` gives the header that the public sees; without it its place is left open.
        """
        from cranfield.site.results import page_query

        path, form = _form(address)
        # What no page looks at makes no other page: asked for in many ways, it is made once.
        query = page_query(path, query)
        if path.startswith("picture/"):
            form = "png"
        state = (task_row["id"], campaign["state"], campaign["title"])
        current, version = self.context.remembered(state, lambda: self._current(campaign, task_row))
        if current is None:
            return None
        key = (version, path, form, tuple(sorted(query.items())), make_header is not None)
        with self._lock:
            if key in self._shown:
                self._shown.move_to_end(key)
                return self._shown[key]
        if make_header is not None:
            plain_page = self.page(campaign, task_row, address, query)
            return (
                None
                if plain_page is None
                else self._keep(key, plain_page.with_header(make_header()))
            )
        body = _body(self.results(campaign, task_row, current, version), path, form, query)
        etag = hashlib.sha256(repr(key).encode()).hexdigest()[:32]
        # Nothing secret is in these pages, so they may be packed.
        packed = gzip.compress(body, 6, mtime=0)
        return self._keep(key, CachedPage(packed, MEDIA_TYPES[form], f'"{etag}"'))

    def _keep(self, key: tuple[Any, ...], cached_page: CachedPage) -> CachedPage:
        with self._lock:
            self._shown[key] = cached_page
            while len(self._shown) > MAX_PAGES:
                self._shown.popitem(last=False)
        return cached_page

    def forget(self) -> None:
        """Make every page anew when it is asked for next."""
        with self._lock:
            self._shown.clear()

    def _current(self, campaign: Row, task_row: Row) -> tuple[Row | None, str]:
        with self.context.store.read() as connection:
            current = scoring.current_set(connection, task_row["id"])
            if current is None:
                return None, ""
            return current, _version(connection, self.context, campaign, task_row, current)

    def results(self, campaign: Row, task_row: Row, current: Row, version: str) -> Results:
        from markupsafe import Markup

        from cranfield.site.page_view import Link
        from cranfield.site.results import Frame, Results

        with self._lock:
            known_version, task_results = self._results.get(task_row["id"], ("", None))
            if task_results is not None and known_version == version:
                self._results.move_to_end(task_row["id"])
                return task_results
        with self.context.store.read() as connection:
            material = material_of(connection, self.context, campaign, task_row, current)
            tasks = [row["slug"] for row in tasks_of(connection, campaign["id"])]
            banner = _banner(connection, campaign, task_row, current)
            extras = extras_of(connection, self.context, campaign, task_row, current)
        released = material.truth is not None
        sealed = "" if released else "The truth is sealed: it is in none of these pages."
        above = (Link("Campaigns", "/"),)
        frame = Frame(campaign["title"], tasks, banner, sealed, above=above, header=Markup(HEADER))
        links = CampaignLinks(campaign["slug"], task_row["slug"])
        task_results = Results(material, links, frame, extras)
        with self._lock:
            self._results[task_row["id"]] = (version, task_results)
            while len(self._results) > MAX_MATERIALS:
                self._results.popitem(last=False)
            # Pages of an older version cannot be requested any more.
            for key in [key for key in self._shown if key[0] == known_version != version]:
                del self._shown[key]
        return task_results


def _body(results: Results, path: str, form: str, query: Mapping[str, str]) -> bytes:
    """The bytes of a page, of its data, or of a picture."""
    if form == "png":
        return _picture(results, path.removeprefix("picture/").removesuffix(".png"))
    if (path, form) == ("items", "csv"):
        from cranfield.campaign.results import result_table
        from cranfield.site.results import Page

        page = Page("", "", result_table("best-per-item", results.material, count=None))
    else:
        page = results.page(path, query)
    text = page.html if form == "html" else page.data(form)
    return text.encode(errors="replace")


def _picture(results: Results, name: str) -> bytes:
    from cranfield.site.links import slug

    for item in results.linked_items:
        if slug(item) == name:
            picture = results.pictures.draw(item)
            if picture is not None:
                return picture.data
    raise UsageError("there is no such picture")


def _form(address: str) -> tuple[str, str]:
    for form in ("json", "csv"):
        if address == form or address.endswith(f".{form}"):
            return address[: -len(form) - 1] if address != form else "", form
    return address.removesuffix(".html"), "html"


def run_addresses(
    connection: Connection, campaign: Row, task_row: Row, team_id: str
) -> tuple[str, ...]:
    """The addresses of the result pages of a team's runs."""
    from cranfield.site.links import Address, slug

    links = CampaignLinks(campaign["slug"], task_row["slug"])
    rows = connection.execute(
        select(run.c.tag, team.c.acronym)
        .join(team, team.c.id == run.c.team)
        .where(run.c.task == task_row["id"], run.c.team == team_id, run.c.state == "accepted")
    )
    names = [scoring.name_of(row.acronym, row.tag) for row in rows]
    return tuple(links.page(Address(), Address(f"run/{slug(name)}")) for name in names)


def _version(
    connection: Connection, context: Context, campaign: Row, task_row: Row, current: Row
) -> str:
    """What a page depends on: the scores, whether they are released, whether newer ones come."""
    banner = _banner(connection, campaign, task_row, current)
    # A job copies the truth of a release: pages that were asked for before are made anew then.
    is_truth_released = _released_truth(connection, context, current) is not None
    changes = len(_changes(connection, task_row["id"]))
    parts = (
        site_texts(context).name,
        current["id"],
        campaign["state"],
        campaign["title"],
        banner,
        is_truth_released,
        changes,
    )
    return " ".join(map(str, parts))


def _banner(connection: Connection, campaign: Row, task_row: Row, current: Row) -> str:
    lines = []
    if campaign["state"] not in ("released", "archived"):
        lines.append("Not released: only organisers see this page.")
    if current["key"] != jobs.set_key(connection, task_row["id"]):
        lines.append(
            "The truth or the runs have changed since these scores were made; new ones are being "
            "built and will replace all of them at once."
        )
    return " ".join(lines)


def extras_of(
    connection: Connection, context: Context, campaign: Row, task_row: Row, current: Row
) -> Extras:
    """What pages show beside the tables: curves, files with their hashes, what was changed."""
    from cranfield.answers import load
    from cranfield.evaluation.explanations import Mistakes
    from cranfield.evaluation.scores import Scores
    from cranfield.report.methods import ranked_settings
    from cranfield.site.extras import Extras

    folder = scoring.set_folder(context.settings, current["id"])
    curve, mistakes = folder / "curve.json", folder / "mistakes.json"
    scores = load(curve) if curve.exists() else None
    public = campaign["state"] in ("released", "archived")
    truth = _released_truth(connection, context, current) if public else None
    files = [*files_of(connection, context, task_row, public), *_truth_file(task_row, truth)]
    return Extras(
        curve=scores if isinstance(scores, Scores) else None,
        mistakes=(
            Mistakes.joined([json.loads(mistakes.read_bytes())]) if mistakes.exists() else None
        ),
        files=tuple(files),
        changes=tuple(_changes(connection, task_row["id"])),
        settings=ranked_settings({}) if task_row["kind"] == "ranked" else [],
        licence=campaign["licence"],
        version=read_collection(context.settings.public / campaign["slug"]).version,
    )


def _truth_file(task_row: Row, truth: Path | None) -> Iterator[FileFact]:
    from cranfield.site.extras import FileFact

    if truth is not None:
        address = f"files/{task_row['slug']}/{truth.name}"
        yield FileFact("truth", truth.name, truth.stat().st_size, file_hash(truth), "", address)


def files_of(
    connection: Connection, context: Context, task_row: Row, public: bool
) -> Iterator[FileFact]:
    """The files of all accepted runs; they can be had when the results are out."""
    from cranfield.site.extras import FileFact

    settings = context.settings
    for name, (sha, form) in scoring.run_files(connection, task_row["id"]).items():
        file = f"{name}{scoring.ending_of(settings, form, sha)}"
        size = blob_path(settings, sha).stat().st_size
        address = f"files/{task_row['slug']}/{file}" if public else ""
        yield FileFact("run", file, size, sha, name, address)


def file_of(connection: Connection, context: Context, task_row: Row, name: str) -> Path | None:
    """Where a file lies that the page of files lists."""
    for file_fact in files_of(connection, context, task_row, public=True):
        if file_fact.name == name:
            return blob_path(context.settings, file_fact.sha256)
    current = scoring.current_set(connection, task_row["id"])
    truth = None if current is None else _released_truth(connection, context, current)
    return truth if truth is not None and truth.name == name else None


def _changes(connection: Connection, task_id: str) -> list[str]:
    """What was changed since the first truth, a line each."""
    rows = connection.execute(
        select(truth_version)
        .where(truth_version.c.task == task_id, truth_version.c.n > 1)
        .order_by(truth_version.c.n)
    ).mappings()
    return [
        f"{datetime.fromtimestamp(row['created'] / SECOND, UTC):%Y-%m-%d}: truth version "
        f"{row['n']}. {row['note']}"
        for row in rows
    ]


def material_of(
    connection: Connection, context: Context, campaign: Row, task_row: Row, current: Row
) -> ResultsData:
    """Stored scores with all that the pages of a task need."""
    from cranfield.answers import load
    from cranfield.campaign.results import ResultsData
    from cranfield.campaign.scoring import TRUTH
    from cranfield.comparison.answer import Comparison
    from cranfield.evaluation.scores import Scores

    settings = context.settings
    folder = scoring.set_folder(settings, current["id"])
    scores = load(folder / "scores.json")
    compared = folder / "comparison.json"
    comparison = load(compared) if compared.exists() else None
    facts, teams = facts_and_teams(connection, task_row["id"], campaign["id"])
    # One threshold per concept is a file of the export, and has its name here.
    facts = {
        name: replace(fact, threshold=f"thresholds/{name}.csv")
        if threshold_lines(fact.threshold)
        else fact
        for name, fact in facts.items()
    }
    released = campaign["state"] in ("released", "archived")
    truth = _released_truth(connection, context, current) if released else None
    collection = replace(
        read_collection(settings.public / campaign["slug"]),
        title=campaign["title"],
        run_facts=facts,
        teams=teams,
    )
    replaced: dict[str, Any] = {TRUTH[task_row["kind"]]: truth}
    collection = replace(collection, **replaced)
    if not isinstance(scores, Scores) or not isinstance(comparison, Comparison | None):
        raise TypeError(f"{folder} does not hold scores")
    material = ResultsData.of(
        collection,
        task_row["kind"],
        scores=scores,
        comparison=comparison,
        released=truth is not None,
    )
    return replace(material, baseline=task_row["baseline"] if comparison else "")


def _released_truth(connection: Connection, context: Context, current: Row) -> Path | None:
    file = connection.execute(
        select(truth_version.c.file).where(truth_version.c.id == current["truth_version"])
    ).scalar_one()
    path = scoring.released_truth(context.settings, current["truth_version"], file)
    return path if path.exists() else None


def _described(row: Any) -> str:
    """The description of a run, which also says when it came late."""
    return f"Late, by decision. {row['description']}" if row["late"] else str(row["description"])


def facts_and_teams(
    connection: Connection, task_id: str, campaign_id: str
) -> tuple[dict[str, RunFacts], tuple[Team, ...]]:
    """What is known of the accepted runs of a task, and of all teams of the campaign."""
    rows = connection.execute(
        select(run, team.c.acronym)
        .join(team, team.c.id == run.c.team)
        .join(task, task.c.id == run.c.task)
        .where(run.c.task == task_id, run.c.state == "accepted", final_runs())
    ).mappings()
    facts = {}
    for row in rows:
        name = scoring.name_of(row["acronym"], row["tag"])
        facts[name] = RunFacts(
            name,
            row["acronym"],
            row["tag"],
            row["configuration"],
            _described(row),
            row["features"],
            row["classifier"],
            row["threshold"],
            bool(row["baseline"]),
        )
    team_rows = connection.execute(
        select(team).where(team.c.campaign == campaign_id).order_by(team.c.acronym)
    ).mappings()
    teams = tuple(
        Team(team_row["acronym"], team_row["name"], team_row["country"], team_row["reference"])
        for team_row in team_rows
        if team_row["acronym"]
    )
    return dict(sorted(facts.items())), teams
