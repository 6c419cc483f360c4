"""`cranfield eval`: formats, options and messages."""

from __future__ import annotations

import csv
import html.parser
import io
import json
from pathlib import Path
from typing import Any

import pytest

from cranfield._version import __version__
from cranfield.cli import main
from cranfield.report.render import FORMATS

QRELS = "301 0 a 2\n301 0 b 0\n302 0 a 1\n303 0 c 1\n"
FIRST = "301 Q0 b 1 3 x\n301 Q0 a 2 2 x\n302 Q0 a 1 1 x\n303 Q0 c 1 1 x\n"
SECOND = "301 Q0 a 1 1 y\n301 Q0 b 2 1 y\n301 Q0 z 3 1 y\n302 Q0 a 1 1 y\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "qrels").write_text(QRELS)
    (tmp_path / "first.run").write_text(FIRST)
    (tmp_path / "second.txt").write_text(SECOND)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(folder: Path, capsys: pytest.CaptureFixture[str]) -> Any:
    def call(*args: str, code: int = 0) -> tuple[str, str]:
        assert main(["eval", *args]) == code
        return capsys.readouterr()

    return call


def test_ranks_stand_beside_the_means(run: Any) -> None:
    options = ("-m", "AP AVR", "--ranks", "--format", "csv")
    out, _ = run("qrels", "first.run", "second.txt", *options)
    # K = 2 GMT = 2: the tied item at rank 3 and the one of the missing topic count as at 2.5.
    header, *rows = out.splitlines()
    assert header == "run,AP,AP_rank,AVR,AVR_rank"
    assert [[row.split(",")[k] for k in (0, 2, 4)] for row in rows] == [
        ["first", "1", "1"],
        ["second", "2", "2"],
    ]
    assert float(rows[1].split(",")[3]) == pytest.approx((2.5 + 1 + 2.5) / 3)
    _, err = run("qrels", "first.run", "--ranks", "--by", "groups.csv", code=2)
    assert "--ranks and --by cannot be combined" in err


def test_json_has_the_promised_shape(run: Any) -> None:
    out, err = run(
        "qrels", "first.run", "second.txt", "-m", "AP P@1", "--per-topic", "--format", "json"
    )
    assert json.loads(out) == {
        "cranfield": __version__,
        "command": "eval",
        "verdict": [
            "first leads with the highest MAP, 0.8333: 0.3889 above second (0.4444).",
            "The hardest topic is 301: no run gets above 0.5000 there.",
        ],
        "measures": [
            {"name": "AP", "mean_name": "MAP", "higher_is_better": True},
            {"name": "P@1", "mean_name": "P@1", "higher_is_better": True},
        ],
        "runs": [
            {
                "name": "first",
                "mean": {"AP": 2.5 / 3, "P@1": 2 / 3},
                "topics": {"evaluated": 3, "missing": 0, "left_out": {"AP": 0, "P@1": 0}},
            },
            {
                "name": "second",
                "mean": {"AP": (1 / 3 + 1) / 3, "P@1": 1 / 3},
                "topics": {"evaluated": 3, "missing": 1, "left_out": {"AP": 0, "P@1": 0}},
            },
        ],
        "per_topic": [
            {"run": "first", "topic": "301", "AP": 0.5, "P@1": 0.0},
            {"run": "first", "topic": "302", "AP": 1.0, "P@1": 1.0},
            {"run": "first", "topic": "303", "AP": 1.0, "P@1": 1.0},
            {"run": "second", "topic": "301", "AP": 1 / 3, "P@1": 0.0},
            {"run": "second", "topic": "302", "AP": 1.0, "P@1": 1.0},
            {"run": "second", "topic": "303", "AP": 0.0, "P@1": 0.0},
        ],
        "notes": [
            "second: misses 1 of 3 judged topics (303), scored as an empty ranking",
            "second: 50 % of the first items are unjudged",
        ],
    }
    assert err == (
        "warning: second: misses 1 of 3 judged topics (303), scored as an empty ranking\n"
        "warning: second: 50 % of the first items are unjudged\n"
    )


def test_topics_of_the_run_only(run: Any) -> None:
    out, _ = run(
        "qrels", "second.txt", "-m", "AP", "--topics", "run", "--per-topic", "--format", "json"
    )
    content = json.loads(out)
    assert content["runs"] == [
        {
            "name": "second",
            "mean": {"AP": (1 / 3 + 1) / 2},
            "topics": {"evaluated": 2, "missing": 1, "left_out": {"AP": 0}},
        }
    ]
    assert content["per_topic"][2] == {"run": "second", "topic": "303", "AP": None}


