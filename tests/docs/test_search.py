"""What people type into the search of these pages, and the page that must come first."""

import importlib.util
import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
FIRST = {
    "install": "how-to/install",
    "pip": "how-to/install",
    "macOS": "how-to/install",
    "windows": "how-to/install",
    "docker": "how-to/install",
    "conda": "how-to/install",
    "LLM": "how-to/calibrate-a-judge",
    "LLM judge": "how-to/calibrate-a-judge",
    "RAG": "how-to/calibrate-a-judge",
    "umbrela": "how-to/calibrate-a-judge",
    "human labels": "how-to/calibrate-a-judge",
    "gold silver": "how-to/calibrate-a-judge",
    "prediction-powered": "how-to/calibrate-a-judge",
    "MTEB": "how-to/python-in-ten-minutes",
    "BEIR": "how-to/python-in-ten-minutes",
    "torch": "how-to/python-in-ten-minutes",
    "faiss": "how-to/python-in-ten-minutes",
    "huggingface": "how-to/python-in-ten-minutes",
    "sklearn": "how-to/python-in-ten-minutes",
    "f1": "how-to/python-in-ten-minutes",
    "mlflow": "how-to/python-in-ten-minutes",
    "wandb": "how-to/python-in-ten-minutes",
    "jupyter": "how-to/notebook",
    "MTurk": "how-to/ground-truth-from-people",
    "label studio": "how-to/ground-truth-from-people",
    "dawid-skene": "how-to/ground-truth-from-people",
    "crowdsourcing": "how-to/ground-truth-from-people",
    "kappa": "explanation/agreement",
    "krippendorff": "explanation/agreement",
    "significance": "explanation/statistics",
    "p-value": "explanation/statistics",
    "bonferroni": "explanation/statistics",
    "confidence interval": "explanation/statistics",
    "confusion matrix": "how-to/annotation",
    "multilabel": "how-to/annotation",
    "COCO": "how-to/detection",
    "qrels": "how-to/trec-run",
    "github action": "how-to/continuous-integration",
    "pyterrier": "how-to/ir-measures",
    "pytrec_eval": "how-to/from-pytrec-eval",
    "shared task": "how-to/run-a-campaign",
    "leaderboard server": "how-to/run-a-campaign",
}
RANK = """
const rows = JSON.parse(require("fs").readFileSync(0, "utf8"));
const entries = rows.index.map(prepared);
const first = {};
for (const query of rows.queries) {
  const asked = words(query);
  const hits = entries.map((e) => [weight(e, asked), e]).filter(([w]) => w > 0);
  hits.sort((a, b) => b[0] - a[0]);
  first[query] = hits.length ? hits[0][1].address : "";
}
console.log(JSON.stringify(first));
"""


def written_pages() -> list[list[str]]:
    """The index of the pages that are written; those that are generated take half a minute."""
    markdown = pytest.importorskip("markdown")
    spec = importlib.util.spec_from_file_location("hooks", DOCS / "theme" / "hooks.py")
    hooks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hooks)
    rows = []
    for page in sorted(DOCS.rglob("*.md")):
        text, name = page.read_text(), page.relative_to(DOCS).as_posix()
        html = markdown.markdown(text, extensions=["tables", "fenced_code", "toc"])
        title = re.search(r"^# (.*)$", text, re.MULTILINE)
        rows += hooks.sections(html, name.replace(".md", ".html"), title[1] if title else "", name)
    return rows


def test_people_find_the_page_that_they_look_for():
    node = shutil.which("node")
    if node is None:
        pytest.skip("the script of the search runs in node, which is not installed")
    script = (DOCS / "theme" / "assets" / "docs.js").read_text()
    begin, end = script.index("const plain"), script.index("let loading")
    parts = [script[begin:end], script[script.index("function prepared") :]]
    parts[1] = parts[1][: parts[1].index("function marked")]
    done = subprocess.run(
        [node, "-e", "\n".join([*parts, RANK])],
        input=json.dumps({"index": written_pages(), "queries": list(FIRST)}),
        capture_output=True,
        text=True,
        check=True,
        timeout=900,
    )
    assert json.loads(done.stdout) == {q: f"{page}.html" for q, page in FIRST.items()}
    assert len(FIRST) >= 40


def test_words_are_of_pages_that_are_there():
    spec = importlib.util.spec_from_file_location("hooks", DOCS / "theme" / "hooks.py")
    hooks = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(hooks)
    assert [name for name in hooks.SEARCH_TERMS if not (DOCS / name).is_file()] == []


def test_the_recipes_run(tmp_path, monkeypatch):
    """Python in ten minutes, one recipe after the other."""
    monkeypatch.chdir(tmp_path)
    text = (DOCS / "how-to" / "python-in-ten-minutes.md").read_text()
    names = {}
    for code in re.findall(r"```python\n(.*?)```", text, re.DOTALL):
        exec(code, names)
    assert names["numbers"].keys() >= {"bm25/ndcg_at_10", "dense/rr_at_10"}
    assert (tmp_path / "report.html").stat().st_size > 10_000
