"""The options of commands on judgement logs."""

from __future__ import annotations

from collections.abc import Iterable

from cranfield.cli._common import Parser, add


def log_options(parser: Parser, duplicates: Iterable[str]) -> None:
    what = """CSV annotator,item,concept,value[,seconds] or annotator,item,category; or a
    collection's folder"""
    add(parser, "judgements JUDGEMENTS|DIR", what)
    what = "the answers that can be given, low to high; any other is an error"
    add(parser, "--values", what, str.split, metavar='"A B ..."')
    what = "a second judgement of the same annotator on the same cell"
    add(parser, "--duplicates", what, tuple(duplicates), "error")
    what = """TOML with [[exactly_one]] groups, which are one question each (and more rules);
    forms that break them are left out"""
    add(parser, "--rules FILE", what)
    add(parser, "--ontology NAME|FILE", "more rules, from a built-in ontology or a file")
