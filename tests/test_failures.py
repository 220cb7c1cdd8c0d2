"""What an error means for the person who meets it."""

from __future__ import annotations

import errno

import pytest

from training_pipeline.bundle.errors import BundleError
from training_pipeline.errors import PipelineError
from training_pipeline.failures import explain
from training_pipeline.trainers.errors import WorkerError


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (PipelineError("busy", "Wait."), "busy", "Wait."),
        (BundleError("It is torn."), "bad_bundle", "It is torn."),
        (WorkerError("bad_params", "No.", "Mend it."), "bad_params", "No. Mend it."),
        (
            OSError(errno.ENOSPC, "No space left on device", "/s/x"),
            "disk_full",
            "No space is left on the disk for /s/x: free some, then start again.",
        ),
        (
            OSError(errno.EDQUOT, "Disk quota exceeded"),
            "disk_full",
            "No space is left on the disk for the study's files: free some, then start again.",
        ),
        (
            PermissionError(errno.EACCES, "Permission denied", "/s/x"),
            "not_writable",
            "/s/x cannot be opened or written (Permission denied): give this user access to it, then start again.",
        ),
        (
            OSError(errno.EROFS, "Read-only file system", "/s/x"),
            "not_writable",
            "/s/x cannot be opened or written (Read-only file system): give this user access to it, then start again.",
        ),
    ],
)
def test_what_a_person_can_mend_is_a_sentence(error: Exception, code: str, message: str) -> None:
    explained = explain(error)
    assert explained is not None
    assert (explained.code, str(explained)) == (code, message)


@pytest.mark.parametrize("error", [KeyError("x"), OSError(errno.EBADF, "Bad file descriptor"), BrokenPipeError()])
def test_a_defect_is_not_explained_away(error: Exception) -> None:
    assert explain(error) is None
