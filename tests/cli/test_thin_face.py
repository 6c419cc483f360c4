"""The command line parses, asks and shows; everything else is the library's."""

import ast
import re
from pathlib import Path

import cranfield
from cranfield.cli import COMMANDS

PACKAGE = Path(cranfield.__file__).parent
CLI = sorted((PACKAGE / "cli").glob("*.py"))
# Style sheets have custom properties; this file reads the arguments of another program, and this
# one tells which commands to try.
NO_MESSAGES = (
    "compat/trec_eval.py",
    "measures/parse.py",
    "report/demo.py",
    "report/render.py",
)


def test_what_the_parser_found_is_handed_to_nobody():
    for path in CLI:
        if path.name != "_common.py":
            text = path.read_text()
            assert "Namespace" not in text, path
            assert "parse_args" not in text, path


def test_every_command_is_read_in_one_function():
    for module in {command.module for command in COMMANDS.values()}:
        tree = ast.parse((PACKAGE / "cli" / f"{module}.py").read_text())
        reads = [
            node
            for node in ast.walk(tree)
            if isinstance(node, ast.Attribute) and node.attr in ("read", "parse_args")
        ]
        assert len(reads) <= 1, module


def messages(path):
    """The strings of a module that are no documentation."""
    tree = ast.parse(path.read_text())
    docs = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docs:
            yield node.value


def test_the_library_speaks_of_parameters():
    """No option of the command line in a message: `cli/_messages.py` translates parameters."""
    for path in sorted(PACKAGE.rglob("*.py")):
        inside = path.relative_to(PACKAGE).as_posix()
        if inside.startswith(("cli/", "rehearsal/", "server/", "site/")) or inside in NO_MESSAGES:
            continue
        for text in messages(path):
            found = re.search(r"(?<![\w(-])--[a-z][a-z-]+(?!\))", text)
            if found and not text.startswith("cranfield ") and "var(" not in text:
                raise AssertionError(f"{inside} says {found[0]}: {text!r}")
