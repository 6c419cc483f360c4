"""The colours, dashes and markers of every chart and page: one place, light and dark.

Style sheets get them as custom properties (`--ink`, `--s0`, `--h7`), drawings as classes
(`f-ink` fills, `k-ink` strokes), Vega-Lite as values.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from functools import cache
from typing import Literal, TypeAlias

Theme: TypeAlias = Literal["light", "dark"]
# A series by its number, or a role by its name.
Style: TypeAlias = int | str

# After Okabe and Ito: told apart by everyone, each at least 3 to 1 against its paper.
HUES: dict[Theme, tuple[str, ...]] = {
    "light": (
        "#0072b2",
        "#d55e00",
        "#009e73",
        "#c0619a",
        "#a67c00",
        "#3b94cc",
        "#7a5195",
        "#737373",
    ),
    "dark": (
        "#4da8e0",
        "#ff8a3d",
        "#2ec79a",
        "#e39cc6",
        "#dcb83a",
        "#8fd0f5",
        "#b596d3",
        "#b0b0b0",
    ),
}
ROLES: dict[Theme, dict[str, str]] = {
    "light": {
        "ink": "#1c1f23",
        "quiet": "#59616b",
        "paper": "#ffffff",
        "panel": "#f6f7f9",
        "line": "#d5d9df",
        "accent": "#0072b2",
        "good": "#0072b2",
        "bad": "#b34700",
        "shade": "#ddeffa",
        "group": "#56b4e9",
    },
    "dark": {
        "ink": "#e8eaed",
        "quiet": "#aab2bd",
        "paper": "#16181c",
        "panel": "#1f2329",
        "line": "#3a4048",
        "accent": "#6cc0ff",
        "good": "#6cc0ff",
        "bad": "#ff9d5c",
        "shade": "#20384a",
        "group": "#3d8fc0",
    },
}
# With eight hues: more than sixty lines and as many kinds of dots that differ.
DASHES = ("", "7 3", "2 3", "9 3 2 3", "4 2", "12 4", "16 3 6 3", "9 2 2 2 2 2")
MARKERS = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "cross",
    "triangle-down",
    "triangle-left",
    "triangle-right",
)
# Numbers as colours: from nothing to much, and from worse over equal to better.
HEAT_ENDS: dict[Theme, tuple[str, str]] = {
    "light": ("#f7fbff", "#08306b"),
    "dark": ("#20262e", "#b9e0ff"),
}
GAP_ENDS: dict[Theme, tuple[str, str, str]] = {
    "light": ("#b34700", "#fafafa", "#005f96"),
    "dark": ("#ff9d5c", "#262b31", "#6cc0ff"),
}
STEPS = {"heat": 16, "gap": 15}
_LETTER = {"heat": "h", "gap": "g"}


def dash(series: int) -> str:
    """The dash pattern of a line, as SVG writes it."""
    return DASHES[series // len(HUES["light"]) % len(DASHES)]


def marker(series: int) -> str:
    """The shape of a dot; it differs from its neighbours in hue and from its namesakes in hue."""
    hues = len(HUES["light"])
    return MARKERS[(series + series // hues) % len(MARKERS)]


def colour_class(style: Style) -> str:
    """The name of a style in classes and properties: "s3", "ink"."""
    return f"s{style % len(HUES['light'])}" if isinstance(style, int) else style


def colour(style: Style, theme: Theme = "light") -> str:
    """The colour of a series, a role, or a step ("h3", "g7")."""
    if isinstance(style, int):
        return HUES[theme][style % len(HUES[theme])]
    return ROLES[theme].get(style) or properties(theme)[style]


def step(share: float, ramp: str) -> str:
    """The class of the step on a ramp for a share: 0 to 1 of "heat", -1 to 1 of "gap"."""
    count = STEPS[ramp]
    where = share if ramp == "heat" else (share + 1) / 2
    return f"{_LETTER[ramp]}{min(max(int(where * count), 0), count - 1)}"


def ramp_colours(ramp: str, theme: Theme = "light") -> list[str]:
    """The steps of a ramp, from low to high."""
    count = STEPS[ramp]
    if ramp == "heat":
        low, high = HEAT_ENDS[theme]
        return [_mixed(low, high, k / (count - 1)) for k in range(count)]
    bad, middle, good = GAP_ENDS[theme]
    shares = [2 * k / (count - 1) - 1 for k in range(count)]
    return [_mixed(middle, good if s > 0 else bad, abs(s)) for s in shares]


@cache
def properties(theme: Theme) -> dict[str, str]:
    """Every colour of a theme by the name of its custom property, without the dashes.

    A step has a second one for text on it: "h3t".
    """
    found = dict(ROLES[theme])
    found |= {f"s{k}": hue for k, hue in enumerate(HUES[theme])}
    for ramp, letter in _LETTER.items():
        for k, fill in enumerate(ramp_colours(ramp, theme)):
            found[f"{letter}{k}"] = fill
            black_or_white = sorted(("#000000", "#ffffff"), key=lambda ink: contrast(ink, fill))
            found[f"{letter}{k}t"] = black_or_white[-1]
    return found


def css_properties(only: Collection[str] | None = None, root: str = ":root") -> str:
    """The custom properties as a style sheet, dark where the reader's screen is; print is light."""

    def block(theme: Theme) -> str:
        own = properties(theme)
        chosen = {k: v for k, v in own.items() if only is None or k in only}
        return f"{root}{{{';'.join(f'--{k}:{v}' for k, v in chosen.items())}}}"

    return f"{block('light')}@media screen and (prefers-color-scheme:dark){{{block('dark')}}}"


def css_classes(only: Collection[str] | None = None) -> str:
    """Rules by which drawings take their colours from the properties."""
    rules: Iterator[tuple[str, str]] = (
        (kind, name) for name in properties("light") for kind in ("f", "k")
    )
    return "".join(
        f".{kind}-{name}{{{'fill' if kind == 'f' else 'stroke'}:var(--{name})}}"
        for kind, name in rules
        if only is None or f"{kind}-{name}" in only
    )


def contrast(first: str, second: str) -> float:
    """The contrast ratio of two colours as accessibility guidelines define it: 1 to 21."""
    lighter, darker = sorted((_luminance(first), _luminance(second)), reverse=True)
    return (lighter + 0.05) / (darker + 0.05)


def _channels(colour: str) -> list[int]:
    return [int(colour[k : k + 2], 16) for k in (1, 3, 5)]


def _mixed(start: str, end: str, share: float) -> str:
    pairs = zip(_channels(start), _channels(end), strict=True)
    return "#" + "".join(f"{round(a + (b - a) * share):02x}" for a, b in pairs)


def _luminance(colour: str) -> float:
    shares = [c / 255 for c in _channels(colour)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))
