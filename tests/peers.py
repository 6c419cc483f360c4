"""Packages that numbers are held against, loaded when a test first asks one of them.

Loading them takes seconds, which collecting the tests does not wait for.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Peer:
    """A module that is imported when something of it is asked for."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        # What pytest and doctest look for in every object of a module.
        if attribute.startswith(("_", "pytest")):
            raise AttributeError(attribute)
        return getattr(import_module(self._name), attribute)


sklearn_metrics = Peer("sklearn.metrics")
statsmodels_api = Peer("statsmodels.api")
statsmodels_formulas = Peer("statsmodels.formula.api")
statsmodels_signs = Peer("statsmodels.stats.descriptivestats")
statsmodels_groups = Peer("statsmodels.stats.multicomp")
statsmodels_tests = Peer("statsmodels.stats.multitest")
statsmodels_power = Peer("statsmodels.stats.power")
statsmodels_weights = Peer("statsmodels.stats.weightstats")
