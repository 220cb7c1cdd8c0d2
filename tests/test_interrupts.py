"""What must be done whole is not interrupted."""

from __future__ import annotations

import os
import signal
import threading

import pytest

from training_pipeline.interrupts import undisturbed


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_that_comes_meanwhile_is_dropped_and_one_that_comes_after_counts(number: signal.Signals) -> None:
    heard = []
    before = signal.signal(number, lambda *_: heard.append(number))
    try:
        with undisturbed():
            # BLAS threads, say: the kernel may give them a signal that the main thread has blocked.
            other = threading.Thread(target=lambda: os.kill(os.getpid(), number))
            other.start()
            other.join()
        assert heard == []
        os.kill(os.getpid(), number)
        assert heard == [number]
    finally:
        signal.signal(number, before)


def test_the_handlers_come_back_after_an_error() -> None:
    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(ValueError, match="no"), undisturbed():
        raise ValueError("no")
    assert signal.getsignal(signal.SIGINT) is before


def test_in_another_thread_there_is_nothing_to_do() -> None:
    done = []

    def work() -> None:
        with undisturbed():
            done.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert done == [signal.getsignal(signal.SIGINT)]
