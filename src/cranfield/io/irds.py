"""Judgements of the catalogue of ir_datasets, by name: `irds:beir/scifact/test`."""

from __future__ import annotations

import importlib
from typing import Any

from cranfield.data import Judgements
from cranfield.errors import InputError, MissingExtraError

PREFIX = "irds:"
SAID = 200


def read_catalogued(name: str) -> Judgements:
    """The judgements of a data set; ir_datasets fetches what is not on this machine yet."""
    judged = _data_set(name).qrels_iter()
    try:
        rows = [(r.query_id, r.doc_id, r.relevance) for r in judged]
    except (OSError, RuntimeError) as error:
        # What ir_datasets, requests and the system raise where a file cannot be had.
        said = str(error.args[0] if error.args else error).partition("\n")[0][:SAID]
        raise InputError.single(name, f"could not be fetched: {said}") from error
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
