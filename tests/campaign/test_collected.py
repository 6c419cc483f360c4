"""Forms that came back: what counts, how batches went, what comments are about."""

from __future__ import annotations

import json

import pytest

import cranfield as cf
from cranfield.campaign.annotation_task import Sheet, Unit, UnitAnswers, read_response, response_of
from cranfield.campaign.forms import ontology_form
from cranfield.campaign.responses import CLASSES, classify_remark, collect_responses, read_forms
from cranfield.cli import main
from cranfield.data.judgement_log import FilledForm
from cranfield.errors import InputError, UsageError
from cranfield.io.ontology import read_ontology
from cranfield.io.samples import SAMPLE
from cranfield.ontologies import built_in

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


def test_responses_saved_under_their_former_name_load(tmp_path):
    responses = collect_responses([crowd("one", "w", "i"), crowd("one", "v", "i")])
    path = tmp_path / "responses.json"
    responses.save(path)
    text = path.read_text(encoding="utf-8")
    assert '"FormResponses"' in text
    path.write_text(text.replace('"FormResponses"', '"Collected"'), encoding="utf-8")
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
