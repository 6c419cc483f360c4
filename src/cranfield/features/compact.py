"""Compact composite descriptors: colour and texture in one small vector (CEDD and its family)."""

from __future__ import annotations

from cranfield.features._spec import Descriptor, Source

FAMILY = "colour and texture"
_CHECKED = "LIRE 5fcd0a3: every bin of 12 pictures"

CEDD = Descriptor(
    name="CEDD",
    title="Colour and edge directivity descriptor",
    summary="1,600 blocks vote with 24 fuzzy colours for the kinds of edges they have (none, "
    "non-directional, horizontal, vertical, 45 and 135 degrees); a block may vote for several "
    "kinds or for none.",
    formula=r"q_r\!\left(\frac{1}{Z}\sum_{b:\,r \in R(b)} c_{24}(b)\right) \in \{0,\dots,7\}, "
    r"\quad r = 0,\dots,5",
    source=Source(
        "chatzichristofis-cedd",
        deviation="below 80 pixels, where the author's program fails, there are 400 blocks, below "
        "40 blocks of 2 x 2 pixels",
    ),
    family=FAMILY,
    length=144,
    range=(0.0, 7.0),
    kernel="cedd",
    distance="Tanimoto",
    small="a side under 2 pixels: all zero; remainders at the right and the bottom are left out",
    checked=_CHECKED + "; the author's own program: every bin of the ten that it can read",
)

COMPACT_CEDD = Descriptor(
    name="C.CEDD",
    title="Compact CEDD",
    summary="CEDD with 10 fuzzy colours in place of 24.",
    formula=r"q_r\!\left(\frac{1}{Z}\sum_{b:\,r \in R(b)} c_{10}(b)\right) \in \{0,\dots,7\}",
    source=Source("chatzichristofis-jcd", deviation="the tables of levels are those of CEDD"),
    family=FAMILY,
    length=60,
    range=(0.0, 7.0),
    kernel="compact_cedd",
    distance="Tanimoto",
    small="as CEDD",
    checked=_CHECKED,
)

FCTH = Descriptor(
    name="FCTH",
    title="Fuzzy colour and texture histogram",
    summary="Blocks vote with 24 fuzzy colours for eight regions of texture, made from the "
    "energies of their three high bands of a Haar transform.",
    formula=r"q_r\!\left(\frac{1}{Z}\sum_b \min(d_b, l_b, t_b)\, c_{24}(b)\right) \in "
    r"\{0,\dots,7\}, \quad r = 0,\dots,7",
    source=Source(
        "chatzichristofis-fcth",
        deviation="band values are kept in a signed byte, as the common program keeps them, so "
        "that 128 and more fold back; the paper means them as they are (27 of the 2,304 bins "
        "checked would differ). The levels of the first two regions differ in one number, in "
        "every public copy of the tables",
    ),
    family=FAMILY,
    length=192,
    range=(0.0, 7.0),
    kernel="fcth",
    distance="Tanimoto",
    small="a side under 5 pixels: all zero; the last full row and column of blocks is left out",
    checked=_CHECKED,
)

COMPACT_FCTH = Descriptor(
    name="C.FCTH",
    title="Compact FCTH",
    summary="FCTH with 10 fuzzy colours in place of 24.",
    formula=r"q_r\!\left(\frac{1}{Z}\sum_b \min(d_b, l_b, t_b)\, c_{10}(b)\right) \in "
    r"\{0,\dots,7\}",
    source=Source(
        "chatzichristofis-jcd",
        deviation="levels change every 10 bins; the common program changes them every 24",
    ),
    family=FAMILY,
    length=80,
    range=(0.0, 7.0),
    kernel="compact_fcth",
    distance="Tanimoto",
    small="as FCTH",
    checked="unverified: no trustworthy program gives it",
)

JCD = Descriptor(
    name="JCD",
    title="Joint composite descriptor",
    summary="The regions of CEDD and FCTH that mean the same, joined to seven.",
    formula=r"\left(\tfrac{C_0+F_0+F_4}{2}, \tfrac{C_2+F_1+F_5}{2}, C_4, "
    r"\tfrac{C_3+F_2+F_6}{2}, C_5, F_3+F_7, C_1\right)",
    source=Source("chatzichristofis-jcd"),
    family=FAMILY,
    length=168,
    range=(0.0, 14.0),
    kernel="jcd",
    distance="Tanimoto",
    small="as CEDD and FCTH",
    checked=_CHECKED,
    kind="float32",
)

DECLARED = (CEDD, COMPACT_CEDD, FCTH, COMPACT_FCTH, JCD)
