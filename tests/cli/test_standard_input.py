"""'-' for every input that may stand in a file, and for one of them only."""

import io
import sys

import pytest

from cranfield.cli import main

FILES = {
    "qrels": "1 0 a 1\n2 0 b 1\n",
    "run": "1 Q0 a 1 2 t\n2 Q0 a 1 2 t\n2 Q0 b 2 1 t\n",
    "other": "1 Q0 b 1 2 t\n1 Q0 a 2 1 t\n",
    "truth.csv": "item,Sky,Sea\ni1,1,0\ni2,0,1\n",
    "sub.csv": "item,Sky,Sea\ni1,0.7,0.2\ni2,0.1,0.3\n",
    "sub.txt": "i1 0.7 0.2\ni2 0.1 0.3\n",
    "concepts": "Sky\nSea\n",
    "costs.csv": "concept,Sky,Sea\nSky,0,0.5\nSea,0.5,0\n",
    "agreement.csv": "concept,agreement\nSky,1\nSea,0.5\n",
    "ontology.csv": "concept,path\nSky,A.Sky\nSea,A.Sea\n",
    "rules.toml": '[[disjoint]]\nconcepts = ["Sky", "Sea"]\n',
    "limits.csv": "concept,threshold\nSky,0.5\nSea,0.2\n",
    "log.csv": "annotator,item,concept,value\nx,i,Sky,1\ny,i,Sky,0\n",
    "subjects.csv": "subject,topic,item,significance\nx,1,a,1\n",
    "votes.csv": "subject,item,category\nx,a,one\nx,b,all\n",
    "tree.csv": "category,parent\nall,\none,all\n",
    "topics.run": "a Q0 b 1 1 t\n",
    "q.json": '{"1": {"a": 1}, "2": {"b": 1}}',
    "q.csv": "\ufeffquery_id,doc_id,relevance\r\n1,a,1\r\n2,b,1\r\n",
    "q.tsv": "topic\titem\tgrade\n1\ta\t1\n2\tb\t1\n",
    "r.json": '\n {"1": {"a": 2}, "2": {"a": 2, "b": 1}}',
}


class Pipe(io.RawIOBase):
    """A stream that cannot go back."""

    def __init__(self, content: bytes) -> None:
        self._rest = content

    def readable(self) -> bool:
        return True

    def readinto(self, buffer) -> int:
        part = self._rest[: len(buffer)]
        buffer[: len(part)] = part
        self._rest = self._rest[len(part) :]
        return len(part)


@pytest.fixture
def command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)

    def run(*argv: str, stdin: str = "") -> tuple[int, str, str]:
        piped = io.BufferedReader(Pipe(FILES.get(stdin, "").encode()))
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(piped))
        code = main(list(argv))
        return code, *capsys.readouterr()

    return run


READ = {
    "judgements": ("eval qrels run -m AP", "qrels"),
    "run": ("trec_eval qrels run -m map", "run"),
    "truth": ("label truth.csv sub.csv -m F.example", "truth.csv"),
    "cost map": ("label truth.csv sub.csv -m OS --costmap costs.csv", "costs.csv"),
    "agreement map": ("label truth.csv sub.csv -m OS --agreement agreement.csv", "agreement.csv"),
    "ontology": ("label truth.csv sub.csv -m OS --ontology ontology.csv", "ontology.csv"),
    "rules": ("label truth.csv sub.csv -m OS --rules rules.toml", "rules.toml"),
    "thresholds": ("label truth.csv sub.csv -m OS --threshold limits.csv", "limits.csv"),
    "concepts": ("label truth.csv sub.txt -m OS --concepts concepts", "concepts"),
    "log": ("agreement log.csv", "log.csv"),
    "log to aggregate": ("aggregate log.csv", "log.csv"),
    "lists of people": ("displacement subjects.csv run --collection-size 9", "subjects.csv"),
    "votes": ("uncertain votes.csv tree.csv topics.run", "votes.csv"),
    "tree": ("uncertain votes.csv tree.csv topics.run", "tree.csv"),
    "compared": ("compare qrels run other -m AP --resamples 50", "qrels"),
    "JSON": ("eval q.json run -m AP", "q.json"),
    "CSV": ("eval q.csv run -m AP", "q.csv"),
    "TSV": ("eval q.tsv run -m AP", "q.tsv"),
}


@pytest.mark.parametrize("what", READ)
def test_standard_input_says_what_the_file_says(command, what):
    line, name = READ[what]
    from_file = command(*line.split())
    piped = command(*(word if word != name else "-" for word in line.split()), stdin=name)
    assert from_file[0] == 0
    assert piped == from_file


def test_a_run_of_another_form(command):
    code, out, _ = command("eval", "qrels", "-", "-m", "AP", "--format", "csv", stdin="r.json")
    assert (code, out) == (0, "run,AP,topics\nstdin,0.75,2\n")


@pytest.mark.parametrize(
    "line",
    [
        "eval - -",
        "eval qrels - -",
        "label - -",
        "label truth.csv - --costmap -",
        "label truth.csv sub.csv --costmap a=- --costmap b=-",
        "label truth.csv - --threshold -",
        "compare - - run",
        "compare --truth - - sub.csv",
        "trec_eval - -",
        "uncertain - - topics.run",
        "displacement - -",
    ],
)
def test_standard_input_is_one_of_the_files(command, line):
    code, out, err = command(*line.split())
    assert (code, out) == (2, "")
    assert err == "standard input ('-') can be only one of the files\n"


def test_rules_alone_do_not_let_confidences_pass_for_a_truth(command):
    line = "label sub.csv sub.csv -m OS --rules rules.toml --explain i1"
    code, _, err = command(*line.split())
    assert code == 2
    assert err.startswith("sub.csv: the truth has values between 0 and 1, such as 0.7 of item 'i1'")
