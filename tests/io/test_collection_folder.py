"""Folders with a collection.toml: what is read, and what is said when something is wrong."""

import dataclasses
import json
import struct
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import cranfield as cf
from cranfield.data.collection import Collection, RunFacts, Team
from cranfield.errors import InputError
from cranfield.io.collection import KEYS, read_collection, read_items, write_collection
from cranfield.io.samples import SAMPLE

SOUND = """name = "toy"
size = 3
judgements = "qrels.txt"
runs = [
    "a.run",
    "b.run",
]

[splits]
train = "train.txt"
"""


def png(width: int, height: int) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "collection.toml").write_text(SOUND)
    (tmp_path / "qrels.txt").write_text("t 0 x 1\n")
    (tmp_path / "a.run").write_text("t Q0 x 1 0.5 a\n")
    (tmp_path / "b.run").write_text("t Q0 y 1 0.5 b\n")
    (tmp_path / "train.txt").write_text("x\n\ny\n")
    (tmp_path / "sheet.png").write_bytes(png(16, 8))
    return tmp_path


def complaint(folder: Path, text: str) -> str:
    """What is said about a collection.toml, without the name of the folder."""
    (folder / "collection.toml").write_text(text)
    with pytest.raises(cf.InputError) as caught:
        read_collection(folder)
    return str(caught.value).replace(f"{folder}/", "").replace(str(folder), "FOLDER")


def test_a_sound_folder(folder):
    toy = read_collection(folder)
    assert (toy.name, toy.size, toy.title, toy.truth) == ("toy", 3, "", None)
    assert toy.judgements == folder / "qrels.txt"
    assert [path.name for path in toy.runs] == ["a.run", "b.run"]
    assert dict(toy.splits) == {"train": ("x", "y")}
    assert cf.evaluate(toy.judgements, toy.runs, "RR").mean()["a"] == {"RR": 1.0}
    assert toy.need("judgements") == toy.judgements
    with pytest.raises(cf.NeedsError, match=r"collection.toml has no truth"):
        toy.need("truth")
    with pytest.raises(dataclasses.FrozenInstanceError):
        toy.size = 4
    with pytest.raises(TypeError):
        toy.splits["test"] = ()


def test_the_counts_of_a_day_belong_to_a_collection(folder):
    (folder / "tags.csv").write_text("# total: 9\n# date: 2009-11-15\nterm,with,count\nsea,,2\n")
    (folder / "collection.toml").write_text('counts = ["tags.csv"]\n' + SOUND)
    (path,) = read_collection(folder).counts
    counts = cf.read_counts(path)
    assert (counts.total, counts.date, counts.hits("sea")) == (9, "2009-11-15", 2)


def test_the_file_itself_may_be_given(folder):
    assert read_collection(folder / "collection.toml").runs == read_collection(folder).runs


def test_every_key_has_a_field(folder):
    fields = {f.name for f in dataclasses.fields(read_collection(folder))}
    assert fields == {*KEYS, "folder"}


def test_thresholds_and_ontologies_by_value_or_file(folder):
    (folder / "own.csv").write_text("concept,path\nA,A\n")
    text = SOUND.replace("[splits]", 'threshold = 0.5\nontology = "pto-2011"\n[splits]')
    (folder / "collection.toml").write_text(text)
    assert read_collection(folder).threshold == 0.5
    assert read_collection(folder).ontology == "pto-2011"
    text = SOUND.replace("[splits]", 'threshold = "own.csv"\nontology = "own.csv"\n[splits]')
    (folder / "collection.toml").write_text(text)
    assert read_collection(folder).threshold == folder / "own.csv"
    assert read_collection(folder).ontology == folder / "own.csv"


