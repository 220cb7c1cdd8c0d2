"""Which process works on a run, and whether it still lives.

A process id alone says little: ids are used again, and after a reboot all of them are. The start time and the id of
the boot make it unique; a process on another host cannot be looked at, so it counts as alive.
"""

from __future__ import annotations

import os
import socket
import subprocess
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_NO_LONGER_RUNNING = ("Z", "X")  # a zombie has ended; only its parent has not asked yet


@dataclass(frozen=True)
class Owner:
    """A process: its id, when it started (in the system's own notation), the boot it belongs to, and its host."""

    pid: int
    started: str
    boot_id: str
    host: str


def this_process() -> Owner:
    """Return the process that asks."""
    pid = os.getpid()
    state = _state_and_start(pid)
    return Owner(pid=pid, started=state[1] if state else "", boot_id=_boot_id(), host=socket.gethostname())


def is_here(owner: Owner) -> bool:
    """Whether the process belongs, or belonged, to this host, where it can be looked at and stopped."""
    return owner.host == socket.gethostname()


def is_gone(owner: Owner) -> bool:
    """Whether the process has certainly ended."""
    if not is_here(owner):
        return False
    if owner.boot_id != _boot_id():
        return True
    state = _state_and_start(owner.pid)
    if state is None:
        return not _exists(owner.pid)
    return state[0] in _NO_LONGER_RUNNING or state[1] != owner.started


def _state_and_start(pid: int) -> tuple[str, str] | None:
    if _PROC.is_dir():
        return _from_proc(pid)
    return _from_ps(pid)


def _from_proc(pid: int) -> tuple[str, str] | None:
    try:
        stat = (_PROC / str(pid) / "stat").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return None
    # The program's name stands in brackets and may hold spaces and brackets itself; the numbered fields follow it.
    fields = stat.rpartition(")")[2].split()
    return fields[0], fields[19]


def _from_ps(pid: int) -> tuple[str, str] | None:
    listed = subprocess.run(["ps", "-o", "state=,lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
    state, _, started = listed.stdout.strip().partition(" ")
    return (state[:1], started.strip()) if state else None


def _boot_id() -> str:
    boot_id = _PROC / "sys" / "kernel" / "random" / "boot_id"
    if boot_id.exists():
        return boot_id.read_text().strip()
    # macOS: seconds since the epoch at which the system came up.
    return subprocess.run(["sysctl", "-n", "kern.boottime"], capture_output=True, text=True, check=True).stdout.strip()


def _exists(pid: int) -> bool:
    # /proc hides other users' processes on some systems; a signal's permission check still knows them.
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
