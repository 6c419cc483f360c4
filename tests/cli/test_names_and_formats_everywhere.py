"""Every spelling and every format that people bring, at every door, against the canonical form."""

import json
import sys
import types
from math import log
from typing import NamedTuple

import pytest

import cranfield as cf
from cranfield.cli import main

# Five topics on which measures differ, and on which another order or another rule shows.
QRELS = {
    "1": {"a": 1, "b": 0, "d": 2, "x": 1},
    "2": {"c": 2, "e": 0},
    "3": {"f": 1, "g": 3, "h": 0},
    "4": {"k": 1, "l": 1},
    "5": {"m": 2, "n": 1},
}
RUN = {
    "1": {"a": 2.0, "b": 3.0, "d": 1.0, "u": 0.25},
    "2": {"e": 2.0, "c": 1.0},
    "3": {"h": 5.0, "g": 4.0, "f": 0.5},
    "4": {"v": 9.0, "w": 8.0, "l": 7.0},
    "5": {"n": 2.0, "m": 1.0},
}
OTHER = {"1": {"d": 1.0}, "2": {"c": 1.0}, "3": {"f": 1.0}, "4": {"k": 1.0}, "5": {"z": 1.0}}
TRUTH = {"p": {"Sky", "Blue Sea"}, "q": {"Sky"}, "r": {"Blue Sea"}, "s": {"Sky"}}
SURE = {
    "p": {"Sky": 0.9, "Blue Sea": 0.4},
    "q": {"Sky": 0.3, "Blue Sea": 0.8},
    "r": {"Sky": 0.2, "Blue Sea": 0.7},
    "s": {"Sky": 0.6, "Blue Sea": 0.1},
}
LOGITS = {item: {c: log(v / (1 - v)) for c, v in row.items()} for item, row in SURE.items()}
ORDER = {topic: sorted(found, key=lambda i, f=found: -f[i]) for topic, found in RUN.items()}

SPELLINGS = {
    "MAP": "AP",
    "map": "AP",
    "MRR": "RR",
    "NDCG@10": "nDCG@10",
    "ndcg_cut_10": "nDCG@10",
    "recip_rank": "RR",
    "Recall@100": "R@100",
    "Precision@5": "P@5",
    "P_10": "P@10",
    "Hits@10": "Success@10",
    "success@1": "Success@1",
    "F1@10": "F@10",
    "F@10": "F@10",
    "nDCG@5,10,20": "nDCG@5 nDCG@10 nDCG@20",
    "MiAP": "iAP",
    "F1": "SetF",
}
FOR_LABELS = {"MAP": "AP.concept", "MiAP": "iAP.concept", "F1": "F.example", "f1": "F.example"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, content in {"q": QRELS, "r": RUN, "o": OTHER}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    (tmp_path / "truth.json").write_text(json.dumps({k: sorted(v) for k, v in TRUTH.items()}))
    for name, content in {"sure": SURE, "less": {k: {"Sky": 0.5} for k in SURE}}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(content))
    return tmp_path


@pytest.fixture
def ask(capsys):
    def asked(*words):
        assert main([*words, "--format", "json", "--quiet"]) == 0, capsys.readouterr().err
        found = json.loads(capsys.readouterr().out)
        found.get("truth", {}).pop("name", None)
        # Which rule was taken is noted where there is no header.
        found["notes"] = [note for note in found["notes"] if "third column" not in note]
        return found

    return asked


def test_the_canonical_measures_differ_on_these_files():
    """Or a spelling that leads to the wrong one would not be noticed."""
    names = " ".join(dict.fromkeys(" ".join(SPELLINGS.values()).split()))
    values = cf.evaluate(QRELS, {"r": RUN}, names).mean()["r"]
    few = {"P@10", "P@5", "nDCG@10", "nDCG@20", "nDCG@5"}  # short rankings: the same from 5 on
    assert len({v for name, v in values.items() if name not in few}) == len(values) - len(few)
    label_names = " ".join(dict.fromkeys(FOR_LABELS.values()))
    found = cf.evaluate_labels(TRUTH, {"r": cf.LabelMatrix.of(SURE)}, label_names).mean()["r"]
    assert len(set(found.values())) == len(found)


@pytest.mark.parametrize("typed", SPELLINGS)
def test_a_spelling_is_its_measure_at_every_door(folder, ask, typed):
    canonical = SPELLINGS[typed]
    files = ("q.json", "r.json")
    wanted = ask("eval", *files, "-m", canonical, "--per-topic")
    assert ask("eval", *files, "-m", typed, "--per-topic") == wanted
    assert [m["name"] for m in wanted["measures"]] == canonical.split()
    assert cf.evaluate(QRELS, {"r": RUN}, typed).mean() == (
        cf.evaluate(QRELS, {"r": RUN}, canonical).mean()
    )
    two = ("q.json", "r.json", "o.json", "--resamples", "50")
    assert ask("compare", *two, "-m", typed) == ask("compare", *two, "-m", canonical)


