"""A board that is shown while runs are taken: its part of the truth, and what it shows.

The truth is cut in two: scores on the live part are shown, those on the sealed part make the final
tables. What is shown is coarse on purpose. A team climbs only by a run that a test tells apart
from its best one so far (the Ladder of Blum and Hardt, 2015, with a paired t-test), teams that
tests cannot tell apart share a level and its value, and values are rounded to what tests resolve.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from cranfield._lazy import np
from cranfield.errors import CranfieldError, UsageError
from cranfield.io.files import inner_suffix

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from cranfield.data.collection import Kind
    from cranfield.evaluation.scores import Scores

    Floats: TypeAlias = NDArray[np.float64]

Part: TypeAlias = Literal["live", "sealed"]
LEVEL = 0.05
# Half the width of an interval in standard errors.
WIDTH = 1.96
LEAST_UNITS = 2
FINEST = 0.001


@dataclass(frozen=True, slots=True)
class BoardRow:
    """A team as the live board shows it; `run` is the one that it climbed by."""

    team: str
    run: str
    place: int
    value: float
    runs: int
    baseline: bool


# ---- the two parts of a truth


def parse_live_part(text: str, splits: Sequence[str]) -> str:
    """How a live part is named: nothing, a share such as 30%, or a split of the collection.

    >>> parse_live_part(" 30 % ", ()), parse_live_part("validation", ("validation",))
    ('30%', 'validation')
    """
    name = text.strip()
    share = name.removesuffix("%").strip()
    if name.endswith("%") and share.isascii() and share.isdecimal() and 1 <= int(share) <= 90:
        return f"{int(share)}%"
    if not name or name in splits:
        return name
    known = f", or a split: {', '.join(splits)}" if splits else ""
    raise UsageError(f"the live part is a share from 1% to 90%{known}; {name[:40]!r} is none")


def live_units(
    units: Sequence[str], live_part: str, salt: str, splits: Mapping[str, Sequence[str]]
) -> frozenset[str]:
    """The topics or items of the live part; a share is drawn by a secret, the same every time."""
    if live_part.endswith("%"):
        count = round(len(units) * int(live_part[:-1]) / 100)
        drawn = sorted(units, key=lambda unit: hashlib.sha256(f"{salt}\n{unit}".encode()).digest())
        live = frozenset(drawn[:count])
    else:
        live = frozenset(units) & frozenset(splits[live_part])
    if len(live) < LEAST_UNITS or len(units) - len(live) < LEAST_UNITS:
        raise UsageError(
            f"the live part {live_part} leaves {len(live)} of {len(units)} topics or items; each "
            f"of the two parts needs {LEAST_UNITS}"
        )
    return live


def write_part(
    truth: Path,
    kind: Kind,
    target: Path,
    *,
    part: Part,
    live_part: str,
    salt: str,
    splits: Mapping[str, Sequence[str]],
    unlisted: str = "",
) -> Path:
    """Write one of the two parts of a truth below `target`; gives the file.

    `unlisted` is that of the collection.
    """

    def chosen(units: Sequence[str]) -> frozenset[str]:
        live = live_units(units, live_part, salt, splits)
        return live if part == "live" else frozenset(units) - live

    if kind == "ranked":
        return _write_judgements(truth, target, chosen)
    if kind == "regions":
        return _write_boxes(truth, target, chosen, {n for part in splits.values() for n in part})
    from cranfield.evaluation.probabilistic_truth import soft_file
    from cranfield.io.labels import read_labels, resolve_unlisted, write_labels

    try:
        is_soft = soft_file(truth)[1] is not None
    except CranfieldError:
        is_soft = False
    if is_soft:
        raise UsageError("a truth with probabilities has no live part")
    every = resolve_unlisted(read_labels(truth, unjudged=True), unlisted or None)
    wanted = chosen(every.items)
    rows = [row for row, item in enumerate(every.items) if item in wanted]
    names = tuple(every.items[row] for row in rows)
    file = target / "truth.csv"
    write_labels(every.map(lambda m: m[rows], items=names), file)
    return file


def _write_boxes(truth: Path, target: Path, chosen: Any, listed: set[str]) -> Path:
    """The boxes of some items; COCO's JSON keeps all that it says of them."""
    from cranfield.io.regions import read_regions, write_coco_part, write_regions

    every = read_regions(truth)
    # COCO numbers the items, and splits list them by the names of their files.
    names = {item: item for item in every.items}
    names |= {item: alias for alias, item in every.item_aliases.items() if alias in listed}
    part = every.of_items(chosen(tuple(names.values())))
    if inner_suffix(truth) == ".json":
        file = target / "boxes.json"
        write_coco_part(truth, part.items, file)
    else:
        file = target / "boxes.csv"
        write_regions(part, file)
    return file


def _write_judgements(truth: Path, target: Path, chosen: Any) -> Path:
    from cranfield.io import read_qrels

    judged = read_qrels(truth).to_dict()
    wanted = chosen(tuple(judged))
    file = target / "judgements.txt"
    file.write_text(
        "".join(
            f"{topic} 0 {item} {grade}\n"
            for topic, grades in judged.items()
            if topic in wanted
            for item, grade in grades.items()
        ),
        encoding="utf-8",
    )
    return file


