"""A plugin for pytest: the fixture `assert_not_worse`, a gate for runs inside a test suite."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest

from cranfield.comparison.regression_gate import assert_not_worse as _assert_not_worse

if TYPE_CHECKING:
    from cranfield.comparison.answer import Comparison


@pytest.fixture
def assert_not_worse() -> Callable[..., Comparison]:
    """`cranfield.assert_not_worse`, which fails when a run is worse than its baseline."""

    def check(*args: Any, **options: Any) -> Comparison:
        __tracebackhide__ = True
        return _assert_not_worse(*args, **options)

    return check
