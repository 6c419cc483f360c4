"""Forms that came back: what counts, how batches went, what comments are about."""

from __future__ import annotations

import csv
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest

import cranfield as cf
from cranfield.campaign.annotation_task import (
    Sheet,
    Unit,
    UnitAnswers,
    make_sheet,
    read_response,
    response_of,
)
from cranfield.campaign.forms import NONE, ontology_form
from cranfield.campaign.responses import (
    CLASSES,
    classify_remark,
    collect_responses,
    judge_crowd_forms,
    read_forms,
)
from cranfield.cli import main
from cranfield.data.judgement_log import FilledForm
from cranfield.errors import InputError, UsageError
from cranfield.io.ontology import read_ontology
from cranfield.io.samples import SAMPLE
from cranfield.ontologies import built_in
from cranfield.site.work_pages import make_crowd_task

DIGITS = read_ontology(SAMPLE / "ontology.csv", rules=SAMPLE / "rules.toml")
GOOD = {"Zero": ["Two"], "Prime": ["Prime"]}


def sheet():
    units = tuple(Unit(f"d{k}") for k in range(3))
    return Sheet("Digits", "labels", {"form": ontology_form(DIGITS)}, units)


def answered(tmp_path, who="ann", **more):
    filled = [
        UnitAnswers("d0", GOOD, seconds=15.0, comment="So cute!"),
        UnitAnswers("d1", {}, "cannot tell", 2.0),
        UnitAnswers("d2", {"Zero": ["Eight"], "HasLoop": ["HasLoop"]}, seconds=30.0),
    ]
    response = response_of(sheet(), who, filled)
    file = tmp_path / f"{who}.json"
    file.write_text(json.dumps(response.to_dict() | more))
    return file


def test_answers_become_a_log_with_every_concept(tmp_path):
    found = read_forms([answered(tmp_path), answered(tmp_path, "bob")])
    assert found.forms == 4
    assert len(found.log) == 4 * 15
    rows = {(r[0], r[1], r[2]): r[3:] for r in found.log.rows()}
    assert rows["ann", "d0", "Two"] == ("1", "1")
    assert rows["ann", "d0", "Even"] == ("1", "1")
    assert rows["bob", "d2", "HasLoop"] == ("1", "2")
    assert rows["ann", "d2", "Odd"] == ("0", "2")
    assert [r.about for r in found.remarks] == ["feelings", "feelings"]
    assert "4 forms by 2 annotators" in repr(found)
    assert cf.read_forms([answered(tmp_path)], pseudonyms=True).log.annotators == ("annotator-1",)


def test_the_log_goes_through_agreement_and_aggregation(tmp_path, capsys):
    files = [str(answered(tmp_path, who)) for who in ("ann", "bob", "cay")]
    log = tmp_path / "log.csv"
    assert main(["form", "read", *files, "-o", str(log)]) == 0
    out = capsys.readouterr().out
    assert "Digits (version 1)" in out
    assert log.read_text().startswith("annotator,item,concept,value,seconds\nann,d0,Zero,0,1\n")
    assert main(["agreement", str(log), "--rules", str(SAMPLE / "rules.toml")]) == 0
    truth = tmp_path / "truth.csv"
    rules = ["--rules", str(SAMPLE / "rules.toml"), "--format", "csv", "-o", str(truth)]
    assert main(["aggregate", str(log), *rules]) == 0
    assert "d0,Two,1" in truth.read_text()


