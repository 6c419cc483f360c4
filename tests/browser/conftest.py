"""A headless Chromium that tells what it logged and whom it asked."""

import json
import shutil
from pathlib import Path

import pytest

ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--force-device-scale-factor=1",
    "--hide-scrollbars",
)


@pytest.fixture(scope="session")
def driver(tmp_path_factory):
    webdriver = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    service = shutil.which("chromedriver")
    if chromium is None or service is None:
        pytest.skip("no chromium with chromedriver (Debian: chromium, chromium-driver)")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ARGUMENTS:
        options.add_argument(argument)
    options.add_argument(f"--user-data-dir={tmp_path_factory.mktemp('profile')}")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    browser = webdriver.Chrome(options=options, service=webdriver.ChromeService(service))
    yield browser
    browser.quit()


@pytest.fixture(scope="session")
def axe():
    package = pytest.importorskip(
        "axe_core_python", reason="axe-core-python (which brings axe.min.js) is not installed"
    )
    return (Path(package.__path__[0]) / "axe.min.js").read_text()


class Page:
    """A report in the browser."""

    def __init__(self, driver, path, *, width=1280, dark=False):
        self.driver = driver
        size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
        driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
        driver.get("about:blank")
        driver.get_log("browser")
        driver.get_log("performance")
        driver.get(Path(path).as_uri())
        self.address = Path(path).as_uri()
        assert self.js("return document.documentElement.dataset.ready") == "yes", self.logged()

    def js(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    def logged(self):
        """All that the console shows: errors, warnings, violations of the policy."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self):
        """Addresses asked for, beside the file itself and pictures inside it."""
        events = [json.loads(e["message"])["message"] for e in self.driver.get_log("performance")]
        asked = [
            event["params"]["request"]["url"]
            for event in events
            if event["method"] == "Network.requestWillBeSent"
        ]
        return [a for a in asked if a != self.address and not a.startswith(("data:", "about:"))]

    def table(self, kind, part=1):
        """The rows of a table as [text or exact number, ...]."""
        return self.js(
            """return [...document.querySelectorAll(`#part-${arguments[1]} table.${arguments[0]}`)]
            .slice(0, 1).flatMap((t) => [...t.tBodies[0].rows].map((r) => [...r.cells].map((c) =>
            c.dataset.value === undefined ? c.textContent : Number(c.dataset.value))))""",
            kind,
            part,
        )

    def choose(self, label, value, part=1):
        """Choose an option by its text in the select box with this label."""
        from selenium.webdriver.common.by import By
        from selenium.webdriver.support.ui import Select

        found = self.driver.find_element(
            By.XPATH,
            f"//*[@id='part-{part}']//label[text()='{label}']/following-sibling::select",
        )
        Select(found).select_by_visible_text(value)


@pytest.fixture
def open_page(driver):
    return lambda path, **options: Page(driver, path, **options)
