"""Reading WordNet's database files, on a database of a few synsets made here."""

import gzip
import shutil
import zipfile

import numpy as np
import pytest

from cranfield.errors import InputError, NeedsError, UsageError
from cranfield.relatedness import METHODS
from cranfield.relatedness.scoring import Lexicon, Resources, score_pairs
from cranfield.relatedness.wordnet_database import open_wordnet
from cranfield.relatedness.wordnet_files import load_arrays, pack_arrays
from cranfield.relatedness.wordnet_measures import (
    greatest_depth,
    information_of,
    links_across,
    taxonomy_of,
)

LICENCE = "  1 This is a licence.  \n"
# name: (part, lexicographer file, words, links as (symbol, target, source word and target word),
# gloss); one letter a synset.
SYNSETS = {
    "thing": ("n", "03", ["thing"], [], 'what there is; "a thing | here"'),
    "water": ("n", "27", ["water", "H2O"], [("@", "thing", "0000")], "a clear liquid"),
    "lake": ("n", "17", ["lake"], [("@", "water", "0000"), ("#p", "land", "0000")], "still water"),
    "sea": ("n", "17", ["sea", "ocean"], [("@", "water", "0000")], "salt water"),
    "land": ("n", "17", ["land"], [("@", "thing", "0000"), ("%p", "lake", "0000")], "dry ground"),
    "flow": ("v", "38", ["flow", "run"], [("@", "run", "0000")], "move like water"),
    "run": ("v", "38", ["stream", "run"], [("@", "flow", "0000")], "move"),
    "wet": ("a", "00", ["wet"], [("!", "dry", "0101")], "full of water"),
    "dry": ("a", "00", ["dry(p)"], [("!", "wet", "0101")], "without water"),
    "wetly": ("r", "02", ["wetly"], [("\\", "wet", "0101")], "in a wet way"),
}
CONVERSE = {"@": "~", "#p": None, "%p": None, "!": None, "\\": None}
PARTS = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
TAGS = {"lake%1:17:00::": 2, "sea%1:17:00::": 1, "ocean%1:17:00::": 3, "land%1:17:00::": 2}


def make_database(folder):
    """Writes SYNSETS as WordNet does: byte offsets, hexadecimal counts, sorted indexes."""
    folder.mkdir(parents=True, exist_ok=True)
    links = {name: list(entry[3]) for name, entry in SYNSETS.items()}
    for name, entry in SYNSETS.items():
        for symbol, target, ends in entry[3]:
            if CONVERSE[symbol]:
                links[target].append((CONVERSE[symbol], name, ends))
    offsets = {}
    for final in (False, True):
        for part, file_name in PARTS.items():
            text = LICENCE
            for name, (own, lex, words, _, gloss) in SYNSETS.items():
                if own == part:
                    offsets[name] = len(text)
                    listed = " ".join(f"{word} 0" for word in words)
                    pointers = "".join(
                        f" {symbol} {offsets.get(target, 0):08d} {SYNSETS[target][0]} {ends}"
                        for symbol, target, ends in links[name]
                    )
                    frames = " 01 + 02 00" if part == "v" else ""
                    text += (
                        f"{offsets[name]:08d} {lex} {part} {len(words):02x} {listed} "
                        f"{len(links[name]):03d}{pointers}{frames} | {gloss}  \n"
                    )
            if final:
                (folder / f"data.{file_name}").write_text(text)
    for part, file_name in PARTS.items():
        senses = {}
        for name, (own, _, words, _, _) in SYNSETS.items():
            for word in words if own == part else ():
                senses.setdefault(word.replace("(p)", "").lower(), []).append(offsets[name])
        lines = [
            f"{lemma} {part} {len(found)} 1 @ {len(found)} 0 "
            + " ".join(f"{offset:08d}" for offset in found)
            for lemma, found in sorted(senses.items())
        ]
        (folder / f"index.{file_name}").write_text(LICENCE + "\n".join(lines) + "\n")
        irregular = "seae sea\n" if part == "n" else ""
        (folder / f"{file_name}.exc").write_text(irregular)
    counts = "".join(f"{key} 1 {count}\n" for key, count in sorted(TAGS.items()))
    (folder / "cntlist.rev").write_text(counts)
    return folder


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CRANFIELD_CACHE", str(tmp_path / "cache"))
    return make_database(tmp_path / "dict")


