"""What can be chosen in aggregation and in filters of tags; to know it takes no numpy."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

Method: TypeAlias = Literal[
    "majority", "weighted-majority", "dawid-skene", "one-coin", "mace", "mean", "median"
]
METHODS: tuple[Method, ...] = get_args(Method)
Ties: TypeAlias = Literal["undecided", "lowest", "highest", "random", "omit"]
TIES: tuple[Ties, ...] = get_args(Ties)
FilterMethod: TypeAlias = Literal["svm", "median"]
FILTERS: tuple[FilterMethod, ...] = get_args(FilterMethod)
