"""Names and habits that people bring: help, exchanged files, unquoted measures, named runs."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest

from cranfield.cli import COMMANDS, GROUPS, SECTIONS, main
from cranfield.io.samples import SAMPLE

QRELS, PCA = str(SAMPLE / "qrels.txt.gz"), str(SAMPLE / "runs/pca.run.gz")
TRUTH, TREE = str(SAMPLE / "truth.csv"), str(SAMPLE / "labels/tree.csv.gz")


def answer(capsys, *argv):
    assert main([*argv, "--format", "json", "--quiet"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_overview_has_every_command_once_and_fits_a_screen(capsys):
    listed = " ".join(SECTIONS.values()).split()
    assert sorted(listed) == sorted({name.split()[0] for name in COMMANDS})
    assert main(["--help"]) == 0
    text = capsys.readouterr().out
    assert len(text.splitlines()) <= 40
    assert re.findall(r"^(\S[^:\n]*):$", text, flags=re.MULTILINE) == list(SECTIONS)
    assert re.findall(r"^  (\S+)  ", text, flags=re.MULTILINE) == listed


@pytest.mark.parametrize("group", GROUPS)
def test_a_group_lists_its_commands(capsys, group):
    names = [name.split()[1] for name in COMMANDS if name.startswith(f"{group} ")]
    if group == "eval":  # its help is that of `eval ranked`, which names the others
        assert main(["eval", "--help"]) == 0
        text = " ".join(capsys.readouterr().out.split())
        assert all(f"cranfield eval {name}" in text for name in names if name != "ranked")
        return
    assert main([group, "--help"]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"usage: cranfield {group} COMMAND")
    assert re.findall(r"^  (\S+)  ", text, flags=re.MULTILINE) == names
    assert main([group]) == 2
    assert capsys.readouterr().out == text


def test_unknown_commands_are_refused_with_advice(capsys):
    assert main(["truth", "aggregte"]) == 2
    text = capsys.readouterr().err
    assert "no command 'truth aggregte'" in text
    assert "'aggregate'" in text
    assert "cranfield truth --help" in text
    assert main(["compair"]) == 2
    assert "'compare'" in capsys.readouterr().err


@pytest.mark.parametrize("asked", [["eval"], ["lab", "correlate"]])
def test_help_of_a_command(capsys, asked):
    assert main(["help", *asked]) == 0
    told = capsys.readouterr().out
    assert main([*asked, "--help"]) == 0
    assert capsys.readouterr().out == told
    assert told.startswith(f"usage: cranfield {' '.join(asked)}")


@pytest.mark.parametrize("form", [".txt", ".run.gz"])
def test_exchanged_files_are_told(capsys, tmp_path, form):
    judged, run = "t 0 a 1\nt 0 b 0\n", "t Q0 a 0 2 x\nt Q0 b 0 1 x\n"
    (tmp_path / "q.txt").write_text(judged)
    (tmp_path / "r.run").write_text(run)
    assert main(["eval", str(tmp_path / "r.run"), str(tmp_path / "q.txt")]) == 2
    told = capsys.readouterr().err
    assert told == (
        f"{tmp_path}/r.run: holds a run (6 fields a line), not judgements (4 fields). Were they "
        "exchanged? Judgements come first, then runs\n"
    )
    assert main(["eval", str(tmp_path / "q.txt"), str(tmp_path / "q.txt")]) == 2
    assert "q.txt: holds judgements (4 fields a line), not a run" in capsys.readouterr().err
    assert main(["compare", PCA, QRELS, QRELS]) == 2
    assert "Were they exchanged?" in capsys.readouterr().err


def test_one_faulty_line_is_not_an_exchange(capsys, tmp_path):
    (tmp_path / "q.txt").write_text("t Q0 a 0 2 x\nt 0 b 1\n")
    assert main(["eval", str(tmp_path / "q.txt"), PCA]) == 2
    assert "q.txt:1: unexpected extra field" in capsys.readouterr().err


def test_an_exchanged_truth_is_told(capsys):
    assert main(["label", TREE.replace("tree", "neighbours"), TRUTH]) == 2
    assert "the truth comes first, then the runs" in capsys.readouterr().err


@pytest.mark.parametrize(
    "typed",
    [
        ["-m", "AP", "nDCG@10"],
        ["-m", "AP", "NDCG@10", "--quiet"],
        ["--measures", "map", "ndcg_cut_10"],
    ],
)
def test_measures_without_quotes(capsys, typed):
    wanted = answer(capsys, "eval", QRELS, PCA, "-m", "AP nDCG@10")
    assert answer(capsys, "eval", QRELS, PCA, *typed) == wanted
    assert answer(capsys, "eval", *typed, QRELS, PCA) == wanted


def test_a_file_of_the_name_of_a_measure_stays_a_file(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copy(PCA, "RR.run.gz")
    shutil.copy(PCA, "RR")
    found = answer(capsys, "eval", QRELS, "-m", "AP", "RR.run.gz")
    assert [run["name"] for run in found["runs"]] == ["RR"]
    (tmp_path / "AP").write_text("t Q0 a 0 2 x\n")
    (tmp_path / "q").write_text("t 0 a 1\n")
    found = answer(capsys, "eval", "q", "-m", "RR", "AP")
    assert [m["name"] for m in found["measures"]] == ["RR"]


def test_a_run_gets_the_name_that_is_typed(capsys, tmp_path, monkeypatch):
    found = answer(capsys, "eval", QRELS, f"bm25={PCA}", PCA, "-m", "AP")
    assert [run["name"] for run in found["runs"]] == ["bm25", "pca"]
    first, second = (run["mean"]["AP"] for run in found["runs"])
    assert first == second
    found = answer(capsys, "label", TRUTH, f"mine={TREE}", "-m", "F.example")
    assert [run["name"] for run in found["runs"]] == ["mine"]
    pairs = answer(
        capsys, "compare", QRELS, f"a={PCA}", f"b={PCA}", "-m", "AP", "--resamples", "50"
    )
    assert {pairs["pairs"][0]["a"], pairs["pairs"][0]["b"]} == {"a", "b"}
    found = answer(
        capsys, "compare", str(SAMPLE), f"a={PCA}", f"b={PCA}", "-m", "AP", "--test", "t"
    )
    assert len(found["pairs"]) == 1
    assert main(["eval", QRELS, "bm25=nowhere.run"]) == 2
    assert "no such file" in capsys.readouterr().err
    monkeypatch.chdir(tmp_path)
    shutil.copy(PCA, "k=10.run.gz")
    found = answer(capsys, "eval", QRELS, "k=10.run.gz", "-m", "AP")
    assert [run["name"] for run in found["runs"]] == ["k=10"]


def completed(script, line):
    """What bash offers for a line."""
    words = line.split(" ")
    typed = " ".join(f"'{w}'" for w in words)
    program = f"""{script}
    COMP_WORDS=({typed}); COMP_CWORD={len(words) - 1}; _cranfield
    printf '%s\\n' "${{COMPREPLY[@]}}"
    """
    done = subprocess.run(
        ["bash", "-c", program], capture_output=True, text=True, check=True, timeout=120
    )
    assert not done.stderr
    return done.stdout.split()


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes():
    run = [sys.executable, "-m", "cranfield", "--completion", "bash"]
    script = subprocess.run(run, capture_output=True, text=True, check=True, timeout=120).stdout
    assert completed(script, "cranfield com") == ["compare"]
    assert completed(script, "cranfield eval --tie") == ["--ties", "--tie-range"]
    assert completed(script, "cranfield eval q.txt --ties a") == ["average"]
    assert "nDCG" in completed(script, "cranfield eval q.txt -m nD")
    assert "F.example" in completed(script, "cranfield eval labels q.txt -m F.")
    assert completed(script, "cranfield lab corr") == ["correlate"]
    assert completed(script, "cranfield lab correlate q.txt --res") == ["--resamples"]
    assert completed(script, "cranfield report chart leader") == ["leaderboard"]
    assert completed(script, "cranfield help corr") == []
    assert completed(script, "cranfield help ev") == ["eval"]
    assert completed(script, "cranfield eval q") == []  # a file, which bash itself completes


def script_of(capsys, shell):
    assert main(["--completion", shell]) == 0
    return capsys.readouterr().out


def test_what_zsh_and_fish_are_told(capsys):
    assert script_of(capsys, "zsh").startswith("autoload -U +X bashcompinit && bashcompinit\n")
    told = script_of(capsys, "fish")
    assert "-n __fish_use_subcommand -a eval -d 'runs against a truth: ranked," in told
    line = "complete -c cranfield -n '__fish_seen_subcommand_from eval' -l ties -x -a"
    assert f"{line} 'id file average'\n" in told


OFFERED = {
    "cranfield com": ["compare"],
    "cranfield eval --tie": ["--tie-range", "--ties"],
    "cranfield eval q.txt --ties a": ["average"],
    "cranfield eval q.txt -m nD": ["nDCG", "nDCGrel"],
    "cranfield eval labels q.txt -m F.": ["F.concept", "F.example"],
    "cranfield lab corr": ["correlate"],
    "cranfield report chart leader": ["leaderboard"],
    "cranfield help ev": ["eval"],
}


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_completes(capsys, tmp_path):
    (tmp_path / "cranfield.fish").write_text(script_of(capsys, "fish"))
    asked = "\n".join(f"echo '=='; complete -C '{line}'" for line in OFFERED)
    done = subprocess.run(
        ["fish", "-N", "-c", f"source cranfield.fish\n{asked}"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert not done.stderr
    found = [
        sorted(line.split("\t")[0] for line in part.splitlines() if line)
        for part in done.stdout.split("==")[1:]
    ]
    assert found == list(OFFERED.values())


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_completes(capsys, tmp_path):
    """A zsh with a terminal of its own, in which the tabulator is pressed."""
    script = script_of(capsys, "zsh")
    (tmp_path / "setup").write_text(f"autoload -U compinit && compinit -u -D\n{script}PS1='> '\n")
    program = """zmodload zsh/zpty
zpty child zsh -f -i
zpty -w child 'source ./setup; print rea''dy'
zpty -r -m child out '*ready*> *'
for line in "$@"; do
  zpty -w -n child "$line"$'\\t'
  zpty -w -n child $'\\C-a: \\C-e #end\\n'
  zpty -r -m child out '*#end*> *'
  print -r -- "$out"
done
zpty -d child
"""
    single = {line: offered for line, offered in OFFERED.items() if len(offered) == 1}
    done = subprocess.run(
        ["zsh", "-f", "-c", program, "zsh", *single],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        env=os.environ | {"TERM": "dumb", "HOME": str(tmp_path)},
    )
    for line, (offered,) in single.items():
        assert f"{line.rpartition(' ')[0]} {offered}" in done.stdout, (line, done.stdout)