@pytest.mark.parametrize(("form", "delimiter"), [("csv", ","), ("tsv", "\t")])
def test_separated_values(form: str, delimiter: str, run: Any) -> None:
    out, _ = run("qrels", "first.run", "second.txt", "-m", "AP NumRet", "--format", form)
    rows = list(csv.reader(io.StringIO(out), delimiter=delimiter))
    assert rows == [
        ["run", "AP", "NumRet", "topics"],
        ["first", repr(2.5 / 3), "4.0", "3"],
        ["second", repr((1 / 3 + 1) / 3), "4.0", "3"],
    ]
    out, _ = run("qrels", "first.run", "-m", "AP", "--per-topic", "--format", form)
    rows = list(csv.reader(io.StringIO(out), delimiter=delimiter))
    assert rows[0] == ["run", "topic", "AP"]
    assert rows[1] == ["first", "301", "0.5"]
    assert rows[-1] == ["first", "all", repr(2.5 / 3)]


def test_the_table_marks_the_best_and_counts_topics(run: Any) -> None:
    out, _ = run("qrels", "first.run", "second.txt", "-m", "AP NumRet NumNonrelJudgedRet")
    lines = out.splitlines()[3:]
    assert lines[0].split() == ["run", "MAP", "NumRet", "NumNonrelJudgedRet", "topics"]
    assert lines[2].split() == ["first", "0.8333*", "4", "1*", "3"]
    assert lines[3].split() == ["second", "0.4444", "4", "1*", "3"]
    assert lines[-1] == "* best of its column"
    assert "\x1b" not in out


def test_one_run_has_no_best(run: Any) -> None:
    assert "*" not in run("qrels", "first.run")[0]


def test_markdown_and_latex(run: Any) -> None:
    out, _ = run("qrels", "first.run", "second.txt", "-m", "AP", "--format", "markdown")
    assert out.splitlines()[2:] == [
        "| run | MAP | topics |",
        "|---|---:|---:|",
        "| first | **0.8333** | 3 |",
        "| second | 0.4444 | 3 |",
    ]
    out, _ = run("qrels", "first.run", "second.txt", "-m", "AP", "--format", "latex")
    assert r"first & \textbf{0.8333} & 3 \\" in out
    assert out.count(r"\begin{tabular}") == out.count(r"\end{tabular}") == 1


