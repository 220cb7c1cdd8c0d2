"""Signals while something is done that must be done whole."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_STOPPING = (signal.SIGINT, signal.SIGTERM)


@contextmanager
def undisturbed() -> Iterator[None]:
    """Let nobody stop this process politely while the body runs: SIGINT and SIGTERM that come meanwhile are dropped.

    For a publication with the end of its run: whoever wanted to stop the run came too late, and it ends as a success.
    Handlers are replaced, since a signal that one thread blocks is taken by another, and handled in the main thread
    all the same.
    """
    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread is ever interrupted by a signal
        return
    before = {number: signal.signal(number, lambda *_: None) for number in _STOPPING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
