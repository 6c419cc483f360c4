"""Work cut into pieces and handed to threads, processes or a cluster.

A piece is a small object that says what to do (paths, names, seeds), not the data itself. What
a piece answers is small and plain: dicts, lists, text and numbers, with None for a value that
does not exist. With a folder every finished piece is kept there as one small file, so a study
that was stopped goes on where it was. A piece whose worker died is given to another one.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import logging
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ProcessPoolExecutor,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from cranfield._system import usable_cpus
from cranfield._version import __version__
from cranfield.errors import CranfieldError, MissingExtraError, UsageError
from cranfield.io.files import write_atomic
from cranfield.notes import Progress, Watcher
from cranfield.work.threads import load_before_threads

# What a piece answers: dicts, lists, text, numbers.
Plain: TypeAlias = dict[str, Any]
KINDS = ("threads", "processes", "dask://HOST:PORT")
DASK = "dask://"
MAX_LOSSES = 3
# Seconds between two looks at whether the work shall go on.
PATIENCE = 0.2
_STUDY_FILE = "study.json"
_FAULT = "fault of the input"


class LostPieceError(CranfieldError):
    """A piece of work took its worker down with it again and again."""


@dataclass(frozen=True, slots=True)
class Plan:
    """How a study is carried out; none of it changes a number.

    `executor` is "threads", "processes" or "dask://host:port", or an executor of
    `concurrent.futures` (such as those of Dask, MPI for Python or a pool of your own), which is
    left open. `jobs` is the number of workers (a cluster has its own), `folder` where finished
    pieces are kept.
    """

    executor: str | Executor = "threads"
    jobs: int | None = None
    folder: str | Path | None = None

    def __post_init__(self) -> None:
        if isinstance(self.executor, str):
            checked_executor(self.executor)
        elif not isinstance(self.executor, Executor):
            raise UsageError(f"executor {self.executor!r} is not one of {', '.join(KINDS)}")
        if self.jobs is not None and self.jobs < 1:
            raise UsageError(f"jobs={self.jobs} is not a whole number from 1 on")

    @property
    def workers(self) -> int:
        return self.jobs or usable_cpus()

    @property
    def is_local(self) -> bool:
        """Whether the work is done by threads or processes of this machine, started here."""
        return self.executor in ("threads", "processes")


def checked_executor(text: str) -> str:
    """The name of an executor, or a UsageError."""
    if text in ("threads", "processes"):
        return text
    host, colon, port = text.removeprefix(DASK).rpartition(":")
    if text.startswith(DASK) and host and colon and port.isdigit():
        return text
    raise UsageError(f"executor {text!r} is not one of {', '.join(KINDS)}")


def run_pieces(
    work: Callable[[Any], Plain],
    pieces: Mapping[str, Any],
    plan: Plan,
    *,
    study: Mapping[str, Any],
    loads: Sequence[str] = (),
    progress: Watcher | None = None,
) -> dict[str, Plain]:
    """What `work` answers for each piece, in the order of the pieces.

    `work` must be importable by name, for it travels to other processes. `study` describes
    all that the numbers depend on; a folder is not used again for another study. `loads` names
    the modules that the pieces load late, which are loaded before threads start. Cancelled,
    it waits for the pieces that are under way, and begins no other.
    """
    watched = Progress.of(progress)
    watched.check()
    folder = None if plan.folder is None else _Folder(Path(plan.folder), study)
    answers: dict[str, Plain] = {} if folder is None else folder.finished(pieces)
    todo = {key: piece for key, piece in pieces.items() if key not in answers}
    watched(len(answers) / max(len(pieces), 1))
    if todo and plan.executor == "threads":
        load_before_threads(loads)
    for key, answer in _answers(work, todo, plan, watched):
        if folder is not None:
            folder.keep(key, answer)
        answers[key] = answer
        watched(len(answers) / len(pieces))
    return {key: answers[key] for key in pieces}


def _answers(
    work: Callable[[Any], Plain], todo: Mapping[str, Any], plan: Plan, progress: Progress
) -> Iterator[tuple[str, Plain]]:
    losses = dict.fromkeys(todo, 0)
    remaining = list(todo)
    while remaining:
        with _pool(plan, len(remaining)) as pool:
            batch = {k: todo[k] for k in remaining}
            lost, waiting = yield from _one_pool(pool, work, batch, plan, progress)
        for key in lost:
            losses[key] += 1
        remaining = lost + waiting
        # The pieces beside the one that kills its worker are lost with it: any may be to blame.
        worst = [repr(key) for key in remaining if losses[key] >= MAX_LOSSES]
        if worst:
            raise LostPieceError(
                f"a worker died {MAX_LOSSES} times at {' or '.join(worst[:4])}; is there memory "
                "enough? Fewer workers (by jobs=) need less. Finished pieces stay in the study's "
                "folder."
            )


def _one_pool(
    pool: Executor,
    work: Callable[[Any], Plain],
    todo: Mapping[str, Any],
    plan: Plan,
    progress: Progress,
) -> Generator[tuple[str, Plain], None, tuple[list[str], list[str]]]:
    """Plains as they come; returns the pieces lost with their workers, and those not begun."""
    waiting = list(todo)
    running: dict[Future[Plain], str] = {}
    lost: list[str] = []
    # Not all at once: what was never begun is not lost when a process dies.
    limit = 2 * plan.workers if plan.is_local else len(todo)
    try:
        while waiting or running:
            while waiting and len(running) < limit and not lost:
                key = waiting[0]
                try:
                    running[pool.submit(_run_piece, work, todo[key])] = key
                except BrokenExecutor:
                    lost.append(key)
                waiting.pop(0)
            if lost and not running:
                break
            completed, _ = wait(running, timeout=PATIENCE, return_when=FIRST_COMPLETED)
            progress.check()
            for future in completed:
                key = running.pop(future)
                answer = _result(future)
                if answer is None:
                    lost.append(key)
                elif _FAULT in answer:
                    raise CranfieldError(answer[_FAULT])
                else:
                    yield key, answer
    except BaseException:
        for future in running:
            future.cancel()
        raise
    return lost, waiting


def _run_piece(work: Callable[[Any], Plain], piece: Any) -> Plain:
    """Errors of the input travel as text: not every exception can be taken apart and rebuilt."""
    try:
        return _json_copy(work(piece))
    except CranfieldError as error:
        return {_FAULT: str(error)}


def _result(future: Future[Plain]) -> Plain | None:
    """The answer of a piece; None when it was lost with its worker."""
    try:
        return future.result()
    except (BrokenExecutor, CancelledError):
        return None
    except Exception as error:
        if type(error).__name__ == "KilledWorker":  # Dask's word for it
            return None
        if isinstance(error, ImportError):
            raise UsageError(
                f"a worker cannot do its piece ({error}); install the same cranfield there as here"
            ) from None
        raise


def _json_copy(answer: Plain) -> Plain:
    """The answer as it would come back from a file: resumed and fresh studies see the same."""
    copy: Plain = json.loads(json.dumps(answer, allow_nan=False))
    return copy


@contextmanager
def _pool(plan: Plan, pieces: int) -> Iterator[Executor]:
    workers = max(1, min(plan.workers, pieces))
    if plan.executor == "threads":
        with ThreadPoolExecutor(workers) as threads:
            yield threads
    elif plan.executor == "processes":
        import multiprocessing

        # Forking a process that has threads can lock up: workers start afresh.
        context = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(workers, mp_context=context) as processes:
            yield processes
    elif isinstance(plan.executor, Executor):
        yield plan.executor
    else:
        with _dask(plan.executor) as cluster:
            yield cluster


@contextmanager
def _dask(address: str) -> Iterator[Executor]:
    try:
        distributed: Any = importlib.import_module("distributed")
    except ModuleNotFoundError:
        raise MissingExtraError("distributed", "cluster", "Work on a Dask cluster") from None
    try:
        client = distributed.Client("tcp://" + address.removeprefix(DASK), timeout=5)
    except OSError as error:
        raise UsageError(
            f"no Dask scheduler answers at {address} ({error}); start one with: dask scheduler"
        ) from None
    # Dask logs the loss of its scheduler with a traceback; we say it in a line.
    logger = logging.getLogger("distributed.client")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        # Dask itself gives the pieces of a lost worker to another one.
        yield client.get_executor(pure=False, retries=MAX_LOSSES)
    finally:
        client.close()
        logger.setLevel(level)


class _Folder:
    """Finished pieces as files, beside a description of the study they belong to."""

    def __init__(self, path: Path, study: Mapping[str, Any]) -> None:
        self.path = path
        described = {"cranfield": __version__, **study}
        text = json.dumps(described, indent=1, sort_keys=True, default=str).encode() + b"\n"
        self._study = text
        try:
            path.mkdir(parents=True, exist_ok=True)
            others = any(path.iterdir())
        except OSError as error:
            raise UsageError(f"{path}: cannot be used as a folder: {error.strerror}") from None
        about = path / _STUDY_FILE
        if not about.exists():
            if others:
                raise UsageError(f"{path}: holds other files; a study needs a folder of its own")
            write_atomic(about, text)
        elif _bytes(about) != text:
            raise UsageError(
                f"{path}: holds another study, or its files have changed since "
                f"({about} says what it was); give another folder"
            )

    def finished(self, keys: Sequence[str] | Mapping[str, Any]) -> dict[str, Plain]:
        answers = {}
        for key in keys:
            file = self._file(key)
            if not file.exists():
                continue
            digest, _, text = _bytes(file).partition(b"\n")
            if digest.decode(errors="replace") != self._digest(key, text):
                raise UsageError(
                    f"{file}: is damaged, or a file of another piece (its check sum is another "
                    "one); delete it, and this piece is done again"
                )
            answers[key] = json.loads(text)
        return answers

    def keep(self, key: str, answer: Plain) -> None:
        """A line with the check sum, then the answer as JSON."""
        text = json.dumps(answer).encode() + b"\n"
        write_atomic(self._file(key), self._digest(key, text).encode() + b"\n" + text)

    def _digest(self, key: str, text: bytes) -> str:
        """The check sum of an answer together with the piece and the study it belongs to."""
        parts = (self._study, key.encode(), text)
        return hashlib.sha256(b"".join(hashlib.sha256(part).digest() for part in parts)).hexdigest()

    def _file(self, key: str) -> Path:
        # Names of runs may hold anything; the digest keeps two of them apart.
        digest = hashlib.sha256(key.encode()).hexdigest()[:12]
        return self.path / f"{re.sub(r'[^A-Za-z0-9._-]+', '_', key)[:60]}-{digest}.piece"


def _bytes(file: Path) -> bytes:
    try:
        return file.read_bytes()
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from None
