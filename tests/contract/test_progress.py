"""Every long call tells how far it is, to its end, and stops when it is told to."""

import inspect
import os
import threading
from importlib.util import find_spec
from pathlib import Path

import pytest

import cranfield as cf
from benchmarks.fuzz.public_functions import functions
from benchmarks.fuzz.sound_calls import LABELS, QRELS, RUNS, TRUTH, write_files

SEVERAL = 3
LONG = {
    name: (function, make)
    for name, (function, make) in functions().items()
    if "progress" in inspect.signature(function).parameters
    and (name != "search_texts" or find_spec("bm25s"))
} | {
    # Made when they are used: what is kept until Python ends, the core calls a leak.
    "RankedTask.evaluate": (
        lambda **given: cf.RankedTask(QRELS, "AP").evaluate(RUNS, **given),
        dict,
    ),
    "LabelTask.evaluate": (
        lambda **given: cf.LabelTask(TRUTH, "F.example").evaluate(LABELS, **given),
        dict,
    ),
    "Scores.compare": (
        lambda **given: cf.evaluate(QRELS, RUNS, "AP RR").compare(resamples=20, **given),
        dict,
    ),
}


@pytest.fixture(autouse=True)
def _in_a_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_files(tmp_path)


@pytest.mark.parametrize("name", LONG)
def test_a_function_is_told_to_the_end(name):
    function, make = LONG[name]
    seen = []
    function(**make(), progress=seen.append)
    assert seen == sorted(seen)
    assert seen[0] >= 0.0
    assert seen[-1] == 1.0


@pytest.mark.parametrize("name", LONG)
def test_what_was_cancelled_before_is_not_begun(name):
    function, make = LONG[name]
    given = make()
    before = sorted(Path().rglob("*"))
    cancelled = cf.Progress()
    cancelled.cancel()
    with pytest.raises(cf.CancelledError):
        function(**given, progress=cancelled)
    assert sorted(Path().rglob("*")) == before


def written_runs(folder: Path, lines: int = 400_000) -> list[str]:
    """Run files that take long enough to be told of on the way."""
    topics, items = 100, lines // 100
    text = "".join(
        f"{t} Q0 d{i} {i + 1} {items - i} x\n" for t in range(topics) for i in range(items)
    )
    (folder / "q.txt").write_text("".join(f"{t} 0 d{t} 1\n" for t in range(topics)))
    names = [str(folder / f"{k}.run") for k in range(SEVERAL)]
    for name in names:
        Path(name).write_text(text)
    return names


def test_runs_in_files_are_told_of_while_they_are_read(tmp_path, monkeypatch):
    monkeypatch.setattr("cranfield.notes.TELL_EVERY", 0.005)
    runs = written_runs(tmp_path)
    seen = []
    scores = cf.evaluate("q.txt", runs, "AP", jobs=1, progress=seen.append)
    assert scores == cf.evaluate("q.txt", runs, "AP")
    assert seen == sorted(seen)
    # Each run is a third: what one file says of itself is not taken for the whole.
    assert any(share < 0.34 for share in seen)


def test_compiled_work_is_told_of_while_it_lasts(monkeypatch):
    """The work ends only after it was told of, so that no speed of a machine matters."""
    monkeypatch.setattr("cranfield.notes.TELL_EVERY", 0.001)
    seen = threading.Event()
    progress = cf.Progress(lambda _share: seen.set())
    assert progress.during(lambda: seen.wait(60))


def test_a_function_that_raises_ends_the_reading(tmp_path, monkeypatch):
    monkeypatch.setattr("cranfield.notes.TELL_EVERY", 0.005)
    runs = written_runs(tmp_path)

    def enough(share):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        cf.evaluate("q.txt", runs, "AP", progress=enough)


def test_a_run_that_is_cancelled_while_it_is_read_is_not_called_damaged(tmp_path):
    """What was read until then may hold no judged topic at all."""
    fifo = tmp_path / "late.run"
    os.mkfifo(fifo)
    progress = cf.Progress()

    def write():
        with fifo.open("w") as stream:
            progress.cancel()
            stream.write("other Q0 a 1 1 x\n")

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    with pytest.raises(cf.CancelledError):
        cf.evaluate(QRELS, str(fifo), "AP", progress=progress)
    writer.join(60)


def test_a_great_annotation_is_told_of_within_a_run(monkeypatch):
    monkeypatch.setattr("cranfield.measures.labels.blocks.BLOCK_CELLS", 4)
    seen = []
    cf.evaluate_labels(TRUTH, {"x": LABELS["x"]}, "F.example", progress=seen.append)
    assert seen == [2 / 3, 1.0]


def test_without_a_thread_to_tell_from_the_work_is_done(monkeypatch):
    def refused(self):
        raise RuntimeError("can't start new thread")

    expected = cf.evaluate(QRELS, RUNS, "AP")
    monkeypatch.setattr(threading.Thread, "start", refused)
    seen = []
    assert cf.evaluate(QRELS, RUNS, "AP", progress=seen.append) == expected
    assert seen == [1.0]
