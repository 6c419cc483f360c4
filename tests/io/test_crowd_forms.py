"""Forms of crowd platforms and of Label Studio."""

from __future__ import annotations

import json
import math

import pytest

from cranfield.errors import InputError
from cranfield.io.crowd import parse_time, read_crowd_csv, read_label_studio

HEAD = (
    "HITId,HITTypeId,AssignmentId,WorkerId,AssignmentStatus,AcceptTime,SubmitTime,"
    "WorkTimeInSeconds,RequesterFeedback,Input.image_url,Answer.place,Answer.Sunny,Answer.Sky,"
    "Answer.comment\n"
)
ROWS = (
    "h1,t1,a1,W1,Approved,Mon Nov 01 10:00:00 GMT 2010,Mon Nov 01 10:02:30 GMT 2010,150,,"
    'https://pictures.example/x/im1.jpg,Indoor,true,false,"Cute, and nice"\n'
    "h1,t1,a2,W2,Rejected,Mon Nov 01 11:00:00 GMT 2010,Mon Nov 01 12:00:00 GMT 2010,100,empty,"
    "https://pictures.example/x/im1.jpg,,false,true,\n"
)


def test_a_row_of_a_crowd_platform_is_a_form(tmp_path):
    file = tmp_path / "batch1.csv"
    file.write_text(HEAD + ROWS)
    first, second = read_crowd_csv(file)
    assert (first.annotator, first.item, first.batch) == ("W1", "im1", "t1")
    assert first.values == {"Sunny": "1", "Sky": "0"}
    assert first.categories == {"place": "Indoor"}
    assert (first.seconds, first.comment) == (150.0, "Cute, and nice")
    assert first.done - first.given == 150
    assert first.rejected == ""
    assert second.rejected == "empty"
    assert second.values == {"Sunny": "0", "Sky": "1"}
    assert second.categories == {}
    flags = read_crowd_csv(file, categories=False)[0]
    assert (flags.values, flags.categories) == ({"Sunny": "1", "Sky": "0", "Indoor": "1"}, {})


def test_buttons_of_one_question_are_its_answers(tmp_path):
    file = tmp_path / "b.csv"
    head = "HITId,WorkerId,AssignmentStatus,Answer.place.Indoor,Answer.place.Outdoor,"
    file.write_text(
        head
        + "Answer.mood.label,Answer.seen.Dog,Answer.seen.Cat\n"
        + "h1,W1,Approved,true,false,calm,true,true\n"
        + "h2,W1,Approved,false,true,wild,false,false\n"
        + "h3,W1,Rejected,false,false,,false,false\n"
    )
    forms = read_crowd_csv(file)
    assert [f.categories for f in forms] == [
        {"place": "Indoor", "mood": "calm"},
        {"place": "Outdoor", "mood": "wild"},
        {},
    ]
    # Boxes of which several can be ticked stay concepts.
    assert [f.values for f in forms] == [
        {"Dog": "1", "Cat": "1"},
        {"Dog": "0", "Cat": "0"},
        {"Dog": "0", "Cat": "0"},
    ]


def test_a_question_of_label_studio_with_one_answer_each_is_of_categories(tmp_path):
    def annotation(person, *results):
        return {
            "completed_by": person,
            "result": [
                {"from_name": control, "type": "choices", "value": {"choices": names}}
                for control, names in results
            ],
        }

    tasks = [
        {
            "id": 1,
            "annotations": [
                annotation(1, ("place", ["Indoor"]), ("seen", ["Dog", "Cat"]), ("odd", ["odd"])),
                annotation(2, ("place", ["Outdoor"]), ("seen", ["Dog"])),
            ],
        }
    ]
    file = tmp_path / "export.json"
    file.write_text(json.dumps(tasks))
    first, second = read_label_studio(file)
    assert (first.categories, second.categories) == ({"place": "Indoor"}, {"place": "Outdoor"})
    assert first.values == {"Dog": "1", "Cat": "1", "odd": "1"}
    assert second.values == {"Dog": "1", "Cat": "0", "odd": "0"}
    flags = read_label_studio(file, categories=False)[1]
    assert flags.values == {"Indoor": "0", "Dog": "1", "Cat": "0", "odd": "0", "Outdoor": "1"}


