"""Pictures to vectors, and vectors to the nearest items: descriptors, distances, search.

>>> DESCRIPTORS.find("CEDD").length
144
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from cranfield.features._spec import Descriptor, Distance
from cranfield.registry import Registry
from cranfield.validation import validate_params

__all__ = ["DESCRIPTORS", "DISTANCES", "Descriptor", "Distance", "descriptor"]

# What others call these descriptors.
_ALIASES = {
    "CCEDD": "C.CEDD",
    "CFCTH": "C.FCTH",
    "histogram": "RGBHistogram",
    "ColorHistogram": "RGBHistogram",
    "SimpleColorHistogram": "RGBHistogram.lire",
    "EdgeHistogram": "EHD",
    "ColorLayout": "CLD",
    "ScalableColor": "SCD",
    "AutoColorCorrelogram": "Correlogram",
    "AutoCorrelogram": "Correlogram",
    "LocalBinaryPatterns": "LBP",
}


def _descriptors() -> Iterable[Descriptor]:
    from cranfield.features import descriptors, extract, visual_words

    families = (descriptors, visual_words, extract)
    return (d for family in families for d in family.DECLARED)


def _distances() -> Iterable[Distance]:
    from cranfield.features import distances

    return distances.DECLARED


def _sets() -> Mapping[str, Iterable[str]]:
    names = tuple(DESCRIPTORS)
    return {
        "compact": ("CEDD", "C.CEDD", "FCTH", "JCD"),
        "mpeg7": ("EHD", "CLD", "SCD"),
        "all": tuple(
            n for n, d in DESCRIPTORS.items() if d.kernel and ("." not in n or n.startswith("C."))
        ),
        "lire": tuple(n for n in names if n.endswith(".lire")),
    }


DESCRIPTORS: Registry[Descriptor] = Registry(Descriptor, _descriptors, _ALIASES, _sets)
DISTANCES: Registry[Distance] = Registry(
    Distance, _distances, {"euclidean": "L2", "manhattan": "L1", "chisquare": "chi2"}
)


@validate_params
def descriptor(name: str) -> Descriptor:
    """The descriptor that a name stands for.

    >>> descriptor("EHD.lire").distance
    'EHD.lire'
    """
    return DESCRIPTORS.find(name)
