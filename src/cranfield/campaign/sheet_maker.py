"""Sheets for annotation from what is there: a collection's folder, or an ontology and pictures."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from cranfield.campaign.ontology_form import gated, ontology_form
from cranfield.campaign.sheets import Sheet, Unit
from cranfield.campaign.texts import picture_files, public_concepts, public_items, read_texts
from cranfield.data.collection import Collection, ImageSheet, Texts
from cranfield.data.labels import LabelMatrix
from cranfield.data.ontology import Ontology, Rules
from cranfield.errors import MissingExtraError, NeedsError, UsageError, suggest
from cranfield.io.annotations import read_truth
from cranfield.io.collection import read_collection, read_items
from cranfield.io.collection_keys import FILE
from cranfield.io.files import read_text
from cranfield.io.meanings import Meaning, built_in_meanings, read_meanings
from cranfield.io.ontology import read_ontology, read_rules
from cranfield.ontologies import BUILT_IN
from cranfield.validation import Seed, validate_params

# What browsers show by themselves; anything else is turned into PNG.
SHOWN = {".jpg": "jpeg", ".jpeg": "jpeg", ".png": "png", ".gif": "gif", ".webp": "webp"}
# A tile of a sheet of pictures is made this wide at least, in pixels.
_WIDE = 160
GUIDELINES = (
    "Choose what is representative of the picture, and only what can be seen in it.\n"
    "Of round buttons exactly one answer is needed; of boxes choose all that apply."
)


@validate_params
def make_sheet(
    source: str | Path,
    *,
    rules: str | Path | None = None,
    pictures: str | Path | None = None,
    items: str | Path | None = None,
    split: str | None = None,
    below: str | None = None,
    known: Any = None,
    meanings: str | Path | None = None,
    guidelines: str | Path | None = None,
    version: str = "1",
    title: str | None = None,
    first: int | None = None,
    seed: Seed | None = None,
) -> Sheet:
    """A sheet that asks about the concepts of an ontology.

    `source` is a collection's folder, whose ontology, rules, items and pictures are used, or an
    ontology, which needs `pictures` (a folder) or `items` (a file of ids). `split` is one of the
    collection's. With `below` only the concepts below that one are asked for, of the items that
    the labels in `known` give it to. `meanings` define the concepts, `guidelines` is a text file.
    `first` units are asked about, in the order of the items or in one drawn by `seed`.
    """
    if first is not None and first < 1:
        raise UsageError(f"first={first} is not a whole number from 1 on")
    given = _Given.of(source, rules, meanings)
    wanted = given.items(pictures, items, split)
    if below is not None:
        labels = known if known is not None else given.truth()
        wanted = gated(wanted, known_labels(labels), [below])
    units = _units(wanted, given.texts, pictures)
    form = ontology_form(
        given.ontology, meanings=given.meanings, below=below, title=title or given.title
    )
    text = GUIDELINES if guidelines is None else read_text(guidelines).strip()
    sheet = Sheet(
        title or given.title, "labels", {"form": form}, units, guidelines=text, version=version
    )
    drawn = sheet if seed is None else sheet.shuffled(seed)
    if first is None:
        return drawn
    return Sheet(
        drawn.title,
        drawn.kind,
        drawn.forms,
        drawn.units[:first],
        guidelines=text,
        version=version,
    )


def known_labels(source: Any) -> LabelMatrix:
    """Labels that are known: decisions, not confidences."""
    found = read_truth(source)
    if found.labels is None:
        raise UsageError("labels that are known are 0 and 1, not confidences")
    return found


class _Given:
    """What a collection or an ontology gives to a sheet."""

    def __init__(
        self,
        ontology: Ontology,
        meanings: Mapping[str, Meaning],
        collection: Collection | None,
    ) -> None:
        self.ontology, self.meanings, self._collection = ontology, meanings, collection
        self.title = "Annotation"
        self.texts = Texts()
        if collection is not None:
            self.title = collection.title or collection.name
            self.texts = read_texts(collection)

    @classmethod
    def of(
        cls, source: str | Path, rules: str | Path | None, meanings: str | Path | None
    ) -> _Given:
        collection = None
        named: str | Path = source
        known: str | Path | None = meanings
        if Path(source).is_dir() or Path(source).name == FILE:
            collection = read_collection(source)
            known = meanings or collection.concepts
            rules = rules or collection.rules
            if collection.ontology is None:
                return cls(
                    _flat(collection, rules), read_meanings(known) if known else {}, collection
                )
            named = collection.ontology
        # Tabs are the categories at the top, which the tree of the costs does without.
        listed = f"{named}-listed"
        tree = read_ontology(listed if listed in BUILT_IN else named, rules=rules)
        built_in = known is None and str(named) in BUILT_IN
        defined = built_in_meanings() if built_in else {}
        return cls(tree, read_meanings(known) if known is not None else defined, collection)

    def items(
        self, pictures: str | Path | None, items: str | Path | None, split: str | None
    ) -> Sequence[str]:
        if items is not None:
            return read_items(items)
        if self._collection is None:
            if split is not None:
                raise UsageError("only a collection has splits")
            if pictures is None:
                raise NeedsError("an ontology alone has no items: name pictures or items")
            return tuple(picture_files(Path(pictures)))
        splits = self._collection.splits
        if split is not None:
            if split not in splits:
                raise UsageError(f"no split {split!r}.{suggest(split, splits)}")
            return splits[split]
        found = public_items(self._collection, "labels")
        if found is None:
            raise NeedsError(f"{self._collection.folder / FILE} names no items")
        return found

    def truth(self) -> Path:
        if self._collection is None:
            raise NeedsError("below needs known labels")
        return self._collection.need("truth")


def _flat(collection: Collection, rules: str | Path | None) -> Ontology:
    """The concepts of a collection without a hierarchy, one beside the other."""
    concepts = public_concepts(collection)
    if not concepts:
        raise NeedsError(f"{collection.folder / FILE} has no ontology and no concepts")
    known = Rules() if rules is None else read_rules(rules)
    return Ontology.from_paths(((c, c) for c in concepts), rules=known).checked()


def views_of(
    items: Sequence[str], *, collection: str | Path | None = None, pictures: Any = None
) -> tuple[dict[str, str], dict[str, str]]:
    """Texts and pictures (as addresses that hold them) of items, from a collection or a folder."""
    texts = Texts() if collection is None else read_texts(read_collection(collection))
    units = _units(items, texts, pictures) if items else ()
    return {u.name: u.text for u in units if u.text}, {
        u.name: u.picture for u in units if u.picture
    }


def _units(items: Sequence[str], texts: Texts, pictures: str | Path | None) -> tuple[Unit, ...]:
    files = dict(texts.pictures) if pictures is None else picture_files(Path(pictures))
    tiles = _Tiles(texts.sheet) if texts.sheet is not None and not files else None
    found = []
    for item in items:
        shown = ""
        if item in files:
            shown = data_address(files[item])
        elif tiles is not None and item in tiles.sheet:
            shown = tiles.address(item)
        found.append(Unit(item, text=texts.items.get(item, ""), picture=shown))
    if not found:
        raise UsageError("there is no item to ask about")
    return tuple(found)


def data_address(path: Path) -> str:
    """A picture as an address that holds it."""
    kind = SHOWN.get(path.suffix.lower())
    if kind is not None:
        return _address(path.read_bytes(), kind)
    image = _imaging().open(path).convert("RGB")
    return _address(_png(image), "png")


class _Tiles:
    """Pictures cut out of one sheet of many."""

    def __init__(self, sheet: ImageSheet) -> None:
        self.sheet = sheet
        self._image = _imaging().open(sheet.path)

    def address(self, item: str) -> str:
        left, top = self.sheet.tile(item)
        box = (left, top, left + self.sheet.width, top + self.sheet.height)
        times = max(1, -(-_WIDE // self.sheet.width))
        tile = self._image.crop(box)
        return _address(_png(tile.resize((tile.width * times, tile.height * times), 0)), "png")


def _imaging() -> Any:
    try:
        from PIL import Image
    except ModuleNotFoundError:
        raise MissingExtraError("pillow", "images", "forms with these pictures") from None
    return Image


def _png(image: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, "png", optimize=True)
    return out.getvalue()


def _address(data: bytes, kind: str) -> str:
    return f"data:image/{kind};base64,{base64.b64encode(data).decode()}"
