"""Errors in Dagster's UI that carry our sentence alone, without a traceback.

Dagster shows the stack of any exception that leaves user code. For a refused launch or an invalid study the stack is
noise: the person needs the sentence. The two names imported here are private to Dagster; they live in this module only,
and a test of it notices when they move.
"""

from __future__ import annotations

from dagster._core.errors import DagsterUserCodeProcessError
from dagster_shared.error import SerializableErrorInfo


def plain_error(text: str) -> Exception:
    """Return an exception that Dagster shows as `text` and nothing else."""
    error = SerializableErrorInfo(text, [], None)
    return DagsterUserCodeProcessError(text, user_code_process_error_infos=[error])  # type: ignore[no-untyped-call] # untyped there
