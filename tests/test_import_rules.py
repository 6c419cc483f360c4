"""Who may import the compiled core; import-linter, which keeps the layers, cannot see it."""

import ast
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "src" / "cranfield"
ALLOWED = (
    "data/",
    "io/",
    "measures/",
    "stats/",
    "features/",
    "relatedness/",
    "comparison/ppi_pairs.py",
    "compat/trec_eval.py",
    "evaluation/",
)


def imports_core(path: Path) -> bool:
    for node in ast.walk(ast.parse(path.read_text())):
        names = (
            [a.name for a in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
        )
        module = node.module or "" if isinstance(node, ast.ImportFrom) else ""
        if any(n.startswith("cranfield._core") for n in (module, *names)):
            return True
        if module == "cranfield" and "_core" in names:
            return True
    return False


def test_the_core_is_reached_through_few_doors():
    found = {p.relative_to(PACKAGE).as_posix() for p in PACKAGE.rglob("*.py") if imports_core(p)}
    assert "evaluation/ranked.py" in found
    assert not [name for name in found if not name.startswith(ALLOWED)]


def test_numpy_is_loaded_in_one_of_two_ways():
    """At the top of a module, or by `cranfield._lazy`; never inside a function."""
    nested = {
        path.relative_to(PACKAGE).as_posix()
        for path in PACKAGE.rglob("*.py")
        for function in ast.walk(ast.parse(path.read_text()))
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Import) and any(a.name == "numpy" for a in node.names)
    }
    assert nested == {"_lazy.py"}
