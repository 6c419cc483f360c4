"""Forms in a browser: by keyboard alone, from disk, without a network."""

from __future__ import annotations

import json
import random
import shutil

import pytest

from cranfield.campaign.annotation_task import make_sheet
from cranfield.campaign.forms import NONE, Form, ontology_form
from cranfield.campaign.responses import read_forms
from cranfield.campaign.surveys.making import count_survey
from cranfield.cli import main
from cranfield.errors import UsageError
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
    # The second tab was not opened: what it asks about is not absent, and Space shows it.
    annotator.type("r", " ")
    assert annotator.progress() == "1 of 10; 0 answered"
    assert "was not looked at yet" in annotator.problems()
    opened = "return document.querySelector('form[data-form] .tab:not([hidden])').dataset.part"
    parts = []
    for _ in range(12):
        if annotator.progress() != "1 of 10; 0 answered":
            break
        parts.append(annotator.page.js(opened))
        annotator.type(" ")
    assert "2" in parts
    assert annotator.progress() == "2 of 10; 1 answered"
    assert annotator.problems() == ""


def test_zoom_pan_and_undo_by_keyboard(annotator):
    annotator.begin("ann")
    shape = "return document.querySelector('[data-unit]:not([hidden]) .frame img').style.transform"
    annotator.type("+", "+")
    assert annotator.page.js(shape).endswith("scale(1.5625)")
    before = annotator.page.js(shape)
    chain = annotator._chains(annotator.page.driver)
    keys = annotator.keys
    chain.key_down(keys.SHIFT).send_keys(keys.ARROW_RIGHT).key_up(keys.SHIFT).perform()
    assert annotator.page.js(shape) != before
    annotator.type("-", "-", "-")
    assert annotator.page.js(shape) == "translate(0px, 0px) scale(1)"
    ticked = "return [...document.querySelectorAll('form[data-form] :checked')].map((i) => i.value)"
    annotator.type("w", "q")
    assert annotator.page.js(ticked) == ["Spring"]
    chain = annotator._chains(annotator.page.driver)
    chain.key_down(keys.CONTROL).send_keys("z").key_up(keys.CONTROL).perform()
    assert annotator.page.js(ticked) == ["Summer"]


def test_keys_of_ones_own_and_none_of_these(annotator):
    page = annotator.page
    annotator.begin("ann")
    ticked = "return [...document.querySelectorAll('form[data-form] :checked')].map((i) => i.value)"
    press = """document.getElementById("keymap").open = true;
        const cap = document.querySelector("#keylist [data-cap='w']").parentElement;
        cap.focus(); cap.click();"""
    page.js(press)
    annotator.type("#")
    assert page.js("return document.querySelector('.option [data-cap=w]').textContent") == "#"
    annotator.type("w")
    assert page.js(ticked) == []
    annotator.type("#")
    assert page.js(ticked) == ["Summer"]
    # For the next question without an answer, in their order.
    annotator.type(";", ";")
    assert page.js(ticked) == ["none", "none", "Summer"]
    annotator.type("a")
    assert page.js(ticked) == ["Partylife", "none", "Summer"]
    page.js("document.getElementById('keyreset').click()")
    annotator.type("q", "w")
    assert "Summer" in page.js(ticked)


def test_guidelines_with_pictures_open_beside_the_item(open_page, tmp_path):
    shutil.copy(PHOTOS / "pictures" / "coffee_00.jpg", tmp_path / "cup.jpg")
    (tmp_path / "guide.txt").write_text("Look twice.\n![A cup](cup.jpg)\nThen tick.\n")
    target = tmp_path / "g.html"
    target.write_text(sheet_page(make_sheet(SAMPLE, first=2, guidelines=tmp_path / "guide.txt")))
    annotator = Annotator(open_page(target))
    annotator.begin("ann")
    annotator.type("?")
    shown = annotator.page.js(
        """const box = (e) => e.getBoundingClientRect();
        const picture = document.querySelector("#guidelines img");
        return [picture.naturalWidth, picture.alt, document.querySelector("#guidelines").innerText,
        box(picture).right <= box(document.querySelector(".unit .frame")).left];"""
    )
    assert shown[0] > 0
    assert shown[1] == "A cup"
    assert shown[3]
    assert "Look twice." in shown[2]
    assert "Then tick." in shown[2]
    (tmp_path / "guide.txt").write_text("![Away](none.jpg)")
    with pytest.raises(UsageError, match=r"none\.jpg"):
        make_sheet(SAMPLE, guidelines=tmp_path / "guide.txt")


