"""Small, sound inputs of every kind, and the commands that read them."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import numpy as np

import cranfield as cf

ITEMS = [f"i{k}.jpg" for k in range(8)]
CONCEPTS = ["Sky", "Sea", "Day", "Night"]
TOPICS = ["t1", "t2", "t3"]
SYSTEMS = ("a", "b", "c")

# What each command is called with; {kind} is a file of that kind, {out} a file to be written.
TEMPLATES = [
    "eval {qrels} {run} {run} -m 'AP nDCG@10 P@5 bpref ERR RBP'",
    "eval {qrels} {run} -m 'trec image smart' --collection-size 50 --per-topic --format json",
    "eval {qrels} {run} -m all --collection-size 50 --ties average -o {out}",
    "eval {qrels} {run} --max-items 3 --missing average --format csv",
    "eval {qrels} {run} --format html -o {out}",
    "eval {strata} {run} -m xinfAP",
    "compare {qrels} {run} {run} -m AP --resamples 50 --format json",
    "compare --truth {truth} {labels} {labels} -m F.example --resamples 50",
    "compare {scores} {scores} --resamples 50",
    "label {truth} {labels} -m 'F.example OS AP.concept' --ontology {ontology} --rules {rules}",
    "label {truth} {labels} --costmap {costmap} --agreement {agreementmap} -m OS --per-item",
    "label {truth} {labels} --concepts {concepts} --threshold {threshold} --format json -o {out}",
    "label {truth} {bare} --concepts {concepts}",
    "label {truth} {labels} --explain i1.jpg",
    "chart leaderboard {qrels} {run} {run} -m AP -o {svg}",
    "chart roc --truth {truth} {labels} -o {svg}",
    "ontology check {ontology} --rules {rules}",
    "ontology show {ontology}",
    "uncertain {votes} {tree} {itemrun} -k 3 --queries {queries}",
    "displacement {subjects} {run} --collection-size 50",
    "index-quality {vectors} {qrels} {run} -m AP",
    "index-quality {npy} {qrels} -m AP --items {items}",
    "agreement {log} --resamples 20 --format json",
    "agreement {log} --groups {groups} --resamples 20 --map {out}",
    "agreement {log} --quality --gold {gold} --clean {out}",
    "agreement {catlog} --resamples 20",
    "agreement {log} --systems {labels} {labels} {labels} --resamples 20",
    "aggregate {log} --method dawid-skene --gold {gold} -o {out}",
    "aggregate {log} --method weighted-majority --weights {weights}",
    "aggregate {catlog} --method majority --annotators {out}",
    "weaklabel {features} {tags} --truth {tags} --method median",
    "relatedness {pairs} -m NWD --counts {counts}",
    "relatedness --concepts {concepts} -m NWD --tags {corpus} -o {out}",
    "relatedness {pairs} -m WLM --links {links}",
    "relatedness --concepts {concepts} -m path --ontology {ontology} -o {out}",
    "costmap show {costmap}",
    "costmap compare {costmap} {costmap} --permutations 20",
    "lab correlate {qrels} {run} {run} {run} -m 'AP RR' --resamples 20",
    "lab stability --truth {truth} {labels} {labels} {labels} -m F.example --repeats 1 --trials 3",
    "lab pool {qrels} {run} {run} -m AP --depth 3",
    "lab votes count {ballots}",
    "lab generality {qrels} {run} -m AP --collection-size 50",
    "lab simulate {qrels} {folder} --count 2",
    "pool {run} {run} --depth 2 --judged {qrels}",
    "trec_eval {plainqrels} {plainrun}",
    "trec_eval -q -m all_trec {plainqrels} {plainrun}",
    "convert --kind run {run} {out}",
    "convert --kind qrels {qrels} {out}",
    "convert --kind labels {truth} {out}",
    "measures nDCG@10",
]


def _npz(**arrays: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


def _npy(array: np.ndarray) -> bytes:
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def _parquet(**columns: list) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(pa.table(columns), sink)
    return bytes(sink.getvalue())


def _csv(header: str, *rows: object) -> bytes:
    return "\n".join([header, *map(str, rows), ""]).encode()


def _ranked() -> dict[str, dict[str, bytes]]:
    grades = {t: {i: (k + j) % 3 for j, i in enumerate(ITEMS)} for k, t in enumerate(TOPICS)}
    scores = {
        s: {
            t: {i: float((7 * k + 3 * j + n) % 11) for j, i in enumerate(ITEMS)}
            for k, t in enumerate(TOPICS)
        }
        for n, s in enumerate(SYSTEMS)
    }
    judged = [(t, i, g) for t, row in grades.items() for i, g in row.items()]
    qrels = "".join(f"{t} 0 {i} {g}\n" for t, i, g in judged).encode()
    kinds: dict[str, dict[str, bytes]] = {
        "qrels": {
            "q.txt": qrels,
            "q.json": json.dumps(grades).encode(),
            "q.csv": _csv("topic,item,grade", *(f"{t},{i},{g}" for t, i, g in judged)),
            "q.txt.gz": gzip.compress(qrels),
            "q.parquet": _parquet(
                topic=[r[0] for r in judged],
                item=[r[1] for r in judged],
                grade=[r[2] for r in judged],
            ),
        },
        "strata": {"s.txt": "".join(f"{t} 0 {i} {g % 2} {g - 1}\n" for t, i, g in judged).encode()},
        "plainqrels": {"pq.txt": qrels},
        "run": {},
        "scores": {},
    }
    for name, run in scores.items():
        rows = [(t, i, s) for t, row in run.items() for i, s in row.items()]
        text = "".join(f"{t} Q0 {i} 1 {s} {name}\n" for t, i, s in rows).encode()
        kinds["run"] |= {
            f"{name}1.run": text,
            f"{name}2.json": json.dumps(run).encode(),
            f"{name}3.tsv": _csv("topic\titem\tscore", *(f"{t}\t{i}\t{s}" for t, i, s in rows)),
            f"{name}4.run.gz": gzip.compress(text),
        }
        scored = cf.evaluate(grades, {name: run}, "AP nDCG@10")
        for per_topic in (True, False):
            kinds["scores"][f"{name}-{'with' if per_topic else 'means'}.json"] = json.dumps(
                scored.to_dict(per=["topic"] if per_topic else [])
            ).encode()
    kinds["plainrun"] = {"pr.txt": kinds["run"]["a1.run"]}
    kinds["itemrun"] = {
        "ir.run": "".join(
            f"{i} Q0 {j} 1 {n} x\n" for i in ITEMS for n, j in enumerate(ITEMS)
        ).encode()
    }
    kinds["subjects"] = {
        "sub.csv": _csv(
            "subject,topic,item,significance",
            *(
                f"p{s},{t},{i},{1 - k / 10}"
                for s in range(2)
                for t in TOPICS
                for k, i in enumerate(ITEMS[:4])
            ),
        )
    }
    return kinds


def _annotated() -> dict[str, dict[str, bytes]]:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, (len(ITEMS), len(CONCEPTS)))
    header = ",".join(["item", *CONCEPTS])
    kinds: dict[str, dict[str, bytes]] = {
        "truth": {
            "t.csv": _csv(
                header, *(",".join([i, *map(str, r)]) for i, r in zip(ITEMS, truth, strict=True))
            ),
            "long.csv": _csv(
                "item,concept,value",
                *(
                    f"{i},{c},{v}"
                    for i, r in zip(ITEMS, truth, strict=True)
                    for c, v in zip(CONCEPTS, r, strict=True)
                ),
            ),
            "t.npz": _npz(items=np.array(ITEMS), concepts=np.array(CONCEPTS), labels=truth),
            "t.parquet": _parquet(
                item=ITEMS, **{c: truth[:, j].tolist() for j, c in enumerate(CONCEPTS)}
            ),
        },
        "labels": {},
        "bare": {},
        "ontology": {
            "o.csv": _csv(
                "concept,path",
                *(f"{c},Root.{'Place' if j < 2 else 'Time'}.{c}" for j, c in enumerate(CONCEPTS)),
            ),
            "o.ttl": b"@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"
            + b"".join(
                f'<urn:{c}> a skos:Concept; skos:prefLabel "{c}"; skos:broader <urn:R> .\n'.encode()
                for c in CONCEPTS
            ),
        },
        "rules": {"rules.toml": b'[[exactly_one]]\nconcepts = ["Day", "Night"]\n'},
        "costmap": {
            "m.csv": _csv(
                "," + ",".join(CONCEPTS),
                *(",".join([a, *(str(float(a != b)) for b in CONCEPTS)]) for a in CONCEPTS),
            )
        },
        "agreementmap": {"g.csv": _csv("concept,agreement", *(f"{c},0.9" for c in CONCEPTS))},
        "concepts": {"concepts.txt": "\n".join(CONCEPTS).encode()},
        "threshold": {"th.txt": b"0.4\n0.5\n0.6\n0.5\n"},
    }
    for name in SYSTEMS:
        sure = rng.random((len(ITEMS), len(CONCEPTS))).round(3)
        rows = [[i, *map(str, r)] for i, r in zip(ITEMS, sure.tolist(), strict=True)]
        kinds["labels"] |= {
            f"{name}1.csv": _csv(header, *(",".join(r) for r in rows)),
            f"{name}2.npz": _npz(
                items=np.array(ITEMS), concepts=np.array(CONCEPTS), confidences=sure
            ),
        }
        kinds["bare"][f"{name}3.txt"] = "".join(" ".join(r) + "\n" for r in rows).encode()
    return kinds


def _log_rows(people: list[str]) -> list[str]:
    cells = [(i, c) for i in ITEMS for c in CONCEPTS]
    return [
        f"{p},{i},{c},{(k + n) % 2},3"
        for k, p in enumerate(people)
        for n, (i, c) in enumerate(cells)
    ]


def _opinions() -> dict[str, dict[str, bytes]]:
    people = [f"p{k}" for k in range(4)]
    every = list(enumerate(people))
    chosen = [f"{i},{'xy'[n % 2]}" for n, i in enumerate(ITEMS)]
    pairs = [(a, b) for a in CONCEPTS for b in CONCEPTS if a != b]
    counted = [*(f"{a},,9" for a in CONCEPTS), *(f"{a},{b},4" for a, b in pairs)]
    tagged = [f"{i},{CONCEPTS[k % 4]} {CONCEPTS[(k + 1) % 4]}" for k, i in enumerate(ITEMS)]
    texts: dict[str, tuple[str, list[str]]] = {
        "log.csv": ("annotator,item,concept,value,seconds", _log_rows(people)),
        "catlog.csv": ("annotator,item,category", [f"{p},{c}" for p in people for c in chosen]),
        "gold.csv": ("item,concept,value", [f"{i},Sky,1" for i in ITEMS[:3]]),
        "groups.csv": ("annotator,group", [f"{p},{'gh'[k % 2]}" for k, p in every]),
        "weights.csv": ("annotator,weight", [f"{p},{k + 1}" for k, p in every]),
        "votes.csv": ("subject,item,category", [f"{p},{c}" for p in people for c in chosen]),
        "tree.csv": ("category,parent", ["all,", "x,all", "y,all"]),
        "queries.csv": ("topic,query", [f"{i},{i}" for i in ITEMS]),
        "ballots.csv": ("question,AP,RR", ["1,3,2", "2,1,4"]),
        "tags.csv": ("item,tag", chosen),
        "pairs.csv": ("word1,word2,human", ["Sky,Sea,3", "Day,Night,2", "Sky,Day,1"]),
        "counts.csv": ("# total: 1000\nterm,with,count", counted),
        "corpus.csv": ("item,tags", tagged),
        "links.csv": ("source,target", [f"{a},{b}" for a, b in pairs]),
    }
    kinds = {name[:-4]: {name: _csv(head, *rows)} for name, (head, rows) in texts.items()}
    squares = [f"{i},{k},{k * k}" for k, i in enumerate(ITEMS)]
    return kinds | {
        "vectors": {
            "v.npz": _npz(items=np.array(ITEMS), vectors=np.eye(8)),
            "v.parquet": _parquet(item=ITEMS, vector=np.eye(8).tolist()),
        },
        "npy": {"v.npy": _npy(np.eye(8))},
        "items": {"items.txt": "\n".join(ITEMS).encode()},
        "features": {
            "f.csv": _csv("item,x,y", *squares),
            "f.npz": _npz(items=np.array(ITEMS), features=np.eye(8)),
        },
    }


def all_kinds() -> dict[str, dict[str, bytes]]:
    """Files by kind and name."""
    return _ranked() | _annotated() | _opinions()


def write_all(folder: Path) -> dict[str, list[Path]]:
    """The same on disk: paths by kind."""
    paths: dict[str, list[Path]] = {}
    for kind, files in all_kinds().items():
        for name, data in files.items():
            path = folder / name
            path.write_bytes(data)
            paths.setdefault(kind, []).append(path)
    return paths