@pytest.mark.parametrize("typed", [name for name in SPELLINGS if "," not in name])
def test_a_spelling_in_any_case_in_a_gate_and_in_a_list(folder, capsys, typed):
    canonical = cf.evaluate(QRELS, {"r": RUN}, SPELLINGS[typed]).mean()
    for name in {typed, typed.upper(), typed.lower(), typed.capitalize()}:
        assert cf.evaluate(QRELS, {"r": RUN}, [name]).mean() == canonical
    (value,) = canonical["r"].values()
    for bar, code in ((value, 0), (value + 1e-6, 1)):
        gate = f"{typed}={bar!r}"
        assert main(["eval", "q.json", "r.json", "-m", typed, "--fail-under", gate]) == code
    assert f"{typed} is {value:.4f}, expected at least" in capsys.readouterr().err


def test_spellings_in_a_study_of_measures(folder, ask):
    runs = ("q.json", "r.json", "o.json", "s=r.json", "t=o.json", "--resamples", "20")
    found = ask("lab", "correlate", *runs, "-m", "MAP ndcg_cut_10 Hits@10 F1@10")
    assert found == ask("lab", "correlate", *runs, "-m", "AP nDCG@10 Success@10 F@10")


def test_measures_of_ir_measures_are_theirs():
    ir_measures = pytest.importorskip("ir_measures")
    objects = [ir_measures.parse_measure(n) for n in ("AP", "nDCG@10", "RR", "P(rel=2)@5", "R@3")]
    wanted = cf.evaluate(QRELS, {"r": RUN}, "AP nDCG@10 RR P@5(rel=2) R@3").mean()
    assert cf.evaluate(QRELS, {"r": RUN}, objects).mean() == wanted
    found = ir_measures.calc_aggregate(objects, QRELS, RUN)
    for measure, value in zip(objects, wanted["r"].values(), strict=True):
        assert value == pytest.approx(found[measure], abs=1e-9)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        *(("NDCG10", "nDCG@10"), ("ndcg10", "nDCG@10"), ("P10", "P@10"), ("R100", "R@100")),
        *(("MRRR", "MRR"), ("nDGC@10", "nDCG"), ("RPB", "RBP"), ("precison@5", "Precision")),
    ],
)
def test_a_near_miss_is_told_what_is_meant(typed, meant):
    with pytest.raises(cf.MeasureError, match=f"Did you mean '{meant}'"):
        cf.evaluate(QRELS, {"r": RUN}, typed)


@pytest.mark.parametrize(
    ("typed", "canonical"),
    [
        *(("ndcg_at_10", "nDCG@10"), ("precision_at_5", "P@5"), ("recall_at_5", "R@5")),
        *(("mean_average_precision", "AP"), ("mean_reciprocal_rank", "RR"), ("R-Prec", "Rprec")),
    ],
)
def test_names_of_other_libraries(typed, canonical):
    found = cf.evaluate(QRELS, {"r": RUN}, typed).mean()
    assert found == cf.evaluate(QRELS, {"r": RUN}, canonical).mean()


@pytest.mark.parametrize("typed", FOR_LABELS)
def test_a_spelling_is_the_measure_of_labels(folder, ask, typed):
    files = ("truth.json", "sure.json")
    wanted = ask("label", *files, "-m", FOR_LABELS[typed], "--per-item", "--per-concept")
    assert ask("label", *files, "-m", typed, "--per-item", "--per-concept") == wanted
    two = ("--truth", "truth.json", "sure.json", "less.json", "--resamples", "50")
    found = ask("compare", *two, "-m", typed)
    assert found == ask("compare", *two, "-m", FOR_LABELS[typed])


@pytest.mark.parametrize("typed", FOR_LABELS)
def test_a_spelling_in_a_gate_of_labels(folder, capsys, typed):
    """The gate read the name as that of a measure of rankings, and found no scores."""
    found = cf.evaluate_labels(TRUTH, {"r": cf.LabelMatrix.of(SURE)}, FOR_LABELS[typed]).mean()
    (value,) = found["r"].values()
    for bar, code in ((value, 0), (value + 1e-6, 1)):
        gate = ["--fail-under", f"{typed}={bar!r}"]
        assert main(["label", "truth.json", "sure.json", "-m", typed, *gate]) == code
    assert f"{typed} is {value:.4f}, expected at least" in capsys.readouterr().err


def lines(rows, separator="\t"):
    return "".join(separator.join(map(str, row)) + "\n" for row in rows)


