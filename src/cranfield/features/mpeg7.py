"""The visual descriptors of MPEG-7: edge histogram, colour layout, scalable colour."""

from __future__ import annotations

from dataclasses import replace

from cranfield.features._spec import Descriptor, Source

FAMILY = "MPEG-7"
_LIRE = "LIRE 5fcd0a3: every bin of 12 pictures"
_XM = "MPEG-7 reference software"
# The first coefficients of Y, Cb and Cr among 64 of each.
_KEPT = (*range(21), *range(64, 70), *range(128, 134))

EHD = Descriptor(
    name="EHD",
    title="Edge histogram descriptor",
    summary="In each of 4 x 4 sub-images, the shares of blocks with a vertical, horizontal, 45, "
    "135 degrees and non-directional edge.",
    formula=r"q_e\!\left(\frac{|\{b \in s : \mathrm{edge}(b) = e\}|}{|\{b \in s\}|}\right) \in "
    r"\{0,\dots,7\}, \quad s = 1,\dots,16,\ e = 1,\dots,5",
    source=Source(
        "mpeg7-visual",
        deviation="edges are those of the luminance, which the standard leaves open; EHD.xm has "
        "the reference software's grey",
    ),
    family=FAMILY,
    length=80,
    range=(0.0, 7.0),
    kernel="edge_histogram",
    distance="EHD",
    small="a sub-image without a block: 0 in its five bins",
    checked=_LIRE,
    shares=False,
)
EHD_LIRE = replace(
    EHD,
    name="EHD.lire",
    title="Edge histogram, as in LIRE",
    source=Source(
        "mpeg7-visual",
        deviation="the distance weighs the first sub-image as if it were the global histogram and "
        "has no semi-global part",
    ),
    kernel="edge_histogram_lire",
    distance="EHD.lire",
    small="a sub-image without a block: 7 in its five bins",
)
EHD_XM = replace(
    EHD,
    name="EHD.xm",
    title="Edge histogram, as in the reference software",
    summary="EHD of the grey (R + G + B) / 3; a shorter side under 70 pixels is enlarged to 70.",
    source=Source("mpeg7-visual", deviation="how small pictures are enlarged is ours"),
    kernel="edge_histogram_xm",
    small="enlarged to 70 pixels (unverified)",
    checked=f"{_XM}: every bin of 10 pictures",
)

CLD = Descriptor(
    name="CLD",
    title="Colour layout descriptor",
    summary="The first 21, 6 and 6 coefficients of the cosine transforms of an icon of 8 x 8 "
    "cells in Y, Cb and Cr.",
    formula=r"\mathrm{zigzag}\left(q\left(D\,I\,D^{T}\right)\right), \quad "
    r"I_{rc} = \text{mean of cell } (r, c)",
    source=Source(
        "mpeg7-visual", deviation="21/6/6 coefficients, which do better than the default 6/3/3"
    ),
    family=FAMILY,
    length=33,
    range=(0.0, 63.0),
    kernel="colour_layout",
    distance="CLD",
    small="each pixel counts 8 times along a side under 8 pixels",
    checked=f"{_XM}: every coefficient of 12 pictures",
    shares=False,
    takes=_KEPT,
)
CLD_LIRE = replace(
    CLD,
    name="CLD.lire",
    title="Colour layout, as in LIRE",
    source=Source(
        "mpeg7-visual",
        deviation="cuts where the standard rounds, so that small negative coefficients become 15",
    ),
    kernel="colour_layout_lire",
    small="a side under 8 pixels: cells without a pixel are 0",
    checked=_LIRE,
)
CLD64 = replace(
    CLD,
    name="CLD64",
    title="Colour layout, all coefficients",
    summary="All 64 coefficients of Y, Cb and Cr.",
    source=Source("mpeg7-visual"),
    length=192,
    takes=(),
)
CLD64_LIRE = replace(
    CLD_LIRE,
    name="CLD64.lire",
    title="Colour layout, all coefficients, as in LIRE",
    summary="All 64 coefficients: LIRE's distance of colour layouts runs over them.",
    length=192,
    takes=(),
)

SCD = Descriptor(
    name="SCD",
    title="Scalable colour descriptor",
    summary="The first 64 coefficients of the Haar transform of a histogram of 256 HSV colours.",
    formula=r"q\left(\mathrm{Haar}\left(15 \left(\tfrac{2047\, n_p / N}{818.8}\right)^{0.4}"
    r"\right)\right)",
    source=Source("mpeg7-visual"),
    family=FAMILY,
    length=64,
    range=(-255.0, 255.0),
    kernel="scalable_colour",
    distance="L1",
    small="none: one pixel is enough",
    checked=f"{_XM}: every coefficient of 12 pictures",
    shares=False,
    kind="int16",
    takes=tuple(range(64)),
)
SCD_LIRE = replace(
    SCD,
    name="SCD.lire",
    title="Scalable colour, as in LIRE",
    source=Source(
        "mpeg7-visual",
        deviation="only the colours of value under 64, the dark ones, are counted",
    ),
    kernel="scalable_colour_lire",
    checked=_LIRE + " but for the first two, which it prints as 0",
)
SCD256 = replace(
    SCD,
    name="SCD256",
    title="Scalable colour, all coefficients",
    summary="All 256 coefficients of the Haar transform.",
    length=256,
    takes=(),
)

DECLARED = (EHD, EHD_LIRE, EHD_XM, CLD, CLD_LIRE, CLD64, CLD64_LIRE, SCD, SCD_LIRE, SCD256)
