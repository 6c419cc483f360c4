"""Ways to damage a file: of its bytes, its lines and its fields; and files that are none."""

from __future__ import annotations

import gzip
import os
import random
import re
import shutil
from collections.abc import Callable
from pathlib import Path

from benchmarks.fuzz.restructured import restructured

Mutation = Callable[[bytes, random.Random], bytes]

NUMBERS = [
    *("nan", "-nan", "inf", "-inf", "1e999", "-1e999", "1e308", "-1e308", "1e-320", "-0", "0x10"),
    *("1_000", "٣", "", " ", "x", "-1", "1.5", "9" * 400, "1" * 5000, "NaN", "None", "TRUE", "1,5"),
    *("9007199254740993", "18446744073709551616", "1e5", "+1", "1.", ".5", "--1", "1e", "∞"),
]
TEXTS = [
    *(
        "",
        " ",
        "#",
        "#x",
        "\t",
        '"',
        "'",
        ",",
        ";",
        "=1+1",
        "@x",
        "-1",
        "a b",
        "é",
        "日本",
        "\x1b[31m",
    ),
    *(
        "\ufeff",
        "\u202e",
        "a" * 300,
        "a" * 70_000,
        "../x",
        "/etc/passwd",
        "nan",
        "i1.jpg",
        "t1",
        "\0",
    ),
    *(
        "\r",
        "\x85",
        "\u2028",
        "item",
        "concept",
        "topic",
        "%s",
        "{}",
        "$(x)",
        "<script>",
        "\\",
        "\x7f",
    ),
]


def truncated(data: bytes, rng: random.Random) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def flipped(data: bytes, rng: random.Random) -> bytes:
    changed = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 8, 64])):
        if changed:
            changed[rng.randrange(len(changed))] = rng.randrange(256)
    return bytes(changed)


def inserted(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + rng.randbytes(rng.choice([1, 3, 50, 5000])) + data[at:]


def removed(data: bytes, rng: random.Random) -> bytes:
    at = rng.randrange(len(data) + 1)
    return data[:at] + data[at + rng.choice([1, 2, 20, 200]) :]


def spliced(data: bytes, rng: random.Random) -> bytes:
    a, b = sorted(rng.randrange(len(data) + 1) for _ in range(2))
    return data[:a] + data[a:b] * rng.choice([0, 2, 3, 40]) + data[b:]


def lines_moved(data: bytes, rng: random.Random) -> bytes:
    lines = data.split(b"\n")
    rng.shuffle(lines)
    return b"\n".join(lines + lines[: rng.choice([0, 1, 5])])


def first_line_only(data: bytes, _: random.Random) -> bytes:
    return data.split(b"\n", 1)[0] + b"\n"


def without_first_line(data: bytes, _: random.Random) -> bytes:
    return data.partition(b"\n")[2]


def other_line_ends(data: bytes, rng: random.Random) -> bytes:
    return data.replace(b"\n", rng.choice([b"\r\n", b"\r", b"\n\n", b"\0\n", b"\x0b"]))


def marked(data: bytes, rng: random.Random) -> bytes:
    return rng.choice([b"\xef\xbb\xbf", b"\xff\xfe", b"\n\n", b"# note\n", b"\0"]) + data


def _fields(data: bytes, rng: random.Random, pattern: bytes, texts: list[str]) -> bytes:
    spans = [m.span() for m in re.finditer(pattern, data[:200_000])]
    for a, b in sorted(rng.sample(spans, min(len(spans), rng.choice([1, 1, 2, 10]))), reverse=True):
        data = data[:a] + rng.choice(texts).encode("utf-8", "surrogatepass") + data[b:]
    return data


def odd_number(data: bytes, rng: random.Random) -> bytes:
    return _fields(data, rng, rb"-?\d+(?:\.\d+)?", NUMBERS)


def odd_text(data: bytes, rng: random.Random) -> bytes:
    return _fields(data, rng, rb"[A-Za-z][\w.]*", TEXTS)


def separators(data: bytes, rng: random.Random) -> bytes:
    return _fields(data, rng, rb"[,\t :{}\[\]]", [",", "\t", " ", ";", "", ",,", '"', "[" * 2000])


def long_line(data: bytes, rng: random.Random) -> bytes:
    return data + b"x" * rng.choice([70_000, 200_000, 2_000_000])


def wide(data: bytes, rng: random.Random) -> bytes:
    head, _, rest = data.partition(b"\n")
    more = b",".join(b"c%d" % i for i in range(rng.choice([100, 5_000, 40_000])))
    return head + b"," + more + b"\n" + rest


def emptied(_: bytes, rng: random.Random) -> bytes:
    return rng.choice([b"", b"\n", b" ", b"{}", b"[]", b"null", b'""', b"PK\x03\x04", b"PAR1PAR1"])


def repacked(data: bytes, rng: random.Random) -> bytes:
    packed = gzip.compress(data)
    return rng.choice([packed, packed[: len(packed) // 2], packed + b"x", flipped(packed, rng)])


def untouched(data: bytes, _: random.Random) -> bytes:
    return data


MUTATIONS: list[Mutation] = [
    *(truncated, flipped, inserted, removed, spliced, lines_moved, first_line_only),
    *(without_first_line, other_line_ends, marked, odd_number, odd_number, odd_text, odd_text),
    *(separators, long_line, wide, emptied, repacked, untouched),
]
# Formats that are packed or nested: their bytes say little, what is in them more.
STRUCTURED = (b"PK\x03\x04", b"\x93NUMPY", b"PAR1", b"{", b"[", b"\x89PNG", b"<?xml")


def mutated(data: bytes, rng: random.Random) -> bytes:
    """A file damaged in one way."""
    if data.startswith(STRUCTURED) and rng.random() < 0.6:
        return restructured(data, rng)
    return rng.choice(MUTATIONS)(data, rng)


def special_file(folder: Path, name: str, rng: random.Random, *, process: bool) -> Path:
    """A path that is no ordinary file, or one with a name that is not ordinary."""
    kinds = [*SPECIAL, *(("pipe",) if process else ())]
    kind = rng.choice(kinds)
    suffix = "".join(Path(name).suffixes)
    odd = folder / f"{kind}-{rng.randrange(10**9)}{suffix}"
    if kind == "null":
        return Path("/dev/null")
    if kind == "folder":
        return folder
    if kind == "missing":
        return folder / "missing" / name
    if kind == "zero":
        odd.symlink_to("/dev/zero")
    elif kind == "loop":
        odd.symlink_to(odd)
    elif kind == "unreadable":
        # Of root this can be read all the same: nothing is lost then.
        odd.write_bytes((folder / name).read_bytes() if (folder / name).is_file() else b"")
        odd.chmod(0)
    elif kind == "memory":
        return Path("/proc/self/mem")
    elif kind == "pipe":
        os.mkfifo(odd)
    elif kind == "long name":
        return Path("n" * rng.choice([250, 300, 5000]) + suffix)
    else:
        strange = rng.choice(STRANGE)
        odd = folder / f"{strange}{rng.randrange(10**6)}{suffix}"
        if (folder / name).is_dir():
            shutil.copytree(folder / name, odd)
        else:
            shutil.copy(folder / name, odd)
    return odd


SPECIAL = [
    *("null", "zero", "folder", "missing", "loop", "long name", "unreadable", "memory"),
    *("strange name", "strange name"),
]
STRANGE = [os.fsdecode(b"\xff\xfe"), "\x1b[31m", "a\nb", "日本", "-x", "a b", "=c", "%"]
