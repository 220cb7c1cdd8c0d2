"""The spec: what a worker is asked to do, as a file that travels with the training data."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from training_pipeline.bundle.files import json_document, write_file
from training_pipeline.worker.errors import WorkerError

FORMAT_VERSION = 1


@dataclass(frozen=True)
class Limits:
    """What a run may use. `max_wall_seconds` counts from the worker's start; None is no limit."""

    max_wall_seconds: float | None = None
    max_ram_mb: float | None = None
    device: str = "auto"
    num_threads: int | None = None


@dataclass(frozen=True)
class WorkerSpec:
    """One training run. Paths in the file may be relative to the file."""

    run_id: str
    trainer: str
    schema: str
    bundle_dir: Path
    artifacts_dir: Path
    params: Mapping[str, Any] = field(default_factory=dict)
    seed: int = 0
    limits: Limits = Limits()
    allowed_modules: tuple[str, ...] = ()
    v: int = FORMAT_VERSION

    @property
    def model_version(self) -> str:
        """The name of the model that this run makes."""
        return f"{self.trainer}-{self.schema}-{self.run_id}"


def write_spec(spec: WorkerSpec, path: Path) -> None:
    """Write a spec as JSON, under a temporary name first."""
    record = asdict(spec) | {"bundle_dir": str(spec.bundle_dir), "artifacts_dir": str(spec.artifacts_dir)}
    write_file(path, json_document(record))


def read_spec(path: Path) -> WorkerSpec:
    """Read a spec; its paths come back absolute.

    Raises WorkerError `bad_spec` for a file that is missing, is no JSON, lacks something or is of a newer format.
    """
    try:
        record = json.loads(path.read_bytes())
        version = record["v"]
        if version > FORMAT_VERSION:
            raise WorkerError(
                "bad_spec",
                f"{path} is of format {version}; this machine reads up to {FORMAT_VERSION}.",
                "Update training-pipeline here.",
            )
        spec = WorkerSpec(
            **{
                **record,
                "limits": Limits(**record["limits"]),
                "allowed_modules": tuple(record["allowed_modules"]),
            }
        )
        here = path.absolute().parent
        return replace(spec, bundle_dir=here / record["bundle_dir"], artifacts_dir=here / record["artifacts_dir"])
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise WorkerError("bad_spec", f"{path} is no spec of a training run: {error}.") from error
