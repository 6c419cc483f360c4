"""Random runs through `cranfield trec_eval` and through trec_eval itself, if it is installed.

Left out are places where trec_eval 10.0 itself is at fault: `rbp` reads memory that was never
set; gains with fractions are sorted as whole numbers; `dcg` with parameters frees memory twice;
a topic whose grades are all negative stops it; a ranking that -J empties gives -nan for
interpolated precision; a run without any judged topic is scored 0 (here: an error).
"""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from cranfield.cli import main

PROGRAM = shutil.which("trec_eval")
pytestmark = pytest.mark.skipif(PROGRAM is None, reason="no trec_eval on the PATH to compare with")

DETAILED = (
    "map",
    "ndcg.1=3,2=1",
    "P.3,1",
    "recall.2",
    "utility.1,2,3,4",
    "yaap",
    "Rprec_mult.0.3,2.7",
    "G.1=2",
    "Rndcg",
    "ndcg_rel.2=7",
    "set_F.0.5",
    "unj.3",
    "map_cut.2",
    "relative_P.1,4",
    "11pt_avg.0.1,0.9",
    "rbp_resid.p=0.5",
    "iprec_at_recall.0.33,0.66",
    "gm_map",
    "gm_bpref",
    "binG",
    "infAP",
    "relstring.5",
    "success.1,2",
    "ndcg_cut.3",
)
MEASURES = (("all_trec",), ("official",), ("set",), DETAILED)
GRADES = ((0, 1), (0, 1, 2, 3), (-1, 0, 1, 2), (-2, -1, 0, 0, 1), (1,), (0, 5, 12), (0,))


def write_problem(draw: random.Random, qrels: Path, run: Path) -> None:
    """Judgements and a run with ties, missing and unjudged topics, and close scores."""
    topics = [str(t) for t in draw.sample(range(1, 300), draw.randint(1, 6))]
    items = [f"d{i}" if i % 2 else f"D-{i * 37 % 101}" for i in range(draw.randint(3, 60))]
    grades = draw.choice(GRADES)
    with qrels.open("w") as out:
        for topic in topics:
            judged = draw.sample(items, draw.randint(1, len(items)))
            for n, item in enumerate(judged):
                grade = draw.choice(grades) if n else max(0, draw.choice(grades))
                out.write(f"{topic} 0 {item} {grade}\n")
    with run.open("w") as out:
        for topic in [*topics, "999"]:
            if topic != topics[0] and draw.random() < 0.15:
                continue
            for rank, item in enumerate(draw.sample(items, draw.randint(1, len(items)))):
                close = 0.5 + 1e-9 * draw.randint(0, 5)
                score = draw.choice([draw.random(), round(draw.random(), 1), 1, close])
                out.write(f"{topic} Q0 {item} {rank} {score} tag\n")


def options_of(draw: random.Random) -> list[str]:
    options = ["-q"]
    options += ["-c"] * (draw.random() < 0.8)
    options += ["-J"] * (draw.random() < 0.3)
    options += ["-n"] * (draw.random() < 0.1)
    for option, values in (("-M", (1, 3, 10, 1000)), ("-l", (1, 2)), ("-N", (100, 1000))):
        if draw.random() < 0.3:
            options.append(f"{option}{draw.choice(values)}")
    for name in draw.choice(MEASURES):
        options += ["-m", name]
    return options


def comparable(text: str, faulty: set[str]) -> list[str]:
    return [line for line in text.splitlines() if line.split("\t")[0].strip() not in faulty]


@pytest.mark.parametrize("seed", range(40))
def test_same_lines(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    draw = random.Random(seed)
    qrels, run = tmp_path / "qrels", tmp_path / "run"
    write_problem(draw, qrels, run)
    args = [*options_of(draw), str(qrels), str(run)]
    theirs = subprocess.run(
        [str(PROGRAM), *args], capture_output=True, text=True, check=False, timeout=120
    )
    if theirs.returncode < 0:
        pytest.skip(f"trec_eval was killed by signal {-theirs.returncode}")
    code = main(["trec_eval", *args])
    ours = capsys.readouterr().out
    assert (code == 0) == (theirs.returncode == 0), theirs.stderr
    faulty = {"rbp"} | {
        line.split("\t")[0].strip() for line in theirs.stdout.splitlines() if "nan" in line
    }
    assert comparable(ours, faulty) == comparable(theirs.stdout, faulty)
