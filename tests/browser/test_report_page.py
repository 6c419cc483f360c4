"""The report in a browser: it works from disk, alone, and shows what the JSON says."""

import json

import pytest

from cranfield.cli import main
from cranfield.io.collection import read_collection
from cranfield.io.samples import SAMPLE
from cranfield.options import DEFAULT_THRESHOLD
from cranfield.report.demo import LABEL_MEASURES, MEASURES

NASTY = "<script>alert(1)</script>"
LONG = "x" * 5000


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    target = tmp_path_factory.mktemp("demo") / "report.html"
    assert main(["demo", "-o", str(target)]) == 0
    return target


def answer(capsys, *args):
    capsys.readouterr()
    assert main([*args, "--format", "json", "--quiet"]) == 0
    return json.loads(capsys.readouterr().out)


def ranked(*more):
    files = [str(path) for path in read_collection(SAMPLE).runs]
    return [
        "eval",
        str(SAMPLE / "qrels.txt.gz"),
        *files,
        "-m",
        MEASURES,
        "--collection-size",
        "1120",
        *more,
    ]


def labelled(*more):
    collection = read_collection(SAMPLE)
    files = [str(path) for path in collection.label_runs]
    return [
        "label",
        str(collection.truth),
        *files,
        "-m",
        LABEL_MEASURES,
        "--ontology",
        str(collection.ontology),
        "--rules",
        str(collection.rules),
        "--threshold",
        str(DEFAULT_THRESHOLD),
        "--concepts",
        *more,
    ]


