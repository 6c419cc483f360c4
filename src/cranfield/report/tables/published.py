"""What publishing a site wrote, as a table."""

from __future__ import annotations

from typing import Any

from cranfield.campaign.published import Published
from cranfield.report.document import Column, Document, Table


def document(answer: Published, **_: Any) -> Document:
    """A row of counts below the verdicts of all tasks."""
    names = ("pages", "pictures", "files", "bytes")
    row = [str(answer.folder), *(getattr(answer, name) for name in names)]
    columns = [Column("folder", numeric=False), *(Column(name) for name in names)]
    said = [line for lines in answer.verdicts.values() for line in lines]
    sealed = "the truth is released" if answer.released else "the truth is sealed"
    table = Table(columns, [row], notes=[f"{sealed}; open index.html in a browser"])
    return Document(answer.to_dict(), [table], answer.notes, lead=said)
