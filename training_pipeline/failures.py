"""What an error that no one foresaw where it was raised means for the person who meets it."""

from __future__ import annotations

import errno

from training_pipeline.bundle.errors import BundleError
from training_pipeline.errors import PipelineError
from training_pipeline.trainers.errors import WorkerError

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
_FORBIDDEN = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})


def explain(error: Exception) -> PipelineError | None:
    """Return the error that a person should read, or None where only a defect of ours can be the cause."""
    if isinstance(error, PipelineError):
        return error
    if isinstance(error, WorkerError):
        return PipelineError(error.code, str(error))
    if isinstance(error, BundleError):
        return PipelineError("bad_bundle", str(error))
    if isinstance(error, OSError):
        return _explain_system(error)
    return None


def _explain_system(error: OSError) -> PipelineError | None:
    path = error.filename or "the study's files"
    if error.errno in _FULL:
        return PipelineError("disk_full", f"No space is left on the disk for {path}: free some, then start again.")
    if error.errno in _FORBIDDEN:
        return PipelineError(
            "not_writable",
            f"{path} cannot be opened or written ({error.strerror}): give this user access to it, then start again.",
        )
    return None
