"""Folders and the files that other commands write: collections, pictures, sites, surveys."""

from __future__ import annotations

import contextlib
import io
import json
import shutil
import struct
import zlib
from pathlib import Path

import cranfield as cf
from benchmarks.fuzz.samples import CONCEPTS, ITEMS, SYSTEMS, TOPICS
from cranfield.campaign.annotation_task import Sheet, Unit, UnitAnswers, response_of
from cranfield.campaign.forms import ontology_form
from cranfield.campaign.surveys.measures import make_questionnaire
from cranfield.campaign.surveys.ratings import relatedness_survey
from cranfield.cli import main

COLLECTION = f"""\
name = "tiny"
title = "Tiny"
size = {len(ITEMS)}
items = "items.csv"
concepts = "concepts.csv"
topics = "topics.csv"
judgements = "q.txt"
runs = ["runs/a1.run", "runs/b1.run"]
measures = ["AP", "P@5"]
primary = "AP"
teams = "teams.csv"
run_facts = "facts.csv"
truth = "t.csv"
label_runs = ["labels/al.csv", "labels/bl.csv"]
label_measures = ["F.example", "F.concept"]
ontology = "o.csv"
rules = "rules.toml"
cost_maps = ["m.csv"]
agreement_map = "g.csv"
judgement_log = "log.csv"
subject_categories = "votes.csv"
category_parents = "tree.csv"
subject_rankings = "sub.csv"
"""


