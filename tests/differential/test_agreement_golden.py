"""Agreement and aggregation against values that outside tools gave (tests/golden)."""

from __future__ import annotations

import csv
import hashlib
import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cranfield.agreement.aggregation import aggregate_judgements
from cranfield.agreement.coefficients import (
    Tallies,
    fleiss,
    free_marginal,
    gwet,
    krippendorff,
    unit_counts,
)
from cranfield.data.judgement_log import judgement_log
from cranfield.io.judgement_log import read_judgement_log

ROOT = Path(__file__).parents[2]
GOLDEN: dict[str, Any] = json.loads((ROOT / "tests/golden/agreement.json").read_text())


def value_of(name: str, tallies: Tallies) -> float:
    kind, _, variant = name.partition(" ")
    if kind == "krippendorff":
        return krippendorff(tallies, variant)  # type: ignore[arg-type]
    if kind == "gwet":
        return gwet(tallies, variant)  # type: ignore[arg-type]
    return {"fleiss": fleiss, "free_marginal": free_marginal}[kind](tallies)


@pytest.mark.parametrize("number", range(len(GOLDEN["tables"])))
def test_coefficients_equal_krippendorff_and_irrcac(number: int) -> None:
    golden = GOLDEN["tables"][number]
    cells = [
        (f"a{a}", f"i{i}", v)
        for a, row in enumerate(golden["rows"])
        for i, v in enumerate(row)
        if v is not None
    ]
    tallies = unit_counts(judgement_log(*zip(*cells, strict=True))).tallies()
    for name, expected in golden["values"].items():
        assert value_of(name, tallies) == pytest.approx(expected, abs=1e-10), name


@pytest.mark.parametrize("method", ["majority", "weighted-majority", "dawid-skene", "one-coin"])
@pytest.mark.parametrize("name", list(GOLDEN["crowd"]))
def test_aggregation_equals_crowd_kit_on_real_logs(
    name: str, method: str, outside: Callable[[str, str], Path]
) -> None:
    folder = outside(f"crowd/{name}", f"the crowd log {name}")
    golden = GOLDEN["crowd"][name][method]
    log = read_judgement_log(folder / "label.csv", duplicates="first")
    steps = {"iterations": GOLDEN["steps"], "tolerance": -math.inf, "prior": 0}
    how = {} if "majority" in method else steps
    found = aggregate_judgements(log, method, ties="lowest", **how)  # type: ignore[arg-type]
    order = np.argsort([int(log.items[i]) for i in found.item])
    winners = {int(log.items[found.item[u]]): log.values[found.winner[u]] for u in order}
    text = "\n".join(f"{item},{label}" for item, label in winners.items())
    # One-coin posteriors of crowd-kit are floored, which moves some by up to 1e-4.
    close = 1e-4 if method == "one-coin" else 1e-8
    assert np.allclose(found.probability[order[:20]], golden["first"], atol=close)
    assert hashlib.sha256(text.encode()).hexdigest() == golden["labels_sha256"]
    with (folder / "truth.csv").open() as stream:
        truth = {int(row["item"]): row["truth"] for row in csv.DictReader(stream)}
    right = sum(winners.get(item) == answer for item, answer in truth.items())
    assert right / len(truth) == pytest.approx(golden["accuracy"])