def test_names_are_held_to_the_concepts(tmp_path):
    file = tmp_path / "b.csv"
    file.write_text(HEAD + ROWS)
    known = ["Indoor", "Outdoor", "Sunny", "Sky"]
    assert [tuple(f.values) for f in read_crowd_csv(file, concepts=known)] == [tuple(known)] * 2
    with pytest.raises(InputError, match=r"b\.csv:2: 'Indoor' is not a concept"):
        read_crowd_csv(file, concepts=["Sunny", "Sky"])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("WorkerId,Answer.x\nW,true\n", "expected the columns"),
        ("HITId,WorkerId,Answer.x\n", "no rows"),
        ("HITId,WorkerId,Answer.x\nh,,true\n", "WorkerId or HITId is empty"),
    ],
)
def test_what_is_no_result_of_a_platform(tmp_path, text, words):
    file = tmp_path / "b.csv"
    file.write_text(text)
    with pytest.raises(InputError, match=words):
        read_crowd_csv(file)


def test_several_answers_in_a_cell_and_nested_columns(tmp_path):
    file = tmp_path / "b.csv"
    file.write_text(
        "HITId,WorkerId,Answer.scene,Answer.more.Sunny\nh1,W1,Sky|Sea,true\nh2,W1,Sky,false\n"
    )
    one, two = read_crowd_csv(file)
    assert one.values == {"Sunny": "1", "Sky": "1", "Sea": "1"}
    assert two.values == {"Sunny": "0", "Sky": "1", "Sea": "0"}
    assert math.isnan(one.seconds)
    assert one.batch == "b"


def test_times_of_platforms():
    assert parse_time("Mon Nov 01 10:00:00 PST 2010") == parse_time("2010-11-01T18:00:00Z")
    assert math.isnan(parse_time("yesterday"))


TASKS = [
    {
        "id": 7,
        "project": 3,
        "data": {"image": "/data/upload/im7.png"},
        "annotations": [
            {
                "completed_by": {"id": 1, "email": "ann@example.org"},
                "lead_time": 12.5,
                "created_at": "2024-01-01T10:00:00Z",
                "result": [
                    {"from_name": "place", "type": "choices", "value": {"choices": ["Indoor"]}},
                    {"from_name": "t", "type": "taxonomy", "value": {"taxonomy": [["A", "Sky"]]}},
                    {"from_name": "stars", "type": "rating", "value": {"rating": 4}},
                    {"from_name": "why", "type": "textarea", "value": {"text": ["so cute"]}},
                ],
            },
            {"completed_by": 2, "was_cancelled": True, "result": []},
        ],
    }
]


def test_annotations_of_label_studio_are_forms(tmp_path):
    file = tmp_path / "export.json"
    file.write_text(json.dumps(TASKS))
    first, second = read_label_studio(file)
    assert (first.annotator, first.item, first.batch) == ("ann@example.org", "im7", "3")
    assert first.values == {"Indoor": "1", "Sky": "1", "stars": "4"}
    assert (first.seconds, first.comment) == (12.5, "so cute")
    assert (second.annotator, second.rejected) == ("2", "skipped by the annotator")
    with pytest.raises(InputError, match="'Indoor' is not a concept"):
        read_label_studio(file, concepts=["Sky"])
    for broken, words in (("{", "not JSON"), ("[]", "not a list"), ('[{"id": 1}]', "not a list")):
        file.write_text(broken)
        with pytest.raises(InputError, match=words):
            read_label_studio(file)
    file.write_text(json.dumps([{"annotations": [{"result": [{"value": {"taxonomy": [[]]}}]}]}]))
    with pytest.raises(InputError, match="unknown shape"):
        read_label_studio(file)