def test_twenty_items_by_touch_on_a_phone(open_page, tmp_path):
    target = tmp_path / "phone.html"
    target.write_text(sheet_page(make_sheet(SAMPLE, first=20)))
    annotator = Annotator(open_page(target, width=390))
    from selenium.webdriver.common.actions.action_builder import ActionBuilder
    from selenium.webdriver.common.actions.pointer_input import PointerInput

    page = annotator.page
    page.js("document.getElementById('who').value = 'ann'; about.querySelector('button').click()")
    page.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": True})

    def touch(selector):
        x, y, hit = page.js(
            """const shown = [...document.querySelectorAll(arguments[0])];
            const target = shown.find((e) => e.offsetParent);
            target.scrollIntoView({ block: "center" });
            const box = target.getBoundingClientRect();
            const x = box.left + box.width / 2, y = box.top + box.height / 2;
            return [x, y, target.contains(document.elementFromPoint(x, y))];""",
            selector,
        )
        assert hit, selector
        finger = ActionBuilder(page.driver, mouse=PointerInput("touch", "finger"), duration=20)
        finger.pointer_action.move_to_location(round(x), round(y)).pointer_down().pointer_up()
        finger.perform()

    try:
        for number in range(1, 21):
            touch("[value=Zero]")
            touch("[value=HasLoop]")
            touch("[data-action=save]")
            # What was not in view yet is scrolled to, and the next touch saves.
            if annotator.progress().startswith(f"{number} of 20;"):
                assert "not looked at yet" in annotator.problems()
                touch("[data-action=save]")
        assert annotator.progress() == "20 of 20 answered"
        assert page.js("return document.querySelector('kbd').offsetParent === null")
    finally:
        page.driver.execute_cdp_cmd("Emulation.setTouchEmulationEnabled", {"enabled": False})
    log = read_forms([annotator.saved(tmp_path)]).log
    assert {r[2] for r in log.rows() if r[3] == "1"} == {"Zero", "Even", "HasLoop"}


def played_survey(open_page, tmp_path, *arguments):
    """The page of a survey, at its first unit."""
    folder = tmp_path / "s"
    assert main(["truth", "survey", *arguments, "-o", str(folder), "--quiet"]) == 0
    annotator = Annotator(open_page(folder / "survey.html"))
    annotator.begin("ann")
    return annotator, folder / "key.json"


DRAG = """const centre = (e) => { const b = e.getBoundingClientRect();
      return { clientX: b.left + b.width / 2, clientY: b.top + b.height / 2 }; };
    const card = document.querySelector(`[data-card='${arguments[0]}']`);
    const target = document.querySelector(arguments[1]);
    target.scrollIntoView({ block: "center" });
    const fire = (on, type, at) => on.dispatchEvent(
      new PointerEvent(type, { bubbles: true, cancelable: true, button: 0, ...at }));
    fire(card, "pointerdown", centre(card));
    fire(document, "pointermove", centre(target));
    const to = centre(target);
    fire(document, "pointerup", to);"""


def test_cards_are_dragged_and_moved_by_keys(open_page, tmp_path, axe):
    items = tmp_path / "items.txt"
    items.write_text("coffee_00\ncoffee_01\ngrass_00\ngrass_01\n")
    annotator, key = played_survey(
        open_page,
        tmp_path,
        "grouping",
        "--items",
        str(items),
        "--pictures",
        str(PHOTOS / "pictures"),
    )
    page, cards = annotator.page, json.loads(key.read_text())["cards"]
    card_of = {item: card for card, item in cards.items()}
    page.js(DRAG, card_of["coffee_00"], "[data-box='1'] p")
    page.js(DRAG, card_of["grass_00"], "[data-box='2'] p")
    for item, group in (("coffee_01", "1"), ("grass_01", "2")):
        page.js(f"document.querySelector(\"[data-card='{card_of[item]}']\").focus()")
        annotator.type(group)
    inside = """return [...document.querySelectorAll("[data-box='2'] [data-card]")]
        .map((e) => e.dataset.card).sort()"""
    assert page.js(inside) == sorted((card_of["grass_00"], card_of["grass_01"]))
    assert page.js("return document.querySelector('.box [data-card] img').naturalWidth") > 0
    page.js(axe)
    run = "axe.run().then((found) => arguments[0](found.violations.map((v) => v.id)))"
    assert page.driver.execute_async_script(run) == []
    page.js("document.querySelector('textarea').value = 'cups\\nlawn'")
    page.js("document.activeElement.blur()")
    annotator.type(" ")
    assert annotator.progress() == "1 of 1 answered", annotator.problems()
    counted = count_survey(key, [annotator.saved(tmp_path)])
    assert sorted(counted.rows) == [
        ("ann", "coffee_00", "cups"),
        ("ann", "coffee_01", "cups"),
        ("ann", "grass_00", "lawn"),
        ("ann", "grass_01", "lawn"),
    ]


