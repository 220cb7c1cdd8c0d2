"""Where a run's time went, from what it keeps anyway: Dagster's event log, and the worker's events."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import dagster as dg

from training_pipeline.instance import open_instance
from training_pipeline.run_directory import RunDirectory
from training_pipeline.study.config import load_study

_FROM, _TO = dg.DagsterEventType.STEP_START, dg.DagsterEventType.STEP_SUCCESS


@dataclass(frozen=True)
class Stage:
    """One part of a run, between two moments in epoch seconds."""

    name: str
    start: float
    end: float

    @property
    def seconds(self) -> float:
        """How long it took."""
        return self.end - self.start


def stages(config: Path, start: float, end: float, run_id: str, dagster_run_id: str) -> list[Stage]:
    """Return the parts of a run that went from `start` to `end`, one after the other; together they are all of it."""
    study = load_study(config)
    with open_instance(study) as instance:
        moments = [("start-up", start), *_steps(instance, dagster_run_id), ("end", end)]
    at_worker = next(k for k, (name, _) in enumerate(moments) if name == "fitted_model") + 1
    moments[at_worker:at_worker] = _phases(RunDirectory(study.runs_dir / run_id).events)
    bounds = [at for _, at in moments[1:]]
    return [Stage(name, at, until) for (name, at), until in zip(moments, bounds, strict=False)]


def _steps(instance: dg.DagsterInstance, dagster_run_id: str) -> Iterator[tuple[str, float]]:
    """Yield (step, when it began), and after the last one the moment it ended."""
    ended = 0.0
    for entry in instance.all_logs(dagster_run_id, of_type={_FROM, _TO}):
        if entry.dagster_event_type is _FROM:
            yield str(entry.step_key).partition("__")[2] or str(entry.step_key), entry.timestamp
        else:
            ended = entry.timestamp
    yield "ending", ended


def _phases(events: Path) -> Iterator[tuple[str, float]]:
    for line in events.read_bytes().splitlines():
        event = json.loads(line)
        if event["event"] == "status":
            yield f"worker: {event['step']}", event["t"]
        elif event["event"] == "result":
            yield "worker: ending", event["t"]
