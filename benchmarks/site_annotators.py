"""Two hundred annotators, each saving a form once a second, over HTTP: how long a save takes.

    python -m benchmarks.site_annotators [SECONDS [PEOPLE]]

The sample collection is served as `cranfield site serve` does it, and once more by the same program
with a commit for every write (a store that only this benchmark has). The annotators are a
process of their own, sockets and nothing more, so that they do not wait for themselves. Prints
saves, losses, the 95th percentile of both and their ratio. Where other work takes the cores, both
wait for these and not for the disk: fewer people tell the two apart there.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request
from dataclasses import dataclass
from pathlib import Path

PEOPLE, SECONDS, UNITS = 200, 60, 100
# Seconds after the last step within which the answers must have come.
PATIENCE = 60
BATCH = {"overlap": 10_000, "first": UNITS}


def prepared(folder: Path, people: int = PEOPLE) -> list[str]:
    """A site with a batch of the sample that runs; gives the tokens of those who work on it."""
    from cranfield.io.samples import sample_folder
    from cranfield.server.services import assessors, batches
    from cranfield.server.services.batch_factory import new_batch
    from cranfield.server.services.campaigns import by_slug
    from cranfield.server.services.importing import import_collection
    from cranfield.server.services.site import ensure_organiser, open_site
    from cranfield.server.settings import Settings

    context = open_site(Settings(folder))
    ensure_organiser(context)
    import_collection(context, sample_folder("digits"), name="digits")

    def write(connection):
        row = by_slug(connection, "digits")
        new_batch(connection, context, "bench", row, "labels", slug="load", **BATCH)
        batch = batches.read_batch(connection, row["id"], "load").row
        batches.set_state(connection, context, "bench", batch, "running")
        model = {"kind": "model", "batch_id": batch["id"]}
        return [
            assessors.add_assessor(connection, context, "bench", row["id"], **model)[1]
            for _ in range(people)
        ]

    tokens = context.store.write(write)
    context.store.close()
    return tokens


def kept(folder: Path) -> dict[str, int]:
    """How often each key stands in the store."""
    from sqlalchemy import func, select

    from cranfield.server.services.site import open_site
    from cranfield.server.settings import Settings
    from cranfield.server.store.work_tables import judgement

    context = open_site(Settings(folder))
    try:
        with context.store.read() as connection:
            rows = connection.execute(
                select(judgement.c.client_key, func.count()).group_by(judgement.c.client_key)
            )
            return {str(key): int(count) for key, count in rows}
    finally:
        context.store.close()


def serve_plainly(argv: list[str]) -> int:
    """`cranfield site serve` with a commit for every write: what grouping is measured against."""
    from benchmarks.site_load import PlainStore
    from cranfield.cli import main
    from cranfield.server.store import database

    database.SqliteStore = PlainStore
    return main(argv)


@dataclass
class Server:
    """A site in a process of its own, and the CPU that it used."""

    process: subprocess.Popen
    address: str

    @classmethod
    def start(cls, folder: Path, *, plain: bool) -> Server:
        from cranfield.rehearsal.stage import free_port

        port = free_port()
        how = ["-m", "benchmarks.site_annotators", "plain"] if plain else ["-m", "cranfield"]
        process = subprocess.Popen(
            [sys.executable, *how, "serve", str(folder), "--port", str(port)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        address, until = f"http://127.0.0.1:{port}", time.monotonic() + 60
        while time.monotonic() < until and process.poll() is None:
            try:
                with urllib.request.urlopen(f"{address}/healthz", timeout=5):
                    return cls(process, address)
            except OSError:
                time.sleep(0.05)
        process.kill()
        process.wait(30)
        raise RuntimeError("the server did not come up")

    def cpu(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(30)


class Annotator:
    """Somebody with one connection, who asks for a form and saves it, once a second."""

    def __init__(self, port: int, token: str) -> None:
        self.port, self.token = port, token
        self.asked: list[float] = []
        self.saved: list[float] = []
        self.keys: list[str] = []
        self.refused = 0

    async def ask(self, method: str, path: str, body: bytes = b"") -> tuple[int, dict]:
        head = (
            f"{method} /api/v1/work/{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
            f"Authorization: Bearer {self.token}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(body)}\r\n\r\n"
        )
        self.out.write(head.encode() + body)
        said = (await self.come.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
        length = int(said.partition("content-length:")[2].partition("\r\n")[0])
        return int(said.split(None, 2)[1]), json.loads(await self.come.readexactly(length))

    async def step(self) -> bool:
        """One form: asked for, filled in and saved; False when there is none left."""
        begun = time.perf_counter()
        _, given = await self.ask("GET", "next")
        self.asked.append(time.perf_counter() - begun)
        if given.get("assignment") is None:
            return False
        key = given["assignment"]
        body = json.dumps({"answers": first_answers(given["form"]), "key": f"{key}.1"}).encode()
        begun = time.perf_counter()
        status, _ = await self.ask("PUT", key, body)
        self.saved.append(time.perf_counter() - begun)
        if status == 200:
            self.keys.append(f"{key}.1")
        else:
            self.refused += 1
        return True

    async def work(self, begin: float, end: float) -> None:
        """A step a second; who is late leaves seconds out and does not make up for them."""
        self.come, self.out = await asyncio.open_connection("127.0.0.1", self.port)
        due = begin
        while due < end:
            await asyncio.sleep(max(0.0, due - time.monotonic()))
            if not await self.step():
                break
            due += max(1.0, float(int(time.monotonic() - due) + 1))
        self.out.close()


def first_answers(form: dict) -> dict[str, list[str]]:
    """The first answer of every question that needs one."""
    asked = (question for tab in form["tabs"] for question in tab["questions"])
    return {q["name"]: [q["options"][0]["value"]] for q in asked if q["needed"]}


def annotate(port: str, tokens: str, seconds: str) -> int:
    """The process of the annotators: prints what they have seen, as JSON."""
    people = [Annotator(int(port), t) for t in Path(tokens).read_text().split()]

    async def all_of_them() -> None:
        begin = time.monotonic() + 0.5
        end = begin + float(seconds)
        async with asyncio.timeout(float(seconds) + PATIENCE):
            await asyncio.gather(
                *(p.work(begin + k / len(people), end) for k, p in enumerate(people))
            )

    begun = time.process_time()
    asyncio.run(all_of_them())
    found = {
        name: [value for p in people for value in getattr(p, name)]
        for name in ("asked", "saved", "keys")
    }
    found["refused"] = sum(p.refused for p in people)
    found["cpu"] = time.process_time() - begun
    print(json.dumps(found))
    return 0


def p95(values: list[float]) -> float:
    """The 95th percentile in milliseconds."""
    return 1000 * sorted(values)[int(len(values) * 0.95)]


@dataclass(frozen=True)
class Load:
    """What came of a load: saves that were acknowledged, those that are not there, and times."""

    saves: int
    lost: int
    doubled: int
    refused: int
    save: float
    ask: float
    cpu: float
    client: float

    def __str__(self) -> str:
        return (
            f"{self.saves} saves, {self.lost} lost, {self.doubled} doubled, {self.refused} refused,"
            f" p95 of a save {self.save:.0f} ms, of asking {self.ask:.0f} ms,"
            f" {1000 * self.cpu / max(1, self.saves):.2f} ms of CPU for both"
        )


def load(folder: Path, *, plain: bool, seconds: float = SECONDS, people: int = PEOPLE) -> Load:
    """Put the load on a site that is made in a folder."""
    tokens = prepared(folder / "site", people)
    (folder / "tokens").write_text("\n".join(tokens))
    server = Server.start(folder / "site", plain=plain)
    try:
        port = server.address.rpartition(":")[2]
        command = ["annotate", port, str(folder / "tokens"), str(seconds)]
        before = server.cpu()
        said = subprocess.run(
            [sys.executable, "-m", "benchmarks.site_annotators", *command],
            capture_output=True,
            check=True,
            timeout=seconds + 2 * PATIENCE,
        )
        used = server.cpu() - before
    finally:
        server.kill()
    told, found = json.loads(said.stdout), kept(folder / "site")
    return Load(
        len(told["keys"]),
        sum(key not in found for key in told["keys"]),
        sum(count > 1 for count in found.values()),
        told["refused"],
        p95(told["saved"]),
        p95(told["asked"]),
        used,
        told["cpu"],
    )


def main(argv: list[str]) -> int:
    if argv[:1] == ["annotate"]:
        return annotate(*argv[1:])
    if argv[:1] == ["plain"]:
        return serve_plainly(argv[1:])
    seconds = float(argv[0]) if argv else SECONDS
    people = int(argv[1]) if argv[1:] else PEOPLE
    found = {}
    for name in ("grouped", "plain"):
        with tempfile.TemporaryDirectory() as made:
            found[name] = load(Path(made), plain=name == "plain", seconds=seconds, people=people)
        print(f"{name} commits: {found[name]}", flush=True)
    print(f"p95 of grouped commits / plain ones: {found['grouped'].save / found['plain'].save:.2f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