def test_concepts_are_put_below_each_other_and_lists_are_ranked(open_page, tmp_path):
    concepts = tmp_path / "v.txt"
    concepts.write_text("Water\nSea\nSky\n")
    annotator, key = played_survey(open_page, tmp_path, "hierarchy", str(concepts))
    page = annotator.page
    page.js(DRAG, "Water", "[data-box=top] p")
    page.js(DRAG, "Sea", "[data-card=Water] label")
    page.js("document.querySelector('[data-card=Sky]').focus()")
    annotator.type(annotator.keys.ARROW_LEFT)
    # Below the one before it, then up again.
    annotator.type(annotator.keys.ARROW_RIGHT)
    below = "return document.querySelector('[data-card=Water] [data-card=Sky]') !== null"
    assert page.js(below)
    annotator.type(annotator.keys.ARROW_LEFT)
    assert not page.js(below)
    annotator.type(" ")
    assert annotator.progress() == "1 of 1 answered", annotator.problems()
    rows = count_survey(key, [annotator.saved(tmp_path)]).rows
    assert sorted(rows) == [
        ("ann", "Sea", "Water"),
        ("ann", "Sky", "Sky"),
        ("ann", "Water", "Water"),
    ]


def test_a_form_of_few_concepts_has_all_questions_open_and_takes_three_keys(open_page, tmp_path):
    target = tmp_path / "digits.html"
    target.write_text(sheet_page(make_sheet(SAMPLE, first=3)))
    annotator = Annotator(open_page(target))
    annotator.begin("ann")
    assert annotator.page.js("return document.querySelectorAll('.tab[hidden]').length") == 0
    annotator.type("e", "a", " ")
    assert annotator.progress() == "2 of 3; 1 answered"


def test_query_and_item_are_both_in_view_on_a_phone(open_page, tmp_path):
    run = tmp_path / "a.run"
    run.write_text("zero-1 Q0 d0001 1 2 a\nzero-1 Q0 d0002 2 1 a\n")
    assert main(["truth", "survey", "rankings", str(run), "--collection", str(SAMPLE),
                 "-o", str(tmp_path / "s"), "--quiet"]) == 0  # fmt: skip
    annotator = Annotator(open_page(tmp_path / "s" / "survey.html", width=390))
    annotator.begin("ann")
    boxes = annotator.page.js(
        """const shown = "[data-unit]:not([hidden]) img, form:not([hidden]) .option";
        return [...document.querySelectorAll(shown)]
        .map((e) => { const b = e.getBoundingClientRect(); return [b.top, b.bottom]; })"""
    )
    assert len(boxes) == 7
    # Both pictures whole, and the first grade below them.
    assert all(0 <= top < bottom <= 900 for top, bottom in boxes[:3])


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


@pytest.fixture
def animals(tmp_path):
    ontology = tmp_path / "animals.csv"
    ontology.write_text("concept,path\nDog,Animals.Dog\nCat,Animals.Cat\nPerson,Person\n")
    return ontology


DRAW = """const ends = [...arguments];
    const frame = document.querySelector("[data-unit]:not([hidden]) .frame");
    const image = frame.querySelector("img"), box = frame.getBoundingClientRect();
    const scale = Math.min(box.width / image.naturalWidth, box.height / image.naturalHeight);
    const left = box.left + (box.width - scale * image.naturalWidth) / 2;
    const top = box.top + (box.height - scale * image.naturalHeight) / 2;
    const at = (start, n) => Math.round(start + n * scale);
    return ends.map(([x, y]) => [at(left, x), at(top, y), scale]);"""


