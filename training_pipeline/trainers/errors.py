"""What a training machine reports when it refuses or fails."""

from __future__ import annotations


class WorkerError(Exception):
    """A run was refused or failed for a reason that a person can act on.

    `code` is stable and short (`bad_params`, `fit_failed`, ...); `message` says what happened, `hint` what to do.
    """

    def __init__(self, code: str, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()
