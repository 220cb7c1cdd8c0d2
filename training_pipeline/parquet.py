"""Parquet files that are whole or absent: written beside their place, flushed to the disk, then renamed."""

from __future__ import annotations

import errno
import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from training_pipeline.errors import PipelineError


def write_table(table: pa.Table, path: Path) -> None:
    """Write `table` to `path` in one step; what stood there before stays until the new file is complete.

    Folders that `path` lacks are made. Raises PipelineError `disk_full`, or `not_writable` where the folder or the
    file does not let us write.
    """
    partial = path.with_name(f"{path.name}.partial-{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with partial.open("wb") as file:
            pq.write_table(table, file)
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except OSError as error:
        with suppress(OSError):
            partial.unlink(missing_ok=True)
        if error.errno in {errno.ENOSPC, errno.EDQUOT}:
            raise PipelineError("disk_full", f"No space left for {path}: free some, then start again.") from error
        raise PipelineError(
            "not_writable",
            f"{path} cannot be written ({error.strerror or error}): make the folder writable for this user.",
        ) from error


def read_table(path: Path, what: str) -> pa.Table:
    """Read a table that `write_table` wrote; `what` names it in the error where the file is gone or torn."""
    try:
        with pq.ParquetFile(path) as file:  # pq.read_table would import what is for datasets of many files
            return file.read()
    except (OSError, pa.ArrowInvalid) as error:
        raise PipelineError(
            "not_readable", f"The {what} at {path} cannot be read ({error}): materialise them again."
        ) from error


def coded(codes: NDArray[np.integer[Any]], names: Sequence[str]) -> pa.Array[Any]:
    """Return the column whose row k is `names[codes[k]]`, each name stored once."""
    return pa.DictionaryArray.from_arrays(codes, pa.array(names, type=pa.string()))


def codes_of(table: pa.Table, column: str, names: Sequence[str]) -> NDArray[np.int32]:
    """Return the place in `names` of each value of a column of strings, all of which must be there."""
    places = pc.index_in(table[column].cast(pa.string()), pa.array(names, type=pa.string()))
    return places.to_numpy().astype(np.int32)


def strings(table: pa.Table, column: str) -> list[str]:
    """Return a column of strings as a list."""
    found: list[str] = table[column].cast(pa.string()).to_numpy().tolist()
    return found
