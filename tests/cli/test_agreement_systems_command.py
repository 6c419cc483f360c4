"""`cranfield agreement --systems`: does it matter whose truth is used?"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from cranfield.cli import main

ITEMS, CONCEPTS, RUNS = 60, 6, 7


@pytest.fixture
def study(tmp_path: Path) -> tuple[Path, dict[str, NDArray[np.bool_]], list[NDArray[np.float64]]]:
    """A log of five annotators, one of them at random, and runs of falling quality."""
    rng = np.random.default_rng(11)
    truth = rng.random((ITEMS, CONCEPTS)) < 0.4
    said = {f"a{k}": truth ^ (rng.random(truth.shape) < 0.03) for k in range(4)}
    said["random"] = rng.random(truth.shape) < 0.4
    rows = ["annotator,item,concept,value"]
    for who, table in said.items():
        rows += [
            f"{who},i{i:02d},c{c},{int(table[i, c])}" for i in range(ITEMS) for c in range(CONCEPTS)
        ]
    (tmp_path / "log.csv").write_text("\n".join(rows) + "\n")
    runs = []
    for r in range(RUNS):
        noise = rng.normal(0.25, 0.15 + 0.08 * r, truth.shape)
        scores = np.clip(0.5 * truth + noise, 0, 1).round(4)
        runs.append(scores)
        lines = ["item," + ",".join(f"c{c}" for c in range(CONCEPTS))]
        lines += [f"i{i:02d}," + ",".join(map(str, scores[i])) for i in range(ITEMS)]
        (tmp_path / f"run{r}.csv").write_text("\n".join(lines) + "\n")
    return tmp_path, said, runs


def test_rankings_equal_scikit_learn_and_scipy(
    study: tuple[Path, dict[str, NDArray[np.bool_]], list[NDArray[np.float64]]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    from scipy.stats import kendalltau
    from sklearn.metrics import roc_auc_score

    folder, said, runs = study
    files = [str(folder / f"run{r}.csv") for r in range(RUNS)]
    args = ["agreement", str(folder / "log.csv"), "--systems", *files, "-m", "AUC"]
    assert main([*args, "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["systems"]["measures"][0]
    merged = sum(table.astype(int) for table in said.values()) > 2
    truths = said | {"merged": merged}
    expected = {
        name: [roc_auc_score(table, run, average="macro") for run in runs]
        for name, table in truths.items()
    }
    assert [t["truth"] for t in found["truths"]] == list(truths)
    for row in found["truths"]:
        assert list(row["scores"].values()) == pytest.approx(expected[row["truth"]])
    taus = {}
    for pair in found["pairs"]:
        tau = kendalltau(expected[pair["a"]], expected[pair["b"]]).statistic
        taus[pair["a"], pair["b"]] = tau
        assert pair["kendall"] == pytest.approx(tau)
        assert pair["systems"] == RUNS
    assert found["mean_kendall"] == pytest.approx(np.mean(list(taus.values())))
    means = {t["truth"]: t["mean_kendall"] for t in found["truths"]}
    assert min(means, key=means.__getitem__) == "random"


def test_a_measure_that_falls_ranks_the_same_way(
    study: tuple[Path, dict[str, NDArray[np.bool_]], list[NDArray[np.float64]]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = study[0]
    files = [str(folder / f"run{r}.csv") for r in range(RUNS)]
    groups = folder / "groups.csv"
    groups.write_text("annotator,group\na0,experts\na1,experts\na2,experts\nrandom,crowd\n")
    args = ["agreement", str(folder / "log.csv"), "--systems", *files, "-m", "EER HammingLoss"]
    assert main([*args, "--groups", str(groups)]) == 0
    shown = capsys.readouterr().out
    assert "Rankings of 7 systems under EER: Kendall's tau" in shown
    assert "experts" in shown
    assert "Kolmogorov-Smirnov finds" in shown


def test_too_few_runs_and_double_names(
    study: tuple[Path, dict[str, NDArray[np.bool_]], list[NDArray[np.float64]]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    folder = study[0]
    run = str(folder / "run0.csv")
    log = str(folder / "log.csv")
    assert main(["agreement", log, "--systems", run, str(folder / "run1.csv")]) == 2
    assert "give at least three" in capsys.readouterr().err
    assert main(["agreement", log, "--systems", run, run, run]) == 2
    assert "two runs are named 'run0'" in capsys.readouterr().err


def test_who_skipped_items_ranks_on_the_rest_and_who_skipped_most_not_at_all(
    study: tuple[Path, dict[str, NDArray[np.bool_]], list[NDArray[np.float64]]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    from sklearn.metrics import roc_auc_score

    folder, said, runs = study
    rows = (folder / "log.csv").read_text().splitlines()
    kept = [r for r in rows if not (r.startswith("a1,") and int(r.split(",")[1][1:]) >= 40)]
    kept = [r for r in kept if not (r.startswith("a2,") and int(r.split(",")[1][1:]) >= 10)]
    (folder / "gaps.csv").write_text("\n".join(kept) + "\n")
    files = [str(folder / f"run{r}.csv") for r in range(RUNS)]
    args = ["agreement", str(folder / "gaps.csv"), "--systems", *files, "-m", "AUC"]
    assert main([*args, "--format", "json"]) == 0
    shown = capsys.readouterr()
    found = json.loads(shown.out)["systems"]
    assert found["without_truth"] == ["a2"]
    assert "1 annotators judged too few items" in shown.err
    scores = {t["truth"]: t["scores"] for t in found["measures"][0]["truths"]}
    expected = [roc_auc_score(said["a1"][:40], run[:40], average="macro") for run in runs]
    assert list(scores["a1"].values()) == pytest.approx(expected)


def test_os_takes_an_agreement_map_of_its_own(
    study: tuple[Path, dict[str, NDArray[np.bool_]], list[NDArray[np.float64]]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Thesis, Table 6.3: rankings under OS, whose errors are weighed by agreements."""
    folder = study[0]
    files = [str(folder / f"run{r}.csv") for r in range(RUNS)]
    (folder / "ontology.csv").write_text(
        "concept,path\n" + "".join(f"c{c},Root.c{c}\n" for c in range(CONCEPTS))
    )
    (folder / "rules.toml").write_text('[[exactly_one]]\nconcepts = ["c0", "c1"]\n')
    half = folder / "agreement.csv"
    half.write_text("concept,agreement\n" + "".join(f"c{c},0.5\n" for c in range(CONCEPTS)))
    forms = [line for line in (folder / "log.csv").read_text().splitlines() if "c0" not in line]
    # Exactly one of c0 and c1 in every form, so that the rules leave all of them in.
    ones = [line for line in forms if ",c1," in line]
    forms += [line[:-1].replace(",c1,", ",c0,") + str(1 - int(line[-1])) for line in ones]
    (folder / "forms.csv").write_text("\n".join(forms) + "\n")
    args = ["agreement", str(folder / "forms.csv"), "--systems", *files, "-m", "OS"]
    args += ["--ontology", str(folder / "ontology.csv"), "--rules", str(folder / "rules.toml")]
    scores = []
    for more in ([], ["--agreement", str(half)]):
        assert main([*args, *more, "--format", "json"]) == 0
        found = json.loads(capsys.readouterr().out)["systems"]["measures"][0]
        scores.append(found["truths"][0]["scores"]["run0"])
    assert scores[0] != scores[1]
    assert main(["agreement", str(folder / "log.csv"), "--agreement", str(half)]) == 2
    assert "--agreement belongs to --systems" in capsys.readouterr().err


