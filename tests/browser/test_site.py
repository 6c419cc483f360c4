"""The static site in a browser: nothing logged, nothing asked for elsewhere, nothing cut off."""

import json

import pytest

pytest.importorskip("jinja2")

from cranfield.io.samples import SAMPLE
from cranfield.site.publish import publish

PAGES = (
    "index.html",
    "results/ranked/index.html",
    "results/ranked/index--best-group.html",
    "results/ranked/errors.html",
    "results/ranked/compare.html",
    "results/ranked/method.html",
    "results/ranked/files.html",
    "results/ranked/run/pca.html",
    "results/ranked/team/OTTER.html",
    "results/ranked/topic/nine-1.html",
    "results/ranked/participation.html",
    "results/labels/index.html",
    "results/labels/errors.html",
    "results/labels/best-per-concept.html",
    "results/labels/best-per-item.html",
    "results/labels/concept/Eight.html",
    "results/labels/run/logistic.html",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site") / "site"
    publish(SAMPLE, folder, release_truth=True, resamples=200)
    return folder


@pytest.mark.parametrize("width, dark", [(1280, False), (1280, True), (390, False), (390, True)])
def test_pages_are_quiet_alone_accessible_and_fit(driver, axe, site, width, dark):
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [scheme]})
    driver.set_script_timeout(120)
    found = {}
    for name in PAGES:
        driver.get("about:blank")
        driver.get_log("browser")
        driver.get_log("performance")
        driver.get((site / name).as_uri())
        logged = [entry["message"] for entry in driver.get_log("browser")]
        asked = [json.loads(e["message"])["message"] for e in driver.get_log("performance")]
        outside = [
            e["params"]["request"]["url"]
            for e in asked
            if e["method"] == "Network.requestWillBeSent"
            and not e["params"]["request"]["url"].startswith(("about:", site.as_uri()))
        ]
        wide = driver.execute_script("return document.documentElement.scrollWidth")
        styled = driver.execute_script("return getComputedStyle(document.body).marginTop")
        driver.execute_script(axe + "; window.axe = axe;")
        violations = driver.execute_async_script(
            "const done = arguments[arguments.length - 1];"
            "axe.run(document, {resultTypes: ['violations']}).then((r) => done(r.violations.map("
            "(v) => [v.id, v.nodes.length, v.nodes[0].html.slice(0, 200)])));"
        )
        if logged or outside or violations or wide > width or styled != "0px":
            found[name] = (logged, outside, violations, wide, styled)
    assert found == {}
