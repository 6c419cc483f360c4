"""Histograms of colours and of colours at a distance."""

from __future__ import annotations

from dataclasses import replace

from cranfield.features._spec import Descriptor, Source

FAMILY = "colour"
_LIRE = "LIRE 5fcd0a3: every bin of 12 pictures"
_RAW = "the distance is taken of the levels as they are"

RGB = Descriptor(
    name="RGBHistogram",
    title="Histogram of 64 RGB colours",
    summary="How many pixels have each of 4 x 4 x 4 colours, as levels of the largest count.",
    formula=r"\left\lfloor 255\, n_c / \max_{c'} n_{c'} \right\rfloor",
    source=Source("swain-ballard-1991"),
    family=FAMILY,
    length=64,
    range=(0.0, 255.0),
    kernel="rgb_histogram",
    distance="JSD",
    small="none: one pixel is enough",
    checked=_LIRE,
)
RGB_LIRE = replace(
    RGB,
    name="RGBHistogram.lire",
    title="Histogram of 64 RGB colours, as in LIRE",
    source=Source("swain-ballard-1991", deviation=_RAW),
    distance="JSD.lire",
)

HSV = Descriptor(
    name="HSVHistogram",
    title="Histogram of 256 HSV colours",
    summary="The share of pixels of each of 16 hues, 4 saturations and 4 values: the histogram "
    "behind SCD.",
    formula=r"n_c / N",
    source=Source("mpeg7-visual"),
    family=FAMILY,
    length=256,
    range=(0.0, 1.0),
    kernel="hsv_histogram",
    distance="JSD",
    small="none: one pixel is enough",
    checked="through SCD, which is made from it",
    kind="float32",
)

OPPONENT = Descriptor(
    name="OpponentHistogram",
    title="Histogram of 64 opponent colours",
    summary="Red against green, yellow against blue and light, in four steps each; the pixels of "
    "the border are left out.",
    formula=r"\left\lfloor 127\, n_c / \max_{c'} n_{c'} \right\rfloor",
    source=Source("van-de-sande-2010", deviation="4 x 4 x 4 colours, not three histograms"),
    family=FAMILY,
    length=64,
    range=(0.0, 127.0),
    kernel="opponent_histogram",
    distance="JSD",
    small="a side under 3 pixels: all zero",
    checked=_LIRE,
)
OPPONENT_LIRE = replace(
    OPPONENT,
    name="OpponentHistogram.lire",
    title="Histogram of 64 opponent colours, as in LIRE",
    source=Source("van-de-sande-2010", deviation=_RAW),
    distance="JSD.lire",
)

CORRELOGRAM = Descriptor(
    name="Correlogram",
    title="Auto colour correlogram",
    summary="For 64 RGB colours, how probable it is that a pixel at chessboard distance 1, 3, 5 "
    "and 7 of a pixel has its colour.",
    formula=r"\alpha_c^{(k)} = \Pr\left(p_2 \in c \mid p_1 \in c,\ |p_1 - p_2| = k\right)",
    source=Source("huang-1997", deviation="places outside of the picture count as other colours"),
    family=FAMILY,
    length=256,
    range=(0.0, 1.0),
    kernel="correlogram",
    distance="relative",
    small="none: one pixel gives zeros",
    checked="twin only; counted like Correlogram.lire",
    shares=False,
    kind="float32",
)
CORRELOGRAM_LIRE = replace(
    CORRELOGRAM,
    name="Correlogram.lire",
    title="Auto colour correlogram, as in LIRE",
    summary="For 64 HSV colours and distances 1 to 4, in 16 levels.",
    formula=r"\left\lfloor 16\, \alpha_c^{(k)} \right\rfloor, \quad k = 1, 2, 3, 4",
    source=Source("huang-1997", deviation="HSV colours, distances 1 to 4, levels"),
    range=(0.0, 15.0),
    kernel="correlogram_lire",
    distance="JSD.half",
    checked=_LIRE,
    kind="uint8",
)

DECLARED = (RGB, RGB_LIRE, HSV, OPPONENT, OPPONENT_LIRE, CORRELOGRAM, CORRELOGRAM_LIRE)
