"""Every study gives an answer that can be kept, and can be cancelled on its way."""

import copy
import json
import pickle

import pytest

from cranfield import lab
from cranfield.answers import load
from cranfield.cli import main
from cranfield.errors import CancelledError
from cranfield.notes import Progress
from cranfield.site.work_pages import write_survey

QUICK = {"resamples": 5, "rng": 1}


def rankings(digits, measures="AP RR"):
    return lab.StudyInput.ranked(digits.judgements, list(digits.runs)[:4], measures)


def annotations(digits):
    given = {"ontology": digits.ontology, "rules": digits.rules}
    runs = list(digits.label_runs)[:3]
    return lab.StudyInput.labels(digits.truth, runs, "F.example HammingLoss", **given)


# What is asked of the library, and the same of the command line ({Q}, {R}, {T}, {L}, {D}: files).
STUDIES = {
    "correlate": (
        lambda d, _, **more: lab.correlate(rankings(d), **QUICK, **more),
        "lab correlate {Q} {R} -m AP\\ RR --resamples 5 --seed 1",
    ),
    "correlate labels": (
        lambda d, _, **more: lab.correlate(annotations(d), **QUICK, **more),
        "lab correlate --truth {T} {L} -m F.example\\ HammingLoss --resamples 5 --seed 1 {K}",
    ),
    "stability": (
        lambda d, _, **more: lab.stability(rankings(d), repeats=2, trials=5, **QUICK, **more),
        "lab stability {Q} {R} -m AP\\ RR --repeats 2 --trials 5 --resamples 5 --seed 1",
    ),
    "random": (
        lambda d, _, **more: lab.random_study(rankings(d), count=2, **more),
        "lab random {Q} {R} -m AP\\ RR --count 2",
    ),
    "random labels": (
        lambda d, _, **more: lab.random_study(annotations(d), densities=(0.5,), **more),
        "lab random --truth {T} {L} -m F.example\\ HammingLoss --densities 50 {K}",
    ),
    "generality": (
        lambda d, _, **more: lab.generality(
            rankings(d), collection_size=1120, shares=(0.5, 1.0), **more
        ),
        "lab generality {Q} {R} -m AP\\ RR --collection-size 1120 --shares 50,100",
    ),
    "generality, simulated": (
        lambda *_, **more: lab.simulated_generality("AP", sizes=(30, 40), **more),
        "lab generality --simulate 30,40 -m AP",
    ),
    "curves": (
        lambda *_, **more: lab.curves("AP RR", size=5, **more),
        "lab curves -m AP\\ RR --size 5",
    ),
    "requirements": (
        lambda *_, **more: lab.requirements("RR F.example", **more),
        "lab requirements RR\\ F.example",
    ),
    "leave one out": (
        lambda d, _, **more: lab.leave_one_out(rankings(d), depth=5, **more),
        "lab pool {Q} {R} -m AP\\ RR --depth 5",
    ),
    "pool": (
        lambda d, _, **more: lab.make_pool(list(d.runs)[:4], depth=3, **more),
        "pool {R} --depth 3",
    ),
    "simulate": (
        lambda d, folder, **more: lab.simulate_runs(d.judgements, folder, count=2, **more),
        "lab simulate {Q} {D} --count 2",
    ),
}
SURVEYS = {
    "votes make": (
        lambda folder, _: write_survey(lab.make_questionnaire(questions=2), folder),
        "lab votes make {D} --questions 2",
    ),
    "votes tally": (
        lambda _, files: lab.tally(files["key"], [files["answers"]]),
        "lab votes tally {key} {answers}",
    ),
    "votes count": (
        lambda _, files: lab.count_votes(files["votes"]),
        "lab votes count {votes}",
    ),
    "votes of pairs": (
        lambda _, files: lab.count_votes(files["pairs"]),
        "lab votes count {pairs}",
    ),
}