@pytest.mark.parametrize("width, dark", [(1280, False), (390, True)])
def test_nothing_is_logged_asked_for_or_cut_off(open_page, demo, width, dark):
    page = open_page(demo, width=width, dark=dark)
    assert page.logged() == []
    assert page.requests() == []
    assert page.js("return document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("dark", [False, True])
def test_axe_finds_nothing(open_page, demo, axe, dark):
    page = open_page(demo, dark=dark)
    page.driver.set_script_timeout(280)  # on a busy machine a look at the whole page takes long
    # Rows, topics and items are of one make each: the first few stand for all of them.
    page.js(
        "document.querySelectorAll('tbody, ul, ol, main, section, div, g').forEach((parent) => {"
        " const seen = {}; [...parent.children].forEach((child) => {"
        " const kind = child.tagName + '.' + (child.getAttribute('class') || '');"
        " seen[kind] = (seen[kind] || 0) + 1;"
        " if (seen[kind] > 8 && !child.querySelector('h1, h2')) child.remove(); }); })"
    )
    page.js("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    page.js(axe + "; window.axe = axe;")
    found = page.driver.execute_async_script(
        "const done = arguments[arguments.length - 1];"
        "axe.run(document, {resultTypes: ['violations']}).then((r) => done(r.violations.map("
        "(v) => [v.id, v.nodes.length, v.nodes[0].html.slice(0, 200)])));"
    )
    assert found == []


def test_the_leaderboard_equals_the_json_and_sorts(open_page, demo, capsys):
    said = answer(capsys, *ranked())
    page = open_page(demo)
    expected = {r["name"]: list(r["mean"].values()) for r in said["runs"]}
    assert {row[0]: row[1:-1] for row in page.table("means")} == expected
    heading = "//*[@id='part-1']//table[contains(@class,'means')]//button[text()='nDCG@10']"
    page.driver.find_element("xpath", heading).click()
    column = [row[2] for row in page.table("means")]
    assert column == sorted(column, reverse=True)
    page.driver.find_element("xpath", heading).click()
    assert [row[2] for row in page.table("means")] == sorted(column)


def test_baseline_and_measure_choose_what_compare_says(open_page, demo, capsys):
    said = answer(capsys, "compare", *ranked()[1:])
    pairs = {(p["a"], p["b"], p["measure"]): p for p in said["pairs"]}
    page = open_page(demo)
    for measure, label in (("AP", "MAP"), ("nDCG@10", "nDCG@10")):
        page.choose("Measure", label)
        page.choose("Baseline", "pixels")
        shown = page.table("baseline")
        assert len(shown) == 7
        for run, difference, low, high, p, corrected, stars in shown:
            if (run, "pixels", measure) in pairs:
                pair, sign = pairs[run, "pixels", measure], 1
            else:
                pair, sign = pairs["pixels", run, measure], -1
            assert difference == sign * pair["difference"]
            assert [low, high] == [sign * end for end in pair["ci"]][::sign]
            assert [p, corrected, stars] == [pair["p"], pair["p_corrected"], pair["stars"]]
        standings = {s["run"]: s for s in said["leaderboard"] if s["measure"] == measure}
        for run, mean, low, high, at, rank, spread, group in page.table("standings"):
            place = standings[run]
            first, last = place["rank_spread"]
            assert [mean, [low, high], at, rank, spread, group] == [
                place["mean"],
                place["ci"],
                place["place"],
                place["rank"],
                str(first) if first == last else f"{first}-{last}",
                place["group"],
            ]


def test_a_topic(open_page, demo, capsys):
    said = answer(capsys, *ranked("--per-topic"))
    page = open_page(demo)
    page.js("document.querySelector('#part-1 table.units').closest('details').open = true")
    page.driver.find_element("xpath", "//button[text()='seven-3']").click()
    names = MEASURES.split()
    expected = {
        r["run"]: [r[m] for m in names] for r in said["per_topic"] if r["topic"] == "seven-3"
    }
    assert {row[0]: row[1:] for row in page.table("topic-scores")} == expected
    # P@10 counts the framed ones among the first ten that are shown.
    framed = page.js(
        """return [...document.querySelectorAll("table.rankings tbody tr")].map((r) =>
        [r.cells[0].textContent, [...r.querySelectorAll("li")].slice(0, 10)
        .filter((li) => li.className === "relevant").length])"""
    )
    assert {run: count / 10 for run, count in framed} == {
        run: values[names.index("P@10")] for run, values in expected.items()
    }
    assert page.js("return document.querySelectorAll('.rankings .image').length") == 160


@pytest.mark.parametrize("width", [1280, 390])
def test_what_goes_on_beyond_the_edge_fades_until_it_is_scrolled_to(open_page, tmp_path, width):
    target = tmp_path / "page.html"
    assert main([*ranked("--format", "html", "-o", str(target), "--quiet")]) == 0
    page = open_page(target, width=width)
    fading = """const box = document.querySelector(".rankings").closest(".scroll");
        return [box.scrollWidth > box.clientWidth, box.classList.contains("more")]"""
    from selenium.webdriver.support.ui import WebDriverWait

    wait = WebDriverWait(page.driver, 10)
    wait.until(lambda _: page.js(fading) == [True, True])
    page.js("document.querySelector('.rankings').closest('.scroll').scrollLeft = 1e6")
    wait.until(lambda _: page.js(fading) == [True, False])
    # What was judged not relevant is struck through, as the page says.
    struck = """return getComputedStyle(document.querySelector(".ranking .not .name"))
        .textDecorationLine"""
    assert page.js(struck) == "line-through"
    # The contents stand beside the text where there is room.
    beside = page.js("return getComputedStyle(document.querySelector('#nav')).position")
    assert beside == ("fixed" if width == 1280 else "static")


def test_an_item(open_page, demo, capsys):
    item = json.loads(demo.read_text().split('id="data">')[1].split("</script>")[0])["sections"][1][
        "explanations"
    ]["items"][2]
    concepts = demo.parent / "concepts.txt"
    header = (SAMPLE / "truth.csv").read_text().splitlines()[0]
    concepts.write_text("\n".join(header.split(",")[1:]))
    said = answer(capsys, *labelled(str(concepts), "--explain", item))
    wanted = next(e for e in said["explain"] if e["run"] == "tree")
    page = open_page(demo)
    page.choose("Choose the item", item, part=2)
    page.js(
        """const box = document.querySelectorAll('#part-2 .drill-item select')[1];
        box.value = [...box.options].find((o) => o.text === 'tree').value;
        box.dispatchEvent(new Event('change'));"""
    )
    labels = page.table("item-labels", 2)
    assert [r[0] for r in labels if r[1] == "yes"] == wanted["truth"]
    assert {r[0] for r in labels if r[2] == "yes"} == set(wanted["predicted"])
    assert all(r[3] == wanted["confidences"][r[0]] for r in labels)
    assert dict(page.table("item-scores", 2)) == wanted["values"]
    arithmetic = page.js("return document.querySelector('#part-2 .arithmetic').textContent")
    assert arithmetic == wanted["derivations"][0]["arithmetic"]


def test_the_means_of_annotation_equal_the_json(open_page, demo, capsys):
    concepts = demo.parent / "concepts.txt"
    header = (SAMPLE / "truth.csv").read_text().splitlines()[0]
    concepts.write_text("\n".join(header.split(",")[1:]))
    said = answer(capsys, *labelled(str(concepts)))
    page = open_page(demo)
    assert {r[0]: r[1:-1] for r in page.table("means", 2)} == {
        r["name"]: list(r["mean"].values()) for r in said["runs"]
    }


def test_the_keyboard_reaches_and_sorts(open_page, demo):
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys

    page = open_page(demo)
    body = page.driver.find_element(By.TAG_NAME, "body")
    for _ in range(40):  # the contents beside the text come first
        body.send_keys(Keys.TAB)
        at = page.js("return document.activeElement.textContent")
        if at == "MAP":
            break
    assert at == "MAP"
    page.driver.switch_to.active_element.send_keys(Keys.ENTER)
    column = [row[1] for row in page.table("means")]
    assert column == sorted(column, reverse=True)


@pytest.mark.parametrize("strange", [NASTY, LONG, "a&b\"'</style>"])
def test_names_stay_text(open_page, tmp_path, strange):
    truth = {strange: {strange: 1, "b": 0}, "t2": {"c": 1, "d": 0}}
    runs = {}
    for number, run in enumerate((strange[:200], "other")):
        folder = tmp_path / str(number)
        folder.mkdir()
        path = folder / f"{run.replace('/', '_')}.json"
        scores = {t: {i: float(n + number) for n, i in enumerate(truth[t])} for t in truth}
        path.write_text(json.dumps(scores))
        runs[run] = str(path)
    qrels = tmp_path / "qrels.json"
    qrels.write_text(json.dumps(truth))
    target = tmp_path / "report.html"
    args = ["eval", str(qrels), *runs.values(), "-m", "AP P@1", "--format", "html"]
    assert main([*args, "-o", str(target)]) == 0
    page = open_page(target, width=390)
    assert page.logged() == []
    assert page.js("return document.querySelectorAll('script').length") == 2
    assert page.js("return document.documentElement.scrollWidth") <= 390
    page.choose("Choose the topic", "t2")
    shown = page.js("return document.querySelector('#part-1 .means').textContent")
    assert strange[:200].replace("/", "_") in shown
