"""What is collected where."""

from pathlib import Path

ROOT = Path(__file__).parent


def pytest_ignore_collect(collection_path: Path) -> bool | None:
    """Files without tests or examples are not imported to look for them: there are hundreds.

    Files that the command line names are collected all the same.
    """
    is_test = collection_path.name.startswith(("test_", "conftest"))
    if collection_path.suffix != ".py" or is_test or ROOT not in collection_path.parents:
        return None
    return True if ">>>" not in collection_path.read_text(encoding="utf-8") else None
