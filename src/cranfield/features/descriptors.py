"""Descriptors of whole pictures: colour and texture, MPEG-7, histograms, texture and shape."""

from __future__ import annotations

from dataclasses import replace

from cranfield.features._spec import Descriptor, Source

# What variants were held against.
_LIRE = "LIRE 5fcd0a3: every bin of 12 pictures"
_COLOUR_AND_TEXTURE = "colour and texture"

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
    family=_COLOUR_AND_TEXTURE,
    length=144,
    range=(0.0, 7.0),
    kernel="cedd",
    distance="Tanimoto",
    small="a side under 2 pixels: all zero; remainders at the right and the bottom are left out",
    checked=_LIRE + "; the author's own program: every bin of the ten that it can read",
)

COMPACT_CEDD = Descriptor(
    name="C.CEDD",
    title="Compact CEDD",
    summary="CEDD with 10 fuzzy colours in place of 24.",
    formula=r"q_r\!\left(\frac{1}{Z}\sum_{b:\,r \in R(b)} c_{10}(b)\right) \in \{0,\dots,7\}",
    source=Source("chatzichristofis-jcd", deviation="the tables of levels are those of CEDD"),
    family=_COLOUR_AND_TEXTURE,
    length=60,
    range=(0.0, 7.0),
    kernel="compact_cedd",
    distance="Tanimoto",
    small="as CEDD",
    checked=_LIRE,
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
    family=_COLOUR_AND_TEXTURE,
    length=192,
    range=(0.0, 7.0),
    kernel="fcth",
    distance="Tanimoto",
    small="a side under 5 pixels: all zero; the last full row and column of blocks is left out",
    checked=_LIRE,
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
    family=_COLOUR_AND_TEXTURE,
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
    family=_COLOUR_AND_TEXTURE,
    length=168,
    range=(0.0, 14.0),
    kernel="jcd",
    distance="Tanimoto",
    small="as CEDD and FCTH",
    checked=_LIRE,
    kind="float32",
)

SPCD = Descriptor(
    name="SpCD",
    title="Spatial colour distribution",
    summary="How much of each of eight fuzzy colours lies left, in the middle and right, and "
    "above, in the middle and below: 48 numbers, for sketches and pictures where the place of a "
    "colour matters.",
    formula=r"\frac{1}{2Z}\left(\sum_b c_8(b)\, \mu_i(x_b),\ \sum_b c_8(b)\, \mu_i(y_b)\right), "
    r"\quad i = 1, 2, 3",
    source=Source(
        "chatzichristofis-spcd",
        deviation="after what its authors say of it in short, eight fuzzy colours and their "
        "spatial distribution in 48 numbers; which colours are joined, the bands and shares in "
        "place of levels are ours, so that numbers are not comparable with the authors' program",
    ),
    family=_COLOUR_AND_TEXTURE,
    length=48,
    range=(0.0, 1.0),
    kernel="spatial_colours",
    distance="Tanimoto",
    small="none: one pixel is enough; a side under 40 pixels has as many blocks as pixels",
    checked="unverified: no program of its authors can be read; twin only",
    kind="float32",
)

BTDH = Descriptor(
    name="BTDH",
    title="Brightness and texture directionality histogram",
    summary="For 16 areas along a Hilbert curve the shares of four fuzzy degrees of brightness "
    "and of four directions of slopes: for grey pictures such as radiographs.",
    formula=r"\frac{1}{Z}\left(\sum_{p \in a} \mu_j(g_p),\ \sum_{p \in a} "
    r"[\mathrm{direction}(p) = d]\right), \quad a = 1, \dots, 16",
    source=Source(
        "chatzichristofis-btdh",
        deviation="after what its authors say of it in short, fuzzy brightness and Tamura's "
        "directions along a Hilbert curve; degrees of brightness are spaced evenly where they "
        "were found by clustering, and the numbers of areas, degrees and directions are ours, so "
        "that numbers are not comparable with the authors' program",
    ),
    family=_COLOUR_AND_TEXTURE,
    length=128,
    range=(0.0, 1.0),
    kernel="brightness_directions",
    distance="Tanimoto",
    small="a side under 3 pixels has no directions; a side under 4 leaves areas empty",
    checked="unverified: no program of its authors can be read; twin only",
    kind="float32",
)

_COMPACT = (CEDD, COMPACT_CEDD, FCTH, COMPACT_FCTH, JCD, SPCD, BTDH)


_MPEG7 = "MPEG-7"
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
    family=_MPEG7,
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
    family=_MPEG7,
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
    family=_MPEG7,
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

_MPEG7_FAMILY = (
    EHD,
    EHD_LIRE,
    EHD_XM,
    CLD,
    CLD_LIRE,
    CLD64,
    CLD64_LIRE,
    SCD,
    SCD_LIRE,
    SCD256,
)


_COLOUR = "colour"

_RAW = "the distance is taken of the levels as they are"

