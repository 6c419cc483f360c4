"""Runs whose items are not judged: often the same items, written in another way."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from cranfield.data import Judgements, Run
from cranfield.io import read_run
from cranfield.io.coerce import coerce_run, is_file
from cranfield.io.files import can_be_read_again
from cranfield.notes import some_names

if TYPE_CHECKING:
    from cranfield.evaluation.kernel_plan import RunValues

# From this share of its topics on, it is worth a note that a run has no judged item there.
SHARE_NOTED = 0.5
# So much of a run is looked at for ids that nearly agree.
TOPICS_COMPARED = 20
ITEMS_COMPARED = 1000

_ENDING = re.compile(r"\.[A-Za-z0-9]{1,5}$")


def _normalised(item: str) -> str:
    return unicodedata.normalize("NFC", item)


def _without_ending(item: str) -> str:
    return _ENDING.sub("", item)


def _plainest(item: str) -> str:
    return unicodedata.normalize("NFC", _without_ending(item)).casefold()


_WAYS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("when case is ignored", str.casefold),
    ("when Unicode is normalised", _normalised),
    ("without their endings", _without_ending),
    ("when case, endings and forms of Unicode are ignored", _plainest),
)


def unmatched_note(
    values: RunValues, column: int, run: Any, judgements: Judgements, jobs: int
) -> str:
    """A note when no item of a run, or of many of its topics, is judged; else nothing.

    `column` of the values counts the judged items that the run has for each topic.
    """
    counts = memoryview(values.buffer)
    present = [t for t, is_present in enumerate(values.present) if is_present]
    without = [t for t in present if counts[t, column] == 0]
    if not without or len(without) < SHARE_NOTED * len(present):
        return ""
    topics = [judgements.topics[t] for t in without]
    topic_text = ""
    if len(without) < len(present):
        topic_text = f" for {len(without)} of {len(present)} topics ({some_names(topics)})"
    if is_file(run):
        table = read_run(run, jobs=jobs) if can_be_read_again(run) else None
    else:
        table = coerce_run(run, values.name)
    if table is not None and not any(True for topic in topics for _ in _items(table, topic)):
        return ""  # nothing is retrieved there
    hint = "" if table is None else _hint(table, judgements, topics)
    return f"none of its items is judged{topic_text}{hint}"


def _hint(run: Run, judgements: Judgements, topics: Sequence[str]) -> str:
    pairs = [
        (list(_items(run, topic)), list(_items(judgements, topic)))
        for topic in topics[:TOPICS_COMPARED]
    ]
    for condition, change in _WAYS:
        for retrieved, judged in pairs:
            judged_by_form = {change(item): item for item in reversed(judged)}
            for item in retrieved:
                if (match := judged_by_form.get(change(item))) is not None:
                    return f"; ids agree {condition}: {item!a} here, {match!a} in the judgements"
    return ""


def _items(table: Run | Judgements, topic: str) -> Iterator[str]:
    """The first items of a topic."""
    if topic not in table.topics:
        return
    at = table.topics.index(topic)
    begin, end = int(table.offsets[at]), int(table.offsets[at + 1])
    for row in range(begin, min(end, begin + ITEMS_COMPARED)):
        yield table.item(row)
