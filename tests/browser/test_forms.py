"""Forms in a browser: by keyboard alone, from disk, without a network."""

from __future__ import annotations

import json
import random
import shutil

import pytest

from cranfield.campaign.annotation_task import make_sheet
from cranfield.campaign.forms import NONE, Form, ontology_form
from cranfield.campaign.responses import read_forms
from cranfield.cli import main
from cranfield.io.samples import SAMPLE
from cranfield.ontologies import built_in
from cranfield.site.work_pages import sheet_page

PHOTOS = SAMPLE.parent / "photos"
# What an annotator types for one photograph: the five tabs, then save.
TYPED = ["w", "u", "o", "a", "2", "d", "3", "e", "s", "4", "r", "5", "r"]


@pytest.fixture(scope="module")
def form_file(tmp_path_factory):
    target = tmp_path_factory.mktemp("forms") / "form.html"
    asked = ["form", "make", "pto-2009", "--pictures", str(PHOTOS / "pictures")]
    assert main([*asked, "--first", "10", "--title", "Photos", "-o", str(target), "--quiet"]) == 0
    return target


class Annotator:
    """Somebody with a keyboard and nothing else."""

    def __init__(self, page):
        from selenium.webdriver.common.action_chains import ActionChains
        from selenium.webdriver.common.keys import Keys

        self.page, self.keys, self._chains = page, Keys, ActionChains

    def type(self, *keys):
        self._chains(self.page.driver).send_keys(*keys).perform()

    def begin(self, name):
        self.page.js("document.getElementById('who').focus()")
        self.type(name, self.keys.ENTER)

    def progress(self):
        return self.page.js("return document.getElementById('progress').textContent")

    def problems(self):
        return self.page.js("return document.getElementById('problems').textContent")

    def saved(self, tmp_path, name="answers.json"):
        """The file that the page gives away, caught before it is downloaded."""
        text = self.page.js(
            """let found; const old = URL.createObjectURL;
            URL.createObjectURL = (blob) => { found = blob; return old(blob); };
            HTMLAnchorElement.prototype.click = () => {};
            document.getElementById("take").click();
            URL.createObjectURL = old; return found.text();"""
        )
        file = tmp_path / name
        file.write_text(text)
        return file


@pytest.fixture
def annotator(open_page, form_file, tmp_path):
    """At a page of their own: what was saved on another is not there."""
    return Annotator(open_page(shutil.copy(form_file, tmp_path / "own.html")))


def test_ten_photographs_by_keyboard_alone(annotator, tmp_path):
    page = annotator.page
    # To the name by the tabulator, as nobody without a mouse could do otherwise.
    for _ in range(12):
        annotator.type(annotator.keys.TAB)
        if page.js("return document.activeElement.id") == "who":
            break
    annotator.type("ann", annotator.keys.ENTER)
    for number in range(1, 11):
        assert annotator.progress().startswith(f"{number} of 10")
        annotator.type(*TYPED, " ")
    assert annotator.progress() == "10 of 10 answered"
    found = read_forms([annotator.saved(tmp_path)])
    assert found.forms == 10
    assert len(found.log) == 530
    rows = {r[2]: r[3] for r in found.log.rows() if r[1] == "astronaut_00"}
    chosen = {c for c, v in rows.items() if v == "1"}
    assert chosen == {
        "Summer",
        "Outdoor",
        "Day",
        "Partylife",
        "Plants",
        "Trees",
        "Neutral_Illumination",
        "Still_Life",
        "No_Blur",
        "No_Persons",
    }
    assert page.logged() == []
    assert page.requests() == []


def test_a_form_with_an_empty_group_is_refused_and_focus_moves(annotator):
    annotator.begin("ann")
    annotator.type("w", "u", "o", "3", "e", "4", "r", " ")
    assert annotator.problems() == (
        'Nothing stored:"How many persons does it show?" needs exactly one answer'
    )
    active = annotator.page.js("return [document.activeElement.name, document.activeElement.type]")
    assert active == ["Single_Person", "radio"]
    assert annotator.progress() == "1 of 10; 0 answered"
    annotator.type("r", " ")
    assert annotator.progress() == "2 of 10; 1 answered"
    assert annotator.problems() == ""


def test_a_reload_loses_nothing(annotator):
    annotator.begin("ann")
    annotator.type(*TYPED, " ")
    annotator.type("q", "/")
    annotator.type("why?")
    annotator.page.driver.refresh()
    assert annotator.progress() == "2 of 10; 1 answered"
    state = annotator.page.js(
        "return [document.querySelector('[value=Spring]').checked,"
        "document.querySelector('form[data-form]').elements.comment.value]"
    )
    assert state == [True, "why?"]


