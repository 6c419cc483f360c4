"""The compiled core. Private: its names may change with any release."""

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Calls: TypeAlias = Sequence[tuple[str, Sequence[float]]]
# topics, offsets, item bytes, item offsets, values, tag
Columns: TypeAlias = tuple[list[str], memoryview, memoryview, memoryview, memoryview, str]
# Anything that numpy would take as an array of the right kind.
Buffer: TypeAlias = Any
# fault, line, text, topic, other line
Problem: TypeAlias = tuple[int, int, str, str, int]
Read: TypeAlias = Callable[[memoryview], int]

class Progress:
    def __init__(self) -> None: ...
    def cancel(self) -> None: ...
    @property
    def done(self) -> int: ...
    @property
    def total(self) -> int: ...

class JudgementIndex:
    def __init__(
        self,
        topics: list[str],
        offsets: Buffer,
        item_bytes: Buffer,
        item_offsets: Buffer,
        grades: Buffer,
    ) -> None: ...
    def __len__(self) -> int: ...
    @property
    def repeats(self) -> list[tuple[int, int]]: ...

# A reader of rows, which refuses (False, None) whatever is not plain: `cells` has a letter for each
# column, c for codes of texts, t for texts, n for numbers and - for nothing.
class SeparatedReader:
    def __init__(self, separator: str, cells: str, comments: bool, bytes: int) -> None: ...
    def feed(self, bytes: bytes) -> bool: ...
    def finish(self) -> bool: ...
    @property
    def rows(self) -> int: ...
    def names(self, column: int) -> list[str]: ...
    def codes(self, column: int) -> memoryview: ...
    def texts(self, column: int) -> list[str]: ...
    def numbers(self) -> memoryview: ...
    def blank_lines(self) -> memoryview: ...
    def table(
        self, topic: int, item: int, third: str, finite: bool
    ) -> tuple[Columns, bool] | None: ...

# Newlines, and the places of the first and the last end of a line, -1 for none.
def line_ends(block: bytes) -> tuple[int, int, int]: ...

# {topic: {item: number}} in plain JSON, or None.
def nested_json(text: bytes, finite: bool) -> Columns | None: ...

# Judgements or a run as text: TREC's "run" or "judgements", "csv", "tsv" or "json".
class TableBlocks:
    def __init__(
        self,
        topics: list[str],
        offsets: Buffer,
        item_bytes: Buffer,
        item_offsets: Buffer,
        values: Buffer,
        form: str,
        grades: bool,
        tag: str,
        strata: Buffer | None,
    ) -> None: ...
    # About so many bytes more, and none at the end.
    def next(self, bytes: int) -> bytes: ...

# Whether items have 1 to `longest` bytes, none of them among `breaks`, which are blanks or below.
def items_fit(
    topics: list[str],
    offsets: Buffer,
    item_bytes: Buffer,
    item_offsets: Buffer,
    values: Buffer,
    breaks: bytes,
    longest: int,
) -> bool: ...

# Whether an item stands twice in a topic.
def has_repeats(
    topics: list[str],
    offsets: Buffer,
    item_bytes: Buffer,
    item_offsets: Buffer,
    values: Buffer,
) -> bool: ...

# An item a line and its row of numbers (float64, or 0 and 1 as uint8); or a value a line.
def label_rows(items: list[str], values: Buffer, separator: str, quoted: bool) -> bytes: ...
def long_label_rows(items: list[str], concepts: list[str], values: Buffer) -> bytes: ...

# Whether no two rows of three columns of codes (int32, from 0 on) are the same.
def rows_differ(first: Buffer, second: Buffer, third: Buffer) -> bool: ...

# The names of each kernel's parameters, and whether further numbers may follow.
def kernels() -> dict[str, tuple[tuple[str, ...], bool]]: ...
def check_call(name: str, params: Sequence[float]) -> None: ...

# What stopped a reader before the end of its input: "error", "short" or "lines".
Stop: TypeAlias = str | None

