"""A collection's items divided into parts: at random, with the concepts in proportion, by group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from cranfield.campaign.item_texts import public_items
from cranfield.campaign.results.results_data import Cell, ResultColumn, ResultPart, ResultTable
from cranfield.campaign.scoring import only_kind
from cranfield.data.labels import LabelMatrix
from cranfield.errors import InputError, NeedsError, UsageError
from cranfield.io.coerce import LabelsForm, coerce_labels
from cranfield.io.collection import read_collection, read_items
from cranfield.io.design import read_unit_groups
from cranfield.io.files import is_folder, make_folder, write_atomic
from cranfield.io.labels import read_labels, resolve_unlisted
from cranfield.options import DEFAULT_THRESHOLD
from cranfield.validation import Seed, validate_params

SHARES_OFF = 1e-9


@dataclass(frozen=True, repr=False, eq=False)
class Splits(ResultTable):
    """Items in parts: how large these are, and how near each concept is to its share."""

    command: ClassVar[str] = "collection split"
    table_maker: ClassVar[str] = "cranfield.report.tables.campaign:results_document"

    items: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def payload(self, **_: object) -> dict[str, Any]:
        """The parts with their items."""
        return {**super().payload(), "splits": {name: list(i) for name, i in self.items.items()}}

    def write(self, folder: str | Path) -> None:
        """Write `PART.txt` for each part, one item per line."""
        place = Path(folder)
        make_folder(place)
        for name, items in self.items.items():
            write_atomic(place / f"{name}.txt", "".join(f"{i}\n" for i in items).encode())


@validate_params
def split_items(
    source: LabelsForm,
    parts: Mapping[str, float],
    *,
    method: Literal["random", "stratified"] | None = None,
    groups: str | Path | Mapping[str, str] | None = None,
    rng: Seed = 0,
) -> Splits:
    """Divide the items of a collection, of a truth or of a list into parts.

    Parameters
    ----------
    source
        A truth of labels (a file, or what `LabelMatrix.of` takes), a file that lists items, or a
        collection's folder.
    parts
        The share of each part by its name; they sum to 1.
    method
        "random", or "stratified": each concept is divided in the shares of the parts, the rare ones
        first (iterative stratification of Sechidis, Tsoumakas and Vlahavas 2011). Stratified where
        there are concepts, unless told otherwise.
    groups
        The group of each item (a file CSV item,group, or {item: group}), such as a photographer or
        a series: all items of a group come into one part.
    rng
        The seed: the same gives the same parts.

    >>> truth = LabelMatrix.of({"a": {"Sky"}, "b": {"Sea"}, "c": {"Sky"}, "d": {"Sea"}})
    >>> parts = split_items(truth, {"train": 0.5, "test": 0.5}).items
    >>> [len(part) for part in parts.values()]
    [2, 2]
    """
    shares = _checked_shares(parts)
    names, labels = _items_of(source)
    if method == "stratified" and labels is None:
        raise NeedsError("a stratified split needs concepts of items: give a truth of labels")
    stratified = labels is not None and method != "random"
    units, sizes = _units(names, groups)
    counts = np.zeros((len(sizes), 0 if labels is None else labels.shape[1]))
    if labels is not None:
        np.add.at(counts, units, labels)
    generator = np.random.default_rng(rng)
    balanced = counts if stratified else counts[:, :0]
    of_unit = _divided(balanced, sizes, np.array(list(shares.values())), generator)
    of_item = of_unit[units]
    items = {
        part: tuple(names[i] for i in np.flatnonzero(of_item == k)) for k, part in enumerate(shares)
    }
    concepts = _concepts_of(source)
    described = f"{'stratified' if stratified else 'random'}{' by group' if groups else ''}"
    return _answer(described, shares, items, concepts, labels, of_item)


def _checked_shares(parts: Mapping[str, float]) -> dict[str, float]:
    shares = {str(name): float(share) for name, share in parts.items()}
    if len(shares) < 2:
        raise UsageError("parts: two or more are needed, such as train=0.8 test=0.2")
    for name, share in shares.items():
        if not 0 < share < 1:
            raise UsageError(f"parts: the share of {name!r} is {share:g}, not between 0 and 1")
        if not name or Path(name).name != name:
            raise UsageError(f"parts: {name!r} is no name of a file")
    if abs(sum(shares.values()) - 1) > SHARES_OFF:
        raise UsageError(f"parts: the shares sum to {sum(shares.values()):g}, not to 1")
    return shares


def _items_of(source: LabelsForm) -> tuple[tuple[str, ...], NDArray[np.bool_] | None]:
    """The items, and which concepts each has where these are known."""
    truth = _labels_of(source)
    if truth is not None:
        return truth.items, _flags(truth)
    path = Path(str(source))
    if is_folder(path):
        collection = read_collection(path)
        items = public_items(collection, only_kind(collection))
        if items is None:
            raise NeedsError(f"{path} names no list of its items, and no truth of labels")
        return items, None
    return read_items(path), None


def _labels_of(source: LabelsForm) -> LabelMatrix | None:
    """The labels of a source; None for a list of items."""
    if not isinstance(source, str | Path):
        return coerce_labels(source, "truth")
    path: Path = Path(source)
    unlisted: str | None = None
    if is_folder(path):
        collection = read_collection(path)
        if collection.truth is None:
            return None
        path, unlisted = collection.truth, collection.unlisted or None
    try:
        truth = read_labels(path, unjudged=True)
    except InputError as error:
        try:
            read_items(path)
        except InputError:
            raise error from None
        return None
    return resolve_unlisted(truth, unlisted)


def _flags(truth: LabelMatrix) -> NDArray[np.bool_]:
    """True cells that were judged; of confidences those of 0.5 or more."""
    flags, _ = truth.with_threshold(DEFAULT_THRESHOLD).rows(0, len(truth.items))
    if flags is None:
        raise NeedsError(f"{truth.where} has no labels to divide")
    return np.asarray(flags if truth.judged is None else flags & truth.judged)


def _concepts_of(source: LabelsForm) -> tuple[str, ...]:
    truth = _labels_of(source)
    return () if truth is None else truth.concepts


def _units(
    names: Sequence[str], groups: str | Path | Mapping[str, str] | None
) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """The unit of each item, which is not divided, and how many items each has."""
    if groups is None:
        return np.arange(len(names)), np.ones(len(names))
    if isinstance(groups, Mapping):
        of_item = dict(groups)
    else:
        of_item = {}
        for item, values in read_unit_groups(groups)[1].items():
            if len(values) > 1:
                raise UsageError(f"{groups}: item {item!r} is in several groups")
            of_item[item] = values[0]
    missing = [name for name in names if name not in of_item]
    if missing:
        raise UsageError(f"groups: {len(missing)} items have none, {missing[0]!r} among them")
    order = {group: k for k, group in enumerate(dict.fromkeys(of_item[n] for n in names))}
    units = np.array([order[of_item[name]] for name in names], dtype=np.intp)
    return units, np.bincount(units).astype(float)


def _divided(
    counts: NDArray[np.float64],
    sizes: NDArray[np.float64],
    shares: NDArray[np.float64],
    rng: np.random.Generator,
) -> NDArray[np.intp]:
    """The part of each unit.

    The concept with the fewest examples left is divided first, each of its units to the part that
    lacks most of it, then to the one that lacks most items; what has no concept is divided
    last. Larger units come before smaller ones, which can still fill what is left.
    """
    part_of = np.full(len(sizes), -1, dtype=np.intp)
    lacking = shares * sizes.sum()
    lacking_of = shares[:, None] * counts.sum(axis=0)
    remaining = counts.sum(axis=0)
    order = rng.permutation(len(sizes))
    order = order[np.argsort(-sizes[order], kind="stable")]

    def assign(unit: int, concept: int | None) -> None:
        needs = lacking if concept is None else lacking_of[:, concept]
        best = np.flatnonzero(needs >= needs.max() - SHARES_OFF)
        best = best[lacking[best] >= lacking[best].max() - SHARES_OFF]
        part = int(rng.choice(best)) if len(best) > 1 else int(best[0])
        part_of[unit] = part
        lacking[part] -= sizes[unit]
        lacking_of[part] -= counts[unit]
        remaining[:] = remaining - counts[unit]

    while (remaining > SHARES_OFF).any():
        concept = int(np.argmin(np.where(remaining > SHARES_OFF, remaining, np.inf)))
        for unit in order[(counts[order, concept] > 0) & (part_of[order] < 0)].tolist():
            assign(unit, concept)
    for unit in order[part_of[order] < 0].tolist():
        assign(unit, None)
    return part_of


def _answer(
    method: str,
    shares: Mapping[str, float],
    items: Mapping[str, tuple[str, ...]],
    concepts: Sequence[str],
    labels: NDArray[np.bool_] | None,
    of_item: NDArray[np.intp],
) -> Splits:
    """The parts with how far they are from their shares, in all and by concept."""
    total = len(of_item)
    rows: list[tuple[Cell, ...]] = [
        (part, len(items[part]), len(items[part]) / total, share) for part, share in shares.items()
    ]
    columns = (
        ResultColumn("part", numeric=False),
        ResultColumn("items", places=0),
        ResultColumn("share"),
        ResultColumn("asked", "asked for"),
    )
    lines = " ".join(f'{part} = "{part}.txt"' for part in shares)
    note = f"for [splits] of collection.toml, beside the folder they are in: {lines}"
    parts = [ResultPart("parts", f"Items divided, {method}", columns, tuple(rows), (note,))]
    notes: tuple[str, ...] = ()
    if labels is not None:
        by_part = np.array([labels[of_item == k].sum(axis=0) for k in range(len(shares))])
        parts.append(_by_concept(shares, concepts, by_part))
        without = [
            f"{part}: {sum(by_part[k] == 0)} concepts have no item"
            for k, part in enumerate(shares)
            if (by_part[k] == 0).any()
        ]
        notes = tuple(without)
    return Splits(
        "split", "Items divided", "", tuple(parts), {"method": method}, notes=notes, items=items
    )


def _by_concept(
    shares: Mapping[str, float], concepts: Sequence[str], by_part: NDArray[Any]
) -> ResultPart:
    rows: list[tuple[Cell, ...]] = []
    for j, concept in enumerate(concepts):
        total = int(by_part[:, j].sum())
        share_values = np.array(list(shares.values()))
        gap = float(np.abs(by_part[:, j] / total - share_values).max()) if total else None
        rows.append((concept, total, *(int(n) for n in by_part[:, j]), gap))
    columns = (
        ResultColumn("concept", numeric=False),
        ResultColumn("items", places=0),
        *(ResultColumn(part, places=0) for part in shares),
        ResultColumn("gap", "farthest from its share"),
    )
    return ResultPart("concepts", "Items of each concept in each part", columns, tuple(rows))
