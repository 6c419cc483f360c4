"""A test collection: a folder of files that belong together, and what is known of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType

from cranfield.errors import NeedsError, UsageError, suggest


@dataclass(frozen=True)
class ImageSheet:
    """Pictures of items on one PNG: tiles of one size, left to right, top to bottom.

    >>> sheet = ImageSheet(Path("sheet.png"), ("a", "b", "c"), width=8, height=8, columns=2)
    >>> sheet.tile("c")
    (0, 8)
    """

    path: Path
    items: tuple[str, ...] = field(repr=False)
    width: int
    height: int
    columns: int

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the whole sheet, in pixels."""
        rows = -(-len(self.items) // self.columns)
        return self.columns * self.width, rows * self.height

    @cached_property
    def _position(self) -> dict[str, int]:
        return {item: i for i, item in enumerate(self.items)}

    def __contains__(self, item: object) -> bool:
        return item in self._position

    def tile(self, item: str) -> tuple[int, int]:
        """Where the tile of an item begins: pixels from the left and from the top."""
        if item not in self._position:
            raise UsageError(f"{self.path} has no picture of {item!r}.{suggest(item, self.items)}")
        row, column = divmod(self._position[item], self.columns)
        return column * self.width, row * self.height


@dataclass(frozen=True)
class Collection:
    """What a `collection.toml` names; every path is resolved, every file exists.

    `size` is the number of items that can be retrieved. What the collection lacks is None or
    empty. `ontology` is a path or the name of a built-in ontology, `threshold` a number or a path.
    """

    folder: Path
    name: str
    size: int
    title: str = ""
    version: str = ""
    licence: str = ""
    sources: Path | None = None
    topics: Path | None = None
    judgements: Path | None = None
    runs: tuple[Path, ...] = ()
    truth: Path | None = None
    label_runs: tuple[Path, ...] = ()
    threshold: float | Path | None = None
    ontology: str | Path | None = None
    rules: Path | None = None
    cost_maps: tuple[Path, ...] = ()
    counts: tuple[Path, ...] = ()
    agreement_map: Path | None = None
    judgement_log: Path | None = None
    subject_rankings: Path | None = None
    subject_categories: Path | None = None
    category_parents: Path | None = None
    splits: Mapping[str, tuple[str, ...]] = field(
        default_factory=lambda: MappingProxyType({}), repr=False
    )
    images: ImageSheet | None = None

    def need(self, key: str) -> Path:
        """The one file under a key of `collection.toml`, or a NeedsError if it names none."""
        value = getattr(self, key)
        if value is None:
            raise NeedsError(f"{self.folder / 'collection.toml'} has no {key}")
        return Path(value)