JUDGED = [(t, i, g) for t, items in QRELS.items() for i, g in items.items()]
RANKED = [(t, i, s) for t, items in RUN.items() for i, s in items.items()]
# The last place first, so that the order of the lines tells nothing.
PLACED = [(t, i, n) for t, found in ORDER.items() for n, i in reversed([*enumerate(found, 1)])]

OF_JUDGEMENTS = {
    "beir.tsv": "query-id\tcorpus-id\tscore\n" + lines(JUDGED),
    "beir-without-head.tsv": lines(JUDGED),
    "marco.tsv": lines((t, 0, i, g) for t, i, g in JUDGED),
    "semicolons.csv": "topic;item;grade\n" + lines(JUDGED, ";"),
    "records.jsonl": lines(
        [[json.dumps({"query_id": t, "doc_id": i, "relevance": g})] for t, i, g in JUDGED]
    ),
}
OF_RUNS = {
    "rank3.tsv": lines(PLACED),
    "score3.tsv": lines(RANKED),
    "records.jsonl": lines(
        [[json.dumps({"qid": t, "docid": i, "score": s})] for t, i, s in RANKED]
    ),
    "lists.json": json.dumps(ORDER),
    "ranks-only.csv": "query_id,doc_id,rank\n" + lines(PLACED, ","),
    "semicolons.csv": "qid;docno;score\n" + lines(RANKED, ";"),
}


@pytest.mark.parametrize("name", OF_JUDGEMENTS)
def test_judgements_at_every_door(folder, ask, name):
    given = folder / name
    given.write_text(OF_JUDGEMENTS[name])
    asked = ("r.json", "-m", "AP nDCG@10 RR", "--per-topic")
    assert ask("eval", name, *asked) == ask("eval", "q.json", *asked)
    two = ("r.json", "o.json", "-m", "AP nDCG@10", "--resamples", "50")
    assert ask("compare", name, *two) == ask("compare", "q.json", *two)
    assert cf.evaluate(given, {"r": RUN}).mean() == cf.evaluate(QRELS, {"r": RUN}).mean()
    assert main(["convert", "--kind", "qrels", name, "out.qrels", "--quiet"]) == 0
    assert main(["convert", "--kind", "qrels", "q.json", "wanted.qrels", "--quiet"]) == 0
    assert (folder / "out.qrels").read_text() == (folder / "wanted.qrels").read_text()


@pytest.mark.parametrize("name", OF_RUNS)
def test_runs_at_every_door(folder, ask, name):
    given = folder / name
    given.write_text(OF_RUNS[name])
    asked = ("-m", "AP nDCG@10 RR P@2", "--per-topic")
    assert ask("eval", "q.json", f"r={name}", *asked) == ask("eval", "q.json", "r.json", *asked)
    two = ("o.json", "-m", "AP nDCG@10", "--resamples", "50")
    found = ask("compare", "q.json", f"r={name}", *two)
    assert found == ask("compare", "q.json", "r.json", *two)
    assert cf.evaluate(QRELS, {"r": given}).mean() == cf.evaluate(QRELS, {"r": RUN}).mean()
    # The order, topic by topic, as it is written.
    assert main(["convert", "--kind", "run", name, "out.run", "--quiet"]) == 0
    rows = [line.split() for line in (folder / "out.run").read_text().splitlines()]
    written = {}
    for topic, _, item, *_ in rows:
        written.setdefault(topic, []).append(item)
    assert written == ORDER
    # The check of submissions takes it as well.
    (folder / "collection.toml").write_text('judgements = "q.json"\n')
    assert main(["check", ".", name, "--kind", "ranked", "--format", "json"]) == 0


def test_the_third_column_is_what_one_says_at_every_door(folder, ask):
    """Counts from 1 look like ranks; here they are scores, and everything turns round."""
    (folder / "three.tsv").write_text(lines(PLACED))
    turned = {t: {i: float(n) for n, i in enumerate(found, 1)} for t, found in ORDER.items()}
    (folder / "turned.json").write_text(json.dumps(turned))
    asked = ("-m", "AP RR", "--per-topic")
    wanted = ask("eval", "q.json", "r=turned.json", *asked)
    assert wanted != ask("eval", "q.json", "r=three.tsv", *asked)
    assert ask("eval", "q.json", "r=three.tsv", *asked, "--third", "score") == wanted
    two = ("o.json", "-m", "AP", "--resamples", "50")
    found = ask("compare", "q.json", "r=three.tsv", *two, "--third", "score")
    assert found == ask("compare", "q.json", "r=turned.json", *two)
    told = ["--kind", "run", "--quiet"]
    assert main(["convert", "three.tsv", "out.csv", "--third", "score", *told]) == 0
    assert main(["convert", "turned.json", "wanted.csv", *told]) == 0
    found, wanted = ((folder / f"{name}.csv").read_text() for name in ("out", "wanted"))
    assert sorted(found.splitlines()) == sorted(wanted.splitlines())


