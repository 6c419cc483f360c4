"""Malformed input ends with exit code 2 and a message that names the place and what to do."""

from __future__ import annotations

import gzip
import io
import os
import sys
import threading

import pytest

from cranfield.cli import main
from tests.cli.bench import QRELS, QRELS_SHAPE, RUN, RUN_SHAPE, Bench

BAD_RUNS: dict[str, tuple[str | bytes, str]] = {
    "short line": (
        "1 Q0 a 1 2 r\n1 Q0 b\n",
        f"bad:2: too few fields in '1 Q0 b' (expected: {RUN_SHAPE})",
    ),
    "extra field": (
        "1 Q0 a 1 2 r x y\n",
        f"bad:1: unexpected extra field 'x' (expected: {RUN_SHAPE})",
    ),
    "score abc": (
        "\n# a comment\n1 Q0 a 1 abc r\n",
        f"bad:3: score 'abc' is not a number (expected: {RUN_SHAPE})",
    ),
    "hexadecimal score": (
        "1 Q0 a 1 0x10 r\n",
        f"bad:1: score '0x10' is not a number (expected: {RUN_SHAPE})",
    ),
    "score NaN": (
        "1 Q0 a 1 NaN r\n",
        "bad:1: score 'NaN' is not a finite number; no item can be ranked by it",
    ),
    "score minus nan": (
        "1 Q0 a 1 2 r\n1 Q0 b 2 -nan r\n",
        "bad:2: score '-nan' is not a finite number; no item can be ranked by it",
    ),
    "control character": (
        "1 Q0 a\x01b 1 2 r\n",
        "bad:1: binary data in '1 Q0 a\\x01b 1 2 r'; is this a text file?",
    ),
    "duplicate item": (
        "1 Q0 a 1 2 r\n1 Q0 b 2 2 r\n1 Q0 a 3 1 r\n",
        "bad:3: item 'a' is listed twice for topic '1', first on line 1; keep one of them",
    ),
    "duplicate item where nothing is judged": (
        "1 Q0 a 1 2 r\n9 Q0 b 1 2 r\n9 Q0 b 2 1 r\n",
        "bad:3: item 'b' is listed twice for topic '9', first on line 2; keep one of them",
    ),
    "not UTF-8": (
        b"1 Q0 a 1 2 r\n1 Q0 \xff\xfe 2 1 r\n",
        "bad:2: '��' is not UTF-8 text; convert the file, for example with iconv",
    ),
    "empty": ("", f"bad: is empty: no retrieved items found (expected lines: {RUN_SHAPE})"),
    "comments only": (
        "# nothing\n\n",
        f"bad: is empty: no retrieved items found (expected lines: {RUN_SHAPE})",
    ),
    "no overlap": (
        "8 Q0 a 1 2 r\n9 Q0 a 1 2 r\n",
        "bad: none of its topics (8, 9) is judged (judged: 1, 2); do run and judgements belong "
        "together?",
    ),
    "zeros at the end": (
        b"1 Q0 a 1 2 r\n\0\0\0",
        r"bad:2: binary data in '\x00\x00\x00'; is this a text file?",
    ),
    "only zeros": (
        b"\0" * 5,
        r"bad:1: binary data in '\x00\x00\x00\x00\x00'; is this a text file?",
    ),
    "gzip without the ending": (
        gzip.compress(RUN.encode(), mtime=0),
        "bad: holds .gz data; give it a name that ends in .gz",
    ),
}


@pytest.mark.parametrize("case", BAD_RUNS)
def test_bad_runs(case: str, bench: Bench) -> None:
    content, message = BAD_RUNS[case]
    assert bench.refused("qrels", bench.write("bad", content)) == message


@pytest.mark.parametrize("case", sorted(set(BAD_RUNS) - {"gzip without the ending"}))
def test_bad_runs_are_as_bad_in_gz_and_on_standard_input(
    case: str, bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    content, message = BAD_RUNS[case]
    data = content.encode() if isinstance(content, str) else content
    packed = bench.refused("qrels", bench.write("bad.gz", gzip.compress(data)))
    assert packed == message.replace("bad", "bad.gz", 1)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(data)))
    assert bench.refused("qrels", "-") == message.replace("bad", "<stdin>", 1)


