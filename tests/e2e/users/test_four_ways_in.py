"""Four kinds of new users, each with nothing but the wheel in a fresh environment.

The wheel is the one that `make wheel` left in dist, or that CRANFIELD_WHEEL names.
"""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
# Makes an environment and installs numpy and scipy into it: most of a minute.
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def binaries(tmp_path_factory):
    wheels = sorted((ROOT / "dist").glob("cranfield-*.whl"), key=lambda path: path.stat().st_mtime)
    wheel = os.environ.get("CRANFIELD_WHEEL") or (wheels[-1] if wheels else None)
    if wheel is None:
        pytest.skip("there is no wheel: `make wheel` builds one")
    folder = tmp_path_factory.mktemp("environment")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True, timeout=900)
    pip = [folder / "bin" / "python", "-m", "pip", "install", "--quiet", wheel]
    subprocess.run(pip, check=True, capture_output=True, timeout=900)
    return folder / "bin"


@pytest.fixture
def call(binaries, tmp_path):
    def run(*words, returncode=0):
        done = subprocess.run(
            [binaries / words[0], *words[1:]],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={"PATH": "", "HOME": str(tmp_path), "LANG": "C.UTF-8"},
            check=False,
            timeout=900,
        )
        assert done.returncode == returncode, done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout

    return run


def test_runs_for_a_paper(call, tmp_path):
    call("cranfield", "demo", "--copy", "sample")
    words = ["sample/qrels.txt.gz", *(f"sample/runs/{n}.run.gz" for n in ("pca", "pixels"))]
    table = call("cranfield", "eval", *words, "-m", "MAP NDCG@10 MRR")
    assert "0.5450" in table
    latex = call("cranfield", "compare", *words, "--baseline", "pixels", "--format", "latex")
    assert latex.index("\\begin{tabular}") < latex.index("\\end{tabular}")
    call("cranfield", "eval", *words, "--format", "html", "-o", "report.html")
    assert (tmp_path / "report.html").stat().st_size > 20_000


def test_taggers_embeddings_and_a_gate(call):
    code = """
        import numpy as np, cranfield as cf
        truth, predicted = np.array([0, 1, 2, 1]), np.array([0, 1, 1, 1])
        print(round(cf.evaluate_labels(truth, predicted, "f1_macro").flat()["f_concept"], 12))
        relevance = np.array([[1, 0, 0], [0, 0, 1]])
        scores = cf.evaluate(relevance, {"old": relevance[:, ::-1] + 0.1, "new": relevance}, "RR")
        print(scores.mean()["new"]["MRR"])
        cf.assert_not_worse(scores, "old")
        print(len(cf.search(np.eye(4), np.eye(4)[:2], k=2).run()))
    """
    assert call("python", "-c", textwrap.dedent(code)).split() == ["0.6", "1.0", "4"]


def test_annotators_and_an_export(call, tmp_path):
    answers = {"u": ("Sky", "Sea"), "v": ("Sky", "Sea"), "w": ("Sky", "Sky")}
    tasks = [
        {
            "id": n,
            "data": {"image": f"{n}.jpg"},
            "annotations": [
                {
                    "completed_by": {"email": person},
                    "result": [
                        {
                            "from_name": "scene",
                            "to_name": "image",
                            "type": "choices",
                            "value": {"choices": [choices[n]]},
                        }
                    ],
                }
                for person, choices in answers.items()
            ],
        }
        for n in range(2)
    ]
    (tmp_path / "export.json").write_text(json.dumps(tasks))
    agreement = json.loads(
        call("cranfield", "truth", "agreement", "export.json", "--format", "json")
    )
    # Two of three pairs agree on the second picture, all on the first.
    assert agreement["overall"]["accuracy"] == pytest.approx(2 / 3)
    rows = call("cranfield", "truth", "aggregate", "export.json", "--format", "csv").splitlines()
    assert len(rows) == 3
    assert [row.split(",")[-2] for row in rows[1:]] == ["Sky", "Sea"]


def test_a_course_that_wants_a_shared_task(call):
    call("cranfield", "demo", "--copy", "sample")
    call("cranfield", "collection", "check", "sample")
    call("cranfield", "check", "sample", "sample/runs/pca.run.gz")
    # The site needs an extra, which is told by its name.
    call("cranfield", "site", "serve", "sample", returncode=2)