def test_what_no_page_would_have_written_is_refused(tmp_path):
    good = json.loads(answered(tmp_path).read_text())
    for change, words in (
        ({"annotator": ""}, "the annotator has no name"),
        ({"filled": [{"unit": "d9", "state": "done", "answers": {}}]}, "was not asked about"),
        ({"filled": [good["filled"][0]] * 2}, "answered twice"),
        ({"filled": [good["filled"][0] | {"answers": {}}]}, "needs exactly one answer"),
        ({"filled": [good["filled"][0] | {"state": "maybe"}]}, "the state 'maybe'"),
        ({"filled": [good["filled"][0] | {"seconds": -1}]}, "seconds"),
        ({"filled": [good["filled"][0] | {"answers": {"Zero": "Two"}}]}, "list of texts"),
        ({"sheet": {}}, "not a whole file"),
        ({"cranfield-response": 9}, "not a file of answers"),
    ):
        file = tmp_path / "bad.json"
        file.write_text(json.dumps(good | change))
        with pytest.raises(InputError, match=words):
            read_response(file)
    with pytest.raises(InputError, match="expected answers of a form"):
        read_forms([SAMPLE / "truth.csv"])
    with pytest.raises(UsageError, match="needs exactly one answer"):
        response_of(sheet(), "ann", [UnitAnswers("d0", {})])


def crowd(batch, worker, item, *, empty=False, seconds=150.0, done=0.0, comment=""):
    chosen = {"Indoor": "0" if empty else "1", "Outdoor": "0", "No_Visual_Place": "0"}
    return FilledForm(worker, item, chosen, batch, "", seconds, done - seconds, done, comment)


def test_two_batches_as_in_the_thesis():
    """No 6.2.2: rejection is syntactic; batches have their figures; 13 images judged twice."""
    rules = built_in("pto-2009").rules
    forms = [
        crowd("one", f"w{k % 58}", f"i{k % 99}", empty=k < 58, done=40.0 * k + 200)
        for k in range(495)
    ]
    forms += [
        crowd("two", f"w{52 + k % 38}", f"i{k % 99}", empty=k < 36, done=1e6 + k)
        for k in range(396)
    ]
    found = collect_responses(forms, rules=rules)
    one, two = found.batches
    assert (one.forms, one.rejected, one.annotators, one.items) == (495, 58, 58, 99)
    assert round(100 * one.share, 2) == 11.72
    assert (two.forms, two.rejected, two.annotators) == (396, 36, 38)
    assert round(100 * two.share, 2) == 9.09
    assert sum(p.batches > 1 for p in found.people) == 6
    assert one.seconds == 150.0
    assert found.forms == 891
    assert found.rejected == 94
    assert sum(i.rejected for i in found.items) == 94
    assert len(found.log) == 3 * (891 - 94 - len(found.twice))
    assert list(found.reasons) == ["exactly one of {Indoor, Outdoor, No_Visual_Place}"]


def _with_class_names(text: str) -> str:
    """A saved text with names of classes, as files of the first layout have them."""
    return re.sub(r'(?<="~": ")[a-z-]+', lambda name: name[0].title().replace("-", ""), text)


def test_responses_saved_under_their_former_name_load(tmp_path):
    responses = collect_responses([crowd("one", "w", "i"), crowd("one", "v", "i")])
    path = tmp_path / "responses.json"
    responses.save(path)
    document = json.loads(path.read_text(encoding="utf-8"))
    result = document["result"] | {"~": "Collected"}
    first_layout = {"cranfield": "0.1.0", "layout": 1, "command": "form read", "answer": result}
    path.write_text(_with_class_names(json.dumps(first_layout)), encoding="utf-8")
    # As text, for a figure that is not known is NaN.
    assert json.dumps(cf.load(path).payload()) == json.dumps(responses.payload())


def test_a_person_who_judges_an_item_again_counts_once():
    found = collect_responses(
        [crowd("one", "w", "i"), crowd("two", "w", "i"), crowd("two", "v", "i")]
    )
    assert found.twice == (("w", "i"),)
    assert len(found.log) == 6
    assert "the same person had judged before" in found.notes[0]


def test_comments_as_the_thesis_sorts_them():
    """Table 6.1, by words alone; what words get wrong a file of classes corrects."""
    table = {
        "Cupcakes": "content",
        "Dolls aren't persons right": "work",
        "really nice to work on this. this is very different and easy.": "work",
        "Cute And nice": "feelings",
        "Just Beautiful Thats Creative": "feelings",
        "Color effect can be better": "quality",
        "For what purpose is this useful?": "other",
    }
    assert {text: classify_remark(text, (), {}) for text in table} == table
    assert classify_remark("ha haa Sure", (), {"ha haa Sure": "other"}) == "other"
    assert set(table.values()) == set(CLASSES)


