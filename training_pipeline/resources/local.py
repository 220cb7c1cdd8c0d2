"""The local backend: the worker as a process of its own on this machine."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from training_pipeline.worker import leash

_POLL_SECONDS = 0.05


class LocalWorker:
    """One worker that was started here: the leash's process, which holds the worker and all its children."""

    def __init__(self, process: subprocess.Popen[bytes], grace_seconds: float) -> None:
        self._process = process
        self._grace_seconds = grace_seconds

    @property
    def pid(self) -> int:
        """The process id of the leash, which is also the id of the worker's process group."""
        return self._process.pid

    def wait(self) -> int:
        """Wait for the worker to end; return its exit status, negative for the signal that killed it.

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
                os.killpg(self._process.pid, signal.SIGKILL)
                self._process.wait()


class LocalBackend:
    """Starts workers on this machine."""

    name = "local"

    def start(self, run_dir: Path, *, grace_seconds: float, environment: Mapping[str, str]) -> LocalWorker:
        """Start the worker on `<run_dir>/spec.json`, its output in `stdout.log` and `stderr.log` beside it.

        The worker gets this process's environment with `environment` over it.
        """
        command = [sys.executable, "-m", "training_pipeline.worker", str(run_dir / "spec.json")]
        with (run_dir / "stdout.log").open("wb") as out, (run_dir / "stderr.log").open("wb") as err:
            process = subprocess.Popen(
                leash.command(command, owner_pid=os.getpid(), grace_seconds=grace_seconds),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env={**os.environ, **environment},
                start_new_session=True,
            )
        return LocalWorker(process, grace_seconds)