@pytest.fixture
def files(tmp_path):
    made = write_survey(lab.make_questionnaire(questions=2), tmp_path / "made")
    texts = {
        "answers": '{"answers": {"1": ["Method 1"], "2": ["none"]}}',
        "votes": "question,AP,MNRO\n1,5,13\n2,8,12\n",
        "pairs": "question,votes_a,votes_b,votes_both,SRP_a,SRP_b\n1,5,13,1,0.2,0.4\n",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    return {name: str(tmp_path / name) for name in texts} | {"key": made.files[2]}


def asked(line, digits, folder, **more):
    """The words of a command; a backslash keeps a blank inside one."""
    names = {
        "{Q}": [digits.judgements],
        "{R}": list(digits.runs)[:4],
        "{T}": [digits.truth],
        "{L}": list(digits.label_runs)[:3],
        "{K}": ["--ontology", digits.ontology, "--rules", digits.rules],
        "{D}": [folder],
    } | {f"{{{name}}}": [path] for name, path in more.items()}
    words = line.replace("\\ ", "\0").split()
    return [str(w).replace("\0", " ") for word in words for w in names.get(word, [word])]


def kept(answer, tmp_path):
    """An answer that went through a file, a pickle and a deep copy, and its JSON each time."""
    answer.save(tmp_path / "kept.json")
    said = answer.to_dict()
    again = [
        load(tmp_path / "kept.json"),
        pickle.loads(pickle.dumps(answer)),
        copy.deepcopy(answer),
    ]
    assert all(type(one) is type(answer) and one.to_dict() == said for one in again)
    assert len(repr(answer)) < 1000
    assert str(answer) == str(again[0])
    return said


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_is_the_same_from_python_and_from_the_command_line(name, digits, capsys, tmp_path):
    call, line = STUDIES[name]
    said = kept(call(digits, tmp_path / "runs"), tmp_path)
    assert main([*asked(line, digits, tmp_path / "runs"), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == said
    assert set(said) >= {"cranfield", "command", "notes"}


@pytest.mark.parametrize("name", SURVEYS)
def test_a_survey_is_the_same_from_python_and_from_the_command_line(
    name, digits, files, capsys, tmp_path
):
    call, line = SURVEYS[name]
    said = kept(call(tmp_path / "q", files), tmp_path)
    assert main([*asked(line, digits, tmp_path / "q", **files), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out) == said


@pytest.mark.parametrize("name", STUDIES)
def test_every_study_can_be_cancelled(name, digits, tmp_path):
    """Half-way, by the one who watches; and before it begins."""
    call, _ = STUDIES[name]
    seen = []

    def watch(done):
        seen.append(done)
        if done > 0:
            progress.cancel()

    progress = Progress(watch)
    if name != "curves":  # it is one piece
        with pytest.raises(CancelledError):
            call(digits, tmp_path / "a", progress=progress)
        assert 0 < max(seen) < 1
    stopped = Progress()
    stopped.cancel()
    with pytest.raises(CancelledError):
        call(digits, tmp_path / "b", progress=stopped)


def test_the_public_names_exist():
    assert sorted(lab.__all__) == lab.__all__
    assert all(getattr(lab, name) is not None for name in lab.__all__)
    with pytest.raises(AttributeError, match="no attribute 'correlation'"):
        lab.correlation  # noqa: B018


def test_what_a_study_notices_is_said_once_for_all_runs():
    judged = {f"t{t}": {"a": 1, "b": 0} for t in range(4)}
    runs = {name: {t: {"a": 1.0, "b": 0.5} for t in ("t0", "t1")} for name in "vwxyz"}
    material = lab.StudyInput.ranked(judged, runs, "AP RR")
    for study in (
        lambda: lab.correlate(material, resamples=2),
        lambda: lab.stability(material, parts=("noise",), noise=(0.3,), repeats=1),
        lambda: lab.random_study(material, count=1),
        lambda: lab.generality(material, collection_size=4),
    ):
        notes = study().notes
        assert len(notes) == 1
        assert notes[0].startswith("5 runs (v, w, x, ...): ")
        assert "misses 2 of 4 judged topics" in notes[0]
    truth = {f"i{k}": {"A", "B"} if k % 2 else {"A"} for k in range(8)}
    few = {name: {i: labels for i, labels in truth.items() if i != "i0"} for name in "vwxyz"}
    found = lab.correlate(lab.StudyInput.labels(truth, few, "F.example SRP"), resamples=2)
    assert [n.split(": ")[0] for n in found.notes] == ["SRP", *["5 runs (v, w, x, ...)"] * 2]


def test_generality_says_how_many_relevant_items_a_policy_placed():
    """NAR of a cut ranking depends on where the missing items are put."""
    judged = {"t": {f"r{k}": 1 for k in range(4)}}
    runs = {"cut": {"t": {"r0": 3.0, "x": 2.0, "r1": 1.0}}}
    found = lab.generality(lab.StudyInput.ranked(judged, runs, "NAR"), collection_size=20)
    assert any("does not retrieve 2 of 4 relevant items" in note for note in found.notes)
