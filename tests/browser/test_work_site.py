"""Work on the site in a browser: by keyboard alone, at both widths, with nothing to complain of."""

from __future__ import annotations

import re
import socket
import time

import pytest

from cranfield.io.samples import sample_folder
from cranfield.server.admin import clock_of_site
from cranfield.server.services import assessors, batch_results, batches
from cranfield.server.services.batch_factory import new_batch
from cranfield.server.services.campaigns import by_slug
from cranfield.server.services.importing import import_collection
from tests.server.process import served, stopped
from tests.server.world import DAY, Site

WebDriverWait = pytest.importorskip("selenium.webdriver.support.ui").WebDriverWait
# What is typed for one digit: which one it is, on the second tab no loop and no stroke.
TYPED = ["e", "a"]
ACTIONS = (("save", " "), ("skip", "."), ("cannot", "0"), ("later", ","), ("save", " "))


@pytest.fixture(scope="module")
def digits(tmp_path_factory):
    """The sample as a campaign with a batch of its images."""
    site = Site(tmp_path_factory.mktemp("digits"))
    dates = {"opens": site.now, "closes": site.now + DAY}
    import_collection(site.context, sample_folder("digits"), name="tiny", **dates)
    site.set_state("open")

    def write(connection):
        row = by_slug(connection, "tiny")
        options = {"slug": "one", "split": "agreement", "overlap": 9, "title": "Digits"}
        new_batch(connection, site.context, "test", row, "labels", **options)
        found = batches.read_batch(connection, row["id"], "one")
        batches.set_state(connection, site.context, "test", found.row, "running")

    site.context.store.write(write)
    with site.serving():
        yield site


class Worker:
    """Somebody at a page of the site, with a keyboard."""

    def __init__(self, driver, site, width=1280):
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.keys import Keys

        self.driver, self.keys, self._chains = driver, Keys, ActionChains
        self.site = site
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)

        def write(connection):
            where = by_slug(connection, "tiny")["id"]
            batch_id = batches.read_batch(connection, where, "one").id
            return assessors.add_assessor(
                connection, site.context, "t", where, kind="crowd", batch_id=batch_id
            )

        self.id, secret = site.context.store.write(write)
        driver.get_log("browser")
        driver.get(f"{site.address}/tiny/enter/{secret}")
        driver.get(f"{site.address}/tiny/work/one")

    def type(self, *keys):
        self._chains(self.driver).send_keys(*keys).perform()

    def js(self, text, *more):
        return self.driver.execute_script(text, *more)

    def settled(self, before):
        """Wait until another page is there and its script has run."""

        def there(driver):
            ready = "return document.documentElement.dataset.ready === 'yes'"
            return driver.current_url != before and driver.execute_script(ready)

        WebDriverWait(self.driver, 20, 0.02).until(there)

    def save(self, *keys):
        before = self.driver.current_url
        self.site.time += 1
        self.type(*keys, " ")
        # What is below the fold blocks until it was in view; Space goes there.
        while "not looked at yet" in self.js(
            "return (document.getElementById('problems') || {}).textContent || ''"
        ):
            self.type(" ")
        self.settled(before)


def log_of(site, who):
    with site.context.store.read() as connection:
        found = batches.read_batch(connection, by_slug(connection, "tiny")["id"], "one")
        forms = batch_results.filled_forms(connection, found)
        names = {
            row["id"]: row["pseudonym"]
            for row in assessors.assessors_of(connection, found.row["campaign"])
        }
    return [f for f in forms if f.annotator == names[who]]


@pytest.mark.parametrize("width", [1280, 390])
def test_ten_images_by_keyboard_alone(driver, digits, width):
    worker = Worker(driver, digits, width)
    for _ in range(10):
        worker.save(*TYPED)
    forms = log_of(digits, worker.id)
    assert len(forms) == 10
    assert len({f.item for f in forms}) == 10
    for form in forms:
        assert {c for c, v in form.values.items() if v == "1"} == {"Two", "Even", "Prime"}
        assert 0 < form.seconds < 60
    assert worker.js("return document.querySelector('.unit img').naturalWidth") > 0
    assert driver.get_log("browser") == []


def test_what_comes_next_is_fetched_ahead(driver, digits):
    from selenium.webdriver.support.ui import WebDriverWait

    worker = Worker(driver, digits)
    loaded = """return performance.getEntriesByType('resource').map((r) => r.name)
        .filter((name) => name.endsWith('/picture'))"""
    WebDriverWait(driver, 20, 0.05).until(lambda _: len(set(worker.js(loaded))) == 4)
    ahead = set(worker.js(loaded)) - {worker.js("return document.querySelector('.unit img').src")}
    worker.save(*TYPED)
    assert worker.js("return document.querySelector('.unit img').src") in ahead


