"""Texts to runs: captions, tags and articles ranked by BM25, with the package bm25s.

The run stands beside those of pictures in one comparison, and is fused with them like any other.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from numpy.typing import NDArray

from cranfield.answers import Answer
from cranfield.data import Run
from cranfield.errors import InputError, MissingExtraError, UsageError, check_counts, plural
from cranfield.features.search import DEFAULT_K
from cranfield.io.files import FileForm, csv_rows, describe, inner_suffix, read_text
from cranfield.notes import Progress, Watcher, with_progress
from cranfield.options import TEXT_LANGUAGES, TextLanguage
from cranfield.validation import validate_params

TextsForm: TypeAlias = FileForm | Mapping[str, str]
# Lucene's.
DEFAULT_K1, DEFAULT_B = 1.2, 0.75
TEXT = "text"


@dataclass(frozen=True, repr=False, eq=False)
class TextSearch(Answer):
    """The run, and the parameters of BM25 it was made with."""

    command: ClassVar[str] = "runs text"
    table_maker: ClassVar[str] = "cranfield.report.tables.features:text_search_document"
    run: Run
    items: int
    words: int
    k1: float
    b: float
    language: str

    def payload(self, **_: object) -> dict[str, Any]:
        """What was searched, and the rankings."""
        return {
            "run": self.run.name,
            "items": self.items,
            "words": self.words,
            "k1": self.k1,
            "b": self.b,
            "language": self.language,
            "topics": self.run.to_dict(),
        }

    def headline(self) -> str:
        return (
            f"BM25: {plural(len(self.run.topics), 'topic')} in {plural(self.items, 'text')} of "
            f"{plural(self.words, 'different word')}"
        )


@validate_params
@with_progress
def search_texts(
    texts: TextsForm,
    queries: TextsForm | None = None,
    *,
    column: str | None = None,
    k: int = DEFAULT_K,
    k1: float = DEFAULT_K1,
    b: float = DEFAULT_B,
    language: TextLanguage = "english",
    keep_query: bool = False,
    name: str = "bm25",
    progress: Watcher | None = None,
) -> TextSearch:
    """The `k` items of each query whose texts have most of its words, by BM25, as a run.

    A word t of the query adds ln(1 + (N - n + 0.5) / (n + 0.5)) f / (f + k1 (1 - b + b L / A)) to
    the score of an item that has it f times: n of the N items have t, the item has L words and
    the items have A on average. Items that share no word with the query are left out.

    `texts` are those of the items and `queries` those of the topics: {id: text}, or CSV or TSV
    whose first column has the ids; `column` names the column of the texts (default: "text", or
    the only other one). Without queries every item asks with its own text. An item that has the
    query's own id is left out unless `keep_query`. `language` says which words mean too little to
    count, and brings the others to their stems; "none" takes all words as they are.
    """
    check_counts(k=k)
    if not (0 <= k1 < np.inf and 0 <= b <= 1):
        raise UsageError(f"k1 is {k1:g} and b {b:g}: expected k1 from 0 on, b between 0 and 1")
    if language not in TEXT_LANGUAGES:
        raise UsageError(f"language={language!r} is not one of {', '.join(TEXT_LANGUAGES)}")
    split = _splitter(language)
    of_items = _texts_of(texts, "item", column)
    of_topics = of_items if queries is None else _texts_of(queries, "topic", column)
    words = split(list(of_items.values()))
    different = len({word for text in words for word in text})
    if not different:
        source = "texts" if isinstance(texts, Mapping) else describe(texts)
        raise InputError.single(source, "has no words to search")
    index = _index(words, k1, b)
    items = np.array(list(of_items), dtype=np.str_)
    rankings: dict[str, dict[str, float]] = {}
    wordless: list[str] = []
    tracker = Progress.of(progress)
    for number, (topic, query) in enumerate(
        zip(of_topics, split(list(of_topics.values())), strict=True), 1
    ):
        if not query:
            wordless.append(topic)
        scores = index(query) if query else np.zeros(len(items))
        if not keep_query:
            scores = np.where(items == topic, 0.0, scores)
        order = _best(scores, items, k)
        rankings[topic] = dict(zip(items[order].tolist(), scores[order].tolist(), strict=True))
        tracker(number / len(of_topics))
    notes = []
    if wordless:
        notes.append(
            f"{plural(len(wordless), 'topic')} without a word, and so without items: "
            + ", ".join(wordless[:5])
        )
    run = Run.from_dict({topic: found for topic, found in rankings.items() if found}).named(name)
    return TextSearch(run, len(items), different, k1, b, language, notes=tuple(notes))


def _best(scores: NDArray[np.float64], items: NDArray[np.str_], k: int) -> NDArray[np.int64]:
    """The rows of the k best items with a score, of equal ones those of larger ids, as in a run."""
    positive = np.flatnonzero(scores > 0)
    if len(positive) > k:
        limit = np.partition(scores[positive], -k)[-k]
        positive = positive[scores[positive] >= limit]
    by_id = positive[np.argsort(items[positive], kind="stable")[::-1]]
    return np.asarray(by_id[np.argsort(-scores[by_id], kind="stable")][:k])


def _bm25s() -> Any:
    try:
        import bm25s
    except ModuleNotFoundError:
        raise MissingExtraError("bm25s", "text", "Ranking texts by BM25") from None
    return bm25s


def _splitter(language: str) -> Callable[[list[str]], list[list[str]]]:
    """What makes words of texts."""
    bm25s, stems = _bm25s(), None
    if language != "none":
        try:
            import Stemmer
        except ModuleNotFoundError:
            raise MissingExtraError("pystemmer", "text", "Bringing words to their stems") from None
        stems = Stemmer.Stemmer(language)
    options = {"stopwords": None if language == "none" else language, "stemmer": stems}

    def split(texts: list[str]) -> list[list[str]]:
        words: list[list[str]] = bm25s.tokenize(
            texts, return_ids=False, show_progress=False, **options
        )
        return words

    return split


def _index(words: list[list[str]], k1: float, b: float) -> Callable[[list[str]], Any]:
    """What gives the scores of all items for the words of a query."""
    index = _bm25s().BM25(k1=k1, b=b, method="lucene", dtype="float64")
    index.index(words, show_progress=False)
    scores: Callable[[list[str]], Any] = index.get_scores
    return scores


def _texts_of(form: TextsForm, kind: str, column: str | None) -> dict[str, str]:
    """Texts by their ids."""
    if isinstance(form, Mapping):
        return {str(key): str(text) for key, text in form.items()}
    source = describe(form)
    delimiter = "\t" if inner_suffix(form) == ".tsv" else ","
    lines = read_text(form).splitlines(keepends=True)
    rows = csv_rows(iter(lines), source, delimiter, long_fields=True)
    _, header = next(rows, (1, []))
    names = [cell.strip() for cell in header]
    place = _column(names, kind, column, source)
    texts: dict[str, str] = {}
    for line, cells in rows:
        if not cells:
            continue
        if len(cells) <= place:
            raise InputError.single(source, f"expected {len(names)} columns", line)
        if cells[0] in texts:
            raise InputError.single(source, f"{kind} {cells[0]!r} has two texts", line)
        texts[cells[0]] = cells[place]
    if not texts:
        raise InputError.single(source, f"has no {kind}s")
    return texts


def _column(names: list[str], kind: str, column: str | None, source: str) -> int:
    """The place of the texts in a header whose first column has the ids."""
    if not names or names[0].lower() != kind:
        raise InputError.single(source, f"expected a header {kind},text", 1)
    if column is not None and column in names[1:]:
        return names.index(column, 1)
    if TEXT in names[1:] and (column is None or kind == "topic"):
        return names.index(TEXT, 1)
    if len(names) == 2 and (column is None or kind == "topic"):
        return 1
    problem = f"no column {column!r}" if column else "no column 'text', and several others"
    raise InputError.single(source, f"{problem}: column= names one of {', '.join(names[1:])}", 1)