def read_table(
    path: bytes | None,
    read: Read | None,
    kind: str,
    jobs: int,
    extra_fields: bool,
    max_lines: int | None,
    line_bytes: int | None,
    progress: Progress,
) -> tuple[Columns, list[Problem], int, int, Problem | None, int, Stop]: ...
def evaluate_run(
    index: JudgementIndex,
    path: bytes | None,
    read: Read | None,
    calls: Calls,
    ties: str,
    judged_only: bool,
    max_items: int,
    jobs: int,
    extra_fields: bool,
    max_lines: int | None,
    line_bytes: int | None,
    progress: Progress,
) -> tuple[memoryview, memoryview, list[str], list[Problem], int, bool, str, int, Stop]: ...
def evaluate_table(
    index: JudgementIndex,
    topics: list[str],
    offsets: Buffer,
    item_bytes: Buffer,
    item_offsets: Buffer,
    scores: Buffer,
    calls: Calls,
    ties: str,
    judged_only: bool,
    max_items: int,
    jobs: int,
    check_duplicates: bool,
) -> tuple[Buffer, Buffer, list[tuple[int, int]]]: ...
def evaluate_dict(
    index: JudgementIndex,
    run: dict[str, dict[str, float]],
    calls: Calls,
    ties: str,
    judged_only: bool,
    max_items: int,
) -> tuple[NDArray[np.float64], NDArray[np.uint8], list[str]]: ...
def score_dict(
    index: JudgementIndex,
    run: dict[str, dict[str, float]],
    names: list[str],
    calls: Calls,
    constants: dict[str, float],
    ties: str,
    judged_only: bool,
    single_precision: bool,
) -> dict[str, dict[str, float]]: ...
def dict_columns(source: dict[str, dict[str, Any]]) -> Columns: ...
def column_sums(
    values: Buffer, counted: bytes, order: Sequence[int], smallest: float
) -> list[tuple[float, int, float]]: ...
def columns_dict(
    topics: list[str],
    offsets: NDArray[np.int64],
    item_bytes: NDArray[np.uint8],
    item_offsets: NDArray[np.int64],
    values: NDArray[np.float64],
    whole: bool,
) -> dict[str, dict[str, float]]: ...
def string_column(texts: Sequence[str]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]: ...
def fixed_width_column(
    codes: NDArray[np.uint32],
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]: ...
def integer_column(
    numbers: NDArray[np.int64],
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]: ...
def group_rows(
    bytes: NDArray[np.uint8], offsets: NDArray[np.int64]
) -> tuple[list[str], NDArray[np.int64], NDArray[np.int64] | None]: ...
def take_strings(
    bytes: NDArray[np.uint8], offsets: NDArray[np.int64], order: NDArray[np.int64]
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]: ...

class MaskList:
    def __init__(self) -> None: ...
    def add_text(self, text: bytes, height: int, width: int) -> bool: ...
    def add_runs(self, runs: Sequence[int], height: int, width: int) -> bool: ...
    def add_polygons(
        self, polygons: Sequence[Sequence[float]], height: int, width: int
    ) -> None: ...
    def columns(
        self,
    ) -> tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]: ...