@pytest.fixture
def wordnet(folder):
    return open_wordnet(folder)


def synset(wordnet, word, part="n", number=1):
    return wordnet.synsets_of(word, part)[number - 1]


def score(wordnet, method, first, second):
    resources = Resources(lexicon=Lexicon(wordnet))
    return score_pairs([METHODS[method]], [(first, second)], resources)[0].pairs[0]


def test_words_glosses_and_relations(wordnet):
    assert wordnet.size == len(SYNSETS)
    water = synset(wordnet, "water")
    assert wordnet.words(water) == ["water", "H2O"]
    assert synset(wordnet, "h2o") == water
    assert {wordnet.words(s)[0] for s in wordnet.related(water, "hyponym")} == {"lake", "sea"}
    # What follows the last bar of the line is the gloss.
    assert wordnet.gloss(synset(wordnet, "thing")) == 'here"'
    assert wordnet.words(synset(wordnet, "dry", "a")) == ["dry"]
    assert wordnet.part_of(synset(wordnet, "flow", "v")) == "v"


def test_links_between_words(wordnet):
    wet, dry = synset(wordnet, "wet", "a"), synset(wordnet, "dry", "a")
    assert list(links_across(wordnet, wet)) == [dry]
    assert wordnet.word_related(synset(wordnet, "wetly", "r"), "wetly", "pertainym") == (wet,)
    assert wordnet.word_related(wet, "damp", "antonym") == ()


def test_plain_words_plurals_irregular_forms_and_fixed_senses(wordnet):
    lexicon = Lexicon(wordnet)
    assert [str(s) for s in lexicon.senses("lakes")] == ["lake#n#1"]
    assert [str(s) for s in lexicon.senses("Seae")] == ["sea#n#1"]
    assert [str(s) for s in lexicon.senses("run")] == ["run#v#1", "run#v#2"]
    assert [str(s) for s in lexicon.senses("run#v#2")] == ["run#v#2"]
    assert [str(s) for s in lexicon.senses("lake#n")] == ["lake#n#1"]
    for unknown in ("puddle", "lake#n#7", "lake#x", "#n#1", "lake#n#1#1"):
        assert lexicon.senses(unknown) == []
    mapped = Lexicon(wordnet, mapping={"Seaside": "sea|land", "None": ""})
    assert [str(s) for s in mapped.senses("Seaside")] == ["sea#n#1", "land#n#1"]
    assert mapped.senses("None") == []


def test_parts_of_speech_that_do_not_exist(wordnet):
    for parts in ("x", "", "nx"):
        with pytest.raises(UsageError, match="no parts of speech"):
            Lexicon(wordnet, parts)


def test_information_is_the_share_of_tagged_words(wordnet):
    information = information_of(wordnet)
    assert information.root_count == {"n": 8.0, "v": 0.0}
    assert information.content[synset(wordnet, "sea")] == pytest.approx(-np.log(4 / 8))
    assert information.content[synset(wordnet, "water")] == pytest.approx(-np.log(6 / 8))
    assert information.content[synset(wordnet, "thing")] == 0.0