def test_an_empty_group_is_refused_before_anything_is_sent(driver, digits):
    worker = Worker(driver, digits)
    worker.type("a", " ")
    assert "needs exactly one answer" in worker.js(
        "return document.getElementById('problems').textContent"
    )
    assert worker.js("return document.activeElement.name") == "Zero"
    assert log_of(digits, worker.id) == []


def test_an_answer_waits_while_the_server_is_away_and_arrives_once(driver, digits):
    """Also over a reload: the server is reached again, the answer is sent by itself."""
    worker = Worker(driver, digits)
    first = driver.current_url
    driver.execute_cdp_cmd("Network.enable", {})
    away = {"offline": True, "latency": 0, "downloadThroughput": -1, "uploadThroughput": -1}
    driver.execute_cdp_cmd("Network.emulateNetworkConditions", away)
    try:
        worker.type(*TYPED, " ")
        told = "return document.getElementById('waiting').textContent"
        WebDriverWait(driver, 20, 0.02).until(lambda _: "waits in this browser" in worker.js(told))
        assert log_of(digits, worker.id) == []
        assert driver.current_url == first
    finally:
        driver.execute_cdp_cmd("Network.emulateNetworkConditions", away | {"offline": False})
    worker.settled(first)
    worker.save(*TYPED)
    assert [f.values["Two"] for f in log_of(digits, worker.id)] == ["1", "1"]
    driver.get_log("browser")


@pytest.mark.slow
def test_a_server_that_is_killed_for_a_minute_loses_and_doubles_nothing(driver, tmp_path):
    """A process of its own is ended by SIGKILL in the middle of 20 items, and started again."""
    site = Site(tmp_path)
    dates = {"opens": site.now, "closes": site.now + 300 * 365 * DAY}
    import_collection(site.context, sample_folder("digits"), name="tiny", **dates)
    site.set_state("open")

    def write(connection):
        row = by_slug(connection, "tiny")
        options = {"slug": "one", "split": "agreement", "first": 20, "expires": 1e9}
        new_batch(connection, site.context, "test", row, "labels", **options)
        found = batches.read_batch(connection, row["id"], "one")
        batches.set_state(connection, site.context, "test", found.row, "running")

    site.context.store.write(write)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
    # The site of a test has a time of its own: this machine's is accepted in its place.
    clock_of_site(tmp_path / "site", accept=True)
    words = ["serve", str(tmp_path / "site"), "--port", port]
    process, site.address, _ = served(words)
    try:
        worker = Worker(driver, site)
        for number in range(20):
            before = driver.current_url
            if number == 10:
                process.kill()
                process.wait(60)
            worker.type(*TYPED, " ")
            while "not looked at yet" in worker.js(
                "return (document.getElementById('problems') || {}).textContent || ''"
            ):
                worker.type(" ")
            if number == 10:
                time.sleep(60)
                assert driver.current_url == before
                message = worker.js("return document.getElementById('waiting').textContent")
                assert "waits in this browser" in message
                process, _, _ = served(words)
            if number < 19:
                worker.settled(before)
        WebDriverWait(driver, 20, 0.05).until(lambda d: "nothing left" in d.page_source)
    finally:
        stopped(process)
    forms = log_of(site, worker.id)
    assert len(forms) == 20
    assert len({form.item for form in forms}) == 20
    assert {form.values["Two"] for form in forms} == {"1"}
    site.context.store.close()
    driver.get_log("browser")


def test_two_tabs_of_one_person_give_one_form(driver, digits):
    worker = Worker(driver, digits)
    page, tab = driver.current_url, driver.current_window_handle
    driver.switch_to.new_window("tab")
    driver.get(page)
    worker.save("e")
    driver.close()
    driver.switch_to.window(tab)
    worker.save("r")
    (form,) = log_of(digits, worker.id)
    assert form.values["Three"] == "1"


def test_a_reload_and_a_way_back_lose_nothing(driver, digits):
    worker = Worker(driver, digits)
    worker.type("e", "/")
    worker.type("odd one")
    driver.refresh()
    checked = "return document.querySelector('[value=Two]').checked"
    assert worker.js(checked)
    assert worker.js("return document.querySelector('[name=comment]').value") == "odd one"
    worker.js("document.activeElement.blur()")
    worker.save()
    before = driver.current_url
    worker.type(worker.keys.BACKSPACE)
    worker.settled(before)
    assert worker.js(checked)
    worker.save("r")
    (form,) = log_of(digits, worker.id)
    assert form.values["Three"] == "1"
    assert form.comment == "odd one"


