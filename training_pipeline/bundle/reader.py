"""Read training data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from training_pipeline.bundle.digest import digest_of
from training_pipeline.bundle.errors import BundleError
from training_pipeline.bundle.manifest import Manifest, read_manifest
from training_pipeline.bundle.row import Row, row_from_record


@dataclass(frozen=True)
class Bundle:
    """Training data on disk. Rows are read as they are asked for."""

    directory: Path
    manifest: Manifest

    @classmethod
    def open(cls, directory: Path) -> Self:
        """Open the bundle in `directory`. Raises BundleError when there is none or it cannot be read."""
        return cls(directory, read_manifest(directory))

    def n(self, split: str) -> int:
        """Return how many rows a split has; 0 for a split that is not there."""
        entry = self.manifest.splits.get(split)
        return 0 if entry is None else entry.n

    def rows(self, split: str) -> Iterator[Row]:
        """Yield the rows of a split in the order of their ids. Raises BundleError, naming file and line."""
        entry = self.manifest.splits.get(split)
        if entry is None:
            return
        path = self.directory / entry.path
        try:
            with path.open("rb") as file:
                for number, line in enumerate(file, start=1):
                    yield _row(line, path, number)
        except FileNotFoundError:
            raise BundleError(f"{path} is missing. Build the training data again.") from None

    def verify(self) -> None:
        """Raise BundleError unless the files are the ones that the manifest was written for."""
        manifest = self.manifest
        paths = [split.path for split in manifest.splits.values()]
        try:
            digest = digest_of(self.directory, manifest.schemas, manifest.labels, paths)
        except FileNotFoundError as error:
            raise BundleError(f"{error.filename} is missing. Build the training data again.") from error
        if digest != manifest.digest:
            raise BundleError(
                f"The training data in {self.directory} is not what its manifest says (digest {digest[:12]}, "
                f"written as {manifest.digest[:12]}). Build it, or send it, again."
            )


def _row(line: bytes, path: Path, number: int) -> Row:
    try:
        return row_from_record(json.loads(line))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise BundleError(f"{path}, line {number}, is no row: {error}. Build the training data again.") from error
