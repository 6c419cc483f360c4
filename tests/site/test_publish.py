"""The static site of a collection: whole, linked, the same again, and silent about the truth."""

import csv
import gzip
import hashlib
import html.parser
import io
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import unquote, urldefrag

import pytest

pytest.importorskip("jinja2")

from cranfield.campaign.results import ResultsData
from cranfield.cli import main
from cranfield.errors import CranfieldError, InputError
from cranfield.io.collection import read_collection
from cranfield.io.samples import SAMPLE, copy_sample
from cranfield.site.links import Address, ServedLinks, StaticLinks, slug
from cranfield.site.publish import publish
from cranfield.site.results import PAGES, NoPageError, Results

FEW = {"resamples": 200}


@pytest.fixture(scope="module")
def sealed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sealed") / "site"
    return folder, publish(SAMPLE, folder, **FEW)


@pytest.fixture(scope="module")
def released(tmp_path_factory):
    folder = tmp_path_factory.mktemp("released") / "site"
    return folder, publish(SAMPLE, folder, release_truth=True, with_runs=True, **FEW)


class Addresses(html.parser.HTMLParser):
    """All that a page refers to, and elements that it must not have."""

    def __init__(self):
        super().__init__()
        self.found, self.bad = [], []

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.found += [given[k] for k in ("href", "src") if k in given]
        if tag in ("script", "iframe", "style", "object") or any(
            name == "style" or name.startswith("on") for name in given
        ):
            self.bad.append((tag, given))


def pages(folder):
    return sorted(folder.rglob("*.html"))


def references(page):
    parser = Addresses()
    parser.feed(page.read_text())
    return parser


@pytest.mark.parametrize("which", ["sealed", "released"])
def test_no_link_is_broken_and_none_leads_outside(which, request):
    folder, _ = request.getfixturevalue(which)
    broken, outside, bad = set(), set(), []
    for page in pages(folder):
        parser = references(page)
        bad += parser.bad
        for address in parser.found:
            if re.match(r"[a-z]+:|//", address):
                outside.add(address)
                continue
            place = unquote(urldefrag(address)[0])
            if place and not (page.parent / place).resolve().is_file():
                broken.add((page.name, address))
    assert (broken, outside, bad) == (set(), set(), [])


def test_every_page_is_also_data_from_the_same_answer(sealed):
    folder, answer = sealed
    found = pages(folder)
    assert answer.pages == len(found) > 250
    for page in found:
        document = json.loads(page.with_suffix(".json").read_text())
        assert document["cranfield"]
        rows = list(csv.reader(io.StringIO(page.with_suffix(".csv").read_text())))
        if document.get("parts"):
            first = document["parts"][0]["rows"]
            assert len(rows) == 1 + len(first)
            assert rows[0] == list(first[0]) if first else True