class RegionMatches:
    def __init__(
        self,
        truth_items: NDArray[np.int32],
        truth_concepts: NDArray[np.int32],
        truth_boxes: NDArray[np.float64],
        areas: NDArray[np.float64],
        flags: NDArray[np.uint8],
        items: NDArray[np.int32],
        labels: NDArray[np.int32],
        boxes: NDArray[np.float64],
        confidences: NDArray[np.float64],
        concepts: int,
        rule: str,
        overlaps: Sequence[float],
        sizes: Sequence[tuple[float, float]],
        depth: int,
        partners: bool,
        jobs: int,
        masks: tuple[NDArray[np.uint32], NDArray[np.int64], NDArray[np.uint32], NDArray[np.int64]]
        | None = None,
    ) -> None: ...
    def precision(
        self, size: int, depth: int, points: str, weights: NDArray[np.float64], jobs: int
    ) -> NDArray[np.float64]: ...
    def recall(
        self, size: int, depth: int, weights: NDArray[np.float64], jobs: int
    ) -> NDArray[np.float64]: ...
    def f_measure(
        self,
        size: int,
        depth: int,
        confidence: float,
        beta: float,
        weights: NDArray[np.float64],
        jobs: int,
    ) -> NDArray[np.float64]: ...
    def localisation(
        self, size: int, depth: int, confidence: float, weights: NDArray[np.float64], jobs: int
    ) -> NDArray[np.float64]: ...
    def quality(
        self, size: int, depth: int, confidence: float, weights: NDArray[np.float64], jobs: int
    ) -> NDArray[np.float64]: ...
    def influence(
        self,
        kind: str,
        size: int,
        depth: int,
        overlaps: Sequence[int],
        confidence: float,
        beta: float,
        items: int,
        jobs: int,
    ) -> NDArray[np.float64]: ...
    def outcomes(
        self, label: int, size: int, threshold: int
    ) -> tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.uint8]]: ...

def coco_boxes(
    text: bytes,
) -> (
    tuple[
        bool,
        NDArray[np.int64],
        NDArray[np.int64],
        NDArray[np.int64],
        NDArray[np.float64],
        NDArray[np.float64],
        NDArray[np.uint8],
        dict[str, tuple[int, int]],
    ]
    | None
): ...

class ConceptOrder:
    def __init__(self, scores: NDArray[np.float64], jobs: int) -> None: ...

def concept_ranked(
    truth: NDArray[np.bool_],
    scores: NDArray[np.float64],
    order: NDArray[np.int64],
    cutoffs: Sequence[int],
    jobs: int,
    sorted: ConceptOrder | None = None,
) -> NDArray[np.float64]: ...
def concept_influence(
    truth: NDArray[np.bool_],
    scores: NDArray[np.float64],
    order: NDArray[np.int64],
    cutoffs: Sequence[int],
    weights: NDArray[np.float64],
    jobs: int,
) -> NDArray[np.float64]: ...
def item_ranked(
    truth: NDArray[np.bool_], scores: NDArray[np.float64], jobs: int
) -> NDArray[np.float64]: ...
def item_precision(
    truth: NDArray[np.bool_], scores: NDArray[np.float64], depth: int, jobs: int
) -> NDArray[np.float64]: ...
def match_costs(
    truth: NDArray[np.bool_],
    labels: NDArray[np.bool_],
    broken: NDArray[np.bool_],
    costs: NDArray[np.float64],
    agreement: NDArray[np.float64],
    jobs: int,
) -> NDArray[np.float64]: ...
def match_parts(
    truth: NDArray[np.bool_],
    labels: NDArray[np.bool_],
    broken: NDArray[np.bool_],
    costs: NDArray[np.float64],
    agreement: NDArray[np.float64],
    item: int,
) -> list[tuple[int, str, float, float, list[int]]]: ...
def assigned_pairs(
    truth: NDArray[np.bool_],
    scores: NDArray[np.float64],
    costs: NDArray[np.float64],
    item: int,
) -> list[tuple[int, int, float]]: ...
def ranked_assignment(
    truth: NDArray[np.bool_],
    scores: NDArray[np.float64],
    costs: NDArray[np.float64],
    jobs: int,
) -> NDArray[np.float64]: ...
def set_assignment(
    truth: NDArray[np.bool_],
    labels: NDArray[np.bool_],
    costs: NDArray[np.float64],
    dummy: float,
    jobs: int,
) -> NDArray[np.float64]: ...
def gloss_overlaps(
    words: NDArray[np.int32],
    starts: NDArray[np.int64],
    per_sense: int,
    left: NDArray[np.int32],
    right: NDArray[np.int32],
    first: NDArray[np.int32],
    second: NDArray[np.int32],
    jobs: int,
) -> NDArray[np.float64]: ...
def descriptor_kernels() -> dict[str, int]: ...
def describe_picture(
    names: Sequence[str], pixels: NDArray[np.uint8]
) -> list[NDArray[np.float64]]: ...
def pair_distances(
    kernel: str,
    queries: NDArray[np.float64],
    items: NDArray[np.float64],
    groups: Sequence[int],
    jobs: int,
) -> NDArray[np.float64]: ...
def chosen_distances(
    kernel: str,
    queries: NDArray[np.float64],
    items: NDArray[np.float64],
    groups: Sequence[int],
    chosen: NDArray[np.int64],
    jobs: int,
) -> NDArray[np.float64]: ...
def run_text(
    topics: list[str],
    items: list[str],
    chosen: NDArray[np.int64],
    scores: NDArray[np.float64],
    tag: str,
) -> bytes: ...

