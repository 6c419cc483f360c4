"""The descriptors that there are, and all about one of them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from cranfield.answers import Answer
from cranfield.features import DESCRIPTORS, DISTANCES
from cranfield.features._spec import Descriptor, Distance
from cranfield.references import REFERENCES
from cranfield.validation import validate_params


@dataclass(frozen=True, repr=False, eq=False)
class DescriptorCatalogue(Answer):
    """Every descriptor, the distances, and the sets that have a name."""

    command: ClassVar[str] = "descriptors"
    table_maker: ClassVar[str] = "cranfield.report.tables.features:catalogue_document"
    descriptors: tuple[Descriptor, ...]
    distances: tuple[Distance, ...]
    sets: Mapping[str, tuple[str, ...]]

    def __iter__(self) -> Iterator[Descriptor]:
        return iter(self.descriptors)

    def __len__(self) -> int:
        return len(self.descriptors)

    def payload(self, **_: object) -> dict[str, Any]:
        """All that the declarations say."""
        return {
            "descriptors": [descriptor_facts(d) for d in self.descriptors],
            "distances": [distance_facts(d) for d in self.distances],
            "sets": {name: list(members) for name, members in self.sets.items()},
        }

    def headline(self) -> str:
        return f"{len(self.descriptors)} descriptors, {len(self.distances)} distances"


@dataclass(frozen=True, repr=False, eq=False)
class DescriptorCard(Answer):
    """All about one descriptor."""

    command: ClassVar[str] = "descriptors"
    table_maker: ClassVar[str] = "cranfield.report.tables.features:descriptor_document"
    descriptor: Descriptor

    def payload(self, **_: object) -> dict[str, Any]:
        """What the declaration says, and that of its distance."""
        distance = DISTANCES.find(self.descriptor.distance)
        return {
            "descriptors": [descriptor_facts(self.descriptor)],
            "distances": [distance_facts(distance)],
        }

    def headline(self) -> str:
        return f"{self.descriptor}: {self.descriptor.title}"


@validate_params
def list_descriptors() -> DescriptorCatalogue:
    """Every descriptor of pictures, and the distances of vectors."""
    names = ("compact", "mpeg7", "all", "lire")
    return DescriptorCatalogue(
        tuple(DESCRIPTORS.values()),
        tuple(DISTANCES.values()),
        {name: tuple(DESCRIPTORS.members(name)) for name in names},
    )


@validate_params
def describe_descriptor(name: str) -> DescriptorCard:
    """All about the descriptor of a name such as CEDD or EHD.lire."""
    return DescriptorCard(DESCRIPTORS.find(name))


def _source_facts(declared: Descriptor | Distance) -> dict[str, Any]:
    reference = REFERENCES.get(declared.source.key)
    return {
        "source": str(reference) if reference else declared.source.key,
        "equations": declared.source.equations,
        "deviation": declared.source.deviation,
    }


def descriptor_facts(d: Descriptor) -> dict[str, Any]:
    """All that a declaration says, as plain data."""
    return {
        "name": str(d),
        "title": d.title,
        "family": d.family,
        "summary": d.summary,
        "formula": d.formula,
        **_source_facts(d),
        "length": d.length,
        "range": list(d.range),
        "numbers": d.kind,
        "distance": d.distance,
        "divided_by_sum": d.shares and DISTANCES.find(d.distance).divides,
        "small_pictures": d.small,
        "checked_against": d.checked,
        "also_called": [alias for alias, name in DESCRIPTORS.aliases.items() if name == d.name],
    }


def distance_facts(d: Distance) -> dict[str, Any]:
    """All that the declaration of a distance says, as plain data."""
    return {
        "name": str(d),
        "title": d.title,
        "formula": d.formula,
        **_source_facts(d),
        "undefined": d.undefined,
    }
