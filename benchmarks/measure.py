"""What processes take: a program run under a watch that samples the memory of all its processes."""

from __future__ import annotations

import os
import resource
import subprocess
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

_MIB = 1024.0


class Sample(NamedTuple):
    """At one moment (epoch seconds): the MiB of the largest process, and of all together."""

    at: float
    largest: float
    together: float


class Watch:
    """Samples the memory of a process and all its descendants while the `with` block runs.

    Pages that processes share are counted once, in equal parts (PSS), so that the parts add up.
    """

    def __init__(self, root: int, interval: float = 0.1) -> None:
        self._root = root
        self._interval = interval
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.samples: list[Sample] = []

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()

    def peak(self, start: float = 0.0, end: float = float("inf")) -> Sample:
        """Return the largest values between two moments; zeros where nothing was sampled."""
        within = [sample for sample in self.samples if start <= sample.at <= end]
        largest = max((sample.largest for sample in within), default=0.0)
        return Sample(start, largest, max((sample.together for sample in within), default=0.0))

    def _run(self) -> None:
        while not self._done.wait(self._interval):
            at = time.time()
            taken = [pss for pid in _family(self._root) if (pss := _pss(pid)) is not None]
            if taken:
                self.samples.append(Sample(at, max(taken), sum(taken)))


class Finished(NamedTuple):
    """A program that ended well: when it began and ended (epoch seconds), its output, and its memory.

    `cpu` are the processor seconds of all its processes, which say more than the clock where the machine is busy.
    """

    start: float
    end: float
    cpu: float
    stdout: str
    watch: Watch

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.end - self.start


def run(command: Sequence[str], interval: float = 0.1) -> Finished:
    """Run a program to its end under a watch; raises CalledProcessError where it fails."""
    cpu = _cpu_of_children()
    start = time.time()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    with Watch(process.pid, interval) as watch:
        stdout, _ = process.communicate()
        end = time.time()
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, stdout)
    return Finished(start, end, _cpu_of_children() - cpu, stdout, watch)


def cpu_of(pid: int) -> float:
    """Return the processor seconds of a process and of those children of it that have ended."""
    fields = Path("/proc", str(pid), "stat").read_bytes().rpartition(b")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def _cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _family(root: int) -> Iterator[int]:
    children: dict[int, list[int]] = defaultdict(list)
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = stat.read_bytes().rpartition(b")")[2].split()[1]
        except (FileNotFoundError, ProcessLookupError):
            continue
        children[int(parent)].append(int(stat.parent.name))
    waiting = [root]
    while waiting:
        pid = waiting.pop()
        yield pid
        waiting += children[pid]


def _pss(pid: int) -> float | None:
    """Return a process's proportional set size in MiB; None where it has ended."""
    try:
        lines = Path("/proc", str(pid), "smaps_rollup").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return None
    return next((int(line.split()[1]) / _MIB for line in lines if line.startswith("Pss:")), None)