def draw(page, pointer, *ends):
    """Press at the first place of the picture (in its pixels), move over the others, let go."""
    from selenium.webdriver.common.actions.action_builder import ActionBuilder
    from selenium.webdriver.common.actions.pointer_input import PointerInput

    places = page.js(DRAW, *ends)
    hand = ActionBuilder(page.driver, mouse=PointerInput(pointer, f"{pointer}-hand"), duration=20)
    hand.pointer_action.move_to_location(*places[0][:2]).pointer_down()
    for place in places[1:]:
        hand.pointer_action.move_to_location(*place[:2])
    hand.pointer_action.pointer_up()
    hand.perform()
    return 1 / places[0][2]


def marks(page):
    text = "return [...document.querySelectorAll('form:not([hidden]) [data-mark] input')]"
    boxes = []
    for value in page.js(text + ".map((i) => i.value)"):
        label, _, place = value.partition("=")
        boxes.append((label, [float(n) for n in place.split("@")[0].split(",")]))
    return boxes


@pytest.mark.parametrize(("pointer", "width"), [("mouse", 1280), ("touch", 390)])
def test_boxes_are_drawn_moved_and_sized(open_page, animals, tmp_path, axe, pointer, width):
    target = tmp_path / "boxes.html"
    target.write_text(sheet_page(make_sheet(animals, pictures=PHOTOS / "pictures", marks="boxes")))
    annotator = Annotator(open_page(target, width=width))
    page, keys = annotator.page, annotator.keys
    annotator.begin("ann")
    annotator.type(" ")
    assert "needs boxes of all that there is, or that there is none" in annotator.problems()
    annotator.type("s")
    # A pixel of the screen is so many of the picture, which is as exact as a hand can be.
    pixel = draw(page, pointer, (10, 20), (40, 50), (70, 60))
    ((label, box),) = marks(page)
    assert label == "Cat"
    assert box == pytest.approx([10, 20, 60, 40], abs=1.5 * pixel)
    draw(page, pointer, (30, 40), (35, 45), (40, 50))
    assert marks(page)[0][1] == pytest.approx([20, 30, 60, 40], abs=3 * pixel)
    draw(page, pointer, (80, 70), (85, 75), (90, 90))
    assert marks(page)[0][1] == pytest.approx([20, 30, 70, 60], abs=4 * pixel)
    # A touch that does not move draws nothing.
    draw(page, pointer, (5, 90))
    assert len(marks(page)) == 1
    chain = annotator._chains(page.driver)
    chain.key_down(keys.CONTROL).send_keys("z").key_up(keys.CONTROL).perform()
    assert marks(page)[0][1] == pytest.approx([20, 30, 60, 40], abs=3 * pixel)
    page.js(axe)
    found = page.driver.execute_async_script(
        "axe.run().then((r) => arguments[0](r.violations.map((v) => v.id + v.nodes[0].html)))"
    )
    assert found == []
    annotator.type(" ")
    assert annotator.progress().startswith("2 of ")
    assert marks(page) == []
    annotator.type(";", " ")
    annotator.type(keys.BACKSPACE, keys.BACKSPACE)
    assert len(marks(page)) == 1
    assert page.logged() == []


