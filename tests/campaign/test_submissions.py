"""What a valid submission is: every kind of fault told with its line, the truth never opened."""

import gzip
import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cranfield as cf
from cranfield.campaign.submissions import PublicSet, check_submission
from cranfield.cli import main
from cranfield.io.samples import SAMPLE, copy_sample

ITEMS = [f"i{n:02d}" for n in range(1, 13)]
TOPICS = ["t1", "t2", "t3"]
CONCEPTS = ["Sky", "Sea", "Tree"]


def trec(rows):
    return "".join(f"{t} Q0 {i} {n} {1 / n:.4f} x\n" for n, (t, i) in enumerate(rows, 1))


def wide(values, items=ITEMS, concepts=CONCEPTS):
    lines = [",".join(["item", *concepts])]
    lines += [",".join([item, *map(str, values)]) for item in items]
    return "\n".join(lines) + "\n"


GOOD_RANKED = trec((t, i) for t in TOPICS for i in ITEMS)
GOOD_TEXT = "".join(f"{i} 0.1 0.9 0.5\n" for i in ITEMS)
BINARY_ROWS = "".join(f"{i} 0 1 1\n" for i in ITEMS)


def line(text, number, new):
    """The text with another line in place of one."""
    lines = text.splitlines(keepends=True)
    lines[number - 1] = new
    return "".join(lines)


GOOD = {
    "good-ranked.run": GOOD_RANKED,
    "good-headed.csv": "topic,item,score\n"
    + "".join(f"t{n % 3 + 1},{i},{n}\n" for n, i in enumerate(ITEMS)),
    "good-wide.csv": wide([0.1, 0.9, 0.5]),
    "good-text.txt": GOOD_TEXT,
    "good-decided.txt": GOOD_TEXT + BINARY_ROWS,
}
# file -> (its content, the line of the problem, what is said of it)
BAD = {
    "few-fields.run": (line(GOOD_RANKED, 5, "t1 Q0 i05 5\n"), 5, "expected"),
    "no-number.run": (line(GOOD_RANKED, 7, "t1 Q0 i07 7 high x\n"), 7, "score 'high' is not"),
    "twice.run": (line(GOOD_RANKED, 9, "t1 Q0 i03 9 0.1 x\n"), 9, "'i03' is listed twice"),
    "no-such-item.run": (line(GOOD_RANKED, 4, "t1 Q0 i4 4 0.2 x\n"), 4, "Did you mean 'i04'?"),
    "no-such-topic.run": (line(GOOD_RANKED, 13, "t9 Q0 i01 1 1 x\n"), 13, "unknown topic 't9'"),
    "not-text.run": ("t1 Q0 i\0 1 1 x\n", 1, ""),
    "not-utf8.run": (b"t1 Q0 i01 1 1 x\nt1 Q0 i\xff 2 1 x\n", 2, "UTF-8"),
    "empty.run": ("", None, "empty"),
    "broken.run.gz": (gzip.compress(GOOD_RANKED.encode())[:-20], None, "truncated"),
    "short-row.csv": ("topic,item,score\nt1,i01\n", 2, "the header has 3"),
    "percents.csv": (wide([10, 90, 50]), 2, "look like percents"),
    "outside.csv": (
        line(wide([0.1, 0.9, 0.5]), 6, "i05,0.1,-3,0.5\n"),
        6,
        "-3 of item 'i05' is out",
    ),
    "no-such-concept.csv": (
        wide([0.1, 0.9, 0.5], concepts=["Sky", "See", "Tree"]),
        1,
        "mean 'Sea'",
    ),
    "two-columns.csv": (wide([0.1, 0.9, 0.5], concepts=["Sky", "Sky", "Tree"]), 1, "two columns"),
    "too-few.csv": (wide([0.1, 0.9, 0.5], items=ITEMS[:9]), None, "nothing for 3 items: 'i10'"),
    "again.csv": (wide([0.1, 0.9, 0.5], items=[*ITEMS, "i02"]), 14, "'i02' given again"),
    "with-endings.csv": (wide([0.1, 0.9, 0.5], items=[f"{i}.jpg" for i in ITEMS]), 2, "mean 'i01'"),
    "short-text.txt": (line(GOOD_TEXT, 3, "i03 0.1 0.9\n"), 3, "2 values for item 'i03'"),
    "wide.txt": ("".join(f"{i} 0 1 1 0\n" for i in ITEMS), 1, "has 4 values per item, expected 3"),
    "half-decided.txt": (
        line(GOOD_TEXT + BINARY_ROWS, 15, "i03 0 0.5 1\n"),
        15,
        "other than 0 and",
    ),
}