def test_files_of_classes(tmp_path, capsys):
    classes = tmp_path / "classes.csv"
    classes.write_text("comment,class\nSo cute!,quality\n")
    file = str(answered(tmp_path))
    asked = ["form", "read", file, "--classes", str(classes), "--format", "json"]
    assert main(asked) == 0
    assert json.loads(capsys.readouterr().out)["comments"][0]["about"] == "quality"
    classes.write_text("comment,class\nSo cute!,nonsense\n")
    assert main(asked) == 2


def test_a_pool_of_annotations_is_judged_and_the_rest_stays_unjudged(tmp_path, monkeypatch):
    """A person who knows the truth judges what two runs put first; scores are worked out here."""
    items = [f"d{k}" for k in range(6)]
    truth = {item: {"Sea": k % 2, "Sky": k // 3} for k, item in enumerate(items)}
    head = "item,Sea,Sky\n"
    runs = {
        "one": {item: (0.9 - 0.1 * k, 0.1 * k) for k, item in enumerate(items)},
        "two": {item: (0.1 * k, 0.9 - 0.1 * k) for k, item in enumerate(items)},
    }
    for name, scores in runs.items():
        rows = [f"{item},{sea:.2f},{sky:.2f}\n" for item, (sea, sky) in scores.items()]
        (tmp_path / f"{name}.csv").write_text(head + "".join(rows))
    (tmp_path / "o.csv").write_text("concept,path\nSea,Nature.Sea\nSky,Nature.Sky\n")
    monkeypatch.chdir(tmp_path)
    pool = ["truth", "pool", "--labels", "one.csv", "two.csv", "--depth", "2", "-o", "pool.tsv"]
    assert main([*pool, "--quiet"]) == 0
    sheet = make_sheet("o.csv", pool="pool.tsv")
    asked = {unit.name: set(sheet.forms[unit.form].concepts) for unit in sheet.units}
    assert asked == {item: {"Sea", "Sky"} for item in ("d0", "d1", "d4", "d5")}
    (tmp_path / "few.tsv").write_text("topic\titem\tjudged\nSea\td0\t0\nSky\td0\t1\nSky\td5\t0\n")
    few = make_sheet("o.csv", pool="few.tsv")
    assert {u.name: few.forms[u.form].concepts for u in few.units} == {
        "d0": ("Sea",),
        "d5": ("Sky",),
    }
    filled = [
        UnitAnswers(item, {"shown": [c for c in asked[item] if truth[item][c]] or [NONE]})
        for item in asked
    ]
    response = response_of(sheet, "ann", filled)
    (tmp_path / "answers.json").write_text(json.dumps(response.to_dict()))
    assert main(["truth", "form", "read", "answers.json", "-o", "log.csv", "--quiet"]) == 0
    judged = {(r[1], r[2]): r[3] for r in cf.read_judgement_log("log.csv").rows()}
    assert judged == {(i, c): str(truth[i][c]) for i in asked for c in asked[i]}
    aggregated = ["truth", "aggregate", "log.csv", "--method", "majority", "-o", "truth.csv"]
    assert main([*aggregated, "--quiet"]) == 0
    scores = cf.evaluate_labels("truth.csv", ["one.csv"], "AP.concept", unlisted="unjudged")
    # Sea: d0, d1 (true), d4, d5 (true) by confidence; Sky: d5 and d4 are true and come first.
    by_concept = {"Sea": (1 / 2 + 2 / 4) / 2, "Sky": 1.0}
    assert float(scores.overall[scores.measures[0]][0]) == pytest.approx(
        sum(by_concept.values()) / 2
    )
    for bad, message in (("a\tb\n1\t2\n", "topic and item"), ("topic\titem\nSea\t\n", "a concept")):
        (tmp_path / "bad.tsv").write_text(bad)
        with pytest.raises(InputError, match=message):
            make_sheet("o.csv", pool="bad.tsv")
    (tmp_path / "bad.tsv").write_text("topic\titem\nOdd\td0\n")
    with pytest.raises(UsageError, match="no concept 'Odd'"):
        make_sheet("o.csv", pool="bad.tsv")


class Layout(HTMLParser):
    """The fields that a platform's page has: {name: values that can be chosen}."""

    def __init__(self, page):
        super().__init__()
        self.action, self.fields, self.pictures = "", {}, []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        known = dict(attrs)
        if tag == "form":
            self.action = known["action"]
        elif tag == "img":
            self.pictures.append(known["src"])
        elif known.get("type") in ("radio", "checkbox"):
            self.fields.setdefault(known["name"], []).append(known["value"])


def test_a_crowd_batch_goes_out_comes_back_and_is_paid(tmp_path, monkeypatch):
    """The layout is filled in as a platform would post it; the files are checked byte by byte."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "o.csv").write_text(
        "concept,path\nDay,Time.Day\nNight,Time.Night\nSea,Nature.Sea\nSky,Nature.Sky\n"
    )
    (tmp_path / "rules.toml").write_text('[[exactly_one]]\nconcepts = ["Day", "Night"]\n')
    (tmp_path / "items.csv").write_text("item,text\na,A view\nb,A harbour\n")
    make = ["truth", "form", "crowd", "o.csv", "--rules", "rules.toml", "--items", "items.csv"]
    made = [*make, "--address", "https://pictures.example/x/", "-o", "task", "--quiet"]
    assert main(made) == 0
    assert (tmp_path / "task/input.csv").read_bytes() == b"item,text\na,A view\nb,A harbour\n"
    page = (tmp_path / "task/template.html").read_text()
    assert "${text}" in page
    assert "Choose what is representative" in (tmp_path / "task/instructions.txt").read_text()
    layout = Layout(page)
    assert layout.action == "https://www.mturk.com/mturk/externalSubmit"
    assert {v for values in layout.fields.values() for v in values if v} == {
        "Day",
        "Night",
        "Sea",
        "Sky",
    }
    time, nature = layout.fields
    posts = [
        ("a1", "W1", "a", {time: ["Day"], nature: ["Sea", "Sky"]}),
        ("a2", "W1", "b", {time: ["Night"], nature: ["Sea", "Sky"]}),
        ("a3", "W2", "a", {time: ["Night"], nature: ["Sky"]}),
        ("a4", "W2", "b", {time: ["Day"], nature: ["Sky"]}),
        ("a5", "W3", "a", {time: ["Day", "Night"], nature: ["Sky"]}),
        ("a6", "W1", "a", {time: ["Day"], nature: ["Sea"]}),
    ]
    head = ["HITId", "AssignmentId", "WorkerId", "Input.item", f"Answer.{time}", f"Answer.{nature}"]
    rows = [
        [f"h{i}", a, w, i, *("|".join(said[q]) for q in (time, nature))] for a, w, i, said in posts
    ]
    (tmp_path / "results.csv").write_text("\n".join(map(",".join, [head, *rows])) + "\n")
    (tmp_path / "gold.csv").write_text(
        "item,concept,value\na,Day,1\na,Night,0\na,Sea,1\nb,Night,1\nb,Day,0\n"
    )
    back = read_forms(["results.csv"], ontology="o.csv", rules="rules.toml")
    values = {(r[0], r[1], r[2]): r[3] for r in back.log.rows()}
    assert [values["W1", "a", c] for c in ("Day", "Night", "Sea", "Sky")] == ["1", "0", "1", "1"]
    pay = ["truth", "form", "pay", "results.csv", "--ontology", "o.csv", "--rules", "rules.toml"]
    assert main([*pay, "--gold", "gold.csv", "--bonus", "0.5", "-o", "paid.csv", "--quiet"]) == 0
    paid = list(csv.reader((tmp_path / "paid.csv").read_text().splitlines()))
    assert paid[0] == ["AssignmentId", "WorkerId", "Approve", "Reject", "Bonus", "BonusReason"]
    right = "All answers that are known were right."
    failed = "You did not pass the test: too few of the answers that are known were right."
    assert paid[1:5] == [
        ["a1", "W1", "x", "", "0.50", right],
        ["a2", "W1", "x", "", "0.50", right],
        ["a3", "W2", "", failed, "", ""],
        ["a4", "W2", "", failed, "", ""],
    ]
    assert paid[5][:3] == ["a5", "W3", ""]
    assert paid[5][3].startswith("The form is not complete or contradicts itself: ")
    assert paid[6] == ["a6", "W1", "", "You had judged this item before.", "", ""]
    # No reason tells a known answer or how many there are.
    reasons = " ".join(row[3] for row in paid[1:] if row[1] == "W2")
    assert not re.search(r"\d|Day|Night|Sea|Sky", reasons)
    (tmp_path / "odd.csv").write_text("WorkerId,Input.item,Answer.x\nW,a,true\n")
    with pytest.raises(InputError, match="AssignmentId"):
        judge_crowd_forms("odd.csv")


def test_the_layout_of_pictures_names_their_addresses(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    photo = SAMPLE.parent / "photos" / "pictures" / "coffee_00.jpg"
    (folder / "one cup.jpg").write_bytes(photo.read_bytes())
    task = make_crowd_task("pto-2009", address="https://p.example/x", pictures=folder)
    assert task["input.csv"] == "item,image_url\none%20cup,https://p.example/x/one%20cup.jpg\n"
    assert Layout(task["template.html"]).pictures == ["${image_url}"]


def test_the_influence_of_suggestions_is_that_of_people_who_follow_them(tmp_path, capsys):
    """Half of the people do what they see: their share is known, and comes out."""
    items = [f"i{k:03d}" for k in range(400)]
    ontology = tmp_path / "o.csv"
    ontology.write_text("concept,path\nDog,Dog\nCat,Cat\n")
    (tmp_path / "items.txt").write_text("\n".join(items) + "\n")
    draw = np.random.default_rng(3)
    run = {i: {"Dog": float(draw.random()), "Cat": float(draw.random())} for i in items}
    rows = "".join(f"{i},{run[i]['Dog']:.4f},{run[i]['Cat']:.4f}\n" for i in items)
    (tmp_path / "run.csv").write_text("item,Dog,Cat\n" + rows)
    sheet = make_sheet(
        ontology, items=tmp_path / "items.txt", suggestions=tmp_path / "run.csv", seed=5
    )
    shown = {u.name for u in sheet.units if u.suggested.shown}
    assert len(shown) == 200
    assert Sheet.from_dict(sheet.to_dict()).units == sheet.units
    filled = []
    for unit in sheet.units:
        chosen = []
        for concept in ("Dog", "Cat"):
            follows = unit.name in shown and draw.random() < 0.5
            own = draw.random() < 0.5
            if (run[unit.name][concept] >= 0.5) if follows else own:
                chosen.append(concept)
        filled.append(UnitAnswers(unit.name, {"Dog": chosen or ["none"]}, seconds=1.0))
    said = response_of(sheet, "ann", filled).to_dict()
    file = tmp_path / "answers.json"
    file.write_text(json.dumps(said))
    answer = read_forms([file])
    everything = answer.influence[0]
    assert (everything.concept, everything.shown, everything.hidden) == ("all", 400, 400)
    # Who follows in half of the cases and is right by chance in the others follows in 0.75.
    assert everything.followed_hidden == pytest.approx(0.5, abs=0.06)
    assert everything.followed_shown == pytest.approx(0.75, abs=0.06)
    low, high = everything.interval
    assert low < 0.25 < high
    assert {i.concept for i in answer.influence[1:]} == {"Dog", "Cat"}
    assert main(["truth", "form", "read", str(file)]) == 0
    assert "Influence of suggestions" in capsys.readouterr().out