def test_boxes_by_keyboard_come_out_as_coco_and_voc_and_agree_by_overlap(
    open_page, animals, tmp_path, capsys
):
    coco = pytest.importorskip("pycocotools.coco", reason="pycocotools is not installed")
    target = tmp_path / "boxes.html"
    sheet = make_sheet(animals, pictures=PHOTOS / "pictures", marks="boxes", first=2)
    target.write_text(sheet_page(sheet))
    files, drawn = [], {}
    for name, moves in (("ann", 0), ("bob", 8)):
        own = shutil.copy(target, tmp_path / f"{name}.html")
        annotator = Annotator(open_page(own))
        page, keys = annotator.page, annotator.keys
        annotator.begin(name)
        annotator.type("a")
        page.js("document.querySelector('form:not([hidden]) [data-add]').focus()")
        annotator.type(keys.ENTER)
        # The mark has the focus: arrows move it, with Shift they change its size.
        annotator.type(*[keys.ARROW_RIGHT] * moves)
        chain = annotator._chains(page.driver).key_down(keys.SHIFT)
        chain.send_keys(keys.ARROW_DOWN, keys.ARROW_DOWN).key_up(keys.SHIFT).perform()
        drawn[name] = marks(page)[0]
        assert drawn[name][0] == "Dog"
        annotator.type(" ", ";", " ")
        assert annotator.progress() == "2 of 2 answered"
        files.append(annotator.saved(tmp_path, f"answers-{name}.json"))
    log = read_forms(files).log
    assert {r[:3] for r in log.rows() if r[3] == "1"} == {
        ("ann", sheet.units[0].name, "Dog"),
        ("bob", sheet.units[0].name, "Dog"),
    }
    consensus = tmp_path / "consensus.json"
    asked = ["truth", "regions", *map(str, files), "--iou", "0.3", "--format", "json"]
    assert main([*asked, "--consensus", str(consensus)]) == 0
    answer = json.loads(capsys.readouterr().out)
    (x, y, w, h), (x2, y2, w2, h2) = (box for _, box in drawn.values())
    assert x2 > x
    common = (min(x + w, x2 + w2) - max(x, x2)) * (min(y + h, y2 + h2) - max(y, y2))
    assert answer["overall"]["overlap"] == pytest.approx(common / (w * h + w2 * h2 - common))
    assert answer["overall"]["agreement"] == 1.0
    assert answer["items"] == 2
    one = tmp_path / "ann.json"
    assert main(["convert", str(files[0]), str(one), "--kind", "regions", "--quiet"]) == 0
    for file, box in ((one, [x, y, w, h]), (consensus, [(x + x2) / 2, y, w, h])):
        truth = coco.COCO(str(file))
        (annotation,) = truth.loadAnns(truth.getAnnIds())
        assert annotation["bbox"] == pytest.approx(box, abs=0.02)
        assert truth.loadCats(annotation["category_id"])[0]["name"] == "Dog"
        assert len(truth.getImgIds()) == 2
        (image,) = truth.loadImgs(annotation["image_id"])
        assert (image["width"], image["height"]) == (96, 96)
    assert main(["convert", str(files[0]), f"{tmp_path}/voc/", "--kind", "regions", "--quiet"]) == 0
    from xml.etree import ElementTree

    tree = ElementTree.parse(tmp_path / "voc" / f"{sheet.units[0].name}.xml")
    assert tree.findtext("object/name") == "Dog"
    assert tree.findtext("size/width") is not None


def test_points_are_set_by_touch_and_keys(open_page, animals, tmp_path):
    target = tmp_path / "points.html"
    sheet = make_sheet(animals, pictures=PHOTOS / "pictures", marks="points", first=1)
    target.write_text(sheet_page(sheet))
    annotator = Annotator(open_page(target))
    page, keys = annotator.page, annotator.keys
    annotator.begin("ann")
    annotator.type("d")
    pixel = draw(page, "mouse", (30, 40))
    annotator.type(keys.ARROW_LEFT)
    ((label, (x, y, w, h)),) = marks(page)
    assert (label, w, h) == ("Person", 0, 0)
    assert [x + 1, y] == pytest.approx([30, 40], abs=1.5 * pixel)
    draw(page, "mouse", (80, 80))
    assert len(marks(page)) == 2
    annotator.type(keys.DELETE)
    assert len(marks(page)) == 1
    annotator.type(" ")
    assert annotator.progress() == "1 of 1 answered"
    out = tmp_path / "points.json"
    file = annotator.saved(tmp_path)
    assert main(["convert", str(file), str(out), "--kind", "regions", "--quiet"]) == 0
    (annotation,) = json.loads(out.read_text())["annotations"]
    assert annotation["keypoints"] == [x, y, 2]


def test_segments_of_a_recording_are_marked_while_it_plays(open_page, animals, tmp_path):
    import wave

    folder = tmp_path / "sounds"
    folder.mkdir()
    for name in ("first", "second"):
        with wave.open(str(folder / f"{name}.wav"), "wb") as sound:
            sound.setnchannels(1)
            sound.setsampwidth(1)
            sound.setframerate(8000)
            sound.writeframes(bytes([128]) * 8000 * 4)
    target = tmp_path / "sounds.html"
    asked = ["truth", "form", "make", str(animals), "--recordings", str(folder)]
    assert main([*asked, "--marks", "segments", "-o", str(target), "--quiet"]) == 0
    annotator = Annotator(open_page(target))
    page = annotator.page
    annotator.begin("ann")
    annotator.type("a")
    press = """const player = document.querySelector("[data-unit]:not([hidden]) audio");
    const done = arguments[2];
    player.addEventListener("seeked", () => {
        document.querySelector(`form:not([hidden]) [data-${arguments[1]}]`).click(); done(); },
        { once: true });
    player.currentTime = arguments[0];"""
    for time, button in ((0.5, "from"), (1.25, "add"), (1.0, "add"), (2.5, "from"), (3.0, "add")):
        page.driver.execute_async_script(press, time, button)
    assert [value for _, value in marks(page)] == [[0.5, 1.25], [2.5, 3.0]]
    assert page.js("return document.querySelector('.where').textContent") == "0.5 to 1.25 s"
    annotator.type(" ", ";", " ")
    assert annotator.progress() == "2 of 2 answered"
    assert page.logged() == []
    found = read_forms([annotator.saved(tmp_path)])
    assert {r[1:3] for r in found.log.rows() if r[3] == "1"} == {("first", "Dog")}
    answers = json.loads((tmp_path / "answers.json").read_text())["filled"][0]["answers"]
    assert answers == {"shown": ["Dog=0.5,1.25".replace("0.5", "0.50"), "Dog=2.50,3.00"]}


