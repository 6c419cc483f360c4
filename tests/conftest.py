"""What several folders of tests share."""

import os
from pathlib import Path

import pytest

from cranfield.errors import CranfieldError
from cranfield.relatedness.wordnet_files import find_database

try:
    from hypothesis import settings
except ModuleNotFoundError:
    pass
else:
    # The same examples in every run, however long they take on a busy machine, and nothing stored
    # in a checkout that may be read-only. `--hypothesis-profile=search` looks for new examples.
    settings.register_profile("cranfield", deadline=None, derandomize=True, database=None)
    settings.register_profile("search", deadline=None, derandomize=False, database=None)
    settings.load_profile("cranfield")


def pytest_collection_modifyitems(items):
    """Tests marked `wordnet` are skipped where its database is not installed."""
    marked = [item for item in items if item.get_closest_marker("wordnet")]
    if not marked:
        return
    try:
        find_database()
    except CranfieldError:
        reason = "needs the WordNet database: apt-get install wordnet-base wordnet-sense-index"
        for item in marked:
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_terminal_summary(terminalreporter, config):
    """The seed of the order, which `-q` leaves out."""
    seed = getattr(config.option, "randomly_seed", None)
    if seed is not None and config.pluginmanager.hasplugin("randomly"):
        terminalreporter.write_line(f"order of the tests: --randomly-seed={seed}")


@pytest.fixture(scope="session")
def outside():
    """Finds data that may not be shipped below the folder that CRANFIELD_DATA names.

    `outside("crowd/rte", "the log of Snow 2008")` is its path; without it the test is skipped.
    """

    def find(relative: str, what: str) -> Path:
        folder = os.environ.get("CRANFIELD_DATA", "")
        if not folder:
            pytest.skip(f"{what} may not be shipped: CRANFIELD_DATA names no folder with it")
        path = Path(folder, relative)
        if not path.exists():
            pytest.skip(f"{what} may not be shipped, and {relative} is not below CRANFIELD_DATA")
        return path

    return find
