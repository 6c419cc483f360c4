"""Result tables by their name."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from cranfield.campaign.result_tables import TABLES, TableSpec, table_spec
from cranfield.campaign.results.results_data import ResultsData, ResultTable
from cranfield.errors import UsageError

__all__ = ["TABLES", "TableSpec", "result_table", "table_spec"]


def result_table(name: str, material: ResultsData, **options: Any) -> ResultTable:
    """A result table by its name; the notes of the scores go along."""
    declared = table_spec(name)
    extra = sorted(options.keys() - set(declared.options))
    if extra:
        takes = ", ".join(declared.options) or "none"
        raise UsageError(f"the table {name} takes no {extra[0]}=... (it takes: {takes})")
    if material.task not in declared.kinds:
        raise UsageError(f"the table {name} is for {' or '.join(declared.kinds)} runs")
    module, _, function = declared.maker.partition(":")
    make = getattr(import_module(module), function)
    result: ResultTable = make(material, **options)
    return result
