"""Ending the runs that the supervisor's own Dagster has started, before that Dagster itself is ended."""

from __future__ import annotations

import time
from contextlib import suppress

from dagster import DagsterInstance, DagsterRun
from dagster._core.storage.dagster_run import RunsFilter

from training_pipeline.errors import PipelineError
from training_pipeline.ledger import queue
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.records import Status
from training_pipeline.ledger.stops import Stop
from training_pipeline.reconciling import IN_PROGRESS
from training_pipeline.stopping import kill_deaf, tell
from training_pipeline.study.config import Study

_STOP = Stop(
    Status.INTERRUPTED,
    "`training-pipeline up` was stopped while the run was going, and the run with it. Start the run again.",
)
_MARGIN_SECONDS = 5.0


def drain(instance: DagsterInstance, study: Study, ledger: Ledger) -> None:
    """Interrupt the runs that go, and wait until they have ended, at most the grace and a little more.

    A run that Dagster is only starting has not begun: it goes back to the queue at the next start. A run of the command
    line belongs to a process of its own, and goes on.
    """
    told = [run for run in _going(instance) if _tell(instance, study, ledger, run)]
    deadline = time.monotonic() + study.training.grace_seconds + _MARGIN_SECONDS
    waited_for = {run.run_id for run in told}
    while time.monotonic() < deadline and waited_for & {run.run_id for run in _going(instance)}:
        kill_deaf(ledger, study.training.grace_seconds)
        time.sleep(0.2)


def _going(instance: DagsterInstance) -> list[DagsterRun]:
    # Only a run that came through Dagster's own queue knows the code location that it came from.
    return [run for run in instance.get_runs(RunsFilter(statuses=IN_PROGRESS)) if run.remote_job_origin]


def _tell(instance: DagsterInstance, study: Study, ledger: Ledger, dagster_run: DagsterRun) -> bool:
    run = queue.of_dagster_run(ledger, dagster_run.run_id)
    if run is not None and not run.status.is_active:
        return run.status.has_ended  # it is closing by itself
    if run is None:
        return instance.run_launcher.terminate(dagster_run.run_id)
    with suppress(PipelineError):  # somebody else has told it a moment ago
        tell(ledger, run.run_id, _STOP, study.training.grace_seconds)
    return True