@pytest.mark.parametrize(
    "old, new, said",
    [
        ('name = "toy"', "name = toy", "collection.toml:1: not valid TOML: Invalid value"),
        ('"b.run",\n]', '"b.run"', "collection.toml:8: not valid TOML: Unclosed array"),
        ("size = 3", "size = 0", "collection.toml:2: size is 0 (expected: a whole number from 1"),
        ("size = 3", "size = true", "collection.toml:2: size is True (expected: a whole number"),
        ("size = 3", "sise = 3", "collection.toml:2: unknown key 'sise'. Did you mean 'size'?"),
        ('"toy"', "7", "collection.toml:1: name is 7 (expected: text in quotes)"),
        (
            '"b.run"',
            '"c.run"',
            "collection.toml:6: runs names 'c.run', but there is no such file in FOLDER",
        ),
        ('"b.run"', '"../b.run"', "collection.toml:6: runs names '../b.run', which lies outside"),
        ('"b.run"', '"/etc/hosts"', "collection.toml:6: runs names '/etc/hosts', which lies out"),
        ('"b.run"', '"."', "collection.toml:6: runs names '.', which is not a file"),
        ('"b.run"', '"a.run"', "collection.toml:5: two runs are named 'a' (a.run and a.run)"),
        ('"qrels.txt"', "[1]", "collection.toml:3: judgements is [1] (expected: text in quotes)"),
        ("[splits]", "threshold = 2\n[splits]", "collection.toml:9: threshold is 2 (expected: a"),
        ('"train.txt"', '"no.txt"', "collection.toml:10: train names 'no.txt', but there is no"),
        ("[splits]\ntrain", "splits", "collection.toml:9: splits is 'train.txt' (expected: a ta"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(folder, old, new, said):
    assert old in SOUND
    lines = complaint(folder, SOUND.replace(old, new)).splitlines()
    assert any(line.startswith(said) for line in lines), lines


def test_all_problems_are_told_at_once(folder):
    text = SOUND.replace("size = 3", "size = -1").replace('"a.run"', '"z.run"')
    assert len(complaint(folder, text).splitlines()) == 2


@pytest.mark.parametrize(
    "lines, said",
    [
        ("width = 8\nheight = 8\n", "collection.toml:12: [images] lacks columns"),
        ("width = 8\nheight = 8\ncolums = 2\n", "collection.toml:12: [images] lacks columns"),
        (
            "width = 8\nheight = 8\ncolumns = 1\n",
            "collection.toml:13: 'sheet.png' has 16 x 8 pixels, expected 8 x 16: 2 tiles of 8 x 8",
        ),
        ("width = 8\nheight = 0\ncolumns = 2\n", "collection.toml:16: height is 0 (expected: a w"),
    ],
)
def test_images_that_do_not_fit(folder, lines, said):
    text = f'{SOUND}\n[images]\nfile = "sheet.png"\nitems = "train.txt"\n{lines}'
    assert complaint(folder, text).startswith(said)


def test_an_image_that_is_none(folder):
    (folder / "sheet.png").write_text("GIF89a, not what its name says")
    text = f'{SOUND}\n[images]\nfile = "sheet.png"\nitems = "train.txt"\n'
    text += "width = 8\nheight = 8\ncolumns = 2\n"
    assert "13: 'sheet.png' is not a PNG image" in complaint(folder, text)


def test_tiles(folder):
    text = f'{SOUND}\n[images]\nfile = "sheet.png"\nitems = "train.txt"\n'
    (folder / "collection.toml").write_text(text + "width = 8\nheight = 8\ncolumns = 2\n")
    sheet = read_collection(folder).images
    assert (sheet.tile("y"), "y" in sheet, "z" in sheet) == ((8, 0), True, False)
    with pytest.raises(cf.UsageError, match="has no picture of 'z'"):
        sheet.tile("z")


def test_no_folder_and_no_file(tmp_path):
    with pytest.raises(cf.InputError, match="no such folder"):
        read_collection(tmp_path / "absent")
    with pytest.raises(cf.InputError, match=r"has no collection.toml"):
        read_collection(tmp_path)


def test_lists_of_items(tmp_path):
    path = tmp_path / "items.csv"
    path.write_text("digit,item\n1,a\n2,b\n")
    assert read_items(path) == ("a", "b")
    path.write_text("digit,thing\n1,a\n")
    with pytest.raises(cf.InputError, match=r"items.csv:1: the header 'digit,thing' has no column"):
        read_items(path)
    path.write_text("digit,item\n1,a\n2,a\n")
    with pytest.raises(cf.InputError, match=r"items.csv:3: item 'a' is listed twice, first on li"):
        read_items(path)
    path.write_text("item\n")
    with pytest.raises(cf.InputError, match="lists no item"):
        read_items(path)


PLAIN = st.one_of(
    st.text("ab./\\\"'#=[]\n é\x7f\0", max_size=8),
    st.integers(-5, 5),
    st.floats(),
    st.booleans(),
    st.sampled_from(["a.run", "train.txt", "sheet.png", ".", "x" * 5000, "a\0b"]),
)
VALUES = st.one_of(
    PLAIN,
    st.lists(PLAIN, max_size=3),
    st.dictionaries(st.sampled_from(["file", "items", "width", "height", "columns", "t"]), PLAIN),
)


def as_toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(as_toml, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k} = {as_toml(v)}" for k, v in value.items()) + "}"
    # A string of JSON is one of TOML, but for DEL, which TOML wants escaped.
    return json.dumps(value).replace("\x7f", "\\u007f") if isinstance(value, str) else str(value)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=4))