BAD_QRELS: dict[str, tuple[str | bytes, str]] = {
    "short line": ("1 0 a\n", f"bad:1: too few fields in '1 0 a' (expected: {QRELS_SHAPE})"),
    "extra field": (
        "1 0 a 1\n1 0 b 1 9\n",
        f"bad:2: unexpected extra field '9' (expected: {QRELS_SHAPE})",
    ),
    "grade x": ("1 0 a x\n", f"bad:1: grade 'x' is not a number (expected: {QRELS_SHAPE})"),
    "two grades": (
        "1 0 a 1\n1 0 b 1\n1 0 a 2\n",
        "bad:3: item 'a' has another grade for topic '1' on line 1; keep one",
    ),
    "empty": ("", f"bad: is empty: no judgements found (expected lines: {QRELS_SHAPE})"),
}


@pytest.mark.parametrize("case", BAD_QRELS)
def test_bad_judgements(case: str, bench: Bench) -> None:
    content, message = BAD_QRELS[case]
    assert bench.refused(bench.write("bad", content), "run") == message


def test_the_first_twenty_problems_and_their_count(bench: Bench) -> None:
    lines = bench.refused("qrels", bench.write("bad", "1 Q0 a\n" * 5000)).splitlines()
    assert [line.split(":")[1] for line in lines[:20]] == [str(n) for n in range(1, 21)]
    assert lines[20:] == ["... and 4980 more problems (5000 in all)"]


def test_lines_are_counted_across_chunks(bench: Bench) -> None:
    lines = [f"{t} Q0 item{i} 0 {i} r\n" for t in range(1, 900) for i in range(100)]
    assert sum(map(len, lines)) > 1 << 20
    lines[85_000] = "850 Q0 broken\n"
    lines[89_850] = "899 Q0 item3 0 1 r\n"
    bad = bench.write("bad", "".join(lines))
    bench.write("qrels", "".join(f"{t} 0 item1 1\n" for t in range(1, 900)))
    duplicate = "bad:89851: item 'item3' is listed twice for topic '899', first on line 89804; "
    for jobs in ("1", "2"):
        assert bench.refused("qrels", bad, "--jobs", jobs).splitlines() == [
            f"bad:85001: too few fields in '850 Q0 broken' (expected: {RUN_SHAPE})",
            duplicate + "keep one of them",
        ]


def test_whole_and_other_grades_are_accepted(bench: Bench) -> None:
    out, err = bench.accepted(bench.write("fractions", "1 0 a 1.5\n1 0 b 0.5\n2 0 a 1e0\n"), "run")
    assert out.splitlines()[1] == "run,1.0,3.0,2"
    assert err == ""


def test_equal_judgements_are_warned_of_and_counted_once(bench: Bench) -> None:
    twice = bench.write("twice", "1 0 a 1\n1 0 b 0\n1 0 a 1\n2 0 a 1\n2 0 a 1\n")
    out, err = bench.accepted(twice, "run")
    assert out.splitlines()[1] == "run,1.0,3.0,2"
    assert err == (
        "warning: twice:3: item 'a' is judged twice for topic '1', with the same grade on line 1; "
        "the repetition is ignored, and 1 more such line\n"
    )
    assert bench.accepted(twice, "run", "--quiet")[1] == ""


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbf" + RUN.encode(),
        RUN.replace("\n", "\r\n").encode(),
        RUN.rstrip("\n").encode(),
        RUN.replace(" ", " \t  ").encode(),
        b"# comment\n\n   \n" + RUN.replace("\n", "\n\n# another\n").encode(),
        RUN.replace(" r\n", "   r  \t\n").encode(),
        RUN.replace("1 Q0", "  1 Q0").encode(),
    ],
    ids=["BOM", "CRLF", "no newline", "tabs", "comments", "trailing blanks", "leading blanks"],
)
def test_harmless_differences_change_nothing(content: bytes, bench: Bench) -> None:
    bench.write("run", content)
    for name, data in (("run", content), ("run.gz", gzip.compress(content))):
        bench.write(name, data)
        assert bench.accepted("qrels", name) == ("run,AP,NumRet,topics\nrun,1.0,3.0,2\n", "")
    bench.write("qrels", b"\xef\xbb\xbf# x\n" + QRELS.replace("\n", "\r\n").encode().rstrip())
    assert bench.accepted("qrels", "run")[0].splitlines()[1] == "run,1.0,3.0,2"


