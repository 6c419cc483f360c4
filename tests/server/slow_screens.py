"""Every screen of the site at both widths, with markers in every text; part of `make slow`."""

from tests.browser.conftest import axe, driver  # noqa: F401 - fixtures
from tests.server.slow_security import crawled
from tests.server.test_screens import log_in, look, marked, open_page, submit
from tests.server.world import PASSWORD


def test_every_screen(driver, axe, tmp_path):  # noqa: F811
    driver.set_script_timeout(60)
    site, who, team = marked(tmp_path)
    problems = []
    with site.serving():
        run = submit(site, who, team)
        site.work()
        public = ["/", "/login", "/tiny", "/tiny/call", "/tiny/register"]
        ann = ["data", "licence", "submit", "runs", f"runs/{run}", "team"]
        organiser = ["organise", "organise/settings", f"organise/runs/{run}"]
        results = ["", "/ranked", "/ranked/run/ONE.r1", "/ranked/topic/t1", "/ranked/files"]
        results += ["/labels", "/labels/team/ONE", "/labels/concept/Sky", "/labels/item/d0"]
        for width in (1280, 390):
            for path in public:
                look(driver, axe, site, path, problems, width)
        log_in(driver, site, "ann", PASSWORD)
        for path in ann:
            for width in (1280, 390):
                look(driver, axe, site, f"/tiny/{path}", problems, width)
        site.move("closed", "scoring", "released")
        log_in(driver, site, "organiser", site.password)
        for path in [*(f"/tiny/{p}" for p in organiser), "/admin", "/admin/audit", "/account"]:
            for width in (1280, 390):
                look(driver, axe, site, path, problems, width)
        for path in results:
            look(driver, axe, site, f"/tiny/results{path}", problems, 1280)
        pages = crawled(site.browser("organiser", site.password), most=150)
        for path in (path for path, status in pages.items() if status == 200):
            obeyed(driver, site, path, problems)
    print(f"{len(pages)} pages crawled in the browser")
    assert problems == []


def obeyed(driver, site, path, problems):  # noqa: F811
    """Whether the browser ran a marker on a page, or its policy had to stop one."""
    open_page(driver, site.address + path, 1280)
    if driver.execute_script("return window.obeyed"):
        problems.append(f"{path}: obeyed")
    logged = [e["message"] for e in driver.get_log("browser") if "favicon" not in e["message"]]
    problems += [f"{path}: {message}" for message in logged]
