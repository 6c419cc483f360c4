"""Work on the site in a browser: by keyboard alone, at both widths, with nothing to complain of."""

from __future__ import annotations

import re

import pytest

from cranfield.io.samples import sample_folder
from cranfield.server.services import assessors, batch_results, batches
from cranfield.server.services.batch_factory import new_batch
from cranfield.server.services.campaigns import by_slug
from cranfield.server.services.importing import import_collection
from tests.server.world import DAY, Site

pytest.importorskip("selenium")
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
        from selenium.webdriver.support.ui import WebDriverWait

        def there(driver):
            ready = "return document.documentElement.dataset.ready === 'yes'"
            return driver.current_url != before and driver.execute_script(ready)

        WebDriverWait(self.driver, 20, 0.02).until(there)

    def save(self, *keys):
        before = self.driver.current_url
        self.site.time += 1
        self.type(*keys, " ")
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
