"""Where a run keeps its files."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class RunDirectory:
    """`<output>/training/runs/<run id>/`."""

    path: Path

    @property
    def bundle(self) -> Path:
        """The training data."""
        return self.path / "bundle"

    @property
    def spec(self) -> Path:
        """What the worker was asked to do."""
        return self.path / "spec.json"

    @property
    def events(self) -> Path:
        """The run's events."""
        return self.path / "events.jsonl"

    @property
    def log(self) -> Path:
        """What the process that carried the run out wrote, Dagster's log above all."""
        return self.path / "dagster.log"

    @property
    def stderr(self) -> Path:
        """What the worker wrote to its standard error."""
        return self.path / "stderr.log"

    @property
    def artifacts(self) -> Path:
        """The model and everything else that the worker made."""
        return self.path / "artifacts"

    @property
    def model(self) -> Path:
        """The model itself."""
        return self.artifacts / "model"

    @property
    def predictions(self) -> Path:
        """What the model said of every item outside train."""
        return self.artifacts / "predictions.jsonl"

    @property
    def pictures(self) -> Path:
        """Pictures for people, made here from the scores."""
        return self.path / "pictures"
