"""A sound call of every public function, small enough to be made thousands of times."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import cranfield as cf
from benchmarks.fuzz.folders import png

QRELS = {"t": {"a": 1, "b": 0, "c": 1}, "u": {"a": 0, "b": 1}, "v": {"c": 1}}
RUN = {"t": {"a": 3.0, "b": 2.0, "c": 1.0}, "u": {"b": 2.0, "a": 1.0}, "v": {"c": 1.0, "a": 0.5}}
OTHER = {"t": {"b": 3.0, "a": 2.0}, "u": {"a": 2.0, "b": 1.0}, "v": {"a": 1.0, "c": 0.5}}
RUNS = {"one": RUN, "two": OTHER}
TRUTH = {"i": {"Sky"}, "j": {"Sea"}, "k": {"Sky", "Sea"}}
LABELS = {"x": {"i": {"Sky"}, "j": {"Sky"}, "k": {"Sea"}}, "y": {"i": {"Sea"}, "j": {"Sea"}}}
ROWS = np.array([[0.1, 0.5, 0.3, 0.9], [0.2, 0.4, 0.8, 0.7], [0.3, 0.1, 0.2, 0.5]])
PAIRS = np.array([[0, 1], [0, 2]])
FEW: dict[str, Any] = {"resamples": 20}
LITTLE = FEW | {"few_gold": True}

DRAWN = json.dumps(
    [
        {
            "id": 1,
            "data": {"image": "a.jpg"},
            "annotations": [
                {
                    "completed_by": annotator,
                    "result": [
                        {
                            "original_width": 200,
                            "original_height": 100,
                            "value": {
                                "x": x, "y": 10, "width": 20, "height": 30,
                                "rectanglelabels": ["cat"],
                            },
                        }
                    ],
                }
                for annotator, x in (("ann", 10), ("bob", 12))
            ],
        }
    ]
)  # fmt: skip
FILES = {
    "q.txt": "t 0 a 1\nt 0 b 0\nu 0 a 0\nu 0 b 1\n",
    "one.run": "t Q0 a 1 2 a\nt Q0 b 2 1 a\nu Q0 a 1 2 a\n",
    "two.run": "t Q0 b 1 2 a\nt Q0 a 2 1 a\nu Q0 b 1 2 a\n",
    "labels.csv": "item,Sky,Sea\ni,1,0\nj,0,1\nk,1,1\n",
    "ontology.csv": "concept,path\nSky,0.1\nSea,0.2\n",
    "costs.csv": ",Sky,Sea,Lake\nSky,0,1,1\nSea,1,0,0.5\nLake,1,0.5,0\n",
    "agreement.csv": "concept,agreement\nSky,0.9\nSea,0.8\n",
    "log.csv": "annotator,item,concept,value\n"
    + "".join(
        f"{who},{item},{concept},{value}\n"
        for who, value in (("ann", 1), ("bob", 0), ("cid", 1))
        for item in "ijk"
        for concept in ("Sky", "Sea")
    ),
    "votes.csv": "subject,item,category\ns1,a,x\ns2,a,y\ns1,b,x\ns2,b,x\ns1,c,y\ns2,c,y\n",
    "tree.csv": "category,parent\nx,all\ny,all\n",
    "soft.csv": "item,category,probability\na,x,1\nb,y,1\n",
    "queries.run": "a Q0 b 1 2 r\na Q0 c 2 1 r\nb Q0 a 1 2 r\nb Q0 c 2 1 r\n",
    "people.csv": "subject,topic,item,significance\ns1,t,a,1\ns1,t,b,0.5\ns2,t,b,1\ns2,t,a,1\n",
    "pairs.csv": "word1,word2\nSky,Sea\nSea,Sea\n",
    "grouped.csv": "subject,item,group\ns,a,x\ns,b,x\ns,c,y\nt,a,u\nt,b,u\nt,c,v\n",
    "asked.csv": "topic,query\n1,Sky OR Sea\n",
    "tags.csv": "item,tag\n" + "".join(f"i{k},sky\n" for k in range(6)),
    "cells.csv": "item,concept,value\ni,Sky,1\nj,Sky,0\ni,Sea,0\nj,Sea,1\n",
    "drawn.json": DRAWN,
    "boxes.csv": "item,concept,x,y,width,height\na,cat,1,1,9,9\nb,cat,3,3,5,5\n",
    "placed.csv": "item,concept,x,y,width,height,confidence\na,cat,1,2,9,9,0.5\n",
    "moved.csv": "item,concept,x,y,width,height,confidence\nb,cat,4,3,5,5,0.7\n",
    "rules.toml": '[[disjoint]]\nconcepts = ["Sky", "Sea"]\n',
    "choices.csv": "question,AP,RR\n1,3,2\n2,1,4\n",
    "counts.csv": "# total: 1000\n# source: here\n# date: 2026-01-01\n"
    "term,with,count\nSky,,10\nSea,,5\n",
}


def write_files(folder: Path) -> None:
    """The files of these calls, where they are looked for: in the folder one is in."""
    for name, text in FILES.items():
        (folder / name).write_text(text)
    items = np.array([f"i{k}" for k in range(6)])
    np.savez(folder / "vectors.npz", items=items, vectors=np.random.default_rng(3).random((6, 3)))
    scores().save(folder / "scores.json")
    (folder / "pictures").mkdir()
    (folder / "pictures" / "one.png").write_bytes(png(8, 8))
    for number, kind in enumerate("aabb"):
        (folder / "classes" / kind).mkdir(parents=True, exist_ok=True)
        (folder / "classes" / kind / f"{number}.png").write_bytes(png(8 + number, 8))
    collection = folder / "collection"
    collection.mkdir()
    for name in ("q.txt", "one.run", "two.run"):
        (collection / name).write_text(FILES[name])
    (collection / "collection.toml").write_text(
        'name = "small"\njudgements = "q.txt"\nruns = ["one.run", "two.run"]\n'
    )


def material() -> Any:
    return cf.lab.StudyInput.ranked(QRELS, RUNS | {"three": RUN}, "AP RR")


def scores() -> Any:
    return cf.evaluate(QRELS, RUNS, "AP RR")


def log() -> Any:
    return cf.read_judgement_log("log.csv")


def graph() -> Any:
    return cf.read_categories("tree.csv")


def matrix() -> Any:
    return cf.read_labels("labels.csv")


def matrices() -> list[Any]:
    return [cf.read_labels("labels.csv", name=name) for name in ("x", "y", "z")]


def confident() -> tuple[Any, dict[str, Any]]:
    """A truth, and runs with confidences."""
    items = [f"i{k}" for k in range(12)]
    truth = {item: {"Sky"} if k % 2 else {"Sea"} for k, item in enumerate(items)}
    chances = np.random.default_rng(3).random((3, 12, 2))
    runs = {
        f"run{r}": {
            item: {"Sky": float(chances[r, k, 0]), "Sea": float(chances[r, k, 1])}
            for k, item in enumerate(items)
        }
        for r in range(3)
    }
    return truth, runs


# Options of every call that has them, where a study would otherwise be long.
CALLS: dict[str, Callable[[], dict[str, Any]]] = {
    "aggregate_judgements": lambda: {"log": log(), "method": "dawid-skene", "iterations": 5},
    "agreement_map": lambda: {"log": log()},
    "analyse_errors": lambda: {"scores": scores()},
    "analyse_tags": lambda: {"corpus": "tags.csv", "min_items": 2},
    "benchmark_descriptors": lambda: {
        "folder": "classes",
        "descriptors": "SCD CLD",
    },
    "search_texts": lambda: {"texts": {"a": "red cat", "b": "a cat"}, "language": "none"},
    "apply_feedback": lambda: {"collection": "vectors.npz", "pseudo": True, "depth": 2},
    "annotate": lambda: {
        "train": "vectors.npz",
        "truth": {"i0": {"a"}, "i1": {"b"}, "i2": {"a"}, "i3": {"b"}},
        "apply": "vectors.npz",
        "method": "neighbours",
        "neighbours": 2,
    },
    "ask_until_found": lambda: {
        "people": cf.read_subject_rankings("people.csv"),
        "ask": lambda _, count: ["b", "a"][:count],
    },
    "accept_run": lambda: {
        "baseline": scores().of_runs(["one"]),
        "scores": scores().of_runs(["two"]),
    },
    "assert_not_worse": lambda: {"scores": scores(), "baseline": "two", **FEW},
    "assess_agreement": lambda: {"log": log()},
    "assess_judges": lambda: {"gold": QRELS, "judges": {"j": QRELS}, "runs": RUNS, **FEW},
    "compare": lambda: {"scores": QRELS, "runs": RUNS, "measures": "AP RR", **FEW},
    "campaign_results": lambda: {"source": "collection", "compare": False},
    "check_collection": lambda: {"folder": "collection"},
    "check_ontology": lambda: {"source": "ontology.csv"},
    "check_quality": lambda: {"log": log()},
    "check_submissions": lambda: {"collection": "collection", "submissions": "one.run"},
    "collection_report": lambda: {"collection": "collection"},
    "compare_cost_maps": lambda: {
        "first": "costs.csv",
        "second": "costs.csv",
        "permutations": 9,
    },
    "compare_rankings": lambda: {"log": log(), "runs": matrices(), "measures": "F.example"},
    "compare_vocabularies": lambda: {"first": "ontology.csv", "second": "ontology.csv"},
    "cost_map": lambda: {
        "concepts": "ontology.csv",
        "method": "TREE",
        "ontology": "ontology.csv",
    },
    "count_categories": lambda: {"source": "ontology.csv"},
    "describe_descriptor": lambda: {"name": "CEDD"},
    "describe_measure": lambda: {"name": "AP"},
    "describe_pictures": lambda: {
        "source": "pictures",
        "descriptors": "ColorHistogram",
        "output": "described",
    },
    "descriptor": lambda: {"name": "CEDD"},
    "evaluate": lambda: {"judgements": QRELS, "runs": RUNS, "measures": "AP"},
    "evaluate_displacement": lambda: {
        "rankings": cf.read_subject_rankings("people.csv"),
        "runs": RUNS,
    },
    "evaluate_index": lambda: {
        "vectors": cf.read_item_vectors("vectors.npz"),
        "judgements": {"i0": {"i1": 1, "i2": 0}},
    },
    "evaluate_labels": lambda: {"truth": TRUTH, "runs": LABELS, "measures": "F.example"},
    "evaluate_pooled_labels": lambda: {
        "truth": "cells.csv",
        "runs": {"x": {"i": {"Sky": 0.9, "Sea": 0.1}, "j": {"Sky": 0.2, "Sea": 0.7}}},
    },
    "evaluate_powered": lambda: {
        "gold": QRELS,
        "silver": QRELS,
        "runs": RUNS,
        "measures": "AP",
        **LITTLE,
    },
    "evaluate_regions": lambda: {
        "truth": "boxes.csv",
        "runs": ["placed.csv", "moved.csv"],
        "measures": "AP.region LRP.region",
        "draws": 5,
    },
    "evaluate_tuned": lambda: {
        "truth": TRUTH,
        "runs": {"x": {"i": {"Sky": 0.5}, "j": {"Sky": 0.1}, "k": {"Sea": 0.7}}},
        "measures": "F.example",
        "tune": "F.example",
        "on": ["i"],
    },
    "evaluate_uncertain": lambda: {
        "categorisation": cf.read_category_votes("votes.csv", graph()),
        "runs": ["queries.run"],
        "k": 2,
    },
    "explain_labels": lambda: {
        "truth": TRUTH,
        "runs": LABELS,
        "item": "i",
        "measures": "F.example",
    },
    "calibrate": lambda: {
        "truth": TRUTH,
        "run": {"i": {"Sky": 0.7, "Sea": 0.1}, "j": {"Sky": 0.6}, "k": {"Sea": 0.9}},
        "folds": 3,
    },
    "filter_weak_labels": lambda: {
        "items": [f"i{k}" for k in range(6)],
        "features": np.eye(6),
        "tags": {"sky": [f"i{k}" for k in range(6)]},
        "method": "median",
    },
    "find_errors": lambda: {"files": ["q.txt", "one.run", "two.run"], "measures": "AP"},
    "from_pytrec": lambda: {"source": RUN, "kind": "run"},
    "from_ranx": lambda: {"source": None},
    "fuse": lambda: {"runs": RUNS},
    "fuse_labels": lambda: {"runs": [matrix(), matrix()]},
    "init_collection": lambda: {"folder": "pictures"},
    "split_items": lambda: {"source": TRUTH, "parts": {"a": 0.5, "b": 0.5}},
    "judge_concepts": lambda: {"queries": "asked.csv", "truth": TRUTH},
    "list_descriptors": dict,
    "list_measures": dict,
    "list_methods": dict,
    "load": lambda: {"path": "scores.json"},
    "make_sheet": lambda: {"source": "ontology.csv", "pictures": "pictures"},
    "measure": lambda: {"name": "AP"},
    "overlap_of_runs": lambda: {"reference": RUN, "runs": RUNS},
    "poisson_binomial": lambda: {"chances": [0.1, 0.5]},
    "powered": lambda: {"gold": scores(), "silver": scores(), **LITTLE},
    "publish": lambda: {"collection": "collection", "target": "site", **FEW},
    "query_concepts": lambda: {"queries": "asked.csv", "labels": "labels.csv"},
    "read_agreement": lambda: {"path": "agreement.csv"},
    "read_categories": lambda: {"path": "tree.csv"},
    "read_category_votes": lambda: {"path": "votes.csv", "graph": graph()},
    "read_collection": lambda: {"path": "collection"},
    "read_costmap": lambda: {"path": "costs.csv"},
    "read_counts": lambda: {"path": "counts.csv"},
    "read_features": lambda: {"path": "vectors.npz"},
    "read_forms": lambda: {"files": ["log.csv"]},
    "read_item_vectors": lambda: {"path": "vectors.npz"},
    "read_judgement_log": lambda: {"path": "log.csv"},
    "read_labels": lambda: {"path": "labels.csv"},
    "read_ontology": lambda: {"source": "ontology.csv"},
    "read_qrels": lambda: {"path": "q.txt"},
    "read_queries": lambda: {"path": "asked.csv"},
    "consensus_regions": lambda: {"source": "drawn.json"},
    "region_agreement": lambda: {"source": "drawn.json"} | FEW,
    "read_drawn_regions": lambda: {"path": "drawn.json"},
    "read_regions": lambda: {"path": "boxes.csv"},
    "read_run": lambda: {"path": "one.run"},
    "read_scores": lambda: {"paths": ["scores.json"]},
    "read_soft_labels": lambda: {"path": "soft.csv", "graph": graph()},
    "read_subject_rankings": lambda: {"path": "people.csv"},
    "read_tags": lambda: {"path": "tags.csv"},
    "relate_concepts": lambda: {
        "concepts": "ontology.csv",
        "method": "TREE",
        "ontology": "ontology.csv",
    },
    "relate_pairs": lambda: {
        "pairs": "pairs.csv",
        "method": "TREE",
        "ontology": "ontology.csv",
    },
    "search": lambda: {"collection": "vectors.npz"},
    "study_groups": lambda: {"source": "grouped.csv"},
    "to_ranx": lambda: {"table": cf.read_run("one.run")},
    "view_concept": lambda: {"source": "ontology.csv", "concept": "Sky"},
    "view_cost_map": lambda: {"costs": "costs.csv"},
    "view_ontology": lambda: {"source": "ontology.csv"},
    "write_collection": lambda: {
        "collection": cf.read_collection("collection"),
        "folder": "written",
    },
    "write_costmap": lambda: {"costs": cf.read_costmap("costs.csv"), "path": "out.csv"},
    "write_regions": lambda: {"regions": cf.read_regions("boxes.csv"), "path": "out.csv"},
    "write_labels": lambda: {"matrix": matrix(), "path": "out.csv"},
    "write_ontology": lambda: {
        "ontology": cf.read_ontology("ontology.csv"),
        "path": "out.owl",
    },
    "write_rules": lambda: {
        "rules": cf.read_ontology("ontology.csv", rules="rules.toml").rules,
        "path": "out.toml",
    },
}

DIFFERENCES = {"differences": ROWS[:2]}
XY = {"x": [1.0, 2.0, 4.0, 3.0], "y": [1.0, 3.0, 2.0, 4.0]}
TESTED = {"values": ROWS, "pairs": PAIRS}
LAB: dict[str, Callable[[], dict[str, Any]]] = {
    "cluster_measures": lambda: {"measures": ["a", "b"], "taus": np.eye(2)},
    "comparable": lambda: {
        "material": cf.lab.StudyInput.labels(*confident(), "AP.concept"),
        "folds": 2,
    },
    "correlate": lambda: {"material": material(), **FEW},
    "correlate_scores": lambda: {
        "measures": ["a", "b"],
        "runs": ["x", "y", "z"],
        "scores": ROWS[:, :2],
        "signs": np.ones(2),
    },
    "count_choices": lambda: {"votes": {"a": [1, 2], "b": [2, 1]}},
    "count_preferences": lambda: {
        "votes": [(3, 1, 0), (1, 2, 0)],
        "scores": {"AP": [(0.1, 0.2), (0.3, 0.1)]},
    },
    "count_votes": lambda: {"path": "choices.csv"},
    "curves": lambda: {"measures": "AP", "size": 6},
    "generality": lambda: {"material": material(), "collection_size": 20},
    "graded_labels": lambda: {"truth": matrix(), "count": 2},
    "graded_rankings": lambda: {"judged": cf.read_qrels("q.txt"), "count": 2},
    "leave_one_out": lambda: {"material": material()},
    "rank_unjudged": lambda: {"material": material(), "trials": 2},
    "make_concept_survey": lambda: {
        "truth": TRUTH,
        "runs": LABELS,
        "measures": "F.example",
        "questions": 2,
    },
    "make_pool": lambda: {"runs": RUNS},
    "make_questionnaire": lambda: {"questions": 2, "lists": 3, "relevant": 2, "size": 10},
    "next_judgements": lambda: {"runs": RUNS, "measure": "P@2", "count": 2},
    "next_opinions": lambda: {"log": log()},
    "plan_campaign": lambda: {
        "scores": cf.evaluate(
            {t: {"a": 1} for t in "uvwxyz"},
            {n: {t: {"a": 1.0, "b": 2.0 * (t < n)} for t in "uvwxyz"} for n in "wy"},
            "AP",
        ),
        "difference": 0.1,
        "simulations": 2,
        "resamples": 9,
    },
    "random_study": lambda: {"material": material(), "count": 2},
    "replay_overlap": lambda: {"log": "log.csv", "fixed": 1, "sure": (0.8,), "repeats": 1},
    "replay_designs": lambda: {
        "judgements": QRELS,
        "runs": RUNS,
        "measure": "P@2",
        "replays": 1,
        "batch": 2,
    },
    "requirements": lambda: {"measures": "AP"},
    "simulate_runs": lambda: {"truth": QRELS, "folder": "simulated", "count": 2},
    "simulated_generality": lambda: {
        "measures": "AP",
        "sizes": (20, 40),
        "relevant": 3,
        "topics": 2,
    },
    "stability": lambda: {"material": material(), "repeats": 1, "trials": 3, **FEW},
    "tally": lambda: {"key": "q.txt", "answers": ["q.txt"]},
}
STATS: dict[str, Callable[[], dict[str, Any]]] = {
    "ap_correlation": lambda: {"truth": XY["x"], "estimate": XY["y"]},
    "bootstrap_means": lambda: {"rows": ROWS, **FEW},
    "bootstrap_test": lambda: {**TESTED, **FEW},
    "change_percent": lambda: {"value": 1.0, "reference": 2.0},
    "cliffs_delta": lambda: {"a": XY["x"], "b": XY["y"]},
    "cohen_d": lambda: DIFFERENCES,
    "compact_letters": lambda: {
        "order": np.array([0, 1]),
        "differ": np.array([[False, True], [True, False]]),
    },
    "correct": lambda: {"p": [0.1, 0.2]},
    "critical_difference": lambda: {"runs": 3, "topics": 10},
    "cronbach_alpha": lambda: {"values": ROWS},
    "detectable_effect": lambda: {"topics": 10},
    "deviation_percent": lambda: {"a": 1.0, "b": 2.0},
    "equivalence_test": lambda: {**DIFFERENCES, "margin": 0.1},
    "friedman": lambda: {"values": ROWS},
    "kendall": lambda: XY,
    "kolmogorov_smirnov": lambda: XY,
    "mean_intervals": lambda: {"rows": ROWS, **FEW},
    "nemenyi_test": lambda: TESTED,
    "one_way": lambda: {"groups": [[1.0, 2.0], [2.0, 4.0]]},
    "overlap_of_scores": lambda: XY,
    "paired_intervals": lambda: {**TESTED, **FEW},
    "paired_power": lambda: {"difference": 0.1, "spread": 0.2, "topics": 10},
    "pearson": lambda: XY,
    "place_intervals": lambda: {"resampled": ROWS},
    "places": lambda: {"means": ROWS[0]},
    "powered_means": lambda: {
        "gold": ROWS,
        "silver": ROWS,
        "silver_mean": np.ones(3),
        "total": 10,
        **FEW,
    },
    "randomization_test": lambda: {**TESTED, **FEW},
    "randomized_tukey_test": lambda: {**TESTED, **FEW},
    "rank_biased_overlap": lambda: {"first": ["a", "b"], "second": ["b", "a"]},
    "rank_groups": lambda: {
        "beaten": np.array([[False, True], [False, False]]),
        "order": np.array([0, 1]),
    },
    "reliability": lambda: {"values": ROWS},
    "run_intervals": lambda: {"values": ROWS, **FEW},
    "sign_test": lambda: DIFFERENCES,
    "spearman": lambda: XY,
    "step_down": lambda: {**TESTED, **FEW},
    "t_test": lambda: DIFFERENCES,
    "sphericity": lambda: {"values": ROWS},
    "variance_bound": lambda: {"units": 20},
    "topics_needed": lambda: {"difference": 0.1, "spread": 0.2},
    "tukey_test": lambda: TESTED,
    "two_way": lambda: {"values": ROWS},
    "wilcoxon_test": lambda: DIFFERENCES,
    "win_tie_loss": lambda: DIFFERENCES,
}
CHARTS: dict[str, Callable[[], dict[str, Any]]] = {
    "against": lambda: {"scores": scores(), "run": "one", "other": "two"},
    "behaviour": lambda: {"measures": "AP", "size": 10},
    "critical_difference": lambda: {"scores": scores()},
    "density": lambda: {"scores": scores()},
    "differences": lambda: {"scores": scores(), "run": "one", "baseline": "two"},
    "draw": lambda: {"chart": cf.charts.behaviour("AP", size=5), "kind": "svg"},
    "heatmap": lambda: {"scores": scores()},
    "kind_of": lambda: {"path": "x.svg"},
    "leaderboard": lambda: {"comparison": scores().compare(**FEW)},
    "measures": lambda: {"scores": scores(), "x": "AP", "y": "RR"},
    "rank_changes": lambda: {"scores": scores(), "x": "AP", "y": "RR"},
    "roc": lambda: {"truth": matrix(), "runs": matrices()},
    "significance": lambda: {"comparison": scores().compare(**FEW)},
    "units": lambda: {"scores": scores(), "x": "AP", "y": "RR"},
}