@pytest.fixture
def folder(tmp_path):
    """A collection whose truth cannot be opened, and submissions beside it."""
    home = tmp_path / "home"
    home.mkdir()
    (home / "collection.toml").write_text(
        'topics = "topics.csv"\nitems = "items.txt"\nconcepts = "concepts.csv"\n'
        'judgements = "qrels.txt"\ntruth = "truth.csv"\n'
    )
    (home / "topics.csv").write_text("topic,text\n" + "".join(f"{t},about\n" for t in TOPICS))
    (home / "items.txt").write_text("\n".join(ITEMS) + "\n")
    (home / "concepts.csv").write_text("concept\n" + "\n".join(CONCEPTS) + "\n")
    for name in ("qrels.txt", "truth.csv"):
        (home / name).write_text("this is sealed")
    sent = tmp_path / "sent"
    sent.mkdir()
    for name, content in GOOD.items():
        (sent / name).write_text(content)
    for name, (content, *_) in BAD.items():
        (sent / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    return tmp_path


def test_25_submissions_of_which_20_kinds_are_broken(folder, capsys):
    assert len(BAD) == 20
    assert len(GOOD) == 5
    files = sorted((folder / "sent").iterdir())
    argv = ["check", str(folder / "home"), *map(str, files), "--format", "json"]
    assert main(argv) == 1
    found = json.loads(capsys.readouterr().out)
    verdicts = {row["name"]: row["good"] for row in found["submissions"]}
    assert (found["good"], found["bad"]) == (5, 20)
    assert {name for name, good in verdicts.items() if good} == {n.split(".")[0] for n in GOOD}
    for name, (_, number, said) in BAD.items():
        own = [p for p in found["problems"] if p["file"].endswith(f"/{name}")]
        assert any(p["line"] == number and said in p["message"] for p in own), (name, own)
    # What every file says is said once: the 12 wrong ids, no more.
    assert sum(p["file"].endswith("with-endings.csv") for p in found["problems"]) == 13


def test_the_table_has_file_line_and_message(folder, capsys):
    bad = folder / "sent" / "no-such-item.run"
    assert main(["check", str(folder / "home"), str(bad)]) == 1
    out = capsys.readouterr().out
    assert f"{bad}     4  unknown item 'i4'. Did you mean 'i04'?" in out
    assert "0 of 1 submission good, 1 problem" in out
    assert main(["check", str(folder / "home"), str(folder / "sent" / "good-wide.csv")]) == 0


def test_wrong_rows_and_wrong_ids_are_told_together(folder):
    path = folder / "both.run"
    path.write_text(line(line(GOOD_RANKED, 4, "t1 Q0 i4 4 0.2 x\n"), 7, "t1 Q0 i07\n"))
    found = cf.check_submissions(folder / "home", path)
    assert [p.line for p in found.problems] == [4, 7]


def test_topics_that_are_missing_are_noted_and_items_are_not_accepted(folder):
    path = folder / "part.run"
    path.write_text(trec(("t1", i) for i in ITEMS))
    found = cf.check_submissions(folder / "home", path)
    assert not found.bad
    assert found.submissions[0].missing == 2
    assert "has nothing for 2 topics: 't2', 't3'" in found.notes[0]


@pytest.mark.parametrize(
    "threshold, said",
    [
        (0.5, ""),
        (50, "threshold 50 is not in [0, 1]; does it look like a percent?"),
        ([0.1, 0.2, 0.3], ""),
        ([0.1, 0.2], "2 thresholds"),
        ({"Sky": 0.1, "Sea": 0.2, "Tree": 0.3}, ""),
        ({"Sky": 0.1, "See": 0.2, "Tree": 0.3}, "Did you mean 'Sea'?"),
        ("rows", "has no 0/1 rows after its confidences"),
    ],
)
def test_three_forms_of_thresholds(folder, threshold, said):
    """No 10.5: one for all, one per concept, or decisions for each item and concept."""
    public = PublicSet("labels", items=tuple(ITEMS), concepts=tuple(CONCEPTS))
    found = check_submission(folder / "sent" / "good-wide.csv", public, threshold=threshold)
    assert found.is_good == (not said)
    assert said in "".join(p.message for p in found.problems)
    decided = check_submission(folder / "sent" / "good-decided.txt", public, threshold="rows")
    assert decided.is_good


def test_a_file_of_thresholds_is_told_by_its_own_name(folder, capsys):
    limits = folder / "limits.csv"
    limits.write_text("concept,threshold\nSky,0.5\nSea,zero\nTree,0.5\n")
    run = folder / "sent" / "good-wide.csv"
    assert main(["check", str(folder / "home"), str(run), "--threshold", str(limits)]) == 1
    assert f"{limits}     3  threshold 'zero' is not a number" in capsys.readouterr().out


def test_two_submissions_of_one_name(folder):
    other = folder / "good-ranked.txt"
    other.write_text(GOOD_RANKED)
    found = cf.check_submissions(folder / "home", [folder / "sent" / "good-ranked.run", other])
    assert [one.good for one in found.submissions] == [True, False]
    assert "is named 'good-ranked' as well" in found.problems[0].message


def test_what_the_collection_does_not_tell_is_not_checked_and_said(folder):
    (folder / "home" / "collection.toml").write_text('judgements = "qrels.txt"\n')
    found = cf.check_submissions(folder / "home", folder / "sent" / "no-such-item.run")
    assert not found.bad
    assert any("does not tell its topics" in note for note in found.notes)
    assert any("does not tell its items" in note for note in found.notes)


def test_an_upload_is_checked_under_its_users_name(folder):
    public = PublicSet("ranked", topics=tuple(TOPICS), items=tuple(ITEMS))
    found = check_submission(cf.Input("mine.run", b"t1 Q0 nobody 1 1 x\n"), public)
    assert found.problems[0].file == "mine.run"
    assert found.problems[0].line == 1
    assert found.run is None
    assert check_submission(cf.Input("mine.run", GOOD_RANKED.encode()), public).run.name == "mine"


def test_every_run_of_the_sample_is_good(tmp_path):
    """Also where its truth is gone: nothing of it is needed."""
    home = copy_sample(tmp_path / "digits")
    for name in ("qrels.txt.gz", "truth.csv"):
        (home / name).write_bytes(b"sealed")
    digits = cf.read_collection(home)
    found = cf.check_submissions(digits, [*digits.runs, *digits.label_runs])
    assert not found.bad
    assert not found.problems
    assert [one.kind for one in found.submissions] == ["ranked"] * 8 + ["labels"] * 13


@pytest.mark.slow
def test_a_large_run_is_checked_in_little_more_time_than_it_is_read(tmp_path):
    """250,000 lines of 250,000 known items, good and bad: as ratios to reading it."""
    items = tuple(f"doc{n:06d}" for n in range(250_000))
    topics = tuple(f"t{n}" for n in range(250))
    path = tmp_path / "large.run"
    path.write_text(
        "".join(f"{topics[n % 250]} Q0 {item} 1 {n} x\n" for n, item in enumerate(items))
    )
    public = PublicSet("ranked", topics=topics, items=items)
    public.known("item")
    taken = {}
    for name, work in {
        "read": lambda: cf.read_run(path).to_dict(),
        "good": lambda: check_submission(path, public),
        "bad": lambda: check_submission(path, PublicSet("ranked", topics, items[:-90_000])),
    }.items():
        start = time.process_time()
        found = work()
        taken[name] = time.process_time() - start
    assert found.count == 90_000
    assert len(found.problems) == 20
    assert found.problems[0].line == 160_001
    assert taken["good"] < 10 * taken["read"]
    assert taken["bad"] < 40 * taken["read"]


@pytest.mark.slow
def test_a_wrong_id_among_many_is_found_in_little_time():
    """13,000 items, all of them wrong: the request of a site may not hang on it."""
    items = tuple(f"im{n:05d}" for n in range(13_000))
    public = PublicSet("labels", items=items, concepts=tuple(CONCEPTS))
    rows = "".join(f"picture-{n} 0 1 1\n" for n in range(13_000))
    start = time.process_time()
    found = check_submission(cf.Input("run.txt", rows.encode()), public)
    assert time.process_time() - start < 60  # hours if each were compared with all
    assert found.count == 13_001
    assert len(found.problems) == 20


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from([*GOOD_RANKED.splitlines()[:6], "", "#", "t1", "t9 Q0 q 1 1 x"])))
def test_whatever_is_sent_is_accepted_or_told_why(lines):
    public = PublicSet("ranked", topics=tuple(TOPICS), items=tuple(ITEMS))
    found = check_submission(cf.Input("any.run", "\n".join(lines).encode()), public)
    assert found.is_good == (not found.problems) == (found.run is not None)
    assert found.count >= len(found.problems)


def test_the_sample_is_the_one_that_outside_checks_use(tmp_path, capsys):
    bad = tmp_path / "bad.csv"
    bad.write_text("item,Zero\nnobody,0.5\n")
    good = str(SAMPLE / "labels" / "logistic.csv.gz")
    assert main(["check", str(SAMPLE), str(bad), good]) == 1
    out = capsys.readouterr().out
    assert "unknown item 'nobody'" in out
    assert "has nothing for 400 items" in out
