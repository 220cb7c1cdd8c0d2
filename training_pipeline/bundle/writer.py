"""Write training data: under a temporary name, renamed into place when it is whole."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType
from typing import Self

from training_pipeline.bundle.digest import digest_of
from training_pipeline.bundle.errors import BundleError
from training_pipeline.bundle.files import json_document, sync_directory, write_file
from training_pipeline.bundle.manifest import (
    KINDS_WITH_LABELS,
    LABELS_FILE,
    MANIFEST_FILE,
    SPLITS,
    UNLABELED,
    Manifest,
    SchemaSpec,
    SplitFile,
    Stats,
)
from training_pipeline.bundle.row import Row, Target, row_to_line
from training_pipeline.bundle.spool import Spool


class BundleWriter:
    """Takes rows in any order and leaves a bundle at `directory`, each split sorted by id.

    Nothing stands at `directory` before `finish` returns; leaving the `with` block before that removes what was
    written. `schemas` carry the options as the study writes them; labels in the data that no option names are added.
    Memory grows with the ids, not with the texts.
    """

    def __init__(self, directory: Path, schemas: Sequence[SchemaSpec]) -> None:
        self._directory = directory
        self._partial = directory.with_name(f"{directory.name}.partial-{os.getpid()}")
        self._schemas = tuple(schemas)
        self._observed: dict[str, set[str]] = {
            spec.name: set() for spec in self._schemas if spec.kind in KINDS_WITH_LABELS
        }
        self._split_of: dict[str, str] = {}
        self._spools: dict[str, Spool] = {}

    def __enter__(self) -> Self:
        if self._directory.exists():
            raise BundleError(f"{self._directory} is there already; training data is written once, for one run.")
        shutil.rmtree(self._partial, ignore_errors=True)
        self._partial.mkdir(parents=True)
        self._spools = {split: Spool(self._partial / f"{split}.spool") for split in SPLITS}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            for spool in self._spools.values():
                spool.close()
        finally:
            shutil.rmtree(self._partial, ignore_errors=True)

    def add(self, split: str, row: Row) -> None:
        """Add one row to `train`, `val`, `test` or `unlabeled`.

        Raises BundleError for an unknown split, an id that came before, a row without the targets of its split, and
        a target that is not a finite number.
        """
        if split not in self._spools:
            raise BundleError(f"There is no split {split!r}; the splits are {', '.join(SPLITS)}.")
        if row.instance_id in self._split_of:
            earlier = self._split_of[row.instance_id]
            raise BundleError(f"Item {row.instance_id!r} was added twice, to {earlier} and to {split}.")
        if (split == UNLABELED) != (not row.targets):
            raise BundleError(f"Item {row.instance_id!r} of {split} has {'' if row.targets else 'no '}targets.")
        try:
            line = row_to_line(row)
        except ValueError as error:
            raise BundleError(f"Item {row.instance_id!r} cannot be written: {error}.") from error
        self._spools[split].add(row.instance_id, line)
        self._split_of[row.instance_id] = split
        for name, target in (row.targets or {}).items():
            if name in self._observed:
                self._observed[name].update(_labels_in(target))

    def finish(
        self, *, text_key: str, split_seed: int, aggregation: str, stats: Stats, modality: str = "text"
    ) -> Manifest:
        """Sort, write and rename the bundle into place; return its manifest. `stats.splits` is filled in here."""
        splits = {split: self._write_split(split) for split in SPLITS}
        labels = {name: tuple(sorted(observed)) for name, observed in self._observed.items()}
        schemas = tuple(_with_observed(spec, labels.get(spec.name, ())) for spec in self._schemas)
        manifest = Manifest(
            schemas=schemas,
            splits=splits,
            labels=labels,
            modality=modality,
            text_key=text_key,
            split_seed=split_seed,
            aggregation=aggregation,
            stats=replace(stats, splits={name: split.n for name, split in splits.items()}),
            digest=digest_of(self._partial, schemas, labels, (split.path for split in splits.values())),
        )
        write_file(self._partial / LABELS_FILE, json_document(labels))
        write_file(self._partial / MANIFEST_FILE, json_document(manifest.to_record()))
        sync_directory(self._partial)
        self._partial.rename(self._directory)
        sync_directory(self._directory.parent)
        return manifest

    def _write_split(self, split: str) -> SplitFile:
        spool = self._spools[split]
        path = f"{split}.jsonl"
        with (self._partial / path).open("wb") as file:
            spool.copy_sorted(file)
            file.flush()
            os.fsync(file.fileno())
        return SplitFile(path, "jsonl", len(spool), predict_only=split == UNLABELED)


def _labels_in(target: Target) -> tuple[str, ...]:
    if isinstance(target, str):
        return (target,)
    return target if isinstance(target, tuple) else ()


def _with_observed(spec: SchemaSpec, observed: tuple[str, ...]) -> SchemaSpec:
    return replace(spec, labels=spec.labels + tuple(label for label in observed if label not in spec.labels))