def test_suggestions_stand_beside_the_options_and_are_taken_by_one_key(
    open_page, animals, tmp_path
):
    items = [f"{kind}_00" for kind in ("astronaut", "chelsea")]
    (tmp_path / "items.txt").write_text("\n".join(items) + "\n")
    (tmp_path / "run.csv").write_text(
        "item,Dog,Cat,Person\n" + "".join(f"{i},0.1,0.91,0.6\n" for i in items)
    )
    target = tmp_path / "s.html"
    asked = ["truth", "form", "make", str(animals), "--items", str(tmp_path / "items.txt")]
    asked += ["--pictures", str(PHOTOS / "pictures"), "--suggestions", str(tmp_path / "run.csv")]
    assert main([*asked, "-o", str(target), "--quiet"]) == 0
    annotator = Annotator(open_page(target))
    annotator.begin("ann")
    hints = "return [...document.querySelectorAll('form:not([hidden]) .suggestion')].map((s) => s"
    seen, ticked = [], []
    for _ in items:
        seen.append(annotator.page.js(f"{hints}.parentElement.innerText.replace(/\\s+/g, ' '))"))
        annotator.type("!")
        ticked.append(
            annotator.page.js(
                "return [...document.querySelectorAll('form:not([hidden]) :checked')]"
                ".map((i) => i.value)"
            )
        )
        annotator.type(*([] if ticked[-1] else [";", ";"]), " ")
    assert annotator.progress() == "2 of 2 answered"
    assert sorted(map(len, seen)) == [0, 2]
    at = seen.index(max(seen, key=len))
    assert [hint.split(" ", 1)[1] for hint in seen[at]] == [
        "Cat suggested 0.91",
        "Person suggested 0.60",
    ]
    assert ticked[at] == ["Cat", "Person"]
    assert ticked[1 - at] == []
    answer = read_forms([annotator.saved(tmp_path)])
    assert (answer.influence[0].concept, answer.influence[0].shown) == ("all", 3)
    assert answer.influence[0].followed_shown == 1.0
    assert answer.influence[0].followed_hidden == 1 / 3


