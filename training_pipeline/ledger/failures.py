"""What SQLite's errors mean for a person: one sentence each, with the file and the mend."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

from training_pipeline.errors import PipelineError

_PRIMARY_CODE = 0xFF  # SQLite keeps the general cause in the low byte of an extended result code
_NEARLY_FULL_BYTES = 1 << 20


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another connection held the lock for longer than the busy timeout."""
    return _code(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def explain(path: Path, error: sqlite3.Error, waited_seconds: float) -> PipelineError | None:
    """Return the error that a person should read, or None where the statement itself was wrong (a defect of ours)."""
    code = _code(error)
    if is_busy(error):
        return PipelineError(
            "ledger_busy",
            f"Another process has kept {path} locked for more than {waited_seconds:g} seconds, so the ledger was not"
            f" changed. Try again in a moment; if it stays locked, find the program that holds it (fuser {path}) and"
            " end it.",
        )
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM, sqlite3.SQLITE_CANTOPEN):
        return _unreachable(path)
    if code == sqlite3.SQLITE_FULL or (code == sqlite3.SQLITE_IOERR and _disk_is_full(path)):
        return PipelineError(
            "disk_full",
            f"The disk that holds {path} is full; the ledger stays as it was before this step. Free some space"
            " (old run directories take the most) and start again.",
        )
    if code == sqlite3.SQLITE_IOERR:
        return PipelineError(
            "bad_ledger",
            f"{path} could not be read or written: {error} ({error.sqlite_errorname}). Check the disk and the mount it"
            " lies on, then start again.",
        )
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return PipelineError(
            "bad_ledger",
            f"{path} is damaged or no SQLite database ({error}). Stop the annotation server, move the file and its"
            " -wal and -shm files away, and put a backup in their place; the annotators' answers do not live in it.",
        )
    return None


def _code(error: sqlite3.Error) -> int | None:
    # Errors raised by the sqlite3 module itself (a closed connection, say) carry no code.
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & _PRIMARY_CODE


def _unreachable(path: Path) -> PipelineError:
    if not path.parent.is_dir():
        return PipelineError(
            "bad_ledger",
            f"The folder {path.parent}, where the ledger {path.name} belongs, does not exist. Check task_dir in the"
            " study's config.",
        )
    return PipelineError(
        "ledger_read_only",
        f"{path} cannot be opened for writing. Give this user write access to the file and to its folder: SQLite keeps"
        f" {path.name}-wal and {path.name}-shm beside it.",
    )


def _disk_is_full(path: Path) -> bool:
    return shutil.disk_usage(path.parent).free < _NEARLY_FULL_BYTES
