"""What is collected where."""

from pathlib import Path

SOURCES = Path(__file__).parent / "src"


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Sources without an example are not imported: there are hundreds of them."""
    if collection_path.suffix != ".py" or SOURCES not in collection_path.parents:
        return None
    return True if ">>>" not in collection_path.read_text(encoding="utf-8") else None
