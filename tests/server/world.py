"""A small site for tests: a collection, a server on loopback, and people with their browsers."""

from __future__ import annotations

import atexit
import re
import socket
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import httpx
import uvicorn

from cranfield.server import Limits, Passwords, Settings, create_app
from cranfield.server.jobs.fork_server import ForkServer
from cranfield.server.jobs.worker import work_all
from cranfield.server.protocol import BoundedHeads
from cranfield.server.services import accounts, campaigns, organiser_dashboard, teams
from cranfield.server.services.importing import import_collection
from cranfield.server.services.site import ensure_organiser, open_site

CHEAP = Passwords(memory=64, passes=1)
TOPICS = ("t1", "t2", "t3")
ITEMS = tuple(f"d{i}" for i in range(8))
CONCEPTS = ("Sky", "Sea", "Dog")
PASSWORD = "a long password"
DAY = 24 * 3600 * 1000
# Seconds after which something that should have come by itself does not come.
PATIENCE = 60.0
# One process forks the children of all tests.
NURSERY = ForkServer(Settings(Path("unused")))
atexit.register(NURSERY.close)
# A number that stands in the truth and nowhere else.
CANARY = "7351964"


def joined(threads, patience=PATIENCE) -> None:
    """Wait for threads, and not for ever."""
    until = time.monotonic() + patience
    for thread in threads:
        thread.join(max(0.0, until - time.monotonic()))
    late = [thread.name for thread in threads if thread.is_alive()]
    assert not late, f"still at work: {late}"


def at_once(acts) -> None:
    """Do several things at the same time, and wait for all of them."""
    threads = [threading.Thread(target=act, daemon=True) for act in acts]
    for thread in threads:
        thread.start()
    joined(threads)


def run_text(best=("d0", "d1", "d2"), tag="x"):
    """A ranking in the form of TREC: the best items first, the others after them."""
    order = [*best, *(i for i in ITEMS if i not in best)]
    return "".join(
        f"{topic} Q0 {item} {rank} {len(order) - rank} {tag}\n"
        for topic in TOPICS
        for rank, item in enumerate(order, 1)
    )


def labels_text(value=0.9):
    rows = "".join(
        f"{item},{value if k % 2 else 0.1},{0.2},{value if k > 3 else 0.3}\n"
        for k, item in enumerate(ITEMS)
    )
    return f"item,{','.join(CONCEPTS)}\n{rows}"


def write_collection(folder: Path) -> Path:
    """A collection of two tasks with a baseline each."""
    folder.mkdir(parents=True)
    files = {
        "collection.toml": """name = "tiny"
title = "A tiny campaign"
licence = "For research only."
series = "Tiny"
year = "2026"
size = 8
seed = 5
items = "items.csv"
topics = "topics.csv"
concepts = "concepts.csv"
judgements = "qrels.txt"
runs = ["base.run"]
measures = ["AP", "P@5"]
baseline = "base"
truth = "truth.csv"
label_runs = ["zero.csv"]
label_measures = ["F.example", "AP.concept"]
label_baseline = "zero"
threshold = 0.5

[[run_facts]]
run = "base"
team = "HOUSE"
tag = "base"
configuration = "T"
description = "alphabetic"
baseline = true

[[run_facts]]
run = "zero"
team = "HOUSE"
tag = "zero"
configuration = "V"
description = "nothing"
baseline = true
""",
        "items.csv": "item,text\n" + "".join(f"{i},Item {i}\n" for i in ITEMS),
        "topics.csv": "topic,text\n" + "".join(f"{t},About {t}\n" for t in TOPICS),
        "concepts.csv": "concept,definition\n" + "".join(f"{c},A {c}\n" for c in CONCEPTS),
        "qrels.txt": "".join(
            f"{t} {CANARY} {i} {int((k + n) % 3 == 0)}\n"
            for n, t in enumerate(TOPICS)
            for k, i in enumerate(ITEMS)
        ),
        "base.run": run_text(()),
        "truth.csv": f"item,{','.join(CONCEPTS)}\n"
        + "".join(f"{i},{k % 2},{int(k == 3)},{int(k > 3)}\n" for k, i in enumerate(ITEMS)),
        "zero.csv": labels_text(0.6),
    }
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


