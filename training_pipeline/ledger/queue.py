"""The queue as Dagster's side sees it: which run is whose, and whether one of Dagster's may start."""

from __future__ import annotations

from training_pipeline.ledger import run_rows, runs
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.records import RunRecord


def of_dagster_run(ledger: Ledger, dagster_run_id: str) -> RunRecord | None:
    """Return the run that a run of Dagster is, if the ledger has it."""
    with ledger.read() as connection:
        found = run_rows.select(connection, ledger.project, "dagster_run_id = ?", dagster_run_id)
    return found[0] if found else None


def waiting_in_dagster(ledger: Ledger) -> list[RunRecord]:
    """Return the runs that wait in Dagster's queue, oldest first."""
    with ledger.read() as connection:
        return run_rows.select(connection, ledger.project, "status = 'queued' AND owner IS NULL")


def is_dagsters_turn(ledger: Ledger) -> bool:
    """Whether the next turn is for a run in Dagster's queue: no run goes, and no process has waited longer."""
    with ledger.read() as connection:
        unfinished = runs.unfinished_runs(connection, ledger.project)
    return not unfinished or (unfinished[0].waits_in == "dagster" and not any(r.status.is_active for r in unfinished))
