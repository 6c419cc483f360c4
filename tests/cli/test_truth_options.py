"""--gold and --silver: which file is which, what is printed, and what is refused."""

import json

import numpy as np
import pytest

from cranfield.cli import main

FEW = 12


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    lines = {"gold": [], "silver": [], "a": [], "b": []}
    labels = {"gold": ["item,x,y"], "silver": ["item,x,y"], "a": ["item,x,y"], "b": ["item,x,y"]}
    for t in range(30):
        grades = (rng.random(8) < rng.uniform(0.2, 0.8)).astype(int)
        for i, grade in enumerate(grades):
            noisy = grade ^ int(rng.random() < 0.1)
            lines["silver"].append(f"t{t} 0 d{i} {noisy}")
            if t < FEW:
                lines["gold"].append(f"t{t} 0 d{i} {grade}")
            for name, skill in (("a", 1.0), ("b", 0.2)):
                lines[name].append(f"t{t} Q0 d{i} 0 {skill * grade + rng.normal():.6f} {name}")
        row = (t % 2, int(t % 3 == 0))
        if t < FEW:
            labels["gold"].append(f"i{t},{row[0]},{row[1]}")
        labels["silver"].append(f"i{t},{row[0]},{row[1] ^ int(rng.random() < 0.2)}")
        for name in "ab":
            labels[name].append(f"i{t},{rng.random():.3f},{rng.random():.3f}")
    for name in ("gold", "silver"):
        (tmp_path / f"{name}.qrels").write_text("\n".join(lines[name]) + "\n")
    for name in "ab":
        (tmp_path / f"{name}.run").write_text("\n".join(lines[name]) + "\n")
    for name, rows in labels.items():
        (tmp_path / f"{name}.csv").write_text("\n".join(rows) + "\n")
    return tmp_path


BOTH = "--gold gold.qrels --silver silver.qrels"


def printed(capsys, line):
    assert main([*line.split(), "--format", "json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_three_ways_to_name_gold_and_silver_say_the_same(folder, capsys):
    both = printed(capsys, f"eval {BOTH} a.run b.run -m AP -m P@5")
    first = printed(capsys, "eval silver.qrels a.run b.run --gold gold.qrels -m AP -m P@5")
    other = printed(capsys, "eval gold.qrels a.run b.run --silver silver.qrels -m AP -m P@5")
    assert both == first == other
    assert (both["command"], both["gold_units"], both["silver_units"]) == ("eval", FEW, 30)
    assert [e["measure"] for e in both["estimates"]] == ["AP", "AP", "P@5", "P@5"]


def test_annotation(folder, capsys):
    one = printed(capsys, "label --gold gold.csv --silver silver.csv a.csv -m HammingLoss")
    assert (one["command"], one["unit"]) == ("label", "item")
    line = "compare --truth silver.csv --gold gold.csv a.csv b.csv -m HammingLoss"
    two = printed(capsys, line)
    assert (two["command"], len(two["pairs"])) == ("compare", 1)


def test_comparison_has_pairs_with_both_targets(folder, capsys):
    line = f"compare {BOTH} a.run b.run -m AP"
    found = printed(capsys, f"{line} --baseline b --seed 3 --resamples 999")
    (pair,) = found["pairs"]
    assert (pair["a"], pair["b"], found["seed"]) == ("a", "b", 3)
    assert pair["ci"] == pair["such"] != pair["these"]
    assert pair["effective"] >= FEW
    assert main(line.split()) == 0
    text = capsys.readouterr().out
    for words in ("these units", "such units", "gold", "worth"):
        assert words in text


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("eval silver.qrels --gold gold.qrels", "need a run or more"),
        (f"eval a.run {BOTH} --per-topic", "--per-topic cannot be combined with --gold and"),
        (f"compare a.run b.run {BOTH} --tail one", "--tail cannot be combined"),
        ("eval silver.qrels a.run --few-gold", "--few-gold is for --gold and --silver"),
        ("eval silver.qrels a.run --width 0.1", "--width is for --gold and --silver"),
        (f"eval {BOTH} a.run --width 0", "--width 0.0 is not a number above 0"),
        ("eval silver.qrels", "are required: RUN"),
        ("label silver.csv", "are required: RUN"),
        ("eval gold.qrels a.run --gold silver.qrels", "must be part of the silver's topics"),
        ("eval silver.qrels a.run --gold one.qrels", "no interval can be made"),
        ("eval silver.qrels a.run --gold four.qrels", "--few-gold"),
    ],
)
def test_what_cannot_be_asked_is_said(folder, capsys, line, said):
    gold = (folder / "gold.qrels").read_text().splitlines()
    for name, n in (("one", 1), ("four", 4)):
        few = [row for row in gold if row.split()[0] in {f"t{t}" for t in range(n)}]
        (folder / f"{name}.qrels").write_text("\n".join(few) + "\n")
    assert main(line.split()) == 2
    assert said in capsys.readouterr().err
