"""What this system grants to the process: processors and addresses, on any platform."""

from __future__ import annotations

import math
import os
from functools import cache
from pathlib import Path

_CGROUP = Path("/sys/fs/cgroup")


def usable_cpus() -> int:
    """How many processors this process may use: by its affinity and the quota of its container."""
    try:
        allowed = len(os.sched_getaffinity(0))
    except (AttributeError, OSError):  # macOS and Windows have none
        allowed = os.cpu_count() or 1
    return math.ceil(min(allowed, _container_quota(_CGROUP)))


@cache
def _container_quota(cgroup: Path) -> float:
    """Processors that the control group of a container grants; infinite where there is no limit."""
    try:
        quota, period = (cgroup / "cpu.max").read_text().split()
    except (OSError, ValueError):
        try:
            quota = (cgroup / "cpu" / "cpu.cfs_quota_us").read_text()
            period = (cgroup / "cpu" / "cpu.cfs_period_us").read_text()
        except (OSError, ValueError):
            return math.inf
    try:
        share = int(quota) / int(period)
    except (ValueError, ZeroDivisionError):  # "max"
        return math.inf
    return share if share > 0 else math.inf


def address_limit() -> int | None:
    """Bytes of addresses that the process may have; None where there is no limit."""
    try:
        import resource
    except ModuleNotFoundError:  # Windows
        return None
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    return None if limit == resource.RLIM_INFINITY else limit
