"""Columns of an answer as data frames, Arrow tables and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from cranfield.errors import MissingExtraError
from cranfield.io.files import write_atomic

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

Columns: TypeAlias = "Mapping[str, Sequence[object]]"


def to_pandas(columns: Columns, purpose: str) -> pd.DataFrame:
    """A pandas data frame of these columns; `purpose` is what a message calls the caller."""
    try:
        import pandas as pd
    except ModuleNotFoundError:
        raise MissingExtraError("pandas", "dataframe", purpose) from None
    return pd.DataFrame({name: list(values) for name, values in columns.items()})


def to_polars(columns: Columns, purpose: str) -> pl.DataFrame:
    """A polars data frame of these columns."""
    try:
        import polars as pl
    except ModuleNotFoundError:
        raise MissingExtraError("polars", "dataframe", purpose) from None
    return pl.DataFrame({name: list(values) for name, values in columns.items()}, strict=False)


def to_arrow(columns: Columns, purpose: str) -> pa.Table:
    """An Arrow table of these columns."""
    try:
        import pyarrow as pa
    except ModuleNotFoundError:
        raise MissingExtraError("pyarrow", "dataframe", purpose) from None
    return pa.table({name: list(values) for name, values in columns.items()})


def to_csv(columns: Columns, path: str | Path | None = None) -> str:
    """The columns as CSV with a header, written whole to a file where one is named.

    >>> to_csv({"run": ["a", "b"], "AP": [0.5, None]})
    'run,AP\\na,0.5\\nb,\\n'
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*columns.values(), strict=True))
    if path is not None:
        write_atomic(Path(path), text.getvalue().encode())
    return text.getvalue()
