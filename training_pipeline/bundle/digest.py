"""The digest of training data: it changes exactly when the data does."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path

from training_pipeline.bundle.files import json_line
from training_pipeline.bundle.manifest import SchemaSpec

_CHUNK = 1 << 20


def digest_of(
    directory: Path, schemas: Sequence[SchemaSpec], labels: Mapping[str, Sequence[str]], paths: Iterable[str]
) -> str:
    """Return the SHA-256 over the schemas, the labels and the split files at `paths`, relative to `directory`.

    Neither the run, nor the time, nor where the bundle lies goes in: the same data has the same digest everywhere.
    """
    total = hashlib.sha256()
    total.update(json_line([asdict(spec) for spec in schemas]))
    total.update(json_line({name: list(labels[name]) for name in sorted(labels)}))
    for path in sorted(paths):
        total.update(path.encode() + b"\0")
        with (directory / path).open("rb") as file:
            while chunk := file.read(_CHUNK):
                total.update(chunk)
        total.update(b"\0")
    return total.hexdigest()
