"""Ledger, processes and Dagster's runs brought to agree, after whatever died.

The ledger is right about a run that it has: where the two differ, Dagster's run is made to follow. Only what happened
to a run that waits in Dagster's queue is learned from Dagster.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import suppress

from dagster import DagsterEvent, DagsterInstance, DagsterRun, DagsterRunStatus
from dagster._core.storage.dagster_run import RunsFilter

from training_pipeline.assets.stage import RUN_ID_TAG
from training_pipeline.errors import PipelineError
from training_pipeline.jobs.train import STUDY_TAG
from training_pipeline.ledger import queue, retention, runs
from training_pipeline.ledger.database import Ledger
from training_pipeline.ledger.owners import is_gone
from training_pipeline.ledger.records import RunRecord, Status
from training_pipeline.stopping import kill_deaf
from training_pipeline.study.config import Study, load_study
from training_pipeline.turns import check_again, invalid_when_dequeued

IN_PROGRESS = [DagsterRunStatus.STARTING, DagsterRunStatus.STARTED, DagsterRunStatus.CANCELING]
_WAITING = [DagsterRunStatus.NOT_STARTED, DagsterRunStatus.QUEUED]
_TAKEN_OUT = (DagsterRunStatus.STARTING, DagsterRunStatus.STARTED, DagsterRunStatus.FAILURE)
_FINISHED = [DagsterRunStatus.SUCCESS, DagsterRunStatus.FAILURE, DagsterRunStatus.CANCELED]
_DEAD = "The process of this run ended while the run was in progress: it was killed, or the machine was restarted."
_SECONDS_TO_START = 300.0


def reconcile(instance: DagsterInstance, study: Study, ledger: Ledger) -> list[str]:
    """Bring ledger and Dagster in order, and return a sentence about each run that this changed.

    Call it at a start and every few seconds. Runs whose process is gone end, `interrupted`, and their half-written
    files go; runs told to stop that did not heed it are killed; runs of Dagster follow their row of the ledger; runs
    that the ledger has forgotten are forgotten by Dagster too.
    """
    kill_deaf(ledger, study.training.grace_seconds)
    changed = [f"Run {run.run_id}: {run.error}" for run in retention.reconcile(ledger)]
    changed += _learn_of_waiting(instance, study, ledger)
    known = {run.dagster_run_id: run for run in runs.list_runs(ledger) if run.dagster_run_id}
    changed += _make_follow(instance, known)
    _sweep_half_written(study, ledger)
    _forget(instance, study, known)
    return changed


def reconcile_at_start(instance: DagsterInstance, study: Study, ledger: Ledger) -> list[str]:
    """`reconcile` where no process of Dagster's own can be alive yet.

    A run that Dagster had just taken out of its queue goes back there, also where Dagster saw it fail for want of the
    other processes; what else it holds for running has died.
    """
    changed = []
    for run in queue.waiting_in_dagster(ledger):
        taken_out = instance.get_run_by_id(run.dagster_run_id)
        if taken_out is not None and taken_out.status in _TAKEN_OUT and _is_still_valid(study, run):
            _queue_again(instance, taken_out)
            changed.append(f"Run {run.run_id} was about to start, and waits again.")
    known = {run.dagster_run_id for run in runs.list_runs(ledger)}
    for dagster_run in instance.get_runs(RunsFilter(statuses=IN_PROGRESS)):
        if dagster_run.run_id not in known:
            instance.report_run_failed(dagster_run, _DEAD)
            changed.append(f"Dagster's run {dagster_run.run_id}: {_DEAD}")
    return changed + reconcile(instance, study, ledger)


def _learn_of_waiting(instance: DagsterInstance, study: Study, ledger: Ledger) -> Iterator[str]:
    for run in queue.waiting_in_dagster(ledger):
        found = instance.get_run_record_by_id(run.dagster_run_id)
        if found is not None and found.dagster_run.status in IN_PROGRESS:
            if time.time() - found.update_timestamp.timestamp() > _SECONDS_TO_START:
                _queue_again(instance, found.dagster_run)
            continue
        if found is not None and found.dagster_run.status in _WAITING:
            if found.dagster_run.status is DagsterRunStatus.NOT_STARTED and _is_overdue(run):
                instance.report_run_failed(found.dagster_run, "The run was never put into Dagster's queue.")
            continue
        status, cause = _end_of_waiting(study, run, found.dagster_run if found else None)
        ended = runs.end_waiting(
            ledger, run.run_id, status, error=str(cause), error_code=cause.code, only_in_dagster=True
        )
        if ended is not None:
            yield f"Run {run.run_id}: {cause}"


def _end_of_waiting(study: Study, run: RunRecord, found: DagsterRun | None) -> tuple[Status, PipelineError]:
    """Return as what a run ends whose run of Dagster ended before it began, and why."""
    if found is None:
        return Status.CANCELLED, PipelineError("cancelled", "Cancelled: its run was deleted in Dagster.")
    if found.status is DagsterRunStatus.CANCELED:
        return Status.CANCELLED, PipelineError("cancelled", "Cancelled.")
    try:
        _check_again(study, run)
    except PipelineError as refusal:
        return Status.ERROR, refusal
    return Status.ERROR, PipelineError(
        "not_started",
        f"Dagster could not start the run; the log of its run {run.dagster_run_id} says why. Start it again.",
    )


def _check_again(study: Study, run: RunRecord) -> None:
    with invalid_when_dequeued(run):
        now = load_study(study.config_path)
    check_again(now, run)


def _is_still_valid(study: Study, run: RunRecord) -> bool:
    try:
        _check_again(study, run)
    except PipelineError:
        return False
    return True


def _is_overdue(run: RunRecord) -> bool:
    return time.time() - run.created_at > _SECONDS_TO_START


def _queue_again(instance: DagsterInstance, run: DagsterRun) -> None:
    instance.report_dagster_event(DagsterEvent.job_enqueue(run), run_id=run.run_id)


def _make_follow(instance: DagsterInstance, known: dict[str, RunRecord]) -> Iterator[str]:
    for dagster_run in instance.get_runs(RunsFilter(statuses=[*_WAITING, *IN_PROGRESS])):
        run = known.get(dagster_run.run_id)
        # The process of a run that has ended may still be closing Dagster's run itself.
        if run is None or not run.status.has_ended or (run.owner is not None and not is_gone(run.owner)):
            continue
        if run.status is Status.CANCELLED:
            instance.report_run_canceled(dagster_run, run.error)
        else:
            instance.report_run_failed(dagster_run, run.error or _DEAD)
        yield f"Dagster's run {dagster_run.run_id} follows run {run.run_id}, which is {run.status}."


def _sweep_half_written(study: Study, ledger: Ledger) -> None:
    alive = {run.run_id for run in runs.list_runs(ledger) if not run.status.has_ended}
    for partial in study.runs_dir.glob("*/bundle.partial-*"):
        if partial.parent.name not in alive:
            with suppress(FileNotFoundError):  # another process has swept it meanwhile
                shutil.rmtree(partial)


def _forget(instance: DagsterInstance, study: Study, known: dict[str, RunRecord]) -> None:
    """Delete Dagster's runs, with their events, that the ledger has forgotten."""
    kept_since = min((run.created_at for run in known.values()), default=time.time())
    of_study = RunsFilter(statuses=_FINISHED, tags={STUDY_TAG: str(study.task_dir)})
    for record in instance.get_run_records(of_study):
        if record.dagster_run.run_id in known:
            continue
        # A run that was refused has no row. It stays as long as the runs beside which it was asked for.
        had_a_row = RUN_ID_TAG in record.dagster_run.tags
        if had_a_row or record.create_timestamp.timestamp() < kept_since:
            instance.delete_run(record.dagster_run.run_id)
