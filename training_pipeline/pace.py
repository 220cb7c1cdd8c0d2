"""How long a step still takes, from how long it took so far."""

from __future__ import annotations


class Pace:
    """Follows one phase after the other. Times are epoch seconds, as the worker's events carry them."""

    def __init__(self) -> None:
        self._phase = ""
        self._first = (0.0, 0)

    def eta_seconds(self, phase: str, current: int, total: int, *, at: float) -> float | None:
        """Return the seconds that the phase still takes at its pace since it was first heard of; None if unknown."""
        if phase != self._phase or current < self._first[1]:
            self._phase, self._first = phase, (at, current)
        since, done_before = self._first
        done, taken = current - done_before, at - since
        if done <= 0 or taken <= 0 or total <= 0:
            return None
        return round(max(0, total - current) * taken / done, 1)
