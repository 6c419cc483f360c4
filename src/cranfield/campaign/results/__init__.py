"""Which result tables there are: each a declaration and a function from material to an answer."""

from __future__ import annotations

from cranfield.campaign.result_tables import TABLES, TableSpec
from cranfield.campaign.results.asked import (
    campaign_results,
    open_material,
    open_years,
    result_table,
    years_on_shared,
)
from cranfield.campaign.results.results_data import (
    ResultColumn,
    ResultPart,
    ResultsData,
    ResultTable,
)

__all__ = [
    "TABLES",
    "ResultColumn",
    "ResultPart",
    "ResultTable",
    "ResultsData",
    "TableSpec",
    "campaign_results",
    "open_material",
    "open_years",
    "result_table",
    "years_on_shared",
]