def test_ways_through_the_tree(wordnet):
    assert greatest_depth(wordnet, "n") == 4
    assert score(wordnet, "PATH", "lake", "sea").relatedness == pytest.approx(1 / 3)
    assert score(wordnet, "PATH", "lake", "land").relatedness == pytest.approx(1 / 4)
    assert score(wordnet, "WUP", "lake", "ocean").relatedness == pytest.approx(2 * 3 / 8)
    assert score(wordnet, "LCH", "lake", "sea").relatedness == pytest.approx(np.log(8 / 3))
    assert score(wordnet, "RES", "lake", "sea").relatedness == pytest.approx(-np.log(6 / 8))
    assert score(wordnet, "PATH", "lake", "run").relatedness is None
    assert score(wordnet, "PATH", "wet", "dry").relatedness is None
    assert score(wordnet, "HSO", "wet", "dry").relatedness == 16


def test_pairs_in_blocks_have_the_same_values(wordnet, monkeypatch):
    words = ["thing", "sea", "flow", "wet", "lake", "run", "land"]
    pairs = [(a, b) for a in words for b in words]
    methods = [METHODS[name] for name in ("PATH", "WUP", "LCH", "RES", "JCN", "LIN")]
    resources = Resources(lexicon=Lexicon(wordnet))
    whole = score_pairs(methods, pairs, resources)
    monkeypatch.setattr("cranfield.relatedness.wordnet_measures._PAIRS", 3)
    assert score_pairs(methods, pairs, resources) == whole


def test_a_circle_of_hypernyms_ends(wordnet):
    taxonomy = taxonomy_of(wordnet)
    flow, run = synset(wordnet, "flow", "v"), synset(wordnet, "stream", "v")
    assert taxonomy.paths(flow) == [(flow, run, taxonomy.root("v"))]
    assert score(wordnet, "PATH", "flow", "stream").relatedness == pytest.approx(1 / 2)
    assert score(wordnet, "RES", "flow", "stream").relatedness == 0.0


def test_the_second_start_reads_the_cache(folder, monkeypatch):
    first = open_wordnet(folder)
    from cranfield.relatedness import wordnet_database

    wordnet_database._open.cache_clear()
    monkeypatch.setattr(wordnet_database, "parse_database", lambda _: pytest.fail("parsed again"))
    second = open_wordnet(folder)
    assert second is not first
    assert second.glosses() == first.glosses()
    wordnet_database._open.cache_clear()


def test_a_changed_file_is_read_again(folder):
    before = open_wordnet(folder).gloss(1)
    data = (folder / "data.noun").read_text()
    (folder / "data.noun").write_text(data.replace("clear", "CLEAR"))
    assert open_wordnet(folder).gloss(1) == before.replace("clear", "CLEAR")