# ---- what the board shows


def live_rows(scores: Scores, measure: str, entries: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The rows of the board, the step of its values, and how many topics or items it is made of.

    `entries` say of each run its `run`, `team` and whether it is a `baseline`, in the order in
    which they came. A measure that is no mean over its units has no board.
    """
    ranked_by = scores.measure_named(measure)
    sampled = scores.sampled(ranked_by)
    if sampled is None:
        raise UsageError(f"{measure} is no mean over topics or items: it has no live board")
    sign = -1.0 if ranked_by.higher_is_better is False else 1.0
    values = sign * np.nan_to_num(np.asarray(sampled[1], dtype=np.float64))
    means = sign * np.asarray(scores.plain_means(ranked_by))
    best = _ladder(scores, values, means, entries)
    order = sorted(best, key=lambda position: -means[position])
    step = _step(values[order])
    by_run = {str(entry["run"]): entry for entry in entries}
    counts: dict[str, int] = {}
    for entry in entries:
        counts[str(entry["team"])] = counts.get(str(entry["team"]), 0) + 1
    rows = []
    place = 1
    for level in _levels(values[order]):
        members = [order[position] for position in level]
        value = round(float(means[members].mean()) / step) * step * sign
        for position in members:
            entry = by_run[scores.runs[position]]
            team, baseline = str(entry["team"]), bool(entry["baseline"])
            shown_runs = 1 if baseline else counts[team]
            rows.append(BoardRow(team, scores.runs[position], place, value, shown_runs, baseline))
        place += len(members)
    return {
        "measure": ranked_by.mean_label,
        "unit": sampled[0],
        "units": int(values.shape[1]),
        "step": step,
        "rows": [
            {
                "team": row.team,
                "run": row.run,
                "place": row.place,
                "value": row.value,
                "runs": row.runs,
                "baseline": row.baseline,
            }
            for row in rows
        ],
    }


def _ladder(
    scores: Scores, values: Floats, means: Floats, entries: Sequence[Mapping[str, Any]]
) -> list[int]:
    """The run by which each team stands on the board; each baseline stands for itself."""
    from cranfield.stats.paired import t_test

    best: dict[str, int] = {}
    for entry in entries:
        position = scores.index_of(str(entry["run"]))
        key = f"baseline {entry['run']}" if entry["baseline"] else str(entry["team"])
        so_far = best.get(key)
        if so_far is None:
            best[key] = position
        elif means[position] > means[so_far]:
            difference = values[position] - values[so_far]
            if float(t_test(difference).p[0]) < LEVEL:
                best[key] = position
    return list(best.values())


def _levels(values: Floats) -> list[list[int]]:
    """Rows of values, best first, cut where all above differ significantly from all below."""
    from cranfield.stats.corrections import correct
    from cranfield.stats.paired import t_test

    count = len(values)
    if count < 2:
        return [[0]] if count else []
    above, below = np.triu_indices(count, 1)
    p = correct(t_test(values[above] - values[below]).p, "holm")
    alike = np.zeros((count, count), dtype=bool)
    alike[above, below] = p >= LEVEL
    cuts = [k for k in range(1, count) if not alike[:k, k:].any()]
    return [list(range(*ends)) for ends in pairwise([0, *cuts, count])]


def _step(values: Floats) -> float:
    """The step of the shown values: what a test resolves, as 1, 2 or 5 of a decimal."""
    count, units = values.shape
    if units < 2:
        return 1.0
    if count > 1:
        above, below = np.triu_indices(count, 1)
        rows = values[above] - values[below]
        rows = rows[rows.any(axis=1)]
    else:
        rows = values
    errors = rows.std(axis=1, ddof=1) / math.sqrt(units) if len(rows) else np.zeros(1)
    return round_up(max(WIDTH * float(np.median(errors)), FINEST))


def round_up(value: float) -> float:
    """The next of 1, 2, 5 times a power of ten.

    >>> [round_up(value) for value in (0.0123, 0.05, 0.3)]
    [0.02, 0.05, 0.5]
    """
    power = math.floor(math.log10(value))
    for digit in (1, 2, 5, 10):
        candidate = round(digit * 10.0**power, 12)
        if value <= candidate * (1 + 1e-9):
            return candidate
    raise RuntimeError("unreachable")


def probing_bound(
    units: int, submissions: int, step: float, changes: int, *, confidence: float = 0.95
) -> float:
    """How far the live score of any run of a team can be above its true one, however it was found.

    Whatever a team sees are at most `changes` changes of its shown value in so many submissions,
    each to one of the values from 0 to 1 by the step: so few histories lead to so few runs, and
    Hoeffding's inequality holds for all of them at once. It holds for measures that are means of
    values from 0 to 1.

    >>> round(probing_bound(1000, 50, 0.02, 1), 3)
    0.101
    """
    histories = (changes + 1) * math.log(submissions * (1 / step + 1))
    union = math.log((changes + 1) * (changes + 2)) - math.log(1 - confidence)
    return min(1.0, math.sqrt((histories + union) / (2 * units)))