RGB = Descriptor(
    name="RGBHistogram",
    title="Histogram of 64 RGB colours",
    summary="How many pixels have each of 4 x 4 x 4 colours, as levels of the largest count.",
    formula=r"\left\lfloor 255\, n_c / \max_{c'} n_{c'} \right\rfloor",
    source=Source("swain-ballard-1991"),
    family=_COLOUR,
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
    family=_COLOUR,
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
    family=_COLOUR,
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
    family=_COLOUR,
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

_HISTOGRAMS = (RGB, RGB_LIRE, HSV, OPPONENT, OPPONENT_LIRE, CORRELOGRAM, CORRELOGRAM_LIRE)


_TEXTURE = "texture and shape"


TAMURA = Descriptor(
    name="Tamura",
    title="Coarseness, contrast and directions",
    summary="The mean size of the window that shows the largest difference, the contrast, and "
    "the shares of 16 directions among the slopes that are steep enough.",
    formula=r"\overline{2^{k^*}}, \quad \sigma / \alpha_4^{1/4}, \quad h_1, \dots, h_{16}",
    source=Source("tamura-1978", deviation="16 directions in place of one number for their peaks"),
    family=_TEXTURE,
    length=18,
    range=(0.0, 128.0),
    kernel="tamura",
    distance="Tamura",
    small="edge pixels go on outside; a side under 3 pixels has no directions; flat: contrast 0",
    checked="twin only",
    shares=False,
    kind="float32",
)
TAMURA_LIRE = replace(
    TAMURA,
    name="Tamura.lire",
    title="Coarseness, contrast and directions, as in LIRE",
    summary="Of a grey in linear light at 64 pixels; directions are counts of all slopes.",
    source=Source(
        "tamura-1978",
        deviation="windows of 4 and 16 pixels only; contrast has a sum for a mean; the distance "
        "leaves out coarseness and contrast",
    ),
    range=(0.0, 4096.0),
    kernel="tamura_lire",
    distance="Tamura.lire",
    small="a side under 3 pixels: coarseness and directions 0; flat: all directions in bin 0",
    checked="LIRE 5fcd0a3: 12 pictures to 1e-6",
    kind="float64",
)

COARSENESS = replace(
    TAMURA,
    name="TamuraCoarseness",
    title="Tamura's coarseness",
    summary="The mean size of the window that shows the largest difference.",
    formula=r"\overline{2^{k^*}}",
    source=Source("tamura-1978"),
    length=1,
    distance="L1",
    small="edge pixels go on outside",
    takes=(0,),
)
CONTRAST = replace(
    TAMURA,
    name="TamuraContrast",
    title="Tamura's contrast",
    summary="The standard deviation of grey by the fourth root of its kurtosis.",
    formula=r"\sigma / \alpha_4^{1/4}",
    source=Source("tamura-1978"),
    length=1,
    distance="L1",
    small="flat: 0",
    takes=(1,),
)
DIRECTIONALITY = replace(
    TAMURA,
    name="TamuraDirectionality",
    title="Tamura's directions",
    summary="The shares of 16 directions among the slopes that are steep enough.",
    formula=r"h_1, \dots, h_{16}",
    length=16,
    range=(0.0, 1.0),
    distance="L1",
    small="a side under 3 pixels, or no steep slope: all zero",
    shares=True,
    takes=tuple(range(2, 18)),
)

LBP = Descriptor(
    name="LBP",
    title="Local binary patterns",
    summary="How often each of the 256 patterns of lighter and darker neighbours occurs.",
    formula=r"\left\lfloor 127\, n_p / \max_{p'} n_{p'} \right\rfloor, \quad "
    r"p = \sum_i 2^i [g_i \ge g]",
    source=Source("ojala-1996", deviation="levels of the largest count"),
    family=_TEXTURE,
    length=256,
    range=(0.0, 127.0),
    kernel="local_binary_patterns",
    distance="L1",
    small="a side under 3 pixels: all zero",
    checked=_LIRE,
)
LBP_LIRE = replace(
    LBP,
    name="LBP.lire",
    title="Local binary patterns, as in LIRE",
    source=Source("ojala-1996", deviation="the distance is the mean difference of the levels"),
    distance="LBP.lire",
)

PHOG = Descriptor(
    name="PHOG",
    title="Pyramid of histograms of gradients",
    summary="30 directions of edges in the picture, its quarters and its sixteenths (row by row), "
    "by the strength of the gradient.",
    formula=r"\frac{1}{Z}\sum_{x \in \text{cell}} |\nabla g(x)|\, "
    r"[\mathrm{direction}(x) \in \text{bin}]",
    source=Source(
        "bosch-2007",
        deviation="edges are the pixels that stand out along their gradient and exceed one "
        "threshold; there is no blur and no tracking",
    ),
    family=_TEXTURE,
    length=630,
    range=(0.0, 1.0),
    kernel="gradient_pyramid",
    distance="chi2",
    small="a side under 3 pixels, or flat: all zero; a side under 4 has no sixteenths",
    checked="twin only",
    kind="float32",
)
PHOG_LIRE = replace(
    PHOG,
    name="PHOG.lire",
    title="Pyramid of histograms of gradients, as in LIRE",
    summary="Of a grey in linear light; each edge pixel votes once, the nearer bin with the "
    "smaller part; sixteenths column by column; 16 levels a cell.",
    source=Source("bosch-2007", deviation="votes, thresholds and cells as the program has them"),
    range=(0.0, 15.0),
    kernel="gradient_pyramid_lire",
    distance="L1",
    checked="LIRE 5fcd0a3: 12 pictures but for 19 bins that it rounds from 15 to 14",
    shares=False,
    kind="uint8",
)

_TEXTURES = (
    TAMURA,
    COARSENESS,
    CONTRAST,
    DIRECTIONALITY,
    TAMURA_LIRE,
    LBP,
    LBP_LIRE,
    PHOG,
    PHOG_LIRE,
)

DECLARED = (*_COMPACT, *_MPEG7_FAMILY, *_HISTOGRAMS, *_TEXTURES)
