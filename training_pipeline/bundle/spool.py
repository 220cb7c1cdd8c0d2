"""Rows in any order in, rows in the order of their ids out, without keeping the rows in memory."""

from __future__ import annotations

import mmap
from array import array
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import BinaryIO

_LINES_AT_ONCE = 10_000


class Spool:
    """A temporary file of lines and where each starts. Holds an id and eight bytes a line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: BinaryIO = path.open("wb")
        self._ids: list[str] = []
        self._starts = array("Q", [0])

    def __len__(self) -> int:
        return len(self._ids)

    def add(self, key: str, line: bytes) -> None:
        """Append a line that sorts by `key`."""
        self._file.write(line)
        self._ids.append(key)
        self._starts.append(self._starts[-1] + len(line))

    def copy_sorted(self, destination: BinaryIO) -> None:
        """Write all lines in the order of their keys, and end the spool."""
        self._file.close()
        if self._ids:
            with self._path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as lines:
                order = iter(sorted(range(len(self._ids)), key=self._ids.__getitem__))
                while chunk := b"".join(self._lines(lines, islice(order, _LINES_AT_ONCE))):
                    destination.write(chunk)
        self.close()

    def close(self) -> None:
        """Drop what was spooled."""
        self._file.close()
        self._path.unlink(missing_ok=True)

    def _lines(self, lines: mmap.mmap, order: Iterator[int]) -> Iterator[bytes]:
        starts = self._starts
        return (lines[starts[k] : starts[k + 1]] for k in order)
