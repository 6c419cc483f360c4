"""Judgements, tags and near-duplicates of the tiles in samples/photos; run it to write them again.

python -m scripts.photos.make
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image, ImageFilter

FOLDER = Path(__file__).resolve().parents[2] / "src" / "cranfield" / "samples" / "photos"
SEED = 20
# What people might have tagged the photographs with.
TAGS = {
    "astronaut": "person portrait space orange",
    "brick": "wall texture grey",
    "camera": "person camera outdoors grey",
    "cell": "microscope science grey",
    "chelsea": "cat animal fur orange",
    "clock_motion": "clock indoors blur grey",
    "coffee": "cup drink table brown",
    "grass": "plant texture outdoors grey",
    "gravel": "stone texture outdoors grey",
    "hubble_deep_field": "space stars night science",
    "retina": "eye science orange",
    "rocket": "space launch sky outdoors",
}
# How a near-duplicate differs from its tile.
CHANGES = ("crop", "turn", "blur", "compress")


def photograph(item: str) -> str:
    return item.rpartition("_")[0]


def items() -> list[str]:
    return sorted(path.stem for path in (FOLDER / "pictures").glob("*.jpg"))


def judgements() -> str:
    """The other tiles of the same photograph are relevant."""
    lines = [
        f"{topic} 0 {item} 1\n"
        for topic in items()
        for item in items()
        if topic != item and photograph(topic) == photograph(item)
    ]
    return "".join(lines)


def tags() -> str:
    """Each tag of its photograph with probability 0.6, and any other one with 0.02."""
    rng = np.random.default_rng(SEED)
    every = sorted({tag for known in TAGS.values() for tag in known.split()})
    lines = ["item,tags\n"]
    for item in items():
        known = TAGS[photograph(item)].split()
        drawn = [t for t in every if rng.random() < (0.6 if t in known else 0.02)]
        if drawn:
            lines.append(f"{item},{' '.join(drawn)}\n")
    return "".join(lines)


def near_topics() -> list[str]:
    """The first tile of each photograph."""
    first: dict[str, str] = {}
    for item in items():
        first.setdefault(photograph(item), item)
    return list(first.values())


def near_judgements() -> str:
    """To each changed copy as topic, the tile that it was made from is relevant."""
    return "".join(f"{t}_{change} 0 {t} 1\n" for t in near_topics() for change in CHANGES)


def changed(tile: Image.Image, change: str) -> Image.Image:
    if change == "crop":
        return tile.crop((8, 8, 88, 88))
    if change == "turn":
        return tile.transpose(Image.Transpose.ROTATE_90)
    return tile.filter(ImageFilter.GaussianBlur(1.5)) if change == "blur" else tile


def write_near() -> None:
    target = FOLDER / "near"
    target.mkdir(exist_ok=True)
    for item in near_topics():
        with Image.open(FOLDER / "pictures" / f"{item}.jpg") as tile:
            for change in CHANGES:
                quality = 20 if change == "compress" else 90
                made = changed(tile.convert("RGB"), change)
                made.save(target / f"{item}_{change}.jpg", quality=quality)


def texts() -> dict[str, str]:
    return {
        "qrels.txt": judgements(),
        "tags.csv": tags(),
        "near-qrels.txt": near_judgements(),
    }


def main() -> None:
    write_near()
    for name, text in texts().items():
        (FOLDER / name).write_text(text)


if __name__ == "__main__":
    main()
