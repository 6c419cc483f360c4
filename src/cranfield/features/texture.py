"""Texture and shape: Tamura, local binary patterns, pyramids of gradients."""

from __future__ import annotations

from dataclasses import replace

from cranfield.features._spec import Descriptor, Source

FAMILY = "texture and shape"
_LIRE = "LIRE 5fcd0a3: every bin of 12 pictures"

TAMURA = Descriptor(
    name="Tamura",
    title="Coarseness, contrast and directions",
    summary="The mean size of the window that shows the largest difference, the contrast, and "
    "the shares of 16 directions among the slopes that are steep enough.",
    formula=r"\overline{2^{k^*}}, \quad \sigma / \alpha_4^{1/4}, \quad h_1, \dots, h_{16}",
    source=Source("tamura-1978", deviation="16 directions in place of one number for their peaks"),
    family=FAMILY,
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

LBP = Descriptor(
    name="LBP",
    title="Local binary patterns",
    summary="How often each of the 256 patterns of lighter and darker neighbours occurs.",
    formula=r"\left\lfloor 127\, n_p / \max_{p'} n_{p'} \right\rfloor, \quad "
    r"p = \sum_i 2^i [g_i \ge g]",
    source=Source("ojala-1996", deviation="levels of the largest count"),
    family=FAMILY,
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
    family=FAMILY,
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

DECLARED = (TAMURA, TAMURA_LIRE, LBP, LBP_LIRE, PHOG, PHOG_LIRE)
