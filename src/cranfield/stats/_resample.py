"""Seeded random draws in fixed blocks, so that threads never change a number.

Resamples are drawn block by block; every block has a generator of its own, made from the
seed, the kind of draw and the number of the block. Which thread works on which block is
therefore of no consequence. Topics share their draws between all runs and measures: the
p-value of a pair depends on that pair and the seed alone, not on what else is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from cranfield.errors import UsageError, check_at_most
from cranfield.validation import as_array, describe_value
from cranfield.work.threads import map_in_threads

Floats: TypeAlias = NDArray[np.float64]
Ints: TypeAlias = NDArray[np.int64]
Rng: TypeAlias = int | np.random.Generator
Resamples: TypeAlias = int | Literal["exact"]
Progress: TypeAlias = Callable[[float], None]
Result = TypeVar("Result")

MOST_RESAMPLES = 100_000_000
MAX_EXACT_TOPICS = 20
_BLOCK_ROWS, _BLOCK_CELLS = 512, 1_000_000
_SIGNS, _COUNTS, _ORDERS = 1, 2, 3


@dataclass(frozen=True, slots=True)
class Block:
    """A run of consecutive resamples."""

    number: int
    start: int
    rows: int


def seed_of(rng: Rng) -> int:
    """The seed that a result reports: the number given, or one drawn from a generator."""
    if isinstance(rng, np.random.Generator):
        return int(rng.integers(2**53))
    if isinstance(rng, bool) or not isinstance(rng, int | np.integer) or rng < 0:
        raise UsageError(f"rng={rng!r} is neither a whole number from 0 on nor a numpy Generator")
    return int(rng)


def check_resamples(resamples: Resamples) -> Resamples:
    """The number of resamples, or a UsageError."""
    if isinstance(resamples, str) and resamples == "exact":
        return resamples
    if isinstance(resamples, bool) or not isinstance(resamples, int | np.integer) or resamples < 1:
        raise UsageError(f"resamples={resamples!r} is neither a whole number from 1 on nor 'exact'")
    check_at_most(MOST_RESAMPLES, resamples=resamples)
    return int(resamples)


def blocks(resamples: int, width: int) -> list[Block]:
    """The blocks of so many resamples of `width` numbers each; the threads do not matter."""
    rows = max(16, min(_BLOCK_ROWS, _BLOCK_CELLS // max(width, 1)))
    starts = range(0, resamples, rows)
    return [Block(i, start, min(rows, resamples - start)) for i, start in enumerate(starts)]


def generator(seed: int, kind: int, block: Block) -> np.random.Generator:
    return np.random.Generator(np.random.PCG64(np.random.SeedSequence([seed, kind, block.number])))


def random_signs(seed: int, block: Block, topics: int) -> Floats:
    """A matrix of +1 and -1, a row per resample, a column per topic."""
    bits = generator(seed, _SIGNS, block).bytes((block.rows * topics + 7) // 8)
    flat = np.unpackbits(np.frombuffer(bits, np.uint8), count=block.rows * topics)
    return flat.reshape(block.rows, topics).astype(np.float64) * 2.0 - 1.0


def exact_signs(block: Block, topics: int) -> Floats:
    """Some of all the ways to sign the topics, each of which has a number."""
    numbers = np.arange(block.start, block.start + block.rows, dtype=np.int64)
    shifts = np.arange(topics, dtype=np.int64)
    return ((numbers[:, None] >> shifts) & 1).astype(np.float64) * 2.0 - 1.0


def bootstrap_counts(seed: int, block: Block, topics: int) -> Floats:
    """How often each topic is drawn: a row per resample, every row sums to `topics`."""
    samples = generator(seed, _COUNTS, block).integers(topics, size=(block.rows, topics))
    samples += np.arange(block.rows)[:, None] * topics
    counts = np.bincount(samples.ravel(), minlength=block.rows * topics)
    return counts.reshape(block.rows, topics).astype(np.float64)


def random_orders(seed: int, block: Block, topics: int, runs: int) -> Ints:
    """For every resample and topic an order of the runs: shape (rows, topics, runs)."""
    keys = generator(seed, _ORDERS, block).random((block.rows, topics, runs))
    return np.argsort(keys, axis=2)


def in_threads(
    work: Callable[[Block], Result],
    todo: list[Block],
    *,
    jobs: int = 1,
    progress: Progress | None = None,
) -> list[Result]:
    """The results of `work` for each block, in the order of the blocks."""
    results: list[Result] = []
    with _one_blas_thread():
        if jobs <= 1 or len(todo) == 1:
            _collect(map(work, todo), results, len(todo), progress)
        else:
            _collect(map_in_threads(work, todo, jobs), results, len(todo), progress)
    return results


@contextmanager
def _one_blas_thread() -> Iterator[None]:
    """Keep matrix products on the thread that asks for them, so that `jobs` is the bound."""
    controller = _blas()
    if controller is None:
        yield
        return
    with controller.limit(limits=1, user_api="blas"):
        yield


@cache
def _blas() -> Any:
    """What controls the threads of matrix products, where it is installed: found once, since
    looking through all loaded libraries takes longer than a small test."""
    try:
        from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]
    except ImportError:
        return None
    return ThreadpoolController()


def _collect(
    answers: Iterator[Result], results: list[Result], total: int, progress: Progress | None
) -> None:
    for answer in answers:
        results.append(answer)
        if progress is not None:
            progress(len(results) / total)


def as_pairs(pairs: Any, runs: int) -> Ints:
    """Pairs of rows as an array of two columns, or a UsageError."""
    if isinstance(pairs, list | tuple) and not pairs:
        return np.empty((0, 2), dtype=np.int64)
    table: Ints = as_array("pairs", pairs, ndim=2, dtype=np.int64)
    if table.shape[1] != 2 or (table.size and not -runs <= table.min() <= table.max() < runs):
        raise UsageError(f"pairs={describe_value(pairs)} are not pairs (a, b) of {runs} rows")
    return table


def all_pairs(runs: int) -> Ints:
    """The positions (a, b) with a < b, a row each."""
    return np.column_stack(np.triu_indices(runs, 1)).astype(np.int64)