def test_whatever_stands_there_it_is_read_or_told(folder, content):
    content = {"name": "toy", "size": 3} | content
    text = "".join(f"{key} = {as_toml(value)}\n" for key, value in content.items())
    (folder / "collection.toml").write_text(text)
    try:
        toy = read_collection(folder)
    except cf.InputError:
        return
    assert toy.size is None or toy.size > 0
    assert all(path.is_file() for path in (*toy.runs, *toy.label_runs, *toy.cost_maps))


def test_a_collection_is_written_as_it_was_read(tmp_path):
    held = read_collection(SAMPLE)
    write_collection(held, tmp_path / "copy")
    again = read_collection(tmp_path / "copy")
    for field in dataclasses.fields(held):
        before, after = getattr(held, field.name), getattr(again, field.name)
        if field.name == "folder":
            continue
        if field.name == "images":
            assert (before.items, before.size) == (after.items, after.size)
            continue
        if isinstance(before, Path):
            before, after = before.read_bytes(), after.read_bytes()
        if field.name == "years":
            before, after = ({n: p.read_bytes() for n, p in y.items()} for y in (before, after))
        if isinstance(before, tuple) and before and isinstance(before[0], Path):
            before = [p.read_bytes() for p in before]
            after = [p.read_bytes() for p in after]
        assert before == after, field.name
    with pytest.raises(InputError, match="is there already"):
        write_collection(held, tmp_path / "copy")
    with pytest.raises(InputError, match="no such directory"):
        write_collection(held, tmp_path / "nowhere" / "copy")
    assert [p.name for p in tmp_path.iterdir()] == ["copy"]


def test_files_from_elsewhere_come_to_stand_beside_the_others(tmp_path):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    for folder in "ab":
        (tmp_path / folder / f"{folder}.run").write_text("t Q0 x 1 1 r\n")
        (tmp_path / folder / "costs.csv").write_text(f",{folder}\n{folder},0\n")
    runs = (tmp_path / "a" / "a.run", tmp_path / "b" / "b.run")
    maps = tuple(tmp_path / folder / "costs.csv" for folder in "ab")
    made = Collection(tmp_path / "none", 'q"\\ü', 3, runs=runs, cost_maps=maps)
    write_collection(made, tmp_path / "new")
    again = read_collection(tmp_path / "new")
    assert again.name == made.name
    assert [p.read_text() for p in again.cost_maps] == [p.read_text() for p in maps]


line = st.text(
    st.characters(blacklist_categories=("Cs", "Cc", "Zl", "Zp")), min_size=1, max_size=20
).filter(lambda text: text.strip() == text)
name = st.from_regex(r"[A-Za-z][A-Za-z0-9_-]{0,8}", fullmatch=True)
facts_of_runs = st.builds(
    RunFacts,
    run=name,
    team=st.one_of(st.just(""), name),
    tag=st.one_of(st.just(""), line),
    configuration=st.sampled_from(["", "V", "T", "M"]),
    description=st.one_of(st.just(""), line),
    features=st.one_of(st.just(""), line),
    classifier=st.one_of(st.just(""), line),
    threshold=st.sampled_from(["", "0.5", "rows", "limits.csv"]),
    baseline=st.booleans(),
)
teams = st.builds(Team, acronym=name, name=line, country=st.one_of(st.just(""), line))


