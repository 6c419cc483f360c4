"""The site in a browser: markers in every text field stay text, axe finds nothing, no errors."""

from tests.browser.conftest import axe, driver  # noqa: F401 - fixtures
from tests.server.world import PASSWORD, PATIENCE, Site, labels_text, run_text

MARK = "<img src=x onerror=\"window.obeyed='yes'\"><script>window.obeyed='yes'</script>\"'"
RUN_AXE = """
const done = arguments[arguments.length - 1];
axe.run(document, {resultTypes: ['violations']}).then(
  found => done(found.violations.map(v => v.id + ' ' + v.nodes.map(n => n.target).join(' '))));
"""


def marked(tmp_path):
    """A released campaign with markup in every text that somebody can write."""
    site = Site(tmp_path)
    quoted = MARK.replace('"', '""')
    for name, head, ids in (
        ("topics.csv", "topic,text", ("t1", "t2", "t3")),
        ("items.csv", "item,text", tuple(f"d{i}" for i in range(8))),
        ("concepts.csv", "concept,definition", ("Sky", "Sea", "Dog")),
    ):
        rows = "".join(f'{one},"{quoted}"\n' for one in ids)
        (site.source / name).write_text(f"{head}\n{rows}")
    texts = {"call": MARK, "guidelines": MARK, "title": f"Marked {MARK}", "series": MARK}
    site.add_campaign(**texts)
    site.move("open")
    who, team = site.add_team("ann", "ONE")

    def name_them(connection):
        from sqlalchemy import update

        from cranfield.server.store.tables import person
        from cranfield.server.store.tables import team as team_table

        connection.execute(update(person).values(name=MARK, contact=MARK))
        values = {"name": MARK, "country": MARK, "reference": MARK}
        connection.execute(update(team_table).where(team_table.c.id == team).values(**values))

    site.context.store.write(name_them)
    return site, who, team


def submit(site, who, team):
    client = site.program(site.add_token(who, team))
    about = {"conf": "V", "about": MARK, "features": MARK, "classifier": MARK}
    for tag, best in (("r1", ("d0",)), ("r2", ("d5",))):
        client.put(f"/tasks/ranked/runs/{tag}", params=about, content=run_text(best).encode())
    client.put(
        "/tasks/labels/runs/l1",
        params=about | {"ending": ".csv"},
        content=labels_text().encode(),
    )
    bad = run_text().replace("d3", "<script>window.obeyed='yes'</script>", 1)
    client.put("/tasks/ranked/runs/bad", params=about, content=bad.encode())
    return client.get("/tasks/ranked/runs").json()["runs"][0]["id"]


def open_page(driver, address, width):  # noqa: F811
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    driver.get_log("browser")
    driver.get(address)


def look(driver, axe, site, path, problems, width):  # noqa: F811
    """What is wrong with a page: obeyed markers, complaints of the browser, findings of axe."""
    open_page(driver, site.address + path, width)
    if driver.execute_script("return window.obeyed"):
        problems.append(f"{path}: obeyed")
    logged = [e["message"] for e in driver.get_log("browser") if "favicon" not in e["message"]]
    problems += [f"{path} {width}: {message}" for message in logged]
    driver.execute_script(axe)
    problems += [f"{path} {width}: {found}" for found in driver.execute_async_script(RUN_AXE)]
    wide = "return document.documentElement.scrollWidth > document.documentElement.clientWidth"
    if driver.execute_script(wide):
        problems.append(f"{path} {width}: wider than the window")


def wait_for(driver, condition):  # noqa: F811
    from selenium.webdriver.support.ui import WebDriverWait

    WebDriverWait(driver, PATIENCE).until(condition)


def log_in(driver, site, login, password):  # noqa: F811
    driver.delete_all_cookies()
    open_page(driver, f"{site.address}/login", 1280)
    driver.find_element("id", "login").send_keys(login)
    driver.find_element("id", "password").send_keys(password)
    driver.find_element("css selector", "main button").click()
    wait_for(driver, lambda page: not page.current_url.endswith("/login"))


def test_the_screens_of_a_team(driver, axe, tmp_path):  # noqa: F811
    driver.set_script_timeout(60)
    site, who, team = marked(tmp_path)
    problems = []
    with site.serving():
        run = submit(site, who, team)
        log_in(driver, site, "ann", PASSWORD)
        for path in ("/tiny/submit", f"/tiny/runs/{run}", "/tiny/team"):
            for width in (1280, 390):
                look(driver, axe, site, path, problems, width)
    assert problems == []


def test_a_large_file_is_sent_with_its_progress_and_ends_at_the_receipt(driver, site, tmp_path):  # noqa: F811
    file = tmp_path / "large.run"
    text = run_text()
    lines = text.splitlines()
    file.write_text("\n".join(f"{line}{' ' * 50_000}" for line in lines) + "\n")
    log_in(driver, site, "ann", PASSWORD)
    open_page(driver, f"{site.address}/tiny/submit", 1280)
    driver.find_element("id", "file").send_keys(str(file))
    driver.find_element("id", "tag").send_keys("large")
    driver.find_element("id", "description").send_keys("words")
    options = driver.find_elements("css selector", "#task option")
    next(o for o in options if o.text == "Retrieval").click()
    driver.find_element("css selector", "button[value=submit]").click()
    ends = ("Keep this receipt", "Not accepted")
    wait_for(driver, lambda page: any(end in page.page_source for end in ends))
    assert "Keep this receipt" in driver.page_source
