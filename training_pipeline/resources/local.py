"""The local backend: the worker as a process of its own on this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

from training_pipeline.run_directory import RunDirectory
from training_pipeline.worker.command import worker_command_on_leash

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
    """Starts workers on this machine."""

    def start(self, run_dir: Path, *, grace_seconds: float) -> LocalWorker:
        """Start the worker on the run's spec, its output in `stdout.log` and `stderr.log` of the run's directory."""
        directory = RunDirectory(run_dir)
        with (run_dir / "stdout.log").open("wb") as out, directory.stderr.open("wb") as err:
            process = subprocess.Popen(
                worker_command_on_leash(directory.spec, grace_seconds),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=os.environ,
                start_new_session=True,
            )
        return LocalWorker(process, grace_seconds)
