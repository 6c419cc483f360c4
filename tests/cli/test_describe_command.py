"""`cranfield describe` on folders as they are: odd names, odd modes, damaged files."""

from __future__ import annotations

import json
import os
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from cranfield.cli import main
from cranfield.features.image_folders import item_of
from cranfield.features.pictures import read_picture

GOLDEN = Path(__file__).parents[1] / "golden" / "images" / "pictures"


def sample(width: int = 40, height: int = 30, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def save(path: Path, pixels: np.ndarray, **options: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(pixels).save(path, **options)
    return path


def bomb(path: Path, side: int = 13_000) -> None:
    """A picture of 169 megapixels in some kilobytes."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", side, side, 1, 0, 0, 0, 0)
    packed = zlib.compress(bytes(side * (side // 8 + 2)), 9)
    path.write_bytes(
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", packed) + chunk(b"IEND", b"")
    )


def vectors(folder: Path, name: str) -> dict[str, np.ndarray]:
    with np.load(folder / f"{name}.npz", allow_pickle=False) as arrays:
        assert len(arrays["items"]) == len(arrays["vectors"])
        return dict(zip(arrays["items"].tolist(), arrays["vectors"], strict=True))


def describe(*args: object) -> int:
    return main(["describe", *map(str, args)])


@pytest.fixture
def messy(tmp_path: Path) -> Path:
    folder = tmp_path / "messy"
    save(folder / "good.png", sample())
    save(folder / "deep" / "er" / "good.jpg", sample(seed=2))
    save(folder / "two words.png", sample(seed=3))
    save(folder / "new\nline.png", sample(seed=4))
    (folder / "empty.jpg").write_bytes(b"")
    whole = save(folder / "cut.jpg", sample(200, 200)).read_bytes()
    (folder / "cut.jpg").write_bytes(whole[: len(whole) // 2])
    (folder / "text.png").write_text("not a picture")
    (folder / "notes.txt").write_text("left alone")
    bomb(folder / "bomb.png")
    (folder / "deep" / "up").symlink_to(folder, target_is_directory=True)
    (folder / "circle.png").symlink_to(folder / "circle.png")
    (folder / "gone.png").symlink_to(folder / "nowhere.png")
    return folder


BAD = {
    "empty.jpg": "is empty (0 bytes)",
    "cut.jpg": "is damaged (image file is truncated",
    "text.png": "is not a picture of a known format",
    "bomb.png": "above the 89 megapixels",
    "deep/up": "is a link to a folder that was read already",
    "circle.png": "",
    "gone.png": "",
}


def test_bad_pictures_are_told_once_and_the_rest_is_described(
    messy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "features"
    assert describe(messy, "-d", "CEDD", "-o", out) == 0
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["described"] == 4
    reasons = {entry["file"]: entry["reason"] for entry in manifest["skipped"]}
    assert set(reasons) == set(BAD)
    for file, reason in BAD.items():
        assert reason in reasons[file]
    assert set(vectors(out, "CEDD")) == {"good", "deep/er/good", "two%20words", "new%0Aline"}
    printed = capsys.readouterr().out
    for file in BAD:
        assert printed.count(file) == 1


def test_strict_is_an_error_and_writes_nothing(
    messy: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "features"
    assert describe(messy, "-d", "CEDD", "-o", out, "--strict") == 2
    assert list(out.iterdir()) == []
    said = capsys.readouterr().err
    assert all(file in said for file in BAD)


def test_a_second_time_only_what_changed_is_described(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out = tmp_path / "pictures", tmp_path / "features"
    for i in range(5):
        save(folder / f"{i}.png", sample(seed=i))

    def again(names: str = "CEDD EHD") -> dict[str, int]:
        capsys.readouterr()
        assert describe(folder, "-d", names, "-o", out, "--format", "json") == 0
        found = json.loads(capsys.readouterr().out)
        return {key: found[key] for key in ("described", "computed", "dropped")}

    assert again() == {"described": 5, "computed": 5, "dropped": 0}
    before = (out / "CEDD.npz").stat().st_mtime_ns
    assert again() == {"described": 5, "computed": 0, "dropped": 0}
    assert (out / "CEDD.npz").stat().st_mtime_ns == before
    save(folder / "2.png", sample(41, 30, seed=9))
    (folder / "4.png").unlink()
    save(folder / "5.png", sample(seed=5))
    assert again() == {"described": 5, "computed": 2, "dropped": 1}
    # A further descriptor is made of all; what there is of the others stays.
    assert again("CEDD EHD LBP") == {"described": 5, "computed": 5, "dropped": 0}
    fresh = tmp_path / "fresh"
    assert describe(folder, "-d", "CEDD EHD LBP", "-o", fresh) == 0
    for name in ("CEDD", "EHD", "LBP"):
        assert (out / f"{name}.npz").read_bytes() == (fresh / f"{name}.npz").read_bytes()


def test_a_file_that_is_damaged_is_made_again(tmp_path: Path) -> None:
    save(tmp_path / "in" / "a.png", sample())
    assert describe(tmp_path / "in", "-d", "CEDD", "-o", tmp_path / "out") == 0
    kept = (tmp_path / "out" / "CEDD.npz").read_bytes()
    (tmp_path / "out" / "CEDD.npz").write_bytes(kept[:100])
    assert describe(tmp_path / "in", "-d", "CEDD", "-o", tmp_path / "out") == 0
    assert (tmp_path / "out" / "CEDD.npz").read_bytes() == kept


def test_jobs_change_no_byte(tmp_path: Path) -> None:
    for jobs in ("1", "2"):
        assert describe(GOLDEN, "-d", "all", "-o", tmp_path / jobs, "--jobs", jobs) == 0
    files = sorted(p.name for p in (tmp_path / "1").glob("*.npz"))
    assert len(files) > 12
    for file in files:
        assert (tmp_path / "1" / file).read_bytes() == (tmp_path / "2" / file).read_bytes()


def test_lossless_formats_are_one(tmp_path: Path) -> None:
    for ending in ("png", "bmp", "tiff", "ppm", "webp"):
        save(tmp_path / f"a.{ending}", sample(), **({"lossless": True} if ending == "webp" else {}))
        np.testing.assert_array_equal(read_picture(tmp_path / f"a.{ending}").pixels, sample())


def test_two_files_with_one_id(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save(tmp_path / "in" / "a.png", sample())
    save(tmp_path / "in" / "a.jpg", sample())
    assert describe(tmp_path / "in", "-d", "CEDD", "-o", tmp_path / "out") == 2
    assert "'a.jpg' and 'a.png' have one id 'a'" in capsys.readouterr().err


def test_a_list_of_files(tmp_path: Path) -> None:
    for name in ("one", "two", "three"):
        save(tmp_path / "in" / f"{name}.png", sample())
    (tmp_path / "list.txt").write_text("in/one.png\nin/three.png\nin/four.png\n")
    out = tmp_path / "out"
    assert describe(tmp_path / "list.txt", "-d", "CEDD", "-o", out) == 0
    assert set(vectors(out, "CEDD")) == {"in/one", "in/three"}
    [skipped] = json.loads((out / "manifest.json").read_text())["skipped"]
    assert skipped["file"] == "in/four.png"


def test_a_folder_without_pictures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "in").mkdir()
    assert describe(tmp_path / "in", "-d", "CEDD", "-o", tmp_path / "out") == 2
    assert "holds no pictures" in capsys.readouterr().err
    assert describe(tmp_path / "nowhere", "-d", "CEDD", "-o", tmp_path / "out") == 2


def test_ids_break_no_line() -> None:
    assert item_of("a b\tc%d.png") == "a%20b%09c%25d"
    assert item_of("grün/été.jpeg") == "grün/été"
    assert item_of(os.fsdecode(b"odd\xff.png")) == "odd%FF"


# Modes: what each picture must come out as.


def pixels_of(path: Path) -> np.ndarray:
    return read_picture(path).pixels


def test_a_turned_picture_is_turned_back(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera lay on its side: a quarter turn clockwise
    Image.fromarray(sample()).save(tmp_path / "a.png", exif=exif)
    np.testing.assert_array_equal(pixels_of(tmp_path / "a.png"), np.rot90(sample(), -1))


def test_transparency_lies_over_white(tmp_path: Path) -> None:
    image = Image.fromarray(sample()).convert("RGBA")
    image.putalpha(0)
    image.save(tmp_path / "clear.png")
    assert (pixels_of(tmp_path / "clear.png") == 255).all()
    image.putalpha(255)
    image.save(tmp_path / "full.png")
    np.testing.assert_array_equal(pixels_of(tmp_path / "full.png"), sample())
    grey = Image.new("LA", (4, 4), (0, 128))
    grey.save(tmp_path / "half.png")
    assert pixels_of(tmp_path / "half.png").tolist() == np.full((4, 4, 3), 127).tolist()


def test_palettes_and_a_transparent_entry(tmp_path: Path) -> None:
    image = Image.new("P", (4, 2))
    image.putpalette([255, 0, 0, 0, 0, 255])
    image.putdata([0, 0, 1, 1, 0, 0, 1, 1])
    image.save(tmp_path / "plain.png")
    assert pixels_of(tmp_path / "plain.png")[0].tolist() == [[255, 0, 0]] * 2 + [[0, 0, 255]] * 2
    image.save(tmp_path / "clear.gif", transparency=0)
    assert pixels_of(tmp_path / "clear.gif")[0, 0].tolist() == [255, 255, 255]
    assert pixels_of(tmp_path / "clear.gif")[0, 3].tolist() == [0, 0, 255]


def test_cmyk(tmp_path: Path) -> None:
    Image.new("CMYK", (16, 16), (255, 0, 0, 0)).save(tmp_path / "cyan.tiff")
    assert pixels_of(tmp_path / "cyan.tiff")[3, 3].tolist() == [0, 255, 255]
    Image.new("CMYK", (16, 16), (0, 255, 0, 0)).save(tmp_path / "magenta.jpg", quality=95)
    r, g, b = pixels_of(tmp_path / "magenta.jpg")[3, 3].tolist()
    assert r > 240
    assert g < 15
    assert b > 240


def test_sixteen_bits_keep_their_upper_half(tmp_path: Path) -> None:
    deep = (np.arange(16, dtype=np.uint16).reshape(4, 4) * 4096) + 255
    Image.fromarray(deep).save(tmp_path / "deep.png")
    np.testing.assert_array_equal(pixels_of(tmp_path / "deep.png")[:, :, 1], deep >> 8)
    Image.fromarray(deep).save(tmp_path / "deep.tiff")
    np.testing.assert_array_equal(pixels_of(tmp_path / "deep.tiff")[:, :, 1], deep >> 8)


def test_floating_point_pixels_are_left_out(tmp_path: Path) -> None:
    Image.fromarray(np.ones((4, 4), dtype=np.float32)).save(tmp_path / "in.tiff")
    (tmp_path / "in").mkdir()
    (tmp_path / "in.tiff").rename(tmp_path / "in" / "a.tiff")
    assert describe(tmp_path / "in", "-d", "CEDD", "-o", tmp_path / "out") == 0
    [skipped] = json.loads((tmp_path / "out" / "manifest.json").read_text())["skipped"]
    assert "32 bits" in skipped["reason"]


def test_the_first_picture_of_an_animation(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (8, 8), colour) for colour in ("red", "blue")]
    frames[0].save(tmp_path / "a.gif", save_all=True, append_images=frames[1:])
    assert pixels_of(tmp_path / "a.gif")[0, 0].tolist() == [255, 0, 0]


def test_tags_and_exif_are_vectors_too(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[33434] = 0.125
    exif[306] = "2011:07:01 12:00:00"
    folder, out = tmp_path / "in", tmp_path / "out"
    folder.mkdir()
    Image.fromarray(sample()).save(folder / "a.png", exif=exif)
    save(folder / "b.png", sample(seed=2))
    (tmp_path / "tags.csv").write_text("item,tags\na,sea sky\nb.png,sea\nc,sky\n")
    tags = tmp_path / "tags.csv"
    assert describe(folder, "-d", "CEDD", "-o", out, "--tags", tags, "--exif") == 0
    assert {k: v.tolist() for k, v in vectors(out, "tags").items()} == {"a": [1, 1], "b": [1, 0]}
    # Every picture shows the sea: that tag says nothing.
    found = vectors(out, "tags.tfidf")
    assert found["a"].tolist() == [0, 1]
    assert found["b"].tolist() == [0, 0]
    with np.load(out / "tags.npz") as arrays:
        assert arrays["terms"].tolist() == ["sea", "sky"]
    taken = vectors(out, "EXIF")
    assert taken["a"][0] == -3
    assert taken["a"][4:8].tolist() == [1, 0, 0, 0]
    assert taken["a"][10] == -1  # noon is at the bottom of the clock
    assert taken["b"][:13].tolist() == [0] * 13


def test_without_pillow_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import sys

    save(tmp_path / "in" / "a.png", sample())
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    assert describe(tmp_path / "in", "-d", "CEDD", "-o", tmp_path / "out") == 2
    assert "cranfield[images]" in capsys.readouterr().err


def test_of_thousands_of_pictures_that_have_not_changed_none_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, out = tmp_path / "in", tmp_path / "out"
    first = save(folder / "0.png", np.zeros((2, 2, 3), dtype=np.uint8))
    for i in range(1, 3_000):
        os.link(first, folder / f"{i}.png")
    assert describe(folder, "-d", "CEDD", "-o", out, "--quiet") == 0
    opened = []
    real = Image.open

    def counted(*args: Any, **options: Any) -> Image.Image:
        opened.append(args)
        return real(*args, **options)

    monkeypatch.setattr(Image, "open", counted)
    assert describe(folder, "-d", "CEDD", "-o", out, "--quiet") == 0
    assert opened == []
    (folder / "0.png").unlink()
    save(folder / "0.png", np.ones((3, 3, 3), dtype=np.uint8))
    assert describe(folder, "-d", "CEDD", "-o", out, "--quiet") == 0
    assert len(opened) == 1