def _classes(folder, name, values, there):
    (folder / name).mkdir()
    for concept in ("Sky", "Blue Sea"):
        rows = [f"{item} {there(row, concept)}" for item, row in values.items()]
        (folder / name / f"{concept}_val.txt").write_text("\n".join(rows) + "\n")
    return name


def _wide(values):
    return "item,Blue Sea,Sky\n" + lines(
        ([i, v["Blue Sea"], v["Sky"]] for i, v in values.items()), ","
    )


OF_LABELS = {
    "list.csv": "item,labels\n" + lines(((i, "|".join(sorted(v))) for i, v in TRUTH.items()), ","),
    "semicolons.csv": "item;Blue Sea;Sky\n"
    + lines(((i, int("Blue Sea" in v), int("Sky" in v)) for i, v in TRUTH.items()), ";"),
    "voc": None,
}


@pytest.mark.parametrize("name", OF_LABELS)
def test_truths_at_every_door(folder, ask, name):
    if OF_LABELS[name] is None:
        _classes(folder, name, TRUTH, lambda row, c: 1 if c in row else -1)
    else:
        (folder / name).write_text(OF_LABELS[name])
    asked = ("sure.json", "-m", "AP.concept F.example AUC", "--per-item", "--per-concept")
    assert ask("label", name, *asked) == ask("label", "truth.json", *asked)
    two = ("sure.json", "less.json", "-m", "AP.concept", "--resamples", "50")
    found = ask("compare", "--truth", name, *two)
    assert found == ask("compare", "--truth", "truth.json", *two)
    assert main(["convert", "--kind", "labels", name, "out.csv", "--quiet"]) == 0
    assert main(["convert", "--kind", "labels", "truth.json", "wanted.csv", "--quiet"]) == 0
    assert (folder / "out.csv").read_text() == (folder / "wanted.csv").read_text()
    run = {"r": cf.LabelMatrix.of(SURE)}
    found = cf.evaluate_labels(folder / name, run, "AP.concept").mean()
    assert found == cf.evaluate_labels(TRUTH, run, "AP.concept").mean()


def test_logits_at_every_door(folder, ask):
    """Of any size they order as confidences do; a file per class may hold them too."""
    (folder / "logits.csv").write_text(_wide(LOGITS))
    _classes(folder, "classes", LOGITS, lambda row, c: repr(row[c]))
    asked = ("-m", "AP.concept Coverage RankingLoss", "--per-concept")
    wanted = ask("label", "truth.json", "r=sure.json", *asked)
    two = ("less.json", "-m", "AP.concept", "--resamples", "50")
    between = ask("compare", "--truth", "truth.json", "r=sure.json", *two)
    for name in ("logits.csv", "classes"):
        found = ask("label", "truth.json", f"r={name}", *asked, "--scores", "any")
        assert found["per_concept"] == wanted["per_concept"]
        assert found["runs"][0]["mean"] == wanted["runs"][0]["mean"]
        found = ask("compare", "--truth", "truth.json", f"r={name}", *two, "--scores", "any")
        assert [p["difference"] for p in found["pairs"]] == (
            [p["difference"] for p in between["pairs"]]
        )


class _Judged(NamedTuple):
    query_id: str
    doc_id: str
    relevance: int


def test_a_data_set_of_ir_datasets_at_every_door(folder, ask, monkeypatch):
    """By its name at the doors of the command, and as the object that it gives in Python."""

    class Found:
        def has_qrels(self):
            return True

        def qrels_iter(self):
            return (_Judged(t, i, g) for t, i, g in JUDGED)

    catalogue = types.ModuleType("ir_datasets")
    catalogue.load = {"toy/test": Found()}.__getitem__
    monkeypatch.setitem(sys.modules, "ir_datasets", catalogue)
    asked = ("r.json", "-m", "AP nDCG@10", "--per-topic")
    assert ask("eval", "irds:toy/test", *asked) == ask("eval", "q.json", *asked)
    two = ("r.json", "o.json", "-m", "AP", "--resamples", "50")
    assert ask("compare", "irds:toy/test", *two) == ask("compare", "q.json", *two)
    wanted = cf.evaluate(QRELS, {"r": RUN}).mean()
    assert cf.evaluate("irds:toy/test", {"r": RUN}).mean() == wanted
    assert cf.evaluate(Found(), {"r": RUN}).mean() == wanted
    assert cf.evaluate(list(Found().qrels_iter()), {"r": RUN}).mean() == wanted