def test_each_action_by_key_and_by_click_gives_equal_rows(
    annotator, open_page, form_file, tmp_path
):
    """Save, skip, cannot tell, later, back, tabs, ticks and comment, both ways."""

    def by_key():
        annotator.type(*TYPED, " ")
        annotator.type(".")
        annotator.type("0")
        annotator.type(",")
        annotator.type("/")
        annotator.type("odd", annotator.keys.ESCAPE)
        annotator.type(*TYPED, " ")
        annotator.type(annotator.keys.BACKSPACE)
        annotator.type("1", "q", " ")

    def click(*selectors):
        for selector in selectors:
            annotator.page.js("document.querySelector(arguments[0]).click()", selector)

    def by_click():
        tick = "form[data-form]:not([hidden]) .tab:not([hidden]) [data-key='{}']"
        tab = "form[data-form]:not([hidden]) [data-tab='{}']"
        form = [tab.format(k) if k.isdigit() else tick.format(k) for k in TYPED]
        do = "form[data-form]:not([hidden]) [data-action={}]"
        click(*form, do.format("save"), do.format("skip"), do.format("cannot"), do.format("later"))
        annotator.page.js(
            """const c = document.querySelector("form[data-form]:not([hidden])").elements.comment;
            c.value = "odd"; c.dispatchEvent(new Event("input", {bubbles: true}));"""
        )
        click(*form, do.format("save"), do.format("back"))
        click(tab.format("1"), tick.format("q"), do.format("save"))

    logs = []
    for number, act in enumerate((by_key, by_click)):
        annotator.page = open_page(shutil.copy(form_file, tmp_path / f"{number}.html"))
        annotator.begin("ann")
        act()
        said = json.loads(annotator.saved(tmp_path, f"{number}.json").read_text())
        for filled in said["filled"]:
            assert filled.pop("seconds") >= 0
        logs.append(said)
    assert logs[0] == logs[1]
    states = [filled["state"] for filled in logs[0]["filled"]]
    assert states == ["done", "skipped", "cannot tell", "done"]
    assert logs[0]["filled"][3]["comment"] == "odd"
    assert logs[0]["filled"][3]["answers"]["Spring"] == ["Spring"]


@pytest.mark.parametrize("width", [1280, 390])
def test_nothing_to_complain_about_at_any_width(
    annotator, open_page, form_file, axe, width, tmp_path
):
    page = annotator.page = open_page(shutil.copy(form_file, tmp_path / "w.html"), width=width)

    def violations():
        page.js(axe)
        found = page.driver.execute_async_script("axe.run().then(arguments[arguments.length - 1])")[
            "violations"
        ]
        return [(v["id"], [n["html"] for n in v["nodes"]][:2]) for v in found]

    assert violations() == []
    annotator.begin("ann")
    annotator.type("w")
    assert violations() == []
    annotator.type(" ")
    assert violations() == []
    annotator.type("?")
    assert page.js("return document.getElementById('guidelines').open")
    assert page.js("return document.documentElement.scrollWidth") <= width
    assert page.logged() == []


def test_the_page_refuses_what_the_library_refuses(open_page, tmp_path):
    """The same answers to the script's check and to the library's: the same problems."""
    forms = [ontology_form(built_in("pto-2009-listed")), make_sheet(SAMPLE).forms["form"]]
    forms.append(ontology_form(built_in("pto-2010-listed"), below="Vehicle"))
    draw = random.Random(5)
    target = tmp_path / "digits.html"
    target.write_text(sheet_page(make_sheet(SAMPLE, first=1)))
    page = open_page(target)
    for form in forms:
        asked = [_ticked(form, draw) for _ in range(150)]
        expected = [[[p.question, p.message] for p in form.check(a)] for a in asked]
        found = page.js(
            """const check = document.getElementById("work").cranfield.check;
            const plain = (a) => check(arguments[0], a).map((p) => [p.question, p.message]);
            return arguments[1].map(plain);""",
            form.to_dict(),
            asked,
        )
        assert found == expected
        assert any(expected)


def _ticked(form: Form, draw: random.Random) -> dict[str, list[str]]:
    answers = {}
    for q in form.questions():
        values = [*q.values, *([NONE] if q.none else [])]
        count = 1 if q.kind == "one" else draw.choice([0, 0, 1, 2])
        ticked = draw.sample(values, min(count, len(values)))
        if ticked and draw.random() < 0.97:
            answers[q.name] = ticked
    return answers


def test_names_that_are_markup_stay_text(open_page, tmp_path):
    (tmp_path / "o.csv").write_text('concept,path\n"<b>x</b>","A.<b>x</b>"\n"\'""y","A.y"\n')
    (tmp_path / "items.txt").write_text("</script><script>alert(1)</script>\n\"'&\n")
    target = tmp_path / "odd.html"
    source, items = str(tmp_path / "o.csv"), str(tmp_path / "items.txt")
    assert main(["form", "make", source, "--items", items, "-o", str(target), "--quiet"]) == 0
    page = open_page(target)
    assert page.js("return document.scripts.length") == 1
    assert page.logged() == []
