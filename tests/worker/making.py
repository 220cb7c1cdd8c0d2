"""Runs of the worker on small training data."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.trainers.making import MOOD, make_bundle, moods
from training_pipeline.bundle.manifest import SchemaSpec
from training_pipeline.bundle.row import Row
from training_pipeline.worker.command import worker_command
from training_pipeline.worker.spec import Limits, WorkerSpec, write_spec

ROWS = [*moods(60), *moods(12, "val"), *moods(8, "test"), *moods(5, "unlabeled")]


@dataclass(frozen=True)
class Ran:
    """What a worker left."""

    directory: Path
    status: int
    stdout: str
    stderr: str

    @property
    def artifacts(self) -> Path:
        return self.directory / "artifacts"

    @property
    def events(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.directory / "events.jsonl").read_text().splitlines()]

    @property
    def last(self) -> dict[str, Any]:
        return self.events[-1]

    def json(self, name: str) -> Any:
        return json.loads((self.artifacts / name).read_text())

    @property
    def predictions(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in (self.artifacts / "predictions.jsonl").read_text().splitlines()]


def prepare(
    directory: Path,
    rows: Iterable[tuple[str, Row]] = ROWS,
    schema: SchemaSpec = MOOD,
    *,
    trainer: str = "sklearn-text",
    limits: Limits | None = None,
    allowed: tuple[str, ...] = (),
    ask_for: str | None = None,
    **params: Any,
) -> Path:
    """Write a bundle and a spec; return the spec's path."""
    make_bundle(directory / "bundle", rows, schema)
    spec = WorkerSpec(
        run_id="20300101T000000-abcdef",
        trainer=trainer,
        schema=ask_for or schema.name,
        bundle_dir=Path("bundle"),
        artifacts_dir=Path("artifacts"),
        params=params,
        limits=limits or Limits(),
        allowed_modules=allowed,
    )
    write_spec(spec, directory / "spec.json")
    return directory / "spec.json"


def environment(search: Path | None) -> dict[str, str]:
    """Return this process's environment, with a folder to find modules in."""
    return os.environ | ({} if search is None else {"PYTHONPATH": str(search)})


def work(spec: Path, search: Path | None = None) -> Ran:
    """Run the worker on a spec to its end."""
    done = subprocess.run(worker_command(spec), capture_output=True, text=True, env=environment(search), check=False)
    return Ran(spec.parent, done.returncode, done.stdout, done.stderr)


def house_module(directory: Path, body: str) -> Path:
    """Write a package of the study's own, `house`, with a classifier `House` whose body this is; return its folder."""
    directory.mkdir()
    (directory / "house.py").write_text(
        "import os, signal, subprocess, sys, time\n"
        "from sklearn.linear_model import LogisticRegression\n"
        "class House(LogisticRegression):\n" + "".join(f"    {line}\n" for line in body.splitlines())
    )
    return directory


def wait_for_line(path: Path, text: str, seconds: float = 30) -> None:
    """Wait until a file holds a text."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if path.exists() and text in path.read_text():
            return
        time.sleep(0.02)
    raise AssertionError(f"{text!r} did not come to {path}")
