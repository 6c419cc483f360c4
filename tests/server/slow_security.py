"""Promises that need a server of their own process, or many tries; part of `make slow`."""

import re
import statistics
import sys
import time
from urllib.parse import urljoin, urlsplit

import httpx
from sqlalchemy import update

from cranfield.server.services.accounts import Hasher
from cranfield.server.settings import Passwords
from cranfield.server.store.tables import person
from tests.server.process import started, stopped
from tests.server.slow_kills import ABOUT
from tests.server.test_screens import MARK, marked, submit
from tests.server.world import PASSWORD, run_text

MEGABYTE = 1 << 20
# Writes down every connection that the process, or one it forks, wants to make.
WATCHED = """
import sys
def watch(event, arguments):
    if event in ("socket.connect", "socket.getaddrinfo", "socket.sendto"):
        with open({log!r}, "a") as log:
            log.write(f"{{event}} {{arguments}}\\n")
sys.addaudithook(watch)
"""


def test_the_site_connects_to_nowhere(unserved, tmp_path):
    """A run is checked and scored, pages are looked at, a login is tried: nothing goes out."""
    token = unserved.add_token(unserved.ann, unserved.one)
    unserved.context.store.close()
    log = tmp_path / "connections"
    program = [sys.executable, "-c", WATCHED.format(log=str(log)) + START]
    process, address = started(unserved.settings.folder, program=program)
    try:
        with httpx.Client(base_url=address, timeout=60) as client:
            headers = {"Authorization": f"Bearer {token}"}
            sent = client.put(
                "/api/v1/tasks/ranked/runs/r1",
                params=ABOUT,
                content=run_text().encode(),
                headers=headers,
            )
            large = client.put(
                "/api/v1/tasks/ranked/runs/r2",
                params=ABOUT,
                content=run_text().encode() + b" \n" * MEGABYTE,
                headers=headers,
            )
            for path in ("/", "/tiny", "/login", "/tiny/call"):
                assert client.get(path).status_code == 200
            time.sleep(3)
    finally:
        stopped(process)
    assert sent.status_code == 201
    assert large.status_code in (201, 422)
    assert not log.exists(), log.read_text()


START = """
from cranfield.__main__ import start
sys.argv[0] = "cranfield"
sys.exit(start())
"""


def test_an_endless_line_is_refused(site):
    client = site.program(site.add_token(site.ann, site.one))
    content = (b"t1 Q0 d" + b"x" * MEGABYTE if n == 0 else b"x" * MEGABYTE for n in range(50))
    answer = client.put("/tasks/ranked/runs/r1", params=ABOUT, content=content)
    assert answer.status_code == 422
    assert len(answer.content) < 10_000


def test_logins_of_unknown_names_take_as_long(site):
    """By HTTP with hashes of the usual cost: the medians of both are close."""
    hasher = Hasher(Passwords())
    site.app.state.hasher = hasher
    kept = hasher.hash(PASSWORD)
    site.context.store.write(lambda c: c.execute(update(person).values(password=kept)))
    browser = site.browser()
    found = {"ann": [], "nobody-here": []}
    for turn in range(9):
        for login, times in found.items():
            site.time += 3600
            token = browser.token("/login")
            begun = time.process_time()
            answer = browser.post(
                "/login", data={"csrf": token, "login": login, "password": f"wrong {turn}"}
            )
            times.append(time.process_time() - begun)
            assert answer.status_code in (400, 401), answer.status_code
    known, unknown = (statistics.median(times[1:]) for times in found.values())
    print(f"a wrong password {1000 * known:.1f} ms of CPU, an unknown name {1000 * unknown:.1f} ms")
    assert 0.67 < unknown / known < 1.5


def test_no_page_of_any_role_has_markup_of_a_user(tmp_path):
    """All pages that links lead to, for the public, a team and the organiser."""
    site, who, team = marked(tmp_path)
    with site.serving():
        submit(site, who, team)
        site.work()
        before = crawled(site.browser("ann", PASSWORD))
        site.move("closed", "scoring", "released")
        seen = [
            crawled(browser)
            for browser in (
                site.browser(),
                site.browser("ann", PASSWORD),
                site.browser("organiser", site.password),
            )
        ]
    print(f"pages crawled: {len(before)} before the release, {[len(s) for s in seen]} after")
    assert len(before) > 8
    assert min(map(len, seen)) > 30


def crawled(browser, most=400):
    """Every address that pages lead to; none has the marker as it was written."""
    waiting, seen = ["/"], {}
    while waiting and len(seen) < most:
        path = waiting.pop(0)
        if path in seen:
            continue
        answer = browser.get(path)
        seen[path] = answer.status_code
        assert answer.status_code < 500, path
        if "text/html" not in answer.headers.get("content-type", ""):
            continue
        assert MARK not in answer.text, path
        assert "<script>window.obeyed" not in answer.text, path
        for href in re.findall(r'href="([^"#]+)', answer.text):
            to = urlsplit(urljoin(path, href.replace("&amp;", "&")))
            if not to.netloc and not to.path.startswith(("/static", "/logout")):
                waiting.append(to.path + (f"?{to.query}" if to.query else ""))
    return seen
