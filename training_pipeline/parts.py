"""The processes that the supervisor holds: each on a leash, which ends it when the supervisor is gone."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from training_pipeline.errors import PipelineError
from training_pipeline.worker.leash import command_on_leash

_READY_SECONDS = 60.0
_GRACE_SECONDS = 10.0


class Parts:
    """Processes by name. Their output goes to `<logs>/<name>.log`; they inherit the file descriptors `held`."""

    def __init__(self, logs: Path, environment: Mapping[str, str], held: tuple[int, ...] = ()) -> None:
        self._logs = logs
        self._environment = {**os.environ, **environment}
        self._held = held
        self._processes: dict[str, subprocess.Popen[bytes]] = {}
        logs.mkdir(parents=True, exist_ok=True)

    def start(self, name: str, command: list[str]) -> None:
        """Start a part."""
        with (self._logs / f"{name}.log").open("ab") as log:
            self._processes[name] = subprocess.Popen(
                command_on_leash(command, _GRACE_SECONDS),
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                pass_fds=self._held,
            )

    def wait_until(self, name: str, ready: Callable[[], bool]) -> None:
        """Wait until a part is ready; raises `not_up` where a part ends, or it takes too long."""
        deadline = time.monotonic() + _READY_SECONDS
        while not ready():
            self.require_all()
            if time.monotonic() > deadline:
                raise PipelineError("not_up", f"The {name} did not come up; {self._logs / name}.log says why.")
            time.sleep(0.1)

    def require_all(self) -> None:
        """Raise `not_up` where a part has ended."""
        for name, process in self._processes.items():
            if process.poll() is not None:
                raise PipelineError("not_up", f"The {name} ended by itself; {self._logs / name}.log says why.")

    def end(self, *names: str) -> None:
        """End some parts, all at once: politely, then by force."""
        processes = [self._processes[name] for name in names if name in self._processes]
        for process in processes:
            if process.poll() is None:
                process.terminate()
        deadline = time.monotonic() + _GRACE_SECONDS + 5
        for process in processes:
            try:
                process.wait(max(0.1, deadline - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()  # what it holds is killed with it
                process.wait()