@pytest.mark.parametrize("width", [1280, 390])
def test_searches_with_concepts_are_played_and_counted(open_page, tmp_path, capsys, axe, width):
    """Two people do what they are told; the table says what that was."""
    items = ["astronaut_00", "chelsea_00", "coffee_00", "rocket_00"]
    rows = ["0.1,0.2,0.9", "0.9,0.1,0.2", "0.2,0.9,0.1", "0.3,0.2,0.8"]
    run = tmp_path / "run.csv"
    run.write_text(
        "item,Cat,Cup,Person\n" + "".join(f"{i},{r}\n" for i, r in zip(items, rows, strict=True))
    )
    tasks = tmp_path / "tasks.csv"
    tasks.write_text(
        "task,text,items\ncat,Find a cat,chelsea_00\n"
        "space,Find space travel,astronaut_00 rocket_00\n"
    )
    asked = ["truth", "survey", "search", str(run), str(tasks), "--pictures"]
    folder = tmp_path / "s"
    assert main([*asked, str(PHOTOS / "pictures"), "-o", str(folder), "--quiet"]) == 0
    key = json.loads((folder / "key.json").read_text())
    # What each person does for a task: steps, then how content they are.
    told = {
        "ann": {"cat": (["+Cat", "!chelsea_00"], 5), "space": (["+Person", "!astronaut_00"], 2)},
        "bob": {
            "cat": (["+Cup", "!coffee_00", "-Cup", "+Cat", "!coffee_00", "!chelsea_00"], 4),
            "space": (["+Person", "!rocket_00", "!astronaut_00"], 3),
        },
    }
    number_of = {item: number for number, item in key["names"].items()}
    files = []
    for person, plans in told.items():
        own = shutil.copy(folder / "survey.html", tmp_path / f"{person}.html")
        annotator = Annotator(open_page(own, width=width))
        page = annotator.page
        annotator.begin(person)
        annotator.type(" ")
        assert "needs an item that was found" in annotator.problems()
        for unit in key["units"]:
            steps, content = plans[key["items"][unit]]
            for step in steps:
                if step[0] == "!":
                    # A person sees it only among the hits of the concepts.
                    hit = f"[data-hit={number_of[step[1:]]}]"
                    assert page.js("return document.querySelector(arguments[0]).offsetParent", hit)
                    page.js("document.querySelector(arguments[0]).click()", hit)
                else:
                    page.js(
                        "document.querySelector(`[data-concept][value=${arguments[0]}]`).click()",
                        step[1:],
                    )
            if unit == key["units"][0] and person == "ann":
                first = page.js("return document.querySelector('.hits button').dataset.hit")
                assert first == number_of[steps[-1][1:]]
                page.js(axe)
                found = page.driver.execute_async_script(
                    "axe.run().then((r) => arguments[0](r.violations.map((v) => v.id)))"
                )
                assert found == []
            page.js("document.activeElement.blur()")
            annotator.type(str(content), " ")
            if annotator.problems():
                annotator.type(" ")
        assert annotator.progress() == "2 of 2 answered"
        assert page.logged() == []
        files.append(str(annotator.saved(tmp_path, f"{person}.json")))
    capsys.readouterr()
    count = ["truth", "survey", "count", str(folder / "key.json"), *files, "--format", "json"]
    assert main(count) == 0
    table = {(r["subject"], r["task"]): r for r in json.loads(capsys.readouterr().out)["rows"]}
    names = ("queries", "found", "right", "precision", "recall", "satisfaction", "items")
    assert {k: tuple(r[n] for n in names) for k, r in table.items()} == {
        ("ann", "cat"): (1, 1, 1, 1.0, 1.0, 5, "chelsea_00"),
        ("ann", "space"): (1, 1, 1, 1.0, 0.5, 2, "astronaut_00"),
        # The cup was found, and put back.
        ("bob", "cat"): (3, 1, 1, 1.0, 1.0, 4, "chelsea_00"),
        ("bob", "space"): (1, 2, 2, 1.0, 1.0, 3, "rocket_00 astronaut_00"),
    }
    assert all(0 <= r["first"] <= r["seconds"] for r in table.values())


def test_a_form_of_ten_concepts_takes_at_most_four_keys_an_item(open_page, tmp_path):
    """Twenty items of a multi-label truth, typed as they are: every key is counted."""
    concepts = ["Sky", "Sea", "Dog", "Cat", "Person", "Car", "Tree", "House", "Food", "Night"]
    ontology = tmp_path / "ten.csv"
    ontology.write_text("concept,path\n" + "".join(f"{c},{c}\n" for c in concepts))
    items = [f"item{k:02d}" for k in range(20)]
    (tmp_path / "items.txt").write_text("\n".join(items) + "\n")
    sheet = make_sheet(ontology, items=tmp_path / "items.txt")
    target = tmp_path / "ten.html"
    target.write_text(sheet_page(sheet))
    key_of = {o.value: o.key for q in sheet.forms["form"].questions() for o in q.options}
    draw = random.Random(4)
    # 2.6 concepts an item, as the photographs of NUS-WIDE and Flickr have at most.
    truth = {item: draw.sample(concepts, draw.choice([1, 2, 3, 3, 4])) for item in items}
    annotator = Annotator(open_page(target))
    annotator.begin("ann")
    typed = 0
    for item in items:
        keys = [*(key_of[c] for c in truth[item]), " "]
        annotator.type(*keys)
        typed += len(keys)
    assert annotator.progress() == "20 of 20 answered"
    assert typed / len(items) <= 4
    log = read_forms([annotator.saved(tmp_path)]).log
    chosen = {(r[1], r[2]) for r in log.rows() if r[3] == "1"}
    assert chosen == {(item, c) for item, present in truth.items() for c in present}
