"""Checks as what continuous integration shows: JUnit's XML, and a table in Markdown."""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from cranfield.comparison.regression_gate import Check
from cranfield.report.document import Column, Document, Table
from cranfield.report.render import render


def junit_xml(checks: Sequence[Check], name: str = "cranfield") -> str:
    """The checks as test cases."""
    bad = sum(not check.holds for check in checks)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuites tests="{len(checks)}" failures="{bad}">',
        f'<testsuite name={quoteattr(name)} tests="{len(checks)}" failures="{bad}" errors="0">',
    ]
    for check in checks:
        testcase = f"<testcase classname={quoteattr(check.run)} name={quoteattr(check.measure)}"
        if check.holds:
            lines.append(f"{testcase}/>")
        else:
            failure = f"<failure message={quoteattr(check.said)}>{escape(check.said)}</failure>"
            lines.append(f"{testcase}>{failure}</testcase>")
    return "\n".join([*lines, "</testsuite>", "</testsuites>", ""])


def markdown_summary(checks: Sequence[Check]) -> str:
    """The verdict, and a table of the checks with what fails first."""
    bad = sum(not check.holds for check in checks)
    verdict = f"{bad} of {len(checks)} checks failed" if bad else f"{len(checks)} checks passed"
    names = ("result", "run", "measure", "what was found")
    columns = [Column(name, numeric=False) for name in names]
    rows = [
        ["passed" if check.holds else "FAILED", check.run, check.measure, check.said]
        for check in sorted(checks, key=lambda check: check.holds)
    ]
    return f"**{verdict}**\n\n" + render(Document({}, [Table(columns, rows)]), "markdown")
