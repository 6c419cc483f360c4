"""A test collection: a folder of files that belong together, and what is known of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

from cranfield._lazy import cached_property
from cranfield.errors import NeedsError, UsageError, suggest

Kind: TypeAlias = Literal["ranked", "labels", "regions"]
KINDS: tuple[Kind, ...] = ("ranked", "labels", "regions")
# How the layout of `collection.toml` is numbered; a file of a later one is told apart.
LAYOUT = 2


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


@dataclass(frozen=True, slots=True)
class Team:
    """A participating team: the acronym that tables show, its full name and details."""

    acronym: str
    name: str = ""
    country: str = ""
    reference: str = ""


@dataclass(frozen=True, slots=True)
class RunFacts:
    """What is said about a run beside its file.

    `team` is an acronym, `tag` the team's own name of the run; `configuration` says what the run
    uses, such as V (visual), T (text) and M (both). A `baseline` is shown but never ranked.
    """

    run: str
    team: str = ""
    tag: str = ""
    configuration: str = ""
    description: str = ""
    features: str = ""
    classifier: str = ""
    threshold: str = ""
    baseline: bool = False


@dataclass(frozen=True, slots=True)
class ConceptText:
    """What a concept means, and items that show it; `title` is what people see of its name."""

    definition: str = ""
    examples: tuple[str, ...] = ()
    title: str = ""


@dataclass(frozen=True)
class Texts:
    """What people read and see of a collection, by id; what is not known is not in it.

    `topic_items` has the item that a topic asks with, `narratives` what an answer to it must have;
    `pictures` has a file per item, `sheet` small pictures of many items in one file.
    """

    topics: Mapping[str, str] = field(default_factory=dict)
    topic_items: Mapping[str, str] = field(default_factory=dict)
    items: Mapping[str, str] = field(default_factory=dict)
    concepts: Mapping[str, ConceptText] = field(default_factory=dict)
    pictures: Mapping[str, Path] = field(default_factory=dict)
    sheet: ImageSheet | None = None
    narratives: Mapping[str, str] = field(default_factory=dict)

    def asked(self, topic: str) -> str:
        """All that a judge reads of a topic: its text, then its narrative; '' where it has none."""
        return "\n".join(
            text for text in (self.topics.get(topic), self.narratives.get(topic)) if text
        )


def _empty_mapping() -> Mapping[str, Any]:
    return MappingProxyType({})


@dataclass(frozen=True)
class Collection:
    """What a `collection.toml` names; every path is resolved, every file exists.

    `size` is the number of items that can be retrieved. What the collection lacks is None or
    empty. `ontology` is a path or the name of a built-in ontology, `threshold` a number or a path.
    Keys that begin with `label_` or `box_` say for the annotations, or for boxes, what the others
    say for the rankings.
    `run_facts` is by the name of a run, `years` by the name of an earlier year.
    """

    folder: Path
    name: str
    size: int | None = None
    title: str = ""
    version: str = ""
    licence: str = ""
    series: str = ""
    year: str = ""
    layout: int = LAYOUT
    seed: int = 0
    sources: Path | None = None
    items: Path | None = None
    pictures: Path | None = None
    topics: Path | None = None
    concepts: Path | None = None
    judgements: Path | None = None
    silver: Path | None = None
    runs: tuple[Path, ...] = ()
    measures: tuple[str, ...] = ()
    primary: str = ""
    baseline: str = ""
    retrieved: str = ""
    design: Path | None = None
    scorer: Path | None = None
    truth: Path | None = None
    label_silver: Path | None = None
    label_runs: tuple[Path, ...] = ()
    label_measures: tuple[str, ...] = ()
    label_primary: str = ""
    label_baseline: str = ""
    label_design: Path | None = None
    label_scorer: Path | None = None
    annotated: str = ""
    unlisted: str = ""
    boxes: Path | None = None
    box_runs: tuple[Path, ...] = ()
    box_measures: tuple[str, ...] = ()
    box_primary: str = ""
    box_baseline: str = ""
    box_design: Path | None = None
    located: str = ""
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
    extra: tuple[Path, ...] = ()
    splits: Mapping[str, tuple[str, ...]] = field(default_factory=_empty_mapping, repr=False)
    images: ImageSheet | None = None
    teams: tuple[Team, ...] = ()
    run_facts: Mapping[str, RunFacts] = field(default_factory=_empty_mapping, repr=False)
    years: Mapping[str, Path] = field(default_factory=_empty_mapping)

    def need(self, key: str) -> Path:
        """The one file under a key of `collection.toml`, or a NeedsError if it names none."""
        value = getattr(self, key)
        if value is None:
            raise NeedsError(f"{self.folder / 'collection.toml'} has no {key}")
        return Path(value)

    def part(self, kind: Kind) -> Part:
        """What belongs to the rankings of the collection, to its annotations or to its boxes."""
        if kind == "ranked":
            return Part(
                self.judgements,
                self.runs,
                self.measures,
                self.primary,
                self.baseline,
                self.retrieved,
                self.silver,
                self.design,
            )
        if kind == "regions":
            return Part(
                self.boxes,
                self.box_runs,
                self.box_measures,
                self.box_primary,
                self.box_baseline,
                self.located,
                None,
                self.box_design,
            )
        return Part(
            self.truth,
            self.label_runs,
            self.label_measures,
            self.label_primary,
            self.label_baseline,
            self.annotated,
            self.label_silver,
            self.label_design,
        )

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Of which kinds the collection has a truth or runs."""
        return tuple(k for k in KINDS if self.part(k).truth is not None or self.part(k).runs)


@dataclass(frozen=True)
class Part:
    """The rankings or the annotations of a collection; `split` has the items they are about.

    With `silver` the truth is gold for some topics or items, and silver has all of them. `design`
    says how topics or items were sampled.
    """

    truth: Path | None
    runs: tuple[Path, ...]
    measures: tuple[str, ...]
    primary: str
    baseline: str
    split: str
    silver: Path | None = None
    design: Path | None = None


@dataclass(frozen=True, slots=True)
class Design:
    """For every unit by name its cluster and its stratum ("" where there is none) and the
    probability with which it was chosen. Units are topics, or items of annotations."""

    units: tuple[str, ...]
    clusters: tuple[str, ...]
    strata: tuple[str, ...]
    probabilities: tuple[float, ...]
    source: str = "the design"
