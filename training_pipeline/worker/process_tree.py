"""The processes below one, those in sessions of their own too, and the memory that they hold together.

Linux only: where there is no /proc, no process is below any.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress

_ENDED = (b"Z", b"X")
_PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
_MIB = 1024 * 1024
# The kernel counts resident pages in batches, one a processor, so its quick count may lag behind on a large machine.
_CERTAIN = 0.75


def descendants(root: int) -> list[int]:
    """Return the ids of the living processes that `root` started, that those started, and so on."""
    children: dict[int, list[int]] = {}
    ended = set()
    for pid in _all_ids():
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123  pathlib takes longer to import than the rest
                state, parent, *_ = file.read().rpartition(b")")[2].split(None, 2)
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
        children.setdefault(int(parent), []).append(pid)
        if state in _ENDED:
            ended.add(pid)
    below = list(children.get(root, ()))
    for pid in below:
        below += children.get(pid, ())
    return [pid for pid in below if pid not in ended]


def hold_more_than(pids: Iterable[int], max_mib: float) -> bool:
    """Say whether some processes hold more memory together than that, pages that they share counted once (PSS)."""
    pids = list(pids)
    # Adding up PSS makes the kernel walk every page; what is resident is known at once and is never less.
    if sum(map(_resident, pids)) <= _CERTAIN * max_mib * _MIB:
        return False
    return sum(map(_proportional, pids)) > max_mib * _MIB


def _all_ids() -> list[int]:
    try:
        return [int(name) for name in os.listdir("/proc") if name.isdigit()]  # noqa: PTH208
    except FileNotFoundError:
        return []


def _resident(pid: int) -> int:
    with suppress(FileNotFoundError, ProcessLookupError), open(f"/proc/{pid}/statm", "rb") as file:  # noqa: PTH123
        return int(file.read().split()[1]) * _PAGE_BYTES
    return 0


def _proportional(pid: int) -> int:
    """Return a process's share of the memory it uses, in bytes; all of it where the kernel does not tell shares."""
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:  # noqa: PTH123
            line = next((line for line in file if line.startswith(b"Pss:")), b"Pss: 0 kB")
        return int(line.split()[1]) * 1024
    except (FileNotFoundError, ProcessLookupError, PermissionError):
        return _resident(pid)
