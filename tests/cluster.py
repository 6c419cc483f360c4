"""A Dask cluster to test on: on loopback alone, without a dashboard, at ports that are free."""

from __future__ import annotations

from typing import Any

import pytest


def local_cluster(workers: int) -> Any:
    distributed = pytest.importorskip("distributed", reason="the extra 'cluster' is not installed")
    # Without an address its HTTP server would take port 8787, and a second cluster would warn.
    return distributed.LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        host="127.0.0.1",
        dashboard_address=None,
        scheduler_kwargs={"dashboard_address": "127.0.0.1:0"},
    )