def test_a_damaged_or_foreign_cache_is_not_used(tmp_path):
    path = tmp_path / "x.arrays"
    assert load_arrays(path) is None
    arrays = {"a": np.arange(5, dtype=np.int32), "b": np.zeros((0,), np.uint8)}
    whole = pack_arrays(arrays)
    path.write_bytes(whole)
    loaded = load_arrays(path)
    assert {k: v.tolist() for k, v in loaded.items()} == {"a": [0, 1, 2, 3, 4], "b": []}
    wrong = bytearray(whole)
    wrong[-64] ^= 1
    zeros = whole[: len(whole) // 2] + bytes(len(whole) - len(whole) // 2)
    for broken in (
        b"",
        b"something else entirely",
        whole[:19],
        whole[:40],
        whole[:-64],
        wrong,
        zeros,
    ):
        path.write_bytes(broken)
        assert load_arrays(path) is None


def test_a_cache_that_cannot_be_written_costs_nothing(folder, tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("CRANFIELD_CACHE", str(tmp_path / "file" / "below"))
    (folder / "noun.exc").write_text("")
    assert open_wordnet(folder).size == len(SYNSETS)


def test_places(folder, tmp_path, monkeypatch):
    monkeypatch.setenv("WNSEARCHDIR", str(folder))
    assert open_wordnet().size == len(SYNSETS)
    monkeypatch.delenv("WNSEARCHDIR")
    monkeypatch.setenv("WNHOME", str(folder.parent))
    assert open_wordnet().size == len(SYNSETS)
    archive = tmp_path / "wordnet.zip"
    with zipfile.ZipFile(archive, "w") as packed:
        for file in folder.iterdir():
            packed.write(file, f"wordnet/{file.name}")
    assert open_wordnet(archive).size == len(SYNSETS)
    nltk_data = tmp_path / "nltk" / "corpora"
    nltk_data.mkdir(parents=True)
    shutil.copy(archive, nltk_data)
    assert open_wordnet(tmp_path / "nltk").size == len(SYNSETS)


def test_no_database_says_how_to_install_one(tmp_path, monkeypatch):
    from cranfield.relatedness import wordnet_files

    monkeypatch.delenv("WNSEARCHDIR", raising=False)
    monkeypatch.delenv("WNHOME", raising=False)
    monkeypatch.setattr(wordnet_files, "_usual_places", lambda: iter([tmp_path / "nowhere"]))
    with pytest.raises(NeedsError, match="apt-get install wordnet-base"):
        open_wordnet()
    monkeypatch.setenv("WNHOME", str(tmp_path))
    with pytest.raises(InputError, match="WNHOME"):
        open_wordnet()


@pytest.mark.parametrize(
    "name, old, new, message",
    [
        ("data.noun", " 01 lake", " 0z lake", r"data\.noun:4: not a synset"),
        ("data.noun", " | still water", "", r"data\.noun:4: not a synset"),
        ("data.noun", " | dry ground", " 1 | dry ground", None),
        ("data.noun", " %p ", " %q ", "unknown symbol"),
        ("data.noun", f"@ {len(LICENCE):08d}", f"@ {len(LICENCE) + 1:08d}", "leads nowhere"),
        ("index.noun", "lake n 1", "lake n x", r"index\.noun:3: not an index entry"),
        ("index.noun", "lake n 1", "lake n 9", r"index\.noun:3: not an index entry"),
        ("index.verb", "stream", "astream", "alphabetical"),
        ("cntlist.rev", "1 2", "1 two", r"cntlist\.rev:1: not a tag count"),
        ("noun.exc", "seae sea\n", "\nseae sea\n\n", None),
    ],
)
def test_a_broken_database_names_the_line(folder, name, old, new, message):
    text = (folder / name).read_text()
    assert old in text
    (folder / name).write_text(text.replace(old, new, 1))
    if message is None:
        assert open_wordnet(folder).size == len(SYNSETS)
        assert open_wordnet(folder).valid_forms("seae", "n") == ["sea"]
    else:
        with pytest.raises(InputError, match=message):
            open_wordnet(folder)


def test_a_database_that_was_cut_short(folder):
    index = (folder / "index.noun").read_text()
    (folder / "index.noun").write_text(index[: index.index("ocean")])
    with pytest.raises(InputError, match=r"index\.noun: leads to 3 of the 5 synsets"):
        open_wordnet(folder)
    (folder / "index.noun").write_text(index)
    (folder / "cntlist.rev").write_text("")
    with pytest.raises(InputError, match=r"cntlist\.rev: holds no tag count"):
        open_wordnet(folder)
    for file in folder.glob("data.*"):
        file.write_text("")
    with pytest.raises(InputError, match="the data files hold no synset"):
        open_wordnet(folder)


def test_a_database_that_lacks_files(folder):
    (folder / "cntlist.rev").unlink()
    wordnet = open_wordnet(folder)
    with pytest.raises(NeedsError, match=r"cntlist\.rev"):
        information_of(wordnet)
    (folder / "verb.exc").unlink()
    with pytest.raises(InputError, match=r"verb\.exc missing"):
        open_wordnet(folder)
    with pytest.raises(InputError, match="no such folder"):
        open_wordnet(folder / "absent")
    with gzip.open(folder / "x.zip", "wb") as stream:
        stream.write(b"not a zip file")
    with pytest.raises(InputError, match="not a WordNet database"):
        open_wordnet(folder / "x.zip")
