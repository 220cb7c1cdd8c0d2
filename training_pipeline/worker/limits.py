"""What a training process may use, and what it used."""

from __future__ import annotations

import os
import resource
import sys
from pathlib import Path

from training_pipeline.worker.spec import Limits

_THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "LOKY_MAX_CPU_COUNT",
)


def apply_limits(limits: Limits) -> None:
    """Limit this process and those it starts. Numeric libraries read their threads once, when they are imported."""
    if limits.num_threads is not None:
        os.environ.update(dict.fromkeys(_THREAD_VARIABLES, str(limits.num_threads)))
    if limits.max_ram_mb is not None:
        n_bytes = int(limits.max_ram_mb * 1024 * 1024)
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        allowed = n_bytes if hard == resource.RLIM_INFINITY else min(n_bytes, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (allowed, hard))


def peak_rss_mb() -> float:
    """Return the most memory this process had resident, in MiB.

    On Linux from VmHWM, which starts anew with the program; ru_maxrss also counts the process that started it.
    """
    status = Path("/proc/self/status")
    if status.exists():
        high_water = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(high_water.split()[1]) / 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)
