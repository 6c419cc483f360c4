"""`cranfield runs text`: BM25 over captions, beside runs of pictures."""

from __future__ import annotations

import json
import math
import random
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import cranfield as cf
from cranfield.cli import main
from cranfield.errors import InputError, MissingExtraError, UsageError
from cranfield.io.samples import SAMPLE

PHOTOS = SAMPLE.parent / "photos"


@pytest.fixture
def bm25s() -> Any:
    pytest.importorskip("Stemmer", reason="the extra text is not installed")
    return pytest.importorskip("bm25s", reason="the extra text is not installed")


def by_hand(texts: dict[str, str], query: str, k1: float, b: float) -> dict[str, float]:
    """Lucene's BM25 of words of two letters and more, as its formula reads."""
    words = {item: re.findall(r"\w\w+", text.lower()) for item, text in texts.items()}
    mean = sum(map(len, words.values())) / len(words)
    scores = dict.fromkeys(words, 0.0)
    for word in re.findall(r"\w\w+", query.lower()):
        n = sum(word in other for other in words.values())
        for item, own in words.items():
            if f := own.count(word):
                weight = math.log(1 + (len(words) - n + 0.5) / (n + 0.5))
                scores[item] += weight * f / (f + k1 * (1 - b + b * len(own) / mean))
    return {item: score for item, score in scores.items() if score > 0}


@pytest.mark.parametrize("seed", range(20))
def test_scores_are_those_of_the_formula(seed: int, bm25s: Any) -> None:
    draw = random.Random(seed)
    vocabulary = [a + b for a in "abcdef" for b in "xyz"]
    texts = {f"i{n}": " ".join(draw.choices(vocabulary, k=draw.randint(0, 12))) for n in range(30)}
    texts["i0"] = "ax, AX! (by)"
    query = " ".join(draw.choices(vocabulary, k=3))
    k1, b = draw.choice([(1.2, 0.75), (0.9, 0.4), (0.0, 0.0), (2.0, 1.0)])
    answer = cf.search_texts(texts, {"t": query}, k1=k1, b=b, language="none")
    expected = by_hand(texts, query, k1, b)
    assert answer.run.to_dict().get("t", {}) == pytest.approx(expected)


def test_words_of_a_language_lose_their_endings_and_little_words(bm25s: Any) -> None:
    texts = {"a": "The cats were sitting", "b": "of the and", "c": "a dog"}
    query = {"t": "the sits of a cat"}
    assert list(cf.search_texts(texts, query).run.to_dict()["t"]) == ["a"]
    assert set(cf.search_texts(texts, query, language="none").run.to_dict()["t"]) == {"a", "b"}


def test_of_equal_items_the_larger_ids_are_taken_as_runs_are_read(bm25s: Any) -> None:
    texts = dict.fromkeys("badc", "red") | {"z": "blue sky"}
    found = cf.search_texts(texts, {"t": "red"}, k=2, language="none").run
    assert found.ranking("t") == ["d", "c"]


def test_text_visual_and_fused_runs_stand_side_by_side(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    bm25s: Any,
) -> None:
    monkeypatch.chdir(tmp_path)
    tags, qrels = str(PHOTOS / "tags.csv"), str(PHOTOS / "qrels.txt")
    pictures = str(PHOTOS / "pictures")
    assert main(["runs", "extract", pictures, "-d", "CEDD", "-o", "f", "--quiet"]) == 0
    assert main(["runs", "search", "f/CEDD.npz", "-o", "visual.run", "--quiet"]) == 0
    assert main(["runs", "text", tags, "-o", "text.run", "--quiet"]) == 0
    assert main(["runs", "fuse", "visual.run", "text.run", "-o", "both.run", "--quiet"]) == 0
    files = [qrels, "text.run", "visual.run", "both.run"]
    capsys.readouterr()
    assert main(["compare", *files, "-m", "AP", "--format", "json", "--quiet"]) == 0
    means = {row["run"]: row["mean"] for row in json.loads(capsys.readouterr().out)["leaderboard"]}
    assert means["both"] > max(means["text"], means["visual"])
    # Every item asked with its own tags, and none found itself.
    run = cf.read_run("text.run")
    assert not any(topic in run.ranking(topic) for topic in run.topics)


@pytest.mark.parametrize(
    ("texts", "queries", "options", "said"),
    [
        ("id,text\na,b\n", None, {}, "texts.csv:1: expected a header item,text"),
        ("item,one,two\na,b,c\n", None, {}, "no column 'text', and several others: column="),
        ("item,one\na,b\n", None, {"column": "two"}, "no column 'two'"),
        ("item,text\na,bb\na,cc\n", None, {}, "texts.csv:3: item 'a' has two texts"),
        ("item,text\na\n", None, {}, "texts.csv:2: expected 2 columns"),
        ("item,text\n", None, {}, "texts.csv: has no items"),
        ("item,text\na,.\n", None, {}, "texts.csv: has no words"),
        ("item,text\na,bb\n", "item,text\na,b\n", {}, "queries.csv:1: expected a header topic"),
    ],
)
def test_what_is_wrong_with_texts_is_said(
    tmp_path: Path, texts: str, queries: str | None, options: Any, said: str, bm25s: Any
) -> None:
    (tmp_path / "texts.csv").write_text(texts)
    asked = None
    if queries is not None:
        asked = tmp_path / "queries.csv"
        asked.write_text(queries)
    with pytest.raises(InputError) as caught:
        cf.search_texts(tmp_path / "texts.csv", asked, **options)
    assert said in str(caught.value)


def test_other_columns_tabs_and_topics_without_words(tmp_path: Path, bm25s: Any) -> None:
    (tmp_path / "texts.tsv").write_text("item\tcaption\tplace\na\tred cat\there\nb\tblue\tthere\n")
    (tmp_path / "topics.csv").write_text('topic,text\n1,"cat, blue"\n2,.\n')
    answer = cf.search_texts(tmp_path / "texts.tsv", tmp_path / "topics.csv", column="caption")
    assert set(answer.run.to_dict()["1"]) == {"a", "b"}
    assert answer.notes == ("1 topic without a word, and so without items: 2",)
    with pytest.raises(UsageError, match=r"k1 is 1\.2 and b 2"):
        cf.search_texts({"a": "b"}, b=2)


def test_the_extra_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bm25s", None)
    with pytest.raises(MissingExtraError, match=r"cranfield\[text\]"):
        cf.search_texts({"a": "red"}, language="none")
