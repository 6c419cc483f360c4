"""The options of commands on judgement logs."""

from __future__ import annotations

from collections.abc import Iterable

from cranfield.cli._common import Parser, add


def log_options(parser: Parser, duplicates: Iterable[str]) -> None:
    help_text = """CSV annotator,item,concept,value[,seconds] or annotator,item,category; or a
    collection's folder"""
    add(parser, "judgements JUDGEMENTS|DIR", help_text)
    help_text = "the answers that can be given, low to high; any other is an error"
    add(parser, "--values", help_text, str.split, metavar='"A B ..."')
    help_text = "a second judgement of the same annotator on the same cell"
    add(parser, "--duplicates", help_text, tuple(duplicates), "error")
    help_text = """TOML with [[exactly_one]] groups, which are one question each (and more rules);
    forms that break them are left out"""
    add(parser, "--rules FILE", help_text)
    add(parser, "--ontology NAME|FILE", "more rules, from a built-in ontology or a file")