def test_missing_and_unjudged_topics_are_told(bench: Bench) -> None:
    part = bench.write("part", "1 Q0 a 1 2 r\n9 Q0 a 1 2 r\n")
    out, err = bench.accepted("qrels", part)
    assert out.splitlines()[1] == "part,0.5,1.0,2"
    assert err.splitlines() == [
        "warning: part: misses 1 of 2 judged topics (2), scored as an empty ranking",
        "warning: part: has 1 topic without judgements (9), ignored",
    ]
    out, err = bench.accepted("qrels", part, "--topics", "run")
    assert out.splitlines()[1] == "part,1.0,1.0,1"
    assert "left out" in err


def test_binary_garbage(bench: Bench) -> None:
    garbage = bytes((i * i * 31 + i // 7) % 256 for i in range(200_000))
    assert "is this a text file?" in bench.refused("qrels", bench.write("bad", garbage))
    assert "bad" in bench.refused("bad", "run")
    assert "not valid JSON" in bench.refused("qrels", bench.write("b.json", b'\0\1\2{"'))
    assert "not a Parquet file" in bench.refused("qrels", bench.write("b.parquet", garbage))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bad", "bad.csv"])
def test_a_line_of_100_megabytes(name: str, bench: Bench) -> None:
    resource = pytest.importorskip("resource", reason="memory is measured on Unix alone")
    with (bench.folder / name).open("wb") as out:
        out.write(b"topic,item,score\n1,a\n" if name.endswith("csv") else b"1 Q0 a 1 2 r\n1 Q0 ")
        out.seek(100_000_000)  # a hole: the disk holds next to nothing
        out.write(b"x\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    message = bench.refused("qrels", name)
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    assert "is this a text file?" in message
    if name == "bad":
        assert message.startswith("bad:2: ")
        assert len(message) < 500
        assert grown < 150


PACKED = gzip.compress(RUN.encode(), mtime=0)


@pytest.mark.parametrize(
    ("name", "data", "says"),
    [
        (
            "bad.gz",
            gzip.compress(RUN.encode(), mtime=0)[:-12],
            "ends too early; is the file truncated?",
        ),
        ("bad.gz", b"hello", "not valid gzip data"),
        ("bad.gz", PACKED[:-8] + b"\0" * 8, "not valid gzip data"),
        ("bad.zst", b"hello, this is no frame", "not valid zstd data"),
        (
            "bad.json.gz",
            gzip.compress(b"{}", mtime=0)[:-9],
            "ends too early; is the file truncated?",
        ),
        ("bad.csv.zst", b"hello, this is no frame", "not valid zstd data"),
    ],
)
def test_damaged_archives(name: str, data: bytes, says: str, bench: Bench) -> None:
    bench.write(name, data)
    for args in (("qrels", name), (name, "run")):
        message = bench.refused(*args)
        assert message.startswith(f"{name}: ")
        assert says in message


def test_truncated_zstd(bench: Bench) -> None:
    zstd = pytest.importorskip("backports.zstd", reason="no zstd here to make a file with")
    bench.write("bad.zst", zstd.compress(RUN.encode() * 100)[:-5])
    assert "ends too early; is the file truncated?" in bench.refused("qrels", "bad.zst")


@pytest.mark.parametrize("ending", ["", ".gz", ".json", ".csv", ".parquet"])
def test_directories_and_files_that_are_not_there(ending: str, bench: Bench) -> None:
    (bench.folder / f"folder{ending}").mkdir()
    assert (
        bench.refused("qrels", f"folder{ending}")
        == f"folder{ending}: is a directory, expected a file"
    )
    assert "is a directory" in bench.refused(f"folder{ending}", "run")
    assert bench.refused("qrels", f"absent{ending}") == f"absent{ending}: no such file"


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may read everything"
)
@pytest.mark.parametrize("ending", ["", ".gz", ".json"])
def test_no_permission(ending: str, bench: Bench) -> None:
    (bench.folder / f"secret{ending}").touch(mode=0)
    assert bench.refused("qrels", f"secret{ending}") == f"secret{ending}: permission denied"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_named_pipes_are_read(bench: Bench) -> None:
    os.mkfifo(bench.folder / "pipe")

    def feed(content: str) -> threading.Thread:
        thread = threading.Thread(
            target=(bench.folder / "pipe").write_text, args=(content,), daemon=True
        )
        thread.start()
        return thread

    feeder = feed(RUN)
    assert bench.accepted("qrels", "pipe")[0].splitlines()[1] == "pipe,1.0,3.0,2"
    feeder.join(timeout=60)
    feeder = feed(QRELS)
    assert bench.accepted("pipe", "run")[0].splitlines()[1] == "run,1.0,3.0,2"
    feeder.join(timeout=60)
    feeder = feed(RUN)
    assert "1.0" in bench.accepted("qrels", "pipe", "--tie-range")[0]
    feeder.join(timeout=60)
    feeder = feed("1 Q0 a\n")
    assert "pipe:1: too few fields" in bench.refused("qrels", "pipe")
    feeder.join(timeout=60)


def test_standard_input_is_read_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "can be only one of the files" in bench.refused("-", "-")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(RUN.encode())))
    assert bench.accepted("qrels", "-", "--tie-range")[0].splitlines()[1] == "stdin,1.0,3.0,2"