class Site:
    """A site with one campaign, its clock in the hands of the test."""

    def __init__(self, folder: Path, database: str = "", **options) -> None:
        # `skew` is what somebody sets the machine's clock wrong by, in seconds.
        self.time, self.skew = options.pop("time", 1_800_000_000.0), options.pop("skew", 0.0)
        self.settings = Settings(
            folder / "site",
            database=database,
            workers=options.pop("workers", 0),
            passwords=CHEAP,
            clock=lambda: self.time + self.skew,
            monotonic=lambda: self.time,
            limits=options.pop("limits", Limits()),
        )
        self.context = open_site(self.settings)
        self.password = ensure_organiser(self.context) or options.pop("password", "")
        self.source = folder / "tiny"
        if not self.source.exists():
            write_collection(self.source)
        self.app = create_app(self.settings, self.context)
        self.address = ""
        self.clients: list[httpx.Client] = []

    @classmethod
    def at(cls, folder: Path, other: Site) -> Site:
        """The site that is in a folder already, at the time of another one."""
        made = cls.__new__(cls)
        made.time, made.source, made.address, made.clients = other.time, other.source, "", []
        made.skew = 0.0
        made.settings = replace(
            other.settings, folder=folder, clock=lambda: made.time, monotonic=lambda: made.time
        )
        made.context = open_site(made.settings)
        # The folder may have been made at the time of the machine, which is any.
        made.context.clock.accept()
        made.password = ensure_organiser(made.context) or ""
        made.app = create_app(made.settings, made.context)
        made.set_dates()
        return made

    def set_dates(self, name="tiny") -> None:
        """An open campaign needs dates."""

        def write(connection):
            row = campaigns.by_slug(connection, name)
            dates = {"opens": self.now, "closes": self.now + 30 * DAY}
            campaigns.change(connection, self.context, "test", row["id"], dates)

        self.context.store.write(write)

    @property
    def now(self) -> int:
        return self.context.clock.now()

    def add_campaign(self, name="tiny", **values):
        """A draft campaign whose baselines are scored."""
        dates = {"opens": self.now, "closes": self.now + 30 * DAY, "configurations": "V T M"}
        import_collection(self.context, self.source, name=name, **dates | values)
        self.work()

    def work(self) -> int:
        return work_all(self.context, NURSERY)

    def work_alone(self) -> int:
        """The same with a process of its own, for sites that work side by side."""
        return work_all(self.context)

    def move(self, *ends, name="tiny", reason=""):
        for end in ends:

            def write(connection, end=end):
                row = campaigns.by_slug(connection, name)
                campaigns.move(connection, self.context, "test", row["id"], end, reason)
                organiser_dashboard.start_jobs_of_state(connection, self.context, row, end)

            self.context.store.write(write)
            self.work()

    def set_state(self, state, name="tiny"):
        """A state without its guards, for tests that look at who may what."""
        from sqlalchemy import update

        from cranfield.server.store.tables import campaign

        self.context.store.write(
            lambda c: c.execute(update(campaign).where(campaign.c.slug == name).values(state=state))
        )

    def add_person(self, login: str) -> str:
        kept = accounts.Hasher(CHEAP).hash(PASSWORD)
        return self.context.store.write(
            lambda c: accounts.add_person(c, self.context, login, login.title(), kept)
        )

    def add_team(self, login: str, acronym: str, name="tiny") -> tuple[str, str]:
        """Somebody who leads a team and has signed; gives the ids of person and team."""
        who = self.add_person(login)

        def write(connection):
            row = campaigns.by_slug(connection, name)
            teams.sign(connection, self.context, who, row["id"], login.title())
            made, _ = teams.add_team(
                connection, self.context, who, row["id"], acronym=acronym, name=f"Team {acronym}"
            )
            return made

        return who, self.context.store.write(write)

    def add_token(self, who: str, team: str | None, scope="submit") -> str:
        return self.context.store.write(
            lambda c: accounts.add_token(c, self.context, who, team=team, scope=scope, label="test")
        )

    def grant(self, who, role, name="tiny") -> None:
        def write(connection):
            where = campaigns.by_slug(connection, name)["id"] if name else None
            accounts.grant(connection, self.context, "test", who, role, where)

        self.context.store.write(write)

    @contextmanager
    def serving(self):
        """The site on a free port of loopback."""
        # The port is taken here and handed over: between looking and taking, others could have it.
        listening = socket.create_server(("127.0.0.1", 0))
        how = {"log_level": "error", "lifespan": "off", "timeout_graceful_shutdown": 10}
        config = uvicorn.Config(self.app, http=BoundedHeads, **how)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
        thread.start()
        until = time.monotonic() + PATIENCE
        while not server.started:
            assert thread.is_alive(), "the server ended by itself"
            assert time.monotonic() < until, "the server did not start"
            time.sleep(0.005)
        self.address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        try:
            yield self
        finally:
            for client in self.clients:
                client.close()
            server.should_exit = True
            joined([thread])
            listening.close()
            self.app.state.checks.close()
            self.context.store.close()

    def browser(self, login: str = "", password: str = PASSWORD) -> Browser:
        made = Browser(self.address)
        self.clients.append(made)
        if login:
            made.log_in(login, password)
        return made

    def program(self, token: str) -> httpx.Client:
        made = httpx.Client(
            base_url=f"{self.address}/api/v1",
            headers={"Authorization": f"Bearer {token}"} if token else {},
            timeout=2 * PATIENCE,
            verify=False,
        )
        self.clients.append(made)
        return made


class Browser(httpx.Client):
    """A browser as far as tests need one: cookies, and forms with their hidden field."""

    def __init__(self, address: str) -> None:
        super().__init__(
            base_url=address, follow_redirects=False, timeout=2 * PATIENCE, verify=False
        )

    def token(self, path: str) -> str:
        found = re.search(r'name="csrf" value="([0-9a-f]+)"', self.get(path).text)
        return found[1] if found else ""

    def fill(self, path: str, data=None, *, page: str | None = None, files=None) -> httpx.Response:
        """Send a form after looking at its page."""
        token = self.token(page or path) or self.token("/")
        return self.post(path, data={"csrf": token, **(data or {})}, files=files)

    def log_in(self, login: str, password: str) -> httpx.Response:
        answer = self.fill("/login", {"login": login, "password": password})
        assert answer.status_code == 303, answer.text
        return answer
