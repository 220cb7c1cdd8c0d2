"""How long the ledger remembers: what prune keeps, and what a process that died leaves behind."""

from __future__ import annotations

from training_pipeline.ledger import predictions, runs, splits, staging
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.records import RunRecord


def prune(ledger: Ledger, retain_runs: int) -> list[str]:
    """Forget all but the newest `retain_runs` runs that ended, whatever their outcome, and return the ids forgotten.

    A run that waits or goes, or of which a prediction is still stored, is never forgotten. The runs of the annotation
    server in the same ledger count like ours. Run directories stay on disk.
    """
    with ledger.transaction() as connection:
        ended = [run for run in runs.all_runs(connection, ledger.project) if run.status.has_ended]
        in_use = predictions.runs_with_predictions(connection, ledger.project)
        forgotten = [run.run_id for run in ended[retain_runs:] if run.run_id not in in_use]
        for table in ("pipeline_runs", "training_runs"):
            connection.executemany(
                f"DELETE FROM {table} WHERE project = ? AND run_id = ?",  # noqa: S608 - one of two names
                ((ledger.project, run_id) for run_id in forgotten),
            )
    splits.delete_items_of_no_run(ledger)
    return forgotten


def reconcile(ledger: Ledger) -> list[RunRecord]:
    """Bring the ledger in order after processes died: call at every start.

    Ends the runs whose process on this host is gone and returns them, `interrupted`; removes the split rows that such
    a run left half written and the predictions it had staged.
    """
    interrupted = runs.interrupt_abandoned(ledger)
    splits.delete_items_of_no_run(ledger)
    staging.sweep(ledger)
    return interrupted