def test_the_leaderboard_has_the_numbers_of_the_command(sealed, capsys):
    folder, _ = sealed
    collection = read_collection(SAMPLE)
    document = json.loads((folder / "results/ranked/index.json").read_text())
    files = [str(collection.judgements), *map(str, collection.runs)]
    options = ["--resamples", "200", "--seed", str(collection.seed), "--quiet"]
    options += ["--design", str(collection.design)]
    names = " ".join(collection.measures)
    assert main(["compare", *files, "-m", names, *options, "--format", "json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert document["verdict"] == told["verdict"]
    board = {s["run"]: s for s in told["leaderboard"] if s["measure"] == collection.primary}
    for row in document["parts"][0]["rows"]:
        own = board[row["run"]]
        assert (row["mean"], row["ci_low"], row["ci_high"]) == (own["mean"], *own["ci"])
        if row["place"] is not None:
            # The baseline that does not compete stands last: it moves nobody.
            assert (row["place"], row["rank"], row["group"]) == (
                own["place"],
                own["rank"],
                own["group"],
            )


def test_the_same_collection_gives_the_same_bytes(sealed, tmp_path):
    folder, _ = sealed
    again = tmp_path / "again"
    publish(SAMPLE, again, jobs=2, **FEW)
    first, second = (json.loads((f / "site.json").read_text())["files"] for f in (folder, again))
    assert first == second
    for name, sum_ in first.items():
        assert hashlib.sha256((again / name).read_bytes()).hexdigest() == sum_
    there = {p.relative_to(again).as_posix() for p in again.rglob("*") if p.is_file()}
    assert there == {*second, "site.json"}


@pytest.fixture(scope="module")
def canary(tmp_path_factory):
    """A collection whose truth says what nothing else says."""
    folder = copy_sample(tmp_path_factory.mktemp("canary") / "digits")
    with gzip.open(folder / "qrels.txt.gz", "at") as out:
        out.write("zero-1 0 canaryitem 2\n" + "canarytopic 0 d0001 1\n")
    with (folder / "design.csv").open("a") as design:
        design.write("canarytopic,0\n")
    truth = folder / "truth.csv"
    lines = truth.read_text().splitlines()
    truth.write_text("\n".join([*lines, "canarylabelled" + lines[1][lines[1].index(",") :]]) + "\n")
    image = pytest.importorskip("PIL.Image")
    from PIL.PngImagePlugin import PngInfo

    told = PngInfo()
    told.add_text("Comment", "canarymeta")
    with image.open(folder / "images.png") as sheet:
        sheet.load()
        sheet.save(folder / "images.png", pnginfo=told)
    return folder


def holding(folder, word=b"canary"):
    return [p.name for p in folder.rglob("*") if p.is_file() and word in p.read_bytes().lower()]


def test_no_file_of_a_sealed_site_holds_what_only_the_truth_says(canary, tmp_path):
    publish(canary, tmp_path / "site", **FEW)
    assert holding(tmp_path / "site") == []
    # The test can see: a released site holds them, pictures never.
    publish(canary, tmp_path / "open", release_truth=True, **FEW)
    found = holding(tmp_path / "open")
    assert any(name.endswith(".html") for name in found)
    assert not any(name.endswith(".png") for name in found)


def test_a_sealed_site_lists_no_grade_and_no_value_of_a_run_on_an_item(sealed):
    folder, _ = sealed
    for page in (folder / "results").rglob("*.json"):
        document = json.loads(page.read_text())
        names = {c for part in document.get("parts", ()) for row in part["rows"][:1] for c in row}
        assert "grade" not in names, page
        if "item" in names:
            assert "confidence" not in names, page
            assert page.name == "best-per-item.json" or "item" in page.parts


def test_a_released_site_has_the_assessment_of_every_topic(released):
    from cranfield.io import read_qrels

    folder, answer = released
    assert answer.released
    grades = read_qrels(SAMPLE / "qrels.txt.gz").to_dict()
    document = json.loads((folder / "results/ranked/topic/zero-1.json").read_text())
    rows = next(p["rows"] for p in document["parts"] if p["name"] == "assessment")
    assert {row["item"]: row["grade"] for row in rows} == grades["zero-1"]
    files = json.loads((folder / "results/ranked/files.json").read_text())["parts"][0]["rows"]
    for row in files:
        place = folder / "files/ranked" / row["file"]
        assert hashlib.sha256(place.read_bytes()).hexdigest() == row["sha256"]


def test_another_folder_is_not_touched(tmp_path):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "letter.txt").write_text("dear")
    with pytest.raises(InputError, match="is not a site"):
        publish(SAMPLE, tmp_path / "mine", **FEW)
    assert [p.name for p in tmp_path.rglob("*")] == ["mine", "letter.txt"]


def test_nothing_is_left_when_it_fails_and_a_site_stays_as_it_was(tmp_path, monkeypatch):
    site = tmp_path / "site"
    site.mkdir()
    (site / "site.json").write_text("{}")

    def broken(*_, **__):
        raise CranfieldError("no more")

    monkeypatch.setattr("cranfield.site.publish.home_page", broken)
    with pytest.raises(CranfieldError, match="no more"):
        publish(SAMPLE, site, kinds=("labels",), **FEW)
    assert [p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*")] == [
        "site",
        "site/site.json",
    ]


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="no signals")
def test_a_kill_leaves_no_half_site(tmp_path):
    site = tmp_path / "site"
    program = [sys.executable, "-m", "cranfield", "publish", str(SAMPLE), "-o", str(site)]
    child = subprocess.Popen(
        [*program, "--resamples", "100"], stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    deadline = time.monotonic() + 60
    while not list(tmp_path.glob(".site.*/new/results")) and time.monotonic() < deadline:
        time.sleep(0.005)
        if child.poll() is not None:
            break
    os.kill(child.pid, signal.SIGKILL) if child.poll() is None else None
    child.wait(60)
    assert not site.exists() or (site / "site.json").is_file()


NASTY = "<script>alert(1)</script>"


def test_names_are_escaped_everywhere(tmp_path):
    folder = tmp_path / "nasty"
    (folder / "runs").mkdir(parents=True)
    (folder / "q.txt").write_text(f"{NASTY} 0 a 1\nt2 0 b 1\nt3 0 c 1\n")
    for name, item in (("=cmd()", "a"), ("b", NASTY)):
        lines = [f"{NASTY} Q0 {item} 1 2 x", "t2 Q0 b 1 2 x", "t3 Q0 x 1 2 x"]
        (folder / "runs" / f"{name}.run").write_text("\n".join(lines) + "\n")
    (folder / "collection.toml").write_text(
        'name = "n"\ntitle = "<b>&\\"</b>"\nsize = 10\njudgements = "q.txt"\n'
        'runs = ["runs/=cmd().run", "runs/b.run"]\n'
    )
    publish(folder, tmp_path / "site", **FEW)
    for page in pages(tmp_path / "site"):
        text = page.read_text()
        assert "<script" not in text
        assert "<b>" not in text
    board = (tmp_path / "site/results/ranked/index.csv").read_text()
    assert "'=cmd()" in board


@pytest.mark.parametrize("topics, runs", [(1, 2), (3, 1), (1, 1)])
def test_small_collections_have_sites_too(tmp_path, topics, runs):
    folder = tmp_path / "small"
    folder.mkdir()
    names = [f"r{k}.run" for k in range(runs)]
    (folder / "q.txt").write_text("".join(f"t{j} 0 a 1\n" for j in range(topics)))
    for name in names:
        (folder / name).write_text("".join(f"t{j} Q0 a 1 2 x\n" for j in range(topics)))
    (folder / "collection.toml").write_text(
        f'name = "small"\nsize = 10\njudgements = "q.txt"\nruns = {json.dumps(names)}\n'
    )
    answer = publish(folder, tmp_path / "site", **FEW)
    assert answer.pages > runs + topics
    said = " ".join(answer.verdicts["ranked"])
    assert "significantly better" not in said


@pytest.mark.parametrize(
    "name", ["a", "a/b", "..", ".x", "-x", "", "ü b", "x" * 300, "a%2fb", "<script>", "a\ud800b"]
)
def test_slugs_are_plain_and_different(name):
    part = slug(name)
    assert re.fullmatch(r"[A-Za-z0-9._~-]+", part)
    assert not part.startswith((".", "-"))
    assert len(part) <= 80
    others = ["A", "a~2fb", "~2e.", "x" * 299, "<Script>"]
    assert part not in {slug(o) for o in others if o != name}


def test_addresses_of_files_and_of_a_server():
    run, board = Address("run/a.b"), Address("", {"measure": "OS"})
    static, served = StaticLinks(), ServedLinks("/c/results", "labels")
    assert static.page(run, board) == "../index--measure-OS.html"
    assert static.root(run, "site.css") == "../../../site.css"
    assert served.page(run, board) == "/c/results/labels?measure=OS"
    assert served.page(board, run, "json") == "/c/results/labels/run/a.b.json"


@pytest.fixture(scope="module")
def results():
    collection = read_collection(SAMPLE)
    material = ResultsData.of(collection, "ranked").compared(baseline=None, resamples=200)
    return Results(material, ServedLinks("/c/results", "ranked"))


@pytest.mark.parametrize("task", ["ranked", "labels"])
def test_a_menu_is_drawn_without_the_pages_that_it_leads_to(task):
    collection = read_collection(SAMPLE)
    material = ResultsData.of(collection, task).compared(baseline=None, resamples=100)
    fresh = Results(material, ServedLinks("/c/results", task))
    page = fresh.page("").html
    assert fresh.answers == {}
    # What the menu promises is there, and nothing else is.
    promised = [kind for kind in PAGES if PAGES[kind][1] and fresh.has(kind)]
    built = {
        address.path for kind in promised for address in fresh._module(kind).addresses(fresh, kind)
    }
    assert built == set(promised)
    nav = page[page.index('aria-label="Results"') : page.index("</nav>")]
    tabs = re.findall(r">([A-Z][a-z]+)</a>", nav)
    subject = "Topics" if task == "ranked" else "Concepts"
    assert tabs == ["Leaderboard", "Analysis", subject, "Teams", "About"]


@pytest.mark.parametrize(
    "address", ["nowhere", "run", "run/nobody", "run/a/b", "topic/x", "index.html", "method/x"]
)
def test_a_page_that_is_not_there_is_told(results, address):
    with pytest.raises(NoPageError):
        results.page(address)


def test_choices_of_a_served_board(results):
    one = results.page("", {"conf": "M"})
    assert {row["configuration"] for row in one.answer.parts[0].records()} == {"M"}
    best = results.page("", {"best": "group"}).answer.parts[0].records()
    teams = [row["team"] for row in best if row["team"]]
    assert len(teams) == len(set(teams))
    against = results.page("", {"baseline": "bits"}).answer
    assert against.facts["baseline"] == "bits"
    with pytest.raises(NoPageError):
        results.page("", {"measure": "nonsense"})
    with pytest.raises(NoPageError):
        results.page("", {"baseline": "nobody"})
    two = results.page("compare", {"runs": "pca,pixels"})
    names = [part.name for part in two.answer.parts]
    assert names == ["pairs", "gains", "losses"]
    assert len(two.answer.parts[0].rows) == 1


def test_a_board_of_73_runs_is_light(results):
    assert len(results.page("").html) < 30_000 * 8 / 73 + 8_000


def test_the_extra_is_named_when_it_is_missing(monkeypatch, tmp_path):
    from cranfield.errors import MissingExtraError
    from cranfield.site import render

    monkeypatch.setitem(sys.modules, "jinja2", None)
    render.environment.cache_clear()
    with pytest.raises(MissingExtraError, match=r"cranfield\[site\]"):
        publish(SAMPLE, tmp_path / "site")
    render.environment.cache_clear()


def test_the_command_says_what_it_wrote(tmp_path, capsys):
    site = tmp_path / "site"
    args = ["publish", str(SAMPLE), "-o", str(site), "--kind", "labels", "--resamples", "100"]
    assert main(args) == 0
    out = capsys.readouterr().out
    assert out.startswith("neighbours leads")
    assert "the truth is sealed" in out
    assert not (site / "results/ranked").exists()


def test_changes_of_a_collection_are_a_page(tmp_path):
    folder = copy_sample(tmp_path / "digits")
    (folder / "CHANGES.md").write_text("Two judgements of topic zero-1\nwere corrected.\n")
    publish(folder, tmp_path / "site", kinds=("ranked",), resamples=100)
    page = (tmp_path / "site/results/ranked/changes.html").read_text()
    assert "Two judgements of topic zero-1 were corrected." in page
    shutil.rmtree(folder)
    assert Path(tmp_path / "site").is_dir()
