"""JSON on disk: one way of writing it, so that equal data are equal bytes; and files that are never half written."""

from __future__ import annotations

import json
import os
from pathlib import Path

_LINE = json.JSONEncoder(ensure_ascii=False, allow_nan=False, separators=(",", ":"))
_ASCII_LINE = json.JSONEncoder(ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def json_line(record: object) -> bytes:
    """Return the record as one line of UTF-8 JSON, with its newline.

    Half of a surrogate pair, which text cut at the wrong place can hold, is no UTF-8: such a record is written with
    escapes, and reads back the same. Raises ValueError for a number that is not finite.
    """
    try:
        return (_LINE.encode(record) + "\n").encode()
    except UnicodeEncodeError:
        return (_ASCII_LINE.encode(record) + "\n").encode()


def json_document(record: object) -> bytes:
    """Return the record as indented JSON for people to read. Raises ValueError for a number that is not finite."""
    try:
        return (json.dumps(record, ensure_ascii=False, allow_nan=False, indent=2) + "\n").encode()
    except UnicodeEncodeError:
        return (json.dumps(record, ensure_ascii=True, allow_nan=False, indent=2) + "\n").encode()


def write_file(path: Path, content: bytes) -> None:
    """Write a file under a temporary name beside it, flush it to the disk, and rename it into place."""
    partial = path.with_name(f"{path.name}.partial-{os.getpid()}")
    try:
        with partial.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def sync_directory(directory: Path) -> None:
    """Flush a directory's entries to the disk, so that a rename in it survives a power cut."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
