"""The documentation in a browser: it opens from disk, asks nobody, and its search works there."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ("index.md", "tutorial.md", "how-to/charts.md", "how-to/notebook.md", "explanation/ties.md")


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Some of the pages, with the theme, the hooks and the settings of all."""
    pytest.importorskip("mkdocs")
    folder = tmp_path_factory.mktemp("docs")
    shutil.copytree(ROOT / "docs" / "theme", folder / "docs" / "theme")
    for name in PAGES:
        (folder / "docs" / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / "docs" / name, folder / "docs" / name)
    settings = (ROOT / "mkdocs.yml").read_text().split("validation:")[0]
    nav = "".join(f"  - {name}\n" for name in PAGES[:2])
    nav += "  - How to:\n" + "".join(f"      - {name}\n" for name in PAGES[2:4])
    nav += f"  - Explanation:\n      - {PAGES[4]}\n"
    settings = settings.replace("strict: true", "strict: false")
    (folder / "mkdocs.yml").write_text(f"{settings}exclude_docs: theme/\nnav:\n{nav}")
    command = [sys.executable, "-m", "mkdocs", "build", "--quiet"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert "end of life" not in done.stdout + done.stderr
    return folder / "site"


def searched(page, text):
    """Type into the search and tell what is listed: (heading, address)."""
    from selenium.webdriver.support.ui import WebDriverWait

    box = page.driver.find_element("id", "search")
    box.clear()
    box.send_keys(text)
    shown = "return document.documentElement.dataset.searched === arguments[0]"
    WebDriverWait(page.driver, 20).until(lambda _: page.js(shown, text))
    return page.js(
        """return [...document.querySelectorAll('#found a')].map(
        (a) => [a.querySelector('b').textContent, a.href])"""
    )


@pytest.mark.parametrize("start", ["index.html", "how-to/charts.html"])
def test_the_search_works_from_disk(open_page, site, start):
    page = open_page(site / start)
    found = searched(page, "tables latex")
    assert found[0][0] == "Tables for LaTeX – Draw a chart for a paper"
    assert found[0][1] == f"{(site / 'how-to/charts.html').as_uri()}#tables-for-latex"
    # The beginning of a word is enough, accents and case do not matter; all words must occur.
    assert any(address.endswith("explanation/ties.html") for _, address in searched(page, "TIE"))
    assert searched(page, "tables xylophone") == []
    assert page.js("return document.getElementById('found').textContent") == "Nothing found."
    assert not [a for a in page.requests() if not a.startswith("file:")]
    # Pictures are made when all pages are built; they are not part of these few.
    assert [said for said in page.logged() if "/images/" not in said] == []


def test_the_keyboard_is_enough(open_page, site):
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait

    page = open_page(site / "index.html")
    page.driver.find_element("tag name", "body").send_keys("/")
    assert page.js("return document.activeElement.id") == "search"
    searched(page, "rankings graphs")
    page.driver.find_element("id", "search").send_keys(Keys.ARROW_DOWN, Keys.ENTER)
    WebDriverWait(page.driver, 20).until(lambda d: d.current_url.endswith("#graphs-of-rankings"))


@pytest.mark.parametrize(
    "name, width, dark",
    [
        ("index.html", 390, True),
        ("how-to/charts.html", 1280, False),
        ("how-to/notebook.html", 1280, True),
        ("how-to/notebook.html", 390, False),
    ],
)
def test_pages_fit_and_can_be_read(open_page, site, axe, name, width, dark):
    page = open_page(site / name, width=width, dark=dark)
    assert page.js("return document.documentElement.scrollWidth") <= width
    page.js(axe)
    found = page.driver.execute_async_script(
        "const done = arguments[0]; axe.run().then((r) => done(r.violations.map((v) => v.id)))"
    )
    assert found == []


def test_a_table_that_goes_on_beyond_the_edge_says_so(open_page, site):
    from selenium.webdriver.support.ui import WebDriverWait

    page = open_page(site / "how-to/notebook.html", width=390)
    fading = """return [...document.querySelectorAll(".scroll")].map((box) =>
        [box.scrollWidth > box.clientWidth + 2, box.classList.contains("more")])"""
    WebDriverWait(page.driver, 10).until(lambda _: [True, True] in page.js(fading))
    assert all(wide == fades for wide, fades in page.js(fading))