# Output


def test_an_existing_result_survives_bad_input(bench: Bench) -> None:
    bench.write("result.json", "precious")
    assert "too few fields" in bench.refused("qrels", bench.write("bad", "1 Q0 a\n"))
    assert (bench.folder / "result.json").read_text() == "precious"


def test_results_that_cannot_be_written(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    (bench.folder / "folder").mkdir()
    assert main(["eval", "qrels", "run", "-o", "folder"]) == 2
    assert "cannot be written: is a directory" in capsys.readouterr().err
    assert main(["eval", "qrels", "run", "-o", "absent/result"]) == 2
    assert "cannot be written: no such directory" in capsys.readouterr().err


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes on this system")
def test_pipes_are_written_to_and_links_are_followed(bench: Bench) -> None:
    pipe = bench.folder / "pipe"
    os.mkfifo(pipe)
    received: list[str] = []
    reader = threading.Thread(target=lambda: received.append(pipe.read_text()), daemon=True)
    reader.start()
    assert main(["eval", "qrels", "run", "-m", "AP", "--format", "csv", "-o", "pipe"]) == 0
    reader.join(timeout=60)
    assert received == ["run,AP,topics\nrun,1.0,2\n"]
    assert pipe.is_fifo()
    (bench.folder / "link").symlink_to(bench.folder / "target")
    assert main(["eval", "qrels", "run", "-m", "AP", "--format", "csv", "-o", "link"]) == 0
    assert (bench.folder / "link").is_symlink()
    assert (bench.folder / "target").read_text() == received[0]


def test_trec_eval_names_the_file(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    bench.write("other.run", "9 Q0 a 1 1 t\n")
    assert main(["trec_eval", "-c", "qrels", "other.run"]) == 2
    assert capsys.readouterr().err.startswith("other.run: none of its topics (9) is judged")


@pytest.mark.parametrize(
    ("words", "near"),
    [
        (["compare", "q", "a", "b", "--correction", "bonferoni"], "Did you mean 'bonferroni'?"),
        (["eval", "q", "a", "--metric", "AP"], "Did you mean '-m'?"),
        (["eval", "q", "a", "--formatt", "json"], "Did you mean '--format'?"),
        (
            ["truth", "aggregate", "log.csv", "--method", "majority-vote"],
            "Did you mean 'majority'?",
        ),
        (["collection", "init"], "are required: DIR."),
    ],
)
def test_a_slip_in_an_option_is_told_in_one_line_with_what_comes_near(words, near, capsys):
    assert main(words) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert near in err
    command = " ".join(words[: 2 if words[0] in ("truth", "collection") else 1])
    assert err.endswith(f" See: cranfield {command} --help\n")
    assert err.count("\n") == 1
