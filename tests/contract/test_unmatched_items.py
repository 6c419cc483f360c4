"""A run whose items are not judged scores 0; it is said, with what would make ids agree."""

from __future__ import annotations

import unicodedata
from pathlib import Path

import pytest

import cranfield as cf
from cranfield.io.convert import encode_table
from cranfield.io.files import Input

NONE = "r: none of its items is judged"


def notes_of(run: object, *, judged: str = "img1 img2", topics: int = 3) -> tuple[str, ...]:
    truth = {f"t{t}": dict.fromkeys(judged.split(), 1) for t in range(topics)}
    return cf.evaluate(truth, {"r": run}, "AP").notes


def run_of(items: str, *, topics: int = 3) -> dict[str, dict[str, float]]:
    return {f"t{t}": {i: 1 / (r + 1) for r, i in enumerate(items.split())} for t in range(topics)}


@pytest.mark.parametrize(
    ("items", "judged", "hint"),
    [
        ("x y", "img1 img2", ""),
        ("x IMG2", "img1 img2", "when case is ignored: 'IMG2' here, 'img2' in the judgements"),
        ("img1.jpg", "img1", "without their endings: 'img1.jpg' here, 'img1' in the judgements"),
        ("img1", "img1.jpeg", "without their endings: 'img1' here, 'img1.jpeg' in the judgements"),
        (
            unicodedata.normalize("NFD", "é1"),
            "é1",
            "when Unicode is normalised: 'e\\u03011' here, '\\xe91' in the judgements",
        ),
        (
            "IMG1.JPG",
            "img1",
            "when case, endings and forms of Unicode are ignored: 'IMG1.JPG' here, 'img1' in the "
            "judgements",
        ),
    ],
)
def test_no_item_is_judged(items: str, judged: str, hint: str, tmp_path: Path) -> None:
    expected = (NONE + (f"; ids agree {hint}" if hint else ""),)
    run = run_of(items)
    assert notes_of(run, judged=judged) == expected
    assert notes_of(cf.Run.from_dict(run), judged=judged) == expected
    path = tmp_path / "r.run"
    path.write_bytes(encode_table(cf.Run.from_dict(run), "r.run"))
    assert notes_of(path, judged=judged) == expected
    assert notes_of(Input("r.run", path.read_bytes()), judged=judged) == expected


def test_no_item_of_many_topics_is_judged() -> None:
    run = run_of("IMG1", topics=2) | {"t2": {"img1": 1.0}}
    assert notes_of(run) == (
        f"{NONE} for 2 of 3 topics (t0, t1); ids agree when case is ignored: 'IMG1' here, 'img1' "
        "in the judgements",
    )
    assert notes_of(run_of("IMG1", topics=1) | {"t1": {"img1": 1.0}, "t2": {"img1": 1.0}}) == ()


def test_nothing_retrieved_is_another_matter() -> None:
    assert notes_of({"t0": {}, "t1": {}, "t2": {}}) == ()
