"""What the site needs under load, each as a printed figure: CPU, bytes, memory, first page.

The aims are for two idle cores; where other work is going on CPU time grows with it, so what
is held here is twice the aim (three times for what is below a millisecond).
"""

import asyncio
import gzip
import re
import threading
import time
import zlib
from pathlib import Path

import httpx
import pytest

from benchmarks.site_load import cpu
from tests.server.process import started, stopped
from tests.server.slow_kills import ABOUT
from tests.server.test_uploads import UNFOLDING
from tests.server.world import Site, joined, run_text

MEGABYTE = 1 << 20
SIZE = 1000
ITEMS = [f"item{n:06d}" for n in range(SIZE)]
TOPICS = [f"topic{n:04d}" for n in range(SIZE)]
AT_ONCE = 20


def large_run():
    """A run of 57 MB, a topic at a time: all items of all topics."""
    for topic in TOPICS:
        yield "".join(
            f"{topic} Q0 {item} {rank} {1 / rank:.9f} a-run-with-a-tag\n"
            for rank, item in enumerate(ITEMS, 1)
        ).encode()


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A server of its own process with a campaign that takes large runs, and a client."""
    folder = tmp_path_factory.mktemp("large")
    site = Site(folder)
    settings = (site.source / "collection.toml").read_text()
    ranked = settings[: settings.index('[[run_facts]]\nrun = "zero"')]
    first, last = ranked.index("truth ="), ranked.index("[[run_facts]]")
    texts = {
        "collection.toml": (ranked[:first] + ranked[last:])
        .replace("size = 8", f"size = {SIZE}")
        .replace('concepts = "concepts.csv"\n', ""),
        "topics.csv": "topic,text\n" + "".join(f"{t},x\n" for t in TOPICS),
        "items.csv": "item,text\n" + "".join(f"{i},x\n" for i in ITEMS),
        "qrels.txt": "".join(f"{t} 0 {ITEMS[0]} 1\n" for t in TOPICS),
        "base.run": "".join(f"{t} Q0 {ITEMS[0]} 1 1 x\n" for t in TOPICS),
    }
    for name, text in texts.items():
        (site.source / name).write_text(text)
    site.add_campaign(opens=1, closes=2**52, runs_per_team=1000)
    site.move("open")
    token = site.add_token(*site.add_team("ann", "ONE"))
    site.context.store.close()
    process, address = started(site.settings.folder)
    headers = {"Authorization": f"Bearer {token}"}
    client = httpx.Client(
        base_url=f"{address}/api/v1",
        headers=headers,
        timeout=600,
        limits=httpx.Limits(max_connections=None),
    )
    client.post("/tasks/ranked/check", content=b"topic0000 Q0 item000000 1 1 x\n")
    yield process, client
    client.close()
    stopped(process)


def memory(process) -> float:
    """The most that the server itself has used, in megabytes."""
    status = Path(f"/proc/{process.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024


def seconds(process) -> float:
    """CPU of the server and of the children that it has seen end."""
    fields = Path(f"/proc/{process.pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / 100


def test_large_uploads_cost_little_memory_alone_and_together(large):
    process, client = large
    before = memory(process)
    sent = client.post("/tasks/ranked/check", content=large_run())
    one = memory(process) - before
    assert sent.status_code == 200, sent.text
    assert sent.json()["lines"] == SIZE * SIZE
    answers = []

    def send():
        answers.append(client.post("/tasks/ranked/check", content=large_run()).status_code)

    threads = [threading.Thread(target=send, daemon=True) for _ in range(AT_ONCE)]
    for thread in threads:
        thread.start()
    joined(threads, 600)
    many = memory(process) - before
    print(f"a good run of 57 MB: +{one:.1f} MB; {AT_ONCE} at once: +{many:.1f} MB")
    assert answers == [200] * AT_ONCE
    assert one <= 16
    assert many <= 100


def test_a_bomb_of_two_gigabytes_is_refused_within_seconds(large):
    process, client = large
    packer = zlib.compressobj(9, zlib.DEFLATED, 31)
    block = bytes(MEGABYTE)
    bomb = b"".join([*(packer.compress(block) for _ in range(2048)), packer.flush()])
    before, spent = memory(process), seconds(process)
    answer = client.put("/tasks/ranked/runs/bomb", params=ABOUT, content=bomb)
    spent, more = seconds(process) - spent, memory(process) - before
    print(f"{len(bomb) / 1e6:.1f} MB that unpack to 2 GB: {spent:.2f} s of CPU, +{more:.1f} MB")
    assert answer.status_code == 422
    assert spent < 2
    assert more < 100


@pytest.mark.parametrize("name", UNFOLDING)
def test_what_unfolds_does_not_grow_the_server(large, name):
    process, client = large
    _, ending, content = UNFOLDING[name]
    before = memory(process)
    ways = {"ending": ending}
    answer = client.post("/tasks/ranked/check", params=ways, content=content())
    more = memory(process) - before
    print(f"{name}: +{more:.1f} MB")
    assert answer.status_code == 422
    assert more < 50


def test_slow_senders_hold_nobody_up(large):
    """Thirty uploads that do not go on; others are served meanwhile."""
    _, client = large
    going, answers = threading.Event(), []

    def slowly():
        yield b"topic0000 Q0 item000000 1 1 x\n"
        going.wait(120)

    def send():
        answers.append(client.post("/tasks/ranked/check", content=slowly()).status_code)

    threads = [threading.Thread(target=send, daemon=True) for _ in range(30)]
    for thread in threads:
        thread.start()
    time.sleep(1)
    begun = time.monotonic()
    quick = client.post("/tasks/ranked/check", content=b"topic0001 Q0 item000001 1 1 x\n")
    waited = time.monotonic() - begun
    going.set()
    joined(threads, 120)
    print(f"with 30 slow senders a check takes {1000 * waited:.0f} ms")
    assert quick.status_code == 200
    assert answers == [200] * 30
    assert waited < 5


def test_the_first_page_comes_soon(open_folder, tmp_path):
    import shutil

    shutil.copytree(open_folder[0], tmp_path / "copy")
    begun = time.monotonic()
    process, address = started(tmp_path / "copy" / "site")
    try:
        page = httpx.get(address, timeout=60)
        waited, spent = time.monotonic() - begun, seconds(process)
    finally:
        stopped(process)
    print(f"first page after {waited:.1f} s, {spent:.2f} s of CPU")
    assert page.status_code == 200
    assert spent < 4


def test_a_board_costs_little(tmp_path):
    site = Site(tmp_path)
    site.add_campaign()
    site.move("open")
    people = [site.add_team(f"p{n}", f"T{n}") for n in range(15)]
    with site.serving():
        for who, team in people:
            client = site.program(site.add_token(who, team))
            for n in range(5):
                run = run_text((f"d{n}", "d6")).encode()
                client.put(f"/tasks/ranked/runs/r{n}", params=ABOUT, content=run)
        site.work()
        site.move("closed", "scoring", "released")
        page = site.browser().get("/tiny/results/ranked")
        plain, packed = len(page.content), len(gzip.compress(page.content, 6))
        cached = min(asyncio.run(cpu(site.app, 200)) for _ in range(5))
        anew = min(asyncio.run(cpu(site.app, 20, anew=True)) for _ in range(5))
    print(f"board of 76 runs: {plain / 1000:.1f} KB, {packed / 1000:.1f} KB packed")
    print(f"CPU of a board: {cached:.2f} ms from memory, {anew:.2f} ms made anew")
    assert plain <= 30_000
    assert cached <= 1.5
    assert anew <= 8


def test_many_refused_text_files_hold_nobody_up(large):
    """Each is read by the child, and its first problems are told; others are answered meanwhile."""
    process, client = large
    rows = (b"topic0001 Q0 nowhere%06d %d %d x\n" % (n, n + 1, n) for n in range(27_000))
    content, before, answers, waits = b"".join(rows), memory(process), [], []

    def send():
        answers.append(client.post("/tasks/ranked/check", content=content).status_code)

    threads = [threading.Thread(target=send, daemon=True) for _ in range(41)]
    begun = time.monotonic()
    for thread in threads:
        thread.start()
    health = str(client.base_url).partition("/api/")[0] + "/healthz"
    while any(thread.is_alive() for thread in threads):
        asked = time.monotonic()
        assert httpx.get(health, timeout=60).status_code == 200
        waits.append(time.monotonic() - asked)
    joined(threads, 120)
    took, more = time.monotonic() - begun, memory(process) - before
    print(f"41 files in {took:.1f} s, +{more:.0f} MB; /healthz at most {1000 * max(waits):.0f} ms")
    assert answers == [422] * 41
    assert took < 300
