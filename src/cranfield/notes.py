"""What is noticed on the way to an answer, and how far that way is.

Both are passed down from the caller to the work, and never shared through the process: many
requests may be answered at once, and each gets its own notes only.
"""

from __future__ import annotations

import functools
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from typing import ParamSpec, Protocol, TypeAlias, TypeVar

from cranfield.errors import CancelledError

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

# Seconds between two words about compiled work.
TELL_EVERY = 0.1
NAMES_SHOWN = 3
EXAMPLES_SHOWN = 5


def some_names(names: Sequence[str]) -> str:
    """The first of many names, as part of a sentence."""
    text = ", ".join(names[:EXAMPLES_SHOWN])
    return text + (", ..." if len(names) > EXAMPLES_SHOWN else "")


class Notes:
    """Collects what a reader of an answer should know about the data behind it.

    What is said of several runs in the same words is said once, of all of them:

    >>> notes = Notes()
    >>> notes.add("2 items are not in the truth", about="a")
    >>> notes.add("5 items are not in the truth", about="b")
    >>> notes.add("2 items are not in the truth", about="c")
    >>> notes.lines()
    ('a, c: 2 items are not in the truth', 'b: 5 items are not in the truth')
    """

    def __init__(self) -> None:
        self._said: dict[str, dict[str, None]] = {}
        self._turn = threading.Lock()

    def add(self, text: str, *, about: str = "") -> None:
        """Note something, about a run or an annotator where it concerns one of many."""
        with self._turn:
            self._said.setdefault(text, {})[about] = None

    def extend(self, texts: Iterable[str]) -> None:
        """Note what another answer or a reader has noted."""
        for text in texts:
            self.add(text)

    def lines(self, noun: str = "run") -> tuple[str, ...]:
        """Each note once, with the names of those it is about."""
        with self._turn:
            return tuple(_line(text, tuple(about), noun) for text, about in self._said.items())


def _line(text: str, about: tuple[str, ...], noun: str) -> str:
    names = tuple(name for name in about if name)
    if not names:
        return text
    heading = ", ".join(names[:NAMES_SHOWN])
    if len(names) > NAMES_SHOWN:
        heading = f"{len(names)} {noun}s ({heading}, ...)"
    return f"{heading}: {text}"


def join_notes(parts: Iterable[tuple[Sequence[str], Sequence[str]]]) -> tuple[str, ...]:
    """The notes of runs that were looked at apart, as if it had been together: (runs, notes) each.

    >>> join_notes([(["a"], ["a: 2 items are missing"]), (["b"], ["b: 2 items are missing"])])
    ('a, b: 2 items are missing',)
    """
    notes = Notes()
    for runs, texts in parts:
        head = f"{runs[0]}: " if len(runs) == 1 else ""
        for note in texts:
            is_own = bool(head) and note.startswith(head)
            notes.add(note.removeprefix(head) if is_own else note, about=runs[0] if is_own else "")
    return notes.lines()


class Counter(Protocol):
    """Counts of the compiled core: how many bytes are done, and of how many."""

    @property
    def done(self) -> float: ...
    @property
    def total(self) -> float: ...
    def cancel(self) -> None: ...


class Pieces:
    """Counts of pieces that are worked on side by side: each counts for one, whatever its size.

    >>> pieces = Pieces(2)
    >>> pieces.finished()
    >>> pieces.done, pieces.total
    (1.0, 2)
    """

    def __init__(self, total: int) -> None:
        self.total = total
        self._finished = 0
        self._begun: list[Counter] = []
        self._cancelled = False
        self._turn = threading.Lock()

    def begin(self, counter: Counter) -> None:
        """Count along what a piece says of itself, until it is finished."""
        with self._turn:
            self._begun.append(counter)
            if self._cancelled:
                counter.cancel()

    def finished(self, counter: Counter | None = None) -> None:
        """One piece more is done."""
        with self._turn:
            self._finished += 1
            self._begun = [c for c in self._begun if c is not counter]

    @property
    def done(self) -> float:
        with self._turn:
            partial = sum(min(c.done / c.total, 1.0) for c in self._begun if c.total)
            return float(self._finished + partial)

    def cancel(self) -> None:
        with self._turn:
            self._cancelled = True
            for counter in self._begun:
                counter.cancel()


Watcher: TypeAlias = "Progress | Callable[[float], None] | bool"


def _bar() -> Callable[[float], None]:
    """What draws how far work has come: tqdm's bar where it is installed, else a line."""
    try:
        from tqdm.auto import tqdm
    except ImportError:

        def write_line(share: float) -> None:
            ending = "\n" if share >= 1 else ""
            sys.stderr.write(f"\r{100 * share:3.0f} %{ending}")
            sys.stderr.flush()

        return write_line
    bar = tqdm(total=100, unit="%", bar_format="{percentage:3.0f} %|{bar}| {elapsed}<{remaining}")

    def move(share: float) -> None:
        bar.update(100 * share - bar.n)
        if share >= 1:
            bar.close()

    return move


