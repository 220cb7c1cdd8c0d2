"""What this machine has for a run: cores, memory, GPUs, disk."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

CGROUP = Path("/sys/fs/cgroup")
"""Where Linux tells a container what it may use."""

_MIB = 1024 * 1024
_NVIDIA_SMI = (
    "nvidia-smi",
    "--query-gpu=index,name,memory.total,memory.free",
    "--format=csv,noheader,nounits",
)
_ASK_SECONDS = 60.0
_ASK_TORCH = (
    "import torch; "
    "print('cuda' if torch.cuda.is_available() else 'mps' if torch.backends.mps.is_available() else 'cpu')"
)


@dataclass(frozen=True)
class Gpu:
    """One GPU of this machine."""

    index: int
    name: str
    memory_total_mb: int
    memory_free_mb: int


@dataclass(frozen=True)
class Memory:
    """Main memory in MiB: what there is, and what a new process could take now, None where nobody tells."""

    total_mb: int
    available_mb: int | None


def cores() -> int:
    """Return how many cores this process may use, which may be fewer than the machine has."""
    allowed = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    quota = _cgroup_cores()
    return allowed if quota is None else max(1, min(allowed, quota))


def memory() -> Memory:
    """Return the memory that this process may use: the machine's, or less where a container sets a limit."""
    total, available = _machine_memory()
    limit, used = _cgroup_number("memory.max"), _cgroup_number("memory.current")
    if limit is not None and limit < total:
        left = max(0, limit - (used or 0))
        total, available = limit, left if available is None else min(available, left)
    return Memory(total // _MIB, None if available is None else available // _MIB)


def gpus() -> tuple[Gpu, ...]:
    """Return NVIDIA's GPUs with their free memory, as its driver's own tool tells; none where there is no such tool."""
    try:
        told = subprocess.run(_NVIDIA_SMI, capture_output=True, text=True, check=True, timeout=_ASK_SECONDS).stdout
    except (OSError, subprocess.SubprocessError):
        return ()
    return parse_gpus(told)


def parse_gpus(told: str) -> tuple[Gpu, ...]:
    """Return the GPUs in nvidia-smi's table of index, name, total and free memory (MiB), without heading or units."""
    rows = [[cell.strip() for cell in line.rsplit(",", 2)] for line in told.splitlines() if line.strip()]
    found = []
    for first, total, free in (row for row in rows if len(row) == 3):
        index, _, name = first.partition(",")
        # A GPU that is cut into parts tells [N/A] of its own memory.
        if index.strip().isdigit() and total.isdigit() and free.isdigit():
            found.append(Gpu(int(index), name.strip(), int(total), int(free)))
    return tuple(found)


def torch_device() -> str | None:
    """Return what PyTorch would compute on (`cuda`, `mps` or `cpu`), None where it is not installed or broken.

    Asked in a process of its own: importing it takes seconds and memory.
    """
    if find_spec("torch") is None:
        return None
    asked = [sys.executable, "-c", _ASK_TORCH]
    try:
        return subprocess.run(asked, capture_output=True, text=True, check=True, timeout=_ASK_SECONDS).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return None


def free_disk_mb(folder: Path) -> int:
    """Return the free MiB on the disk that a folder is on, or will be on when it is made."""
    return shutil.disk_usage(existing_parent(folder)).free // _MIB


def existing_parent(folder: Path) -> Path:
    """Return the folder, or the nearest one above it that is there."""
    return next(path for path in (folder, *folder.parents) if path.exists())


def is_writable(folder: Path) -> bool:
    """Return whether this process may write into a folder, or make it."""
    return os.access(existing_parent(folder), os.W_OK | os.X_OK)


def _machine_memory() -> tuple[int, int | None]:
    """Return the bytes there are, and those that could be taken; only Linux tells the latter in a file."""
    facts = Path("/proc/meminfo")
    if facts.exists():
        known = dict(line.split(":", 1) for line in facts.read_text().splitlines())
        return _kib(known["MemTotal"]), _kib(known["MemAvailable"])
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"), None


def _kib(told: str) -> int:
    return int(told.removesuffix("kB")) * 1024


def _cgroup_number(name: str) -> int | None:
    told = _cgroup_text(name)
    return int(told) if told is not None and told.isdigit() else None


def _cgroup_cores() -> int | None:
    quota, _, period = (_cgroup_text("cpu.max") or "").partition(" ")
    return -(-int(quota) // int(period)) if quota.isdigit() and period.isdigit() else None


def _cgroup_text(name: str) -> str | None:
    try:
        return (CGROUP / name).read_text().strip()
    except OSError:
        return None
