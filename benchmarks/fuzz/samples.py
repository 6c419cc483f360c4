"""Small, sound inputs of every kind."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any

import numpy as np

import cranfield as cf

ITEMS = [f"i{k}.jpg" for k in range(8)]
CONCEPTS = ["Sky", "Sea", "Day", "Night"]
TOPICS = [f"t{k}" for k in range(1, 7)]
ABOVE = ["Place", "Place", "Time", "Time"]
SYSTEMS = ("a", "b", "c")


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
        "topicgroups": {
            "kinds.csv": _csv("topic,group", *(f"{t},{'ab'[k % 2]}" for k, t in enumerate(TOPICS)))
        },
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
        "diversity": {
            "d.txt": "".join(
                f"{t} {s} {i} {(g + s) % 2}\n" for t, i, g in judged for s in (1, 2)
            ).encode()
        },
        "plainqrels": {"pq.txt": qrels},
        "run": {},
        "scores": {},
        "meanscores": {},
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
            kind, ending = ("scores", "with") if per_topic else ("meanscores", "means")
            kinds[kind][f"{name}-{ending}.json"] = json.dumps(
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
        "itemgroups": {
            "itemgroups.csv": _csv(
                "item,group", *(f"{i},{'ab'[k % 2]}" for k, i in enumerate(ITEMS))
            )
        },
        "labels": {},
        "bare": {},
        "ontology": {
            "o.csv": _csv(
                "concept,path",
                *(f"{c},Root.{'Place' if j < 2 else 'Time'}.{c}" for j, c in enumerate(CONCEPTS)),
            ),
            "o.ttl": b"@prefix skos: <http://www.w3.org/2004/02/skos/core#> .\n"
            + "".join(
                f'<urn:{c}> a skos:Concept; skos:prefLabel "{c}"; skos:broader <urn:{above}> .\n'
                for c, above in zip(["Place", "Time", *CONCEPTS], ["R", "R", *ABOVE], strict=True)
            ).encode(),
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
    kinds["skos"] = {"o.ttl": kinds["ontology"]["o.ttl"]}
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
    counted = [*(f"{a},,9" for a in CONCEPTS), *(f"{a},{b},4" for a, b in pairs if a < b)]
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
        "ledger.csv": ("topic,item,round,probability,relevance", ["t1,i0.jpg,0,,1"]),
        "ballots.csv": ("question,AP,RR", ["1,3,2", "2,1,4"]),
        "tags.csv": ("item,tag", chosen),
        "pairs.csv": ("word1,word2,human", ["Sky,Sea,3", "Day,Night,2", "Sky,Day,1"]),
        "counts.csv": ("# total: 1000\nterm,with,count", counted),
        "corpus.csv": ("item,tags", tagged),
        "design.csv": ("unit,cluster,stratum", [f"{t},{k // 2},s" for k, t in enumerate(TOPICS)]),
        "itemdesign.csv": ("unit,cluster", [f"{i},{k // 2}" for k, i in enumerate(ITEMS)]),
        "families.csv": (
            "run,family",
            [f"{s}{k},{'xy'[k % 2]}" for s in SYSTEMS for k in range(5)],
        ),
        "grouped.csv": ("subject,item,group", [f"{p},{c}" for p in people for c in chosen]),
        "conceptqueries.csv": ("topic,query", ["1,Sky OR Sea", "2,Day AND NOT Night"]),
        "keywordqueries.csv": ("topic,query", ["1,Sky OR Sea", "2,Day AND Night"]),
        "meanings.csv": ("concept,title,question", [f"{c},{c}!,Is it?" for c in CONCEPTS]),
        "classes.csv": ("comment,class", ["why,content", "fine,feelings"]),
        "mapping.csv": ("concept,word", ["Sky,sky", "Sea,sea", "Day,lake", "Night,water"]),
        "waters.csv": ("word1,word2,human", ["sea,lake,3", "sea,sky,1", "lake,thing,2"]),
        "searchqueries.csv": ("topic,item", [f"{t},{ITEMS[k]}" for k, t in enumerate(TOPICS)]),
        "figures.csv": (
            "run,team,configuration,concept,AP.concept,F.concept",
            [f"{s},T{s},V,{c},0.{k}1,0.{k}5" for s in SYSTEMS for k, c in enumerate(CONCEPTS)],
        ),
        "softlabels.csv": (
            "item,concept,value",
            [
                f"{i},{c},0.{1 + (n + k) % 8}"
                for n, i in enumerate(ITEMS)
                for k, c in enumerate(CONCEPTS)
            ],
        ),
        "searchtasks.csv": ("task,text,items", [f"a,Find the sky,{ITEMS[0]}", "b,Find a sea,"]),
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
        "someitems": {"some.txt": "\n".join(ITEMS[:5]).encode()},
        "waterlist": {"waterlist.txt": b"sea\nlake\nwater\n"},
        "placed": {"placed.csv": _csv("item,Place,Time", *(f"{i},1,0" for i in ITEMS))},
        "cells": {"cells.tsv": b"topic\titem\nSky\ti1.jpg\nSea\ti1.jpg\nSky\ti2.jpg\n"},
        "topics": {"topics.txt": "\n".join(TOPICS).encode()},
        "guidelines": {"guidelines.md": b"# How to annotate\n\nLook *closely*.\n"},
        "provider": {
            "provider.toml": b'name = "x"\nurl = "http://127.0.0.1:9/?q={query}"\n'
            b'count = "total"\ntotal = 1000\nseconds = 0\n'
        },
        "features": {
            "f.csv": _csv("item,x,y", *squares),
            "f.npz": _npz(items=np.array(ITEMS), features=np.eye(8)),
        },
    }


def _regions() -> dict[str, dict[str, bytes]]:
    objects = [
        (k, 1 + (k + n) % 2, [10.0 * n, 5.0 + k, 20.0 + n, 15.0])
        for k in range(len(ITEMS))
        for n in range(2)
    ]
    truth = {
        "images": [
            {"id": k + 1, "file_name": item, "width": 64, "height": 48}
            for k, item in enumerate(ITEMS)
        ],
        "categories": [{"id": n + 1, "name": name} for n, name in enumerate(CONCEPTS[:2])],
        "annotations": [
            {
                "id": n + 1,
                "image_id": k + 1,
                "category_id": category,
                "bbox": box,
                "area": box[2] * box[3],
                "iscrowd": int(n == 3),
            }
            for n, (k, category, box) in enumerate(objects)
        ],
    }
    rows = [
        f"{ITEMS[k]},{CONCEPTS[category - 1]},{','.join(map(str, box))}"
        for k, category, box in objects
    ]
    kinds: dict[str, dict[str, bytes]] = {
        "drawnregions": {"drawn.json": json.dumps(_drawn_tasks()).encode()},
        "regions": {"boxes.json": json.dumps(truth).encode()},
        # Its items have names, which COCO's results, with numbers of pictures, do not say.
        "regionrows": {"boxes.csv": _csv("item,concept,x,y,width,height", *rows)},
        "detectionrows": {},
        "detections": {},
        "maskedregions": {"masks.json": json.dumps(_with_polygons(truth)).encode()},
        "maskedruns": {
            f"{name}-masks.json": json.dumps(_packed(objects, shift)).encode()
            for shift, name in enumerate(SYSTEMS)
        },
        # Places as shares of the pictures, and the confidence of the people who drew.
        "openimages": {
            "openimages.csv": _csv(
                "ImageID,Source,LabelName,Confidence,XMin,XMax,YMin,YMax,IsOccluded,IsGroupOf",
                *(
                    f"{Path(ITEMS[k]).stem},x,{CONCEPTS[category - 1]},1,{x / 64},{(x + w) / 64},"
                    f"{y / 48},{(y + h) / 48},0,{int(n == 3)}"
                    for n, (k, category, (x, y, w, h)) in enumerate(objects)
                ),
            )
        },
        "openrows": {
            f"{name}-open.csv": _csv(
                "ImageID,LabelName,Conf,XMin,XMax,YMin,YMax",
                *(
                    f"{Path(ITEMS[k]).stem},{CONCEPTS[category - 1]},0.{1 + k},{x / 64},"
                    f"{(x + w) / 64},{y / 48},{(y + h) / 48}"
                    for k, category, (x, y, w, h) in objects[shift:]
                ),
            )
            for shift, name in enumerate(SYSTEMS)
        },
    }
    for shift, name in enumerate(SYSTEMS):
        placed = [
            {
                "image_id": k + 1,
                "category_id": category,
                "bbox": [box[0] + shift, *box[1:]],
                "score": (n % 7) / 7,
            }
            for n, (k, category, box) in enumerate(objects)
        ]
        kinds["detections"] |= {
            f"{name}-boxes.json": json.dumps(placed).encode(),
            f"{name}-boxes.csv": _csv(
                "item,concept,x,y,width,height,confidence",
                *(f"{row},0.{shift + 3}" for row in rows),
            ),
        }
        rows_of_run = kinds["detections"][f"{name}-boxes.csv"]
        kinds["detectionrows"][f"{name}-rows.csv"] = rows_of_run
    return kinds


def _with_polygons(truth: dict[str, Any]) -> dict[str, Any]:
    """A truth with masks in place of boxes: polygons, and run lengths of a crowd."""
    annotations = []
    for annotation in truth["annotations"]:
        x, y, width, height = annotation["bbox"]
        right, below = x + width, y + height
        mask: object = [[x, y, right, y, right, below, x, below], [1, 1, 9, 1, 5, 7.5]]
        if annotation["iscrowd"]:
            mask = {"size": [48, 64], "counts": [48 * 9, 48, 48 * 54]}
        annotations.append(
            {key: annotation[key] for key in ("id", "image_id", "category_id", "iscrowd")}
            | {"segmentation": mask}
        )
    return truth | {"annotations": annotations}


# The pixels from 10, 5 to 30, 20 of a picture of 64 x 48.
PACKED = "U??Q10000000000000000000000000000000000000kb1"


def _packed(objects: list[tuple[int, int, list[float]]], shift: int) -> list[dict[str, object]]:
    """Results with masks whose run lengths are packed."""
    return [
        {
            "image_id": k + 1,
            "category_id": category,
            "segmentation": {"size": [48, 64], "counts": PACKED if n % 2 else [1, 9, 3062]},
            "score": ((n + shift) % 7) / 7,
        }
        for n, (k, category, _) in enumerate(objects)
    ]


def _drawn_tasks() -> list[dict[str, object]]:
    return [
        {
            "id": number,
            "data": {"image": item},
            "annotations": [
                {
                    "completed_by": f"p{person}",
                    "result": [
                        {
                            "original_width": 64,
                            "original_height": 48,
                            "value": {
                                "x": 10 + person, "y": 10, "width": 50, "height": 40,
                                "rectanglelabels": [CONCEPTS[(number + person // 2) % 2]],
                            },
                        }
                    ],
                }
                for person in range(3)
            ],
        }
        for number, item in enumerate(ITEMS)
    ]  # fmt: skip


def all_kinds() -> dict[str, dict[str, bytes]]:
    """Files by kind and name."""
    return _ranked() | _annotated() | _opinions() | _regions()
