"""A process between an owner and the command it started, which ends the command when the owner is gone.

Run as a script (`command_on_leash` says how): it imports little of the standard library and nothing else, and is there
in some twenty milliseconds. The command gets a process group of its own. The group is told to stop (SIGTERM), given
the grace time, and killed when the leash is told to stop or the owner's process no longer lives; what the command left
running in its group is killed when the command ends. On Linux the command is also killed when the leash itself is.

Exit status: the command's own; 128 and the signal's number where a signal ended it; 127 where it could not be started.
"""

from __future__ import annotations

import os
import select
import signal
import sys
import time
from contextlib import suppress
from types import FrameType

SECONDS_BETWEEN_LOOKS = 0.2
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD)
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def command_on_leash(command: list[str], grace_seconds: float) -> list[str]:
    """Return the command that runs `command` on a leash held by this process."""
    return [sys.executable, "-I", "-S", __file__, _reference(os.getpid()), str(grace_seconds), *command]


def process_start(pid: int) -> str | None:
    """Return when a living process started, in clock ticks since boot; None for one that is gone or a zombie.

    Where there is no /proc the answer for a living process is an empty text: a pid used again is then not noticed.
    """
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:  # noqa: PTH123  pathlib takes longer to import than the rest
            state, *fields = file.read().rpartition(b")")[2].split()
    except FileNotFoundError:
        return None if os.path.exists("/proc/self/stat") else _start_without_proc(pid)  # noqa: PTH110
    except ProcessLookupError:
        return None
    return None if state in (b"Z", b"X") else fields[18].decode()


def hold(owner: str, grace_seconds: float, command: list[str]) -> int:
    """Run the command on a leash held by `owner` ("pid:start"); return the exit status to end with."""
    with suppress(PermissionError):  # it leads a session already
        os.setsid()
    signals = _listen()
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    child = _start(command)
    told = False
    while (status := _reap(child)) is None and not told and _lives(owner):
        ready, _, _ = select.select([signals], [], [], SECONDS_BETWEEN_LOOKS)
        told = bool(ready) and any(number != signal.SIGCHLD for number in os.read(signals, 512))
    if status is None:
        status = _end(child, grace_seconds)
    _kill_group(child)
    return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def _reference(pid: int) -> str:
    return f"{pid}:{process_start(pid) or ''}"


def _lives(owner: str) -> bool:
    pid, _, start = owner.partition(":")
    return process_start(int(pid)) == start


def _start_without_proc(pid: int) -> str | None:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    return ""


def _listen() -> int:
    """Return a pipe that gets a byte for every signal: its number."""
    receiving, sending = os.pipe()
    os.set_blocking(sending, False)
    signal.set_wakeup_fd(sending, warn_on_full_buffer=False)
    for number in _SIGNALS:
        signal.signal(number, _leave_to_pipe)
    return receiving


def _leave_to_pipe(number: int, frame: FrameType | None) -> None:
    """Do nothing: the signal's byte in the pipe is what counts."""


def _start(command: list[str]) -> int:
    signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)  # one that comes before the command is there waits for it
    pid = os.fork()
    if pid == 0:
        _become(command)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
    with suppress(PermissionError, ProcessLookupError):  # the child did it first, or is gone already
        os.setpgid(pid, pid)
    return pid


def _become(command: list[str]) -> None:
    """Turn this forked process into the command."""
    try:
        os.setpgid(0, 0)
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        signal.set_wakeup_fd(-1)
        for number in _SIGNALS:
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, _SIGNALS)
        os.execvp(command[0], command)  # noqa: S606
    except OSError as error:
        print(f"{command[0]} could not be started: {error.strerror}", file=sys.stderr, flush=True)  # noqa: T201
    finally:
        os._exit(127)


def _end(child: int, grace_seconds: float) -> int:
    """Stop the child's group, kill what is left of it after the grace time, and return the child's wait status."""
    deadline = time.monotonic() + grace_seconds
    status = None
    _signal_group(child, signal.SIGTERM)
    while time.monotonic() < deadline:
        status = _reap(child) if status is None else status
        if status is not None and not _group_lives(child):
            return status
        time.sleep(0.02)
    _signal_group(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1] if status is None else status


def _kill_group(child: int) -> None:
    """Kill what the child left running in its group, and wait until it is gone."""
    while _group_lives(child):
        _signal_group(child, signal.SIGKILL)
        time.sleep(0.005)


def _group_lives(group: int) -> bool:
    """Reap the group's dead that are ours to reap, and return whether any process is left."""
    with suppress(ChildProcessError):  # none of the group is a child of ours
        while os.waitpid(-group, os.WNOHANG)[0]:
            continue
    return _signal_group(group, 0)


def _signal_group(group: int, number: int) -> bool:
    try:
        os.killpg(group, number)
    except ProcessLookupError:
        return False
    return True


def _reap(child: int) -> int | None:
    pid, status = os.waitpid(child, os.WNOHANG)
    return status if pid else None


def _prctl(option: int, value: int) -> None:
    """Set an attribute of this process, where the system has such: orphans come to it; it dies with its parent."""
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415  only Linux has prctl

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


if __name__ == "__main__":
    sys.exit(hold(sys.argv[1], float(sys.argv[2]), sys.argv[3:]))
