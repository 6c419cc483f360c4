"""Intervals, tests, corrections and rank correlation: pure functions on arrays.

Rows are runs (or pairs of runs), columns are topics; see `cranfield.comparison.compare` for the
way from the scores of runs to a comparison.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cranfield.stats.anova import Friedman, OneWay, TwoWay, friedman, one_way, two_way
    from cranfield.stats.bootstrap import bootstrap_test
    from cranfield.stats.corrections import CORRECTIONS, correct
    from cranfield.stats.correlation import (
        Correlation,
        ap_correlation,
        kendall,
        kolmogorov_smirnov,
        overlap_of_scores,
        pearson,
        rank_biased_overlap,
        spearman,
    )
    from cranfield.stats.cronbach import Reliability, cronbach_alpha, reliability
    from cranfield.stats.effects import (
        WinTieLoss,
        change_percent,
        cliffs_delta,
        cohen_d,
        deviation_percent,
        win_tie_loss,
    )
    from cranfield.stats.intervals import (
        Interval,
        Intervals,
        bootstrap_means,
        mean_intervals,
        paired_intervals,
        run_intervals,
    )
    from cranfield.stats.paired import (
        PairedResult,
        equivalence_test,
        sign_test,
        t_test,
        wilcoxon_test,
    )
    from cranfield.stats.posthoc import (
        critical_difference,
        nemenyi_test,
        randomized_tukey_test,
        tukey_test,
    )
    from cranfield.stats.power import detectable_effect, paired_power, topics_needed
    from cranfield.stats.powered import Powered, powered_means
    from cranfield.stats.randomization import randomization_test
    from cranfield.stats.rankgroups import (
        RankGroup,
        compact_letters,
        place_intervals,
        places,
        rank_groups,
    )
    from cranfield.stats.stepdown import StepDown, step_down

__all__ = [
    "CORRECTIONS",
    "Correlation",
    "Friedman",
    "Interval",
    "Intervals",
    "OneWay",
    "PairedResult",
    "Powered",
    "RankGroup",
    "Reliability",
    "StepDown",
    "TwoWay",
    "WinTieLoss",
    "ap_correlation",
    "bootstrap_means",
    "bootstrap_test",
    "change_percent",
    "cliffs_delta",
    "cohen_d",
    "compact_letters",
    "correct",
    "critical_difference",
    "cronbach_alpha",
    "detectable_effect",
    "deviation_percent",
    "equivalence_test",
    "friedman",
    "kendall",
    "kolmogorov_smirnov",
    "mean_intervals",
    "nemenyi_test",
    "one_way",
    "overlap_of_scores",
    "paired_intervals",
    "paired_power",
    "pearson",
    "place_intervals",
    "places",
    "powered_means",
    "randomization_test",
    "randomized_tukey_test",
    "rank_biased_overlap",
    "rank_groups",
    "reliability",
    "run_intervals",
    "sign_test",
    "spearman",
    "step_down",
    "t_test",
    "topics_needed",
    "tukey_test",
    "two_way",
    "wilcoxon_test",
    "win_tie_loss",
]

# Where each name is: asking which tests there are shall not load numpy.
_MODULES = {
    "anova": "Friedman OneWay TwoWay friedman one_way two_way",
    "bootstrap": "bootstrap_test",
    "corrections": "CORRECTIONS correct",
    "correlation": "Correlation ap_correlation kendall kolmogorov_smirnov overlap_of_scores "
    "pearson rank_biased_overlap spearman",
    "effects": "WinTieLoss change_percent cliffs_delta cohen_d deviation_percent win_tie_loss",
    "intervals": "Interval Intervals bootstrap_means mean_intervals paired_intervals run_intervals",
    "paired": "PairedResult equivalence_test sign_test t_test wilcoxon_test",
    "posthoc": "critical_difference nemenyi_test randomized_tukey_test tukey_test",
    "power": "detectable_effect paired_power topics_needed",
    "powered": "Powered powered_means",
    "randomization": "randomization_test",
    "rankgroups": "RankGroup compact_letters place_intervals places rank_groups",
    "cronbach": "Reliability cronbach_alpha reliability",
    "stepdown": "StepDown step_down",
}
_HOME = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
