"""A process between an owner and the command it started, which ends the command when the owner is gone.

Run as a script (`command_on_leash` says how): it imports little of the standard library and nothing else, and is there
in some twenty milliseconds. The command gets a process group of its own. The group is told to stop (SIGTERM), given
the grace time, and killed when the leash is told to stop, the command's time is over, or the owner's process no longer
lives; a command that holds too much memory is killed at once. What the command left running is killed when the command
ends, on Linux also what made a session of its own. On Linux the command is also killed when the leash itself is.

A command that broke a bound did not end by itself, so the leash says in its stead why: the last event of its file.

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

if __name__ == "__main__":  # a script has no package around it
    sys.path.append(os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))  # noqa: PTH100, PTH120

from training_pipeline.worker.bounds import Bounds, Breach
from training_pipeline.worker.process_tree import descendants

SECONDS_BETWEEN_LOOKS = 0.2
_SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGCHLD)
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


def command_on_leash(
    command: list[str],
    grace_seconds: float,
    *,
    max_wall_seconds: float | None = None,
    max_ram_mb: float | None = None,
    events: str | os.PathLike[str] = "",
) -> list[str]:
    """Return the command that runs `command` on a leash held by this process.

    `max_wall_seconds` counts from when the command has made the file `events`; `max_ram_mb` is of the command and all
    that it started together, in MiB. The file is told when one of them is broken.
    """
    wall, ram = ("inf" if bound is None else bound for bound in (max_wall_seconds, max_ram_mb))
    settings = [_reference(os.getpid()), str(grace_seconds), str(wall), str(ram), os.fspath(events)]
    return [sys.executable, "-I", "-S", __file__, *settings, *command]


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


def hold(owner: str, grace_seconds: float, bounds: Bounds, command: list[str]) -> int:
    """Run the command on a leash held by `owner` ("pid:start"); return the exit status to end with."""
    with suppress(PermissionError):  # it leads a session already
        os.setsid()
    signals = _listen()
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    held = _Command(command)
    told = False
    broken = None
    while not held.has_ended() and not told and _lives(owner) and (broken := bounds.broken()) is None:
        pause = max(0.0, min(SECONDS_BETWEEN_LOOKS, bounds.seconds_left()))
        ready, _, _ = select.select([signals], [], [], pause)
        told = bool(ready) and any(number != signal.SIGCHLD for number in os.read(signals, 512))
    if broken is not None and bounds.events:
        _tell(bounds.events, broken)
    if not held.has_ended():
        # Memory that goes on growing is given no grace: seconds of it can take what the machine has left.
        held.stop(0.0 if broken and broken.code == "ram_limit" else grace_seconds)
    return held.end()


class _Command:
    """The command as a process, and everything that it started."""

    def __init__(self, command: list[str]) -> None:
        self._pid = _start(command)
        self._status: int | None = None

    def has_ended(self) -> bool:
        """Say whether the command has ended; of what it started, bury what has ended and came to this process."""
        with suppress(ChildProcessError):
            while (ended := os.waitpid(-1, os.WNOHANG))[0]:
                if ended[0] == self._pid:
                    self._status = ended[1]
        return self._status is not None

    def stop(self, grace_seconds: float) -> None:
        """Tell the group to stop, and wait until it has or the grace time is over."""
        deadline = time.monotonic() + grace_seconds
        self._signal_group(signal.SIGTERM)
        while not (self.has_ended() and not self._signal_group(0)) and time.monotonic() < deadline:
            time.sleep(0.02)

    def end(self) -> int:
        """Kill what is left, wait until all is gone, and return the exit status that tells how the command ended."""
        looks_in_vain = 0
        # A look at /proc takes its time, and misses a process whose parent ends meanwhile: two must find nothing.
        while looks_in_vain < 2 or not self.has_ended():
            looks_in_vain = 0 if self._kill() else looks_in_vain + 1
            time.sleep(0.005)
            self.has_ended()
        status = self._status or 0
        return os.waitstatus_to_exitcode(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)

    def _kill(self) -> bool:
        """Kill the group and all descendants; say whether there was anything to kill."""
        killed = self._signal_group(signal.SIGKILL)
        for pid in descendants(os.getpid()):
            with suppress(ProcessLookupError, PermissionError):  # another user's cannot be ended from here
                os.kill(pid, signal.SIGKILL)
                killed = True
        return killed

    def _signal_group(self, number: int) -> bool:
        try:
            os.killpg(self._pid, number)
        except (ProcessLookupError, PermissionError):
            return False
        return True


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


def _tell(events: str, broken: Breach) -> None:
    """Write the command's last event; where even that fails, the command must end all the same."""
    from training_pipeline.worker.events import Events  # noqa: PLC0415  takes longer to import than the rest

    try:
        Events(events).error(broken.code, broken.message, broken.hint)
    except OSError as error:
        print(f"{broken.message} {events} could not be told: {error.strerror}", file=sys.stderr, flush=True)  # noqa: T201


def _prctl(option: int, value: int) -> None:
    """Set an attribute of this process, where the system has such: orphans come to it; it dies with its parent."""
    if sys.platform == "linux":
        import ctypes  # noqa: PLC0415  only Linux has prctl

        ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def _main(owner: str, grace: str, wall: str, ram: str, events: str, *command: str) -> int:
    return hold(owner, float(grace), Bounds(float(wall), float(ram), events), list(command))


if __name__ == "__main__":
    sys.exit(_main(*sys.argv[1:]))
