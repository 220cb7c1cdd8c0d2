"""The manifest: what the training data is, how it was made, and the digest that stands for it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from training_pipeline.bundle.errors import BundleError

FORMAT_VERSION = 1
MANIFEST_FILE = "manifest.json"
LABELS_FILE = "labels.json"
LABELLED_SPLITS = ("train", "val", "test")
UNLABELED = "unlabeled"
SPLITS = (*LABELLED_SPLITS, UNLABELED)
KINDS_WITH_LABELS = frozenset({"nominal", "ordinal", "multilabel"})


@dataclass(frozen=True)
class SchemaSpec:
    """What a training machine needs to know of a schema.

    `labels` are the options in their written order (an ordinal schema's from low to high), then labels in the data
    that no option names, sorted; empty where the answer is not a choice. `scale` is (lowest, highest) where the study
    states one.
    """

    name: str
    annotation_type: str
    kind: str
    labels: tuple[str, ...] = ()
    scale: tuple[float, float] | None = None


@dataclass(frozen=True)
class SplitFile:
    """One split on disk: `path` is relative to the bundle, `n` its rows; `predict_only` rows carry no targets."""

    path: str
    format: str
    n: int
    predict_only: bool = False


@dataclass(frozen=True)
class ForcedTrain:
    """How many items are in train because a person put them there, by cause."""

    corrected: int = 0
    pinned: int = 0


@dataclass(frozen=True)
class Stats:
    """Counts of what went into the training data and what did not. `n_moved` items left val or test for train."""

    n_items: int
    n_annotated: int
    n_skipped_no_label: int = 0
    n_corrected_unlabelled: int = 0
    forced_train: ForcedTrain = ForcedTrain()
    n_moved: int = 0
    splits: Mapping[str, int] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Manifest:
    """The training data of one run. `labels` are the labels that occur in it, sorted, per schema."""

    schemas: tuple[SchemaSpec, ...]
    splits: Mapping[str, SplitFile]
    labels: Mapping[str, tuple[str, ...]]
    modality: str
    text_key: str
    split_seed: int
    aggregation: str
    stats: Stats
    digest: str
    v: int = FORMAT_VERSION

    def schema(self, name: str) -> SchemaSpec:
        """Return the schema of that name. Raises BundleError, naming those there are."""
        for spec in self.schemas:
            if spec.name == name:
                return spec
        known = ", ".join(spec.name for spec in self.schemas)
        raise BundleError(f"The training data has no schema {name!r}; it has: {known}.")

    def to_record(self) -> dict[str, Any]:
        """Return the manifest as the JSON object that stands in manifest.json."""
        return asdict(self)


def read_manifest(directory: Path) -> Manifest:
    """Read a bundle's manifest.json.

    Raises BundleError when it is missing, unreadable or of a format newer than this code.
    """
    path = directory / MANIFEST_FILE
    try:
        record = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise BundleError(f"There is no training data in {directory}: {MANIFEST_FILE} is missing.") from None
    except (ValueError, RecursionError) as error:
        raise BundleError(f"{path} is not JSON ({error}). Build the training data again.") from error
    version = record.get("v") if isinstance(record, dict) else None
    if isinstance(version, int) and version > FORMAT_VERSION:
        raise BundleError(
            f"{path} is of format {version}; this machine reads formats up to {FORMAT_VERSION}. "
            "Update training-pipeline here."
        )
    try:
        return _manifest_from(record)
    except (KeyError, TypeError, AttributeError, ValueError, IndexError) as error:
        raise BundleError(f"{path} lacks something or holds it in another form: {error}.") from error


def _manifest_from(record: Mapping[str, Any]) -> Manifest:
    stats = record["stats"]
    return Manifest(
        schemas=tuple(_schema_from(entry) for entry in record["schemas"]),
        splits={name: SplitFile(**entry) for name, entry in record["splits"].items()},
        labels={name: tuple(labels) for name, labels in record["labels"].items()},
        modality=record["modality"],
        text_key=record["text_key"],
        split_seed=record["split_seed"],
        aggregation=record["aggregation"],
        stats=Stats(
            **{
                **stats,
                "forced_train": ForcedTrain(**stats["forced_train"]),
                "warnings": tuple(stats["warnings"]),
            }
        ),
        digest=record["digest"],
        v=record["v"],
    )


def _schema_from(record: Mapping[str, Any]) -> SchemaSpec:
    scale = record["scale"]
    return SchemaSpec(
        name=record["name"],
        annotation_type=record["annotation_type"],
        kind=record["kind"],
        labels=tuple(record["labels"]),
        scale=None if scale is None else (scale[0], scale[1]),
    )
