"""`cranfield fuse` and `cf.fuse`: worked examples, an outside tool, tuning that does not peek."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import cranfield as cf
from cranfield.cli import main
from cranfield.errors import UsageError
from cranfield.evaluation.fusion import METHODS

FIRST = {"t": {"a": 3.0, "b": 2.0, "c": 1.0}}
SECOND = {"t": {"c": 30.0, "d": 20.0}}


def fused(method: str, **options: object) -> dict[str, float]:
    return cf.fuse({"one": FIRST, "two": SECOND}, method, **options).run.to_dict()["t"]


def test_worked_examples() -> None:
    assert fused("combsum") == {"a": 1.0, "b": 0.5, "c": 1.0, "d": 0.0}
    assert fused("minmax") == fused("combsum")
    assert fused("combmnz") == {"a": 1.0, "b": 0.5, "c": 2.0, "d": 0.0}
    assert fused("combanz") == {"a": 1.0, "b": 0.5, "c": 0.5, "d": 0.0}
    assert fused("combmax") == {"a": 1.0, "b": 0.5, "c": 1.0, "d": 0.0}
    assert fused("combmin") == {"a": 0.0, "b": 0.0, "c": 0.0, "d": 0.0}
    assert fused("sum") == {"a": 3.0, "b": 2.0, "c": 31.0, "d": 20.0}
    assert fused("rrf") == pytest.approx(
        {"a": 1 / 61, "b": 1 / 62, "c": 1 / 63 + 1 / 61, "d": 1 / 62}
    )
    assert fused("rrf(k=0)") == pytest.approx({"a": 1, "b": 1 / 2, "c": 1 / 3 + 1, "d": 1 / 2})
    # Four items: 3, 2, 1 points and 0 for d; 3, 2 and (1 + 0) / 2 for each of a and b.
    assert fused("borda") == {"a": 3.5, "b": 2.5, "c": 4.0, "d": 2.0}
    z = np.sqrt(1.5)
    assert fused("zsum") == pytest.approx({"a": z - 1, "b": -1, "c": 1 - z, "d": -1 - z})


def test_weights_and_depth() -> None:
    assert fused("sum", weights=[2, 0]) == {"a": 6.0, "b": 4.0, "c": 2.0, "d": 0.0}
    assert fused("sum", weights={"two": 0}, k=2) == {"a": 3.0, "b": 2.0}
    with pytest.raises(UsageError, match="2 numbers"):
        fused("sum", weights=[1.0])
    with pytest.raises(UsageError, match="none of the runs"):
        fused("sum", weights={"three": 1.0})


@pytest.mark.parametrize("method", METHODS)
def test_topics_and_runs_of_one_score_or_no_items(method: str) -> None:
    one = {"t": {"a": 1.0, "b": 1.0}, "only": {"x": 5.0}}
    found = cf.fuse({"one": one, "two": {"t": {"c": 2.0}}}, method).run.to_dict()
    assert set(found) == {"t", "only"}
    assert set(found["t"]) == {"a", "b", "c"}
    assert all(np.isfinite(list(scores.values())).all() for scores in found.values())


@pytest.mark.parametrize("method", METHODS)
def test_one_run_keeps_its_order(method: str) -> None:
    rng = np.random.default_rng(1)
    run = {"t": {f"d{i}": float(s) for i, s in enumerate(rng.random(20))}}
    alone = cf.fuse({"one": run}, method).run
    assert alone.ranking("t") == cf.fuse({"one": run}, "sum").run.ranking("t")


@pytest.mark.filterwarnings("ignore")  # of the compiler that ranx works with
def test_ranx_gives_the_same() -> None:
    ranx = pytest.importorskip("ranx", reason="ranx is no dependency of the suite")
    rng = np.random.default_rng(2)
    runs = {}
    for name in ("one", "two", "three"):
        items = rng.choice(30, 12, replace=False)
        runs[name] = {f"t{t}": {f"d{i}": float(rng.random()) for i in items} for t in range(4)}
    for ours, theirs, norm in (("combsum", "sum", "min-max"), ("combmnz", "mnz", "min-max")):
        wanted = ranx.fuse(
            [ranx.Run(run, name=name) for name, run in runs.items()], norm=norm, method=theirs
        ).to_dict()
        found = cf.fuse(runs, ours).run.to_dict()
        for topic, scores in wanted.items():
            assert found[topic] == pytest.approx(scores)


def made(seed: int, good: float) -> dict[str, dict[str, float]]:
    """A run of 20 topics in which the relevant items 0..4 of 40 are raised by `good`."""
    rng = np.random.default_rng(seed)
    return {
        f"t{t}": {f"d{i}": float(rng.random() + good * (i < 5)) for i in range(40)}
        for t in range(20)
    }


QRELS = {f"t{t}": {f"d{i}": int(i < 5) for i in range(40)} for t in range(20)}


def test_tuning_helps_and_is_held_out() -> None:
    runs = {"good": made(1, 0.8), "poor": made(2, -0.5), "noise": made(3, 0.0)}
    plain = cf.fuse(runs, "combsum").run
    tuned = cf.fuse(runs, "combsum", tune=QRELS, folds=4)
    both = cf.evaluate(QRELS, {"plain": plain, "tuned": tuned.run}, "AP").mean()
    assert both["tuned"]["AP"] > both["plain"]["AP"]
    assert tuned.held_out == pytest.approx(both["tuned"]["AP"])
    assert len(tuned.folds) == 4
    assert sorted(t for fold in tuned.folds for t in fold.topics) == sorted(QRELS)
    assert "other folds" in tuned.notes[0]
    # The ranking of a topic does not change with its own judgements.
    turned = {t: {i: 1 - g for i, g in grades.items()} for t, grades in QRELS.items()}
    fold = tuned.folds[0]
    changed = {t: (turned if t in fold.topics else QRELS)[t] for t in QRELS}
    again = cf.fuse(runs, "combsum", tune=changed, folds=4)
    for topic in fold.topics:
        assert again.run.to_dict()[topic] == tuned.run.to_dict()[topic]


def test_too_few_topics_to_tune() -> None:
    with pytest.raises(UsageError, match="1 judged topic"):
        cf.fuse([FIRST, SECOND], tune={"t": {"a": 1}})
    with pytest.raises(UsageError, match="not both"):
        cf.fuse([FIRST, SECOND], tune=QRELS, weights=[1, 1])


def write_run(path: Path, run: dict[str, dict[str, float]]) -> Path:
    lines = [
        f"{topic} Q0 {item} 1 {score!r} x\n"
        for topic, items in run.items()
        for item, score in items.items()
    ]
    path.write_text("".join(lines))
    return path


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [str(write_run(tmp_path / f"{n}.run", made(n, n / 2))) for n in (1, 2)]
    assert main(["fuse", *runs, "--method", "rrf"]) == 0
    assert capsys.readouterr().out.startswith("t0 Q0 ")
    qrels = tmp_path / "qrels.txt"
    qrels.write_text("".join(f"{t} 0 {i} {g}\n" for t, d in QRELS.items() for i, g in d.items()))
    out = tmp_path / "both.run"
    args = ["fuse", *runs, "--tune", str(qrels), "--folds", "2", "-o", str(out)]
    assert main([*args, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["method"] == "zsum"
    assert len(found["tuned"]["folds"]) == 2
    assert cf.read_run(out).name == "both"
    assert main([*args, "--format", "table"]) == 0
    assert "each held out" in capsys.readouterr().out
    assert main(["fuse", *runs, "--method", "rff"]) == 2
    assert "Did you mean 'rrf'" in capsys.readouterr().err


def test_answers_are_saved_and_loaded(tmp_path: Path) -> None:
    found = cf.fuse({"one": made(1, 1.0), "two": made(2, 0.5)}, "rrf(k=10)", tune=QRELS)
    found.save(tmp_path / "fusion.json")
    again = cf.load(tmp_path / "fusion.json")
    assert again == found
    assert again.run.to_dict() == found.run.to_dict()


def test_confidences_of_labels(tmp_path: Path) -> None:
    for name, rows in (("a", "x,0.9,0.1\ny,0.5,0.4"), ("b", "y,0.1,0.0\nx,0.3,0.9")):
        (tmp_path / f"{name}.csv").write_text(f"item,sea,sky\n{rows}\n")
    runs = [str(tmp_path / "a.csv"), str(tmp_path / "b.csv")]

    def of(method: str, **options: object) -> list[list[float]]:
        return np.asarray(cf.fuse_labels(runs, method, **options).confidences).round(6).tolist()

    assert of("mean") == [[0.6, 0.5], [0.3, 0.2]]
    assert of("mean", weights=[3, 1]) == [[0.75, 0.3], [0.4, 0.3]]
    assert of("max") == [[0.9, 0.9], [0.5, 0.4]]
    assert of("min") == [[0.3, 0.1], [0.1, 0.0]]
    assert of("product") == [[round(0.27**0.5, 6), 0.3], [round(0.05**0.5, 6), 0.0]]
    assert of("borda") == [[1.0, 0.5], [0.0, 0.5]]
    assert of("zsum") == [[0.841345, 0.5], [0.158655, 0.5]]
    out = tmp_path / "both.csv"
    assert main(["fuse", "--labels", *runs, "-o", str(out)]) == 0
    np.testing.assert_allclose(cf.read_labels(out).confidences, [[0.6, 0.5], [0.3, 0.2]])


def test_a_run_without_weight_takes_no_part_in_a_product() -> None:
    first, second = {"x": {"sea": 0.0}}, {"x": {"sea": 0.3}}
    fused = cf.fuse_labels([first, second], "product", weights=[0, 1])
    assert np.asarray(fused.confidences).tolist() == [[pytest.approx(0.3)]]
