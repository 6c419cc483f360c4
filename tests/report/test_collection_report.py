"""The report of a whole collection on one page."""

import json
from dataclasses import replace
from datetime import date

import cranfield as cf
from cranfield.cli import main
from cranfield.io.samples import SAMPLE


def data(path):
    text = path.read_text()
    return json.loads(text.split('id="data">')[1].split("</script>")[0])


def test_both_tasks_and_the_annotators_are_on_it(tmp_path):
    target = tmp_path / "report.html"
    assert main(["report", str(SAMPLE), "-o", str(target), "--quiet", "--title", "All of it"]) == 0
    found = data(target)
    assert found["title"] == "All of it"
    assert [s["title"] for s in found["sections"]] == [
        *("Retrieval", "Annotation", "Without judgements", "Agreement")
    ]
    assert found["images"]["topics"]["zero-1"].startswith("d")
    assert found["sections"][0]["baseline"] == "pixels"
    assert found["sections"][0]["verdict"][0].startswith("discriminant leads")


def test_a_public_one_names_no_item(tmp_path):
    target = tmp_path / "report.html"
    args = ["report", str(SAMPLE), "-o", str(target), "--public", "--kind", "labels", "--quiet"]
    assert main(args) == 0
    assert "d1000" not in target.read_text()
    assert len(data(target)["sections"]) == 1


def test_a_threshold_of_one_run_among_several_is_no_error(tmp_path):
    """Pages score run by run, and each has its own threshold."""
    files = [str(SAMPLE / "labels" / f"{n}.csv.gz") for n in ("logistic", "bayes")]
    target = tmp_path / "page.html"
    args = ["label", str(SAMPLE / "truth.csv"), *files, "--threshold", "bayes=0.9"]
    assert main([*args, "--format", "html", "-o", str(target), "--quiet"]) == 0
    assert target.exists()


def test_pages_say_when_and_how_they_were_made(tmp_path):
    files = [str(SAMPLE / "qrels.txt.gz"), str(SAMPLE / "runs" / "pca.run.gz")]
    page = tmp_path / "page.html"
    args = ["eval", *files, "--title", "<Mine>", "--format", "html", "-o", str(page), "--quiet"]
    assert main(args) == 0
    text = page.read_text()
    assert "<h1>&lt;Mine&gt;</h1>" in text
    assert "<dt>Made on</dt>" in text
    assert "<dd>cranfield eval " in text
    assert "--quiet" not in text.split("<header")[1].split("</header>")[0]
    first = SAMPLE / "qrels.txt.gz"
    assert f"<dt>Files</dt><dd>{first} and 1 more, the newest changed on 20" in text
    assert main([*args, "--public"]) == 0
    assert "qrels.txt" not in page.read_text().split("<main")[0]


class Day(date):
    """The clock of a test, which has no midnight."""

    @classmethod
    def today(cls):
        return cls(2031, 5, 7)


def test_a_page_from_python_says_when_it_was_made(tmp_path, monkeypatch):
    monkeypatch.setattr("cranfield.report.html_report.date", Day)
    scores = cf.evaluate({"1": {"a": 1}}, {"r": {"1": {"a": 1.0}}}, "AP")
    scores.report(tmp_path / "page.html", title="Mine")
    text = (tmp_path / "page.html").read_text()
    assert "<dt>Made on</dt><dd>2031-05-07</dd>" in text


def test_draws_have_the_seed_of_the_collection_also_without_a_baseline():
    held = replace(cf.read_collection(SAMPLE), baseline="", seed=41)
    page = cf.collection_report(held, kinds=["ranked"])
    assert "seed 41" in page
    assert "seed 0" not in page
