"""What a run leaves in artifacts/: the model, its card, its predictions, and the hashes that tie them together."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from training_pipeline.bundle.files import json_document, write_file
from training_pipeline.worker.errors import WorkerError

MODEL_DIRECTORY = "model"
MODEL_CARD_FILE = "model_card.json"
CALIBRATION_FILE = "calibration.json"
METRICS_FILE = "metrics.json"


def write_json(path: Path, record: Mapping[str, Any]) -> None:
    """Write a JSON object for people and programs to read."""
    write_file(path, json_document(dict(record)))


def model_hashes(model_directory: Path) -> dict[str, str]:
    """Return the SHA-256 of each file of a model, by its path in the directory."""
    files = sorted(path for path in model_directory.rglob("*") if path.is_file())
    return {path.relative_to(model_directory).as_posix(): _sha256(path) for path in files}


def check_model(artifacts: Path) -> None:
    """Raise WorkerError `reload_failed` unless the model's files are those that the model card was written for."""
    card = json.loads((artifacts / MODEL_CARD_FILE).read_bytes())
    written: Mapping[str, str] = card["model_files"]
    found = model_hashes(artifacts / MODEL_DIRECTORY)
    changed = sorted(name for name in written.keys() | found.keys() if written.get(name) != found.get(name))
    if changed:
        raise WorkerError(
            "reload_failed",
            f"The model in {artifacts / MODEL_DIRECTORY} is not the one that was saved; changed: {', '.join(changed)}.",
        )


def library_versions(libraries: Iterable[str]) -> dict[str, str]:
    """Return the versions of Python and of those libraries that are imported and tell theirs."""
    versions = {"python": sys.version.split()[0]}
    for name in libraries:
        version = getattr(sys.modules.get(name), "__version__", None)
        if version is not None:
            versions[name] = str(version)
    return versions


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
