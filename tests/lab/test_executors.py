"""Pieces of work on threads, processes and a cluster: same numbers, nothing lost, resumable."""

import json
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from cranfield.data import Run
from cranfield.errors import CranfieldError, MissingExtraError, UsageError
from cranfield.lab.measure_correlation import correlate
from cranfield.lab.ranking_stability import stability
from cranfield.lab.study_input import StudyInput
from cranfield.work.executors import LostPieceError, Plan, run_pieces
from cranfield.work.serialisation import cache_answers, full_path
from tests.cluster import local_cluster

SMALL = {"repeats": 2, "trials": 10, "resamples": 50, "rng": 5}


@pytest.mark.parametrize("kind", ["ranked", "labels"])
def test_threads_and_processes_give_the_same_table(kind, request):
    material = request.getfixturevalue(kind)
    one = stability(material, **SMALL, plan=Plan("threads", 1)).to_dict()
    assert stability(material, **SMALL, plan=Plan("threads", 3)).to_dict() == one
    assert stability(material, **SMALL, plan=Plan("processes", 2)).to_dict() == one


@pytest.mark.slow
def test_a_dask_cluster_of_two_workers_gives_the_same_table(ranked):
    here = correlate(ranked, resamples=20, rng=3).to_dict()
    with local_cluster(2) as cluster:
        address = cluster.scheduler_address.replace("tcp://", "dask://")
        there = correlate(ranked, resamples=20, rng=3, plan=Plan(address)).to_dict()
    assert there == here


@pytest.mark.slow
def test_a_killed_worker_of_a_dask_cluster_loses_nothing(ranked):
    here = stability(ranked, **SMALL).to_dict()
    with local_cluster(2) as cluster:
        victims = [cluster.workers[0].pid]

        def kill_one(fraction):
            if fraction > 0 and victims:
                os.kill(victims.pop(), signal.SIGKILL)

        address = cluster.scheduler_address.replace("tcp://", "dask://")
        there = stability(ranked, **SMALL, plan=Plan(address), progress=kill_one).to_dict()
    assert not victims
    assert there == here


def kill_yourself_once(piece):
    """The worker of piece 'b' dies while it works, the first time."""
    number, folder = piece
    mark = Path(folder) / "died"
    if number == 2 and not mark.exists():
        mark.write_text("")
        os.kill(os.getpid(), signal.SIGKILL)
    return {"square": number * number}


@pytest.mark.slow
def test_a_killed_worker_process_loses_nothing(tmp_path):
    pieces = {name: (n, str(tmp_path)) for n, name in enumerate("abcdef", 1)}
    plan = Plan("processes", 2)
    answers = run_pieces(kill_yourself_once, pieces, plan, study={})
    assert (tmp_path / "died").exists()
    assert [a["square"] for a in answers.values()] == [1, 4, 9, 16, 25, 36]
    assert list(answers) == list("abcdef")


def kill_yourself_always(piece):
    os.kill(os.getpid(), signal.SIGKILL)


@pytest.mark.slow
def test_a_piece_that_always_kills_its_worker_ends_the_study():
    with pytest.raises(LostPieceError, match="died 3 times at 'a'"):
        run_pieces(kill_yourself_always, {"a": 1}, Plan("processes", 1), study={})


class StoppedError(Exception):
    pass


def test_a_stopped_study_goes_on_and_ends_with_the_same_numbers(ranked, tmp_path):
    whole = stability(ranked, **SMALL).to_dict()
    folder = tmp_path / "study"

    def stop(fraction):
        if fraction >= 0.5:
            raise StoppedError

    with pytest.raises(StoppedError):
        stability(ranked, **SMALL, plan=Plan("threads", 1, folder), progress=stop)
    kept = {p.name: p.read_bytes() for p in folder.glob("*.piece")}
    assert 4 <= len(kept) < 8
    seen = []
    again = stability(ranked, **SMALL, plan=Plan("processes", 2, folder), progress=seen.append)
    assert again.to_dict() == whole
    assert seen[0] >= 0.5
    assert seen[-1] == 1.0
    for name, data in kept.items():
        assert (folder / name).read_bytes() == data


def test_a_folder_belongs_to_one_study(ranked, tmp_path):
    correlate(ranked, resamples=10, plan=Plan(folder=tmp_path / "s"))
    with pytest.raises(UsageError, match="another study"):
        correlate(ranked, resamples=11, plan=Plan(folder=tmp_path / "s"))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "mine.txt").write_text("x")
    with pytest.raises(UsageError, match="a folder of its own"):
        correlate(ranked, resamples=10, plan=Plan(folder=tmp_path / "other"))


def test_a_broken_file_of_a_finished_piece_is_named(ranked, tmp_path):
    correlate(ranked, resamples=10, plan=Plan(folder=tmp_path / "s"))
    piece = next(p for p in (tmp_path / "s").iterdir() if p.name.startswith("bits"))
    whole = piece.read_bytes()
    digest, text = whole.split(b"\n", 1)
    for broken in (b"", b"{}", text, whole[:-9], b"\xff\xfe", digest + b"\n{}\n"):
        piece.write_bytes(broken)
        with pytest.raises(UsageError, match=r"bits.*is damaged.*delete it"):
            correlate(ranked, resamples=10, plan=Plan(folder=tmp_path / "s"))
    piece.unlink()
    piece.mkdir()
    with pytest.raises(UsageError, match=r"bits.*cannot be read"):
        correlate(ranked, resamples=10, plan=Plan(folder=tmp_path / "s"))