@settings(max_examples=40, deadline=None)
@given(
    st.lists(teams, max_size=4, unique_by=lambda team: team.acronym),
    st.lists(facts_of_runs, max_size=4, unique_by=lambda facts: facts.run),
    st.fixed_dictionaries(
        {},
        optional={
            "title": line,
            "licence": line,
            "series": line,
            "year": line,
            "size": st.integers(1, 10**9),
            "seed": st.integers(0, 10**9),
            "measures": st.lists(name, min_size=1, max_size=3).map(tuple),
            "label_measures": st.lists(name, min_size=1, max_size=3).map(tuple),
            "primary": name,
            "baseline": name,
            "label_primary": name,
            "label_baseline": name,
        },
    ),
    st.dictionaries(
        name, st.lists(name, min_size=1, max_size=3, unique=True).map(tuple), max_size=3
    ),
)
def test_whatever_is_written_is_read_again(tmp_path_factory, given_teams, facts, plain, splits):
    home = tmp_path_factory.mktemp("home")
    (home / "topics.csv").write_text("topic\nt\n")
    (home / "pictures").mkdir()
    (home / "pictures" / "a.png").write_bytes(png(1, 1))
    (home / "limits.csv").write_text("concept,threshold\na,0.5\n")
    (home / "old.csv").write_text("run,AP\na,0.5\n")
    held = Collection(
        folder=home,
        name="any",
        topics=home / "topics.csv",
        pictures=home / "pictures",
        teams=tuple(given_teams),
        run_facts={f.run: f for f in facts},
        years={"2009": home / "old.csv", "last year": home / "pictures"},
        splits=splits,
        **plain,
    )
    write_collection(held, home / "copy")
    again = read_collection(home / "copy")
    for field in dataclasses.fields(held):
        before, after = getattr(held, field.name), getattr(again, field.name)
        if isinstance(before, Path) and field.name != "folder":
            assert after.relative_to(again.folder) == before.relative_to(home)
        elif field.name == "years":
            assert [(n, p.name) for n, p in before.items()] == [
                (n, p.name) for n, p in after.items()
            ]
        elif field.name != "folder":
            assert before == after, field.name


@pytest.mark.parametrize(
    "lines, said",
    [
        ("layout = 9\n", "collection.toml:9: layout 9 is later than 2"),
        ("seed = -1\n", "collection.toml:9: seed is -1 (expected: a whole number from 0 on)"),
        ("measures = 3\n", "collection.toml:9: measures is 3 (expected: a list such as"),
        ('pictures = "train.txt"\n', "collection.toml:9: pictures names 'train.txt', which is not"),
        ('retrieved = "trian"\n', "collection.toml:9: retrieved names 'trian', which is not among"),
        ("teams = 3\n", "collection.toml:9: teams is 3 (expected: tables [[teams]] with acronym"),
        ("[[teams]]\nname = 'x'\n", "collection.toml:9: one of [[teams]] has no acronym"),
        (
            "[[teams]]\nacronym = 'x'\ncontry = 'y'\n",
            "collection.toml:11: unknown key 'contry' in [teams]. Did you mean 'country'?",
        ),
        (
            "[[run_facts]]\nrun = 'a'\nbaseline = 'yes'\n",
            "collection.toml:11: baseline is 'yes' (expected: true or false)",
        ),
        (
            "[[run_facts]]\nrun = 'a'\n[[run_facts]]\nrun = 'a'\n",
            "collection.toml:10: [[run_facts]] gives run 'a' twice",
        ),
        ('teams = "teams.csv"\n', "collection.toml:9: teams.csv:3: acronym 'A' is given twice"),
        ('run_facts = "facts.csv"\n', "collection.toml:9: facts.csv:1: unknown column 'taem'. Did"),
        ("[years]\n2009 = 'gone'\n", "collection.toml:10: 2009 names 'gone', but there is no"),
    ],
)
def test_what_is_wrong_with_people_and_years(folder, lines, said):
    (folder / "teams.csv").write_text("acronym,name\nA,x\nA,y\n")
    (folder / "facts.csv").write_text("run,taem\na,x\n")
    text = SOUND.replace("[splits]", f"{lines}[splits]")
    found = complaint(folder, text).splitlines()
    assert any(one.startswith(said) for one in found), found


def test_a_name_and_a_size_may_be_left_out(folder):
    (folder / "collection.toml").write_text("")
    toy = read_collection(folder)
    assert (toy.name, toy.size) == (folder.name, None)
