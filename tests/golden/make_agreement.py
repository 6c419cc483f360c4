"""Writes agreement.json: what krippendorff, irrCAC and crowd-kit answer.

Run in an environment that has them, from the root of the repository:

    python -m pip install krippendorff==0.9.0 irrCAC==0.4.4 crowd-kit==1.4.2
    python tests/golden/make_agreement.py

The crowd logs, which may not be shipped, are read from crowd/ below the folder CRANFIELD_DATA.
"""

from __future__ import annotations

import hashlib
import json
import os
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

HERE = Path(__file__).parent
CROWD = Path(os.environ.get("CRANFIELD_DATA", ""), "crowd")
STEPS = 25


def tables() -> list[np.ndarray[Any, Any]]:
    rng = np.random.default_rng(2011)
    found = []
    shapes = [(2, 25, 2, 0), (4, 30, 3, 0.2), (6, 25, 5, 0.4), (3, 40, 4, 0.6)]
    for people, items, q, missing in shapes:
        truth = rng.integers(1, q + 1, items)
        said = np.where(
            rng.random((people, items)) < 0.6, truth, rng.integers(1, q + 1, (people, items))
        ).astype(float)
        said[rng.random(said.shape) < missing] = np.nan
        found.append(said)
    found.append(np.tile([1.0, 2.0] * 6, (3, 1)))  # perfect agreement
    found.append(np.stack([np.array([1.0, 2.0] * 6), np.array([2.0, 1.0] * 6)]))  # none at all
    return found


def coefficients(table: np.ndarray[Any, Any]) -> dict[str, float]:
    import krippendorff
    from irrCAC.raw import CAC

    values: dict[str, float] = {}
    for level in ("nominal", "ordinal", "interval"):
        values[f"krippendorff {level}"] = float(
            krippendorff.alpha(reliability_data=table, level_of_measurement=level)
        )
    for weights in ("identity", "linear", "quadratic", "ordinal"):
        cac = CAC(pd.DataFrame(table.T).copy(), weights=weights, digits=15)
        values[f"gwet {weights}"] = float(cac.gwet()["est"]["coefficient_value"])
    cac = CAC(pd.DataFrame(table.T).copy(), digits=15)
    values["fleiss"] = float(cac.fleiss()["est"]["coefficient_value"])
    values["free_marginal"] = float(cac.bp()["est"]["coefficient_value"])
    return values


def wawa(log: pd.DataFrame) -> tuple[pd.Series[Any], pd.DataFrame]:
    """Wawa.predict of crowd-kit 1.4.2 fails on recent scikit-learn; these are its two steps."""
    from crowdkit.aggregation import MajorityVote, Wawa

    skills = Wawa().fit(log).skills_
    votes = MajorityVote()
    probabilities = votes.fit_predict_proba(log, skills)
    return votes.labels_, probabilities


def crowd(name: str) -> dict[str, Any]:
    from crowdkit.aggregation import DawidSkene, MajorityVote, OneCoinDawidSkene

    log = pd.read_csv(CROWD / name / "label.csv").rename(columns={"item": "task"})
    log = log.drop_duplicates(["task", "worker"])
    truth = pd.read_csv(CROWD / name / "truth.csv").set_index("item")["truth"]
    results: dict[str, Any] = {}
    models = {
        "majority": MajorityVote(),
        "dawid-skene": DawidSkene(n_iter=STEPS, tol=-1e9),
        "one-coin": OneCoinDawidSkene(n_iter=STEPS, tol=-1e9),
    }
    for method in (*models, "weighted-majority"):
        if method == "weighted-majority":
            labels, probabilities = wawa(log)
        else:
            labels = models[method].fit_predict(log)
            probabilities = models[method].probas_
        labels = labels.sort_index()
        text = "\n".join(f"{item},{label}" for item, label in labels.items())
        first = probabilities.sort_index().sort_index(axis=1).head(20)
        results[method] = {
            "labels_sha256": hashlib.sha256(text.encode()).hexdigest(),
            "accuracy": float((labels.reindex(truth.index) == truth).mean()),
            "first": first.fillna(0.0).to_numpy().tolist(),
        }
    return results


def main() -> None:
    answer = {
        "made_with": {p: version(p) for p in ("krippendorff", "irrCAC", "crowd-kit")},
        "steps": STEPS,
        "tables": [
            {
                "rows": [[None if np.isnan(v) else v for v in row] for row in table.tolist()],
                "values": coefficients(table),
            }
            for table in tables()
        ],
        "crowd": {name: crowd(name) for name in ("rte", "web", "bluebird", "trec2010_relevance")},
    }
    (HERE / "agreement.json").write_text(json.dumps(answer, indent=1) + "\n")


if __name__ == "__main__":
    main()
