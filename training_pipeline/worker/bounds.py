"""How long a command may take, and how much memory it and everything it started may hold together."""

from __future__ import annotations

import os
import time

from training_pipeline.worker.process_tree import descendants, hold_more_than

UNBOUNDED = float("inf")


class Breach:
    """A bound that was broken: as the error that ends the run, its code, its message and its mend."""

    def __init__(self, code: str, message: str, hint: str) -> None:
        self.code = code
        self.message = message
        self.hint = hint


class Bounds:
    """What a command may use. A bound on memory needs Linux.

    The time counts from when the command's events file is there, which is its first deed: one that stands by before has
    not begun. Without such a file it counts from now.
    """

    def __init__(self, max_wall_seconds: float, max_ram_mb: float, events: str) -> None:
        self._max_wall_seconds = max_wall_seconds
        self._max_ram_mb = max_ram_mb
        self.events = events
        self._deadline = UNBOUNDED

    def seconds_left(self) -> float:
        """Return the time left; below 0 when it is over."""
        now = time.monotonic()
        if self._deadline == UNBOUNDED and (not self.events or os.path.exists(self.events)):  # noqa: PTH110
            self._deadline = now + self._max_wall_seconds
        return self._deadline - now

    def broken(self) -> Breach | None:
        """Return the bound that this process's descendants are beyond, if any."""
        if self.seconds_left() <= 0:
            message = "Stopped: the run took longer than model_training.max_wall_seconds"
            return Breach("wall_limit", f"{message} ({self._max_wall_seconds:g}).", "Raise it, or train on less.")
        if self._max_ram_mb < UNBOUNDED and hold_more_than(descendants(os.getpid()), self._max_ram_mb):
            message = "Stopped: the run used more memory than model_training.max_ram_mb"
            mend = "Raise it, train on fewer items, or choose a smaller model."
            return Breach("ram_limit", f"{message} ({self._max_ram_mb:g}).", mend)
        return None
