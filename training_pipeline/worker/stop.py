"""End a run that is told to stop or that takes too long, at once, whatever it is computing."""

from __future__ import annotations

import os
import select
import signal
import threading
import time
from collections.abc import Callable
from types import FrameType

from training_pipeline.worker.errors import Failure

_STOPPING = frozenset({signal.SIGTERM, signal.SIGINT})


def stop_when_told(end: Callable[[Failure], None], max_wall_seconds: float | None) -> None:
    """Call `end` on a thread of its own when SIGTERM or SIGINT arrives or `max_wall_seconds` are over.

    Python runs signal handlers between the main thread's instructions, and a fit is one instruction of minutes; a
    thread that waits for the signal's byte in a pipe hears it as soon as the fit lets go of the interpreter's lock.
    """
    told, telling = os.pipe()
    os.set_blocking(telling, False)
    signal.set_wakeup_fd(telling, warn_on_full_buffer=False)
    for number in _STOPPING:
        signal.signal(number, _leave_to_thread)
    threading.Thread(target=_wait, args=(told, end, max_wall_seconds), daemon=True).start()


def _wait(told: int, end: Callable[[Failure], None], max_wall_seconds: float | None) -> None:
    started = time.monotonic()
    left = max_wall_seconds
    while select.select([told], [], [], left)[0]:
        if not _STOPPING.isdisjoint(os.read(told, 512)):
            end(Failure("cancelled", "The run was cancelled."))
            return
        if max_wall_seconds is not None:  # a signal that a library handles came in between
            left = max(0.0, max_wall_seconds - (time.monotonic() - started))
    message = "Stopped: the run took longer than model_training.max_wall_seconds"
    end(Failure("wall_limit", f"{message} ({max_wall_seconds:g}).", "Raise it, or train on less."))


def _leave_to_thread(number: int, frame: FrameType | None) -> None:
    """Do nothing: the signal's byte in the pipe is what counts."""
