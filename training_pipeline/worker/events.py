"""The run's events: one JSON object a line, each written whole, for whoever follows the file."""

from __future__ import annotations

import os
import threading
import time
from typing import Any

from training_pipeline.bundle.files import json_line

FORMAT_VERSION = 1
EVENTS_FILE = "events.jsonl"
SECONDS_BETWEEN_PROGRESS = 0.5


class Events:
    """Appends events to a file. Lines are `{"v", "event", "t", ...}` with `t` in epoch seconds.

    Events are `status`, `progress`, `metric`, `log`, `artifact`, and last either `result` or `error`: what comes after
    one of those is not written. Safe to use from several threads.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        self._lock = threading.Lock()
        self._ended = False
        self._last_progress = 0.0

    def step(self, name: str) -> None:
        """Say that a step begins."""
        self._write("status", state="running", step=name)

    def log(self, level: str, message: str) -> None:
        """Say something once; `level` is `info` or `warning`."""
        self._write("log", level=level, message=message)

    def metric(self, name: str, value: float) -> None:
        """Give a number."""
        self._write("metric", name=name, value=value)

    def artifact(self, path: str) -> None:
        """Say that a file or folder of the run's artifacts is whole; `path` is relative to artifacts/."""
        self._write("artifact", path=path)

    def progress(self, phase: str, current: int, total: int) -> None:
        """Say how far a phase is: at most twice a second, but always at its end."""
        now = time.monotonic()
        if current < total and now - self._last_progress < SECONDS_BETWEEN_PROGRESS:
            return
        self._last_progress = now
        self._write("progress", phase=phase, current=current, total=total)

    def result(self, **facts: Any) -> bool:
        """End the run with its result. Return False if it had ended already."""
        return self._write("result", ends=True, status="success", **facts)

    def error(self, code: str, message: str, hint: str) -> bool:
        """End the run with an error. Return False if it had ended already."""
        return self._write("error", ends=True, code=code, message=message, hint=hint)

    def _write(self, event: str, *, ends: bool = False, **fields: Any) -> bool:
        line = json_line({"v": FORMAT_VERSION, "event": event, "t": time.time(), **fields})
        with self._lock:
            if self._ended:
                return False
            os.write(self._file, line)
            self._ended = ends
            return True
