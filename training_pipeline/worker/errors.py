"""How a run that failed is told: a code, a sentence, what to do; and the exit status that goes with the code."""

from __future__ import annotations

import errno
from dataclasses import dataclass
from enum import IntEnum

from training_pipeline.bundle.errors import BundleError
from training_pipeline.trainers.errors import WorkerError

__all__ = ["ExitStatus", "Failure", "WorkerError", "failure_of"]


class ExitStatus(IntEnum):
    """The worker's exit statuses."""

    DONE = 0
    FAILED = 1
    REFUSED = 2
    MISSING_DEPENDENCY = 3
    CANCELLED = 4
    OUT_OF_MEMORY = 5


_STATUS_OF_CODE = {
    "bad_spec": ExitStatus.REFUSED,
    "bad_bundle": ExitStatus.REFUSED,
    "bad_params": ExitStatus.REFUSED,
    "unknown_trainer": ExitStatus.REFUSED,
    "not_available": ExitStatus.REFUSED,
    "unknown_schema": ExitStatus.REFUSED,
    "validation_failed": ExitStatus.REFUSED,
    "missing_dependency": ExitStatus.MISSING_DEPENDENCY,
    "cancelled": ExitStatus.CANCELLED,
    "out_of_memory": ExitStatus.OUT_OF_MEMORY,
}

_NO_SPACE = {errno.ENOSPC, errno.EDQUOT}


@dataclass(frozen=True)
class Failure:
    """Why a run ended without a result. `expected` failures need no traceback to be understood."""

    code: str
    message: str
    hint: str = ""
    expected: bool = True

    @property
    def exit_status(self) -> ExitStatus:
        """The exit status that tells this kind of failure."""
        return _STATUS_OF_CODE.get(self.code, ExitStatus.FAILED)


def failure_of(error: BaseException) -> Failure:
    """Return what to tell people about an error that ended a run."""
    if isinstance(error, WorkerError):
        return Failure(error.code, error.message, error.hint)
    if isinstance(error, BundleError):
        return Failure("bad_bundle", str(error))
    if isinstance(error, MemoryError):
        return Failure(
            "out_of_memory",
            "The run needed more memory than it may have.",
            "Raise max_ram_mb, train on fewer items, or choose a smaller model.",
        )
    if isinstance(error, OSError) and error.errno in _NO_SPACE:
        return Failure(
            "disk_full",
            f"No space is left on the disk for {error.filename or 'the run directory'}.",
            "Free some space and run again; nothing that stood there was changed.",
        )
    return Failure(
        "fit_failed",
        f"The run failed unexpectedly: {type(error).__name__}: {error}",
        "The traceback is in stderr.log of the run.",
        expected=False,
    )