def test_an_ontology_without_exclusive_groups_serves_os(
    study: tuple[Path, dict[str, NDArray[np.bool_]], list[NDArray[np.float64]]],
    capsys: pytest.CaptureFixture[str],
) -> None:
    """A tree alone has no form to reject, and OS needs no more: the scores are those of `label`."""
    folder, said, _ = study
    rows = [f"c{c},group{c % 2}.c{c}" for c in range(CONCEPTS)]
    (folder / "tree.csv").write_text("\n".join(["concept,path", *rows]) + "\n")
    weights = [f"c{c},1" for c in range(CONCEPTS)]
    (folder / "map.csv").write_text("\n".join(["concept,agreement", *weights]) + "\n")
    table = ["item," + ",".join(f"c{c}" for c in range(CONCEPTS))]
    table += [f"i{i:02d}," + ",".join(str(int(v)) for v in said["a0"][i]) for i in range(ITEMS)]
    (folder / "a0.csv").write_text("\n".join(table) + "\n")
    files = [str(folder / f"run{r}.csv") for r in range(RUNS)]
    known = ["--ontology", str(folder / "tree.csv"), "-m", "OS", "--format", "json"]
    log = [str(folder / "log.csv"), "--systems", *files, "--agreement", str(folder / "map.csv")]
    assert main(["agreement", *log, *known]) == 0
    found = json.loads(capsys.readouterr().out)
    assert any("no exclusive group" in note for note in found["notes"])
    ranked = {t["truth"]: t["scores"] for t in found["systems"]["measures"][0]["truths"]}
    assert main(["label", str(folder / "a0.csv"), *files, *known]) == 0
    runs = json.loads(capsys.readouterr().out)["runs"]
    assert ranked["a0"] == pytest.approx({r["name"]: r["mean"]["OS"] for r in runs})
