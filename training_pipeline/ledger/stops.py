"""Runs that were told to stop: by whom their process is interrupted, it looks up here as what it ends."""

from __future__ import annotations

import sqlite3
import time
from dataclasses import dataclass

from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.records import Status


@dataclass(frozen=True)
class Stop:
    """As what a run ends that was told to stop, and the sentence that says why. `asked_at` is in epoch seconds."""

    status: Status
    why: str
    asked_at: float = 0.0


CANCELLED = Stop(Status.CANCELLED, "Cancelled.")


def ask(ledger: Ledger, run_id: str, stop: Stop, *, again_after: float = 0.0) -> bool:
    """Write down that a run is told to stop; False where it was told less than `again_after` seconds ago."""
    now = time.time()
    with ledger.transaction() as connection:
        earlier = of_run(connection, ledger.project, run_id)
        # A clock that was set back must not keep a run from being told again.
        if earlier is not None and 0 <= now - earlier.asked_at < again_after:
            return False
        connection.execute(
            "INSERT OR REPLACE INTO pipeline_stops (project, run_id, status, why, asked_at) VALUES (?, ?, ?, ?, ?)",
            (ledger.project, run_id, stop.status, stop.why, now),
        )
    return True


def of_run(connection: sqlite3.Connection, project: str, run_id: str) -> Stop | None:
    """Return what a run was told, if it was told to stop."""
    row = connection.execute(
        "SELECT status, why, asked_at FROM pipeline_stops WHERE project = ? AND run_id = ?", (project, run_id)
    ).fetchone()
    return Stop(Status(row[0]), row[1], row[2]) if row else None


def all_stops(ledger: Ledger) -> dict[str, Stop]:
    """Return {run id: what it was told} of every run that has not ended yet."""
    with ledger.read() as connection:
        rows = connection.execute(
            "SELECT run_id, status, why, asked_at FROM pipeline_stops WHERE project = ?", (ledger.project,)
        ).fetchall()
    return {run_id: Stop(Status(status), why, asked_at) for run_id, status, why, asked_at in rows}


def forget(connection: sqlite3.Connection, project: str, run_id: str) -> None:
    """Forget what a run was told, now that it has ended."""
    connection.execute("DELETE FROM pipeline_stops WHERE project = ? AND run_id = ?", (project, run_id))