def test_a_file_of_another_piece_is_refused(ranked, tmp_path):
    """Its check sum is of its own name and of its own study."""
    plan = Plan(folder=tmp_path / "s")
    correlate(ranked, resamples=10, plan=plan)
    one, other = sorted((tmp_path / "s").glob("*.piece"))[:2]
    whole = one.read_bytes()
    one.write_bytes(other.read_bytes())
    with pytest.raises(UsageError, match=r"a file of another piece .*delete it"):
        correlate(ranked, resamples=10, plan=plan)
    one.write_bytes(whole)
    correlate(ranked, resamples=10, plan=plan)
    correlate(ranked, resamples=10, rng=1, plan=Plan(folder=tmp_path / "t"))
    one.write_bytes((tmp_path / "t" / one.name).read_bytes())
    with pytest.raises(UsageError, match="a file of another piece"):
        correlate(ranked, resamples=10, plan=plan)


def test_a_folder_whose_description_is_broken_is_refused(ranked, tmp_path):
    correlate(ranked, resamples=10, plan=Plan(folder=tmp_path / "s"))
    (tmp_path / "s" / "study.json").write_bytes(b"\xff")
    with pytest.raises(UsageError, match="another study"):
        correlate(ranked, resamples=10, plan=Plan(folder=tmp_path / "s"))


def in_memory(first):
    judged = {f"t{t}": {"r": 1} for t in range(300)}
    runs = {n: {t: {"r": 1.0, "x": 0.5} for t in judged} for n in "abc"}
    runs["a"]["t150"]["r"] = first
    runs["b"]["t1"]["r"] = runs["c"]["t1"]["r"] = runs["c"]["t2"]["r"] = 0.1
    return StudyInput.ranked(judged, {n: Run.from_dict(r) for n, r in runs.items()}, "AP RR")


def test_a_folder_knows_objects_by_what_they_hold(tmp_path):
    plan = Plan(folder=tmp_path / "s")
    first = correlate(in_memory(1.0), resamples=5, plan=plan).to_dict()
    assert correlate(in_memory(1.0), resamples=5, plan=plan).to_dict() == first
    # One score in the middle of 300: what a printed array would leave out.
    with pytest.raises(UsageError, match="another study"):
        correlate(in_memory(0.1), resamples=5, plan=plan)


def test_finished_pieces_are_small_json(ranked, tmp_path):
    correlate(ranked, resamples=10, plan=Plan(folder=tmp_path / "s"))
    files = sorted((tmp_path / "s").iterdir())
    assert len(files) == 9
    assert all(f.stat().st_size < 5000 for f in files)
    assert json.loads(files[0].read_text().splitlines()[1])["overall"]


def bad_input(piece):
    raise UsageError("run.txt:3: no such thing")


@pytest.mark.parametrize("executor", ["threads", "processes"])
def test_errors_of_the_input_arrive_as_they_were(executor):
    with pytest.raises(CranfieldError, match=r"^run.txt:3: no such thing$"):
        run_pieces(bad_input, {"a": 1}, Plan(executor, 1), study={})


@pytest.mark.parametrize("text", ["thread", "dask://", "dask://host", "ray://h:1", ""])
def test_unknown_executors_are_refused(text):
    with pytest.raises(UsageError, match="is not one of threads, processes, dask"):
        Plan(text)


def test_any_executor_of_concurrent_futures_will_do(ranked):
    here = correlate(ranked, resamples=5).to_dict()
    with ThreadPoolExecutor(2) as own:
        for _ in range(2):  # it is left open
            assert correlate(ranked, resamples=5, plan=Plan(own)).to_dict() == here
    with pytest.raises(UsageError, match="is not one of threads"):
        Plan(7)


class Elsewhere(ThreadPoolExecutor):
    """Workers that lack what they should run."""

    def submit(self, work, *args):
        def lacking():
            raise ModuleNotFoundError("No module named 'cranfield'")

        return super().submit(lacking)


def test_workers_without_cranfield_are_said_to_be(ranked):
    with (
        Elsewhere(1) as there,
        pytest.raises(UsageError, match=r"No module named 'cranfield'.*install the same"),
    ):
        correlate(ranked, resamples=5, plan=Plan(there))


def test_workers_elsewhere_are_given_full_paths(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name in ("q", "a.run", "map.csv"):
        (tmp_path / name).write_text("x")
    options = {"costmap": (("FTS", "map.csv"),), "threshold": 0.5}
    material = StudyInput.labels("q", ["a.run", Path("b.run")], "F.example", **options)
    assert material.for_plan(Plan("processes")) is material
    there = material.for_plan(Plan("dask://h:1"))
    assert there.truth == str(tmp_path / "q")
    assert [s for _, s in there.runs] == [str(tmp_path / "a.run"), tmp_path / "b.run"]
    assert dict(there.options) == {
        "costmap": (("FTS", str(tmp_path / "map.csv")),),
        "threshold": 0.5,
    }
    assert full_path("a=map.csv") == f"a={tmp_path / 'map.csv'}"
    assert full_path("pto-2009") == "pto-2009"


def test_threads_share_one_reading_of_the_truth():
    calls = []

    @cache_answers(2)
    def slow(key):
        calls.append(key)
        time.sleep(0.05)
        return key

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(slow, [1] * 4)) == [1] * 4
    assert calls == [1]


def test_without_dask_the_extra_is_named(monkeypatch, ranked):
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)
    with pytest.raises(MissingExtraError, match=r"cranfield\[cluster\]"):
        correlate(ranked, resamples=5, plan=Plan("dask://127.0.0.1:1"))