def png(width: int, height: int, shade: int = 0) -> bytes:
    """A picture of a colour that changes from left to right."""
    rows = b"".join(
        b"\0" + bytes(c for x in range(width) for c in (x * 9 % 256, shade % 256, y * 9 % 256))
        for y in range(height)
    )
    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in ((b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    )


def _collection(files: dict[str, dict[str, bytes]]) -> dict[str, bytes]:
    lines = {
        "items.csv": ["item,text", *(f"{i},a picture" for i in ITEMS)],
        "concepts.csv": ["concept,definition", *(f"{c},what it is" for c in CONCEPTS)],
        "topics.csv": ["topic,text", *(f"{t},find it" for t in TOPICS)],
        "teams.csv": ["acronym,name,country", "FERN,Fern,Norland", "OTTER,Otter,Westmark"],
        "facts.csv": ["run,team,tag,configuration", "a1,FERN,r1,V", "b1,OTTER,r1,T"],
    }
    made = {name: "\n".join([*rows, ""]).encode() for name, rows in lines.items()}
    made["collection.toml"] = COLLECTION.encode()
    for kind, name in {
        "qrels": "q.txt",
        "truth": "t.csv",
        "ontology": "o.csv",
        "rules": "rules.toml",
        "costmap": "m.csv",
        "agreementmap": "g.csv",
        "log": "log.csv",
        "votes": "votes.csv",
        "tree": "tree.csv",
        "subjects": "sub.csv",
    }.items():
        made[name] = files[kind][name]
    for name in SYSTEMS[:2]:
        made[f"runs/{name}1.run"] = files["run"][f"{name}1.run"]
        made[f"labels/{name}l.csv"] = files["labels"][f"{name}1.csv"]
    return made


def _voc() -> dict[str, bytes]:
    """Boxes of pictures as VOC writes them, some of them difficult."""
    made = {}
    for k, item in enumerate(ITEMS):
        objects = "".join(
            f"<object><name>{CONCEPTS[(k + n) % 2]}</name><difficult>{n}</difficult><bndbox>"
            f"<xmin>{10 * n}</xmin><ymin>{5 + k}</ymin><xmax>{20 + 11 * n}</xmax><ymax>{20 + k}"
            "</ymax></bndbox></object>"
            for n in range(2)
        )
        made[f"Annotations/{Path(item).stem}.xml"] = (
            f"<annotation><filename>{item}</filename><size><width>64</width><height>48</height>"
            f"</size>{objects}</annotation>\n"
        ).encode()
    return made


def _yolo(confidence: str) -> dict[str, bytes]:
    """The same as YOLO writes boxes, with a confidence or without."""
    made = {"classes.txt": "".join(f"{name}\n" for name in CONCEPTS[:2]).encode()}
    for k, item in enumerate(ITEMS):
        lines = [f"{(k + n) % 2} 0.{3 + n} 0.{3 + k % 4} 0.25 0.3{confidence}" for n in range(2)]
        made[f"labels/{Path(item).stem}.txt"] = "".join(f"{line}\n" for line in lines).encode()
    return made


def _wordnet() -> dict[str, bytes]:
    """A database of nouns: everything is a thing, the waters are waters."""
    synsets = {"thing": None, "water": "thing", "lake": "water", "sea": "water", "sky": "thing"}
    licence = "  1 This is a licence.  \n"
    offsets: dict[str, int] = {}
    text = ""
    for _ in range(2):  # the first time to learn where each begins
        text = licence
        for word, above in synsets.items():
            offsets[word] = len(text)
            links = [("@", above)] if above else []
            links += [("~", below) for below, own in synsets.items() if own == word]
            listed = "".join(f" {s} {offsets.get(t, 0):08d} n 0000" for s, t in links)
            head = f"{offsets[word]:08d} 03 n 01 {word} 0"
            text += f"{head} {len(links):03d}{listed} | what {word} is  \n"
    index = "".join(f"{w} n 1 1 @ 1 0 {offsets[w]:08d}\n" for w in sorted(synsets))
    parts = {f"{kind}.{part}": licence for kind in ("data", "index") for part in PARTS}
    parts |= {f"{part}.exc": "" for part in PARTS}
    parts |= {"data.noun": text, "index.noun": licence + index}
    return {name: data.encode() for name, data in parts.items()}


PARTS = ("noun", "verb", "adj", "adv")


CROWD = (
    "HITId,AssignmentId,WorkerId,AcceptTime,SubmitTime,WorkTimeInSeconds,Input.image_url,"
    "Answer.place,Answer.Day,Answer.comment\n"
    "h1,a1,W1,Mon Nov 01 10:00:00 GMT 2010,Mon Nov 01 10:02:30 GMT 2010,150,"
    "https://pictures.example/x/i1.jpg,Sky|Sea,true,fine\n"
    "h2,a2,W1,,,40,https://pictures.example/x/i2.jpg,Sky,false,\n"
)


def asked(ontology: Path) -> dict[str, dict[str, bytes]]:
    """Surveys, questionnaires and forms with their answers."""
    survey = relatedness_survey([("sky", "sea"), ("sea", "lake")])
    rated = [UnitAnswers(unit, {"rating": ["4"]}) for unit in survey.key["units"]]
    form = ontology_form(cf.read_ontology(ontology))
    sheet = Sheet("Tiny", "labels", {"form": form}, (Unit(ITEMS[0]), Unit(ITEMS[1])))
    filled = [
        UnitAnswers(ITEMS[0], {"Sky": ["Sky"], "Day": ["Day"]}, comment="why"),
        UnitAnswers(ITEMS[1], {"Day": ["Night"]}),
    ]
    questions = make_questionnaire("AP RR", questions=2, lists=2, relevant=2, size=6)
    ticked = {question: [next(iter(key))] for question, key in questions.key["key"].items()}
    chosen = {"id": 1, "result": [{"type": "choices", "from_name": "c", "value": {}}]}
    chosen["result"][0]["value"] = {"choices": ["Sky", "Day"]}
    tasks = [{"id": k, "data": {"image": i}, "annotations": [chosen]} for k, i in enumerate(ITEMS)]
    texts = {
        "surveykey": {"survey-key.json": survey.key},
        "surveyanswers": {"survey-said.json": response_of(survey.sheet, "ann", rated).to_dict()},
        "answers": {
            "answers.json": response_of(sheet, "ann", filled).to_dict(),
            "studio.json": tasks,
        },
        "exports": {"export.json": tasks},
        "voteskey": {"votes-key.json": questions.key},
        "votesanswers": {"votes-said.json": {"answers": ticked}},
    }
    made = {
        kind: {name: json.dumps(value).encode() for name, value in files.items()}
        for kind, files in texts.items()
    }
    made["crowdforms"] = {"crowd-forms.csv": CROWD.encode()}
    made["crowdgold"] = {"crowd-gold.csv": b"item,concept,value\ni1,Sky,1\ni2,Sea,0\n"}
    made["answers"]["crowd.csv"] = made["exports"]["batch.csv"] = CROWD.encode()
    made["exports"]["sheet.csv"] = b"item,ann,bob\na,Day,Day\nb,Day,Night\n"
    made["exports"]["topics.xml"] = b"<topic number='1'><query>bears</query></topic>"
    return made


def write_folders(folder: Path, files: dict[str, dict[str, bytes]]) -> dict[str, list[Path]]:
    """Folders by kind, and what commands make of them."""
    collection = _collection(files)
    pictures = {name.replace(".jpg", ".png"): png(24, 16, 30 * k) for k, name in enumerate(ITEMS)}
    raw = {name: data for name, data in collection.items() if name != "collection.toml"}
    trees = {
        "collection": collection,
        "rawfolder": raw,
        "wordnet": _wordnet(),
        "recordings": {"one.wav": b"RIFF$\0\0\0WAVEfmt ", "two.mp4": b"\0\0\0\x18ftypmp42"},
        "pictures": {name: pictures[name] for name in list(pictures)[:3]},
        "vocboxes": _voc(),
        "yoloboxes": _yolo("") | {f"images/{name}": data for name, data in pictures.items()},
        "yolorun": _yolo(" 0.5"),
    }
    for kind, tree in trees.items():
        for name, data in tree.items():
            path = folder / kind / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    paths = {kind: [folder / kind] for kind in trees}
    names = [name for name in pictures if (folder / "pictures" / name).exists()]
    (folder / "picturelist.txt").write_text("".join(f"pictures/{name}\n" for name in names))
    (folder / "picturetags.csv").write_text(
        "item,tag\n" + "".join(f"{Path(n).stem},x\n" for n in names)
    )
    stems = [Path(name).stem for name in names]
    (folder / "picturejudgements.txt").write_text(
        "".join(f"{a} 0 {b} 1\n" for a in stems for b in stems if a != b)
    )
    paths["picturejudgements"] = [folder / "picturejudgements.txt"]
    paths["picturelist"] = [folder / "picturelist.txt"]
    paths["picturetags"] = [folder / "picturetags.csv"]
    _made("describe", folder / "pictures", "-d", "CEDD", "-o", folder / "described")
    paths["descriptions"] = [shutil.copy(folder / "described" / "CEDD.npz", folder / "CEDD.npz")]
    site = folder / "site"
    _made("campaign", "import", folder / "collection", "--to", site)
    _made("campaign", "backup", site, "--to", folder / "backup.zip")
    paths["site"], paths["backup"] = [site], [folder / "backup.zip"]
    paths["database"] = [shutil.copy(next(site.glob("*.sqlite*")), folder / "database.sqlite")]
    return paths


def _made(*words: object) -> None:
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        code = main([str(word) for word in words])
    if code:
        raise RuntimeError(f"{words}: {said.getvalue()}")
