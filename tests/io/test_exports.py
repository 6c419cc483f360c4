"""Exports of other programs: recognised by their content, read, and what is not read is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import cranfield as cf
from cranfield.agreement.agreement import assess_log
from cranfield.cli import main
from cranfield.errors import InputError, UsageError
from cranfield.io.exports import EXPORTS, import_export
from cranfield.io.judgement_log import read_judgement_log

# Two people, four items, one question: p_o = 3/4.
ANSWERS = {
    "ann": {"1": "cat", "2": "dog", "3": "cat", "4": "dog"},
    "bob": {"1": "cat", "2": "dog", "3": "dog", "4": "dog"},
}
ROWS = {(who, item, label) for who, said in ANSWERS.items() for item, label in said.items()}
CHOICES = [(who, item, label) for who, said in ANSWERS.items() for item, label in said.items()]


def label_studio() -> str:
    tasks = [
        {
            "id": int(item),
            "data": {"id": item},
            "annotations": [
                {
                    "completed_by": {"email": who},
                    "result": [
                        {
                            "from_name": "animal",
                            "type": "choices",
                            "value": {"choices": [said[item]]},
                        },
                        {"from_name": "box", "type": "rectanglelabels", "value": {"x": 1}},
                    ],
                }
                for who, said in ANSWERS.items()
            ],
        }
        for item in "1234"
    ]
    return json.dumps(tasks)


def label_studio_min() -> str:
    return json.dumps(
        [
            {"image": f"/data/{i}.jpg", "id": 9, "animal": a, "annotator": w, "annotation_id": 3}
            for w, i, a in CHOICES
        ]
    )


def label_studio_csv() -> str:
    rows = [f"/data/{i}.jpg,9,{a},{w},3,1.5" for w, i, a in CHOICES]
    return "\n".join(["image,id,animal,annotator,annotation_id,lead_time", *rows])


def mturk() -> str:
    rows = [f"h,{w},{i},{a}" for w, i, a in CHOICES]
    return "\n".join(["HITId,WorkerId,Input.item,Answer.animal.label", *rows])


def prodigy() -> str:
    return "\n".join(
        json.dumps(
            {
                "id": i,
                "text": "x",
                "options": [{"id": "cat"}, {"id": "dog"}],
                "accept": [a],
                "answer": "accept",
                "config": {"choice_style": "single"},
                "_annotator_id": w,
            }
        )
        for w, i, a in CHOICES
    )


def argilla() -> str:
    return json.dumps(
        [
            {
                "id": item,
                "fields": {"text": "x"},
                "responses": {
                    "animal": [
                        {"value": said[item], "user_id": who} for who, said in ANSWERS.items()
                    ],
                    "where": [{"value": [{"start": 0, "end": 1}], "user_id": "ann"}],
                },
            }
            for item in "1234"
        ]
    )


def crowd_kit() -> str:
    return "\n".join(["task,worker,label", *(f"{i},{w},{a}" for w, i, a in CHOICES)])


def sheet() -> str:
    rows = [f"{i},{ANSWERS['ann'][i]},{ANSWERS['bob'][i]}" for i in "1234"]
    return "\n".join(["item,ann,bob", *rows])


FILES = {
    "label-studio": ("export.json", label_studio),
    "label-studio-min": ("min.json", label_studio_min),
    "mturk": ("batch.csv", mturk),
    "prodigy": ("prodigy.jsonl", prodigy),
    "argilla": ("argilla.json", argilla),
    "crowd-kit": ("crowd.csv", crowd_kit),
    "sheet": ("sheet.csv", sheet),
}


@pytest.mark.parametrize("form", FILES)
def test_annotations_become_a_log(form: str, tmp_path: Path) -> None:
    name, make = FILES[form]
    path = tmp_path / name
    path.write_text(make() + "\n")
    imported = import_export(path)
    assert imported.form == form
    who, item, answer = (imported.header.index(n) for n in ("annotator", "item", "category"))
    assert {(r[who], r[item], r[answer]) for r in imported.rows} == ROWS
    # Scott's pi of two people is Fleiss' kappa: cats 3/8, dogs 5/8 of all answers.
    chance = (3 / 8) ** 2 + (5 / 8) ** 2
    overall = assess_log(path).answer.to_dict()["overall"]
    assert overall["fleiss"] == pytest.approx((3 / 4 - chance) / (1 - chance))


def test_every_form_of_annotations_is_tried() -> None:
    untried = {n for n, e in EXPORTS.items() if e.kind == "judgements"} - set(FILES)
    assert untried == {"doccano"}  # a file for each annotator: below


def test_label_studio_csv(tmp_path: Path) -> None:
    path = tmp_path / "project.csv"
    path.write_text(label_studio_csv())
    log = read_judgement_log(path)
    assert set(log.annotators) == {"ann", "bob"}
    assert set(log.values) == {"cat", "dog"}
    assert log.seconds is not None


def test_columns_in_another_order_need_the_item(tmp_path: Path) -> None:
    path = tmp_path / "sorted.csv"
    rows = [f"3,{w},{a},9,{i}" for w, i, a in CHOICES]
    path.write_text("\n".join(["annotation_id,annotator,animal,id,photo", *rows]))
    with pytest.raises(InputError, match="item="):
        import_export(path)
    rows_read = import_export(path, item="photo").rows
    assert {row[1] for row in rows_read} == set("1234")
    with pytest.raises(UsageError, match="foto"):
        import_export(path, item="foto")


def test_doccano_names_the_annotator_by_the_file(tmp_path: Path) -> None:
    path = tmp_path / "ann.jsonl"
    records = [{"id": i, "text": "x", "label": [a]} for w, i, a in CHOICES if w == "ann"]
    path.write_text("\n".join(map(json.dumps, records)))
    assert {r[:3] for r in import_export(path).rows} == {r for r in ROWS if r[0] == "ann"}
    path.write_text(json.dumps({"id": 1, "text": "Bern", "label": [[0, 4, "PLACE"]]}))
    with pytest.raises(InputError, match="spans"):
        import_export(path)


def test_several_labels_are_concepts(tmp_path: Path) -> None:
    path = tmp_path / "ann.csv"
    path.write_text("id,text,label\n1,x,cat#dog\n2,y,dog\n")
    imported = import_export(path)
    assert imported.header == ("annotator", "item", "concept", "value")
    assert set(imported.rows) == {
        ("ann", "1", "cat", "1"),
        ("ann", "1", "dog", "1"),
        ("ann", "2", "cat", "0"),
        ("ann", "2", "dog", "1"),
    }


def test_prodigy_accepts_rejects_and_ignores(tmp_path: Path) -> None:
    path = tmp_path / "p.jsonl"
    said = ["accept", "reject", "ignore"]
    records = [
        {"_input_hash": n, "text": "x", "label": "CAT", "answer": a} for n, a in enumerate(said)
    ]
    path.write_text("\n".join(map(json.dumps, records)))
    imported = import_export(path)
    assert [(r[1], r[2], r[3]) for r in imported.rows] == [("0", "CAT", "1"), ("1", "CAT", "0")]
    assert "1 answer not counted" in imported.notes[0]


@pytest.mark.parametrize(
    ("form", "word"), [("label-studio", "rectanglelabels"), ("argilla", "where")]
)
def test_what_is_not_read_is_named(form: str, word: str, tmp_path: Path) -> None:
    name, make = FILES[form]
    (tmp_path / name).write_text(make())
    notes = import_export(tmp_path / name).notes
    assert any("not read" in note and word in note for note in notes)


def test_workbooks(tmp_path: Path) -> None:
    pytest.importorskip("python_calamine")
    xlsxwriter: Any = pytest.importorskip("openpyxl")
    book = xlsxwriter.Workbook()
    for line in sheet().splitlines():
        book.active.append([int(c) if c.isdigit() else c for c in line.split(",")])
    book.save(tmp_path / "sheet.xlsx")
    imported = import_export(tmp_path / "sheet.xlsx")
    assert {r[:3] for r in imported.rows} == ROWS


TOPICS = {
    "queries.jsonl": '{"_id": "1", "text": "black  bear"}\n{"_id": "2", "text": "a & b"}\n',
    "topics.xml": '<topics><topic number="1"><query>black bear</query></topic>'
    "<topic number='2'><title>a &amp; b</title></topic></topics>",
    "topics.51-52": "<top>\n<num> Number: 1\n<title> black bear\n<desc> Description:\nx\n</top>\n"
    "<top>\n<num> Number: 2\n<title> a & b\n</top>\n",
}


@pytest.mark.parametrize("name", TOPICS)
def test_topics(name: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(TOPICS[name])
    imported = import_export(tmp_path / name)
    assert imported.kind == "topics"
    assert imported.rows == [("1", "black bear"), ("2", "a & b")]


def test_predictions_of_mteb_are_a_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    scores = {"q1": {"d1": 0.5, "d2": 0.75}}
    path = tmp_path / "SciFact_predictions.json"
    path.write_text(json.dumps({"mteb_model_meta": {}, "default": {"test": scores}}))
    assert main(["import", str(path), "-o", str(tmp_path / "out.run")]) == 0
    lines = (tmp_path / "out.run").read_text().splitlines()
    assert [line.split()[:5] for line in lines] == [
        ["q1", "Q0", "d2", "1", "0.75"],
        ["q1", "Q0", "d1", "2", "0.5"],
    ]
    path.write_text(json.dumps({"mteb_model_meta": {}, "en": {"dev": scores, "test": scores}}))
    assert main(["import", str(path)]) == 2
    assert "en/dev, en/test" in capsys.readouterr().err
    assert main(["import", str(path), "--part", "en/dev"]) == 0


def test_results_of_mteb_are_figures(tmp_path: Path) -> None:
    path = tmp_path / "SciFact.json"
    path.write_text(
        json.dumps(
            {"task_name": "SciFact", "scores": {"test": [{"hf_subset": "default", "ndcg": 0.5}]}}
        )
    )
    assert import_export(path).rows == [("SciFact", "test", "default", "ndcg", "0.5")]


@pytest.mark.parametrize("text", ["", "hello\n", "{}", "[]", "[1, 2]", '{"a": {"b": 1}}', "<x/>"])
def test_anything_else_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "other.txt"
    path.write_text(text)
    with pytest.raises(InputError, match="Label Studio"):
        import_export(path)


STUDIO_WITH_SPAN = [
    {
        "data": {"text": "x"},
        "annotations": [
            {
                "completed_by": person,
                "result": [
                    {"from_name": "l", "type": "choices", "value": {"choices": [choice]}},
                    {"from_name": "s", "type": "labels", "value": {"start": 0, "labels": ["PER"]}},
                ],
            }
            for person, choice in ((1, "A"), (2, "B"))
        ],
    }
]


def test_agreement_says_what_it_did_not_read(tmp_path: Path) -> None:
    path = tmp_path / "export.json"
    path.write_text(json.dumps(STUDIO_WITH_SPAN))
    note = "not read, for they mark regions or spans: 2 labels"
    for answer in (cf.assess_agreement(path), cf.aggregate_judgements(path)):
        assert any(line.startswith(note) for line in answer.notes)


def test_choices_of_prodigy_without_their_options(tmp_path: Path) -> None:
    path = tmp_path / "choices.jsonl"
    records = [
        {"text": "hi", "answer": "accept", "_annotator_id": person, "accept": [choice]}
        for person, choice in (("a", "x"), ("b", "y"))
    ]
    path.write_text("".join(json.dumps(record) + "\n" for record in records))
    log = cf.read_judgement_log(path)
    rows = [tuple(map(str, row)) for row in log.rows()]
    assert rows == [("a", "hi", c, v) for c, v in (("x", "1"), ("y", "0"))] + [
        ("b", "hi", c, v) for c, v in (("x", "0"), ("y", "1"))
    ]


@pytest.mark.parametrize("text", ['{"a": 1}', '[{"a": 1}, {"a": 2}]', '{"a": 1}\n{"a": 2}\n'])
def test_json_that_is_no_export_is_not_taken_for_csv(text: str, tmp_path: Path) -> None:
    (tmp_path / "odd.json").write_text(text)
    with pytest.raises(cf.InputError, match="none of the exports that are known: Label Studio"):
        cf.assess_agreement(tmp_path / "odd.json")
