"""End a run that is told to stop, at once, whatever it is computing."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from types import FrameType

from training_pipeline.worker.errors import Failure

_STOPPING = frozenset({signal.SIGTERM, signal.SIGINT})


def stop_when_told(end: Callable[[Failure], None]) -> None:
    """Call `end` on a thread of its own when SIGTERM or SIGINT arrives.

    Python runs signal handlers between the main thread's instructions, and a fit is one instruction of minutes; a
    thread that waits for the signal's byte in a pipe hears it as soon as the fit lets go of the interpreter's lock.
    """
    told, telling = os.pipe()
    os.set_blocking(telling, False)
    signal.set_wakeup_fd(telling, warn_on_full_buffer=False)
    for number in _STOPPING:
        signal.signal(number, _leave_to_thread)
    threading.Thread(target=_wait, args=(told, end), daemon=True).start()


def _wait(told: int, end: Callable[[Failure], None]) -> None:
    while _STOPPING.isdisjoint(os.read(told, 512)):
        continue  # a signal that a library handles
    end(Failure("cancelled", "The run was cancelled."))


def _leave_to_thread(number: int, frame: FrameType | None) -> None:
    """Do nothing: the signal's byte in the pipe is what counts."""