class Nearest:
    def __init__(self, queries: int, k: int) -> None: ...
    def add(
        self,
        kernel: str,
        queries: NDArray[np.float32],
        items: NDArray[np.float32],
        groups: Sequence[int],
        first: int,
        jobs: int,
    ) -> None: ...
    def add_products(
        self,
        kernel: str,
        products: NDArray[np.float32],
        query_squares: NDArray[np.float32],
        item_squares: NDArray[np.float32],
        first: int,
        jobs: int,
    ) -> None: ...
    def items(self) -> NDArray[np.int64]: ...
    def reach(self) -> NDArray[np.float32]: ...

# Offsets, ranks, entries, retrieved and topics that count, of one run.
RunArrays: TypeAlias = tuple[
    NDArray[np.int64],
    NDArray[np.uint32],
    NDArray[np.uint32],
    NDArray[np.uint32],
    NDArray[np.uint8],
]

def judged_ranks(
    index: JudgementIndex,
    topics: list[str],
    offsets: Buffer,
    item_bytes: Buffer,
    item_offsets: Buffer,
    scores: Buffer,
    ties: str,
    judged_only: bool,
    max_items: int,
    jobs: int,
    check_duplicates: bool,
) -> RunArrays: ...
def draw_scores(
    offsets: NDArray[np.int64],
    levels: NDArray[np.float64],
    cumulative: NDArray[np.float64],
    runs: list[RunArrays],
    calls: Calls,
    guards: list[tuple[int, int]],
    watched: list[int],
    order: list[int],
    seed: int,
    first: int,
    draws: int,
    smallest: float,
    largest: list[tuple[int, int, float]],
    jobs: int,
    progress: Progress,
) -> tuple[
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.int32],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.float64],
    NDArray[np.int32],
    NDArray[np.int32],
    NDArray[np.float64],
]: ...
def draw_labels(
    chances: NDArray[np.float64], exclusive: bool, seed: int, draw: int, jobs: int
) -> NDArray[np.uint8]: ...
def expected_sums(
    offsets: NDArray[np.int64],
    levels: NDArray[np.float64],
    cumulative: NDArray[np.float64],
    run: RunArrays,
    calls: Calls,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]: ...

HeldPairs = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]

def studentized_pairs(
    squares: NDArray[np.float64],
    means: NDArray[np.float64],
    pairs: NDArray[np.int64],
    topics: float,
    noise: NDArray[np.float64],
    own: NDArray[np.float64],
    flat: NDArray[np.uint8],
    turn: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    rank: int,
) -> HeldPairs: ...
def held_rows(
    values: NDArray[np.float64],
    turn: NDArray[np.float64],
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    rank: int,
) -> HeldPairs: ...
def step_down_hits(
    sums: NDArray[np.float64],
    pairs: NDArray[np.int64],
    scale: NDArray[np.float64],
    bar: NDArray[np.float64],
    two_tailed: bool,
    largest: NDArray[np.float64],
) -> NDArray[np.int64]: ...
def count_places(means: NDArray[np.float64], slack: float) -> NDArray[np.int64]: ...
def dominances(rows: NDArray[np.float64], pairs: NDArray[np.int64]) -> NDArray[np.int64]: ...
