"""Codes of radiographs and places of a robot: the scores of two tasks of ImageCLEF."""

from __future__ import annotations

from pathlib import Path

import pytest

import cranfield as cf

# What Deselaers, Deserno and Müller print for the code 318a: a place that is left open is *.
TABLE_1 = {
    "318a": 0.0,
    "318*": 0.024,
    "3187": 0.049,
    "31*a": 0.082,
    "31**": 0.082,
    "3177": 0.165,
    "3***": 0.343,
    "32**": 0.687,
    "1000": 1.0,
}
# The branches at each place of that code, which the printed figures are of.
BRANCHES = (10, 3, 9, 16)
SIGNS = "0123456789abcdef"


def _codes(axis: str = "") -> dict[str, str]:
    """Every code along 318a with its dotted path, and 1000."""
    codes = {"1000": "1.0.0.0", "1": "1"} | {sign: sign for sign in SIGNS[:10]}
    start = ""
    for place, branches in zip("318a", BRANCHES, strict=True):
        if start:
            # The branches that are taken are among them.
            signs = {"3": "123", "31": SIGNS[:9], "318": SIGNS}[start]
            assert len(signs) == branches
            codes |= {start + sign: ".".join(start + sign) for sign in signs}
        start += place
    codes["3177"] = "3.1.7.7"
    return {axis + code: (f"{axis}.{path}" if axis else path) for code, path in codes.items()}


def _ontology(path: Path, *codes: dict[str, str]) -> Path:
    rows = [f"{code},{place}" for part in codes for code, place in part.items()]
    path.write_text("\n".join(["concept,path", *rows]) + "\n")
    return path


def _error(
    path: Path, true: set[str], predicted: set[str], name: str, *codes: dict[str, str]
) -> float:
    concepts = [code for part in codes for code in part]
    truth, run = (cf.LabelMatrix.of({"x": c}, concepts=concepts) for c in (true, predicted))
    scores = cf.evaluate_labels(truth, {"run": run}, name, ontology=_ontology(path, *codes))
    (error,) = scores.mean()["run"].values()
    return error


@pytest.mark.parametrize("code", TABLE_1)
def test_the_printed_errors_of_one_axis(code: str, tmp_path: Path) -> None:
    # What stands behind a place that is left open does not count.
    predicted = code.partition("*")[0]
    error = _error(tmp_path / "o.csv", {"318a"}, {predicted}, "IRMAError(axes='one')", _codes())
    assert error == pytest.approx(TABLE_1[code], abs=0.0005)


def test_axes_have_the_same_weight(tmp_path: Path) -> None:
    codes = (_codes("D"), _codes("A"))
    true = {"D318a", "A318a"}

    def error(*predicted: str) -> float:
        return _error(tmp_path / "o.csv", true, set(predicted), "IRMAError", *codes)

    assert error("D318a", "A318a") == 0
    assert error("D1000", "A318a") == 0.5
    assert error("D318a") == 0.25  # nothing is said of an axis: half of it
    assert error() == 0.5
    assert error("D3187", "A1000") == pytest.approx((0.0489 + 1) / 2, abs=1e-4)
    # Labels above the code change nothing; two codes on an axis are wrong.
    assert error("D3", "D31", "D318", "D318a", "A318a") == 0
    assert error("D318a", "D3187", "A318a") == 0.5


def test_items_without_one_true_code_are_left_out(tmp_path: Path) -> None:
    codes = _codes("D")
    path = _ontology(tmp_path / "o.csv", codes)
    truth = {"a": {"D318a"}, "b": {"D318a", "D1000"}, "c": set()}
    truth = cf.LabelMatrix.of(truth, concepts=list(codes))
    scores = cf.evaluate_labels(truth, {"run": truth}, "IRMAError", ontology=path)
    assert scores.mean()["run"]["IRMAError"] == 0
    (values,) = scores.values[scores.measures[0]].tolist()
    assert values[0] == 0
    assert values[1] != values[1]
    assert values[2] != values[2]


def test_places_of_a_robot() -> None:
    """The rules of 2009: 1 for right, -0.5 for wrong, 0 where the algorithm refrains."""
    truth = {"a": {"Kitchen"}, "b": {"Corridor"}, "c": {"Unknown"}, "d": {"Kitchen"}}
    run = {"a": {"Kitchen"}, "b": {"Kitchen"}, "c": {"Unknown"}, "d": set()}
    names = "RobotVisionScore RobotVisionScore(wrong=1)"
    scores = cf.evaluate_labels(truth, {"run": run}, names)
    assert list(scores.mean()["run"].values()) == [1.5 / 4, 1 / 4]
    assert scores.values[scores.measures[0]].tolist() == [[1.0, -0.5, 1.0, 0.0]]
    several = {"a": {"Kitchen", "Corridor"}, "b": set(), "c": set(), "d": set()}
    assert cf.evaluate_labels(truth, {"run": several}, "RobotVisionScore").mean() == {
        "run": {"RobotVisionScore": -0.125}
    }
