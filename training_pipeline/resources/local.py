"""The local backend: the worker as a process of its own on this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from training_pipeline.run_directory import RunDirectory
from training_pipeline.worker.command import worker_command_on_leash
from training_pipeline.worker.spec import Limits

_POLL_SECONDS = 0.05


class LocalWorker:
    """One worker that was started here: its leash, which ends it and all its children when this process is gone."""

    def __init__(self, process: subprocess.Popen[bytes], grace_seconds: float) -> None:
        self._process = process
        self._grace_seconds = grace_seconds

    def wait(self) -> int:
        """Wait for the worker to end and return its exit status: 128 and n where signal n ended it.

        Polled rather than blocked on, so that an interruption of this thread is felt at once.
        """
        while (status := self._process.poll()) is None:
            time.sleep(_POLL_SECONDS)
        return status

    def stop(self) -> None:
        """End the worker and everything it started: politely, then after the grace by force."""
        if self._process.poll() is None:
            self._process.send_signal(signal.SIGTERM)
            try:
                # The leash itself kills the group when the grace is over; the margin is for its own exit.
                self._process.wait(self._grace_seconds + 5)
            except subprocess.TimeoutExpired:
                self._process.kill()  # the worker is killed with its leash
                self._process.wait()


class LocalBackend:
    """Starts workers on this machine. Leaving a `with` block ends a worker that stands by in vain."""

    def __init__(self) -> None:
        self._standing_by: _StandingBy | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._standing_by is not None:
            self._standing_by.worker.stop()

    def stand_by(self, run_dir: Path, *, limits: Limits, grace_seconds: float) -> None:
        """Start the worker ahead of time: it imports what the run's spec needs, and waits for `start`."""
        spec = RunDirectory(run_dir).spec.read_bytes()
        process = _launch(run_dir, limits, grace_seconds, stand_by=True)
        self._standing_by = _StandingBy(LocalWorker(process, grace_seconds), process, run_dir, spec)

    def start(self, run_dir: Path, *, limits: Limits, grace_seconds: float) -> LocalWorker:
        """Start the worker on the run's spec, its output in `stdout.log` and `stderr.log` of the run's directory."""
        standing_by, self._standing_by = self._standing_by, None
        if standing_by is not None:
            if standing_by.begin(run_dir):
                return standing_by.worker
            standing_by.worker.stop()
        return LocalWorker(_launch(run_dir, limits, grace_seconds, stand_by=False), grace_seconds)


@dataclass(frozen=True)
class _StandingBy:
    """A worker that waits, and the spec that it has read."""

    worker: LocalWorker
    process: subprocess.Popen[bytes]
    run_dir: Path
    spec: bytes

    def begin(self, run_dir: Path) -> bool:
        """Let the worker begin; False where it has ended, or waits for another spec than the run now has."""
        if (run_dir, RunDirectory(run_dir).spec.read_bytes()) != (self.run_dir, self.spec):
            return False
        stdin = self.process.stdin
        if stdin is None:
            return False
        try:
            stdin.write(b"\n")
            stdin.close()
        except BrokenPipeError:
            return False
        return True


def _launch(run_dir: Path, limits: Limits, grace_seconds: float, *, stand_by: bool) -> subprocess.Popen[bytes]:
    directory = RunDirectory(run_dir)
    with (run_dir / "stdout.log").open("wb") as out, directory.stderr.open("wb") as err:
        return subprocess.Popen(
            worker_command_on_leash(directory.spec, limits, grace_seconds, stand_by=stand_by),
            stdin=subprocess.PIPE if stand_by else subprocess.DEVNULL,
            stdout=out,
            stderr=err,
            env=os.environ,
            start_new_session=True,
        )
