"""Judgements of the catalogue of ir_datasets, by name: `irds:beir/scifact/test`."""

from __future__ import annotations

import importlib
from typing import Any

from cranfield.data import Judgements
from cranfield.errors import InputError, MissingExtraError

PREFIX = "irds:"


def read_catalogued(name: str) -> Judgements:
    """The judgements of a data set; ir_datasets fetches what is not on this machine yet."""
    rows = [(r.query_id, r.doc_id, r.relevance) for r in _data_set(name).qrels_iter()]
    if not rows:
        raise InputError.single(name, "has no judgements")
    topics, items, grades = zip(*rows, strict=True)
    return Judgements.from_rows(list(topics), list(items), list(grades))


def _data_set(name: str) -> Any:
    try:
        catalogue = importlib.import_module("ir_datasets")
    except ModuleNotFoundError:
        raise MissingExtraError("ir_datasets", "datasets", "Reading irds: names") from None
    try:
        found = catalogue.load(name.removeprefix(PREFIX))
    except KeyError:
        raise InputError.single(name, "is no data set of ir_datasets") from None
    if not found.has_qrels():
        raise InputError.single(name, "has no judgements; name a part that has them")
    return found
