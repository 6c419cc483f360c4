"""What several folders of tests share."""

import pytest

from cranfield.errors import CranfieldError
from cranfield.relatedness.wordnet.locate import find_database


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
