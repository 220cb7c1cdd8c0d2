"""Dagster's runs whose process died.

Dagster itself goes on showing them as running, and lets the study's other runs wait for them.
"""

from __future__ import annotations

from dagster import DagsterInstance, DagsterRun, DagsterRunStatus
from dagster._core.storage.dagster_run import RunsFilter

from training_pipeline.ledger import retention, runs
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.records import RunRecord

IN_PROGRESS = [DagsterRunStatus.STARTING, DagsterRunStatus.STARTED, DagsterRunStatus.CANCELING]
_SENTENCE = "The process of this run ended while the run was in progress: it was killed, or the machine was restarted."


def close_left_over_runs(instance: DagsterInstance, ledger: Ledger) -> list[str]:
    """Bring the ledger in order, report Dagster's runs of training runs that have ended as failed; return their ids."""
    retention.reconcile(ledger)
    known = {run.dagster_run_id: run for run in runs.list_runs(ledger) if run.dagster_run_id}
    left_over = [run for run in instance.get_runs(RunsFilter(statuses=IN_PROGRESS)) if _has_ended(run, known)]
    for run in left_over:
        instance.report_run_failed(run, _SENTENCE)
    return [run.run_id for run in left_over]


def _has_ended(run: DagsterRun, known: dict[str, RunRecord]) -> bool:
    return run.run_id in known and known[run.run_id].status.has_ended
