"""Many ask at once: each gets its own notes and numbers; whoever asks may cancel."""

import functools
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import cranfield as cf
from cranfield.io.samples import SAMPLE

QRELS = str(SAMPLE / "qrels.txt.gz")
RUNS = [str(SAMPLE / "runs" / f"{n}.run.gz") for n in ("pca", "pixels", "random")]
TRUTH = str(SAMPLE / "truth.csv")
LABELS = [str(SAMPLE / "labels" / f"{n}.csv.gz") for n in ("logistic", "tree", "bayes")]
LOG = str(SAMPLE / "judgement-log.csv.gz")


def ranked(i):
    """A run that misses a topic, has one without judgements, under a judgement told twice."""
    rows = [(f"t{i}", f"a{i}", 1), (f"t{i}", f"a{i}", 1), (f"gone{i}", "b", 1)]
    columns = tuple(list(c) for c in zip(*rows, strict=True))
    return cf.evaluate(
        columns, {f"run{i}": {f"t{i}": {f"a{i}": 1.0, "z": i}, f"new{i}": {"c": 1.0}}}, "RR"
    )


def labels(i):
    """A run that lacks an item, has one too many, and labels without confidences."""
    truth = {f"x{i}": {"aa"}, f"only{i}": {"bb"}}
    run = {f"x{i}": {"aa", "bb"}, f"more{i}": {"aa"}}
    return cf.evaluate_labels(truth, {f"run{i}": run}, "F.example AUC OS")


def test_sixteen_threads_get_their_own_notes_and_numbers():
    switch = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    try:
        with ThreadPoolExecutor(16) as pool:
            found = list(pool.map(lambda i: (ranked if i % 2 else labels)(i), range(1600)))
    finally:
        sys.setswitchinterval(switch)
    for i, scores in enumerate(found):
        again = (ranked if i % 2 else labels)(i)
        assert scores.to_dict() == again.to_dict()
        assert len(scores.notes) >= 3
        about = [note for note in scores.notes if "every confusion" not in note]
        assert all(str(i) in note for note in about), scores.notes


class Stop:
    """Cancels the work when it has been told of some progress."""

    def __init__(self, after):
        self.progress = cf.Progress(self.told)
        self.left = after

    def told(self, _):
        self.left -= 1
        if self.left <= 0:
            self.progress.cancel()


def material():
    return cf.lab.StudyInput.ranked(QRELS, RUNS, "AP RR")


LONG = {
    "evaluate": lambda p: cf.evaluate(QRELS, RUNS, "AP", progress=p),
    "evaluate elsewhere": lambda p: cf.evaluate(
        QRELS, RUNS, "AP", executor="processes", jobs=1, progress=p
    ),
    "evaluate_labels": lambda p: cf.evaluate_labels(TRUTH, LABELS, "F.example", progress=p),
    "compare": lambda p: cf.evaluate(QRELS, RUNS, "AP RR P@10").compare(progress=p),
    "assess_agreement": lambda p: cf.assess_agreement(
        cf.read_judgement_log(LOG), resampling=cf.Resampling(200), progress=p
    ),
    "aggregate_judgements": lambda p: cf.aggregate_judgements(
        cf.read_judgement_log(LOG), "dawid-skene", progress=p
    ),
    "relate_concepts": lambda p: cf.relate_concepts(
        "pto-2009", "TREE", ontology="pto-2009", progress=p
    ),
    "compare_cost_maps": lambda p: cf.compare_cost_maps(
        SAMPLE / "costmap.csv", SAMPLE / "costmap.csv", progress=p
    ),
    "correlate": lambda p: cf.lab.correlate(material(), resamples=50, progress=p),
    "stability": lambda p: cf.lab.stability(material(), repeats=1, trials=5, progress=p),
    "generality": lambda p: cf.lab.generality(material(), collection_size=1120, progress=p),
    "random_study": lambda p: cf.lab.random_study(
        cf.lab.StudyInput.labels(TRUTH, LABELS, "F.example"), count=1, progress=p
    ),
    "leave_one_out": lambda p: cf.lab.leave_one_out(material(), depth=5, progress=p),
    "rank_unjudged": lambda p: cf.lab.rank_unjudged(material(), depth=5, trials=2, progress=p),
    "curves": lambda p: cf.lab.curves("AP RR", progress=p),
    "requirements": lambda p: cf.lab.requirements("AP RR", progress=p),
    "make_pool": lambda p: cf.lab.make_pool(RUNS, depth=5, progress=p),
}


@pytest.mark.parametrize("name", LONG)
def test_long_calls_can_be_cancelled(name):
    cancelled = cf.Progress()
    cancelled.cancel()
    with pytest.raises(cf.CancelledError):
        LONG[name](cancelled)


@pytest.mark.parametrize("name", ["compare", "correlate", "evaluate_labels", "requirements"])
def test_long_calls_stop_on_the_way(name):
    with pytest.raises(cf.CancelledError):
        LONG[name](Stop(after=2).progress)


def test_a_task_serves_any_thread():
    task = cf.RankedTask(QRELS, "AP nDCG@10")
    together = task.evaluate(RUNS)
    with ThreadPoolExecutor(8) as pool:
        apart = list(pool.map(task.evaluate, RUNS))
    joined = cf.Scores.concat(apart)
    assert joined == together
    assert joined.compare(resamples=200) == together.compare(resamples=200)
    of_labels = cf.LabelTask(TRUTH, "F.example AP.concept OS")
    with ThreadPoolExecutor(8) as pool:
        apart = list(pool.map(lambda run: of_labels.evaluate([run]), LABELS))
    assert cf.Scores.concat(apart).to_dict() == of_labels.evaluate(LABELS).to_dict()


OPENED: list[str] | None = None


def _note_opened(event, args):
    if OPENED is not None and event == "open" and isinstance(args[0], str):
        OPENED.append(args[0])


@functools.cache
def _hook():
    """Once: a hook cannot be taken away again, so it notes nothing unless asked to."""
    sys.addaudithook(_note_opened)


@pytest.mark.parametrize("command", ["eval", "compare", "label"])
def test_a_page_opens_every_input_once(command, monkeypatch, tmp_path):
    from cranfield.cli import main

    files = [TRUTH, *LABELS] if command == "label" else [QRELS, *RUNS]
    _hook()
    monkeypatch.setattr(sys.modules[__name__], "OPENED", [])
    argv = [command, *files, "--format", "html", "-o", str(tmp_path / "x.html")]
    assert main(argv) == 0
    opened = list(OPENED or ())
    expected = dict.fromkeys(files, 1)
    if command == "label":
        # The first lines of a truth in CSV tell whether it has probabilities.
        expected[TRUTH] = 2
    assert {path: opened.count(path) for path in files} == expected


def test_the_numbers_are_the_same_from_any_number_of_threads():
    found = [cf.evaluate(QRELS, RUNS, "AP", jobs=jobs).overall for jobs in (1, 2, 8)]
    for other in found[1:]:
        for m in other:
            assert np.array_equal(other[m], found[0][m])