class Tags(html.parser.HTMLParser):
    """The tags and the text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_names_cannot_become_code(folder: Path, run: Any) -> None:
    name = "<script>alert(1)<b> & _x_%$#{}~^|\\"
    (folder / f"{name}.run").write_text("<img/src=x> Q0 a 1 1 r\n")
    (folder / "qrels").write_text("<img/src=x> 0 a 1\n")
    args = ("qrels", f"{name}.run", "-m", "AP", "--per-topic", "--format")
    page = Tags(run(*args, "html")[0])
    assert name in page.text
    # The script of the report and its data; what the data hold is text to the parser.
    assert page.tags.count("script") == 2
    assert not {"img", "b"} & set(page.tags)
    data = next(json.loads(t) for t in page.text if t.startswith('{"cranfield"'))
    assert data["sections"][0]["runs"] == [name]
    assert data["sections"][0]["units"]["topic"] == ["<img/src=x>"]
    markdown = run(*args, "markdown")[0]
    assert "<" not in markdown
    assert r"\|" in markdown
    latex = run(*args, "latex")[0]
    assert r"\_x\_\%\$\#\{\}\textasciitilde{}\textasciicircum{}\textbar{}\textbackslash{}" in latex
    assert r"\textless{}script\textgreater{}" in latex
    assert json.loads(run(*args, "json")[0])["runs"][0]["name"] == name


@pytest.mark.parametrize("form", FORMATS)
def test_output_to_a_file_is_what_would_be_printed(form: str, folder: Path, run: Any) -> None:
    args = ("qrels", "first.run", "second.txt", "--per-topic", "--tie-range", "--format", form)
    printed, _ = run(*args)
    out, _ = run(*args, "-o", "result")
    assert out == ""
    assert (folder / "result").read_text() == printed
    assert sorted(p.name for p in folder.iterdir()) == [
        "first.run", "qrels", "result", "second.txt",
    ]  # fmt: skip


def test_ties(run: Any) -> None:
    def ap(*options: str) -> float:
        out, _ = run("qrels", "second.txt", "-m", "AP", "--format", "json", *options)
        return float(json.loads(out)["runs"][0]["mean"]["AP"])

    assert ap() == pytest.approx((1 / 3 + 1 + 0) / 3)
    assert ap("--ties", "file") == pytest.approx((1 + 1 + 0) / 3)
    assert ap("--ties", "average") == pytest.approx(((1 + 1 / 2 + 1 / 3) / 3 + 1 + 0) / 3)


def test_range_of_ties(run: Any) -> None:
    args = ("qrels", "first.run", "second.txt", "-m", "AP Judged@1 NumRet", "--tie-range")
    content = json.loads(run(*args, "--format", "json")[0])
    assert content["runs"][0]["tie_range"]["AP"] == [2.5 / 3, 2.5 / 3]
    assert content["runs"][1]["tie_range"] == {
        "AP": [pytest.approx(4 / 9), pytest.approx(2 / 3)],
        "Judged@1": None,
        "NumRet": [4.0, 4.0],
    }
    lines = run(*args)[0].splitlines()
    at = lines.index("How far the order within ties can move each value")
    assert lines[at + 4].split("  ")[0] == "second"
    assert "0.4444 to 0.6667" in lines[at + 4]
    assert "4 to 4" in lines[at + 4]


def test_judged_only_and_max_items(run: Any) -> None:
    out, _ = run(
        "qrels", "second.txt", "-m", "AP NumRet", "--judged-only", "--format", "csv", "--quiet"
    )
    assert out.splitlines()[1] == f"second,{(0.5 + 1) / 3!r},3.0,3"
    out, _ = run("qrels", "first.run", "-m", "AP NumRet", "--max-items", "1", "--format", "csv")
    assert out.splitlines()[1] == f"first,{2 / 3!r},3.0,3"
    huge = str(2**32 + 1)
    out, _ = run("qrels", "first.run", "-m", "NumRet", "--max-items", huge, "--format", "csv")
    assert out.splitlines()[1] == "first,4.0,3"


def test_sets_of_measures(run: Any) -> None:
    content = json.loads(run("qrels", "first.run", "-m", "trec", "--format", "json")[0])
    names = [m["name"] for m in content["measures"]]
    assert names[:4] == ["NumRet", "NumRel", "NumRelRet", "AP"]
    assert "iP@0.5(version=10)" in names
    assert "iP@0.5" not in names
    content = json.loads(run("qrels", "first.run", "-m", "AP trec AP", "--format", "json")[0])
    assert [m["name"] for m in content["measures"]].count("AP") == 1


@pytest.mark.parametrize(
    ("args", "says"),
    [
        (["qrels", "first.run", "-m", "RPB"], "No measure named 'RPB'. Did you mean 'RBP'?"),
        (["qrels", "first.run", "-m", "P(rle=1)@5"], "P has no parameter 'rle' (it has: rel"),
        (["qrels", "first.run", "-m", "P"], "P needs a cutoff, such as P@10"),
        (["qrels", "first.run", "-m", ""], "no measure was asked for"),
        (["qrels", "first.run", "first.run"], "two runs are named 'first'"),
        (["qrels", "first.run", "-m", "Utility(reject=1)"], "--collection-size N"),
        (["qrels", "first.run", "--jobs", "0"], "'0' is not a whole number from 1 on"),
        (["qrels", "first.run", "--max-items", "x"], "'x' is not a whole number from 1 on"),
        (
            ["qrels", "first.run", "--ties", "average", "--max-items", "5"],
            "cannot be combined",
        ),
        (["qrels", "first.run", "--format", "xml"], "invalid choice: 'xml'"),
        (["qrels", "first.run", "--nonsense"], "unrecognized arguments: --nonsense"),
        (["qrels"], "the following arguments are required: RUN"),
    ],
)
def test_usage_errors(args: list[str], says: str, run: Any) -> None:
    out, err = run(*args, code=2)
    assert out == ""
    assert says in err
    assert "Traceback" not in err


def test_two_runs_of_one_name_name_both_files(folder: Path, run: Any) -> None:
    (folder / "other").mkdir()
    (folder / "other" / "first.csv").write_text("topic,item,score\n301,a,1\n")
    _, err = run("qrels", "first.run", "other/first.csv", code=2)
    assert err == (
        "two runs are named 'first' (first.run and other/first.csv); rename one of them\n"
    )


def test_one_bad_run_among_good_ones_stops_all(folder: Path, run: Any) -> None:
    (folder / "bad.run").write_text("301 Q0 a\n")
    _, err = run("qrels", "first.run", "bad.run", "second.txt", "-o", "result", code=2)
    assert err.startswith("bad.run:1: too few fields")
    assert not (folder / "result").exists()


def test_quiet(run: Any) -> None:
    assert run("qrels", "second.txt", "--quiet")[1] == ""


def test_the_command_itself(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "usage: cranfield COMMAND" in capsys.readouterr().out
    assert main(["--help"]) == 0
    assert "trec_eval" in capsys.readouterr().out
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"cranfield {__version__}\n"
    assert main(["evil"]) == 2
    assert "Did you mean 'eval'?" in capsys.readouterr().err


def test_expected_values_over_ties_have_no_geometric_mean(run: Any) -> None:
    """The geometric mean of expected values (0.7146 for a case in which the expectation over all
    orders is 0.7031) is not the expectation of the geometric mean."""
    _, err = run("qrels", "second.txt", "-m", "AP(mean='geometric')", "--ties", "average", code=2)
    assert "not the expected geometric mean" in err
    assert "--ties average" in err
    out, err = run("qrels", "second.txt", "-m", "trec", "--ties", "average", "--format", "json")
    assert "left out: AP(mean='geometric')" in err
    assert "AP(mean='geometric')" not in json.loads(out)["runs"][0]["mean"]
