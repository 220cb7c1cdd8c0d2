"""A run's record as a row, and back: the one place that knows how its fields are written."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Mapping
from dataclasses import asdict, fields, is_dataclass
from typing import Any

from training_pipeline.ledger.owners import Owner
from training_pipeline.ledger.records import Cost, Progress, RunRecord, Status, WritebackReport
from training_pipeline.scoring.headline import Headline

COLUMNS = tuple(f.name for f in fields(RunRecord) if f.name != "recorded_by")

_MIRRORED = (
    "run_id",
    "trainer",
    "backend",
    "schema_names",
    "kinds",
    "status",
    "trigger",
    "created_at",
    "started_at",
    "finished_at",
    "n_train",
    "n_val",
    "n_test",
    "split_seed",
    "params",
    "metrics",
    "artifact_dir",
    "model_version",
    "bundle_digest",
    "error",
    "error_code",
)


def _names(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


def report(text: str) -> WritebackReport:
    """Return a publication's report as it was written."""
    values = json.loads(text)
    return WritebackReport(
        **{**values, "schemas_enabled": tuple(values["schemas_enabled"]), "warnings": tuple(values["warnings"])}
    )


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "status": Status,
    "schema_names": _names,
    "kinds": _names,
    "warnings": _names,
    "requested_params": json.loads,
    "params": json.loads,
    "param_sources": json.loads,
    "metrics": json.loads,
    "headline": lambda text: Headline(**json.loads(text)),
    "cost": lambda text: Cost(**json.loads(text)),
    "progress": lambda text: Progress(**json.loads(text)),
    "owner": lambda text: Owner(**json.loads(text)),
    "writeback": report,
    "comparable": bool,
    "items_written": bool,
}


def written(value: object) -> object:
    """Return a field's value as SQLite keeps it."""
    if is_dataclass(value) and not isinstance(value, type):
        return json.dumps(asdict(value), ensure_ascii=False)
    if isinstance(value, tuple | Mapping):
        return json.dumps(value, ensure_ascii=False)
    return value


def read(columns: tuple[str, ...], row: tuple[Any, ...]) -> dict[str, Any]:
    """Return the fields of a row of `columns`, in the record's own types."""
    return {
        name: value if value is None or name not in _READERS else _READERS[name](value)
        for name, value in zip(columns, row, strict=True)
    }


def select(connection: sqlite3.Connection, project: str, where: str, *values: object) -> list[RunRecord]:
    """Return the runs of `project` for which the SQL condition `where` on `pipeline_runs` holds, oldest first."""
    rows = connection.execute(
        f"SELECT {', '.join(COLUMNS)} FROM pipeline_runs WHERE project = ? AND ({where}) ORDER BY run_id",  # noqa: S608 - our own condition
        (project, *values),
    )
    return [RunRecord(**read(COLUMNS, row)) for row in rows]


def select_potatos_own(connection: sqlite3.Connection, project: str) -> list[RunRecord]:
    """Return the runs that only Potato's table has, with what it records of them."""
    rows = connection.execute(
        f"SELECT {', '.join(_MIRRORED)} FROM training_runs AS theirs WHERE project = ? AND NOT EXISTS ("  # noqa: S608 - our own names
        "SELECT 1 FROM pipeline_runs AS ours WHERE ours.project = theirs.project AND ours.run_id = theirs.run_id)",
        (project,),
    )
    return [RunRecord(**read(_MIRRORED, row), recorded_by="potato", items_written=True) for row in rows]


def insert(connection: sqlite3.Connection, project: str, run: RunRecord) -> None:
    """Write a new run."""
    values = [project, *(written(getattr(run, name)) for name in COLUMNS)]
    connection.execute(
        f"INSERT INTO pipeline_runs (project, {', '.join(COLUMNS)}) VALUES ({', '.join('?' * len(values))})",  # noqa: S608
        values,
    )


def update(connection: sqlite3.Connection, project: str, run_id: str, changes: Mapping[str, object]) -> None:
    """Write the named fields of a run."""
    assignments = ", ".join(f"{name} = ?" for name in changes)
    connection.execute(
        f"UPDATE pipeline_runs SET {assignments} WHERE project = ? AND run_id = ?",  # noqa: S608 - the record's field names
        (*(written(value) for value in changes.values()), project, run_id),
    )


def mirror(connection: sqlite3.Connection, project: str, run: RunRecord) -> None:
    """Write a run that has ended to Potato's own table, so that its server lists it and keeps off its train items."""
    # Potato knows no `interrupted`; the code keeps the difference.
    status = Status.ERROR if run.status is Status.INTERRUPTED else run.status
    values = {name: written(getattr(run, name)) for name in _MIRRORED} | {"status": status}
    host = run.owner.host if run.owner else ""
    connection.execute(
        f"INSERT OR REPLACE INTO training_runs (project, {', '.join(values)}, host)"  # noqa: S608 - the record's field names
        f" VALUES ({', '.join('?' * (len(values) + 2))})",
        (project, *values.values(), host),
    )