def test_keys_and_clicks_give_equal_rows(driver, digits):
    rows = []
    for by_key in (True, False):
        worker = Worker(driver, digits)
        for action, key in ACTIONS:
            if by_key:
                worker.type(*TYPED)
            else:
                for typed in TYPED:
                    worker.js(
                        "document.querySelector(`[data-key='${arguments[0]}']`).click()", typed
                    )
            before = driver.current_url
            if by_key:
                worker.type(key)
            else:
                worker.js("document.querySelector(`[data-action=${arguments[0]}]`).click()", action)
            worker.settled(before)
        with digits.context.store.read() as connection:
            from sqlalchemy import select

            from cranfield.server.store.work_tables import judgement

            said = connection.execute(
                select(judgement.c.value)
                .where(judgement.c.assessor == worker.id)
                .order_by(judgement.c.at, judgement.c.id)
            ).scalars()
            rows.append(sorted(said))
    assert rows[0] == rows[1]
    assert len(rows[0]) == len(ACTIONS)


@pytest.mark.parametrize("width", [1280, 390])
def test_screens_have_nothing_to_complain_of(driver, digits, axe, width):
    worker = Worker(driver, digits, width)

    def violations():
        driver.execute_script(axe)
        found = driver.execute_async_script("axe.run().then(arguments[arguments.length - 1])")
        return [(v["id"], [n["html"] for n in v["nodes"]][:2]) for v in found["violations"]]

    assert violations() == []
    assert worker.js("return document.documentElement.scrollWidth") <= width
    worker.type("a", " ")
    assert violations() == []
    worker.save("e")
    organiser = digits.browser("organiser", digits.password)
    cookie = organiser.cookies["cranfield_session"]
    driver.add_cookie({"name": "cranfield_session", "value": cookie})
    for path in ("organise/batches", "organise/batches/one", "adjudicate/one", "screen/one"):
        driver.get(f"{digits.address}/tiny/{path}")
        assert violations() == [], path
        assert worker.js("return document.documentElement.scrollWidth") <= width, path
    driver.delete_cookie("cranfield_session")
    assert not [e for e in driver.get_log("browser") if not re.search("favicon", e["message"])]


def test_boxes_are_drawn_on_the_site(driver, digits, axe):
    """The policy of the site lets the boxes be drawn; they are stored with the answer."""

    def write(connection):
        row = by_slug(connection, "tiny")
        options = {"slug": "boxes", "split": "agreement", "first": 2, "marks": "boxes"}
        new_batch(connection, digits.context, "test", row, "labels", **options)
        found = batches.read_batch(connection, row["id"], "boxes")
        batches.set_state(connection, digits.context, "test", found.row, "running")
        return assessors.add_assessor(
            connection, digits.context, "t", row["id"], kind="crowd", batch_id=found.id
        )

    _, secret = digits.context.store.write(write)
    worker = Worker(driver, digits, 390)
    driver.get(f"{digits.address}/tiny/enter/{secret}")
    driver.get(f"{digits.address}/tiny/work/boxes")
    WebDriverWait(driver, 20, 0.05).until(
        lambda _: worker.js("return document.querySelector('.frame img').naturalWidth") > 0
    )
    # The second key of the row of letters is that of the second concept.
    worker.type("s")
    worker.js("document.querySelector('[data-add]').focus()")
    worker.type(worker.keys.ENTER)
    assert worker.js("return document.querySelectorAll('.overlay .mark').length") == 1
    worker.js(axe)
    found = driver.execute_async_script(
        "axe.run().then((r) => arguments[0](r.violations.map((v) => v.id + v.nodes[0].html)))"
    )
    assert found == []
    before = driver.current_url
    worker.js("document.activeElement.blur()")
    worker.type(" ")
    worker.settled(before)
    with digits.context.store.read() as connection:
        batch = batches.read_batch(connection, by_slug(connection, "tiny")["id"], "boxes")
        (response,) = batch_results.responses(connection, batch)
    (answer,) = response.filled[0].answers["shown"]
    concept, _, place = answer.partition("=")
    options = batch.forms["form"].question("shown").options
    assert concept == options[1].value
    x, y, width, height = map(float, place.split("@")[0].split(","))
    whole = [float(side) for side in place.split("@")[1].split("x")]
    assert [4 * width, 4 * height] == pytest.approx(whole, abs=0.1)
    assert [x + width / 2, y + height / 2] == pytest.approx([s / 2 for s in whole], abs=0.1)
    assert [m["message"] for m in driver.get_log("browser") if "favicon" not in m["message"]] == []