class Progress:
    """How far work has come, and whether it shall go on.

    The caller makes one, looks at `done` and may `cancel()`, from any thread; the work calls it
    with the share that is done, which raises CancelledError once it was cancelled.

    >>> seen = []
    >>> progress = Progress(seen.append)
    >>> progress.part(0.5, 1.0)(0.5)
    >>> seen
    [0.75]
    """

    def __init__(self, watcher: Callable[[float], None] | None = None) -> None:
        self._watcher = watcher
        self._done = 0.0
        self._cancelled = threading.Event()
        self._counters: list[tuple[Counter, float, float]] = []

    @classmethod
    def of(cls, watcher: Watcher | None) -> Progress:
        """What a caller gave as progress: nothing, a function that is told, or one of these."""
        if isinstance(watcher, Progress):
            return watcher
        if isinstance(watcher, bool):
            return cls(_bar() if watcher else None)
        return cls(watcher)

    def __call__(self, share: float) -> None:
        """Say which share of the work is done."""
        self.check()
        self._done = share
        if self._watcher is not None:
            self._watcher(share)

    def finish(self) -> None:
        """Say that all is done, where that was not said."""
        if self._done < 1.0:
            self(1.0)

    @property
    def done(self) -> float:
        """The share of the work that is done."""
        counted = [
            low + (high - low) * min(c.done / c.total, 1.0)
            for c, low, high in tuple(self._counters)
            if c.total
        ]
        return max([self._done, *counted])

    @property
    def cancelled(self) -> bool:
        return self._cancelled.is_set()

    def cancel(self) -> None:
        """Ask the work to stop as soon as it can."""
        self._cancelled.set()
        for counter, _, _ in tuple(self._counters):
            counter.cancel()

    def check(self) -> None:
        """A CancelledError when the work shall not go on."""
        if self._cancelled.is_set():
            raise CancelledError()

    def watch(self, counter: Counter, low: float = 0.0, high: float = 1.0) -> None:
        """Take the counts of compiled work as the part of the whole from `low` to `high`."""
        self._counters.append((counter, low, high))
        if self._cancelled.is_set():
            counter.cancel()

    @property
    def tells(self) -> bool:
        """Whether a watcher is called; a caller that looks at `done` needs none."""
        return self._watcher is not None

    def during(self, work: Callable[[], Result]) -> Result:
        """Do compiled work, and tell meanwhile what the counters that are watched say."""
        if not self.tells:
            return work()
        from concurrent.futures import ThreadPoolExecutor, wait

        with ThreadPoolExecutor(1) as pool:
            try:
                future = pool.submit(work)
            except RuntimeError:  # no thread to be had: nothing is told until the work is done
                return work()
            try:
                while wait([future], timeout=TELL_EVERY).not_done:
                    self(self.done)
            except BaseException:
                # The watcher or the user wants the work to end.
                self.cancel()
                raise
        return future.result()

    def part(self, low: float, high: float) -> Progress:
        """The progress of a step that takes the whole from `low` to `high`."""
        return _Part(self, low, high)


class _Part(Progress):
    """A step of a greater work: what it says and asks goes to the whole."""

    def __init__(self, parent: Progress, low: float, high: float) -> None:
        super().__init__(lambda done: parent(low + (high - low) * done))
        self._whole, self._low, self._high = parent, low, high
        self._cancelled = parent._cancelled

    @property
    def tells(self) -> bool:
        return self._whole.tells

    def cancel(self) -> None:
        self._whole.cancel()

    def watch(self, counter: Counter, low: float = 0.0, high: float = 1.0) -> None:
        super().watch(counter, low, high)
        span = self._high - self._low
        self._whole.watch(counter, self._low + span * low, self._low + span * high)


def with_progress(function: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Give `function` a Progress for its argument `progress`, and finish it behind the work.

    Work that was cancelled before it began is not begun.
    """

    @functools.wraps(function)
    def reporting(*args: Arguments.args, **kwargs: Arguments.kwargs) -> Result:
        watcher = kwargs.get("progress")
        if watcher is None:
            return function(*args, **kwargs)
        progress = Progress.of(watcher)  # type: ignore[arg-type]
        progress.check()
        result = function(*args, **kwargs | {"progress": progress})  # type: ignore[arg-type]
        progress.finish()
        return result

    return reporting


def time_left(elapsed: float, share_done: float, share_before: float = 0.0) -> str:
    """How long the rest will take if it goes on like this, or nothing while that is a guess."""
    if share_done - share_before <= 0.01 or share_done >= 1:
        return ""
    seconds = elapsed * (1 - share_done) / (share_done - share_before)
    if seconds < 120:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 7200 else f"{seconds / 3600:.1f} h"
